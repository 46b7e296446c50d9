//! The live hub passes committed events to followers, signals to dashboards, and wake-ups to waiting workers. It knows
//! no format of events: see [`crate::rendering`]. Signals may be lost; nothing relies on their arrival.

use crate::{Error, Ledger, Result, rendering::Batch};
use domain::{
    Scope, Timestamp,
    canvas::{NotSent, Peers, Presence},
    id::{SessionId, TenantId},
    limit::{CANVASES_WITH_PEERS_MAX, PROGRESS_PAUSE_MS},
    session::Status,
};
use quick_cache::sync::Cache;
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use store::{Change, Notice, PresenceNotice, ProgressNotice};
use tokio::sync::{Notify, broadcast};

/// Number of items that a follower may lag behind before it must read the log again.
const FEED_MAX: usize = 64;
/// Number of signals that a dashboard may lag behind before it gets [`LiveSignal::Resync`].
const SIGNALS_MAX: usize = 1_024;

/// Sessions whose last progress is kept. With more, those kept so far are forgotten.
const PROGRESS_KEPT_MAX: usize = 8_192;
/// Pause between two signals that workers of a workspace have progressed. Dashboards read their lists again at each.
const PROGRESS_SIGNAL_PAUSE: Duration = Duration::from_secs(5);

/// A signal for dashboards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveSignal {
    /// The log or the status of a session changed.
    SessionMoved {
        /// Session that changed.
        session_id: SessionId,
        /// Last sequence of the session.
        head_sequence: u64,
        /// Status after the change.
        status: Status,
    },
    /// Counts of the work queue may have changed.
    CountsChanged,
    /// Signals were lost. Everything shown must be read again.
    Resync,
}

/// A piece of an answer that an agent is writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// The attempt of the worker that sends it.
    pub attempt: u32,
    /// Number of bytes of the answer before this piece. 0 starts a new answer.
    pub offset: u64,
    /// The piece, 1 to [`domain::limit::DELTA_BYTES_MAX`] bytes.
    pub text: String,
}

/// How far a worker is with its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The attempt of the worker that sends it.
    pub attempt: u32,
    /// Number of steps that are done.
    pub done: u64,
    /// Number of all steps; `None` if it is not known.
    pub total: Option<u64>,
    /// Current activity, one line of at most [`domain::limit::PROGRESS_NOTE_CHARS_MAX`] characters.
    pub note: Option<String>,
}

/// A commit of a session.
#[derive(Debug, Clone)]
pub(crate) struct Commit {
    pub(crate) head_sequence: u64,
    /// Without events if another server committed them.
    pub(crate) batch: Arc<Batch>,
    pub(crate) is_final: bool,
}

/// An item for the followers of a session.
#[derive(Debug, Clone)]
pub(crate) enum FeedItem {
    /// Events were committed.
    Committed(Commit),
    /// Notices of commits were lost: the log has to be read.
    Missed,
    /// A piece of an answer that the agent is writing.
    Delta(Arc<Delta>),
    /// How far the worker is.
    Progress(Arc<Progress>),
    /// Where a participant of the canvas is.
    Presence(Arc<Presence>),
}

type Key = (TenantId, SessionId);

#[derive(Default)]
struct Shared {
    feeds: Mutex<HashMap<Key, broadcast::Sender<FeedItem>>>,
    /// When the followers of a session got progress last. Only sessions with a feed are here.
    progress: Mutex<HashMap<Key, Timestamp>>,
    /// The last progress of sessions that have not ended.
    kept: Mutex<HashMap<Key, Arc<Progress>>>,
    /// Who is on which canvas. A canvas is left out when those on it have gone.
    peers: Mutex<HashMap<Key, Peers>>,
    tenants: Mutex<HashMap<TenantId, Arc<TenantHub>>>,
}

struct TenantHub {
    signals: broadcast::Sender<LiveSignal>,
    /// Number of signals sent so far.
    sent: AtomicU64,
    queued: Arc<Notify>,
    /// When dashboards got the last signal that workers have progressed.
    progressed_at: Mutex<Option<Instant>>,
}

impl TenantHub {
    /// Signals dashboards that workers have progressed, with a pause.
    fn progressed(&self) {
        let (now, mut last) = (Instant::now(), lock(&self.progressed_at));
        if last.is_none_or(|last| now.duration_since(last) >= PROGRESS_SIGNAL_PAUSE) {
            *last = Some(now);
            drop(last);
            self.send(LiveSignal::CountsChanged);
        }
    }

