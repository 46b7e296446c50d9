//! Completing a session. The first report of a worker is recorded and never changes.

mod plain;

use super::if_status::check_report_status;
use crate::{
    ActionRecord, Error, Ledger, Result,
    commit::{Change, Minter, state, write},
    gate::{self, Stage},
    guard::{Fields, require},
    output::{self, Refused, WriteBack, Written},
    tool,
    visibility::require_visible_or_claimed,
};
use domain::{
    Scope,
    event::kind::Completed,
    gate::{Staged, Task},
    id::{GateId, SessionId},
    issue::Issue,
    limit::TOOL_RESULT_BYTES_MAX,
    role::Permission,
    session::{Actor, Command, Refusal, Report, Session, Status, Transition, Type, decide},
};
use serde_json::Value;
use store::WriteTx;

/// The reason of the change of status.
const REASON: &str = "completed by its worker";

/// The report of a worker.
#[derive(Debug, Clone)]
pub struct Completion {
    /// The attempt of the claim, which is the fencing token.
    pub attempt: u32,
    /// The result as JSON. It must fulfil the output contract of the session's action.
    pub result: Option<String>,
    /// Usage as a JSON object.
    pub usage: Option<String>,
}

/// Completes a session and writes its result to the entities that its action's output contract names, in one
/// transaction. If the action requires approval, a gate opens instead. A repeat with the same attempt returns
/// the recorded outcome. The worker that left its session idle can complete it too, unless it is a conversation.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session, or if the caller neither can see it nor claimed it last;
/// [`crate::Error::Refused`] if the worker does not hold it; [`crate::Error::NotNow`] if it is idle and people have to
/// approve its result; [`crate::Error::Invalid`] for a result that is too long or too deep;
/// [`crate::Error::OutputInvalid`] if the result violates the contract. The first violation of an attempt is recorded
/// and the session keeps its status. A repeat of it, with the same usage, changes nothing. Another violation fails the
/// session. A result that violates the output schema of a tool fails its session at once: the tool is not run again.
pub async fn complete(ledger: &Ledger, scope: &Scope, id: SessionId, completion: Completion) -> Result<Session> {
    complete_in(ledger, scope, id, completion, None).await
}

/// Does the same as [`complete`], but only in the status `if_status`, if it is given.
///
/// # Errors
/// Those of [`complete`], and [`crate::Error::Refused`] in another status.
pub async fn complete_in(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    completion: Completion,
    if_status: Option<Status>,
) -> Result<Session> {
    require(scope, Permission::Work)?;
    let mut fields = Fields::default();
    // Only results of tools may be as large as this. The row says whether the session is one.
    fields.document_within("result", completion.result.as_deref(), TOOL_RESULT_BYTES_MAX);
    fields.object("usage", completion.usage.as_deref());
    fields.check()?;
    if if_status.is_none_or(|status| status == Status::Running)
        && let Some(completed) = plain::attempt(ledger, scope, id, &completion).await?
    {
        return Ok(completed);
    }
    let schema = match attempt(ledger, scope, (id, if_status), (completion.clone(), None)).await? {
        Ok(reported) => return Ok(reported?),
        Err(Unchecked(schema)) => schema,
    };
    // The check can take long, and other writers wait for a transaction.
    let violations = tool::schema_errors(&schema, completion.result.as_deref());
    match attempt(ledger, scope, (id, if_status), (completion, Some(violations))).await? {
        Ok(reported) => Ok(reported?),
        Err(Unchecked(_)) => Err(Error::Internal(format!("the result of session {id} was checked in vain"))),
    }
}

/// The completed session, or the recorded reason why it is not.
type Reported = std::result::Result<Session, Refused>;

/// A transaction changed nothing, because the result has to be checked against this output schema of a tool first.
struct Unchecked(Value);

