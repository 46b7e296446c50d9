//! SQLite's own C API, WAL, synchronous FULL: group commit of single rows, and batches.

use crate::{
    event,
    ids::{Ids, now_micros},
    load::Window,
};
use anyhow::Result;
use rusqlite::{Connection, params};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};
use uuid::Uuid;

/// Most rows of one transaction, as in the server.
const GROUP_MAX: usize = 256;
/// A writer thread does next to nothing.
const STACK_BYTES: usize = 64 * 1024;
/// The least that a log keeps of an event: no second index, no digests.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS events (session_id BLOB NOT NULL, sequence INTEGER NOT NULL, \
     event_id BLOB NOT NULL, event_type TEXT NOT NULL, content TEXT NOT NULL, at INTEGER NOT NULL, \
     PRIMARY KEY (session_id, sequence)) WITHOUT ROWID";
const INSERT: &str =
    "INSERT INTO events (session_id, sequence, event_id, event_type, content, at) VALUES (?, ?, ?, ?, ?, ?)";

/// A database file of the bare engine.
#[derive(Debug, Clone)]
pub struct Raw(PathBuf);

/// A row on its way to the thread that commits, with what tells its sender.
pub struct Row<D> {
    pub session_id: Uuid,
    pub sequence: i64,
    pub event_id: Uuid,
    pub kind: &'static str,
    pub content: Arc<str>,
    pub done: D,
}

impl Raw {
    /// A new file.
    pub fn create(path: PathBuf) -> Result<Self> {
        open(&path)?;
        Ok(Self(path))
    }

    /// Rows per second of this many writers, each waiting for its row to be durable before it sends the next.
    pub async fn group_commit(&self, writers: usize, window: Window) -> Result<f64> {
        let path = self.0.clone();
        tokio::task::spawn_blocking(move || group_commit(&path, writers, window)).await?
    }

    /// Rows per second of one thread that commits this many at a time.
    pub async fn batches(&self, rows: usize, window: Window) -> Result<f64> {
        let path = self.0.clone();
        tokio::task::spawn_blocking(move || batches(&path, rows, window)).await?
    }
}

fn open(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "cache_size", -16_384)?;
    connection.execute(TABLE, [])?;
    Ok(connection)
}

/// Commits what is there, again and again, until every sender is gone.
pub fn commit_groups<D>(
    path: &Path,
    rows: &Receiver<Row<D>>,
    mut committed: impl FnMut(&mut Vec<Row<D>>),
) -> Result<()> {
    let connection = open(path)?;
    let mut insert = connection.prepare(INSERT)?;
    let mut group = Vec::with_capacity(GROUP_MAX);
    while let Ok(first) = rows.recv() {
        group.push(first);
        group.extend(rows.try_iter().take(GROUP_MAX - 1));
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for row in &group {
            let (session_id, event_id) = (row.session_id.as_bytes(), row.event_id.as_bytes());
            insert.execute(params![session_id, row.sequence, event_id, row.kind, &*row.content, now_micros()])?;
        }
        connection.execute_batch("COMMIT")?;
        committed(&mut group);
        group.clear();
    }
    Ok(())
}

fn group_commit(path: &Path, writers: usize, window: Window) -> Result<f64> {
    let start = Instant::now() + window.warm;
    let end = start + window.measure;
    let (sender, rows) = channel();
    let mut count = 0;
    thread::scope(|scope| {
        for _ in 0..writers {
            let sender = sender.clone();
            thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || write(&sender, end))?;
        }
        drop(sender);
        commit_groups(path, &rows, |group| {
            let now = Instant::now();
            if now >= start && now <= end {
                count += group.len();
            }
            for row in group.drain(..) {
                // A writer whose time is up does not wait for its last row.
                let _ = row.done.send(());
            }
        })
    })?;
    Ok(count as f64 / window.measure.as_secs_f64())
}

fn write(rows: &Sender<Row<Sender<()>>>, end: Instant) {
    let mut ids = Ids::new();
    let session_id = ids.next();
    let (kind, content) = event::kind_and_content(0);
    let content: Arc<str> = content.into();
    let (done, committed) = channel();
    for sequence in 1.. {
        let row =
            Row { session_id, sequence, event_id: ids.next(), kind, content: content.clone(), done: done.clone() };
        if Instant::now() >= end || rows.send(row).is_err() || committed.recv().is_err() {
            return;
        }
    }
}

fn batches(path: &Path, rows: usize, window: Window) -> Result<f64> {
    let connection = open(path)?;
    let mut insert = connection.prepare(INSERT)?;
    let events: Vec<_> = (0..rows).map(event::kind_and_content).collect();
    let mut ids = Ids::new();
    let session_id = ids.next();
    let start = Instant::now() + window.warm;
    let end = start + window.measure;
    let mut sequence = 0_i64;
    let mut committed = 0;
    loop {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for (kind, content) in &events {
            sequence += 1;
            let event_id = ids.next();
            insert.execute(params![
                session_id.as_bytes(),
                sequence,
                event_id.as_bytes(),
                kind,
                content,
                now_micros()
            ])?;
        }
        connection.execute_batch("COMMIT")?;
        let now = Instant::now();
        if now > end {
            break;
        }
        if now >= start {
            committed += rows;
        }
    }
    Ok(committed as f64 / window.measure.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_bare_engine_commits_rows() {
        let dir = tempfile::tempdir().unwrap();
        let raw = Raw::create(dir.path().join("raw")).unwrap();
        let window = Window { warm: Duration::from_millis(10), measure: Duration::from_millis(100) };
        assert!(raw.group_commit(4, window).await.unwrap() > 10.0);
        assert!(raw.batches(100, window).await.unwrap() > 100.0);
        let rows: i64 = open(&raw.0).unwrap().query_row("SELECT COUNT(*) FROM events", [], |row| row.get(0)).unwrap();
        assert!(rows > 100);
    }
}
