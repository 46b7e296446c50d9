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
mod notify;
#[cfg(feature = "hydrate")]
mod send;
#[cfg(feature = "hydrate")]
mod triage;

#[cfg(feature = "ssr")]
mod bar;
#[cfg(feature = "ssr")]
mod detail;
#[cfg(feature = "ssr")]
mod draft;
#[cfg(feature = "ssr")]
mod elsewhere;
#[cfg(all(test, feature = "ssr"))]
mod fixture;
#[cfg(feature = "ssr")]
mod held;
#[cfg(feature = "ssr")]
mod list;
#[cfg(feature = "ssr")]
mod page;
#[cfg(feature = "ssr")]
mod question;
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
#[cfg(feature = "ssr")]
pub use draft::taken_back;
pub use island::InboxKeys;
#[cfg(feature = "ssr")]
pub use list::{List, Shown, held_fragment, list_fragment};
#[cfg(feature = "hydrate")]
pub use notify::start as start_notify;
#[cfg(feature = "ssr")]
pub use page::{Props, page};
#[cfg(feature = "ssr")]
pub use question::answered;
#[cfg(feature = "ssr")]
pub(crate) use question::{Ask, asks_of, fields, value_typed};
#[cfg(feature = "ssr")]
pub use values::edited;
#[cfg(feature = "ssr")]
pub use words::{about, ids_proposed, notice};
#[cfg(feature = "ssr")]
pub(crate) use words::{field_word, named, verdict_word};
