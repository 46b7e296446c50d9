//! The page /inbox/review: open items that are alike, and what became of items that were decided together.

use super::{
    inbox::{ITEMS, owners, proposed},
    names::titles,
    proposed_values::{labels, unchanged},
};
use crate::{
    Ledger, Result,
    gate::{self, GateFilter, GateItem, ListGates, ListQuery},
    guard::require,
};
use domain::{Scope, gate::GateState, id::GateId, role::Permission};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use store::Conn;

/// Which items are alike.
#[derive(Debug, Clone)]
pub struct Group {
    /// The key that they share, see [`domain::gate::Gate::similar_key`].
    pub key: String,
    /// Whether to read items of all reviewers. If false, only items that the caller may decide and has not snoozed.
    pub everyone: bool,
}

/// Items, and what a page says about their values.
#[derive(Debug)]
pub struct Items {
    /// The items, at most [`ITEMS`].
    pub items: Vec<GateItem>,
    /// Whether more items of the group wait.
    pub has_more: bool,
    /// Titles of entities that are proposed as values, by id, and names of people by the path of their document.
    pub titles: Vec<(String, String)>,
    /// Names of fields of entities by slug, where all types that have such a field agree on it.
    pub labels: BTreeMap<String, String>,
    /// Keys of proposed values that the entity has already, by item. Items without such values are left out.
    pub unchanged: HashMap<GateId, BTreeSet<String>>,
    /// Seconds for which a decision can be undone.
    pub undo_seconds: u32,
}

/// Reads the open items of a group: closest deadline first, then oldest. A caller who is a token gets those of all
/// reviewers.
pub async fn alike(ledger: &Ledger, scope: &Scope, group: Group) -> Result<Items> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let filter = GateFilter::In(GateState::Open);
    let list = ListGates { filter, kind: None, all: group.everyone, limit: ITEMS, cursor: None };
    let query = ListQuery::of(scope, &list, now)?;
    let read = ledger.snapshot(scope, async move |conn| {
        let (items, has_more) = gate::list_alike_on(conn, &reader, &query, &group.key).await?;
        described(conn, &reader, items, has_more).await
    });
    read.await
}

/// Reads items by their ids, in the order of the ids, in whatever state they are. Ids of items that the caller may not
/// see are left out, and those after the first [`ITEMS`].
pub async fn by_ids(ledger: &Ledger, scope: &Scope, ids: Vec<GateId>) -> Result<Items> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let ids: Vec<GateId> = ids.into_iter().take(ITEMS as usize).collect();
    let read = ledger.snapshot(scope, async move |conn| {
        let mut items = gate::of_ids_on(conn, &reader, &ids, now).await?;
        items.sort_by_key(|item| ids.iter().position(|id| *id == item.gate.id));
        described(conn, &reader, items, false).await
    });
    read.await
}

async fn described(conn: &mut Conn<'_>, scope: &Scope, items: Vec<GateItem>, has_more: bool) -> Result<Items> {
    let tenant_id = scope.tenant_id;
    let ids = items.iter().flat_map(proposed).collect();
    let mut titles = titles(conn, tenant_id, ids).await?;
    titles.extend(owners(conn, tenant_id, items.iter()).await?);
    Ok(Items {
        titles,
        labels: labels(conn, tenant_id, items.iter()).await?,
        unchanged: unchanged(conn, tenant_id, items.iter()).await?,
        undo_seconds: store::tenant::undo_seconds(conn, tenant_id).await?,
        items,
        has_more,
    })
}
