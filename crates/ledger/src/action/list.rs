//! The actions of a workspace.

use crate::{
    ActionRecord, Error, Ledger, Listed, Result,
    cursor::{List, decode, encode, page_size},
    guard::{Fields, require},
};
use domain::{
    Scope,
    action::ActionStatus,
    id::{ActionId, EntityId, UserId},
    limit::NAME_CHARS_MAX,
    role::Permission,
};
use store::{Conn, action::Filter};

/// Whose tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assignee {
    /// The caller's, or those of the person for whom a token speaks.
    Me,
    /// This person's.
    User(UserId),
}

/// Which actions.
#[derive(Debug, Clone, Default)]
pub struct ListActions {
    /// Only these.
    pub status: Option<ActionStatus>,
    /// Only tasks of this person.
    pub assigned_to: Option<Assignee>,
    /// Only names that contain this, whatever the case.
    pub name_contains: Option<String>,
    /// Only those about this entity.
    pub target_entity_id: Option<EntityId>,
    /// 1 to 1,000; 0 for the default.
    pub limit: u32,
    /// From the page before.
    pub cursor: Option<String>,
}

/// A list that was asked for, with what its filter and cursor mean to its caller.
pub(crate) struct ListQuery {
    filter: Filter,
    before: Option<ActionId>,
    limit: u32,
}

impl ListQuery {
    /// What the caller asks for.
    ///
    /// # Errors
    /// [`Error::Invalid`] or [`Error::InvalidCursor`] for what no list has.
    pub(crate) fn of(scope: &Scope, query: ListActions) -> Result<Self> {
        let mut fields = Fields::default();
        fields.text("q", query.name_contains.as_deref(), NAME_CHARS_MAX);
        fields.check()?;
        let assigned_to = match query.assigned_to {
            None => None,
            Some(Assignee::User(id)) => Some(id),
            Some(Assignee::Me) => Some(scope.acting_user().ok_or_else(|| {
                Error::invalid("assignedTo", "this token belongs to no person, so it has no tasks; give a user id")
            })?),
        };
        let filter = Filter {
            status: query.status,
            assigned_to,
            target_entity_id: query.target_entity_id,
            name_contains: query.name_contains.filter(|text| !text.is_empty()),
        };
        let limit = page_size(query.limit)?;
        let before = query.cursor.as_deref().map(|cursor| decode(List::Actions, cursor)).transpose()?.map(ActionId);
        Ok(Self { filter, before, limit })
    }
}

/// One page, newest first.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListActions) -> Result<Listed<ActionRecord>> {
    require(scope, Permission::Read)?;
    let (reader, asked) = (*scope, ListQuery::of(scope, query)?);
    ledger.snapshot(scope, move |conn| Box::pin(async move { list_on(conn, &reader, asked).await })).await
}

/// [`list`] on an open connection.
pub(crate) async fn list_on(conn: &mut Conn<'_>, scope: &Scope, asked: ListQuery) -> Result<Listed<ActionRecord>> {
    let ListQuery { filter, before, limit } = asked;
    let page = store::action::list(conn, scope.tenant_id, &filter, before, limit).await?;
    let next_cursor = page.items.last().filter(|_| page.has_more).map(|last| encode(List::Actions, last.id.0));
    Ok(Listed { items: page.items, next_cursor })
}
