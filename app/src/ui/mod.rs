//! Components shared by all pages.
//!
//! Most are rendered on the server only and add nothing to what ships to the browser; islands use some of them.
//! Each is accessible by itself, and the gallery (`app/examples/gallery`) shows each in its states.

#[cfg(feature = "ssr")]
pub mod badge;
pub mod button;
#[cfg(feature = "ssr")]
pub mod chart_frame;
#[cfg(feature = "ssr")]
pub mod chip;
#[cfg(feature = "ssr")]
pub mod content;
pub mod dialog;
#[cfg(feature = "ssr")]
pub mod diff;
#[cfg(feature = "ssr")]
pub mod empty;
#[cfg(feature = "ssr")]
pub mod field;
pub mod icon;
#[cfg(feature = "ssr")]
pub mod list_search;
#[cfg(feature = "ssr")]
pub mod notice;
pub mod notice_frame;
#[cfg(feature = "ssr")]
pub mod page_head;
#[cfg(feature = "ssr")]
pub mod pager;
#[cfg(feature = "ssr")]
pub mod popover;
pub mod progress;
#[cfg(feature = "ssr")]
pub mod questions;
#[cfg(feature = "ssr")]
pub mod section;
pub mod skeleton;
#[cfg(feature = "ssr")]
pub mod table;
#[cfg(feature = "ssr")]
pub mod tabs;
#[cfg(feature = "ssr")]
pub mod time;
pub mod toast;
pub mod tone;
#[cfg(feature = "ssr")]
pub mod tooltip;
