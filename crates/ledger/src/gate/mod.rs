//! Gates: pauses that wait for a person's decision. All kinds use the same table and the same way to decide.
//!
//! A gate opens in the transaction that pauses its session (`open.rs`). A decision is recorded with its event
//! before it has an effect (`decide.rs`). The effect follows when the decision cannot be undone any more
//! (`settle.rs`), in one transaction with the session's next status. Sessions are always locked before gates.

mod announce;
mod ask_admins;
mod context;
mod decide;
mod decision_event;
mod get;
mod hand_over;
mod item;
mod line;
mod list;
mod memory;
mod of_action;
mod open;
mod promotion;
mod quoted;
mod reply;
mod request;
mod reviewed;
mod settle;
mod settle_context;
mod snooze;
mod sweep;
mod undo;
mod visibility;

pub(crate) use context::{denials_for_attempt, resume_context};
pub(crate) use decide::check_form;
pub(crate) use memory::{NewProposal, Origin, propose};
use open::opened;
pub(crate) use open::{RequestTerms, Stage, ask_or_approve, pause, stage};
pub(crate) use promotion::{Judged, judge, stage_judged};
pub(crate) use reply::{AnswerBy, settle_question};
pub(crate) use request::{AnswerDetails, answer_to, nobody_answered};
pub(crate) use reviewed::{Reviewed, reviewed};

pub use ask_admins::ask_admins;
pub use context::{Denied, QuestionOutcome, Resumed};
pub use decide::{NewDecision, decide};
pub(crate) use get::detail_on;
pub use get::{GateDetail, get};
pub use hand_over::{Handover, hand_over};
pub use item::{GateItem, MayDecide};
pub use list::{GateFilter, ListGates, count, held, list, list_matching, of_sessions};
pub(crate) use list::{
    ListQuery, count_alike_on, count_on, held_on, list_alike_on, list_on, of_ids_on, of_sessions_on,
};
pub use memory::ChangedDocument;
pub use of_action::of_action;
pub use reply::{Reply, cancel_question, reply, reply_as};
pub use snooze::{snooze, snooze_until};
pub use sweep::{Swept, sweep};
pub use undo::{set_undo_seconds, undo, undo_seconds};
pub(crate) use visibility::find_on;

use crate::{Error, Result};
use domain::{
    Scope,
    chain::Digest,
    gate::{ByRole, DecisionState, Gate, Verdict, Vote, decision_state_of, merge},
    id::UserId,
};
use serde_json::{Map, Value};
use store::{Conn, DecisionRecord};
use uuid::Uuid;

/// Returns the person who calls. Tokens never decide, because gates exist to control programs.
fn person(scope: &Scope) -> Result<UserId> {
    scope.user_id().ok_or(Error::Forbidden("only a person who is signed in can decide; a token cannot"))
}

/// Returns which gates a caller may decide because of the role, without being a named reviewer.
pub(crate) fn by_role(scope: &Scope) -> ByRole {
    ByRole::of(scope.role, scope.token_scope)
}

/// Converts the decisions on a gate to votes.
fn votes(decisions: &[DecisionRecord]) -> Vec<Vote> {
    let vote = |d: &DecisionRecord| Vote {
        number: d.number,
        // An answer through a token counts for no person. It decides the gate on its own.
        user_id: d.user_id.unwrap_or(UserId(Uuid::nil())),
        verdict: d.verdict,
        value: d.value_digest,
        undoes: d.undoes,
        rebases: d.verdict == Some(Verdict::Approve) && d.value.is_some(),
    };
    decisions.iter().map(vote).collect()
}

fn decision_state(gate: &Gate, decisions: &[DecisionRecord]) -> DecisionState {
    decision_state_of(gate.task_digest, &votes(decisions))
}

/// Returns the values that would take effect now: the staged values or the proposed edit. `None` for a question.
fn proposed(
    gate: &Gate,
    decision_state: &DecisionState,
    decisions: &[DecisionRecord],
) -> Result<Option<Map<String, Value>>> {
    let Some(staged) = gate.task.editable() else { return Ok(None) };
    let Some(number) = decision_state.proposal else { return Ok(Some(staged.clone())) };
    let edit = decisions.iter().find(|d| d.number == number).and_then(|d| d.value.as_deref());
    let edit = edit.ok_or_else(|| Error::Internal(format!("edit {number} of gate {} has no value", gate.id)))?;
    let edit: Map<String, Value> = serde_json::from_str(edit)
        .map_err(|error| Error::Internal(format!("edit {number} of gate {} does not read: {error}", gate.id)))?;
    Ok(Some(merge(staged, &edit)))
}

/// Returns the decisions on one gate.
async fn decisions_of(conn: &mut Conn<'_>, gate: &Gate) -> Result<Vec<DecisionRecord>> {
    let mut all = store::gate::decisions(conn, gate.tenant_id, &[gate.id]).await?;
    Ok(all.remove(&gate.id).unwrap_or_default())
}

fn not_found() -> Error {
    Error::NotFound("approval")
}

/// Parses a digest that a caller sent.
///
/// # Errors
/// [`Error::Invalid`] unless it is 64 hexadecimal digits.
fn parse_digest(text: &str) -> Result<Digest> {
    Digest::parse(text).ok_or_else(|| Error::invalid("digest", "64 hexadecimal digits"))
}
