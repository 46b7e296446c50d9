//! The quick find: searches names and titles, questions and memory.

use super::chat::partners;
use crate::{
    ActionRecord, EntityRecord, Ledger, Result,
    action::{self, ListActions},
    entity::{self, ListEntities},
    guard::require,
    search::{FoundRecord, records_while_typing},
    session::{self, ListSessions},
};
use domain::{Scope, action::ActionStatus, role::Permission, search::Kind, session::Session};
use store::tool::FoundTool;

/// What the palette found, by kind, at most a few of each.
#[derive(Debug)]
pub struct SearchResults {
    /// Active actions whose name matches.
    pub actions: Vec<ActionRecord>,
    /// Entities whose title matches, of the newest [`ENTITIES_LOOKED_MAX`](domain::limit::ENTITIES_LOOKED_MAX).
    pub entities: Vec<EntityRecord>,
    /// Sessions whose title matches, of the newest [`SESSIONS_LOOKED_MAX`](domain::limit::SESSIONS_LOOKED_MAX).
    pub sessions: Vec<Session>,
    /// Published tools whose name or slug matches, of the newest [`TOOLS_LOOKED_MAX`](domain::limit::TOOLS_LOOKED_MAX).
    pub tools: Vec<FoundTool>,
    /// Questions of agents that have the words.
    pub questions: Vec<FoundRecord>,
    /// Memory documents that have the words.
    pub documents: Vec<FoundRecord>,
    /// Active actions, whatever their name. The caller can start conversations with their agents.
    pub partners: Vec<ActionRecord>,
}

/// Returns objects whose name or title contains this text, newest first, and questions and memory with its words, best
/// first; at most `limit` of each kind.
///
/// # Errors
/// [`crate::Error::Invalid`] for a text that is too long or a `limit` above 1,000.
pub async fn read(ledger: &Ledger, scope: &Scope, text: &str, limit: u32) -> Result<SearchResults> {
    require(scope, Permission::Read)?;
    let (reader, text, contains) = (*scope, text.to_owned(), Some(text.to_owned()));
    let actions = ListActions {
        status: Some(ActionStatus::Active),
        name_contains: contains.clone(),
        limit,
        ..ListActions::default()
    };
    let actions = action::ListQuery::of(scope, actions)?;
    let entities = ListEntities { title_contains: contains.clone(), limit, ..ListEntities::default() };
    let entities = entity::ListQuery::of(entities)?;
    let sessions = ListSessions { title_contains: contains, limit, ..ListSessions::default() };
    let sessions = session::ListQuery::of(scope, sessions, ledger.now())?;
    let known = partners(scope)?;
    let read = ledger.snapshot(scope, async move |conn| {
        let (tenant_id, most) = (reader.tenant_id, limit as usize);
        Ok(SearchResults {
            actions: action::list_on(conn, &reader, actions).await?.items,
            entities: entity::list_on(conn, &reader, entities).await?.items,
            sessions: session::list_on(conn, &reader, sessions).await?.items,
            tools: store::tool::find_published(conn, tenant_id, &text, limit).await?,
            questions: records_while_typing(conn, tenant_id, &text, Kind::Question, most).await?,
            documents: records_while_typing(conn, tenant_id, &text, Kind::Memory, most).await?,
            partners: action::list_on(conn, &reader, known).await?.items,
        })
    });
    read.await
}
