//! The page Today: the strip of five buckets, and a list for each.

mod bucket;
#[cfg(feature = "ssr")]
mod course;
#[cfg(feature = "hydrate")]
mod focus;
#[cfg(feature = "ssr")]
mod page;
#[cfg(feature = "ssr")]
mod section;
mod strip;

#[cfg(feature = "ssr")]
pub use course::{Course, course_fragment};
#[cfg(feature = "ssr")]
pub use page::{Props, page};
#[cfg(feature = "ssr")]
pub use section::{Gate, Section, section_fragment};
pub use strip::WorkQueueStrip;
