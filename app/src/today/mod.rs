//! The page Today: the strip of five buckets, and a list for each.

mod bucket;
#[cfg(feature = "ssr")]
mod page;
mod queue;
#[cfg(feature = "hydrate")]
mod refresh;
#[cfg(feature = "ssr")]
mod section;
mod strip;
#[cfg(feature = "ssr")]
mod trend;

#[cfg(feature = "ssr")]
pub use page::{Props, page, questions_fragment};
#[cfg(feature = "ssr")]
pub use section::{Gate, Section, section_fragment};
pub use strip::{StripContext, WorkQueueStrip};
#[cfg(feature = "ssr")]
pub use trend::{Trend, trend_fragment};