/// Completes a session in one transaction. The violations are those of the output schema of its tool; `None` before
/// they were looked for.
async fn attempt(
    ledger: &Ledger,
    scope: &Scope,
    (id, if_status): (SessionId, Option<Status>),
    (completion, violations): (Completion, Option<Vec<Issue>>),
) -> Result<std::result::Result<Reported, Unchecked>> {
    let now = ledger.now();
    let change = Change {
        id,
        actor: Actor::Worker { attempt: completion.attempt },
        command: Command::Complete,
        caller: scope.caller,
        reason: REASON.into(),
        minter: Minter::new(ledger, now),
    };
    let gate_id = GateId::new(now, ledger.entropy());
    let caller = *scope;
    let written = ledger.write(scope.into(), async move |tx| {
        let before = store::session::find_locked(tx, caller.tenant_id, id).await?;
        let before = require_visible_or_claimed(tx.conn(), &caller, before).await?;
        let transition = match decide(state(&before), change.actor, change.command) {
            Err(Refusal::AlreadyFinal { status: Status::Completed }) => return Ok(Ok(Ok(before))),
            Err(refused @ Refusal::WrongStatus { status: Status::WaitingHuman }) => {
                let staged = is_staged(tx, &before, &completion).await?;
                return if staged { Ok(Ok(Ok(before))) } else { Err(refused.into()) };
            }
            decided => decided?,
        };
        check_report_status(&before, if_status)?;
        check_result_size(&before, &completion)?;
        let violations = match (tool::output_schema(tx.conn(), &before).await?, violations) {
            (None, _) => Vec::new(),
            (Some(_), Some(violations)) => violations,
            (Some(schema), None) => return Ok(Err(Unchecked(schema))),
        };
        if !violations.is_empty() {
            let reported = (completion.result.as_deref(), completion.usage);
            let failed = tool::fail_result(tx, before, change, reported, &violations).await?;
            return Ok(Ok(Ok(failed)));
        }
        report(tx, before, transition, change, completion, gate_id).await.map(Ok)
    });
    written.await
}

/// Refuses a result that is too large for its session. One that is the output of a task is also kept where the task is
/// decided.
fn check_result_size(session: &Session, completion: &Completion) -> Result<()> {
    let mut fields = Fields::default();
    if session.session_type != Type::Tool || session.action_id.is_some() {
        fields.document("result", completion.result.as_deref());
    }
    fields.check()
}

/// Checks the result against the contract of its action, then writes, stages or refuses it. A refusal is returned as a
/// value, because it is recorded and must be committed.
async fn report(
    tx: &mut WriteTx<'_>,
    before: Session,
    transition: Transition,
    mut change: Change,
    completion: Completion,
    gate_id: GateId,
) -> Result<std::result::Result<Session, Refused>> {
    let mut completed = Completed {
        attempt: Some(completion.attempt),
        has_result: completion.result.is_some(),
        ..Completed::default()
    };
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
        match settled(tx, action, &before, &change, result).await? {
            Settled::Written(written) => completed.written = Some(written.0),
            // No session changes from idle to waiting for a person.
            Settled::AwaitsApproval(_) if before.status() == Status::Idle => {
                return Err(Error::NotNow(
                    "people have to approve its result: take it back with wake, then complete it",
                ));
            }
            Settled::AwaitsApproval(output) => {
                let stage = Stage { gate_id, action, output, usage: completion.usage };
                return Ok(Ok(gate::stage(tx, before, change, stage).await?));
            }
        }
    }
    let events = vec![change.minter.event(&completed)];
    let Completion { result, usage, .. } = completion;
    // Only the usage in the completion counts. A completion without usage clears earlier usage.
    let before = Session { usage: None, ..before };
    Ok(Ok(write(tx, before, transition, change, events, Report { result, usage, ..Report::default() }).await?))
}

/// What happens to a result that fulfils its contract.
enum Settled {
    /// It was written to its entities, if it has any.
    Written(Written),
    /// It needs approval. Nothing was written.
    AwaitsApproval(Value),
}

async fn settled(
    tx: &mut WriteTx<'_>,
    action: &ActionRecord,
    session: &Session,
    change: &Change,
    result: Option<&str>,
) -> Result<Settled> {
    let output = read(result);
    if output::awaits_approval(action, session) {
        return Ok(Settled::AwaitsApproval(output));
    }
    // Only a JSON object can contain values for entities.
    if !output.is_object() {
        return Ok(Settled::Written(Written::default()));
    }
    let actor = change.caller.to_string();
    let write = WriteBack { action, session, output: &output, actor: &actor, minter: &change.minter };
    Ok(Settled::Written(output::write_back(tx, write).await?))
}

/// Parses the result, whose contract is already checked. Null if there is no result.
fn read(result: Option<&str>) -> Value {
    result.and_then(|result| serde_json::from_str(result).ok()).unwrap_or_default()
}

/// Returns whether the same result already waits for approval. This is the case if the worker did not receive
/// the response and repeats its report.
async fn is_staged(tx: &mut WriteTx<'_>, session: &Session, completion: &Completion) -> Result<bool> {
    let Some(gate) = store::gate::waiting_locked(tx, session.tenant_id, session.id).await? else { return Ok(false) };
    let (Task::Output(staged) | Task::Fields(staged)) = &gate.task else { return Ok(false) };
    let reported = Staged::of(read(completion.result.as_deref()));
    Ok(gate.attempt == completion.attempt
        && (reported.text_only, reported.staged_output) == (staged.text_only, staged.staged_output.clone()))
}