    fn send(&self, signal: LiveSignal) {
        self.sent.fetch_add(1, Ordering::SeqCst);
        // An error only means that there is no subscriber.
        let _ = self.signals.send(signal);
    }
}

/// Distributes the store's commit notices.
pub(crate) struct Hub(Arc<Shared>);

impl Hub {
    /// Starts the hub. `access_changed` is called when someone's access changed outside of this process, or may have.
    pub(crate) fn start(
        notices: broadcast::Receiver<Change>,
        access_changed: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared::default());
        tokio::spawn(run(shared.clone(), notices, access_changed));
        Self(shared)
    }

    /// Subscribes to the feed of a session, which is created for the first subscriber.
    pub(crate) fn feed(&self, tenant_id: TenantId, session_id: SessionId) -> Feed {
        let key = (tenant_id, session_id);
        let receiver = lock(&self.0.feeds).entry(key).or_insert_with(|| broadcast::Sender::new(FEED_MAX)).subscribe();
        Feed { receiver: Some(receiver), shared: self.0.clone(), key }
    }

    /// Sends a piece to the followers of the session, if there are any.
    pub(crate) fn publish_delta(&self, tenant_id: TenantId, session_id: SessionId, delta: Arc<Delta>) {
        let feed = lock(&self.0.feeds).get(&(tenant_id, session_id)).cloned();
        // An error only means that the last follower has left.
        let _ = feed.map(|feed| feed.send(FeedItem::Delta(delta)));
    }

    /// Sends progress to the followers of the session, if there are any. Within [`PROGRESS_PAUSE_MS`] of the last
    /// report only the last step is sent.
    pub(crate) fn publish_progress(
        &self,
        tenant_id: TenantId,
        session_id: SessionId,
        progress: Arc<Progress>,
        now: Timestamp,
    ) {
        let key = (tenant_id, session_id);
        self.0.keep_progress(key, progress.clone());
        // Held, so that the last follower does not leave before the time of this report is kept.
        let feeds = lock(&self.0.feeds);
        let Some(feed) = feeds.get(&key) else { return };
        let is_last = progress.total == Some(progress.done);
        let mut sent = lock(&self.0.progress);
        let rests = sent.get(&key).is_none_or(|last| (now - *last).num_milliseconds() >= PROGRESS_PAUSE_MS);
        if rests || is_last {
            sent.insert(key, now);
            // An error only means that the last follower has left.
            let _ = feed.send(FeedItem::Progress(progress));
        }
    }

    /// Takes a report of where a participant of a canvas is, which is then to be sent to others.
    pub(crate) fn mark_presence(
        &self,
        key: Key,
        presence: Presence,
        now: Timestamp,
    ) -> std::result::Result<(), NotSent> {
        let now_ms = now.timestamp_millis();
        let mut canvases = lock(&self.0.peers);
        match peers_of(&mut canvases, key, now_ms) {
            Some(peers) => peers.mark(presence, now_ms),
            None => Err(NotSent::Full),
        }
    }

    /// Returns those who are on a canvas, as far as this server knows.
    pub(crate) fn peers(&self, key: Key, now: Timestamp) -> Vec<Presence> {
        let canvases = lock(&self.0.peers);
        canvases.get(&key).map(|peers| peers.here(now.timestamp_millis()).cloned().collect()).unwrap_or_default()
    }

    /// Returns a signal for the next session that is queued in this workspace.
    pub(crate) fn queued(&self, tenant_id: TenantId) -> QueuedSignal {
        // The future counts notifications from its creation on, even before it is polled.
        QueuedSignal(self.0.tenant(tenant_id).queued.clone().notified_owned())
    }
}

/// Resolves when a session is queued after this value was created.
pub(crate) struct QueuedSignal(tokio::sync::futures::OwnedNotified);

impl QueuedSignal {
    pub(crate) async fn wait(self) {
        self.0.await;
    }
}

impl Shared {
    fn tenant(&self, tenant_id: TenantId) -> Arc<TenantHub> {
        let mut tenants = lock(&self.tenants);
        let fresh = || {
            Arc::new(TenantHub {
                signals: broadcast::Sender::new(SIGNALS_MAX),
                sent: AtomicU64::default(),
                queued: Arc::default(),
                progressed_at: Mutex::default(),
            })
        };
        tenants.entry(tenant_id).or_insert_with(fresh).clone()
    }

