//! The pages /views: the list, one view, and its editor.

use super::names::{People, people_on};
use crate::{Ledger, ListPage, Listed, Result, ViewLinkRecord, ViewRecord, ViewVersionRecord, guard::require, view};
use domain::{Scope, Timestamp, id::TenantId, limit::GROUPS_MAX, role::Permission, view::Field};
use std::collections::HashMap;
use store::{Conn, ResponseCounts};

/// Number of views on a page.
const ROWS: u32 = 50;
/// Number of versions on a view's page.
const VERSIONS: u32 = 20;
/// Number of links on a view's page.
const LINKS: u32 = 50;
/// Most criteria sets and entity types that the editor offers.
const OFFERED: u32 = 200;

/// The page of one view.
#[derive(Debug)]
pub struct Page {
    /// The view with its working copy.
    pub view: ViewRecord,
    /// Its newest versions, newest first.
    pub versions: Vec<ViewVersionRecord>,
    /// Whether it has more versions.
    pub has_more_versions: bool,
    /// Everyone who may have written it.
    pub people: People,
    /// Its newest links, newest first, whether they work or not; empty for those who may not create links.
    pub links: Vec<ViewLinkRecord>,
    /// Time at which this was read (UTC).
    pub now: Timestamp,
    /// Questions of the working copy with the dimensions of their ratings, for the preview.
    pub preview: Vec<Field>,
}

/// What the editor shows and offers. Each choice is a slug and a name.
#[derive(Debug)]
pub struct Editor {
    /// The view; `None` for a new one.
    pub view: Option<ViewRecord>,
    /// Criteria sets for ratings, newest first.
    pub criteria_sets: Vec<(String, String)>,
    /// Entity types for references, newest first.
    pub entity_types: Vec<(String, String)>,
    /// Groups for the audience, by name.
    pub groups: Vec<(String, String)>,
}

/// Reads one page of the list, of the views that a search line finds: each with the numbers of its responses.
///
/// # Errors
/// [`crate::Error::Invalid`] for a bad line; [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list(
    ledger: &Ledger,
    scope: &Scope,
    line: Option<&str>,
    cursor: Option<String>,
) -> Result<Listed<(ViewRecord, ResponseCounts)>> {
    let listed = view::list_matching(ledger, scope, line, ListPage { limit: ROWS, cursor }).await?;
    let (tenant_id, ids) = (scope.tenant_id, listed.items.iter().map(|view| view.id).collect::<Vec<_>>());
    let counts =
        ledger.store().read(scope.into(), async move |conn| store::response::counts(conn, tenant_id, &ids).await);
    let counts: HashMap<_, _> = counts.await?.into_iter().collect();
    let items = listed.items.into_iter().map(|view| {
        let of_view = counts.get(&view.id).copied().unwrap_or_default();
        (view, of_view)
    });
    Ok(Listed { items: items.collect(), next_cursor: listed.next_cursor })
}

/// Reads the page of the view with this slug.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no view with this slug.
pub async fn read(ledger: &Ledger, scope: &Scope, slug: String) -> Result<Page> {
    require(scope, Permission::Read)?;
    let (tenant_id, now, manages) = (scope.tenant_id, ledger.now(), scope.may(Permission::ManageViews));
    let read = ledger.snapshot(scope, async move |conn| {
        let view = view::get_by_slug_on(conn, tenant_id, &slug).await?;
        let links = match manages {
            true => store::view_link::newest_of_view(conn, (tenant_id, view.id), LINKS).await?,
            false => Vec::new(),
        };
        let preview = view::with_dimensions(conn, tenant_id, view.fields.clone()).await?;
        let listed = view::versions_on(conn, tenant_id, view.id, None, VERSIONS).await?;
        let people = people_on(conn, tenant_id).await?;
        let has_more_versions = listed.next_cursor.is_some();
        Ok(Page { view, has_more_versions, versions: listed.items, people, links, now, preview })
    });
    read.await
}

/// Returns questions with the dimensions of their ratings, for the preview beside the editor.
///
/// # Errors
/// [`crate::Error::Forbidden`] for everyone who may not change views.
pub async fn preview(ledger: &Ledger, scope: &Scope, fields: Vec<Field>) -> Result<Vec<Field>> {
    require(scope, Permission::ManageViews)?;
    if !fields.iter().any(|field| field.kind.dimensions().is_some()) {
        return Ok(fields);
    }
    let tenant_id = scope.tenant_id;
    ledger.snapshot(scope, async move |conn| view::with_dimensions(conn, tenant_id, fields).await).await
}

/// Reads the editor of the view with this slug, or of a new one.
///
/// # Errors
/// [`crate::Error::Forbidden`] for everyone who may not change views; [`crate::Error::NotFound`] if the workspace has
/// no view with this slug.
pub async fn editor(ledger: &Ledger, scope: &Scope, slug: Option<String>) -> Result<Editor> {
    require(scope, Permission::ManageViews)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.snapshot(scope, async move |conn| {
        let view = match slug {
            Some(slug) => Some(view::get_by_slug_on(conn, tenant_id, &slug).await?),
            None => None,
        };
        offered(conn, tenant_id, view).await
    });
    read.await
}

async fn offered(conn: &mut Conn<'_>, tenant_id: TenantId, view: Option<ViewRecord>) -> Result<Editor> {
    let sets = store::criteria_set::list(conn, tenant_id, None, OFFERED).await?;
    let types = store::entity_type::list(conn, tenant_id, None, OFFERED).await?;
    let groups = store::group::list(conn, tenant_id, GROUPS_MAX).await?;
    Ok(Editor {
        view,
        criteria_sets: sets.items.into_iter().map(|set| (set.slug, set.name)).collect(),
        entity_types: types.items.into_iter().map(|of| (of.slug, of.name)).collect(),
        groups: groups.into_iter().map(|group| (group.slug, group.name)).collect(),
    })
}
