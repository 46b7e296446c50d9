//! An online copy of the data.

use crate::{Ledger, Result};
use std::path::Path;

/// Writes a consistent copy of the SQLite database to `target`, which must not exist, while the server works.
pub async fn backup(ledger: &Ledger, target: &Path) -> Result<()> {
    Ok(ledger.store().backup(target).await?)
}
