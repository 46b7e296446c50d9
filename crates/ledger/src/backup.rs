//! An online copy of the data.

use crate::{Ledger, Result};
use std::path::Path;

/// Writes a consistent copy of the SQLite database to `target`, which must not exist, while the server works.
pub async fn backup(ledger: &Ledger, target: &Path) -> Result<()> {
    Ok(ledger.store().backup(target).await?)
}

/// Writes a copy of the file of ratings to `target`, which must not exist; whether there is such a file.
pub async fn backup_feedback(ledger: &Ledger, target: &Path) -> Result<bool> {
    Ok(ledger.store().backup_feedback(target).await?)
}
