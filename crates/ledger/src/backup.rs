//! Copies of the data while the server runs.

use crate::{Ledger, Result};
use std::path::Path;

/// Writes a consistent copy of the SQLite database to `target` while the server runs. `target` must not exist.
///
/// # Errors
/// [`crate::Error::Unavailable`] if `target` exists or cannot be written, if a server began to write while a stopped
/// server's database was copied, and always on PostgreSQL, which `pg_dump` copies.
pub async fn backup(ledger: &Ledger, target: &Path) -> Result<()> {
    Ok(ledger.store().backup(target).await?)
}

/// Writes a copy of the ratings file to `target`, which must not exist. Returns `false` if there is no ratings
/// file.
///
/// # Errors
/// [`crate::Error::Unavailable`] if `target` exists or cannot be written, or if a server began to write during the
/// copy.
pub async fn backup_feedback(ledger: &Ledger, target: &Path) -> Result<bool> {
    Ok(ledger.store().backup_feedback(target).await?)
}
