//! Errors of the storage.

use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicBool, Ordering},
};

/// The result of a storage operation.
pub type Result<T> = std::result::Result<T, Error>;

/// A storage error. Its text is for logs and operators, never for callers of the API.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The database cannot be reached, is full, or the writer is stopping. The caller may try again later.
    #[error("{0}")]
    Unavailable(String),
    /// A stored row contradicts itself or holds an unknown value.
    #[error("inconsistent row: {0}")]
    Inconsistent(String),
    /// There is no database, or this version cannot read it.
    #[error("{0}")]
    Unusable(String),
    /// A text with a NUL character, which PostgreSQL rejects. SQLite accepts it.
    #[error("{0}")]
    NulInText(String),
    /// Any other database error.
    #[error("{0}")]
    Database(String),
}

impl Error {
    /// The error for a row whose `column` holds an invalid value.
    pub fn inconsistent(table: &str, column: &str, value: impl std::fmt::Debug) -> Self {
        Self::Inconsistent(format!("{table}.{column} is {value:?}"))
    }

    /// Whether the database refused a value or a row, so that the same write fails again while others succeed.
    pub(crate) fn is_of_item(&self) -> bool {
        match self {
            Self::Inconsistent(_) | Self::NulInText(_) | Self::Database(_) => true,
            Self::Unavailable(_) | Self::Unusable(_) => false,
        }
    }
}

/// PostgreSQL's code `character_not_in_repertoire`. Strings in Rust are UTF-8, so the character can only be
/// NUL.
const NUL_IN_TEXT: &str = "22021";

/// PostgreSQL's codes `lock_not_available`, which the lock timeout has, and `deadlock_detected`.
const NO_LOCK: [&str; 2] = ["55P03", "40P01"];

/// PostgreSQL's code `serialization_failure`.
const SERIALIZATION_FAILURE: &str = "40001";

/// PostgreSQL's code `disk_full`.
const DISK_FULL: &str = "53100";

/// Set when PostgreSQL reports a full disk. Every error of every connection passes the conversion below, which knows
/// no store. A process uses one database, so the process has one flag.
static POSTGRES_FULL: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The flag that is set when PostgreSQL reports a full disk. The reader of the flag clears it.
pub(crate) fn postgres_full() -> Arc<AtomicBool> {
    Arc::clone(&POSTGRES_FULL)
}

/// PostgreSQL's codes for a statement that was prepared under a name, and is unknown or known already on this
/// connection: `invalid_sql_statement_name` and `duplicate_prepared_statement`.
const PREPARED_ELSEWHERE: [&str; 2] = ["26000", "42P05"];
/// How PostgreSQL refuses values for the parameters of a statement that another client prepared under the same name.
const BOUND_TO_ANOTHER: &str = "bind message supplies";
/// How PgBouncer refuses settings that a client sends with its first message.
const STARTUP_REFUSED: &str = "unsupported startup parameter";
/// What an operator who runs a connection pooler can do.
const POOLER_ADVICE: &str = "connect to PostgreSQL directly, or set pool_mode = session, or use PgBouncer 1.21 or \
     newer with max_prepared_statements above 0";

/// Adds to an error that a connection pooler causes what it is and what helps. `None` if no pooler causes it.
fn of_pooler(code: &str, text: &str) -> Option<String> {
    if text.contains(STARTUP_REFUSED) {
        return Some(format!(
            "{text}: PgBouncer refuses a parameter that Shiftbook connects with; set ignore_startup_parameters = \
             extra_float_digits. Shiftbook needs prepared statements too, which PgBouncer before 1.21 does not have in \
             transaction mode: {POOLER_ADVICE}"
        ));
    }
    (PREPARED_ELSEWHERE.contains(&code) || text.contains(BOUND_TO_ANOTHER)).then(|| {
        format!(
            "{text}: a connection pooler in transaction mode, such as PgBouncer before 1.21, gives this connection \
             statements that another one prepared; {POOLER_ADVICE}"
        )
    })
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        Self::from(&error)
    }
}

impl From<&sqlx::Error> for Error {
    fn from(error: &sqlx::Error) -> Self {
        let text = error.to_string();
        match error {
            sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed | sqlx::Error::Io(_) => {
                Self::Unavailable(text)
            }
            sqlx::Error::Database(db) => {
                let sqlite = db.try_downcast_ref::<SqliteFailure>().is_some_and(SqliteFailure::is_busy_or_full);
                // PostgreSQL: connection, resources, operator, statement timeouts, and locks of other transactions.
                let code = db.code().unwrap_or_default();
                if let Some(text) = of_pooler(&code, &text) {
                    return Self::Unavailable(text);
                }
                let postgres = code.len() == 5
                    && (["08", "53", "57"].iter().any(|class| code.starts_with(class))
                        || NO_LOCK.contains(&&*code)
                        || code == SERIALIZATION_FAILURE
                        || code == "25P03");
                if code == DISK_FULL {
                    POSTGRES_FULL.store(true, Ordering::Relaxed);
                    Self::Unavailable(format!("PostgreSQL's disk is full: make room on it ({text})"))
                } else if sqlite || postgres {
                    Self::Unavailable(text)
                } else if code == NUL_IN_TEXT {
                    Self::NulInText(text)
                } else {
                    Self::Database(text)
                }
            }
            // What `record!` could not make of a row.
            sqlx::Error::Decode(source) => source.downcast_ref().cloned().unwrap_or(Self::Database(text)),
            _ => Self::Database(text),
        }
    }
}

/// An error of SQLite in the form of an sqlx error, so that callers handle one error type for both engines.
#[derive(Debug)]
pub(crate) struct SqliteFailure {
    text: String,
    code: Option<rusqlite::ffi::Error>,
}

