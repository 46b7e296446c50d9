//! Working sessions: what a person is working on, and what an agent may be told of it.

mod active;
pub mod recent_activity;
mod start;
mod stop;
mod sweep;
mod today;
mod viewed;

pub use active::{Active, active};
pub use start::{Started, start};
pub use stop::stop;
pub use sweep::sweep;
pub(crate) use today::today_on;
pub use today::{Today, today};
pub(crate) use viewed::viewed;

use crate::{Error, Result, guard::require};
use domain::{Scope, id::UserId, role::Permission};

/// The person who acts. Programs have no working sessions, not even with a token that speaks for a person.
pub(crate) fn person(scope: &Scope) -> Result<UserId> {
    require(scope, Permission::StartSession)?;
    scope.user_id().ok_or(Error::Forbidden("working sessions belong to people: sign in with a browser, not a token"))
}
