//! The page /working-on: the person's own day, and the picker's functions without scripts.

mod island;

#[cfg(feature = "ssr")]
mod page;
#[cfg(feature = "ssr")]
mod section;

pub use island::LiveDay;
#[cfg(feature = "hydrate")]
pub use island::follow;
#[cfg(feature = "ssr")]
pub use page::{Props, page, work_button};
#[cfg(feature = "ssr")]
pub use section::{Day, day_fragment};
