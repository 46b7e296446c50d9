//! The inbox: what waits for a decision, and deciding.
//!
//! The server writes list and items, and every decision is a plain form. The island only sends the forms itself,
//! shows what comes next before the answer is there, and puts back what was refused.

mod island;

#[cfg(feature = "hydrate")]
mod badge;
#[cfg(feature = "hydrate")]
mod dom_list;
#[cfg(feature = "hydrate")]
mod send;
#[cfg(feature = "hydrate")]
mod triage;

#[cfg(feature = "ssr")]
mod bar;
#[cfg(feature = "ssr")]
mod detail;
#[cfg(all(test, feature = "ssr"))]
mod fixture;
#[cfg(feature = "ssr")]
mod held;
#[cfg(feature = "ssr")]
mod list;
#[cfg(feature = "ssr")]
mod page;
#[cfg(feature = "ssr")]
mod sentence;
#[cfg(feature = "ssr")]
mod similar;
#[cfg(feature = "ssr")]
mod value_table;
#[cfg(feature = "ssr")]
mod values;
#[cfg(feature = "ssr")]
mod words;

#[cfg(feature = "hydrate")]
pub use badge::start as start_badge;
#[cfg(feature = "ssr")]
pub use detail::{Detail, detail_fragment};
pub use island::InboxKeys;
#[cfg(feature = "ssr")]
pub use list::{List, Shown, list_fragment};
#[cfg(feature = "ssr")]
pub use page::{Props, page};
#[cfg(feature = "ssr")]
pub use values::edited;
