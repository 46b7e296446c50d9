//! Going anywhere by keyboard: the palette, the shortcuts, the overlay that lists them, and changing them.

mod binding;
mod catalog;
#[cfg(feature = "hydrate")]
mod custom;
mod island;
#[cfg(feature = "hydrate")]
mod keyboard;
mod keys_view;
mod rebind;

pub use island::Palette;
pub use rebind::KeyBindings;
