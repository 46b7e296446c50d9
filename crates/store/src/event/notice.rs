//! Notices of committed changes: to watchers in this process, and to other servers on one PostgreSQL database.
//!
//! Other servers are notified after commit over one connection. NOTIFY inside an append transaction would
//! serialise all commits on one lock. So one task sends what was committed since its last notification, and
//! another task turns the notifications of other servers into notices without events. Watchers then read the log by
//! sequence. After the listening connection is lost, watchers receive [`Change::Missed`] and re-read. A lost
//! notification delays an event but never loses it.

use crate::engine::statements;
use domain::{
    event::Event,
    id::{SessionId, TenantId},
    limit::PROGRESS_PAUSE_MS,
    session::{Session, Status},
};
use sqlx::{PgPool, postgres::PgListener};
use std::{
    collections::{HashMap, HashSet, hash_map::RandomState},
    hash::{BuildHasher as _, Hasher as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{Notify, broadcast},
    time::{Instant, sleep_until},
};
use uuid::Uuid;

const CHANNEL: &str = "shiftbook";
/// Most bytes of the lines in one notification. PostgreSQL allows 8,000 with the sender.
const PAYLOAD_BYTES_MAX: usize = 7_900;
/// Pause between two notifications with progress. The newest report of each session is sent.
const PROGRESS_PAUSE: Duration = Duration::from_millis(PROGRESS_PAUSE_MS.unsigned_abs());
/// Pause after a notification, in which changes for the next one are collected: 5 ms. Each notification is
/// a transaction, and all notifying transactions wait for one lock. A change after a quiet period is sent
/// at once.
const SEND_PAUSE: Duration = Duration::from_millis(5);
/// Pause before a failed connection is tried again.
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);
/// The line of a notification that says that someone's access changed.
const ACCESS: &str = "access";
/// How the line begins that names a workspace whose counts changed.
const COUNTS: &str = "counts ";
/// How the line begins that says how far the worker of a session is.
const PROGRESS: &str = "progress ";
/// How the line begins that says where a participant of a canvas is.
const PRESENCE: &str = "presence ";

statements! {
    /// Sends a notification. It changes no row, so its commit neither waits for the disk nor delays the commits
    /// of appends.
    const NOTIFY_POSTGRES: &str = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";
}

/// What a commit changed in a session, for watchers. Notices may be lost, so correctness must not depend on
/// them.
#[derive(Debug, Clone)]
pub struct Notice {
    /// The workspace of the session.
    pub tenant_id: TenantId,
    /// The session that was changed.
    pub session_id: SessionId,
    /// Newest sequence of the session.
    pub head_sequence: u64,
    /// Status of the session after the commit.
    pub status: Status,
    /// Whether the status changed. Counts by status may have changed then.
    pub status_changed: bool,
    /// The committed events in order; empty if the notice came from another server.
    pub events: Arc<[Event]>,
}

/// How far the worker of a session is. It is sent and never stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgressNotice {
    /// The workspace of the session.
    pub tenant_id: TenantId,
    /// The session that the worker holds.
    pub session_id: SessionId,
    /// The attempt of the worker.
    pub attempt: u32,
    /// Number of steps that are done.
    pub done: u64,
    /// Number of all steps; `None` if it is not known.
    pub total: Option<u64>,
    /// Current activity, one line.
    pub note: Option<String>,
}

impl ProgressNotice {
    fn line(&self) -> String {
        let (tenant, session) = (self.tenant_id.0.simple(), self.session_id.0.simple());
        let total = self.total.map_or_else(|| "-".to_owned(), |total| total.to_string());
        let note = self.note.as_deref().map_or_else(|| "-".to_owned(), |note| format!("+{note}"));
        format!("{PROGRESS}{tenant} {session} {} {} {total} {note}", self.attempt, self.done)
    }

    /// Reads what is after [`PROGRESS`].
    fn parse(rest: &str) -> Option<Self> {
        let mut words = rest.splitn(6, ' ');
        Some(Self {
            tenant_id: TenantId(Uuid::parse_str(words.next()?).ok()?),
            session_id: SessionId(Uuid::parse_str(words.next()?).ok()?),
            attempt: words.next()?.parse().ok()?,
            done: words.next()?.parse().ok()?,
            total: match words.next()? {
                "-" => None,
                total => Some(total.parse().ok()?),
            },
            note: words.next()?.strip_prefix('+').map(str::to_owned),
        })
    }
}

