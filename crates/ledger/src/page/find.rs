//! The quick find: what is called like something.

use super::chat::partners;
use crate::{
    ActionRecord, EntityRecord, Ledger, Result, SessionRecord,
    action::{self, ListActions},
    entity::{self, ListEntities},
    guard::require,
    session::{self, ListSessions},
};
use domain::{Scope, action::ActionStatus, role::Permission};

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// Active actions.
    pub actions: Vec<ActionRecord>,
    /// Entities.
    pub entities: Vec<EntityRecord>,
    /// Sessions.
    pub sessions: Vec<SessionRecord>,
    /// Active actions whatever they are called: their agents can be talked with.
    pub partners: Vec<ActionRecord>,
}

/// What has this text in its name or title, newest first, at most `limit` of each.
pub async fn read(ledger: &Ledger, scope: &Scope, text: &str, limit: u32) -> Result<Found> {
    require(scope, Permission::Read)?;
    let (reader, contains) = (*scope, Some(text.to_owned()));
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
    let sessions = session::ListQuery::of(scope, sessions)?;
    let known = partners(scope)?;
    let read = ledger.snapshot(scope, move |conn| {
        Box::pin(async move {
            Ok(Found {
                actions: action::list_on(conn, &reader, actions).await?.items,
                entities: entity::list_on(conn, &reader, entities).await?.items,
                sessions: session::list_on(conn, &reader, sessions).await?.items,
                partners: action::list_on(conn, &reader, known).await?.items,
            })
        })
    });
    read.await
}