    /// Keeps the last progress of a session.
    fn keep_progress(&self, key: Key, progress: Arc<Progress>) {
        let mut kept = lock(&self.kept);
        if kept.len() >= PROGRESS_KEPT_MAX && !kept.contains_key(&key) {
            kept.clear();
        }
        kept.insert(key, progress);
        drop(kept);
        let tenant = lock(&self.tenants).get(&key.0).cloned();
        if let Some(tenant) = tenant {
            tenant.progressed();
        }
    }

    /// Sends progress that another server got, which sends it at most five times a second.
    fn publish_remote(&self, notice: ProgressNotice) {
        let ProgressNotice { tenant_id, session_id, attempt, done, total, note } = notice;
        let (key, progress) = ((tenant_id, session_id), Arc::new(Progress { attempt, done, total, note }));
        self.keep_progress(key, progress.clone());
        let feed = lock(&self.feeds).get(&key).cloned();
        // An error only means that the last follower has left.
        let _ = feed.map(|feed| feed.send(FeedItem::Progress(progress)));
    }

    fn publish(&self, notice: &Notice) {
        if notice.status.is_final() {
            lock(&self.kept).remove(&(notice.tenant_id, notice.session_id));
        }
        let feed = lock(&self.feeds).get(&(notice.tenant_id, notice.session_id)).cloned();
        if let Some(feed) = feed {
            let commit = Commit {
                head_sequence: notice.head_sequence,
                batch: Arc::new(Batch::new(notice.events.clone())),
                is_final: notice.status.is_final(),
            };
            // An error means that the last follower has left. It removes the feed.
            let _ = feed.send(FeedItem::Committed(commit));
        }
        let tenant = lock(&self.tenants).get(&notice.tenant_id).cloned();
        let Some(tenant) = tenant else { return };
        if notice.status_changed && notice.status == Status::Pending {
            tenant.queued.notify_waiters();
        }
        let moved = LiveSignal::SessionMoved {
            session_id: notice.session_id,
            head_sequence: notice.head_sequence,
            status: notice.status,
        };
        tenant.send(moved);
        if notice.status_changed {
            tenant.send(LiveSignal::CountsChanged);
        }
    }

    /// Sends where a participant of a canvas is to those who follow it. Notices that are no report are left out: a
    /// server of another version may send them.
    fn presence(&self, notice: &PresenceNotice) {
        let Some(SentPresence { presence, at_ms }) = read_presence(&notice.text) else { return };
        let key = (notice.tenant_id, notice.session_id);
        if let Some(peers) = peers_of(&mut lock(&self.peers), key, at_ms) {
            peers.take(presence.clone(), at_ms);
        }
        let feed = lock(&self.feeds).get(&key).cloned();
        // An error only means that the last follower has left.
        let _ = feed.map(|feed| feed.send(FeedItem::Presence(Arc::new(presence))));
    }

    /// Notifies dashboards of a change that is in no session's log.
    fn counts_changed(&self, tenant_id: TenantId) {
        if let Some(tenant) = lock(&self.tenants).get(&tenant_id) {
            tenant.send(LiveSignal::CountsChanged);
        }
    }

    /// Handles lost notices: followers read the log again, dashboards resync, and workers look for sessions.
    fn resync(&self) {
        for feed in lock(&self.feeds).values() {
            let _ = feed.send(FeedItem::Missed);
        }
        for tenant in lock(&self.tenants).values() {
            tenant.send(LiveSignal::Resync);
            tenant.queued.notify_waiters();
        }
    }
}

/// A report of where a participant of a canvas is, as it travels to other servers.
#[derive(Serialize, Deserialize)]
struct SentPresence {
    presence: Presence,
    /// When it was taken, by the clock of the server that took it, milliseconds since 1970.
    at_ms: i64,
}

/// Writes a report as one line.
pub(crate) fn written_presence(presence: Presence, at: Timestamp) -> Result<String> {
    let sent = SentPresence { presence, at_ms: at.timestamp_millis() };
    serde_json::to_string(&sent).map_err(|error| Error::Internal(error.to_string()))
}

fn read_presence(text: &str) -> Option<SentPresence> {
    serde_json::from_str(text).ok()
}

