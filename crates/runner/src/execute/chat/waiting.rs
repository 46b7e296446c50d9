//! What the calls of a model's reply leave a session waiting for.

use super::{
    super::{
        adapter::YieldOutcome,
        tool::{self, Callee, Tool},
    },
    Call,
};
use domain::{count::counted, gate::PausedToolCall};
use wire::worker::YieldStatus;

/// What the calls of a reply leave the session waiting for.
pub(super) enum Waiting {
    /// Nothing: the model is asked again.
    No,
    /// A decision, an answer in the conversation, or children.
    For(Box<YieldOutcome>),
    /// People: the request has parked the session.
    Parked,
}

/// Yields the session until a person answers or approves the call.
pub(super) fn yield_for(callee: Callee, call: &Call) -> YieldOutcome {
    if callee == Callee::Own(Tool::AskPerson) {
        let question = tool::question(&call.input);
        return YieldOutcome {
            status: YieldStatus::WaitingHuman,
            detail: question.message.clone(),
            paused: None,
            question: Some(question),
            for_children: false,
            usage: None,
        };
    }
    let tool_input = call.input.as_object().cloned().unwrap_or_default();
    let paused = PausedToolCall { tool_call_id: call.id.clone(), tool_name: call.name.clone(), tool_input };
    let detail = format!("{} is waiting for approval", call.name);
    YieldOutcome {
        status: YieldStatus::AwaitingTool,
        detail,
        paused: Some(paused),
        question: None,
        for_children: false,
        usage: None,
    }
}

/// Yields the session until its children have ended.
pub(super) fn yield_for_children(count: usize) -> YieldOutcome {
    let detail = format!("waiting for {} that it started", counted(count as u64, "session"));
    YieldOutcome { status: YieldStatus::Idle, detail, paused: None, question: None, for_children: true, usage: None }
}
