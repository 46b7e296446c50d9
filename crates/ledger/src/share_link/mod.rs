//! Links with which people without an account read one session. A link holds a random secret; only its digest is
//! stored. A browser that opens a link gets a signed cookie, with which it reads the session at an address without the
//! secret.

mod cookie;
mod create;
mod enter;
mod list;
mod read;

pub use create::{create, may_share};
pub use enter::{Entered, enter};
pub use list::{list, of_session, revoke};
pub use read::{Shared, read};

pub(crate) use create::shareable;
pub(crate) use list::{list_on, of_session_on};
