//! Listing the memories of a session.

use crate::{
    Error, Ledger, ListPage, Listed, Result,
    cursor::{List, decode_at, encode_at, page_size},
    guard::require,
    visibility::require_visible_or_claimed,
};
use domain::{
    Scope,
    event::{
        Body, Known,
        kind::{Context, ContextInjected},
    },
    id::SessionId,
    memory_writer::block::items,
    role::Permission,
    session::Session,
};
use std::collections::HashMap;
use store::{Conn, relevance::SessionMemoryRecord};
use uuid::Uuid;

/// Most blocks that are read for the texts of one page.
const BLOCKS_READ_MAX: u32 = 50;

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
    let caller = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let session = store::session::find(conn, caller.tenant_id, id).await?;
        let session = require_visible_or_claimed(conn, &caller, session).await?;
        list_on(conn, &session, &page).await
    });
    read.await
}

/// Returns one page of the memories of a session that the caller can see.
pub(crate) async fn list_on(
    conn: &mut Conn<'_>,
    session: &Session,
    page: &ListPage,
) -> Result<Listed<SessionMemoryRecord>> {
    let before = page.cursor.as_deref().map(place).transpose()?;
    let limit = page_size(page.limit)?;
    let found = store::relevance::list(conn, session.tenant_id, session.id, before, limit).await?;
    Ok(Listed::of(found, |last| {
        encode_at(List::SessionMemories, last.turn.cast_signed(), Uuid::from_u128(last.rank.into()))
    }))
}

/// Returns the texts of these memories by the sequence of their prompt and their id, as far as the blocks of the newest
/// prompts among them have them.
pub(crate) async fn texts_on(
    conn: &mut Conn<'_>,
    session: &Session,
    memories: &[SessionMemoryRecord],
) -> Result<HashMap<(u64, String), String>> {
    let Some(newest) = memories.iter().map(|one| one.turn).max() else { return Ok(HashMap::new()) };
    let kinds = [Known::SessionContextInjected.as_str().to_owned()];
    let (tenant_id, id) = (session.tenant_id, session.id);
    let found = store::event::before(conn, tenant_id, id, newest + 1, &kinds, BLOCKS_READ_MAX).await?;
    let mut texts = HashMap::new();
    for event in found.items {
        if let Body::SessionContextInjected(ContextInjected { text, context: Context::Memory { .. } }) = event.body() {
            texts.extend(items(&text).into_iter().map(|(id, text)| ((event.sequence, id), text)));
        }
    }
    Ok(texts)
}

/// The prompt and the rank in a cursor.
fn place(cursor: &str) -> Result<(u64, u32)> {
    let (turn, rank) = decode_at(List::SessionMemories, cursor)?;
    let rank = u32::try_from(rank.as_u128()).map_err(|_| Error::InvalidCursor)?;
    Ok((turn.cast_unsigned(), rank))
}
