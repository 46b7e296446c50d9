//! The page /inbox: a list of items that wait for a decision, and one item.

use super::{
    choice::{Choices, relations},
    names::{names, titles},
    row::{Row, rows},
};
use crate::{
    Ledger, RequestRecord, Result,
    event::{self, Read},
    feedback_request,
    gate::{self, GateDetail, GateFilter, GateItem, ListGates, ListQuery, MayDecide},
    guard::require,
    session,
};
use domain::{
    Scope, Timestamp,
    entity::Values,
    event::Event,
    gate::GateState,
    id::{EntityId, GateId},
    role::Permission,
};
use serde_json::Value;
use std::collections::BTreeMap;
use store::Conn;

/// Number of items on a page. A bulk decision covers at most this many.
pub const ITEMS: u32 = 200;
/// Number of sessions shown that wait for the caller in a terminal.
const ELSEWHERE_MAX: u32 = 20;
/// Number of events shown of an item's session.
const TAIL_EVENTS: u32 = 12;

/// Which list to read.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The state of the items.
    pub filter: GateFilter,
    /// Whether to list items of all reviewers. If false, only items that the caller may decide.
    pub everyone: bool,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// The item shown beside the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// The first item of the list, if there is one.
    First,
    /// This item, even if it is not in the list.
    Item(GateId),
}

/// The list page.
#[derive(Debug)]
pub struct List {
    /// The items: closest deadline first, then oldest.
    pub items: Vec<GateItem>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Sessions that wait for the caller in a terminal. Only with open items.
    pub elsewhere: Vec<Row>,
    /// Questions that the caller may answer and for which no session waits. Only with open items, on the first page.
    pub questions: Vec<RequestRecord>,
    /// Decisions of the caller that can still be undone.
    pub held: Vec<GateItem>,
    /// Titles of entities that are proposed as values, by id.
    pub titles: Vec<(String, String)>,
}

/// One item.
#[derive(Debug)]
pub struct Detail {
    /// The item with its context.
    pub found: GateDetail,
    /// The newest events of its session, oldest first.
    pub events: Vec<Event>,
    /// Names of entities and people in the events and values, by id or actor.
    pub names: Vec<(String, String)>,
    /// Options of relation fields for an edit, by the slug of the related type. Empty if the caller may not
    /// decide.
    pub relations: BTreeMap<String, Choices>,
}

/// Reads the list and the item beside it.
pub async fn read(ledger: &Ledger, scope: &Scope, wanted: Wanted, beside: Beside) -> Result<(List, Option<Detail>)> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let asked = asked(scope, &wanted, now)?;
    let read = ledger.snapshot(scope, move |conn| {
        Box::pin(async move {
            let list = list_on(conn, &reader, &wanted, &asked, now).await?;
            let shown = match beside {
                Beside::First => list.items.first().map(|item| item.gate.id),
                Beside::Item(id) => Some(id),
            };
            let detail = match shown {
                Some(id) => Some(detail_on(conn, &reader, id, now).await?),
                None => None,
            };
            Ok((list, detail))
        })
    });
    read.await
}

/// Reads only the list.
pub async fn list(ledger: &Ledger, scope: &Scope, wanted: Wanted) -> Result<List> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let asked = asked(scope, &wanted, now)?;
    let read =
        ledger.snapshot(scope, move |conn| Box::pin(async move { list_on(conn, &reader, &wanted, &asked, now).await }));
    read.await
}

/// Reads only one item.
pub async fn detail(ledger: &Ledger, scope: &Scope, id: GateId) -> Result<Detail> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    ledger.snapshot(scope, move |conn| Box::pin(async move { detail_on(conn, &reader, id, now).await })).await
}

fn asked(scope: &Scope, wanted: &Wanted, now: Timestamp) -> Result<ListQuery> {
    let cursor = wanted.cursor.clone();
    let list = ListGates { filter: wanted.filter, kind: None, all: wanted.everyone, limit: ITEMS, cursor };
    ListQuery::of(scope, &list, now)
}

async fn list_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    wanted: &Wanted,
    asked: &ListQuery,
    now: Timestamp,
) -> Result<List> {
    let listed = gate::list_on(conn, scope, asked).await?;
    let elsewhere = match (wanted.filter, scope.user_id()) {
        (GateFilter::In(GateState::Open), Some(user_id)) => {
            store::work_queue::waiting_in_terminal(conn, scope.tenant_id, user_id, ELSEWHERE_MAX).await?
        }
        _ => Vec::new(),
    };
    let questions = match wanted {
        Wanted { filter: GateFilter::In(GateState::Open), cursor: None, .. } => {
            feedback_request::open_on(conn, scope, now).await?
        }
        _ => Vec::new(),
    };
    let ids = listed.items.iter().flat_map(proposed).collect();
    Ok(List {
        questions,
        titles: titles(conn, scope.tenant_id, ids).await?,
        elsewhere: rows(conn, scope, elsewhere, now).await?,
        held: gate::held_on(conn, scope, now, ITEMS).await?,
        items: listed.items,
        next_cursor: listed.next_cursor,
    })
}

async fn detail_on(conn: &mut Conn<'_>, scope: &Scope, id: GateId, now: Timestamp) -> Result<Detail> {
    let found = gate::get_on(conn, scope, id, now).await?;
    let session = session::get_on(conn, scope, found.item.gate.session_id).await?;
    let tail = Read { before_sequence: Some(session.head_sequence + 1), limit: TAIL_EVENTS, ..Read::default() };
    let events = event::read_on(conn, &session, &tail).await?.events;
    let mut names = names(conn, scope.tenant_id, &events).await?;
    let now_has = found.entity.iter().flat_map(|entity| ids_in(&entity.fields));
    let then_had = found.entity_then.iter().flat_map(|then| ids_in(&then.fields));
    let ids = proposed(&found.item).chain(now_has).chain(then_had).collect();
    names.extend(titles(conn, scope.tenant_id, ids).await?);
    let relations = match found.item.may_decide {
        MayDecide::Yes => relations(conn, scope.tenant_id, &found.fields).await?,
        _ => BTreeMap::new(),
    };
    Ok(Detail { found, events, names, relations })
}

/// Returns proposed values that may be ids of entities.
fn proposed(item: &GateItem) -> impl Iterator<Item = EntityId> {
    item.proposed.iter().flat_map(|values| values.values()).filter_map(id_in)
}

fn ids_in(values: &Values) -> impl Iterator<Item = EntityId> {
    values.values().filter_map(id_in)
}

fn id_in(value: &Value) -> Option<EntityId> {
    value.as_str()?.parse().ok()
}
