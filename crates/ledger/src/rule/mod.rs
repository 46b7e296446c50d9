//! Rules that approve gates of an agent: admins make them, the transaction that opens a gate asks them, and a decision
//! of a person that differs suspends them.
//!
//! What a rule decides is in [`domain::rule`]. A rule has versions; a decision names the version that made it. Sessions
//! are locked before gates, and gates before rules.

mod apply;
mod back_test;
mod change;
mod create;
mod read;
mod suggest;
mod suspend;

pub(crate) use apply::{Approving, approving, record_use};
pub use back_test::{BackTested, TestedGate, back_test};
pub use change::{RuleChange, delete, resume, suspend, update};
pub use create::create;
pub use read::{Rule, decisions, get, list};
pub(crate) use read::{decisions_on, get_on, list_on};
pub(crate) use suggest::{KeptSuggestions, suggestions_on};
pub use suggest::{Suggestion, draft, recent_suggestions_alike, suggestions, suggestions_alike};
pub(crate) use suspend::{suspend_covering, suspend_undone};

use crate::{Error, Result, guard::require_for};
use domain::{Scope, id::UserId, role::Permission, session::Session, tool::run::ToolRun};

/// Refuses everyone but admins.
fn require_admin(scope: &Scope) -> Result<()> {
    require_for(scope, Permission::Administer, "only admins can change rules")
}

/// Returns the admin who calls. A rule decides for a person, and tokens decide nothing.
fn admin(scope: &Scope) -> Result<UserId> {
    require_admin(scope)?;
    scope.user_id().ok_or(Error::Forbidden("only an admin who is signed in can create rules; a token cannot"))
}

/// Whether no rule decides about a session: it is private or incognito, or values of its input are kept apart from it.
fn is_private(session: &Session) -> bool {
    session.is_private() || ToolRun::of_session(session).is_some_and(|run| run.has_private_input)
}

fn not_found() -> Error {
    Error::NotFound("rule")
}
