//! The history of a round: every request of every client, its times and its outcome, as JSON lines.
//!
//! It is written while the round runs and not kept in memory. The checker loads one round at a time.

use crate::time::monotonic_ns;
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    fs::File,
    io::{BufRead as _, BufReader, BufWriter, Write as _},
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};
use uuid::Uuid;

/// Most bytes of one round's history; writers stop when it is reached, which ends the round early.
pub const HISTORY_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Most events one round appends or reads: bounds the checker's memory to a few hundred megabytes.
pub const ROUND_EVENTS_MAX: u64 = 2_000_000;

/// An event as its writer sent it: id and digest of its body.
pub type Sent = (Uuid, u64);
/// An event as a reader saw it: sequence, id, digest of its body.
pub type Seen = (u64, Uuid, u64);

/// An operation of a client, or a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Op {
    /// Events appended under an attempt. Retries repeat the events.
    Append { session: Uuid, attempt: u32, events: Vec<Sent> },
    /// An id already used, with another body: must be refused.
    Conflict { session: Uuid, attempt: u32, event: Sent },
    /// A page of events.
    Read { session: Uuid, after: u64, limit: u32 },
    /// A stretch of an event stream, opened or continued after a sequence.
    Stream { session: Uuid, after: u64, connection: u32 },
    /// A reader's last word: it stopped here, at the end of the round.
    StreamClosed { session: Uuid, after: u64 },
    /// A claim of sessions of one agent.
    Claim { agent: String, lease_ms: u64 },
    /// The holder extends its lease.
    Heartbeat { session: Uuid, attempt: u32 },
    /// The holder completes; `token` is its result.
    Complete { session: Uuid, attempt: u32, token: u64 },
    /// The holder gives the session back.
    Release { session: Uuid, attempt: u32 },
    /// The session's row.
    Status { session: Uuid },
    /// A fault: begins at the invocation, is over at the completion.
    Fault { fault: Fault },
}

/// What was done to the server or its machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// kill -9 of the server, until it listens again.
    Kill,
    /// SIGSTOP of the server, until SIGCONT.
    Pause,
    /// A power cut, until the server listens again on the surviving image.
    PowerCut,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Answer {
    /// Where each event landed, in the order sent.
    Appended { events: Vec<(Uuid, u64)>, head: u64 },
    /// Events of a read, and the last sequence of the log.
    Page { events: Vec<Seen>, head: u64, more: bool },
    /// What a stream delivered; `end` if it reported that the log is complete.
    Delivered { events: Vec<Seen>, end: bool },
    /// Sessions with their attempts.
    Claimed { sessions: Vec<(Uuid, u32)> },
    /// The recorded outcome; `None` where the answer held no token.
    Completed { token: Option<u64> },
    /// The row as it was.
    Row { status: String, attempt: u32, head: u64 },
    /// Nothing more than success.
    Done,
}

/// How an operation ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Outcome {
    /// It happened.
    Ok(Answer),
    /// The operation had no effect and never will: it was not sent, or it was refused.
    Fail {
        /// Problem code, or `not_sent`.
        code: String,
    },
    /// It is unknown whether the operation had an effect: a timeout, a reset, or a 5xx answer.
    Info {
        /// The reason.
        why: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Line {
    process: u32,
    number: u64,
    at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    invoke: Option<Op>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<Outcome>,
}

/// One operation with both its ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Process number of the client.
    pub process: u32,
    /// The operation.
    pub op: Op,
    /// Time of the request, nanoseconds of `time::monotonic_ns`.
    pub invoked: u64,
    /// Time of the outcome, in the same unit; `u64::MAX` if there is none.
    pub ended: u64,
    /// The outcome; `Info` if the client died before it.
    pub outcome: Outcome,
}

/// Names an operation between its two ends.
#[derive(Debug, Clone, Copy)]
#[must_use = "an operation that was begun must be ended"]
pub struct Begun {
    process: u32,
    number: u64,
}

/// Writes a history.
pub struct Recorder {
    file: Mutex<BufWriter<File>>,
    flush: bool,
    bytes: AtomicU64,
    events: AtomicU64,
    number: AtomicU64,
    broken: AtomicU64,
}

impl Recorder {
    /// A new history at `path`. A process that may be killed asks for every line to be flushed: an operation
    /// that reached the server must be in its history.
    pub fn create(path: &Path, flush: bool) -> Result<Self> {
        let file = File::create(path).with_context(|| format!("cannot create the history {}", path.display()))?;
        Ok(Self {
            file: Mutex::new(BufWriter::with_capacity(1 << 16, file)),
            flush,
            bytes: AtomicU64::new(0),
            events: AtomicU64::new(0),
            number: AtomicU64::new(0),
            broken: AtomicU64::new(0),
        })
    }

    /// Records that a client is about to ask.
    pub fn begin(&self, process: u32, op: &Op) -> Begun {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let begun = Begun { process, number };
        let at = monotonic_ns();
        self.write(&Line { process, number, at, invoke: Some(op.clone()), end: None });
        begun
    }

