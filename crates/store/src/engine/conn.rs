//! A connection to either engine, and the macro that runs a query on it.

use super::sqlite::SqliteConnection;
use domain::{
    Scope,
    id::{ShareLinkId, TenantId, UserId},
};
use sqlx::PgConnection;

/// Longest time for a statement of a PostgreSQL transaction, milliseconds.
const STATEMENT_MS_MAX: u32 = 5_000;
/// Longest time for a statement of [`Mode::Operator`], milliseconds.
const OPERATOR_STATEMENT_MS_MAX: u32 = 3_600_000;

/// A borrowed connection inside a transaction.
pub enum Conn<'c> {
    /// The only write connection of a SQLite file, or a reader of it.
    Sqlite(&'c mut SqliteConnection),
    /// A connection of the PostgreSQL pool.
    Postgres(&'c mut PgConnection),
}

impl Conn<'_> {
    /// Begins a savepoint inside the transaction. Savepoints of the same name nest.
    pub(crate) async fn savepoint(&mut self) -> Result<(), sqlx::Error> {
        self.control("SAVEPOINT item").await
    }

    /// Keeps what was done since the newest savepoint.
    pub(crate) async fn release(&mut self) -> Result<(), sqlx::Error> {
        self.control("RELEASE SAVEPOINT item").await
    }

    /// Undoes what was done since the newest savepoint, and removes the savepoint.
    ///
    /// # Errors
    /// An error if the whole transaction is gone already, as after some errors of the disk on SQLite.
    pub(crate) async fn undo(&mut self) -> Result<(), sqlx::Error> {
        self.control("ROLLBACK TO SAVEPOINT item").await?;
        self.release().await
    }

    async fn control(&mut self, sql: &'static str) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(c) => c.control(sql),
            Self::Postgres(c) => sqlx::query(sql).execute(&mut **c).await.map(drop),
        }
    }
}

/// The workspace and person that a transaction acts for. PostgreSQL's row-level security enforces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// One workspace, and a person if the transaction acts for one.
    Tenant {
        /// Id of the workspace.
        tenant_id: TenantId,
        /// Id of the person; `None` if no person is signed in.
        user_id: Option<UserId>,
    },
    /// One session and its log, to read, for whoever opened this link. The link must not be revoked.
    Shared {
        /// By which the session is read.
        link_id: ShareLinkId,
    },
    /// All workspaces: for sign-in, sweeps, set-up and verification.
    System,
    /// All workspaces, with the rights of the tables' owner, for retention. The server's own role may not
    /// change recorded events.
    Retention,
}

impl From<&Scope> for Access {
    fn from(scope: &Scope) -> Self {
        Self::Tenant { tenant_id: scope.tenant_id, user_id: scope.user_id() }
    }
}

/// What a PostgreSQL transaction is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mode {
    /// A read; each statement sees the newest commit.
    Read,
    /// A read; all statements see the snapshot of the first one.
    Snapshot,
    /// One write; lock timeout of 2 s.
    Write,
    /// A group of appends; lock timeout of 50 ms.
    Shared,
    /// A read of an operator's command, which may go through whole tables; statement timeout of 1 h, lock timeout of
    /// 1 min, and no other time limit.
    Operator,
    /// The creation of a partition; lock timeout of 1 s, because appends wait behind the lock that it waits for.
    Partition,
}

impl Access {
    /// The statement that begins a PostgreSQL transaction. It sets the role, the row-level security and the
    /// time limits in one round trip.
    pub(crate) fn begin_sql(self, mode: Mode) -> String {
        let (tenant, user, system) = match self {
            Self::Tenant { tenant_id, user_id } => {
                (tenant_id.to_string(), user_id.map(|u| u.to_string()).unwrap_or_default(), "off")
            }
            Self::Shared { .. } => (String::new(), String::new(), "off"),
            Self::System | Self::Retention => (String::new(), String::new(), "on"),
        };
        // Without a workspace no other policy lets any row be seen.
        let shared = match self {
            Self::Shared { link_id } => format!(", set_config('app.shared_link', '{link_id}', true)"),
            Self::Tenant { .. } | Self::System | Self::Retention => String::new(),
        };
        let role = if matches!(self, Self::Retention) { "none" } else { "shiftbook_app" };
        let statement_timeout =
            if matches!(mode, Mode::Operator) { OPERATOR_STATEMENT_MS_MAX } else { STATEMENT_MS_MAX };
        let (mode, lock_timeout) = match mode {
            Mode::Read => (" READ ONLY", "2s"),
            Mode::Snapshot => (" ISOLATION LEVEL REPEATABLE READ READ ONLY", "2s"),
            Mode::Write => ("", "2s"),
            Mode::Shared => ("", "50ms"),
            Mode::Operator => (" READ ONLY", "1min"),
            Mode::Partition => ("", "1s"),
        };
        format!(
            "BEGIN{mode}; SELECT set_config('role', '{role}', true), set_config('app.tenant', '{tenant}', true), \
             set_config('app.user', '{user}', true), set_config('app.system', '{system}', true), \
             set_config('statement_timeout', '{statement_timeout}', true), \
             set_config('lock_timeout', '{lock_timeout}', true), \
             set_config('idle_in_transaction_session_timeout', '10s', true){shared}"
        )
    }
}

/// Runs the same query on either engine: `run!(conn, fetch_optional Row, SQL, bind, bind)`. It has a span with the name
/// of the statement and the number of its rows.
macro_rules! run {
    ($conn:expr, execute, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::engine::spanned!($sql, execute, match $conn {
            $crate::engine::Conn::Sqlite(c) => c.execute($sql, &[$(&$bind as &dyn rusqlite::ToSql),*]),
            $crate::engine::Conn::Postgres(c) => sqlx::query($sql)$(.bind($bind))*.execute(&mut **c).await.map(|done| done.rows_affected()),
        })
    };
    ($conn:expr, $fetch:ident $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::engine::spanned!($sql, $fetch, match $conn {
            $crate::engine::Conn::Sqlite(c) => c.$fetch::<$row>($sql, &[$(&$bind as &dyn rusqlite::ToSql),*]),
            $crate::engine::Conn::Postgres(c) => sqlx::query_as::<_, $row>($sql)$(.bind($bind))*.$fetch(&mut **c).await,
        })
    };
}
pub(crate) use run;

/// Evaluates `$run` inside a span with the name of its statement. `$how` is what the result counts as: `execute`,
/// `fetch_all`, `fetch_optional` or `fetch_one`.
macro_rules! spanned {
    ($sql:expr, $how:ident, $run:expr) => {{
        let span = $crate::engine::statement_span(concat!(module_path!(), "::", stringify!($sql)));
        let ran = $run;
        $crate::engine::record_rows(&span, ran.as_ref().map(|done| $crate::engine::rows_of!($how, done)));
        ran
    }};
}
pub(crate) use spanned;

/// The number of rows of a result.
macro_rules! rows_of {
    (execute, $done:expr) => {
        *$done
    };
    (fetch_all, $done:expr) => {
        $done.len() as u64
    };
    (fetch_optional, $done:expr) => {
        u64::from($done.is_some())
    };
    (fetch_one, $done:expr) => {{
        let _one = $done;
        1
    }};
}
pub(crate) use rows_of;
