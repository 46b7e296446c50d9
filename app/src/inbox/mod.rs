//! The inbox: items that wait for a decision, and the forms that decide them.
//!
//! The server renders the list and the items, and every decision is a plain form. The island submits the forms with
//! fetch, shows the next item before the server has answered, and restores items whose decision was refused.

mod island;

#[cfg(feature = "hydrate")]
mod list_dom;
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
#[cfg(all(test, feature = "ssr"))]
mod fixture;
#[cfg(feature = "ssr")]
mod item_text;
#[cfg(feature = "ssr")]
mod list;
#[cfg(feature = "ssr")]
mod page;
#[cfg(feature = "ssr")]
mod question;
#[cfg(feature = "ssr")]
mod row;
#[cfg(feature = "ssr")]
mod sentence;
#[cfg(feature = "ssr")]
mod similar;
#[cfg(feature = "ssr")]
mod terminal_sessions;
#[cfg(feature = "ssr")]
mod undo_notice;
#[cfg(feature = "ssr")]
mod value_table;
#[cfg(feature = "ssr")]
mod values;

#[cfg(feature = "ssr")]
pub use detail::{Detail, detail_fragment};
#[cfg(feature = "ssr")]
pub use draft::undone_form;
#[cfg(feature = "ssr")]
pub use item_text::{notification, summary};
#[cfg(feature = "ssr")]
pub use list::{List, Shown, held_fragment, list_fragment};
#[cfg(feature = "ssr")]
pub use page::{Props, page};
#[cfg(feature = "ssr")]
pub use question::typed_answer;
#[cfg(feature = "ssr")]
pub(crate) use question::{FormField, render_fields, schema_fields, typed_value};
#[cfg(feature = "hydrate")]
pub use triage::start;
#[cfg(feature = "ssr")]
pub use values::edited;
