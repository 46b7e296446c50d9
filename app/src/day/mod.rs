//! The page /working-on: the person's own day, and the picker's functions without scripts.

mod page;
mod section;

pub use page::{Props, page};
pub use section::{Day, day_fragment, day_section};
