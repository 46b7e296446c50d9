//! The pages /views: the list, one view, and its editor.

use super::names::{People, people_on};
use crate::{Error, Ledger, ListPage, Listed, Result, ViewRecord, ViewVersionRecord, guard::require, view};
use domain::{Scope, id::TenantId, limit::GROUPS_MAX, role::Permission};
use store::Conn;

/// Number of views on a page.
const ROWS: u32 = 50;
/// Number of versions on a view's page.
const VERSIONS: u32 = 20;
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

/// Reads one page of the list.
pub async fn list(ledger: &Ledger, scope: &Scope, cursor: Option<String>) -> Result<Listed<ViewRecord>> {
    view::list(ledger, scope, ListPage { limit: ROWS, cursor }).await
}

/// Reads the page of the view with this slug.
pub async fn read(ledger: &Ledger, scope: &Scope, slug: String) -> Result<Page> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.snapshot(scope, move |conn| {
        Box::pin(async move {
            let view = view::get_by_slug_on(conn, tenant_id, &slug).await?;
            let listed = view::versions_on(conn, tenant_id, view.id, None, VERSIONS).await?;
            let people = people_on(conn, tenant_id).await?;
            Ok(Page { view, has_more_versions: listed.next_cursor.is_some(), versions: listed.items, people })
        })
    });
    read.await
}

/// Reads the editor of the view with this slug, or of a new one.
///
/// # Errors
/// [`Error::Forbidden`] for everyone who may not change views.
pub async fn editor(ledger: &Ledger, scope: &Scope, slug: Option<String>) -> Result<Editor> {
    require(scope, Permission::ManageViews)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.snapshot(scope, move |conn| {
        Box::pin(async move {
            let view = match slug {
                Some(slug) => Some(view::get_by_slug_on(conn, tenant_id, &slug).await?),
                None => None,
            };
            offered(conn, tenant_id, view).await
        })
    });
    read.await
}

async fn offered(conn: &mut Conn<'_>, tenant_id: TenantId, view: Option<ViewRecord>) -> Result<Editor> {
    let sets = store::criteria_set::list(conn, tenant_id, None, OFFERED).await?;
    let types = store::entity_type::list(conn, tenant_id, None, OFFERED).await?;
    let groups = store::group::list(conn, tenant_id, GROUPS_MAX).await?;
    Ok::<_, Error>(Editor {
        view,
        criteria_sets: sets.items.into_iter().map(|set| (set.slug, set.name)).collect(),
        entity_types: types.items.into_iter().map(|of| (of.slug, of.name)).collect(),
        groups: groups.into_iter().map(|group| (group.slug, group.name)).collect(),
    })
}
