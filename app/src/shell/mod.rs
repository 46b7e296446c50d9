//! The shell of every page: rail, skip link, notices, and the islands of every page.

mod badge;
mod connection;
mod theme_switch;

#[cfg(feature = "hydrate")]
mod notify;

#[cfg(feature = "ssr")]
mod centered_page;
#[cfg(feature = "ssr")]
mod frame;
#[cfg(feature = "ssr")]
mod props;

pub use badge::InboxCount;
#[cfg(feature = "ssr")]
pub use centered_page::centered_page;
pub use connection::Connection;
#[cfg(feature = "ssr")]
pub use frame::{RailEntry, frame, saved_fragment};
#[cfg(feature = "ssr")]
pub use props::{SavedEntry, Shell, Theme};
pub use theme_switch::ThemeSwitch;
