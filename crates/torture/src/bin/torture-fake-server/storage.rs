//! One file of JSON lines, flushed to disk before anything is acknowledged (unless a bug says otherwise).

use crate::model::{Bug, Change, Held, Row};
use anyhow::{Context as _, Result};
use domain::session::Status;
use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Sender, channel},
    },
    time::{Duration, Instant},
};
use uuid::Uuid;
use wire::{
    Code,
    event::{Append, Appended, AppendedEvent, NewEvent},
};

pub const TOKEN: &str = "sbk_fake";
/// Claims after which a lost lease fails a session.
const ATTEMPTS_MAX: u32 = 3;
/// The request at which [`Bug::ExitsByItself`] ends the process: after those that set a round up.
const EXITS_AT: u64 = 100;
/// Exit code of that end.
const EXIT_CODE: i32 = 3;

/// What a handler answers when it does not answer with a value.
pub enum Refused {
    Problem(Code),
    Broken(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Refused {
    fn from(error: E) -> Self {
        Self::Broken(error.into())
    }
}

pub struct Store {
    inner: Mutex<Inner>,
    pub bug: Option<Bug>,
    requests: AtomicU64,
    /// A file that is there once a process has ended by itself.
    exited: PathBuf,
}

pub struct Inner {
    pub sessions: BTreeMap<Uuid, Held>,
    log: Log,
    appends: u64,
}

enum Log {
    Durable(File),
    NotSynced(File),
    Late(Sender<Vec<u8>>),
}

/// Reads the file; a torn last line was never acknowledged.
pub fn load(data_dir: &Path) -> Result<(BTreeMap<Uuid, Held>, u64)> {
    let text = std::fs::read(data_dir.join("log.jsonl")).unwrap_or_default();
    let (mut sessions, mut good) = (BTreeMap::<Uuid, Held>::new(), 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let Ok(change) = serde_json::from_slice::<Change>(line) else { break };
        good += line.len() as u64;
        sessions.entry(change.row.id).or_insert_with(|| Held::new(change.row.clone())).apply(change);
    }
    Ok((sessions, good))
}

impl Store {
    pub fn open(data_dir: &Path, bug: Option<Bug>) -> Result<Self> {
        let (sessions, good) = load(data_dir)?;
        let path = data_dir.join("log.jsonl");
        let file = OpenOptions::new().create(true).append(true).open(&path).context("cannot open the log")?;
        file.set_len(good)?;
        file.sync_all()?;
        File::open(data_dir)?.sync_all()?;
        let log = match bug {
            Some(Bug::SynchronousNormal) => Log::NotSynced(file),
            Some(Bug::AckBeforeCommit) => Log::Late(late_writer(file)),
            _ => Log::Durable(file),
        };
        let (requests, exited) = (AtomicU64::new(0), data_dir.join("exited"));
        Ok(Self { inner: Mutex::new(Inner { sessions, log, appends: 0 }), bug, requests, exited })
    }

    /// Counts a request. With [`Bug::ExitsByItself`] the process ends at request [`EXITS_AT`], once: the processes
    /// after it continue, so that only a look at the process before a fault finds it.
    pub fn count_request(&self) -> Result<()> {
        let requests = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        if self.bug == Some(Bug::ExitsByItself) && requests == EXITS_AT && !self.exited.exists() {
            File::create(&self.exited).context("cannot note the end")?;
            std::process::exit(EXIT_CODE);
        }
        Ok(())
    }

    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn create(&self, agent: &str, key: &str) -> Result<Uuid, Refused> {
        let mut inner = self.lock();
        if let Some(known) = inner.sessions.values().find(|held| held.row.key == key) {
            return Ok(known.row.id);
        }
        let id = crate::model::random_id();
        let row = Row {
            id,
            agent: agent.into(),
            key: key.into(),
            status: Status::Draft,
            attempt: 0,
            lease_ms: 0,
            result: None,
        };
        let held = Held::new(row);
        let change = held.transition(Status::Pending, &["session.created"])?;
        inner.sessions.insert(id, held);
        inner.commit(change)?;
        Ok(id)
    }

    pub fn append(&self, id: Uuid, request: Append) -> Result<Appended, Refused> {
        let attempt = request.attempt.unwrap_or(0);
        let mut new = request.events;
        if new.iter().enumerate().any(|(index, event)| new[..index].iter().any(|earlier| contradicts(earlier, event))) {
            return Err(Refused::Problem(Code::InvalidRequest));
        }
        let mut inner = self.lock();
        inner.appends += 1;
        let skip = u64::from(self.bug == Some(Bug::SequenceGap) && inner.appends.is_multiple_of(200));
        let held = inner.get(id)?;
        held.holds(attempt, self.bug).map_err(Refused::Problem)?;
        if self.bug == Some(Bug::NoDedup) {
            new.iter_mut().for_each(|event| event.id = None);
        }
        let known: Vec<_> = new.iter().filter_map(|event| held.ids.get(event.id.as_ref()?)).collect();
        if let Some(first) = known.first() {
            let stored = &held.events[**first];
            if known.len() != new.len() || new[0].content.as_ref().map(|c| c.get()) != Some(stored.content.get()) {
                return Err(Refused::Problem(Code::IdConflict));
            }
            let events = known.iter().map(|index| &held.events[**index]).map(placed).collect();
            return Ok(Appended { events, head_sequence: held.head() });
        }
        let split = if self.bug == Some(Bug::SplitBatch) { new.len().div_ceil(2) } else { new.len() };
        let mut answer = Vec::new();
        for half in new.chunks(split.max(1)) {
            let held = inner.get(id)?;
            let events = held.chained(half, Some(attempt), skip)?;
            answer.extend(events.iter().map(placed));
            let row = held.row.clone();
            inner.commit(Change { row, events })?;
            if half.len() < new.len() {
                drop(inner);
                std::thread::sleep(Duration::from_millis(1));
                inner = self.lock();
            }
        }
        let head_sequence = inner.get(id)?.head();
        Ok(Appended { events: answer, head_sequence })
    }

    /// The next queued session of an agent.
    pub fn claim(&self, agent: &str, lease_ms: u64) -> Result<Option<(Uuid, u32)>, Refused> {
        let mut inner = self.lock();
        let queued = inner.sessions.values().find(|held| held.row.agent == agent && held.row.status == Status::Pending);
        let Some((id, attempt)) = queued.map(|held| (held.row.id, held.row.attempt + 1)) else { return Ok(None) };
        if self.bug == Some(Bug::DoubleClaim) {
            drop(inner);
            std::thread::sleep(Duration::from_millis(2));
            inner = self.lock();
        }
        let mut change = inner.get(id)?.transition(Status::Running, &["session.claimed"])?;
        change.row.attempt = attempt;
        change.row.lease_ms = lease_ms;
        inner.commit(change)?;
        inner.get_mut(id)?.renewed = Instant::now();
        Ok(Some((id, attempt)))
    }

    pub fn heartbeat(&self, id: Uuid, attempt: u32) -> Result<(), Refused> {
        let mut inner = self.lock();
        let held = inner.get_mut(id)?;
        held.holds(attempt, self.bug).map_err(Refused::Problem)?;
        held.renewed = Instant::now();
        Ok(())
    }

    pub fn complete(&self, id: Uuid, attempt: u32, result: Option<wire::Json>) -> Result<(), Refused> {
        let mut inner = self.lock();
        let held = inner.get(id)?;
        if held.row.status == Status::Completed && held.row.attempt == attempt {
            return Ok(());
        }
        held.holds(attempt, self.bug).map_err(Refused::Problem)?;
        let mut change = held.transition(Status::Completed, &["session.completed"])?;
        change.row.result = result;
        inner.commit(change)
    }

    pub fn release(&self, id: Uuid, attempt: u32) -> Result<(), Refused> {
        let mut inner = self.lock();
        let held = inner.get(id)?;
        held.holds(attempt, self.bug).map_err(Refused::Problem)?;
        let change = held.transition(Status::Pending, &[])?;
        inner.commit(change)
    }

    /// Takes lost leases back.
    pub fn sweep(&self) {
        if self.bug == Some(Bug::LeaseNeverExpires) {
            return;
        }
        let mut inner = self.lock();
        let lost = |held: &&Held| {
            held.row.status == Status::Running && held.renewed.elapsed() > Duration::from_millis(held.row.lease_ms)
        };
        let ids: Vec<Uuid> = inner.sessions.values().filter(lost).map(|held| held.row.id).collect();
        for id in ids {
            let Ok(held) = inner.get(id) else { continue };
            let to = if held.row.attempt >= ATTEMPTS_MAX { Status::Failed } else { Status::Pending };
            let Ok(change) = held.transition(to, &[]) else { continue };
            // A full disk: the next sweep tries again.
            let _ = inner.commit(change);
        }
    }
}

impl Inner {
    pub fn get(&self, id: Uuid) -> Result<&Held, Refused> {
        self.sessions.get(&id).ok_or(Refused::Problem(Code::NotFound))
    }

    fn get_mut(&mut self, id: Uuid) -> Result<&mut Held, Refused> {
        self.sessions.get_mut(&id).ok_or(Refused::Problem(Code::NotFound))
    }

    fn commit(&mut self, change: Change) -> Result<(), Refused> {
        let mut line = serde_json::to_vec(&change)?;
        line.push(b'\n');
        match &mut self.log {
            Log::Durable(file) => {
                file.write_all(&line)?;
                file.sync_data()?;
            }
            Log::NotSynced(file) => file.write_all(&line)?,
            Log::Late(sender) => sender.send(line)?,
        }
        self.get_mut(change.row.id)?.apply(change);
        Ok(())
    }
}

fn late_writer(mut file: File) -> Sender<Vec<u8>> {
    let (sender, lines) = channel::<Vec<u8>>();
    std::thread::spawn(move || {
        for line in lines {
            std::thread::sleep(Duration::from_millis(2));
            if file.write_all(&line).and_then(|()| file.sync_data()).is_err() {
                return;
            }
        }
    });
    sender
}

/// Whether two events of one request have the same external id and differ.
fn contradicts(one: &NewEvent, other: &NewEvent) -> bool {
    let content = |event: &NewEvent| event.content.as_ref().map(|content| content.get().to_owned());
    one.external_event_id.is_some()
        && one.external_event_id == other.external_event_id
        && content(one) != content(other)
}

fn placed(event: &wire::event::Event) -> AppendedEvent {
    AppendedEvent { id: event.id, sequence: event.sequence }
}

/// A problem as the API words it.
pub fn problem(code: Code) -> Vec<u8> {
    format!(r#"{{"code":"{}","title":"","status":{},"requestId":""}}"#, code.as_str(), code.http_status()).into_bytes()
}
