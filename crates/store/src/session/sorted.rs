//! Lists of sessions in other orders than newest first: the oldest first, by keyset, and by a value that no index has.
//!
//! A list by a value looks at all sessions from [`Filter::oldest`] on, so its caller bounds how many those are. It
//! returns ids and values. The sessions of a page are read by their ids, because a sort of whole rows would read the
//! inputs and results of all of them.

use super::{
    list::{Filter, Lead, bounds, by_lead, fetch_filtered, list_where, page, rows},
    // The macros that `matching` is made of are looked up where it is used.
    matching::{
        group_values, groups, has, is_among, is_of_models, is_tagged, is_worded, matching, models, of_ids, values,
    },
    session_select,
};
use crate::engine::{Conn, Page, Result, contains, run, statements};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId},
    session::{Session, Sort, Status, Type},
};
use uuid::Uuid;

macro_rules! oldest_select {
    ($engine:ident, $lead:literal) => {
        session_select!(concat!(list_where!($engine, $lead), " ORDER BY id LIMIT $7"))
    };
}
/// The newest of the oldest sessions of a leading filter, `$4` after the first with an id of `$3` or more.
macro_rules! first_select {
    ($lead:literal) => {
        concat!(
            "SELECT id FROM sessions WHERE tenant_id = $1 AND ",
            $lead,
            " AND id >= $3 ORDER BY id LIMIT 1 OFFSET $4"
        )
    };
}
/// The smaller of two numbers.
macro_rules! least {
    (sqlite, $one:literal, $other:literal) => {
        concat!("min(", $one, ", ", $other, ")")
    };
    (postgres, $one:literal, $other:literal) => {
        concat!("LEAST(", $one, ", ", $other, ")")
    };
}
/// The value that a list is sorted by: `$45` names the order. A session that ended after `$46` counts as lasting until
/// then, so that it keeps its place when it ends between two pages.
macro_rules! sort_value {
    ($engine:ident) => {
        concat!(
            "CASE CAST($45 AS text) WHEN 'cost' THEN COALESCE(cost_micros, -1) WHEN 'duration' THEN COALESCE(",
            least!($engine, "COALESCE(completed_at, CAST($46 AS bigint))", "CAST($46 AS bigint)"),
            " - started_at, -1) ELSE updated_at END"
        )
    };
}
macro_rules! sorted_select {
    ($engine:ident, $lead:literal) => {
        concat!(
            "SELECT id, ",
            sort_value!($engine),
            " AS sort_value FROM sessions WHERE ",
            list_where!($engine, $lead),
            " AND (",
            sort_value!($engine),
            ", id) < (CAST($47 AS bigint), $48) ORDER BY sort_value DESC, id DESC LIMIT $7"
        )
    };
}

statements! {
    const OLDEST_BY_TENANT_SQLITE: &str = oldest_select!(sqlite, "CAST($2 AS text) IS NULL");
    const OLDEST_BY_TENANT_POSTGRES: &str = oldest_select!(postgres, "CAST($2 AS text) IS NULL");
    const OLDEST_BY_STATUS_SQLITE: &str = oldest_select!(sqlite, "status = $2");
    const OLDEST_BY_STATUS_POSTGRES: &str = oldest_select!(postgres, "status = $2");
    const OLDEST_BY_ACTION_SQLITE: &str = oldest_select!(sqlite, "action_id = $2");
    const OLDEST_BY_ACTION_POSTGRES: &str = oldest_select!(postgres, "action_id = $2");
    const OLDEST_BY_AGENT_SQLITE: &str = oldest_select!(sqlite, "agent_slug = $2");
    const OLDEST_BY_AGENT_POSTGRES: &str = oldest_select!(postgres, "agent_slug = $2");
    const OLDEST_BY_PARENT_SQLITE: &str = oldest_select!(sqlite, "parent_id = $2");
    const OLDEST_BY_PARENT_POSTGRES: &str = oldest_select!(postgres, "parent_id = $2");
    const OLDEST_BY_RETRIED_SQLITE: &str = oldest_select!(sqlite, "retry_of = $2");
    const OLDEST_BY_RETRIED_POSTGRES: &str = oldest_select!(postgres, "retry_of = $2");
    const FIRST_BY_TENANT: &str = first_select!("CAST($2 AS text) IS NULL");
    const FIRST_BY_STATUS: &str = first_select!("status = $2");
    const FIRST_BY_ACTION: &str = first_select!("action_id = $2");
    const FIRST_BY_AGENT: &str = first_select!("agent_slug = $2");
    const FIRST_BY_PARENT: &str = first_select!("parent_id = $2");
    const FIRST_BY_RETRIED: &str = first_select!("retry_of = $2");
    const SORTED_BY_TENANT_SQLITE: &str = sorted_select!(sqlite, "CAST($2 AS text) IS NULL");
    const SORTED_BY_TENANT_POSTGRES: &str = sorted_select!(postgres, "CAST($2 AS text) IS NULL");
    const SORTED_BY_STATUS_SQLITE: &str = sorted_select!(sqlite, "status = $2");
    const SORTED_BY_STATUS_POSTGRES: &str = sorted_select!(postgres, "status = $2");
    const SORTED_BY_ACTION_SQLITE: &str = sorted_select!(sqlite, "action_id = $2");
    const SORTED_BY_ACTION_POSTGRES: &str = sorted_select!(postgres, "action_id = $2");
    const SORTED_BY_AGENT_SQLITE: &str = sorted_select!(sqlite, "agent_slug = $2");
    const SORTED_BY_AGENT_POSTGRES: &str = sorted_select!(postgres, "agent_slug = $2");
    const SORTED_BY_PARENT_SQLITE: &str = sorted_select!(sqlite, "parent_id = $2");
    const SORTED_BY_PARENT_POSTGRES: &str = sorted_select!(postgres, "parent_id = $2");
    const SORTED_BY_RETRIED_SQLITE: &str = sorted_select!(sqlite, "retry_of = $2");
    const SORTED_BY_RETRIED_POSTGRES: &str = sorted_select!(postgres, "retry_of = $2");
}

