//! Going anywhere by keyboard: the palette, the shortcuts and the overlay that lists them.

mod catalog;
#[cfg(feature = "hydrate")]
mod keyboard;
mod island;

pub use catalog::{SHORTCUTS, Shortcut};
pub use island::Palette;
