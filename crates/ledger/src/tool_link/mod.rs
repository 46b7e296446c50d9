//! Links with which people without an account run one tool. A link holds a random secret; only its digest is stored. A
//! browser that opens a link gets signed cookies, with which it fills in the form of the tool at an address without the
//! secret, and reads the results of its own runs. It sees no other run and nothing else of the workspace.

mod cookie;
mod create;
mod enter;
mod list;
mod open;
mod revoke;
mod run;

pub use create::create;
pub use enter::{Entered, enter};
pub use list::list;
pub(crate) use list::newest_on;
pub use open::{Cookies, Opened, open};
pub use revoke::revoke;
pub use run::{LinkRun, result, run};
