//! Compares the tables of a database with the migrations of this version.

use super::store::{Db, Store};
use crate::engine::{Error, Result, migration, statements};

/// Error texts of the engines for a database without our tables, and of SQLite for a file that is no
/// database.
const NO_DATABASE: [&str; 3] = ["no such table", "does not exist", "not a database"];

statements! {
    /// The newest migration that was applied. The server's role may not read it.
    const SCHEMA_VERSION: &str = "SELECT MAX(version) FROM _sqlx_migrations WHERE success";
}

impl Store {
    /// Refuses a database whose tables are those of another version.
    ///
    /// # Errors
    /// [`Error::Unusable`] for a file that is no database, an empty database, and one whose newest migration is not the
    /// newest of this version.
    pub async fn check_schema(&self) -> Result<()> {
        type Version = (Option<i64>,);
        let found = match &self.0.db {
            Db::Sqlite(readers) => {
                let mut connection = readers.take()?;
                let found = connection.fetch_one::<Version>(SCHEMA_VERSION, &[]);
                readers.release(connection);
                found
            }
            Db::Postgres(pool) => sqlx::query_as(SCHEMA_VERSION).fetch_one(pool).await,
        };
        let of = if self.is_postgres() { migration::postgres() } else { migration::sqlite() };
        let newest = of.iter().map(|migration| migration.version).max().unwrap_or_default();
        match found {
            Ok((Some(version),)) if version == newest => Ok(()),
            Ok((Some(version),)) if version < newest => Err(Error::Unusable(format!(
                "the database is at migration {version} and this version needs {newest}: start its server once, or use \
                 the version that wrote it"
            ))),
            Ok((Some(version),)) => Err(Error::Unusable(format!(
                "the database is at migration {version}, of a newer version; this one knows {newest}"
            ))),
            Ok((None,)) => Err(Error::Unusable("the database is empty: no migration was applied".into())),
            Err(error) => match Error::from(error) {
                // Anything else is damage, which is not the same as another file.
                Error::Database(text) if NO_DATABASE.iter().any(|words| text.contains(words)) => {
                    Err(Error::Unusable(format!("this is no database of Shiftbook: {text}")))
                }
                other => Err(other),
            },
        }
    }
}
