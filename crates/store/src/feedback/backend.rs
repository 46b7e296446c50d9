//! Where ratings are stored, and the queries on them.

use super::{
    FeedbackRecord,
    file::{Body, FeedbackFile, Written},
    record::Row,
    sql::texts,
};
use crate::engine::{Access, Conn, Error, Mode, Result, in_transaction, run, spawn_with_timeout};
use domain::{
    Timestamp,
    id::UserId,
    limit::INCOGNITO_FEEDBACK_MAX,
    session_feedback::{Label, iso},
};
use sqlx::PgPool;
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::Semaphore;

/// Most ratings that one transaction of a purge removes, so that others do not wait long for the lock.
const PURGE_BATCH: i64 = 5_000;
/// Most connections to PostgreSQL that write ratings at once. Others wait without a connection, so that a locked table
/// does not hold up the whole pool.
const POSTGRES_WRITES_MAX: usize = 2;

/// Where ratings are stored.
pub enum FeedbackBackend {
    /// A file beside the ledger's.
    Sqlite(FeedbackFile),
    /// A schema beside the ledger's, with a permit for each connection that writes.
    Postgres(PgPool, Arc<Semaphore>),
    /// The memory of this process. The ratings are lost when it ends.
    Memory(Mutex<Vec<FeedbackRecord>>),
}

impl FeedbackBackend {
    /// An empty storage in memory.
    pub const fn memory() -> Self {
        Self::Memory(Mutex::new(Vec::new()))
    }

    /// The file in this directory. It is opened with the first request.
    pub(crate) fn sqlite(data_dir: PathBuf) -> Self {
        Self::Sqlite(FeedbackFile::new(data_dir))
    }

    /// The schema of this pool's database.
    pub(crate) fn postgres(pool: PgPool) -> Self {
        Self::Postgres(pool, Arc::new(Semaphore::new(POSTGRES_WRITES_MAX)))
    }

    /// Whether ratings can be stored, as far as that can be found out without storing one.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the file is read-only, [`Error::Database`] when it cannot be opened or
    /// migrated.
    pub async fn check(&self) -> Result<()> {
        match self {
            Self::Sqlite(file) => file.check().await,
            Self::Postgres(..) | Self::Memory(_) => Ok(()),
        }
    }

    /// Closes the file. On SQLite its write-ahead log is empty afterwards.
    pub(crate) async fn close(&self) {
        if let Self::Sqlite(file) = self {
            file.close().await;
        }
    }

