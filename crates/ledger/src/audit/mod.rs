//! The audit list of a workspace: acts of administrators and sign-ins.
//!
//! Each use case that is such an act records it with [`Act::record`], in its own transaction and as the last thing that
//! the transaction does. Entries are never changed or removed.

mod act;
mod list;

pub(crate) use act::Act;
pub use list::{ListEntries, list};
pub(crate) use list::{checked, list_on, require_admin};
pub use store::audit::EntryRecord;
