//! The effects of a session's status change: computed as values, then carried out in the transaction of the
//! change.

use super::{
    minter::Minter,
    turn::{Capture, ended_turn},
};
use crate::{
    Result,
    outbox::{announce_cause, announce_end},
};
use domain::{
    Timestamp,
    event::Known,
    failure::code_of,
    feedback_request::RequestState,
    gate::CloseReason,
    id::EventId,
    session::{Command, EndReason, Session, Status, Type},
    tool::run::{ToolRun, ends_children, is_composite},
};
use store::{WriteTx, failure::NewFailure, interaction::DueRecord};

/// One effect of a session's status change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The session stopped waiting for a person. Its gate, if it is still open or held, is closed.
    CloseGate(CloseReason),
    /// A turn of an agent ended and is enqueued for capture.
    CaptureTurn(DueRecord, Capture),
    /// The session failed, expired, or never began because of another session. `code` and `message` are shown in
    /// the list of failures.
    RecordFailure { code: String, message: String },
    /// Sessions that wait for this one are notified. `cascades` says whether the sessions that it started end
    /// with it.
    NotifyGraph { cascades: bool },
    /// The session's response was not submitted, so its draft is closed.
    CloseDraft,
    /// The draft of a tool's run is deleted.
    DeleteToolDraft,
    /// The private values of a tool's input are deleted.
    DeletePrivateInput,
    /// The tries of a composite tool's steps that have not begun are deleted.
    DeleteWaitingSteps,
    /// Webhooks are notified that the session ended.
    AnnounceEnd,
}

/// Why a session changed: the command, and the reason in its status change event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cause<'a> {
    pub(crate) command: Command,
    /// The reason of the status change. It is also the failure message if the session has no error message.
    pub(crate) reason: &'a str,
}

/// Returns the effects of a change in the order in which they are carried out. `after` is the row as it was
/// written.
pub(crate) fn effects(before: Status, after: &Session, cause: Cause<'_>, now: Timestamp) -> Vec<Effect> {
    let mut effects = Vec::new();
    if after.status() == before {
        return effects;
    }
    if matches!(before, Status::WaitingHuman | Status::AwaitingTool) {
        let is_expired = after.status() == Status::Expired;
        effects.push(Effect::CloseGate(if is_expired { CloseReason::Expired } else { CloseReason::Withdrawn }));
    }
    effects.extend(ended_turn(before, after, cause.command, now).map(|(due, when)| Effect::CaptureTurn(due, when)));
    effects.extend(
        failure_of(after, cause.reason)
            .map(|(code, message)| Effect::RecordFailure { code: code.to_owned(), message: message.to_owned() }),
    );
    if after.status().is_final() {
        let cascades = ends_children(after);
        // Most sessions have no other session waiting for them. A task may write the result of a tool.
        if after.awaited || after.parent_id.is_some() || cascades || after.session_type == Type::Tool {
            effects.push(Effect::NotifyGraph { cascades });
        }
        if after.session_type == Type::Response && cause.command != Command::Submit {
            effects.push(Effect::CloseDraft);
        }
        if before == Status::Draft && ToolRun::of_session(after).is_some() {
            effects.push(Effect::DeleteToolDraft);
        }
        if ToolRun::of_session(after).is_some_and(|run| run.has_private_input) {
            effects.push(Effect::DeletePrivateInput);
        }
        if is_composite(after) {
            effects.push(Effect::DeleteWaitingSteps);
        }
        if !before.is_final() {
            effects.push(Effect::AnnounceEnd);
        }
    }
    effects
}

/// Returns code and message of the failure of a session that failed, expired, or never began because of another
/// session. `reason` is the one in its last status change event.
pub(crate) fn failure_of<'a>(session: &'a Session, reason: &'a str) -> Option<(&'a str, &'a str)> {
    let end_reason = session.end_reason().unwrap_or(EndReason::Error);
    let never_began = session.status() == Status::Abandoned && end_reason == EndReason::DependencyFailed;
    let failed = never_began || matches!(session.status(), Status::Failed | Status::Expired);
    let (code, message) = (session.error_code(), session.error_message());
    failed.then(|| (code.unwrap_or(code_of(end_reason)), message.unwrap_or(reason)))
}

/// Carries the effects out. `session` is the row as it was written, `changed_by` is the event of the status
/// change, and `minter` is the event minter of the change.
pub(crate) async fn carry_out(
    tx: &mut WriteTx<'_>,
    session: &Session,
    effects: Vec<Effect>,
    changed_by: EventId,
    minter: &Minter,
) -> Result<()> {
    let now = minter.at();
    for effect in effects {
        match effect {
            Effect::CloseGate(reason) => close_gate(tx, session, reason, now).await?,
            Effect::CaptureTurn(due, Capture::Always) => store::interaction::push(tx, due).await?,
            Effect::CaptureTurn(due, Capture::IfReplied { has_answered }) => {
                store::interaction::push_if_answered(tx, due, has_answered.then_some(Known::AgentMessage.as_str()))
                    .await?;
            }
            Effect::RecordFailure { code, message } => {
                let failure = NewFailure { id: changed_by, code: &code, message: &message, at: now };
                let opened = super::cause::group(tx, session, &failure).await?;
                store::failure::insert(tx, session, failure).await?;
                if let Some((opening, cause)) = opened {
                    announce_cause(tx, session, (opening, &cause), minter.messages()).await?;
                }
            }
            Effect::NotifyGraph { cascades } => {
                store::session::graph::note_ending(tx, session, cascades, now).await?;
            }
            Effect::CloseDraft => store::response::abandon(tx, session.tenant_id, session.id).await?,
            Effect::DeleteToolDraft => store::tool_draft::delete(tx, session.tenant_id, session.id).await?,
            Effect::DeletePrivateInput => store::tool_run::delete_private(tx, session.tenant_id, session.id).await?,
            Effect::DeleteWaitingSteps => {
                store::tool_step::delete_waiting(tx, session.tenant_id, session.id).await?;
            }
            Effect::AnnounceEnd => announce_end(tx, session, minter.messages()).await?,
        }
    }
    Ok(())
}

/// Closes the gate of a session that stopped waiting without a decision. A decided gate is settled already and
/// is not found here.
async fn close_gate(tx: &mut WriteTx<'_>, session: &Session, reason: CloseReason, now: Timestamp) -> Result<()> {
    let Some(mut gate) = store::gate::waiting_locked(tx, session.tenant_id, session.id).await? else { return Ok(()) };
    gate.state = gate.state.close(reason, now)?;
    store::gate::save(tx, &gate).await?;
    if let Some(id) = gate.task.request_id() {
        let state = match reason {
            CloseReason::Expired => RequestState::Expired,
            CloseReason::Withdrawn => RequestState::Cancelled,
        };
        store::feedback_request::close(tx, session.tenant_id, id, state, now).await?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "effect_tests.rs"]
mod tests;
