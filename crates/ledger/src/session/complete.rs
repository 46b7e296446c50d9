//! A worker reports success. The first report is the recorded outcome, for ever.

use super::change::{Change, Minter, state, write};
use crate::{
    Error, Ledger, Result, SessionRecord,
    guard::{Fields, require},
};
use domain::{
    Scope,
    event::Kind,
    id::SessionId,
    role::Permission,
    session::{Actor, Command, Refusal, Status, decide},
};
use serde_json::json;

/// What a worker reports.
#[derive(Debug, Clone)]
pub struct Completion {
    /// The fencing token.
    pub attempt: u32,
    /// Any JSON.
    pub result: Option<String>,
    /// A JSON object.
    pub usage: Option<String>,
}

/// Completes a session. A repeat under the same attempt answers with the recorded outcome.
pub async fn complete(ledger: &Ledger, scope: &Scope, id: SessionId, completion: Completion) -> Result<SessionRecord> {
    require(scope, Permission::Work)?;
    let mut fields = Fields::default();
    fields.document("result", completion.result.as_deref());
    fields.object("usage", completion.usage.as_deref());
    fields.check()?;
    let mut change = Change {
        id,
        actor: Actor::Worker { attempt: completion.attempt },
        command: Command::Complete,
        caller: scope.caller,
        reason: "completed by its worker".into(),
        minter: Minter::new(ledger, ledger.now(), 2),
    };
    let tenant_id = scope.tenant_id;
    ledger
        .store()
        .write(scope.into(), move |tx| {
            Box::pin(async move {
                let before = store::session::find_locked(tx, tenant_id, id).await?.ok_or(Error::NotFound("session"))?;
                let transition = match decide(state(&before), change.actor, change.command) {
                    Err(Refusal::AlreadyFinal { status: Status::Completed }) => return Ok(before),
                    decided => decided?,
                };
                let metadata = json!({ "attempt": completion.attempt, "hasResult": completion.result.is_some() });
                let events = vec![change.minter.event(Kind::SESSION_COMPLETED, None, &metadata)?];
                write(tx, before, transition, change, events, move |session| {
                    session.result = completion.result;
                    session.usage = completion.usage;
                })
                .await
            })
        })
        .await
}
