//! The entities of a workspace.

use crate::{
    EntityRecord, Ledger, Listed, Result,
    cursor::{List, decode, page_size},
    guard::{Fields, require},
    list_line::titled,
};
use domain::{
    Scope,
    id::{EntityId, EntityTypeId},
    limit::{ENTITIES_LOOKED_MAX, TITLE_CHARS_MAX},
    role::Permission,
    search::Field,
};
use store::{Conn, entity::Filter, session::Contains};

/// Filter and page of a list of entities.
#[derive(Debug, Clone, Default)]
pub struct ListEntities {
    /// Only entities of this type.
    pub type_id: Option<EntityTypeId>,
    /// Only entities whose title contains this text. Case is ignored. A page compares the titles of at most
    /// [`ENTITIES_LOOKED_MAX`] entities. Therefore it can hold few entities or none and still have a next page.
    pub title_contains: Option<String>,
    /// Only entities that have each word in the title or the values, with `title:`, which is a part of the title. See
    /// [`Line`](domain::search::Line). A page compares at most [`ENTITIES_LOOKED_MAX`] entities too.
    pub line: Option<String>,
    /// Page size: 1 to 1,000, or 0 for the default.
    pub limit: u32,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// A checked [`ListEntities`] with a decoded cursor.
pub(crate) struct ListQuery {
    filter: Filter,
    before: Option<EntityId>,
    limit: u32,
}

impl ListQuery {
    /// Checks the query and decodes its cursor.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for a wrong filter or limit, [`crate::Error::InvalidCursor`] for a cursor of
    /// another list.
    pub(crate) fn of(query: ListEntities) -> Result<Self> {
        let mut fields = Fields::default();
        fields.text("q", query.title_contains.as_deref(), TITLE_CHARS_MAX);
        fields.check()?;
        let before = query.cursor.as_deref().map(|cursor| decode(List::Entities, cursor)).transpose()?.map(EntityId);
        let title_contains = query.title_contains.filter(|text| !text.is_empty());
        let (titles, texts) = titled(query.line.as_deref(), &Field::OF_ENTITIES)?;
        let filter = Filter { type_id: query.type_id, title_contains, titles, texts, oldest: None };
        Ok(Self { filter, before, limit: page_size(query.limit)? })
    }

    /// Restricts the list to this type.
    pub(crate) fn of_type(self, type_id: Option<EntityTypeId>) -> Self {
        Self { filter: Filter { type_id, ..self.filter }, ..self }
    }
}

/// Returns one page of entities, newest first.
///
/// # Errors
/// [`crate::Error::Invalid`] for a text that is too long, a bad line or a limit above 1,000;
/// [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListEntities) -> Result<Listed<EntityRecord>> {
    require(scope, Permission::Read)?;
    let (reader, query) = (*scope, ListQuery::of(query)?);
    ledger.snapshot(scope, async move |conn| list_on(conn, &reader, query).await).await
}

/// [`list`] on an open connection.
pub(crate) async fn list_on(conn: &mut Conn<'_>, scope: &Scope, query: ListQuery) -> Result<Listed<EntityRecord>> {
    let ListQuery { filter, before, limit } = query;
    let is_searched =
        filter.title_contains.is_some() || filter.titles != Contains::default() || filter.texts != Contains::default();
    let looked = if is_searched {
        store::entity::last_looked(conn, scope.tenant_id, &filter, before, ENTITIES_LOOKED_MAX).await?
    } else {
        None
    };
    let filter = Filter { oldest: looked, ..filter };
    let page = store::entity::list(conn, scope.tenant_id, &filter, before, limit).await?;
    Ok(Listed::of_search(page, List::Entities, looked.map(|id| id.0), |entity| entity.id.0))
}
