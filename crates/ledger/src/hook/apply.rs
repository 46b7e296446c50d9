//! Writes the event of a hook and its status changes in one transaction.

use super::attempt::{AttemptError, Attempted};
use crate::{
    Error, Result,
    commit::{
        bound_row::bind_open,
        effect::{Cause, carry_out, effects},
        state,
    },
    relevance,
};
use domain::{
    event::{Body, Known},
    hook::Wait,
    limit::SESSION_EVENTS_MAX,
    session::{Actor, Command, Report, Session, Status, decide},
};
use store::{PreparedEvent, WriteTx};

/// Number of events that are searched for what a session waits for: as many after the hook that paused it, and as many
/// of the newest.
const SEARCHED_MAX: u32 = 20;

/// Writes the hook to its session, which is locked and not final. Returns what became of its ratings.
pub(super) async fn apply(
    tx: &mut WriteTx<'_>,
    before: Box<Session>,
    mut hook: Attempted,
) -> std::result::Result<Vec<relevance::Report>, AttemptError> {
    let before = *before;
    // Before the memories of this prompt are recorded: the ratings are of those that the agent had until now.
    rate(tx, &before, &mut hook).await?;
    if let Some((turn, instead)) = hook.parsed.in_turn.take()
        && newest_turn(tx, &before).await?.is_some_and(|newest| newest == turn)
    {
        // The turn has a prompt already, so this one was steered into it.
        hook.parsed.event = instead;
        hook.parsed.titled = None;
    }
    let commands = commands(tx, &before, &hook).await?;
    let mut session = before.clone();
    // Only the server writes `user.*`, so only such an event may bind the new title.
    let is_message = hook.parsed.event.kind == Known::UserMessage;
    let titled = hook.parsed.titled.clone().filter(|_| session.title == hook.parsed.folder && is_message);
    if let Some(title) = &titled {
        // The title is set before a possible end of the session, because the final digest covers it.
        session.title.clone_from(title);
    }
    let mut changes = Vec::new();
    for command in commands {
        changes.push(step(&mut session, *command, &mut hook)?);
    }
    let changed_by = changes.last().map(|change| change.id);
    if titled.is_some() {
        bind_title(&mut hook, &session)?;
    }
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
    // The memories are the last event.
    let (ranker, candidates) = &hook.considered;
    let turn = before.head_sequence + events.len() as u64;
    relevance::record_on(tx, &session, turn, (ranker, candidates), now).await?;
    Ok(hook.rated)
}

/// Stores the ratings of the hook.
async fn rate(tx: &mut WriteTx<'_>, session: &Session, hook: &mut Attempted) -> Result<()> {
    let (settings, now) = (hook.settings, hook.minter.at());
    for (source, ratings) in std::mem::take(&mut hook.parsed.ratings) {
        let by = (source, relevance::AGENT);
        hook.rated.push(relevance::rate_on(tx, session, ratings, by, (&settings, now)).await?);
    }
    Ok(())
}

/// Adds the digest of the session with its new title to the metadata of the hook's event.
fn bind_title(hook: &mut Attempted, session: &Session) -> Result<()> {
    let wrong = |error: serde_json::Error| Error::Internal(error.to_string());
    let mut metadata = serde_json::from_str(&hook.parsed.event.metadata).map_err(wrong)?;
    bind_open(&mut metadata, session)?;
    hook.parsed.event.metadata = metadata.to_string();
    Ok(())
}

/// Returns the id of the turn of the session's newest prompt, if it has one.
async fn newest_turn(tx: &mut WriteTx<'_>, session: &Session) -> Result<Option<String>> {
    let (kinds, end) = ([Known::UserMessage.as_str().to_owned()], session.head_sequence + 1);
    let newest = store::event::before(tx.conn(), session.tenant_id, session.id, end, &kinds, 1).await?;
    Ok(newest.items.last().and_then(|event| match event.body() {
        Body::UserMessage(message) => message.turn_id().map(str::to_owned),
        _ => None,
    }))
}

/// Returns the commands that the hook means for the session's status.
async fn commands(tx: &mut WriteTx<'_>, session: &Session, hook: &Attempted) -> Result<&'static [Command]> {
    let wait = if session.status() == Status::WaitingHuman { wait_of(tx, session).await? } else { None };
    Ok(hook.parsed.steps(session.status(), wait.as_ref()))
}

/// Returns what a waiting session waits for, if the hook that paused it or a later one recorded it. The newest counts.
/// Of more than twice [`SEARCHED_MAX`] later ones, those in the middle are not read.
async fn wait_of(tx: &mut WriteTx<'_>, session: &Session) -> Result<Option<Wait>> {
    let (tenant_id, id, head) = (session.tenant_id, session.id, session.head_sequence);
    let changes = [Known::SessionStatusChange.as_str().to_owned()];
    let change = store::event::before(tx.conn(), tenant_id, id, head + 1, &changes, 1).await?.items.pop();
    let Some(paused) = change.map(|change| change.sequence) else { return Ok(None) };
    let kinds = [Known::ExternalEvent.as_str().to_owned()];
    // The event of the hook that paused the session comes before the change. Older ones are of waits that ended.
    let mut events = store::event::before(tx.conn(), tenant_id, id, paused, &kinds, 1).await?.items;
    let first = store::event::after(tx.conn(), tenant_id, id, (paused, head), &kinds, SEARCHED_MAX).await?;
    events.extend(first.items);
    if first.has_more {
        let newest = store::event::before(tx.conn(), tenant_id, id, head + 1, &kinds, SEARCHED_MAX).await?;
        events.extend(newest.items.into_iter().filter(|event| event.sequence > paused));
    }
    Ok(events.iter().rev().find_map(|event| Wait::read(&event.metadata)))
}

/// Decides one command, changes the row accordingly, and returns the event.
fn step(session: &mut Session, command: Command, hook: &mut Attempted) -> Result<PreparedEvent> {
    let now = hook.minter.at();
    let decided = decide(state(session), Actor::Server, command)?;
    let reason = if command == Command::Resume { "answered outside" } else { hook.parsed.reason.as_str() };
    let before = session.status();
    session.enter(decided, Report::default(), now);
    Ok(hook.minter.status_reached(before, session, reason))
}

/// Orders the hook's event, its status changes and the context for a reader. A change to running comes before
/// the event; a change to idle or waiting comes after it.
fn events(hook: &mut Attempted, changes: Vec<PreparedEvent>, now: Status) -> Result<Vec<PreparedEvent>> {
    let event = hook.parsed.event.clone();
    let mut recorded = hook.minter.recorded(event.kind, event.content, event.metadata);
    recorded.external_event_id = hook.external_id.clone();
    let mut events = Vec::with_capacity(changes.len() + 2);
    if now == Status::Running {
        events.extend(changes);
        events.push(recorded);
    } else {
        events.push(recorded);
        events.extend(changes);
    }
    for context in std::mem::take(&mut hook.context) {
        events.push(hook.minter.event(&context));
    }
    Ok(events)
}
