//! The page of the audit list, for admins.

use super::names::{People, people_on};
use crate::{
    AccessLinkRecord, GroupRecord, Ledger, Listed, Result, ToolRecord, ViewRecord,
    audit::{EntryRecord, ListEntries, list_on, require_admin},
    auth::open_invitations,
};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::{TenantId, ToolId, ViewId},
    limit::GROUPS_MAX,
};
use serde::Deserialize;
use std::collections::BTreeSet;
use store::Conn;

/// Number of entries that one page shows.
pub const ENTRIES_OF_PAGE: u32 = 50;

/// The page, and what the ids in its entries are called.
#[derive(Debug)]
pub struct Page {
    /// The entries, newest first.
    pub listed: Listed<EntryRecord>,
    /// Present and former members, and tokens.
    pub people: People,
    /// Groups, ordered by name.
    pub groups: Vec<GroupRecord>,
    /// Invitations that work now.
    pub invitations: Vec<AccessLinkRecord>,
    /// Forms that the entries name, or to which they name links, as far as they exist.
    pub views: Vec<ViewRecord>,
    /// Tools that the entries name, as far as they exist.
    pub tools: Vec<ToolRecord>,
}

/// Reads the page. The size of the page in `query` is not used.
///
/// # Errors
/// Those of [`crate::audit::list()`].
pub async fn read(ledger: &Ledger, scope: &Scope, mut query: ListEntries) -> Result<Page> {
    require_admin(scope)?;
    query.page.limit = ENTRIES_OF_PAGE;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        let listed = list_on(conn, tenant_id, query).await?;
        Ok(Page {
            people: people_on(conn, tenant_id).await?,
            groups: store::group::list(conn, tenant_id, GROUPS_MAX).await?,
            invitations: open_invitations(conn, tenant_id, now).await?,
            views: views(conn, tenant_id, &listed.items).await?,
            tools: tools(conn, tenant_id, &listed.items).await?,
            listed,
        })
    });
    read.await
}

/// The detail of an entry about a link to a form.
#[derive(Deserialize)]
struct OfLink {
    view: ViewId,
}

/// The forms that these entries name. A page has at most as many as it has entries.
async fn views(conn: &mut Conn<'_>, tenant_id: TenantId, entries: &[EntryRecord]) -> Result<Vec<ViewRecord>> {
    let links = entries.iter().filter(|entry| matches!(entry.kind, Kind::LinkCreated | Kind::LinkRevoked));
    let of_links = links.filter_map(|entry| serde_json::from_str::<OfLink>(&entry.detail).ok()).map(|of| of.view);
    let targets = entries.iter().filter_map(|entry| entry.target);
    let of_targets = targets.filter(|(kind, _)| *kind == TargetKind::View).map(|(_, id)| ViewId(id));
    let ids: BTreeSet<_> = of_links.chain(of_targets).collect();
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(store::view::find(conn, tenant_id, id).await?);
    }
    Ok(found)
}

/// The tools that these entries name. A page has at most as many as it has entries.
async fn tools(conn: &mut Conn<'_>, tenant_id: TenantId, entries: &[EntryRecord]) -> Result<Vec<ToolRecord>> {
    let targets = entries.iter().filter_map(|entry| entry.target);
    let ids: BTreeSet<_> = targets.filter(|(kind, _)| *kind == TargetKind::Tool).map(|(_, id)| ToolId(id)).collect();
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(store::tool::find(conn, tenant_id, id).await?);
    }
    Ok(found)
}
