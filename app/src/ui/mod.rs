//! Widgets shared by all pages.

#[cfg(feature = "ssr")]
pub mod button;
#[cfg(feature = "ssr")]
pub mod empty;
#[cfg(feature = "ssr")]
pub mod field;
pub mod icon;
#[cfg(feature = "ssr")]
pub mod notice;
#[cfg(feature = "ssr")]
pub mod page_head;
#[cfg(feature = "ssr")]
pub mod status_badge;
#[cfg(feature = "ssr")]
pub mod time;
