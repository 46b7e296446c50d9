//! Filling the index of events from the log, and that of names.

use crate::{
    Ledger, Result, Timestamp,
    lease::{ExtendedLease, Lease},
};
use chrono::TimeDelta;
use domain::{
    id::{SessionId, TenantId},
    search::RULE,
};
use std::collections::{HashMap, VecDeque};
use store::{
    Access, Change,
    search::{Behind, EventEntry, EveryName, UnindexedEvent},
};
use tokio::sync::broadcast::{Receiver, error::TryRecvError};

/// The filling of the index. Another server goes on that long after this one was killed.
const LEASE: Lease = Lease { name: "search-index", time: TimeDelta::seconds(20) };
/// Time after which the lease is extended, and a server without it tries to get it.
const LEASE_AGAIN: TimeDelta = TimeDelta::seconds(5);
/// Time after which all sessions are looked at again, in case a notice was lost without anyone noticing.
const LOOK_AGAIN: TimeDelta = TimeDelta::minutes(10);
/// Sessions that one step looks at.
const LOOKED_AT_ONCE: u32 = 2_000;
/// Sessions of which one step adds events.
const SESSIONS_AT_ONCE: usize = 64;
/// Events that one step adds. The writer of SQLite is busy with them for some milliseconds.
const EVENTS_AT_ONCE: usize = 200;
/// Sessions that are remembered as changed. If more have changed, all are looked at again.
const WAITING_MAX: usize = 20_000;
/// Records whose names one step reads.
const NAMES_AT_ONCE: u32 = 200;
/// Records whose names one step makes due when the index is made anew.
const NAMES_DUE_AT_ONCE: u32 = 2_000;
/// Time after which it is asked again whether names are new or changed.
const NAMES_AGAIN: TimeDelta = TimeDelta::seconds(1);
/// Content and metadata after which a step reads no more events, bytes.
const BYTES_AT_ONCE: usize = 256 * 1024;

type Key = (TenantId, SessionId);

/// The result of one step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Step {
    /// Number of events that were added.
    pub events: u64,
    /// Whether there is more to do at once.
    pub more: bool,
}

/// Follows the log and adds events to the index, step by step. One server does it for all; the positions in the
/// database keep two of them from adding an event twice, so the lease only saves work.
///
/// Notices of commits say what changed. Every session is looked at when the indexer starts and when notices were lost.
pub struct Indexer {
    changes: Receiver<Change>,
    /// Sessions that may have events to add, the longest waiting first.
    waiting: VecDeque<Key>,
    /// When the events of the waiting sessions were committed, at the earliest.
    since: HashMap<Key, Timestamp>,
    /// Until when all notices were received.
    heard_until: Timestamp,
    /// The pass over all sessions that is under way.
    pass: Option<Pass>,
    /// When the last pass began; `None` if another one is to begin.
    passed_at: Option<Timestamp>,
    /// Whether it is saved that the last pass is done.
    is_saved: bool,
    /// When no name was left to read; `None` if there may be some.
    named_at: Option<Timestamp>,
    /// By which one of several servers does the work.
    lease: ExtendedLease,
    /// Until when all events are in the index.
    reached: Option<Timestamp>,
}

/// A pass over all sessions.
#[derive(Debug, Clone, Copy)]
struct Pass {
    /// The last session that was looked at.
    after: Option<Key>,
    /// Events that were committed before are in the index, unless their session is waiting.
    since: Timestamp,
}

impl Indexer {
    /// An indexer that looks at all sessions first.
    pub fn new(ledger: &Ledger) -> Self {
        Self {
            changes: ledger.store().subscribe(),
            waiting: VecDeque::new(),
            since: HashMap::new(),
            heard_until: ledger.now(),
            pass: None,
            passed_at: None,
            is_saved: false,
            named_at: None,
            lease: ExtendedLease::new(LEASE, LEASE_AGAIN),
            reached: None,
        }
    }

