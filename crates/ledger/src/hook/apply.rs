//! Writing a hook's event and the changes of status that it means, in one step.

use super::record::{AttemptError, Attempted};
use crate::{
    Error, Result, SessionRecord,
    commit::{
        effect::{Cause, carry_out, effects},
        state,
    },
};
use domain::{
    event::Kind,
    id::SessionId,
    limit::SESSION_EVENTS_MAX,
    session::{Actor, Command, Report, Status, decide},
};
use serde_json::{Value, json};
use store::{PreparedEvent, WriteTx};

/// Events looked at, newest first, for what a session waits for.
const LOOK_BACK: u32 = 20;

/// What an agent is told, for the log to show it.
#[derive(Debug, Clone)]
pub(super) struct Injected {
    /// The block.
    pub(super) text: String,
    /// The working session that it tells of.
    pub(super) about: SessionId,
}

/// Writes the hook to its session, which is locked and not final.
pub(super) async fn apply(
    tx: &mut WriteTx<'_>,
    before: Box<SessionRecord>,
    mut hook: Attempted,
) -> std::result::Result<(), AttemptError> {
    let before = *before;
    let commands = commands(tx, &before, &hook).await?;
    let mut session = before.clone();
    let titled = hook.parsed.titled.clone().filter(|_| session.title == hook.parsed.folder);
    if let Some(title) = &titled {
        // Before the session can end: its end binds the title.
        session.title.clone_from(title);
    }
    let mut changes = Vec::new();
    for command in commands {
        changes.push(step(&mut session, *command, &mut hook)?);
    }
    let changed_by = changes.last().map(|change| change.id);
    let mut events = events(&mut hook, changes, session.status())?;
    if before.head_sequence + events.len() as u64 > SESSION_EVENTS_MAX {
        let full = format!("a session holds at most {SESSION_EVENTS_MAX} events");
        return Err(Error::LimitReached(full).into());
    }
    for event in &mut events {
        event.at = hook.at;
    }
    let (actor, now) = (hook.scope.caller.to_string(), hook.minter.at());
    store::session::save(tx, &before, &mut session, &events, None, &actor, now).await?;
    if let (Some(command), Some(changed_by)) = (commands.last(), changed_by) {
        let cause = Cause { command: *command, reason: &hook.parsed.reason };
        carry_out(tx, &session, effects(before.status(), &session, cause, now), changed_by, &hook.minter).await?;
    }
    if let Some(title) = &titled {
        store::session::retitle(tx, session.tenant_id, session.id, title).await?;
    }
    Ok(())
}

/// What the hook means for the session's status.
async fn commands(tx: &mut WriteTx<'_>, session: &SessionRecord, hook: &Attempted) -> Result<&'static [Command]> {
    let waited_for = if session.status() == Status::WaitingHuman { waits_for(tx, session).await? } else { None };
    Ok(hook.parsed.steps(session.status(), waited_for.as_deref()))
}

/// What a waiting session waits for, where the hook that said so told it.
async fn waits_for(tx: &mut WriteTx<'_>, session: &SessionRecord) -> Result<Option<String>> {
    let kinds = ["external.event".to_owned()];
    let before = session.head_sequence + 1;
    let page = store::event::before(tx.conn(), session.tenant_id, session.id, before, &kinds, LOOK_BACK).await?;
    Ok(page.items.iter().rev().find_map(|event| {
        let metadata: Value = serde_json::from_str(&event.metadata).ok()?;
        metadata.get("waitsFor")?.as_str().map(str::to_owned)
    }))
}

/// Decides one command and changes the row as it says; its event.
fn step(session: &mut SessionRecord, command: Command, hook: &mut Attempted) -> Result<PreparedEvent> {
    let now = hook.minter.at();
    let decided = decide(state(session), Actor::Server, command)?;
    let reason = if command == Command::Resume { "answered outside" } else { hook.parsed.reason.as_str() };
    let before = session.status();
    session.enter(decided, Report::default(), now);
    hook.minter.status_reached(before, session, reason)
}

/// The hook's event, its changes of status and the context, in the order that reads right: an agent is at work
/// before it does something, and rests or waits after it said why.
fn events(hook: &mut Attempted, changes: Vec<PreparedEvent>, now: Status) -> Result<Vec<PreparedEvent>> {
    let event = hook.parsed.event.clone();
    let mut told = hook.minter.prepared(event.kind, event.content, event.metadata)?;
    told.external_event_id = hook.external_id.clone();
    let mut events = Vec::with_capacity(changes.len() + 2);
    if now == Status::Running {
        events.extend(changes);
        events.push(told);
    } else {
        events.push(told);
        events.extend(changes);
    }
    if let Some(context) = hook.context.take() {
        let metadata = json!({ "context": "recent_activity", "sessionId": context.about });
        events.push(hook.minter.event(Kind::SESSION_CONTEXT_INJECTED, Some(&context.text), &metadata)?);
    }
    Ok(events)
}
