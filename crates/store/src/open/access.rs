//! Reads and writes as closures over a transaction.
//!
//! On SQLite writes are jobs of the one writer. On PostgreSQL reads and writes run in their own
//! transactions and tasks, so that a client that disconnects does not cancel them. There, what runs a transaction is
//! compiled once and not for each closure.
//!
//! Each function that a use case calls has a span with the name of that use case, which is the module of its caller.
//! These functions are not `async`, because an async function does not know its caller.

use super::store::{Db, Store};
use crate::{
    engine::{Access, Conn, Error, Mode, Result, in_transaction, lane_with_timeout, use_case_span},
    event::{AppendRequest, Settled},
    session::{DecideCompletion, FirstClaim, PlainCreation},
    transaction::{Body, BoxedBody, Committed, WriteTx},
    writer::{Command, command},
};
use domain::{id::SessionId, session::Session};
use std::{panic::Location, sync::atomic::Ordering};
use tracing::Instrument as _;

/// Begins a read on SQLite. The first query takes the snapshot that all later ones see.
const BEGIN_SNAPSHOT_SQLITE: &str = "BEGIN DEFERRED";
const END_SNAPSHOT_SQLITE: &str = "COMMIT";

/// Why a transaction was not committed.
enum Ended {
    /// The command refused. It has the reason.
    Refused,
    Failed(Error),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Store {
    /// Runs one or more queries on behalf of `access`. On SQLite each statement sees the newest commit; the
    /// log is append-only, so reads that go by sequence stay consistent without a snapshot.
    #[track_caller]
    pub fn read<T, F>(&self, access: Access, body: F) -> impl Future<Output = Result<T>> + Send
    where
        T: Send + 'static,
        F: for<'t, 'c> Body<&'t mut Conn<'c>, Result<T>>,
    {
        let span = use_case_span(Location::caller());
        self.read_now(access, body).instrument(span)
    }

    async fn read_now<T, F>(&self, access: Access, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t, 'c> Body<&'t mut Conn<'c>, Result<T>>,
    {
        self.read_counters().reads.fetch_add(1, Ordering::Relaxed);
        match self.db() {
            Db::Sqlite(readers) => {
                let mut connection = readers.take()?;
                let outcome = body(&mut Conn::Sqlite(&mut connection)).await;
                readers.release(connection);
                outcome
            }
            Db::Postgres(_) => {
                let body: BoxedBody<T, Error> = Box::new(move |tx| Box::pin(body(tx.conn())));
                self.on_postgres(access, Mode::Read, body).await
            }
        }
    }

    /// Runs queries of an operator's command, which may go through whole tables. On SQLite it is [`Self::read`]. On
    /// PostgreSQL the caller is not answered after 2.5 s but when the queries are done, and each may take an hour.
    #[track_caller]
    pub fn read_by_operator<T, F>(&self, access: Access, body: F) -> impl Future<Output = Result<T>> + Send
    where
        T: Send + 'static,
        F: for<'t, 'c> Body<&'t mut Conn<'c>, Result<T>>,
    {
        let span = use_case_span(Location::caller());
        self.read_by_operator_now(access, body).instrument(span)
    }

    async fn read_by_operator_now<T, F>(&self, access: Access, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t, 'c> Body<&'t mut Conn<'c>, Result<T>>,
    {
        if !self.is_postgres() {
            return self.read_now(access, body).await;
        }
        self.read_counters().reads.fetch_add(1, Ordering::Relaxed);
        let body: BoxedBody<T, Error> = Box::new(move |tx| Box::pin(body(tx.conn())));
        self.on_postgres(access, Mode::Operator, body).await
    }

    /// Runs queries on behalf of `access` that all see one moment: the commits before the first query, and none after.
    ///
    /// For answers that are put together from several queries. On PostgreSQL it costs what [`Self::read`] costs; on
    /// SQLite it adds BEGIN and COMMIT, and the file cannot be checkpointed past this moment while `body` runs.
    ///
    /// # Errors
    /// The error of `body`.
    #[track_caller]
    pub fn snapshot<T, E, F>(&self, access: Access, body: F) -> impl Future<Output = std::result::Result<T, E>> + Send
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t, 'c> Body<&'t mut Conn<'c>, std::result::Result<T, E>>,
    {
        let span = use_case_span(Location::caller());
        self.snapshot_now(access, body).instrument(span)
    }

    async fn snapshot_now<T, E, F>(&self, access: Access, body: F) -> std::result::Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t, 'c> Body<&'t mut Conn<'c>, std::result::Result<T, E>>,
    {
        self.read_counters().reads.fetch_add(1, Ordering::Relaxed);
        self.read_counters().snapshots.fetch_add(1, Ordering::Relaxed);
        match self.db() {
            Db::Sqlite(readers) => {
                let mut connection = readers.take()?;
                connection.control(BEGIN_SNAPSHOT_SQLITE).map_err(Error::from)?;
                let before = connection.statements();
                let outcome = body(&mut Conn::Sqlite(&mut connection)).await;
                self.read_counters().statements.fetch_add(connection.statements() - before, Ordering::Relaxed);
                // A connection that is still in its transaction is closed instead of kept.
                connection.control(END_SNAPSHOT_SQLITE).map_err(Error::from)?;
                readers.release(connection);
                outcome
            }
            Db::Postgres(_) => {
                let body: BoxedBody<T, E> = Box::new(move |tx| Box::pin(body(tx.conn())));
                self.on_postgres(access, Mode::Snapshot, body).await
            }
        }
    }

    /// Runs `body` in one transaction and returns after COMMIT. An error of the body rolls it back. The caller follows
    /// up the ends of sessions.
    ///
    /// The body runs in a task of its own: a caller that goes away does not cancel it.
    ///
    /// # Errors
    /// The error of `body`; [`Error::Unavailable`] if the server is stopping, on SQLite also if too many writes wait,
    /// and on PostgreSQL also if it does not answer within 2.5 s. In the last case the transaction may still be
    /// committed.
    #[track_caller]
    pub fn write<T, E, F>(
        &self,
        access: Access,
        body: F,
    ) -> impl Future<Output = std::result::Result<Committed<T>, E>> + Send
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t, 'c> Body<&'t mut WriteTx<'c>, std::result::Result<T, E>>,
    {
        let span = use_case_span(Location::caller());
        self.write_now(access, body).instrument(span)
    }

    async fn write_now<T, E, F>(&self, access: Access, body: F) -> std::result::Result<Committed<T>, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t, 'c> Body<&'t mut WriteTx<'c>, std::result::Result<T, E>>,
    {
        let body: BoxedBody<Committed<T>, E> = Box::new(move |tx| {
            Box::pin(async move {
                let value = body(&mut *tx).await?;
                Ok(Committed { value, endings: tx.take_endings() })
            })
        });
        match self.db() {
            Db::Sqlite(_) => self.writer().run(body).await,
            Db::Postgres(_) => {
                self.writer().check_open()?;
                self.on_postgres(access, Mode::Write, body).await
            }
        }
    }

    /// Runs `body` in a transaction and a task of its own, which goes on if the caller does not wait for it.
    async fn on_postgres<T, E>(&self, access: Access, mode: Mode, body: BoxedBody<T, E>) -> std::result::Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (command, answer) = command(body);
        tokio::spawn(self.clone().transaction(access, mode, command).in_current_span());
        let ended =
            async { answer.await.unwrap_or_else(|_| Err(Error::Database("database task failed".into()).into())) };
        if matches!(mode, Mode::Operator) { ended.await } else { lane_with_timeout(ended).await }
    }

    /// Runs a command between BEGIN and COMMIT, or ROLLBACK if it refuses, and sends its answer.
    async fn transaction(self, access: Access, mode: Mode, command: Box<dyn Command>) {
        let Db::Postgres(pool) = self.db() else { return };
        let (mut command, mut ran) = (Some(command), None);
        let ended = in_transaction(pool, access, mode, async |connection| {
            let Some(command) = command.take() else { return Err(Ended::Refused) };
            let mut tx = WriteTx::new(Conn::Postgres(connection));
            let is_refused = ran.insert(command.run(&mut tx).await).is_refused();
            if is_refused { Err(Ended::Refused) } else { Ok(tx.into_changes()) }
        })
        .await;
        let ended = match ended {
            // The changes are sent before the answer, because a client may read as soon as it is answered.
            Ok(changes) => {
                if matches!(mode, Mode::Write) {
                    self.writer().count_alone();
                }
                self.publish(changes);
                Ok(())
            }
            Err(Ended::Refused) => Ok(()),
            Err(Ended::Failed(error)) => Err(error),
        };
        match (command, ran, ended) {
            (_, Some(ran), ended) => ran.settle(ended),
            (Some(command), None, Err(error)) => command.refuse(error),
            // It ran out of time, and no one waits for the answer any more.
            _ => {}
        }
    }

    /// Appends events; returns after COMMIT. Concurrent calls share a transaction.
    ///
    /// # Errors
    /// The [`AppendRefusal`](crate::AppendRefusal). Of its storage errors, [`Error::Unavailable`] also if too many
    /// writes wait or the server is stopping. If PostgreSQL does not answer within 2.5 s, the events may still be
    /// committed.
    #[track_caller]
    pub fn append(&self, request: AppendRequest) -> impl Future<Output = Settled> + Send {
        let span = use_case_span(Location::caller());
        let append = async move {
            if self.is_postgres() {
                return lane_with_timeout(self.writer().append(request)).await;
            }
            self.writer().append(request).await
        };
        append.instrument(span)
    }

    /// Claims the oldest queued sessions in one statement, as many as `claim` has events for. Concurrent calls
    /// with the same terms share the statement.
    ///
    /// Returns `None`, and claims nothing, on SQLite and when one of the sessions was claimed before, depends
    /// on others, has time limits, belongs to a person who has a working session, or does not take its events.
    ///
    /// # Errors
    /// [`Error::Unavailable`] also if too many claims wait or the server is stopping. If PostgreSQL does not answer
    /// within 2.5 s, the sessions may still be claimed.
    #[track_caller]
    pub fn claim_first(
        &self,
        access: Access,
        claim: FirstClaim,
    ) -> impl Future<Output = Result<Option<Vec<Session>>>> + Send {
        let span = use_case_span(Location::caller());
        self.claim_first_now(access, claim).instrument(span)
    }

    async fn claim_first_now(&self, access: Access, claim: FirstClaim) -> Result<Option<Vec<Session>>> {
        if !self.is_postgres() {
            return Ok(None);
        }
        #[cfg(feature = "planted-bugs")]
        if crate::engine::planted::is(crate::engine::planted::Bug::DoubleClaim) {
            return Ok(None);
        }
        lane_with_timeout(self.writer().claim(access, claim)).await
    }

    /// Completes a session with the others that wait, if `decide` finds that nothing but the session and its log
    /// changes. `bytes` is the size of the texts that it holds.
    ///
    /// Returns `None`, and changes nothing, on SQLite, if `decide` does, if the workspace has a webhook, and if another
    /// transaction holds or has changed the session meanwhile.
    ///
    /// # Errors
    /// [`Error::Unavailable`] also if too many writes wait or the server is stopping. If PostgreSQL does not answer
    /// within 2.5 s, the session may still be completed.
    #[track_caller]
    pub fn complete_plain(
        &self,
        access: Access,
        id: SessionId,
        (decide, bytes): (DecideCompletion, usize),
    ) -> impl Future<Output = Result<Option<Session>>> + Send {
        let span = use_case_span(Location::caller());
        let complete = async move {
            if !self.is_postgres() {
                return Ok(None);
            }
            lane_with_timeout(self.writer().complete(access, id, (decide, bytes))).await
        };
        complete.instrument(span)
    }

    /// Inserts a session with the others that wait. Returns it with its head.
    ///
    /// Returns `None`, and inserts nothing, on SQLite and if the database refused one of them.
    ///
    /// # Errors
    /// [`Error::Unavailable`] also if too many writes wait or the server is stopping. If PostgreSQL does not answer
    /// within 2.5 s, the session may still be inserted.
    #[track_caller]
    pub fn create_plain(
        &self,
        access: Access,
        creation: PlainCreation,
    ) -> impl Future<Output = Result<Option<Session>>> + Send {
        let span = use_case_span(Location::caller());
        let create = async move {
            if !self.is_postgres() {
                return Ok(None);
            }
            lane_with_timeout(self.writer().create(access, creation)).await
        };
        create.instrument(span)
    }
}