/// The place of a session in a list that is sorted by a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Microseconds of duration or of the last event (UTC), or millionths of a US dollar; -1 for a session without the
    /// value.
    pub value: i64,
    /// The session.
    pub id: SessionId,
}

/// One page of sessions, the oldest first: from [`Filter::oldest`] on, and older than `before`.
pub async fn list_oldest(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    filter: &Filter,
    before: Option<SessionId>,
    limit: u32,
) -> Result<Page<Session>> {
    macro_rules! rows_by {
        (($sqlite:ident, $postgres:ident), $lead:expr) => {{
            let sql = if matches!(conn, Conn::Sqlite(_)) { $sqlite } else { $postgres };
            rows(conn, sql, (tenant_id, $lead.into()), filter, before, limit).await?
        }};
    }
    let rows = by_lead!(
        filter,
        rows_by,
        [
            (OLDEST_BY_RETRIED_SQLITE, OLDEST_BY_RETRIED_POSTGRES),
            (OLDEST_BY_PARENT_SQLITE, OLDEST_BY_PARENT_POSTGRES),
            (OLDEST_BY_ACTION_SQLITE, OLDEST_BY_ACTION_POSTGRES),
            (OLDEST_BY_AGENT_SQLITE, OLDEST_BY_AGENT_POSTGRES),
            (OLDEST_BY_STATUS_SQLITE, OLDEST_BY_STATUS_POSTGRES),
            (OLDEST_BY_TENANT_SQLITE, OLDEST_BY_TENANT_POSTGRES)
        ]
    );
    page(rows, limit)
}

/// The newest of the oldest `count` sessions that the leading filter selects, from [`Filter::oldest`] on. `None` if
/// there are fewer. The rest of the filter is ignored.
pub async fn first_looked(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    filter: &Filter,
    count: u32,
) -> Result<Option<SessionId>> {
    let (tenant, oldest) = (tenant_id.0, filter.oldest.map_or(Uuid::nil(), |id| id.0));
    let skipped = i64::from(count) - 1;
    macro_rules! first_by {
        ($text:ident, $lead:expr) => {
            run!(conn, fetch_optional(Uuid,), $text, tenant, $lead, oldest, skipped)?
        };
    }
    let first = by_lead!(
        filter,
        first_by,
        [FIRST_BY_RETRIED, FIRST_BY_PARENT, FIRST_BY_ACTION, FIRST_BY_AGENT, FIRST_BY_STATUS, FIRST_BY_TENANT]
    );
    Ok(first.map(|(id,)| SessionId(id)))
}

/// One page of the places of sessions from [`Filter::oldest`] on and older than `before`: the largest value first, and
/// of one value the newest first. `after` is the last place of the page before. Sessions last until `now` at most.
///
/// The filter has to bound the number of sessions: all of them are read.
pub async fn sorted(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    filter: &Filter,
    before: Option<SessionId>,
    (sort, now): (Sort, Timestamp),
    after: Option<Place>,
    limit: u32,
) -> Result<Page<Place>> {
    let order = Order { sort, now, after };
    macro_rules! places_by {
        (($sqlite:ident, $postgres:ident), $lead:expr) => {{
            let sql = if matches!(conn, Conn::Sqlite(_)) { $sqlite } else { $postgres };
            places(conn, sql, (tenant_id, $lead.into()), filter, before, order, limit).await?
        }};
    }
    let places = by_lead!(
        filter,
        places_by,
        [
            (SORTED_BY_RETRIED_SQLITE, SORTED_BY_RETRIED_POSTGRES),
            (SORTED_BY_PARENT_SQLITE, SORTED_BY_PARENT_POSTGRES),
            (SORTED_BY_ACTION_SQLITE, SORTED_BY_ACTION_POSTGRES),
            (SORTED_BY_AGENT_SQLITE, SORTED_BY_AGENT_POSTGRES),
            (SORTED_BY_STATUS_SQLITE, SORTED_BY_STATUS_POSTGRES),
            (SORTED_BY_TENANT_SQLITE, SORTED_BY_TENANT_POSTGRES)
        ]
    );
    Ok(Page::of(places, limit))
}

/// The order of a page, and where it begins.
#[derive(Clone, Copy)]
struct Order {
    sort: Sort,
    /// How long sessions last at most.
    now: Timestamp,
    /// The last place of the page before.
    after: Option<Place>,
}

/// At most one place more than `limit`.
async fn places(
    conn: &mut Conn<'_>,
    sql: &'static str,
    (tenant_id, lead): (TenantId, Lead<'_>),
    filter: &Filter,
    before: Option<SessionId>,
    order: Order,
    limit: u32,
) -> Result<Vec<Place>> {
    let (by, now) = (order.sort.as_str(), to_micros(order.now));
    // Larger than any place.
    let (value, id) = order.after.map_or((i64::MAX, Uuid::max()), |place| (place.value, place.id.0));
    let rows = fetch_filtered!(conn, (Uuid, i64), sql, (tenant_id, lead), filter, before, limit, by, now, value, id)?;
    Ok(rows.into_iter().map(|(id, value)| Place { value, id: SessionId(id) }).collect())
}