impl Notice {
    /// The notice of a change of status, with its events.
    pub(crate) fn of_change(session: &Session, events: Vec<Event>) -> Self {
        Self {
            tenant_id: session.tenant_id,
            session_id: session.id,
            head_sequence: session.head_sequence,
            status: session.status(),
            status_changed: true,
            events: Arc::from(events),
        }
    }
}

/// Where a participant of a canvas is. It is sent to the watchers of all servers and never stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresenceNotice {
    /// The workspace of the canvas.
    pub tenant_id: TenantId,
    /// The canvas.
    pub session_id: SessionId,
    /// The participant, without spaces. Of several notices of one participant only the newest reaches other servers.
    pub by: Arc<str>,
    /// One line without a line break, at most 4,000 bytes. The sender defines its format.
    pub text: Arc<str>,
}

/// What watchers of the store receive.
#[derive(Debug, Clone)]
pub enum Change {
    /// A session was changed.
    Committed(Notice),
    /// A participant of a canvas is somewhere else.
    Presence(PresenceNotice),
    /// What waits in this workspace may have changed although no session changed its status.
    CountsChanged(TenantId),
    /// A worker that another server serves reports how far it is.
    Progress(ProgressNotice),
    /// Another server or a command changed someone's access, or on SQLite wrote anything. What is remembered of callers
    /// may be out of date.
    AccessChanged,
    /// Notices of other servers may have been lost. Watchers must re-read what they show.
    Missed,
}

impl From<Notice> for Change {
    fn from(notice: Notice) -> Self {
        Self::Committed(notice)
    }
}

/// Sends committed changes to the watchers.
pub(crate) fn publish<C: Into<Change>>(
    local: &broadcast::Sender<Change>,
    remote: Option<&Notifier>,
    changes: impl IntoIterator<Item = C>,
) {
    for change in changes {
        let change = change.into();
        if let Some(remote) = remote {
            remote.notify(&change);
        }
        // An error only says that no one watches.
        let _ = local.send(change);
    }
}

/// What the next notification says.
#[derive(Default)]
struct Pending {
    sessions: HashMap<(TenantId, SessionId), (u64, Status, bool)>,
    counts: HashSet<TenantId>,
    progress: HashMap<(TenantId, SessionId), ProgressNotice>,
    presence: HashMap<(TenantId, SessionId, Arc<str>), Arc<str>>,
}

/// Joins lines to payloads of at most [`PAYLOAD_BYTES_MAX`].
fn payloads(lines: Vec<String>) -> Vec<String> {
    let mut payloads: Vec<String> = Vec::new();
    for line in lines {
        match payloads.last_mut() {
            Some(last) if last.len() + 1 + line.len() <= PAYLOAD_BYTES_MAX => {
                last.push('\n');
                last.push_str(&line);
            }
            _ => payloads.push(line),
        }
    }
    payloads
}

impl Pending {
    fn lines(self) -> Vec<String> {
        let session = |((tenant, session), (head, status, changed)): ((TenantId, SessionId), (u64, Status, bool))| {
            format!("{} {} {head} {status} {}", tenant.0.simple(), session.0.simple(), u8::from(changed))
        };
        let counts = self.counts.into_iter().map(|tenant| format!("{COUNTS}{}", tenant.0.simple()));
        let progress = self.progress.values().map(ProgressNotice::line);
        let presence = |((tenant, session, by), text): ((TenantId, SessionId, Arc<str>), Arc<str>)| {
            format!("{PRESENCE}{} {} {by} {text}", tenant.0.simple(), session.0.simple())
        };
        let presence = self.presence.into_iter().map(presence);
        self.sessions.into_iter().map(session).chain(counts).chain(progress).chain(presence).collect()
    }
}

/// Handle of the sending task.
#[derive(Clone)]
pub(crate) struct Notifier {
    pending: Arc<Mutex<Pending>>,
    wake: Arc<Notify>,
    pool: PgPool,
    own: u64,
}

impl Notifier {
    /// Starts the sender and the listener. They end with the pool.
    pub(crate) fn start(pool: PgPool, notices: broadcast::Sender<Change>) -> Self {
        // Distinguishes the notifications of this process from those of other servers; it need not be secret.
        // Process ids are not unique: in containers every server can have id 1.
        let own = RandomState::new().build_hasher().finish();
        let notifier = Self { pending: Arc::default(), wake: Arc::default(), pool: pool.clone(), own };
        tokio::spawn(notifier.clone().send());
        tokio::spawn(listen(pool, notices, own));
        notifier
    }

