//! The event that records a decision in its session's log.

use crate::commit::Minter;
use domain::{
    event::kind::{ByRule, Decision, FormSubmit, OutputApproval, ToolConfirmation},
    feedback_request::Outcome,
    gate::{Gate, GateKind, Task},
};
use serde_json::Value;
use store::{DecisionRecord, PreparedEvent};

/// Creates the event of a decision. `value` is what is stored with the decision.
pub(super) fn decision_event(
    minter: &mut Minter,
    gate: &Gate,
    decision: &DecisionRecord,
    value: Option<Value>,
) -> PreparedEvent {
    decision_event_of(minter, gate, decision, value, None)
}

/// [`decision_event`] with the way in which a question ended, where the verdict does not say it.
pub(super) fn decision_event_of(
    minter: &mut Minter,
    gate: &Gate,
    decision: &DecisionRecord,
    value: Option<Value>,
    outcome: Option<Outcome>,
) -> PreparedEvent {
    event(minter, Decision { value, outcome, ..recorded(gate, decision) })
}

/// Creates the event of a decision that a rule made.
pub(super) fn rule_decision_event(
    minter: &mut Minter,
    gate: &Gate,
    decision: &DecisionRecord,
    rule: ByRule,
) -> PreparedEvent {
    event(minter, Decision { rule: Some(rule), ..recorded(gate, decision) })
}

fn recorded(gate: &Gate, decision: &DecisionRecord) -> Decision {
    let (tool_call_id, tool_name) = match &gate.task {
        Task::Tool(call) => (Some(call.tool_call_id.clone()), Some(call.tool_name.clone())),
        Task::Output(_) | Task::Fields(_) | Task::Question(_) | Task::Memory(_) => (None, None),
    };
    Decision {
        note: decision.note.clone(),
        gate_id: gate.id,
        kind: gate.kind,
        number: decision.number,
        digest: decision.value_digest.to_string(),
        decision: decision.verdict,
        undoes: decision.undoes,
        outcome: None,
        tool_call_id,
        tool_name,
        value: None,
        rule: None,
        effect_at: gate.state.held_until(),
    }
}

fn event(minter: &mut Minter, recorded: Decision) -> PreparedEvent {
    match recorded.kind {
        GateKind::Tool => minter.event(&ToolConfirmation(recorded)),
        GateKind::Output | GateKind::Fields | GateKind::Memory => minter.event(&OutputApproval(recorded)),
        GateKind::Question => minter.event(&FormSubmit::Decision(recorded)),
    }
}