    /// Name of the storage for operators: `sqlite`, `postgres` or `memory`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Postgres(..) => "postgres",
            Self::Memory(_) => "memory",
        }
    }

    /// Stores a rating. Another one of the same person about the same session replaces it; the same one again changes
    /// nothing. Returns the stored rating.
    pub async fn record(&self, new: FeedbackRecord) -> Result<FeedbackRecord> {
        if let Self::Memory(kept) = self {
            return Ok(remember(&mut locked(kept), new));
        }
        self.write(Box::new(move |conn| Box::pin(record(conn, new)))).await
    }

    /// Removes a person's rating of a session. Returns whether there was one.
    pub async fn remove(&self, session: &str, user: Option<UserId>) -> Result<bool> {
        if let Self::Memory(kept) = self {
            let mut kept = locked(kept);
            let before = kept.len();
            kept.retain(|one| !is_of(one, session, user));
            return Ok(kept.len() < before);
        }
        let session = session.to_owned();
        let body: Body<Written<bool>> = Box::new(move |conn| {
            Box::pin(async move {
                let sql = texts(conn).remove;
                let removed = run!(conn, execute, sql, session.as_str(), user.map(|id| id.0))? > 0;
                Ok(Written { value: removed, removed })
            })
        });
        self.write(body).await
    }

    /// A person's rating of a session.
    pub async fn of(&self, session: &str, user: Option<UserId>) -> Result<Option<FeedbackRecord>> {
        if let Self::Memory(kept) = self {
            return Ok(locked(kept).iter().find(|one| is_of(one, session, user)).cloned());
        }
        let session = session.to_owned();
        let body: Body<Option<FeedbackRecord>> =
            Box::new(move |conn| Box::pin(async move { of(conn, &session, user).await }));
        self.read(body).await
    }

    /// The ratings of a session, oldest first, at most `limit`.
    pub async fn list_by_session(&self, session: &str, limit: u32) -> Result<Vec<FeedbackRecord>> {
        if let Self::Memory(kept) = self {
            let kept = locked(kept);
            let of_session = kept.iter().filter(|one| one.session_id_opaque == session);
            return Ok(of_session.take(limit as usize).cloned().collect());
        }
        let session = session.to_owned();
        let body: Body<Vec<FeedbackRecord>> = Box::new(move |conn| {
            Box::pin(async move {
                let sql = texts(conn).list;
                let rows = run!(conn, fetch_all Row, sql, session.as_str(), i64::from(limit))?;
                rows.into_iter().map(FeedbackRecord::try_from).collect()
            })
        });
        self.read(body).await
    }

    /// How many ratings there are.
    pub async fn count(&self) -> Result<u64> {
        if let Self::Memory(kept) = self {
            return Ok(locked(kept).len() as u64);
        }
        let body: Body<u64> = Box::new(|conn| {
            Box::pin(async move {
                let sql = texts(conn).count;
                Ok(run!(conn, fetch_one One, sql)?.0.cast_unsigned())
            })
        });
        self.read(body).await
    }

    /// How many ratings a session has.
    pub async fn count_of_session(&self, session: &str) -> Result<u64> {
        if let Self::Memory(kept) = self {
            return Ok(locked(kept).iter().filter(|one| one.session_id_opaque == session).count() as u64);
        }
        let session = session.to_owned();
        let body: Body<u64> = Box::new(move |conn| {
            Box::pin(async move {
                let sql = texts(conn).count_of_session;
                Ok(run!(conn, fetch_one One, sql, session.as_str())?.0.cast_unsigned())
            })
        });
        self.read(body).await
    }

    /// How many sessions a person has rated.
    pub async fn count_of_user(&self, user: UserId) -> Result<u64> {
        if let Self::Memory(kept) = self {
            return Ok(locked(kept).iter().filter(|one| one.user_id_or_null == Some(user)).count() as u64);
        }
        let body: Body<u64> = Box::new(move |conn| {
            Box::pin(async move {
                let sql = texts(conn).count_of_user;
                Ok(run!(conn, fetch_one One, sql, user.0)?.0.cast_unsigned())
            })
        });
        self.read(body).await
    }

    /// Every rating of these sessions, in no order. The caller bounds how many it asks for.
    pub async fn labels(&self, sessions: &[String]) -> Result<Vec<(String, Label)>> {
        if let Self::Memory(kept) = self {
            let kept = locked(kept);
            let among = kept.iter().filter(|one| sessions.contains(&one.session_id_opaque));
            return Ok(among.map(|one| (one.session_id_opaque.clone(), one.label)).collect());
        }
        let names = serde_json::Value::from(sessions).to_string();
        let body: Body<Vec<(String, Label)>> = Box::new(move |conn| {
            Box::pin(async move {
                let sql = texts(conn).labels;
                let rows = run!(conn, fetch_all Rated, sql, names.as_str())?;
                let label = |(session, label): Rated| match Label::parse(&label) {
                    Some(label) => Ok((session, label)),
                    None => Err(Error::inconsistent("session_feedback", "label", &label)),
                };
                rows.into_iter().map(label).collect()
            })
        });
        self.read(body).await
    }

    /// Removes the ratings recorded before this time. Returns how many.
    pub async fn purge_before(&self, before: Timestamp) -> Result<u64> {
        if let Self::Memory(kept) = self {
            let mut kept = locked(kept);
            let count = kept.len();
            kept.retain(|one| one.recorded_at >= before);
            return Ok((count - kept.len()) as u64);
        }
        let mut purged = 0;
        loop {
            let before = iso(before);
            let body: Body<Written<u64>> = Box::new(move |conn| {
                Box::pin(async move {
                    let sql = texts(conn).purge;
                    let purged = run!(conn, execute, sql, before.as_str(), PURGE_BATCH)?;
                    Ok(Written { value: purged, removed: purged > 0 })
                })
            });
            let batch = self.write(body).await?;
            purged += batch;
            if batch < PURGE_BATCH.cast_unsigned() {
                return Ok(purged);
            }
        }
    }

    /// Runs queries that only read.
    async fn read<T: Send + 'static>(&self, body: Body<T>) -> Result<T> {
        match self {
            Self::Sqlite(file) => file.read(body).await,
            Self::Postgres(pool, _) => in_schema(pool, Mode::Read, body).await,
            Self::Memory(_) => Err(Error::Database("ratings in memory cannot be queried with SQL".into())),
        }
    }

    /// Runs `body` in one transaction. It runs to its end even if the caller goes away.
    async fn write<T: Send + 'static>(&self, body: Body<Written<T>>) -> Result<T> {
        match self {
            Self::Sqlite(file) => file.write(body).await,
            Self::Postgres(pool, writes) => {
                // The semaphore is never closed.
                let _permit = Arc::clone(writes).acquire_owned().await;
                Ok(in_schema(pool, Mode::Write, body).await?.value)
            }
            Self::Memory(_) => Err(Error::Database("ratings in memory cannot be queried with SQL".into())),
        }
    }
}