/// The peers of a canvas; `None` if this server knows those of [`CANVASES_WITH_PEERS_MAX`] others.
fn peers_of(canvases: &mut HashMap<Key, Peers>, key: Key, now_ms: i64) -> Option<&mut Peers> {
    if !canvases.contains_key(&key) && canvases.len() >= CANVASES_WITH_PEERS_MAX {
        canvases.retain(|_, peers| peers.forget(now_ms));
        if canvases.len() >= CANVASES_WITH_PEERS_MAX {
            return None;
        }
    }
    Some(canvases.entry(key).or_default())
}

async fn run(
    shared: Arc<Shared>,
    mut notices: broadcast::Receiver<Change>,
    access_changed: impl Fn() + Send + Sync + 'static,
) {
    loop {
        match notices.recv().await {
            Ok(Change::Committed(notice)) => shared.publish(&notice),
            Ok(Change::CountsChanged(tenant_id)) => shared.counts_changed(tenant_id),
            Ok(Change::Progress(notice)) => shared.publish_remote(notice),
            Ok(Change::Presence(notice)) => shared.presence(&notice),
            Ok(Change::AccessChanged) => access_changed(),
            Ok(Change::Missed) | Err(broadcast::error::RecvError::Lagged(_)) => {
                access_changed();
                shared.resync();
            }
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

/// A follower's subscription to one session. Dropping the last one removes the feed.
pub(crate) struct Feed {
    receiver: Option<broadcast::Receiver<FeedItem>>,
    shared: Arc<Shared>,
    key: Key,
}

impl Feed {
    pub(crate) async fn recv(&mut self) -> std::result::Result<FeedItem, broadcast::error::RecvError> {
        match &mut self.receiver {
            Some(receiver) => receiver.recv().await,
            None => Err(broadcast::error::RecvError::Closed),
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.receiver = None;
        let mut feeds = lock(&self.shared.feeds);
        if feeds.get(&self.key).is_some_and(|feed| feed.receiver_count() == 0) {
            feeds.remove(&self.key);
            lock(&self.shared.progress).remove(&self.key);
        }
    }
}

/// A subscription to the signals of one workspace.
pub struct Signals(broadcast::Receiver<LiveSignal>);

impl Signals {
    /// Waits for the next signal. Returns `None` after the ledger has been dropped.
    pub async fn recv(&mut self) -> Option<LiveSignal> {
        match self.0.recv().await {
            Ok(signal) => Some(signal),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(LiveSignal::Resync),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// Subscribes to the signals of the caller's workspace.
pub fn subscribe(ledger: &Ledger, scope: &Scope) -> Signals {
    Signals(ledger.hub().0.tenant(scope.tenant_id).signals.subscribe())
}

/// Returns the last progress of a session that the caller has read. `None` before its worker reports any, and once it
/// has ended.
pub fn progress(ledger: &Ledger, scope: &Scope, id: SessionId) -> Option<Arc<Progress>> {
    lock(&ledger.hub().0.kept).get(&(scope.tenant_id, id)).cloned()
}

/// Returns the number of signals sent to the caller's workspace since this server started. Data read after this
/// call is at least as new as these signals. If the number is the same later, the reader has missed nothing.
pub fn signal_count(ledger: &Ledger, scope: &Scope) -> u64 {
    ledger.hub().0.tenant(scope.tenant_id).sent.load(Ordering::SeqCst)
}

/// Number of sessions whose owner is cached. The owner of a session never changes.
const OWNERS_MAX: usize = 8_192;

/// The cached owner of each session; `None` for sessions that are not private.
pub(crate) type Owners = Cache<Key, Option<Arc<str>>>;

pub(crate) fn owners() -> Owners {
    Cache::new(OWNERS_MAX)
}

/// Returns those of these sessions that are private to another person. The caller must not learn that they
/// changed.
pub async fn hidden(ledger: &Ledger, scope: &Scope, sessions: &[SessionId]) -> Result<Vec<SessionId>> {
    let tenant_id = scope.tenant_id;
    let owners = ledger.owners();
    let unknown: Vec<_> = sessions.iter().filter(|id| owners.get(&(tenant_id, **id)).is_none()).copied().collect();
    if !unknown.is_empty() {
        let read = ledger
            .store()
            .read(scope.into(), async move |conn| store::session::list_by_ids(conn, tenant_id, &unknown).await);
        for session in read.await? {
            owners.insert((tenant_id, session.id), session.private_to.map(Arc::from));
        }
    }
    let me = scope.caller.to_string();
    let is_hidden = |id: &&SessionId| owners.get(&(tenant_id, **id)).flatten().is_some_and(|owner| *owner != *me);
    Ok(sessions.iter().filter(is_hidden).copied().collect())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
