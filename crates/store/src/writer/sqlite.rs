//! The one SQLite writer. A group is BEGIN, merged appends, commands as savepoints, COMMIT, and the
//! answers.
//!
//! What the database refuses costs the job that asked for it and no other. If the whole transaction is lost, as on a
//! full disk, its appends are tried again one by one. Its commands are not: their bodies run once.

use super::job::{Append, Command, Counters, Group, Job, Settle, WaitingClaim};
use crate::{
    engine::{Conn, Error, LaneSpan, SqliteConnection},
    event::{self, AppendRefusal, AppendRequest, Change, GroupNotices, Notice, Settled, publish},
    transaction::WriteTx,
};
use futures_util::FutureExt as _;
use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};
use tokio::sync::{broadcast, mpsc, oneshot};
use tracing::Instrument as _;

/// Takes the write lock at once.
const BEGIN: &str = "BEGIN IMMEDIATE";
/// How long emptying the write-ahead log waits for readers: 50 ms. All writes wait meanwhile.
const TRUNCATE_WAIT: Duration = Duration::from_millis(50);
/// Shortest time between two attempts to empty the write-ahead log that no erasure asked for.
const TRUNCATE_AGAIN: Duration = Duration::from_secs(1);

pub(super) struct SqliteLane {
    connection: SqliteConnection,
    notices: broadcast::Sender<Change>,
    counters: Arc<Counters>,
    /// When emptying the write-ahead log was last tried.
    truncated_at: Option<Instant>,
    /// The file's version at the last look for commits of other processes.
    seen: Option<i64>,
}

/// Results that wait for COMMIT.
#[derive(Default)]
struct Waiting {
    commands: Vec<(Box<dyn Settle>, LaneSpan)>,
    appends: Vec<(Append, Settled)>,
    changes: Vec<Change>,
    truncations: Vec<oneshot::Sender<()>>,
}

impl SqliteLane {
    pub(super) fn new(
        mut connection: SqliteConnection,
        notices: broadcast::Sender<Change>,
        counters: Arc<Counters>,
    ) -> Self {
        let seen = connection.data_version().ok();
        Self { connection, notices, counters, truncated_at: None, seen }
    }

