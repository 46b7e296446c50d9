//! Keyboard navigation: the palette, the shortcuts, the overlay that lists them, and changing them.

#[cfg(any(feature = "hydrate", test))]
mod binding;
mod catalog;
#[cfg(feature = "hydrate")]
mod custom;
#[cfg(feature = "ssr")]
mod dialog;
#[cfg(feature = "hydrate")]
mod find;
mod island;
#[cfg(feature = "hydrate")]
mod keyboard;
#[cfg(feature = "ssr")]
mod list;
#[cfg(feature = "hydrate")]
mod rebind;

#[cfg(feature = "ssr")]
pub use dialog::{Found, found_fragment, palette_dialog};
pub use island::Palette;
#[cfg(feature = "hydrate")]
pub use keyboard::step;
#[cfg(feature = "ssr")]
pub use list::{bindings_view, keys_dialog};
