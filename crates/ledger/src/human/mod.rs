//! Human sessions: a person's own work on a task, and the part of it that agents get as context.

pub mod recent_activity;
mod start;
mod stop;
mod today;
mod viewed;

pub use start::{Started, start};
pub use stop::{stop, sweep};
pub(crate) use today::today_on;
pub use today::{Active, Today, active, today};
pub(crate) use viewed::viewed;

use crate::{Error, Result, guard::require};
use domain::{Scope, id::UserId, role::Permission};

/// Returns the person who calls. Tokens have no human sessions, even if they act for a person.
pub(crate) fn person(scope: &Scope) -> Result<UserId> {
    require(scope, Permission::StartSession)?;
    scope.user_id().ok_or(Error::Forbidden("working sessions belong to people: sign in with a browser, not a token"))
}