    pub(super) async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        loop {
            let mut group = Group::default();
            let stop = group.fill(&mut jobs, &self.counters).await;
            let taken = group.jobs.len();
            group.jobs.retain(|job| !matches!(job, Job::LookForOthers));
            if group.jobs.len() < taken {
                self.look_for_others();
            }
            if !group.jobs.is_empty() {
                self.commit_group(group.begin()).await;
            }
            if stop {
                break;
            }
        }
        // A long read, such as a backup, would hold the end of this process, and the writes of all others with it.
        match self.connection.truncate_wal(TRUNCATE_WAIT) {
            Ok(true) => {}
            Ok(false) => tracing::info!("the database is being read, so its write-ahead log stays for the next start"),
            Err(error) => tracing::warn!(%error, "the last checkpoint failed; the next start repeats it"),
        }
        if let Err(error) = self.connection.close() {
            tracing::warn!(%error, "closing the database failed");
        }
    }

    /// Publishes that access may have changed if another process has committed since the last look: a command that
    /// removes a person runs beside the server, and the file notifies no one.
    fn look_for_others(&mut self) {
        match self.connection.data_version() {
            Ok(version) => {
                if self.seen.replace(version) != Some(version) {
                    publish(&self.notices, None, [Change::AccessChanged]);
                }
            }
            Err(error) => tracing::warn!(%error, "whether another process has written is not known"),
        }
    }

    async fn commit_group(&mut self, group: Vec<Job>) {
        let items = group.len() as u64;
        let mut waiting = Waiting::default();
        let outcome = self.apply_group(group, &mut waiting).await;
        let commit = match outcome {
            Ok(()) => self.connection.control("COMMIT"),
            Err(error) => Err(error),
        };
        let failure = match commit {
            Ok(()) => None,
            Err(error) => {
                // After a failed COMMIT the transaction may or may not be open; both are fine for ROLLBACK.
                let _ = self.connection.control("ROLLBACK");
                tracing::error!(%error, items, "a group was rolled back");
                Some(error.to_string())
            }
        };
        // The changes are sent before the answers, because a client may read as soon as it is answered.
        if failure.is_none() {
            self.counters.groups.fetch_add(1, Ordering::Relaxed);
            self.counters.items.fetch_add(items, Ordering::Relaxed);
            publish(&self.notices, None, waiting.changes);
        }
        let mut lost = Vec::new();
        for (append, settled) in waiting.appends {
            if failure.is_some() {
                lost.push(append);
            } else {
                self.answer(append, settled);
            }
        }
        for (command, span) in waiting.commands {
            drop(span);
            command.settle(failure.clone().map_or(Ok(()), |detail| Err(Error::Unavailable(detail))));
        }
        self.append_alone(lost).await;
        self.empty_wal(waiting.truncations);
    }

    /// Answers an append that is committed or refused.
    fn answer(&self, append: Append, settled: Settled) {
        if let Ok(done) = &settled {
            self.counters.events.fetch_add(done.events.len() as u64, Ordering::Relaxed);
        }
        // The span ends before that of the use case, which goes on with the answer.
        drop(append.span);
        // Sending fails when the client went away. The write is kept.
        let _ = append.reply.send(settled);
    }

    /// Appends each request in its own transaction, after the transaction of their group was lost. Once one meets an
    /// error that is not its own, the remaining ones are refused.
    async fn append_alone(&mut self, appends: Vec<Append>) {
        let mut failure: Option<Error> = None;
        for append in appends {
            let settled = match &failure {
                Some(error) => Err(error.clone().into()),
                None => match self.transaction_of_one(&append.request).instrument(append.span.span()).await {
                    Ok((settled, notices)) => {
                        self.counters.groups.fetch_add(1, Ordering::Relaxed);
                        self.counters.items.fetch_add(1, Ordering::Relaxed);
                        publish(&self.notices, None, notices.into_iter().map(Change::from));
                        settled
                    }
                    Err(error) => {
                        let _ = self.connection.control("ROLLBACK");
                        let error = Error::Unavailable(error.to_string());
                        // A disk that is full for one request may have room for a smaller one.
                        if !self.connection.is_full() {
                            failure = Some(error.clone());
                        }
                        Err(error.into())
                    }
                },
            };
            self.answer(append, settled);
        }
    }

    async fn transaction_of_one(
        &mut self,
        request: &AppendRequest,
    ) -> std::result::Result<(Settled, Vec<Notice>), sqlx::Error> {
        self.connection.control(BEGIN)?;
        let mut notices = GroupNotices::default();
        let settled =
            event::apply_one_by_one(&mut Conn::Sqlite(&mut self.connection), &[request], &mut notices).await?;
        self.connection.control("COMMIT")?;
        let settled = settled.into_iter().next().unwrap_or(Err(AppendRefusal::NoSession));
        Ok((settled, notices.into_notices()))
    }

    /// Empties the write-ahead log if it may hold erased content. An erasure is committed before it asks for that, so
    /// a reader that prevents it is no error: later groups try again.
    fn empty_wal(&mut self, asked: Vec<oneshot::Sender<()>>) {
        let is_due = !asked.is_empty() || self.truncated_at.is_none_or(|at| at.elapsed() >= TRUNCATE_AGAIN);
        if is_due && self.counters.has_remains.load(Ordering::Relaxed) {
            match self.connection.truncate_wal(TRUNCATE_WAIT) {
                Ok(true) => self.counters.has_remains.store(false, Ordering::Relaxed),
                // Only the first attempt warns. A long read, such as a backup, would repeat it every second.
                Ok(false) if asked.is_empty() => {}
                Ok(false) => tracing::warn!(
                    "the database is being read, so erased content stays in its write-ahead log; later writes try again"
                ),
                Err(error) => tracing::warn!(%error, "erased content stays in the write-ahead log"),
            }
            self.truncated_at = Some(Instant::now());
        }
        for done in asked {
            // Sending fails when the client went away.
            let _ = done.send(());
        }
    }

    /// Runs all jobs between BEGIN and COMMIT. Consecutive appends are one step; each command is a savepoint.
    async fn apply_group(&mut self, group: Vec<Job>, waiting: &mut Waiting) -> std::result::Result<(), sqlx::Error> {
        let mut broken = self.connection.control(BEGIN).err();
        let is_alone = !group.iter().any(|job| matches!(job, Job::Command(..)));
        let mut appends: Vec<Append> = Vec::new();
        for job in group {
            match job {
                Job::Append(append) => appends.push(append),
                Job::Command(command, span) => {
                    self.append_step(&mut appends, is_alone, waiting, &mut broken).await;
                    self.command_step(command, span, waiting, &mut broken).await;
                }
                Job::Claim(WaitingClaim { reply, .. }) => drop(reply.send(Ok(None))),
                Job::Completion(completion) => completion.reply.answer(Ok(None)),
                Job::Creation(creation) => creation.reply.answer(Ok(None)),
                Job::EmptyWal(done) => waiting.truncations.push(done),
                Job::LookForOthers | Job::Stop => {}
            }
        }
        self.append_step(&mut appends, is_alone, waiting, &mut broken).await;
        broken.map_or(Ok(()), Err)
    }

    async fn append_step(
        &mut self,
        appends: &mut Vec<Append>,
        is_alone: bool,
        waiting: &mut Waiting,
        broken: &mut Option<sqlx::Error>,
    ) {
        let appends = std::mem::take(appends);
        let Some(first) = appends.first() else { return };
        // What the appends of a group share is shown below the first of them.
        let span = first.span.span();
        let settled = match broken {
            Some(error) => Err(error.to_string()),
            None => {
                let requests: Vec<&AppendRequest> = appends.iter().map(|append| &append.request).collect();
                match self.appends(&requests, is_alone).instrument(span).await {
                    Ok((settled, notices)) => {
                        waiting.changes.extend(notices.into_iter().map(Change::from));
                        Ok(settled)
                    }
                    Err(error) => {
                        let text = error.to_string();
                        *broken = Some(error);
                        Err(text)
                    }
                }
            }
        };
        #[cfg(feature = "planted-bugs")]
        if crate::engine::planted::is(crate::engine::planted::Bug::AckBeforeCommit) {
            for (append, settled) in appends.into_iter().zip(settled.unwrap_or_default()) {
                let _ = append.reply.send(settled);
            }
            return;
        }
        match settled {
            Ok(settled) => waiting.appends.extend(appends.into_iter().zip(settled)),
            Err(text) => waiting.appends.extend(appends.into_iter().map(|append| {
                let refusal: AppendRefusal = Error::Unavailable(text.clone()).into();
                (append, Err(refusal))
            })),
        }
    }

    /// Applies consecutive appends. If the transaction has no commands it needs no savepoint, which would copy
    /// each page before it changes. When the database refuses a row, because the event is recorded already or for any
    /// other reason, the appends are undone and applied one by one.
    ///
    /// # Errors
    /// What ends the transaction: an error of the disk or of memory.
    async fn appends(
        &mut self,
        requests: &[&AppendRequest],
        is_alone: bool,
    ) -> std::result::Result<(Vec<Settled>, Vec<Notice>), sqlx::Error> {
        #[cfg(feature = "planted-bugs")]
        if crate::engine::planted::is(crate::engine::planted::Bug::SplitBatch) {
            self.first_halves(requests).await?;
        }
        if !is_alone {
            self.connection.control("SAVEPOINT appends")?;
        }
        let mut notices = GroupNotices::default();
        let applied = event::apply(&mut Conn::Sqlite(&mut self.connection), requests, &mut notices).await;
        let settled = match applied {
            Ok(settled) => settled,
            Err(error) if Error::from(&error).is_of_item() => {
                if is_alone {
                    self.connection.control("ROLLBACK")?;
                    self.connection.control(BEGIN)?;
                } else {
                    self.connection.control("ROLLBACK TO appends")?;
                }
                notices = GroupNotices::default();
                event::apply_one_by_one(&mut Conn::Sqlite(&mut self.connection), requests, &mut notices).await?
            }
            Err(error) => return Err(error),
        };
        if !is_alone {
            self.connection.control("RELEASE appends")?;
        }
        Ok((settled, notices.into_notices()))
    }

    /// The planted bug: commits the first half of each batch on its own; the whole batch then finds it recorded.
    #[cfg(feature = "planted-bugs")]
    async fn first_halves(&mut self, requests: &[&AppendRequest]) -> std::result::Result<(), sqlx::Error> {
        for request in requests.iter().filter(|r| r.events.len() > 1) {
            let mut half = AppendRequest::clone(request);
            half.events.truncate(request.events.len() / 2);
            let mut notices = GroupNotices::default();
            event::apply_one_by_one(&mut Conn::Sqlite(&mut self.connection), &[&half], &mut notices).await?;
            self.connection.batch("COMMIT; BEGIN IMMEDIATE")?;
        }
        Ok(())
    }

    async fn command_step(
        &mut self,
        command: Box<dyn Command>,
        span: LaneSpan,
        waiting: &mut Waiting,
        broken: &mut Option<sqlx::Error>,
    ) {
        if broken.is_none() {
            *broken = self.connection.control("SAVEPOINT command").err();
        }
        // Without a transaction each statement of the command would be committed alone, and kept after it failed.
        if let Some(error) = broken {
            return command.refuse(Error::Unavailable(error.to_string()));
        }
        let mut tx = WriteTx::new(Conn::Sqlite(&mut self.connection));
        // A panic would end the writer, and with it every later write. Its caller is answered by the dropped channel.
        let ran = AssertUnwindSafe(command.run(&mut tx).instrument(span.span())).catch_unwind().await.ok();
        let changes = tx.into_changes();
        let is_refused = ran.as_ref().is_none_or(|ran| ran.is_refused());
        // After some errors, such as one of the disk, SQLite rolls the whole transaction back by itself.
        if !self.connection.is_in_transaction() {
            *broken = Some(sqlx::Error::Protocol("the transaction was rolled back".into()));
        }
        if broken.is_none() && is_refused {
            *broken = self.connection.control("ROLLBACK TO command").err();
        }
        if broken.is_none() {
            *broken = self.connection.control("RELEASE command").err();
        }
        if !is_refused {
            waiting.changes.extend(changes);
        }
        waiting.commands.extend(ran.map(|ran| (ran, span)));
    }
}
