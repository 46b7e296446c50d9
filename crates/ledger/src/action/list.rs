//! The actions of a workspace.

use crate::{
    ActionRecord, Error, Ledger, Listed, Result,
    cursor::{List, decode, encode, page_size},
    guard::{Fields, require},
    list_line::{among, contains, list_line, words},
};
use domain::{
    Scope,
    action::ActionStatus,
    id::{ActionId, EntityId, UserId},
    limit::NAME_CHARS_MAX,
    role::Permission,
    search::{Condition, Field, Test},
};
use store::{
    Conn,
    action::Filter,
    session::{Among, Contains},
};

/// Filter by the person to whom a task is assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assignee {
    /// The caller. For a token that acts for a person: that person.
    Me,
    /// The person with this id.
    User(UserId),
}

/// Filter and page of a list of actions.
#[derive(Debug, Clone, Default)]
pub struct ListActions {
    /// Only actions of this status.
    pub status: Option<ActionStatus>,
    /// Only tasks assigned to this person.
    pub assigned_to: Option<Assignee>,
    /// Only actions whose name contains this text. Case is ignored.
    pub name_contains: Option<String>,
    /// Only actions that have each word in the name or the description, with `agent:` and `title:`, a part of the name.
    /// See [`Line`](domain::search::Line).
    pub line: Option<String>,
    /// Only actions about this entity.
    pub target_entity_id: Option<EntityId>,
    /// Page size: 1 to 1,000, or 0 for the default.
    pub limit: u32,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// A checked [`ListActions`]: the cursor is decoded and [`Assignee::Me`] is resolved.
pub(crate) struct ListQuery {
    filter: Filter,
    before: Option<ActionId>,
    limit: u32,
}

impl ListQuery {
    /// Checks and resolves the query of a caller.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a wrong filter or limit, [`Error::InvalidCursor`] for a cursor of another list.
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
        let Matching { names, texts, agents } = matching(query.line.as_deref())?;
        let filter = Filter {
            names,
            texts,
            agents,
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

/// What a search line asks for of actions.
struct Matching {
    /// Parts of names.
    names: Contains,
    /// Parts of names and descriptions.
    texts: Contains,
    /// Slugs of agents.
    agents: Among,
}

fn matching(line: Option<&str>) -> Result<Matching> {
    let line = list_line(line, &Field::OF_TASKS)?;
    let (mut names, texts, mut agents) = (Contains::default(), words(&line), Among::default());
    for Condition { is_excluded, test } in line.conditions {
        match test {
            Test::Agent(slugs) => among(&mut agents, is_excluded, slugs),
            Test::Title(parts) => contains(&mut names, is_excluded, &parts),
            // The line has no other fields.
            _ => {}
        }
    }
    Ok(Matching { names, texts, agents })
}

/// Returns one page of actions, newest first.
///
/// # Errors
/// [`Error::Invalid`] for a text that is too long, a bad line, a limit above 1,000, or [`Assignee::Me`] from a token
/// that acts for no person; [`Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListActions) -> Result<Listed<ActionRecord>> {
    require(scope, Permission::Read)?;
    let (reader, query) = (*scope, ListQuery::of(scope, query)?);
    ledger.snapshot(scope, async move |conn| list_on(conn, &reader, query).await).await
}

/// [`list`] on an open connection.
pub(crate) async fn list_on(conn: &mut Conn<'_>, scope: &Scope, query: ListQuery) -> Result<Listed<ActionRecord>> {
    let ListQuery { filter, before, limit } = query;
    let page = store::action::list(conn, scope.tenant_id, &filter, before, limit).await?;
    Ok(Listed::of(page, |last| encode(List::Actions, last.id.0)))
}