    /// Records how it ended.
    pub fn end(&self, begun: Begun, outcome: Outcome) {
        // Taken before waiting for the file: a completion noted late could hide a real-time violation.
        let at = monotonic_ns();
        let events = match &outcome {
            Outcome::Ok(Answer::Appended { events, .. }) => events.len(),
            Outcome::Ok(Answer::Page { events, .. } | Answer::Delivered { events, .. }) => events.len(),
            _ => 0,
        };
        self.events.fetch_add(events as u64, Ordering::Relaxed);
        self.write(&Line { process: begun.process, number: begun.number, at, invoke: None, end: Some(outcome) });
    }

    /// Whether the round's budget is used up.
    pub fn is_full(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > HISTORY_BYTES_MAX || self.events.load(Ordering::Relaxed) > ROUND_EVENTS_MAX
    }

    /// Flushes; an error says that lines were lost, and no verdict may be given.
    pub fn finish(&self) -> Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.flush().context("cannot write the history")?;
        let broken = self.broken.load(Ordering::Relaxed);
        anyhow::ensure!(broken == 0, "{broken} lines of the history could not be written (disk full?)");
        Ok(())
    }

    fn write(&self, line: &Line) {
        let mut bytes = match serde_json::to_vec(line) {
            Ok(bytes) => bytes,
            Err(_) => return self.note_broken(),
        };
        bytes.push(b'\n');
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.write_all(&bytes).and_then(|()| if self.flush { file.flush() } else { Ok(()) });
        if written.is_err() {
            self.note_broken();
        }
    }

    fn note_broken(&self) {
        self.broken.fetch_add(1, Ordering::Relaxed);
    }
}

/// Reads a history. The last line of a process that was killed may be torn; any other bad line is an error.
pub fn load(path: &Path, operations: &mut Vec<Operation>) -> Result<()> {
    let file = File::open(path).with_context(|| format!("cannot open the history {}", path.display()))?;
    let mut open: HashMap<(u32, u64), usize> = HashMap::new();
    let mut lines = BufReader::with_capacity(1 << 16, file).split(b'\n').peekable();
    let mut at_line = 0_u64;
    while let Some(bytes) = lines.next() {
        let bytes = bytes.context("cannot read the history")?;
        at_line += 1;
        let line: Line = match serde_json::from_slice(&bytes) {
            Ok(line) => line,
            Err(_) if lines.peek().is_none() => break,
            Err(error) => {
                return Err(error).with_context(|| format!("{}:{at_line} is not a history line", path.display()));
            }
        };
        if let Some(op) = line.invoke {
            open.insert((line.process, line.number), operations.len());
            let outcome = Outcome::Info { why: "never ended".into() };
            operations.push(Operation { process: line.process, op, invoked: line.at, ended: u64::MAX, outcome });
        } else if let Some(outcome) = line.end
            && let Some(index) = open.remove(&(line.process, line.number))
            && let Some(operation) = operations.get_mut(index)
        {
            // An unknown outcome has no end: it may still take effect.
            operation.ended = if matches!(outcome, Outcome::Info { .. }) { u64::MAX } else { line.at };
            operation.outcome = outcome;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_op() -> Op {
        Op::Read { session: Uuid::from_u128(1), after: 0, limit: 10 }
    }

    #[test]
    fn what_was_recorded_is_loaded_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("h.jsonl");
        let recorder = Recorder::create(&path, false).unwrap();
        let append =
            Op::Append { session: Uuid::from_u128(1), attempt: 1, events: vec![(Uuid::from_u128(9), u64::MAX)] };
        let first = recorder.begin(1, &append);
        let second = recorder.begin(2, &read_op());
        let third = recorder.begin(3, &read_op());
        recorder.end(second, Outcome::Info { why: "reset".into() });
        recorder.end(first, Outcome::Ok(Answer::Appended { events: vec![(Uuid::from_u128(9), 1)], head: 1 }));
        let _ = third;
        recorder.finish().unwrap();

        let mut operations = Vec::new();
        load(&path, &mut operations).unwrap();
        assert_eq!(operations.len(), 3);
        assert_eq!(operations[0].op, append);
        assert!(matches!(operations[0].outcome, Outcome::Ok(_)) && operations[0].ended < u64::MAX);
        assert!(matches!(operations[1].outcome, Outcome::Info { .. }) && operations[1].ended == u64::MAX);
        assert!(matches!(operations[2].outcome, Outcome::Info { .. }));
    }

    #[test]
    fn a_torn_last_line_is_forgiven_and_a_torn_middle_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("h.jsonl");
        let recorder = Recorder::create(&path, true).unwrap();
        let _ = recorder.begin(1, &read_op());
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{}", &whole[..20])).unwrap();
        let mut operations = Vec::new();
        load(&path, &mut operations).unwrap();
        assert_eq!(operations.len(), 1);
        std::fs::write(&path, format!("{}\n{whole}", &whole[..20])).unwrap();
        assert!(load(&path, &mut operations).is_err());
    }
}
