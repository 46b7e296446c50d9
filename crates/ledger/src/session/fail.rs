//! Failing a session.

use super::if_status::check_report_status;
use crate::{
    Ledger, Result,
    commit::{Change, Minter, state, write},
    guard::{Fields, require},
    visibility::require_visible_or_claimed,
};
use domain::{
    Scope,
    event::kind::{self, SessionError},
    id::SessionId,
    limit::{KEY_CHARS_MAX, REASON_CHARS_MAX},
    role::Permission,
    session::{Actor, Command, Refusal, Report, Session, Status, decide},
};

/// The report of a worker.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The attempt of the claim, which is the fencing token.
    pub attempt: u32,
    /// Error message for people, at most 4,000 characters.
    pub message: String,
    /// Error code for programs.
    pub code: Option<String>,
    /// Usage until the failure, as a JSON object.
    pub usage: Option<String>,
}

/// Fails a session. A repeat with the same attempt returns the recorded outcome. The worker that left its session idle
/// or waiting for a tool can fail it too, unless it is an idle conversation. An approval that is open is withdrawn.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session, or if the caller neither can see it nor claimed it last;
/// [`crate::Error::Refused`] if the worker does not hold it, unless it has failed already; [`crate::Error::Invalid`]
/// for wrong fields.
pub async fn fail(ledger: &Ledger, scope: &Scope, id: SessionId, failure: Failure) -> Result<Session> {
    fail_in(ledger, scope, id, failure, None).await
}

/// Does the same as [`fail`], but only in the status `if_status`, if it is given.
///
/// # Errors
/// Those of [`fail`], and [`crate::Error::Refused`] in another status.
pub async fn fail_in(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    failure: Failure,
    if_status: Option<Status>,
) -> Result<Session> {
    require(scope, Permission::Work)?;
    let mut fields = Fields::default();
    fields.text("error.message", Some(&failure.message), REASON_CHARS_MAX);
    fields.key("error.code", failure.code.as_deref(), KEY_CHARS_MAX);
    fields.object("usage", failure.usage.as_deref());
    fields.check()?;
    let mut change = Change {
        id,
        actor: Actor::Worker { attempt: failure.attempt },
        command: Command::Fail,
        caller: scope.caller,
        reason: "failed by its worker".into(),
        minter: Minter::new(ledger, ledger.now()),
    };
    let caller = *scope;
    ledger
        .write(scope.into(), async move |tx| {
            let before = store::session::find_locked(tx, caller.tenant_id, id).await?;
            let before = require_visible_or_claimed(tx.conn(), &caller, before).await?;
            let transition = match decide(state(&before), change.actor, change.command) {
                Err(Refusal::AlreadyFinal { status: Status::Failed }) => return Ok(before),
                decided => decided?,
            };
            check_report_status(&before, if_status)?;
            let reported = kind::Failure::Reported { attempt: failure.attempt, code: failure.code.clone() };
            let error = SessionError::new(&failure.message, reported);
            let events = vec![change.minter.event(&error)];
            let report = Report {
                error_message: Some(failure.message),
                error_code: failure.code,
                usage: failure.usage,
                ..Report::default()
            };
            write(tx, before, transition, change, events, report).await
        })
        .await
}
