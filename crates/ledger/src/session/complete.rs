//! A worker reports success. The first report is the recorded outcome, for ever.

use super::change::{Change, Minter, state, write};
use crate::{
    ActionRecord, Error, Ledger, Result, SessionRecord,
    guard::{Fields, require},
    output::{self, Refused, Settled, WriteBack, Written},
};
use domain::{
    Scope,
    event::Kind,
    id::{EntityId, SessionId},
    role::Permission,
    session::{Actor, Command, Refusal, Status, Transition, decide},
};
use serde_json::json;
use store::WriteTx;

/// What a worker reports.
#[derive(Debug, Clone)]
pub struct Completion {
    /// The fencing token.
    pub attempt: u32,
    /// Any JSON that keeps the output contract of the session's action.
    pub result: Option<String>,
    /// A JSON object.
    pub usage: Option<String>,
}

/// Completes a session and writes its result to the entities that its action's output contract names: all or nothing.
/// A repeat under the same attempt answers with the recorded outcome.
///
/// # Errors
/// [`Error::OutputInvalid`] for a result that breaks the contract. The first one of an attempt is recorded and the
/// session goes on; the second one fails it.
pub async fn complete(ledger: &Ledger, scope: &Scope, id: SessionId, completion: Completion) -> Result<SessionRecord> {
    require(scope, Permission::Work)?;
    let mut fields = Fields::default();
    fields.document("result", completion.result.as_deref());
    fields.object("usage", completion.usage.as_deref());
    fields.check()?;
    let now = ledger.now();
    let change = Change {
        id,
        actor: Actor::Worker { attempt: completion.attempt },
        command: Command::Complete,
        caller: scope.caller,
        reason: "completed by its worker".into(),
        minter: Minter::new(ledger, now, 2),
    };
    let entity_ids = output::entity_ids(ledger, now, completion.result.as_deref().unwrap_or_default());
    let tenant_id = scope.tenant_id;
    let reported: std::result::Result<SessionRecord, Refused> = ledger
        .store()
        .write(scope.into(), move |tx| {
            Box::pin(async move {
                let before = store::session::find_locked(tx, tenant_id, id).await?.ok_or(Error::NotFound("session"))?;
                let transition = match decide(state(&before), change.actor, change.command) {
                    Err(Refusal::AlreadyFinal { status: Status::Completed }) => return Ok(Ok(before)),
                    decided => decided?,
                };
                report(tx, before, transition, change, completion, entity_ids).await
            })
        })
        .await?;
    Ok(reported?)
}

/// Checks the result against its contract and does what becomes of it. The refusal is a value: it is recorded.
async fn report(
    tx: &mut WriteTx<'_>,
    before: SessionRecord,
    transition: Transition,
    mut change: Change,
    completion: Completion,
    ids: Vec<EntityId>,
) -> Result<std::result::Result<SessionRecord, Refused>> {
    let mut metadata = json!({ "attempt": completion.attempt, "hasResult": completion.result.is_some() });
    let action = match before.action_id {
        Some(id) => store::action::find(tx.conn(), before.tenant_id, id).await?,
        None => None,
    };
    if let Some(action) = &action {
        let result = completion.result.as_deref();
        let errors = output::check(tx.conn(), before.tenant_id, action, &before, result).await?;
        if !errors.is_empty() {
            return Ok(Err(output::refuse(tx, before, change, result, errors).await?));
        }
        metadata["written"] = settled(tx, action, &before, &change, result, ids).await?.metadata();
    }
    let events = vec![change.minter.event(Kind::SESSION_COMPLETED, None, &metadata)?];
    let session = write(tx, before, transition, change, events, move |session| {
        session.result = completion.result;
        session.usage = completion.usage;
    });
    Ok(Ok(session.await?))
}

/// What became of a result that keeps its contract. Only objects have something to write.
async fn settled(
    tx: &mut WriteTx<'_>,
    action: &ActionRecord,
    session: &SessionRecord,
    change: &Change,
    result: Option<&str>,
    ids: Vec<EntityId>,
) -> Result<Settled> {
    let Some(output) = result.and_then(|result| serde_json::from_str(result).ok()) else {
        return Ok(Settled::Written(Written::default()));
    };
    let (actor, now) = (change.caller.to_string(), change.minter.at());
    output::settle(tx, WriteBack { action, session, output: &output, actor: &actor, now, ids }).await
}
