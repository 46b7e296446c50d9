//! What can go wrong below the use cases.

/// The result of a storage operation.
pub type Result<T> = std::result::Result<T, Error>;

/// A storage error. None of these texts are for callers of the API.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database cannot be reached, is full, or the writer is stopping: try again later.
    #[error("{0}")]
    Unavailable(String),
    /// A stored row does not make sense.
    #[error("inconsistent row: {0}")]
    Inconsistent(String),
    /// Any other database error.
    #[error("{0}")]
    Database(String),
}

impl Error {
    /// A row that does not make sense.
    pub fn inconsistent(table: &str, column: &str, value: impl std::fmt::Debug) -> Self {
        Self::Inconsistent(format!("{table}.{column} is {value:?}"))
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        let text = error.to_string();
        match &error {
            sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed | sqlx::Error::Io(_) => {
                Self::Unavailable(text)
            }
            sqlx::Error::Database(db) => {
                // SQLite: 5 busy, 6 locked, 13 full. PostgreSQL: connection, resources, operator, lock and statement timeouts.
                let code = db.code().unwrap_or_default();
                let sqlite = code.parse::<i32>().is_ok_and(|c| matches!(c & 0xff, 5 | 6 | 13)) && code.len() <= 5;
                let postgres = code.len() == 5
                    && (["08", "53", "57"].iter().any(|class| code.starts_with(class))
                        || code == "55P03"
                        || code == "25P03");
                if (sqlite && db.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_some()) || postgres {
                    Self::Unavailable(text)
                } else {
                    Self::Database(text)
                }
            }
            _ => Self::Database(text),
        }
    }
}

/// Whether a database error says that a unique index refused the row.
pub(crate) fn is_unique_violation(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}
