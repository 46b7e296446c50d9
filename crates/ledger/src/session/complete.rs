//! A worker reports success. The first report is the recorded outcome, for ever.

use crate::{
    ActionRecord, Ledger, Result, SessionRecord,
    commit::{Change, EventFactory, state, write},
    gate::{self, Stage},
    guard::{Fields, require},
    output::{self, Refused, WriteBack, Written},
    visibility::require_visible_or_claimed,
};
use domain::{
    Scope,
    event::Kind,
    gate::{Staged, Task},
    id::{EntityId, GateId, SessionId},
    role::Permission,
    session::{Actor, Command, Refusal, Report, Status, Transition, decide},
};
use serde_json::{Value, json};
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
        minter: EventFactory::new(ledger, now, 2),
    };
    let gate_id = GateId::new(now, ledger.entropy());
    let entity_ids = output::entity_ids(ledger, now, completion.result.as_deref().unwrap_or_default());
    let caller = *scope;
    let reported: std::result::Result<SessionRecord, Refused> = ledger
        .write(scope.into(), move |tx| {
            Box::pin(async move {
                let before = store::session::find_locked(tx, caller.tenant_id, id).await?;
                let before = require_visible_or_claimed(tx.conn(), &caller, before).await?;
                let transition = match decide(state(&before), change.actor, change.command) {
                    Err(Refusal::AlreadyFinal { status: Status::Completed }) => return Ok(Ok(before)),
                    Err(refused @ Refusal::WrongStatus { status: Status::WaitingHuman }) => {
                        let staged = is_staged(tx, &before, &completion).await?;
                        return if staged { Ok(Ok(before)) } else { Err(refused.into()) };
                    }
                    decided => decided?,
                };
                report(tx, before, transition, change, completion, (gate_id, entity_ids)).await
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
    (gate_id, ids): (GateId, Vec<EntityId>),
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
            return Ok(Err(output::refuse(tx, before, change, (result, completion.usage), errors).await?));
        }
        match settled(tx, action, &before, &change, result, ids).await? {
            Settled::Written(written) => metadata["written"] = json!(written),
            Settled::AwaitsApproval(output) => {
                let stage = Stage { gate_id, action, output, usage: completion.usage };
                return Ok(Ok(gate::stage(tx, before, change, stage).await?));
            }
        }
    }
    let events = vec![change.minter.event(Kind::SESSION_COMPLETED, None, &metadata)?];
    let Completion { result, usage, .. } = completion;
    // What a completion says of its usage counts alone, also where it says nothing.
    let before = SessionRecord { usage: None, ..before };
    Ok(Ok(write(tx, before, transition, change, events, Report { result, usage, ..Report::default() }).await?))
}

/// What becomes of a result that keeps its contract.
enum Settled {
    /// Its entities are written, where it has any.
    Written(Written),
    /// A person has to decide first: nothing is written.
    AwaitsApproval(Value),
}

async fn settled(
    tx: &mut WriteTx<'_>,
    action: &ActionRecord,
    session: &SessionRecord,
    change: &Change,
    result: Option<&str>,
    ids: Vec<EntityId>,
) -> Result<Settled> {
    let output = read(result);
    if output::awaits_approval(action, session) {
        return Ok(Settled::AwaitsApproval(output));
    }
    // Only objects have something to write.
    if !output.is_object() {
        return Ok(Settled::Written(Written::default()));
    }
    let (actor, now) = (change.caller.to_string(), change.minter.at());
    let write = WriteBack { action, session, output: &output, actor: &actor, now, ids };
    Ok(Settled::Written(output::write_back(tx, write).await?))
}

/// The result as JSON; its contract was checked before. Null for a session that ends without a word.
fn read(result: Option<&str>) -> Value {
    result.and_then(|result| serde_json::from_str(result).ok()).unwrap_or_default()
}

/// Whether this very result waits for approval already: its worker did not hear the answer and reports again.
async fn is_staged(tx: &mut WriteTx<'_>, session: &SessionRecord, completion: &Completion) -> Result<bool> {
    let Some(gate) = store::gate::waiting_locked(tx, session.tenant_id, session.id).await? else { return Ok(false) };
    let (Task::Output(staged) | Task::Fields(staged)) = &gate.task else { return Ok(false) };
    let reported = Staged::of(read(completion.result.as_deref()));
    Ok(gate.attempt == completion.attempt
        && (reported.text_only, reported.staged_output) == (staged.text_only, staged.staged_output.clone()))
}
