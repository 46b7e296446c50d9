//! Keyboard navigation: the palette, the shortcuts, the overlay that lists them, and changing them.

mod island;

#[cfg(any(feature = "hydrate", test))]
mod binding;
mod catalog;
#[cfg(feature = "ssr")]
mod dialog;
#[cfg(feature = "hydrate")]
mod keyboard;
#[cfg(feature = "hydrate")]
mod part;
#[cfg(feature = "hydrate")]
mod rebind;
#[cfg(feature = "hydrate")]
mod search;
#[cfg(feature = "ssr")]
mod shortcut_list;
#[cfg(feature = "hydrate")]
mod state;
#[cfg(feature = "hydrate")]
mod user_bindings;
#[cfg(feature = "hydrate")]
mod waiting;

#[cfg(feature = "ssr")]
pub use dialog::{SearchResult, palette_dialog, results_fragment};
pub use island::Palette;
#[cfg(feature = "hydrate")]
pub use keyboard::{start, step};
#[cfg(feature = "ssr")]
pub use shortcut_list::{bindings_view, keys_dialog};
#[cfg(feature = "hydrate")]
pub use waiting::act_on_waiting;
