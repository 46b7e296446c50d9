//! Links to forms, for people without an account. A link holds a random secret; only its digest is stored. A browser
//! that opens a link gets signed cookies, with which it reads and answers the form at an address without the secret.

mod ask;
mod cookie;
mod create;
mod enter;
mod lead;
mod list;

pub use ask::ask;
pub(crate) use cookie::{Browser, VERSION, parts, same};
pub use create::{NewViewLink, create, create_noted, create_of_request};
pub use enter::{Entered, Entry, Visitor, enter, respondent};
pub use lead::{NewLead, capture_lead};
pub use list::{list, revoke};