    /// Queues a wake-up for the other servers.
    pub(crate) fn notify(&self, change: &Change) {
        let mut pending = self.pending();
        match change {
            Change::Committed(notice) => {
                let key = (notice.tenant_id, notice.session_id);
                let entry = pending.sessions.entry(key).or_insert((0, notice.status, false));
                *entry = (notice.head_sequence.max(entry.0), notice.status, entry.2 || notice.status_changed);
            }
            Change::CountsChanged(tenant_id) => {
                pending.counts.insert(*tenant_id);
            }
            Change::Progress(progress) => {
                pending.progress.insert((progress.tenant_id, progress.session_id), progress.clone());
            }
            Change::Presence(PresenceNotice { tenant_id, session_id, by, text }) => {
                pending.presence.insert((*tenant_id, *session_id, by.clone()), text.clone());
            }
            Change::AccessChanged | Change::Missed => return,
        }
        drop(pending);
        self.wake.notify_one();
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what the next notification says. Progress stays if its pause is not over.
    fn take(&self, with_progress: bool) -> Pending {
        let mut pending = self.pending();
        Pending {
            sessions: std::mem::take(&mut pending.sessions),
            counts: std::mem::take(&mut pending.counts),
            progress: if with_progress { std::mem::take(&mut pending.progress) } else { HashMap::new() },
            presence: std::mem::take(&mut pending.presence),
        }
    }

    /// Notifies the other servers that someone's access changed. Returns when the notification is sent, because a
    /// command may end right after. If it cannot be sent, they notice the change at the next heartbeat of a stream.
    pub(crate) async fn access_changed(&self) {
        self.execute(ACCESS).await;
    }

    async fn execute(&self, lines: &str) {
        let payload = format!("{}\n{lines}", self.own);
        if let Err(error) = sqlx::query(NOTIFY_POSTGRES).bind(CHANNEL).bind(payload).execute(&self.pool).await {
            tracing::warn!(%error, "other servers were not woken; they re-read later");
        }
    }

    async fn send(self) {
        let mut progress_at = Instant::now();
        loop {
            let has_progress = !self.pending().progress.is_empty();
            tokio::select! {
                () = self.wake.notified() => {}
                () = sleep_until(progress_at), if has_progress => {}
            }
            if self.pool.is_closed() {
                return;
            }
            let pending = self.take(Instant::now() >= progress_at);
            if !pending.progress.is_empty() {
                progress_at = Instant::now() + PROGRESS_PAUSE;
            }
            for payload in payloads(pending.lines()) {
                self.execute(&payload).await;
            }
            tokio::time::sleep(SEND_PAUSE).await;
        }
    }
}

async fn listen(pool: PgPool, notices: broadcast::Sender<Change>, own: u64) {
    while !pool.is_closed() {
        let mut listener = match PgListener::connect_with(&pool).await {
            Ok(listener) => listener,
            Err(error) => {
                tracing::warn!(%error, "cannot listen for other servers");
                tokio::time::sleep(RECONNECT_PAUSE).await;
                continue;
            }
        };
        if let Err(error) = listener.listen(CHANNEL).await {
            tracing::warn!(%error, "cannot listen for other servers");
            tokio::time::sleep(RECONNECT_PAUSE).await;
            continue;
        }
        // Notifications that were sent before LISTEN are lost. Sending fails only if there are no watchers.
        let _ = notices.send(Change::Missed);
        loop {
            tokio::select! {
                () = pool.close_event() => return,
                received = listener.try_recv() => match received {
                    Ok(Some(notification)) => {
                        for change in parse(notification.payload(), own) {
                            let _ = notices.send(change);
                        }
                    }
                    // The connection was lost, and notifications may be lost with it: connect again.
                    Ok(None) | Err(_) => break,
                },
            }
        }
    }
}

/// The changes of a payload; empty for a payload of this process. Lines that do not parse are left out.
fn parse(payload: &str, own: u64) -> Vec<Change> {
    let Some((sender, lines)) = payload.split_once('\n') else { return Vec::new() };
    if sender.parse() == Ok(own) {
        return Vec::new();
    }
    let line = |line: &str| {
        if line == ACCESS {
            return Some(Change::AccessChanged);
        }
        if let Some(tenant) = line.strip_prefix(COUNTS) {
            return Some(Change::CountsChanged(TenantId(Uuid::parse_str(tenant).ok()?)));
        }
        if let Some(progress) = line.strip_prefix(PROGRESS) {
            return Some(Change::Progress(ProgressNotice::parse(progress)?));
        }
        if let Some(presence) = line.strip_prefix(PRESENCE) {
            let mut words = presence.splitn(4, ' ');
            return Some(Change::Presence(PresenceNotice {
                tenant_id: TenantId(Uuid::parse_str(words.next()?).ok()?),
                session_id: SessionId(Uuid::parse_str(words.next()?).ok()?),
                by: words.next()?.into(),
                text: words.next()?.into(),
            }));
        }
        let mut words = line.split(' ');
        Some(Change::Committed(Notice {
            tenant_id: TenantId(Uuid::parse_str(words.next()?).ok()?),
            session_id: SessionId(Uuid::parse_str(words.next()?).ok()?),
            head_sequence: words.next()?.parse().ok()?,
            status: Status::parse(words.next()?)?,
            status_changed: words.next()? == "1",
            events: Arc::from([]),
        }))
    };
    lines.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_of_another_server_becomes_notices_and_our_own_does_not() {
        let tenant = Uuid::from_u128(1).simple();
        let session = Uuid::from_u128(2).simple();
        let payload = format!("41\n{tenant} {session} 7 running 1\nnonsense");
        let changes = parse(&payload, 42);
        let [Change::Committed(notice)] = &changes[..] else { panic!("{changes:?}") };
        assert_eq!((notice.head_sequence, notice.status, notice.status_changed), (7, Status::Running, true));
        assert!(parse(&payload, 41).is_empty());
    }

    #[test]
    fn a_change_of_counts_arrives_at_another_server() {
        let tenant = TenantId(Uuid::from_u128(1));
        let lines = Pending { counts: HashSet::from([tenant]), ..Pending::default() }.lines();
        let changes = parse(&format!("41\n{}", lines.join("\n")), 42);
        assert!(matches!(changes[..], [Change::CountsChanged(of)] if of == tenant), "{changes:?}");
    }

    #[test]
    fn progress_arrives_at_another_server_with_its_newest_report() {
        let report = |session: u128, done: u64, total: Option<u64>, note: Option<&str>| ProgressNotice {
            tenant_id: TenantId(Uuid::from_u128(1)),
            session_id: SessionId(Uuid::from_u128(session)),
            attempt: 2,
            done,
            total,
            note: note.map(str::to_owned),
        };
        for sent in [
            report(1, 3, Some(10), Some("reading 3 of 10 files")),
            report(1, 0, None, None),
            report(1, 1, Some(1), Some("")),
            report(1, 1, None, Some("-")),
        ] {
            let changes = parse(&format!("41\n{}", sent.line()), 42);
            assert!(matches!(&changes[..], [Change::Progress(got)] if *got == sent), "{changes:?}");
        }
        let mut pending = Pending::default();
        for done in 1..=3 {
            let sent = report(1, done, Some(3), None);
            pending.progress.insert((sent.tenant_id, sent.session_id), sent);
        }
        assert_eq!(pending.lines(), [report(1, 3, Some(3), None).line()]);
    }

    #[test]
    fn no_payload_is_longer_than_postgresql_takes() {
        let lines: Vec<String> = (0..100).map(|n| format!("{n} {}", "ü".repeat(400))).collect();
        let payloads = payloads(lines.clone());
        assert!(payloads.len() > 1 && payloads.iter().all(|payload| payload.len() <= PAYLOAD_BYTES_MAX));
        let joined: Vec<&str> = payloads.iter().flat_map(|payload| payload.lines()).collect();
        assert_eq!(joined, lines, "a line is lost or cut");
    }

    #[test]
    fn the_newest_place_of_a_participant_arrives_at_another_server() {
        let (tenant_id, session_id) = (TenantId(Uuid::from_u128(1)), SessionId(Uuid::from_u128(2)));
        let mut pending = Pending::default();
        for text in [r#"{"block":"a"}"#, r#"{"block":"a b"}"#] {
            pending.presence.insert((tenant_id, session_id, "user:ada".into()), text.into());
        }
        let changes = parse(&format!("41\n{}", pending.lines().join("\n")), 42);
        let [Change::Presence(found)] = &changes[..] else { panic!("{changes:?}") };
        let (by, text) = ("user:ada".into(), r#"{"block":"a b"}"#.into());
        assert_eq!(*found, PresenceNotice { tenant_id, session_id, by, text });
    }

    #[test]
    fn a_payload_says_that_access_changed() {
        assert!(matches!(parse("41\naccess", 42)[..], [Change::AccessChanged]));
        assert!(parse("42\naccess", 42).is_empty());
    }
}
