//! Going anywhere by keyboard: the palette, the shortcuts and the overlay that lists them.

mod catalog;
mod island;
#[cfg(feature = "hydrate")]
mod keyboard;

pub use catalog::{SHORTCUTS, Shortcut};
pub use island::Palette;