impl SqliteFailure {
    pub(crate) fn into_sqlx(error: rusqlite::Error) -> sqlx::Error {
        let error = match error {
            rusqlite::Error::FromSqlConversionFailure(_, _, source) if source.is::<Error>() => {
                return sqlx::Error::Decode(source);
            }
            other => other,
        };
        let code = error.sqlite_error().copied();
        sqlx::Error::Database(Box::new(Self { text: error.to_string(), code }))
    }

    /// SQLite's class of an error; `None` for an error of something else.
    pub(crate) fn class_of(error: &sqlx::Error) -> Option<rusqlite::ErrorCode> {
        let sqlx::Error::Database(error) = error else { return None };
        error.try_downcast_ref::<Self>()?.code.map(|code| code.code)
    }

    fn is_busy_or_full(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
        let is_busy = self.code.is_some_and(|error| matches!(error.code, DatabaseBusy | DatabaseLocked));
        is_busy || is_full(self.code.as_ref())
    }
}

/// Whether SQLite found no space for the database, its write-ahead log, or the index of that log.
pub(crate) fn is_full(error: Option<&rusqlite::ffi::Error>) -> bool {
    use rusqlite::{ErrorCode, ffi::SQLITE_IOERR_SHMSIZE};
    error.is_some_and(|error| error.code == ErrorCode::DiskFull || error.extended_code == SQLITE_IOERR_SHMSIZE)
}

impl std::fmt::Display for SqliteFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for SqliteFailure {}

impl sqlx::error::DatabaseError for SqliteFailure {
    fn message(&self) -> &str {
        &self.text
    }

    fn kind(&self) -> sqlx::error::ErrorKind {
        use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
        match self.code.map(|error| error.extended_code) {
            Some(SQLITE_CONSTRAINT_UNIQUE | SQLITE_CONSTRAINT_PRIMARYKEY) => sqlx::error::ErrorKind::UniqueViolation,
            _ => sqlx::error::ErrorKind::Other,
        }
    }

    fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
        self
    }
}

/// Whether a database error says that a unique index refused the row.
pub(crate) fn is_unique_violation(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}

/// Whether a row was written; `false` if a unique index refused it.
pub(crate) fn is_free(written: std::result::Result<u64, sqlx::Error>) -> Result<bool> {
    match written {
        Ok(_) => Ok(true),
        Err(error) if is_unique_violation(&error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether a constraint of the database refused a row. Only PostgreSQL says so of every constraint.
pub(crate) fn is_constraint_violation(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| !matches!(error.kind(), sqlx::error::ErrorKind::Other))
}

/// Whether PostgreSQL gave no lock: it reached the lock timeout, or ended a deadlock with this transaction.
pub(crate) fn is_lock_failure(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| NO_LOCK.contains(&&*code))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An error of PostgreSQL with this code.
    #[derive(Debug)]
    pub(crate) struct Coded(pub(crate) &'static str);

    impl std::fmt::Display for Coded {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "code {}", self.0)
        }
    }

    impl std::error::Error for Coded {}

    impl sqlx::error::DatabaseError for Coded {
        fn message(&self) -> &str {
            self.0
        }

        fn code(&self) -> Option<std::borrow::Cow<'_, str>> {
            Some(self.0.into())
        }

        fn kind(&self) -> sqlx::error::ErrorKind {
            sqlx::error::ErrorKind::Other
        }

        fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
            self
        }

        fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
            self
        }

        fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
            self
        }
    }

    #[test]
    fn of_postgres_errors_only_a_full_disk_sets_the_flag() {
        let full = postgres_full();
        for other in ["53000", "53200", "53300", "53400", "57014", "42P01"] {
            let _ = Error::from(sqlx::Error::Database(Box::new(Coded(other))));
            assert!(!full.load(Ordering::Relaxed), "{other}");
        }
        let error = Error::from(sqlx::Error::Database(Box::new(Coded(DISK_FULL))));
        assert!(full.load(Ordering::Relaxed));
        let Error::Unavailable(text) = error else { panic!("{error:?}") };
        assert!(text.starts_with("PostgreSQL's disk is full: make room on it ("), "{text}");
    }

    #[test]
    fn a_write_that_was_rolled_back_because_of_another_one_can_be_tried_again() {
        for (code, is_lock) in [("40P01", true), ("55P03", true), ("40001", false), ("57014", false)] {
            let error = sqlx::Error::Database(Box::new(Coded(code)));
            assert!(matches!(Error::from(&error), Error::Unavailable(_)), "{code}");
            assert_eq!(is_lock_failure(&error), is_lock, "{code}");
        }
        for code in ["23505", "23514", "22003"] {
            let error = sqlx::Error::Database(Box::new(Coded(code)));
            assert!(matches!(Error::from(&error), Error::Database(_)) && !is_lock_failure(&error), "{code}");
        }
    }

    #[test]
    fn an_error_that_a_pooler_causes_says_which_version_and_settings_help() {
        for code in PREPARED_ELSEWHERE {
            let error = Error::from(sqlx::Error::Database(Box::new(Coded(code))));
            let Error::Unavailable(text) = error else { panic!("{error:?}") };
            assert!(text.contains("PgBouncer before 1.21") && text.contains("max_prepared_statements"), "{text}");
        }
        let other = "bind message supplies 0 parameters, but prepared statement \"sqlx_s_1\" requires 2";
        assert!(of_pooler("08P01", other).is_some_and(|text| text.contains("pool_mode = session")));
        let startup = of_pooler("08P01", "unsupported startup parameter: extra_float_digits");
        assert!(startup.is_some_and(|text| text.contains("ignore_startup_parameters = extra_float_digits")));
        assert_eq!(of_pooler("42P01", "no such table"), None);
    }
}
