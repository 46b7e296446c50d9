//! The turns of an agent's people and tools, in two views of the log: the newest turns on one channel, and every turn
//! past the watermark of the memory writer. Nothing is stored for them. Incognito conversations are in neither, nor are
//! answers that were undone or can still be.

use crate::{
    Ledger, Result,
    guard::{Fields, require},
    memory::check_agent,
};
use domain::{
    Scope, Timestamp,
    event::Event,
    id::{SessionId, TenantId, UserId},
    limit::{HISTORY_SESSIONS_MAX, HISTORY_TURNS_MAX, KEY_CHARS_MAX},
    memory_writer::{
        channel::Channel,
        limit::TURN_CHARS_MAX,
        turn::{KINDS, Taint, can_be_undone, is_undone, read, undone},
    },
    role::Permission,
    thread::cut,
};
use std::cmp::Reverse;
use store::Conn;

/// A message or an answer of a person, a message of the agent, or the result of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryTurn {
    /// Session of the turn.
    pub session_id: SessionId,
    /// Sequence of its event.
    pub sequence: u64,
    /// Time of the event (UTC).
    pub at: Timestamp,
    /// Where the content comes from.
    pub taint: Taint,
    /// Name of the speaker that a platform's message names.
    pub speaker: Option<String>,
    /// Name of the tool whose result it is.
    pub tool: Option<String>,
    /// The text, shortened.
    pub text: String,
    /// The channel of the session.
    pub channel: Option<Channel>,
}

/// Turns of one view, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// At most as many as were asked for.
    pub turns: Vec<HistoryTurn>,
    /// Whether there are more: older ones on a channel, newer ones past the watermark.
    pub has_more: bool,
}

/// Returns the newest turns of an agent on one channel, given as platform and id: the window that a prompt of the
/// channel repeats. The newest sessions of the channel are read, at most [`HISTORY_SESSIONS_MAX`].
///
/// # Errors
/// [`crate::Error::NotFound`] if `agent` is not a slug; [`crate::Error::Invalid`] for a platform that is not a slug, a
/// channel id of a wrong length, or a `limit` above [`HISTORY_TURNS_MAX`].
pub async fn recent(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    (platform, channel): (String, String),
    limit: u32,
) -> Result<History> {
    require(scope, Permission::Read)?;
    check_agent(agent)?;
    let mut fields = Fields::default();
    fields.slug("platform", Some(&platform));
    fields.key("channel", Some(&channel), KEY_CHARS_MAX);
    fields.check()?;
    let limit = checked(limit)?;
    let (tenant_id, agent, now) = (scope.tenant_id, agent.to_owned(), ledger.now());
    let found = ledger.snapshot(scope, async move |conn| {
        let (key, most) = (Channel::key(&platform, &channel), HISTORY_SESSIONS_MAX + 1);
        let sessions = store::session::list_on_channel(conn, tenant_id, &agent, &key, most).await?;
        let is_cut = sessions.len() > HISTORY_SESSIONS_MAX as usize;
        let here = sessions.into_iter().filter_map(|session| {
            let found = Channel::of_session(&session.metadata, session.source.as_deref(), session.user_id)?;
            (found.platform == platform && found.id == channel).then_some((session, found))
        });
        let here: Vec<_> = here.take(HISTORY_SESSIONS_MAX as usize).collect();
        let (mut turns, mut has_more) = (Vec::new(), is_cut);
        for (session, channel) in here {
            let channel = named(conn, tenant_id, channel, session.user_id).await?;
            let end = session.head_sequence + 1;
            let kinds = KINDS.map(str::to_owned);
            let mut page = store::event::before(conn, tenant_id, session.id, end, &kinds, limit).await?;
            let is_thinned =
                |items: &[Event]| !undone(items).is_empty() || items.iter().any(|event| can_be_undone(event, now));
            if page.has_more && is_thinned(&page.items) {
                // What is left out must not take the places of earlier turns.
                page = store::event::before(conn, tenant_id, session.id, end, &kinds, HISTORY_TURNS_MAX).await?;
            }
            has_more |= page.has_more;
            let undone = undone(&page.items);
            let settled = page.items.iter().filter(|event| !can_be_undone(event, now) && !is_undone(event, &undone));
            turns.extend(settled.filter_map(|event| turn(event, Some(&channel))));
        }
        turns.sort_by_key(|turn| Reverse((turn.at, turn.session_id.0, turn.sequence)));
        has_more |= turns.len() > limit as usize;
        turns.truncate(limit as usize);
        turns.reverse();
        Ok(History { turns, has_more })
    });
    found.await
}

