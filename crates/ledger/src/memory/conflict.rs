//! Reads both sides of a write that was based on an older version than the newest.

pub use crate::conflict::{Conflict, Side};

use domain::id::TenantId;
use store::{MemoryDocumentRecord, MemoryVersionText, Result, WriteTx};

fn side(newest: MemoryVersionText, is_deleted: bool) -> Side {
    Side {
        version: newest.version.version,
        digest: newest.version.digest,
        text: newest.document.to_text(),
        is_deleted,
        source: newest.version.source,
        author: newest.version.author,
        at: newest.version.created_at,
    }
}

/// Reads both sides of a refused write. `found` is the document, if there is one.
pub(super) async fn conflict(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    path: &str,
    found: Option<&MemoryDocumentRecord>,
    given: u64,
    wanted: String,
) -> Result<Conflict> {
    let (mut base, mut current) = (None, None);
    if let Some(found) = found {
        let newest = store::memory::text(tx.conn(), tenant_id, found.id, found.version).await?;
        current = newest.map(|newest| side(newest, found.is_deleted));
        let read = store::memory::text(tx.conn(), tenant_id, found.id, given).await?;
        base = read.filter(|read| read.version.erased_at.is_none()).map(|read| read.document.to_text());
    }
    Ok(Conflict { path: path.to_owned(), given, base, current, wanted })
}
