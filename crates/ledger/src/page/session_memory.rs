//! The page about the memories that the prompts of a session had.

use crate::{
    Ledger, ListPage, Listed, Result,
    relevance::{self, SessionMemoryRecord},
    session,
};
use domain::{Scope, id::SessionId, session::Session};

/// Number of memories on a page.
const MEMORIES: u32 = 50;

/// Data of the page.
#[derive(Debug)]
pub struct Page {
    /// The session whose prompts had them.
    pub session: Session,
    /// The memories, each with its text if the agent was given it and the log still has it: the newest prompt first.
    pub listed: Listed<(SessionMemoryRecord, Option<String>)>,
    /// Whether the viewer may rate them.
    pub may_rate: bool,
}

/// Reads one page.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session or the viewer cannot see it;
/// [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn read(ledger: &Ledger, scope: &Scope, id: SessionId, cursor: Option<String>) -> Result<Page> {
    let reader = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let session = session::get_on(conn, &reader, id).await?;
        let page = ListPage { limit: MEMORIES, cursor };
        let Listed { items, next_cursor } = relevance::list_on(conn, &session, &page).await?;
        let mut texts = relevance::texts_on(conn, &session, &items).await?;
        let with_text = |one: SessionMemoryRecord| {
            let text = texts.remove(&(one.turn, one.memory_id.clone()));
            (one, text)
        };
        let items = items.into_iter().map(with_text).collect();
        let may_rate = relevance::may_rate(&reader, &session);
        Ok(Page { session, listed: Listed { items, next_cursor }, may_rate })
    });
    read.await
}
