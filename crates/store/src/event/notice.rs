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
    session::Status,
};
use sqlx::{PgPool, postgres::PgListener};
use std::{
    collections::{HashMap, HashSet, hash_map::RandomState},
    hash::{BuildHasher as _, Hasher as _},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::{Notify, broadcast};
use uuid::Uuid;

const CHANNEL: &str = "shiftbook";
/// Most lines in one notification. PostgreSQL allows 8,000 bytes.
const LINES_PER_PAYLOAD: usize = 60;
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

/// What watchers of the store receive.
#[derive(Debug, Clone)]
pub enum Change {
    /// A session was changed.
    Committed(Notice),
    /// What waits in this workspace may have changed although no session changed its status.
    CountsChanged(TenantId),
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
}

impl Pending {
    fn lines(self) -> Vec<String> {
        let session = |((tenant, session), (head, status, changed)): ((TenantId, SessionId), (u64, Status, bool))| {
            format!("{} {} {head} {status} {}", tenant.0.simple(), session.0.simple(), u8::from(changed))
        };
        let counts = self.counts.into_iter().map(|tenant| format!("{COUNTS}{}", tenant.0.simple()));
        self.sessions.into_iter().map(session).chain(counts).collect()
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
    fn notify(&self, change: &Change) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        match change {
            Change::Committed(notice) => {
                let key = (notice.tenant_id, notice.session_id);
                let entry = pending.sessions.entry(key).or_insert((0, notice.status, false));
                *entry = (notice.head_sequence.max(entry.0), notice.status, entry.2 || notice.status_changed);
            }
            Change::CountsChanged(tenant_id) => {
                pending.counts.insert(*tenant_id);
            }
            Change::AccessChanged | Change::Missed => return,
        }
        drop(pending);
        self.wake.notify_one();
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
        loop {
            self.wake.notified().await;
            if self.pool.is_closed() {
                return;
            }
            let pending = std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner));
            for part in pending.lines().chunks(LINES_PER_PAYLOAD) {
                self.execute(&part.join("\n")).await;
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
    fn a_payload_says_that_access_changed() {
        assert!(matches!(parse("41\naccess", 42)[..], [Change::AccessChanged]));
        assert!(parse("42\naccess", 42).is_empty());
    }
}
