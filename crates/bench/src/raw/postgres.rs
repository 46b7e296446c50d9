//! PostgreSQL without us: single-row inserts, and claims with SKIP LOCKED.

use crate::{
    event,
    ids::{Ids, now_micros},
    load::Window,
};
use anyhow::{Context as _, Result};
use futures_util::{TryStreamExt as _, stream::FuturesUnordered};
use sqlx::{
    ConnectOptions as _, Connection as _, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use std::{
    str::FromStr as _,
    time::{Duration, Instant},
};
use uuid::Uuid;

const EVENTS: &str = "CREATE TABLE events (session_id uuid NOT NULL, sequence bigint NOT NULL, event_id uuid NOT NULL, \
     event_type text NOT NULL, content text NOT NULL, at bigint NOT NULL, PRIMARY KEY (session_id, sequence))";
const INSERT: &str = "INSERT INTO events SELECT * FROM UNNEST($1::uuid[], $2::bigint[], $3::uuid[], $4::text[], $5::text[], $6::bigint[])";
const JOBS: &str = "CREATE TABLE jobs (id bigserial PRIMARY KEY, status text NOT NULL, attempt bigint NOT NULL, \
     lease_expires_at bigint, input text NOT NULL) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02)";
const JOBS_PENDING: &str = "CREATE INDEX jobs_pending ON jobs (id) WHERE status = 'pending'";
const REFILL: &str =
    "INSERT INTO jobs (status, attempt, input) SELECT 'pending', 0, '{\"order\":4711}' FROM generate_series(1, $1)";
const EMPTY: &str = "TRUNCATE jobs";
const CLAIM: &str = "UPDATE jobs SET status = 'running', attempt = attempt + 1, lease_expires_at = $1 WHERE id = \
     (SELECT id FROM jobs WHERE status = 'pending' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, attempt, input";
/// Longest wait for a connection.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Databases of this run on someone's PostgreSQL; dropped at the end.
pub struct Databases {
    admin: PgConnectOptions,
    names: Vec<String>,
}

impl Databases {
    pub fn new(url: &str) -> Result<Self> {
        let admin = PgConnectOptions::from_str(url).context("the PostgreSQL URL")?.disable_statement_logging();
        Ok(Self { admin, names: Vec::new() })
    }

    /// Makes an empty database and returns its URL.
    pub async fn create(&mut self, kind: &str) -> Result<String> {
        let name = format!("bench_{kind}_{}_{:08x}", std::process::id(), fastrand::u32(..));
        self.run(format!("CREATE DATABASE {name}")).await?;
        let mut url = self.admin.clone().database(&name).to_url_lossy();
        url.set_query(None);
        self.names.push(name);
        Ok(url.to_string())
    }

    /// Drops the databases, also if clients are connected.
    pub async fn drop_all(&mut self) -> Result<()> {
        for name in std::mem::take(&mut self.names) {
            self.run(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await?;
        }
        Ok(())
    }

    async fn run(&self, statement: String) -> Result<()> {
        let mut connection: PgConnection = self.admin.connect().await.context("cannot reach PostgreSQL")?;
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut connection).await?;
        connection.close().await?;
        Ok(())
    }
}

/// The bare engine.
pub struct Raw {
    pool: PgPool,
    connections: u32,
}

impl Raw {
    /// Tables in an empty database.
    pub async fn create(url: &str, connections: u32) -> Result<Self> {
        let options = PgConnectOptions::from_str(url)?.disable_statement_logging();
        let pool = PgPoolOptions::new()
            .min_connections(connections)
            .max_connections(connections)
            .acquire_timeout(WAIT_MAX)
            .test_before_acquire(false)
            .connect_with(options)
            .await?;
        for statement in [EVENTS, JOBS, JOBS_PENDING] {
            sqlx::query(statement).execute(&pool).await?;
        }
        Ok(Self { pool, connections })
    }

    /// Rows per second, one per statement and commit.
    pub async fn append(&self, window: Window) -> Result<f64> {
        self.each(window, async |connection, state| {
            let (kind, content) = &state.event;
            state.sequence += 1;
            sqlx::query(INSERT)
                .bind([state.session_id])
                .bind([state.sequence])
                .bind([state.ids.next()])
                .bind([*kind])
                .bind([content.as_str()])
                .bind([now_micros()])
                .execute(connection)
                .await?;
            Ok(true)
        })
        .await
    }

    /// Claims per second out of this many jobs.
    pub async fn claims(&self, jobs: i64, window: Window) -> Result<f64> {
        sqlx::query(EMPTY).execute(&self.pool).await?;
        sqlx::query(REFILL).bind(jobs).execute(&self.pool).await?;
        self.each(window.cold(), async |connection, _| {
            type Job = (i64, i64, String);
            let job: Option<Job> = sqlx::query_as(CLAIM).bind(now_micros()).fetch_optional(connection).await?;
            Ok(job.is_some())
        })
        .await
    }

    /// Closes the connections.
    pub async fn close(self) {
        self.pool.close().await;
    }

    /// Runs a step on every connection again and again, until the window ends or a step finds nothing to do.
    async fn each<F>(&self, window: Window, step: F) -> Result<f64>
    where
        F: AsyncFn(&mut PgConnection, &mut State) -> Result<bool>,
    {
        let mut connections = Vec::new();
        for _ in 0..self.connections {
            connections.push((self.pool.acquire().await?, State::new()));
        }
        let start = Instant::now() + window.warm;
        let end = start + window.measure;
        let step = &step;
        let loops = connections.into_iter().map(|(mut connection, mut state)| async move {
            let (mut done, mut last) = (0_u64, start);
            while Instant::now() < end {
                if !step(&mut connection, &mut state).await? {
                    break;
                }
                let now = Instant::now();
                if now >= start && now <= end {
                    done += 1;
                    last = now;
                }
            }
            anyhow::Ok((done, last))
        });
        let parts: Vec<_> = loops.collect::<FuturesUnordered<_>>().try_collect().await?;
        let done: u64 = parts.iter().map(|part| part.0).sum();
        let last = parts.iter().map(|part| part.1).max().unwrap_or(end);
        Ok(done as f64 / (last - start).as_secs_f64().max(1e-9))
    }
}

/// What one connection keeps.
struct State {
    ids: Ids,
    session_id: Uuid,
    sequence: i64,
    event: (&'static str, String),
}

impl State {
    fn new() -> Self {
        let mut ids = Ids::new();
        Self { session_id: ids.next(), ids, sequence: 0, event: event::kind_and_content(0) }
    }
}
