//! Listing the memories of a session.

use crate::{
    Error, Ledger, ListPage, Listed, Result,
    cursor::{List, decode_at, encode_at, page_size},
    guard::require,
    visibility::require_visible_or_claimed,
};
use domain::{Scope, id::SessionId, role::Permission};
use store::relevance::SessionMemoryRecord;
use uuid::Uuid;

/// Returns one page of the memories that were considered for the prompts of a session, injected or not: the newest
/// prompt first, by rank.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session, or if the caller neither can see it nor claimed it last;
/// [`Error::InvalidCursor`].
pub async fn list(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    page: ListPage,
) -> Result<Listed<SessionMemoryRecord>> {
    require(scope, Permission::Read)?;
    let before = page.cursor.as_deref().map(place).transpose()?;
    let (limit, caller) = (page_size(page.limit)?, *scope);
    let read = ledger.snapshot(scope, async move |conn| {
        let session = store::session::find(conn, caller.tenant_id, id).await?;
        let session = require_visible_or_claimed(conn, &caller, session).await?;
        Ok(store::relevance::list(conn, caller.tenant_id, session.id, before, limit).await?)
    });
    Ok(Listed::of(read.await?, |last| {
        encode_at(List::SessionMemories, last.turn.cast_signed(), Uuid::from_u128(last.rank.into()))
    }))
}

/// The prompt and the rank in a cursor.
fn place(cursor: &str) -> Result<(u64, u32)> {
    let (turn, rank) = decode_at(List::SessionMemories, cursor)?;
    let rank = u32::try_from(rank.as_u128()).map_err(|_| Error::InvalidCursor)?;
    Ok((turn.cast_unsigned(), rank))
}
