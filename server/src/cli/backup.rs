//! `shiftbook backup FILE`: copies an SQLite database.

use super::common::{Failure, open, print_line};
use crate::{
    backups::ratings_of,
    config::{self, Database, DatabaseFlags, ServeFlags},
};
use ledger::Mode;
use std::path::PathBuf;

/// Options of `backup`.
#[derive(Debug, clap::Args)]
pub struct BackupArgs {
    /// File to write; it must not exist
    file: PathBuf,
    #[command(flatten)]
    database: DatabaseFlags,
}

/// Writes a consistent copy. The server may run meanwhile. If the ratings cannot be copied, the copy of the log stays:
/// the log is complete without them, and a damaged file of ratings does not prevent its backup.
pub async fn run(args: BackupArgs) -> Result<(), Failure> {
    let settings = config::load(args.database, ServeFlags::default())?;
    if let Database::Postgres { .. } = settings.database {
        return Err(Failure::Misused("on PostgreSQL, back up with pg_dump: it takes a consistent copy online".into()));
    }
    if args.file.exists() {
        return Err(Failure::Misused(format!("{} exists; a backup does not overwrite files", args.file.display())));
    }
    // The ratings are a database of their own.
    let ratings = ratings_of(&args.file);
    if ratings.exists() {
        return Err(Failure::Misused(format!("{} exists; a backup does not overwrite files", ratings.display())));
    }
    let ledger = open(&settings, Mode::Reader).await?;
    let copied = ledger::backup::backup(&ledger, &args.file).await;
    let rated = match copied {
        Ok(()) => ledger::backup::backup_feedback(&ledger, &ratings).await,
        Err(_) => Ok(false),
    };
    ledger.close().await;
    copied?;
    print_line(&format!("wrote the whole log to {}; check it with `shiftbook verify`", args.file.display()))?;
    match rated {
        Ok(true) => print_line(&format!("wrote the ratings to {}", ratings.display())),
        Ok(false) => Ok(()),
        Err(error) => Err(Failure::Failed(format!(
            "the ratings could not be copied: {error}; the copy of the log is complete. To copy both again, remove {} \
             or name another file",
            args.file.display()
        ))),
    }
}