    /// Adds what has changed since the last step, a bounded number of events. What fails is done by a later step.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn step(&mut self, ledger: &Ledger) -> Result<Step> {
        if !self.is_owner(ledger).await? {
            return Ok(Step::default());
        }
        self.step_as_owner(ledger).await
    }

    async fn step_as_owner(&mut self, ledger: &Ledger) -> Result<Step> {
        let now = ledger.now();
        self.listen(ledger);
        if self.passed_at.is_none_or(|at| now - at >= LOOK_AGAIN) {
            self.begin(ledger, now).await?;
        }
        self.look(ledger).await?;
        let events = self.add(ledger).await?;
        self.name(ledger, now).await?;
        self.reach(ledger).await?;
        Ok(Step { events, more: self.pass.is_some() || !self.waiting.is_empty() || self.named_at.is_none() })
    }

    /// Makes the words of names that are new or have changed.
    async fn name(&mut self, ledger: &Ledger, now: Timestamp) -> Result<()> {
        if self.named_at.is_some_and(|at| now - at < NAMES_AGAIN) {
            return Ok(());
        }
        // A write without a change would make the writer of SQLite busy each second.
        let read = ledger.store().read(Access::System, async move |conn| store::search::is_name_due(conn).await);
        let mut named = 0;
        if read.await? {
            let written =
                ledger.write(Access::System, async move |tx| Ok(store::search::add_names(tx, NAMES_AT_ONCE).await?));
            named = written.await?;
        }
        self.named_at = (named < NAMES_AT_ONCE).then_some(now);
        Ok(())
    }

    /// Extends the lease. A server without it forgets what it has heard: it will look at all sessions when it gets it.
    async fn is_owner(&mut self, ledger: &Ledger) -> Result<bool> {
        if let Some(is_owner) = self.lease.is_known(ledger) {
            return Ok(is_owner);
        }
        let (now, request, reached) = (ledger.now(), self.lease.request(ledger), self.reached);
        let is_owner = ledger.write(Access::System, async move |tx| {
            let taken = request.take(tx).await?;
            if let Some(reached) = reached.filter(|_| taken) {
                store::search::save_until(tx, reached).await?;
            }
            Ok(taken)
        });
        let is_owner = is_owner.await?;
        self.lease.note(now, is_owner);
        if !is_owner {
            self.changes = self.changes.resubscribe();
            (self.pass, self.passed_at, self.reached) = (None, None, None);
            self.waiting.clear();
            self.since.clear();
            ledger.search_reached().set(None);
        }
        Ok(is_owner)
    }

    /// Begins a pass over all sessions. Makes the index anew if another rule made it.
    async fn begin(&mut self, ledger: &Ledger, now: Timestamp) -> Result<()> {
        let read = ledger.store().read(Access::System, async move |conn| store::search::state(conn).await);
        let state = read.await?;
        if state.rule != RULE {
            clear(ledger).await?;
            self.named_at = None;
        }
        // Nothing is saved of an index that was just emptied, here or by a command.
        let saved = state.indexed_until.filter(|_| state.rule == RULE);
        self.reached = saved.map(|saved| self.reached.map_or(saved, |reached| reached.max(saved)));
        ledger.search_reached().set(self.reached);
        self.pass = Some(Pass { after: None, since: self.reached.unwrap_or(Timestamp::MIN_UTC) });
        (self.passed_at, self.is_saved) = (Some(now), false);
        Ok(())
    }

    /// Takes the notices that have come. A step does it too; a busy server sends more between two steps than are kept.
    pub fn listen(&mut self, ledger: &Ledger) {
        let now = ledger.now();
        loop {
            match self.changes.try_recv() {
                Ok(Change::Committed(notice)) => self.wait((notice.tenant_id, notice.session_id), self.heard_until),
                Ok(Change::CountsChanged(_) | Change::Progress(_) | Change::Presence(_)) => {}
                // Notices were lost, or a command has emptied the index.
                Ok(Change::AccessChanged | Change::Missed) | Err(TryRecvError::Lagged(_)) => self.passed_at = None,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        self.heard_until = now;
    }

    fn wait(&mut self, key: Key, since: Timestamp) {
        if self.waiting.len() >= WAITING_MAX && !self.since.contains_key(&key) {
            // Another pass finds what is not remembered.
            self.passed_at = None;
            return;
        }
        self.since.entry(key).or_insert_with(|| {
            self.waiting.push_back(key);
            since
        });
    }

    /// Looks at the next sessions of a pass.
    async fn look(&mut self, ledger: &Ledger) -> Result<()> {
        let Some(pass) = self.pass else { return Ok(()) };
        // What waits is added first, so that a first pass over a long log remembers few sessions.
        if self.waiting.len() >= SESSIONS_AT_ONCE {
            return Ok(());
        }
        let read = ledger.store().read(Access::System, async move |conn| {
            store::search::behind_after(conn, pass.after, LOOKED_AT_ONCE).await
        });
        let sessions = read.await?;
        for session in sessions.iter().filter(|session| session.is_behind()) {
            self.wait((session.tenant_id, session.session_id), pass.since);
        }
        let is_last = sessions.len() < LOOKED_AT_ONCE as usize;
        let after = sessions.last().map(|session| (session.tenant_id, session.session_id));
        self.pass = (!is_last).then_some(Pass { after, ..pass });
        Ok(())
    }

    /// Adds events of the sessions that have waited longest.
    async fn add(&mut self, ledger: &Ledger) -> Result<u64> {
        let keys: Vec<Key> = self.waiting.iter().take(SESSIONS_AT_ONCE).copied().collect();
        if keys.is_empty() {
            return Ok(0);
        }
        let asked = keys.clone();
        let read = ledger.store().read(Access::System, async move |conn| {
            let mut found = store::search::behind_of(conn, &asked).await?;
            found.retain(Behind::is_behind);
            // As they wait: the first is certain to be read.
            found.sort_by_key(|session| asked.iter().position(|key| *key == (session.tenant_id, session.session_id)));
            read_events(conn, found).await
        });
        let mut parts = read.await?;
        let events = parts.iter().map(|part| part.entries.len() as u64).sum();
        let rest: Vec<Key> = parts.iter().filter(|part| !part.is_whole).map(|part| part.key).collect();
        parts.retain(|part| part.upto > part.after);
        // In one order, so that two indexers do not wait for each other.
        parts.sort_by_key(|part| (part.key.0.0, part.key.1.0));
        if !parts.is_empty() {
            let written = ledger.write(Access::System, async move |tx| {
                for part in &parts {
                    // If the index is elsewhere by now, another one did it, or the session is being erased.
                    store::search::add(tx, part.key, (part.after, part.upto), &part.entries).await?;
                }
                Ok(())
            });
            written.await?;
        }
        for key in self.waiting.drain(..keys.len()) {
            if !rest.contains(&key) {
                self.since.remove(&key);
            }
        }
        // What was not read to its end waits on, behind the others.
        self.waiting.extend(rest);
        Ok(events)
    }

    /// Notes until when all events are in the index.
    async fn reach(&mut self, ledger: &Ledger) -> Result<()> {
        let waited = self.since.values().copied().min();
        let pass = self.pass.map(|pass| pass.since);
        let until = waited.into_iter().chain(pass).min().unwrap_or(self.heard_until);
        // It is not known before the first pass is done.
        if until == Timestamp::MIN_UTC || self.reached.is_some_and(|reached| reached > until) {
            return Ok(());
        }
        self.reached = Some(until);
        ledger.search_reached().set(self.reached);
        if self.pass.is_none() && !self.is_saved {
            // Others and the next start read it. Later the lease saves it.
            ledger.write(Access::System, async move |tx| Ok(store::search::save_until(tx, until).await?)).await?;
            self.is_saved = true;
        }
        Ok(())
    }
}

/// Events of a session that are added together.
struct Part {
    key: Key,
    after: u64,
    upto: u64,
    /// Whether these are all.
    is_whole: bool,
    entries: Vec<EventEntry>,
}

/// Reads events of these sessions until a step has enough, and finds their words. Sessions that were not reached have
/// no events and are not whole.
async fn read_events(conn: &mut store::Conn<'_>, sessions: Vec<Behind>) -> store::Result<Vec<Part>> {
    let (mut parts, mut events, mut bytes) = (Vec::new(), 0, 0);
    for session in sessions {
        let key = (session.tenant_id, session.session_id);
        let (after, head) = (session.sequence, session.head_sequence);
        let mut part = Part { key, after, upto: after, is_whole: false, entries: Vec::new() };
        while part.upto < head && events < EVENTS_AT_ONCE && bytes < BYTES_AT_ONCE {
            let read = store::search::unindexed(conn, key, (part.upto, head), EVENTS_OF_STATEMENT).await?;
            let Some(last) = read.last() else { break };
            part.upto = last.sequence;
            events += read.len();
            bytes +=
                read.iter().map(|event: &UnindexedEvent| event.content.len() + event.metadata.len()).sum::<usize>();
            part.entries.extend(read.iter().filter_map(EventEntry::of));
        }
        part.is_whole = part.upto >= head;
        parts.push(part);
    }
    Ok(parts)
}

/// Events that one statement reads.
const EVENTS_OF_STATEMENT: u32 = 50;

async fn clear(ledger: &Ledger) -> Result<()> {
    ledger.search_reached().set(None);
    // In steps, because a transaction over a million names takes longer than one may. Before the rule is saved, so that
    // the next start begins again if this one is killed.
    let mut at = Some(EveryName::default());
    while let Some(from) = at {
        let made = ledger.write(Access::System, async move |tx| {
            Ok(store::search::make_names_due(tx, from, NAMES_DUE_AT_ONCE).await?)
        });
        at = made.await?;
    }
    ledger.write(Access::Retention, async move |tx| Ok(store::search::clear(tx).await?)).await
}

/// Empties the index and fills it again from the log, in all workspaces. Meanwhile a search finds only what is in it
/// already. Calls `progress` with the number of events so far. For the server's operator; a server can run beside it.
///
/// # Errors
/// Those of the database. The next start of the server, or the next call, goes on.
pub async fn rebuild_by_operator(ledger: &Ledger, mut progress: impl FnMut(u64)) -> Result<u64> {
    clear(ledger).await?;
    // A server that fills the index looks at all sessions again.
    ledger.access_changed().await;
    let mut indexer = Indexer::new(ledger);
    let mut events = 0;
    loop {
        let step = indexer.step_as_owner(ledger).await?;
        events += step.events;
        progress(events);
        if !step.more {
            return Ok(events);
        }
    }
}
