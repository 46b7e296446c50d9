//! Decides which ended turns are captured as training data, and which sessions are dialogues.

use domain::{
    Timestamp,
    hook::Source as HookSource,
    session::{Command, Session, Status, Type},
    thread::SOURCE,
};
use serde::Deserialize;
use store::interaction::DueRecord;

/// Returns whether a session is a conversation with an agent.
pub fn is_thread(session: &Session) -> bool {
    session.source.as_deref() == Some(SOURCE)
}

/// Returns whether a coding agent reports the session by hooks. No worker claims such a session.
pub(crate) fn is_reported(session: &Session) -> bool {
    HookSource::ALL.iter().any(|hook| session.source.as_deref() == Some(hook.as_str()))
}

/// Returns whether a session holds a proposal of the memory writer. Decisions on it are training data of the writer.
/// Proposals that come from ratings name no run.
fn is_proposal(session: &Session) -> bool {
    let of_run = || serde_json::from_str::<OfRun>(&session.metadata).is_ok();
    session.source.as_deref() == Some(domain::memory_writer::SOURCE) && of_run()
}

/// Metadata of a session with a proposal of a run of the memory writer.
#[derive(Deserialize)]
struct OfRun {
    #[serde(rename = "memory")]
    _memory: RunOfMemory,
}

/// The run of such a session.
#[derive(Deserialize)]
struct RunOfMemory {
    #[serde(rename = "runId")]
    _run_id: String,
}

/// Returns whether the messages of a session are its whole content: a conversation, or a coding agent that
/// reports by hooks.
pub(crate) fn is_dialogue(session: &Session) -> bool {
    is_thread(session) || is_reported(session)
}

/// Returns whether the messages of an agent that reached this status can be an answer. If the work failed or
/// was stopped, only the decisions of reviewers count. A turn of a conversation that failed or was interrupted also
/// becomes idle: only its log tells that it has no answer.
pub(crate) fn has_answered(status: Status) -> bool {
    matches!(status, Status::Completed | Status::Idle)
}

/// When an ended turn is enqueued for capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capture {
    /// Always, because the session has a result.
    Always,
    /// If the log holds something to capture. If `has_answered` is true, messages of the agent count; otherwise
    /// only decisions of reviewers count.
    IfReplied { has_answered: bool },
}

/// Returns the agent's turn that ended with the change from the status `before` to the row `after`. Returns
/// `None` if no turn ended or if it must not be captured. Private sessions are not captured. A turn that
/// its person interrupted has no answer.
pub(crate) fn ended_turn(
    before: Status,
    after: &Session,
    command: Command,
    now: Timestamp,
) -> Option<(DueRecord, Capture)> {
    // An idle session that waits for other sessions has not answered yet.
    let rests = after.status() == Status::Idle && after.waits_for().is_none();
    let ended = after.status() != before && (after.status().is_final() || rests);
    let by_agent = after.session_type == Type::Agent && (after.attempt > 0 || is_reported(after) || is_proposal(after));
    if !ended || !by_agent || command == Command::Interrupt || after.is_private() {
        return None;
    }
    let due = DueRecord {
        tenant_id: after.tenant_id,
        session_id: after.id,
        sequence: after.head_sequence,
        status: after.status(),
        ended_at: now,
    };
    let has_answered = has_answered(after.status());
    let has_result = has_answered && after.result().is_some() && !is_dialogue(after);
    Some((due, if has_result { Capture::Always } else { Capture::IfReplied { has_answered } }))
}
