//! Lists of what waits for a decision, and of what was decided.

use super::{
    item::{GateItem, load},
    may_decide_any, person,
};
use crate::{
    Ledger, Listed, Result,
    cursor::{List, decode_at, encode_at, page_size},
    guard::require,
};
use domain::{
    Scope,
    gate::{GateKind, GateState},
    id::{GateId, SessionId},
    role::Permission,
};
use store::gate::{Inbox, Whose};

/// Which gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateFilter {
    /// In this state. Of one's own, open ones that were put aside are left out.
    In(GateState),
    /// One's own open ones that were put aside.
    Snoozed,
}

/// What a list asks for.
#[derive(Debug, Clone)]
pub struct ListGates {
    /// Where they stand.
    pub filter: GateFilter,
    /// Only of this kind.
    pub kind: Option<GateKind>,
    /// Everybody's; otherwise what the caller may decide.
    pub all: bool,
    /// Items on the page.
    pub limit: u32,
    /// Where the page before ended.
    pub cursor: Option<String>,
}

/// One page: closest deadline first, then oldest.
pub async fn list(ledger: &Ledger, scope: &Scope, wanted: ListGates) -> Result<Listed<GateItem>> {
    require(scope, Permission::Read)?;
    let snoozed = wanted.filter == GateFilter::Snoozed;
    let whose = match scope.user_id() {
        // A token has nothing of its own to decide: it sees everybody's.
        _ if wanted.all && !snoozed => Whose::All,
        None if !snoozed => Whose::All,
        _ => Whose::Mine { user_id: person(scope)?, may_decide: may_decide_any(scope), snoozed },
    };
    let now = ledger.now();
    let inbox = Inbox {
        whose,
        state: match wanted.filter {
            GateFilter::In(state) => state,
            GateFilter::Snoozed => GateState::Open,
        },
        kind: wanted.kind,
        after: wanted.cursor.as_deref().map(after).transpose()?,
        limit: page_size(wanted.limit)?,
        now,
    };
    let reader = *scope;
    let (loaded, has_more) = ledger
        .store()
        .read(scope.into(), move |conn| {
            Box::pin(async move {
                let page = store::gate::list(conn, reader.tenant_id, &inbox).await?;
                Ok((load(conn, &reader, page.items, now).await?, page.has_more))
            })
        })
        .await?;
    let items = loaded.items(scope)?;
    let last = items.last().filter(|_| has_more);
    let next_cursor = last.map(|last| encode_at(List::Gates, last.gate.order_at, last.gate.id.0));
    Ok(Listed { items, next_cursor })
}

/// The gates at which these sessions wait, in no order; sessions that wait at none are left out.
pub async fn of_sessions(ledger: &Ledger, scope: &Scope, ids: Vec<SessionId>) -> Result<Vec<GateItem>> {
    require(scope, Permission::Read)?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (reader, now) = (*scope, ledger.now());
    let read = ledger.store().read(scope.into(), move |conn| {
        Box::pin(async move {
            let gates = store::gate::waiting_of_sessions(conn, reader.tenant_id, &ids).await?;
            load(conn, &reader, gates, now).await
        })
    });
    read.await?.items(scope)
}

/// What the caller decided last and can still undo, newest first, at most `limit`. Nothing for a token.
pub async fn held(ledger: &Ledger, scope: &Scope, limit: u32) -> Result<Vec<GateItem>> {
    require(scope, Permission::Read)?;
    let Some(user_id) = scope.user_id() else { return Ok(Vec::new()) };
    let (limit, reader, now) = (page_size(limit)?, *scope, ledger.now());
    let read = ledger.store().read(scope.into(), move |conn| {
        Box::pin(async move {
            let gates = store::gate::held_by(conn, reader.tenant_id, user_id, now, limit).await?;
            load(conn, &reader, gates, now).await
        })
    });
    read.await?.items(scope)
}

fn after(cursor: &str) -> Result<(i64, GateId)> {
    decode_at(List::Gates, cursor).map(|(at, id)| (at, GateId(id)))
}