async fn in_schema<T: Send + 'static>(pool: &PgPool, mode: Mode, body: Body<T>) -> Result<T> {
    let pool = pool.clone();
    spawn_with_timeout(async move {
        let body = async |connection: &mut sqlx::PgConnection| body(&mut Conn::Postgres(connection)).await;
        in_transaction(&pool, Access::System, mode, body).await
    })
    .await
}

/// A row of one number. Written out, the formatter would take the tuple for a call's arguments.
type One = (i64,);
/// A session's name here and a label.
type Rated = (String, String);

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn record(conn: &mut Conn<'_>, new: FeedbackRecord) -> Result<Written<FeedbackRecord>> {
    let (texts, user, at) = (texts(conn), new.user_id_or_null.map(|id| id.0), iso(new.recorded_at));
    let (session, label, source) = (new.session_id_opaque.as_str(), new.label.as_str(), new.source.as_str());
    let turns = i64::try_from(new.turn_count_at_end).unwrap_or(i64::MAX);
    let version = i64::from(new.schema_version);
    let inserted =
        run!(conn, execute, texts.insert, new.id, session, user, at.as_str(), label, turns, source, version)?;
    let removed =
        inserted == 0 && run!(conn, execute, texts.change, session, user, at.as_str(), label, turns, source)? > 0;
    let kept = of(conn, session, new.user_id_or_null).await?;
    // The row is missing only if the rating was removed at the same time.
    Ok(Written { value: kept.unwrap_or(new), removed })
}

async fn of(conn: &mut Conn<'_>, session: &str, user: Option<UserId>) -> Result<Option<FeedbackRecord>> {
    let sql = texts(conn).of;
    let row = run!(conn, fetch_optional Row, sql, session, user.map(|id| id.0))?;
    row.map(FeedbackRecord::try_from).transpose()
}

fn is_of(one: &FeedbackRecord, session: &str, user: Option<UserId>) -> bool {
    one.session_id_opaque == session && one.user_id_or_null == user
}

fn remember(kept: &mut Vec<FeedbackRecord>, new: FeedbackRecord) -> FeedbackRecord {
    let known = kept.iter_mut().find(|one| is_of(one, &new.session_id_opaque, new.user_id_or_null));
    if let Some(known) = known {
        if known.label != new.label {
            *known = FeedbackRecord { id: known.id, ..new };
        }
        return known.clone();
    }
    if kept.len() >= INCOGNITO_FEEDBACK_MAX {
        kept.remove(0);
    }
    kept.push(new.clone());
    new
}