/// Returns the turns of an agent that its memory writer has not covered yet, of the sessions that began first, whatever
/// their channels, oldest first. The next run may read others: new sessions come before a backlog. Empty for an agent
/// without a writer.
///
/// # Errors
/// [`crate::Error::NotFound`] if `agent` is not a slug; [`crate::Error::Invalid`] for a `limit` above
/// [`HISTORY_TURNS_MAX`].
pub async fn since_watermark(ledger: &Ledger, scope: &Scope, agent: &str, limit: u32) -> Result<History> {
    require(scope, Permission::Read)?;
    check_agent(agent)?;
    let limit = checked(limit)?;
    let (tenant_id, agent, now) = (scope.tenant_id, agent.to_owned(), ledger.now());
    let found = ledger.snapshot(scope, async move |conn| since_on(conn, tenant_id, (&agent, now), limit).await);
    found.await
}

async fn since_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (agent, now): (&str, Timestamp),
    limit: u32,
) -> Result<History> {
    let sessions = store::memory_writer::open_sessions(conn, tenant_id, agent, HISTORY_SESSIONS_MAX).await?;
    let (mut turns, mut has_more) = (Vec::new(), sessions.len() >= HISTORY_SESSIONS_MAX as usize);
    for session in sessions {
        let range = (session.sequence, session.head_sequence);
        // Not by `limit`: what undoes an answer comes after it.
        let (kinds, most) = (KINDS.map(str::to_owned), HISTORY_TURNS_MAX);
        let page = store::event::after(conn, tenant_id, session.id, range, &kinds, most).await?;
        has_more |= page.has_more;
        let channel = match Channel::of_session(&session.metadata, session.source.as_deref(), session.user_id) {
            Some(channel) => Some(named(conn, tenant_id, channel, session.user_id).await?),
            None => None,
        };
        let undone = undone(&page.items);
        // The next run stops at an answer that can still be undone.
        let end = page.items.iter().position(|event| can_be_undone(event, now));
        has_more |= end.is_some();
        let next = page.items.iter().take(end.unwrap_or(page.items.len()));
        let settled = next.filter(|event| !is_undone(event, &undone));
        turns.extend(settled.filter_map(|event| turn(event, channel.as_ref())));
    }
    turns.sort_by_key(|turn: &HistoryTurn| (turn.at, turn.session_id.0, turn.sequence));
    has_more |= turns.len() > limit as usize;
    turns.truncate(limit as usize);
    Ok(History { turns, has_more })
}

/// Names direct messages by their person.
async fn named(conn: &mut Conn<'_>, tenant_id: TenantId, channel: Channel, person: Option<UserId>) -> Result<Channel> {
    let Some(person) = person.filter(|_| channel.name.is_empty()) else { return Ok(channel) };
    let member = store::user::find_any_member(conn, tenant_id, person).await?;
    Ok(channel.named(member.as_ref().map_or("a person", |member| member.display_name())))
}

fn checked(limit: u32) -> Result<u32> {
    let mut fields = Fields::default();
    if limit > HISTORY_TURNS_MAX {
        fields.refuse("limit", format!("at most {HISTORY_TURNS_MAX}"));
    }
    fields.check()?;
    Ok(if limit == 0 { HISTORY_TURNS_MAX } else { limit })
}

fn turn(event: &domain::event::Event, channel: Option<&Channel>) -> Option<HistoryTurn> {
    let content = read(&event.kind, &event.actor, &event.content, &event.metadata, None)?;
    Some(HistoryTurn {
        session_id: event.session_id,
        sequence: event.sequence,
        at: event.at,
        taint: content.taint,
        speaker: content.speaker.map(|speaker| speaker.name).filter(|name| !name.is_empty()),
        tool: content.tool,
        // The text of an agent or a tool is shortened already, and says by how much.
        text: if content.taint == Taint::Person { cut(&content.text, TURN_CHARS_MAX) } else { content.text },
        channel: channel.cloned(),
    })
}

/// The turn that an event holds, without its channel; `None` for other events and for erased ones.
pub(crate) fn quoted(event: &domain::event::Event) -> Option<HistoryTurn> {
    turn(event, None)
}
