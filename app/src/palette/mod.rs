//! Going anywhere by keyboard: the palette, the shortcuts, the overlay that lists them, and changing them.

#[cfg(any(feature = "hydrate", test))]
mod binding;
mod catalog;
#[cfg(feature = "hydrate")]
mod custom;
mod island;
#[cfg(feature = "hydrate")]
mod keyboard;
#[cfg(feature = "ssr")]
mod list;
#[cfg(feature = "hydrate")]
mod rebind;

pub use island::Palette;
#[cfg(feature = "hydrate")]
pub use keyboard::step;
#[cfg(feature = "ssr")]
pub use list::{bindings_view, keys_dialog};
