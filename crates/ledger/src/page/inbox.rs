//! /inbox: a list of what waits for a decision, and one item of it.

use super::{
    choice::{Choices, relations},
    names::{names, titles},
    row::{Row, rows},
};
use crate::{
    EventRecord, Ledger, Result,
    event::{self, Read},
    gate::{self, GateDetail, GateFilter, GateItem, ListGates, ListQuery, MayDecide},
    guard::require,
    session,
};
use domain::{
    Scope, Timestamp,
    entity::Values,
    gate::GateState,
    id::{EntityId, GateId},
    role::Permission,
};
use serde_json::Value;
use std::collections::BTreeMap;
use store::Conn;

/// Items of one page: what one press can decide.
pub const ITEMS: u32 = 200;
/// Sessions shown that wait for the caller in a terminal.
const ELSEWHERE_MAX: u32 = 20;
/// Events shown of what led to an item.
const TAIL_EVENTS: u32 = 12;

/// Which list.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Where the items stand.
    pub filter: GateFilter,
    /// Everybody's; otherwise what the caller may decide.
    pub everyone: bool,
    /// Where the page before ended.
    pub cursor: Option<String>,
}

/// Which item is shown beside the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// The first one of the list, where it has any.
    First,
    /// This one, wherever it is.
    Item(GateId),
}

/// The list.
#[derive(Debug)]
pub struct List {
    /// The items: closest deadline first, then oldest.
    pub items: Vec<GateItem>,
    /// Where the next page begins.
    pub next_cursor: Option<String>,
    /// Sessions that wait for the caller in a terminal, beside open items.
    pub elsewhere: Vec<Row>,
    /// What the caller decided and can still undo.
    pub held: Vec<GateItem>,
    /// Titles of entities that are proposed as values, by id.
    pub titles: Vec<(String, String)>,
}

/// One item.
#[derive(Debug)]
pub struct Detail {
    /// The item.
    pub found: GateDetail,
    /// The newest events of its session, oldest first.
    pub events: Vec<EventRecord>,
    /// Names for what the events and the values mention, by id or actor.
    pub names: Vec<(String, String)>,
    /// Entities that an edit can choose, by the slug of their type. None where the caller may not decide.
    pub relations: BTreeMap<String, Choices>,
}

/// The list with an item beside it.
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

/// The list alone.
pub async fn list(ledger: &Ledger, scope: &Scope, wanted: Wanted) -> Result<List> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let asked = asked(scope, &wanted, now)?;
    let read =
        ledger.snapshot(scope, move |conn| Box::pin(async move { list_on(conn, &reader, &wanted, &asked, now).await }));
    read.await
}

/// One item alone.
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
    let ids = listed.items.iter().flat_map(proposed).collect();
    Ok(List {
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

/// Values that are proposed and may be ids of entities.
fn proposed(item: &GateItem) -> impl Iterator<Item = EntityId> {
    item.proposed.iter().flat_map(|values| values.values()).filter_map(id_in)
}

fn ids_in(values: &Values) -> impl Iterator<Item = EntityId> {
    values.values().filter_map(id_in)
}

fn id_in(value: &Value) -> Option<EntityId> {
    value.as_str()?.parse().ok()
}
