//! Keyboard navigation: the palette, the shortcuts, the list of them, and changing them.
//!
//! [`state`] is what they share on one page. Dialog and search field of the palette are part of every page, so that
//! keys count from the start; the lists are loaded when they are needed, and catch up with what was done until then.

mod bindings_editor;
mod catalog;
mod island;
mod keys_view;
mod part;
mod state;

#[cfg(feature = "hydrate")]
mod act;
#[cfg(any(feature = "hydrate", test))]
mod binding;
#[cfg(any(feature = "hydrate", test))]
mod choice;
mod found;
#[cfg(any(feature = "hydrate", test))]
mod key_group;
#[cfg(feature = "hydrate")]
mod keyboard;
#[cfg(feature = "hydrate")]
mod keys_dialog;
#[cfg(feature = "hydrate")]
mod list;
#[cfg(feature = "hydrate")]
mod user_bindings;
#[cfg(feature = "hydrate")]
mod waiting;

#[cfg(feature = "hydrate")]
pub use act::{TEXT_FIELDS, step};
pub use bindings_editor::BindingsEditor;
#[cfg(feature = "ssr")]
pub use found::{SearchResult, results_fragment};
pub use island::Palette;
#[cfg(feature = "hydrate")]
pub use keyboard::start;
#[cfg(feature = "hydrate")]
pub use waiting::act_on_waiting;
