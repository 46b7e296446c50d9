//! Lists of sessions, newest first, by keyset.

use super::{
    Row,
    due::hex_list,
    // The macros that `matching` is made of are looked up where it is used.
    matching::{
        Matching, group_values, groups, has, is_among, is_of_models, is_tagged, is_worded, matching, models, of_ids,
        values,
    },
    record,
    session_select,
};
use crate::engine::{Conn, Page, Result, contains, last_select, run, statements};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{ActionId, SessionId, TenantId},
    session::{Session, Status, Type},
};
use std::ops::Range;
use uuid::Uuid;

/// The conditions of a list. Parameters: `$1` to `$44`, in the order of [`fetch_filtered`], without the limit `$7`.
macro_rules! list_where {
    ($engine:ident, $lead:literal) => {
        concat!(
            "tenant_id = $1 AND ",
            $lead,
            " AND id < $3 AND id >= $12 AND (session_type = $4 OR $4 IS NULL) AND (status = $5 OR $5 IS NULL) \
             AND (lower(title) LIKE lower($6) ESCAPE '\\' OR $6 IS NULL) \
             AND (private_to IS NULL OR private_to = $8) AND (agent_slug = $9 OR $9 IS NULL) \
             AND (completed_at >= $10 OR $10 IS NULL) AND (completed_at < $11 OR $11 IS NULL) \
             AND (CAST($13 AS bigint) IS NULL OR EXISTS (SELECT 1 FROM gates g WHERE g.tenant_id = sessions.tenant_id \
             AND g.session_id = sessions.id AND g.state IN ('settled', 'expired') AND g.kind <> 'memory' \
             AND g.settled_at >= $13 AND g.settled_at < $14)) \
             AND (CAST($15 AS bigint) IS NULL OR (source IS NULL OR source <> 'memory') AND EXISTS (SELECT 1 \
             FROM interactions i WHERE i.tenant_id = sessions.tenant_id AND i.session_id = sessions.id \
             AND i.recorded_at >= $15 AND i.recorded_at < $16)) ",
            matching!($engine)
        )
    };
}
// One text per leading filter, so that each walks its own index; the rest of the filter narrows what it finds.
macro_rules! list_select {
    ($engine:ident, $lead:literal) => {
        session_select!(concat!(list_where!($engine, $lead), " ORDER BY id DESC LIMIT $7"))
    };
}
// Calls the macro `$run` with the text of the leading filter and with the value of that filter.
macro_rules! by_lead {
    (
        $filter:ident, $run:ident,
        [$retried:tt, $parent:tt, $action:tt, $agent:tt, $status:tt, $tenant:tt]
    ) => {
        if let Some(retried) = $filter.retry_of {
            $run!($retried, retried.0)
        } else if let Some(parent) = $filter.parent_id {
            $run!($parent, parent.0)
        } else if let Some(action) = $filter.action_id {
            $run!($action, action.0)
        } else if let Some(agent) = $filter.agent_slug.as_deref() {
            $run!($agent, agent)
        } else if let Some(status) = $filter.status {
            $run!($status, status.as_str())
        } else {
            $run!($tenant, None::<&str>)
        }
    };
}

/// Runs a statement with the conditions of [`list_where`] and a limit of one row more than `$limit`. Further binds are
/// `$45` and so on.
macro_rules! fetch_filtered {
    (
        $conn:expr, $row:ty, $sql:expr, ($tenant_id:expr, $lead:expr), $filter:expr, $before:expr,
        $limit:expr $(, $more:expr)* $(,)?
    ) => {{
        let filter: &Filter = $filter;
        // Larger than any id: a comparison that is always true would keep the index from being entered at the right
        // place.
        let before = $before.map_or(Uuid::max(), |id: SessionId| id.0);
        let kind = filter.session_type.map(Type::as_str);
        let title = filter.title_contains.as_deref().map(contains);
        let title = title.as_deref();
        let limit = i64::from($limit) + 1;
        let status = filter.status.map(Status::as_str);
        let (since, until) = bounds(filter.ended.as_ref());
        let (decided_since, decided_until) = bounds(filter.decided.as_ref());
        let (answered_since, answered_until) = bounds(filter.answered.as_ref());
        let oldest = filter.oldest.map_or(Uuid::nil(), |id| id.0);
        let (private_to, agent) = (filter.private_to.as_deref(), filter.agent_slug.as_deref());
        let asked = filter.matching.binds();
        let [statuses, no_statuses, agents, no_agents, types, no_types, tasks, no_tasks, makers, no_makers] =
            asked.among.each_ref().map(Option::as_deref);
        let [titles, no_titles, errors, no_errors, worded, title_words, no_title_words] =
            asked.texts.each_ref().map(Option::as_deref);
        let [cost_min, cost_max, lasted_min, lasted_max, now] = asked.numbers;
        let [assignees, no_assignees, tags, no_tags, models, no_models] = asked.labels.each_ref().map(Option::as_deref);
        macro_rules! fetch {
            ($value:expr) => {
                run!($conn, fetch_all $row, $sql, $tenant_id.0, $value, before, kind, status, title, limit, private_to, agent, since, until, oldest, decided_since, decided_until, answered_since, answered_until, statuses, no_statuses, agents, no_agents, types, no_types, tasks, no_tasks, makers, no_makers, titles, no_titles, errors, no_errors, cost_min, cost_max, lasted_min, lasted_max, now, worded, title_words, no_title_words, assignees, no_assignees, tags, no_tags, models, no_models $(, $more)*)
            };
        }
        match $lead {
            Lead::Id(id) => fetch!(id),
            Lead::Text(text) => fetch!(text),
        }
    }};
}
pub(super) use {by_lead, fetch_filtered, list_where};

macro_rules! newest_of_actions {
    ($actions:literal) => {
        session_select!(concat!(
            "tenant_id = $1 AND id IN (SELECT (SELECT s.id FROM sessions s WHERE s.tenant_id = $1 AND s.action_id = j.id \
             AND s.private_to IS NULL ORDER BY s.id DESC LIMIT 1) FROM ",
            $actions,
            ")"
        ))
    };
}

statements! {
    // Driven by `sessions_by_parent`.
    const NEWEST_CONTINUATION: &str =
        session_select!("tenant_id = $1 AND parent_id = $2 AND source = $3 ORDER BY id DESC LIMIT 1");
    const BY_TENANT_SQLITE: &str = list_select!(sqlite, "CAST($2 AS text) IS NULL");
    const BY_TENANT_POSTGRES: &str = list_select!(postgres, "CAST($2 AS text) IS NULL");
    const BY_STATUS_SQLITE: &str = list_select!(sqlite, "status = $2");
    const BY_STATUS_POSTGRES: &str = list_select!(postgres, "status = $2");
    const BY_ACTION_SQLITE: &str = list_select!(sqlite, "action_id = $2");
    const BY_ACTION_POSTGRES: &str = list_select!(postgres, "action_id = $2");
    const BY_AGENT_SQLITE: &str = list_select!(sqlite, "agent_slug = $2");
    const BY_AGENT_POSTGRES: &str = list_select!(postgres, "agent_slug = $2");
    const BY_PARENT_SQLITE: &str = list_select!(sqlite, "parent_id = $2");
    const BY_PARENT_POSTGRES: &str = list_select!(postgres, "parent_id = $2");
    const BY_RETRIED_SQLITE: &str = list_select!(sqlite, "retry_of = $2");
    const BY_RETRIED_POSTGRES: &str = list_select!(postgres, "retry_of = $2");
    const AMONG_SQLITE: &str = list_select!(sqlite, "id IN (SELECT unhex(value) FROM json_each($2))");
    const AMONG_POSTGRES: &str = list_select!(
        postgres,
        "id IN (SELECT CAST(value AS uuid) FROM jsonb_array_elements_text(CAST(CAST($2 AS text) AS jsonb)) AS j (value))"
    );
    const LAST_BY_TENANT: &str = last_select!("sessions", "CAST($2 AS text) IS NULL");
    const LAST_BY_STATUS: &str = last_select!("sessions", "status = $2");
    const LAST_BY_ACTION: &str = last_select!("sessions", "action_id = $2");
    const LAST_BY_AGENT: &str = last_select!("sessions", "agent_slug = $2");
    const LAST_BY_PARENT: &str = last_select!("sessions", "parent_id = $2");
    const LAST_BY_RETRIED: &str = last_select!("sessions", "retry_of = $2");
    const BY_CHANNEL: &str = session_select!(
        "tenant_id = $1 AND agent_slug = $2 AND channel = $3 AND private_to IS NULL ORDER BY id DESC LIMIT $4"
    );
    const BY_IDS_SQLITE: &str = session_select!("tenant_id = $1 AND id IN (SELECT unhex(value) FROM json_each($2))");
    const BY_IDS_POSTGRES: &str = session_select!("tenant_id = $1 AND id = ANY($2)");
    const WHOLE_BY_IDS_SQLITE: &str =
        session_select!(whole "tenant_id = $1 AND id IN (SELECT unhex(value) FROM json_each($2))");
    const WHOLE_BY_IDS_POSTGRES: &str = session_select!(whole "tenant_id = $1 AND id = ANY($2)");
    const NEWEST_OF_ACTIONS_SQLITE: &str = newest_of_actions!("(SELECT unhex(value) AS id FROM json_each($2)) j");
    const NEWEST_OF_ACTIONS_POSTGRES: &str = newest_of_actions!("UNNEST($2::uuid[]) AS j (id)");
}

/// Which sessions to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only this type.
    pub session_type: Option<Type>,
    /// Only this status.
    pub status: Option<Status>,
    /// Only sessions of this action.
    pub action_id: Option<ActionId>,
    /// Only sessions of this agent.
    pub agent_slug: Option<String>,
    /// Only children of this session.
    pub parent_id: Option<SessionId>,
    /// Only sessions that repeat this one.
    pub retry_of: Option<SessionId>,
    /// Only titles that contain this, whatever the case.
    pub title_contains: Option<String>,
    /// Only sessions that ended in this time.
    pub ended: Option<Range<Timestamp>>,
    /// Only sessions with an item that was decided or expired in this time, other than a proposal of a memory writer.
    pub decided: Option<Range<Timestamp>>,
    /// Only sessions with a captured answer that was complete in this time. Proposals of memory writers are no answers.
    pub answered: Option<Range<Timestamp>>,
    /// Only this session and newer ones. Bounds what a filter by a time or by a part of the title reads.
    pub oldest: Option<SessionId>,
    /// Whose private sessions are listed too; none if absent.
    pub private_to: Option<String>,
    /// What a search line asks for beside.
    pub matching: Matching,
}

/// The beginning and the end of a time, microseconds.
pub(super) fn bounds(time: Option<&Range<Timestamp>>) -> (Option<i64>, Option<i64>) {
    time.map(|time| (to_micros(time.start), to_micros(time.end))).unzip()
}

/// The value of the leading filter.
pub(super) enum Lead<'f> {
    Id(Uuid),
    Text(Option<&'f str>),
}

impl From<Uuid> for Lead<'_> {
    fn from(id: Uuid) -> Self {
        Self::Id(id)
    }
}

impl<'f> From<&'f str> for Lead<'f> {
    fn from(text: &'f str) -> Self {
        Self::Text(Some(text))
    }
}

impl<'f> From<Option<&'f str>> for Lead<'f> {
    fn from(text: Option<&'f str>) -> Self {
        Self::Text(text)
    }
}

/// One page of sessions, newest first. With `before`, only older ones.
pub async fn list(
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
            (BY_RETRIED_SQLITE, BY_RETRIED_POSTGRES),
            (BY_PARENT_SQLITE, BY_PARENT_POSTGRES),
            (BY_ACTION_SQLITE, BY_ACTION_POSTGRES),
            (BY_AGENT_SQLITE, BY_AGENT_POSTGRES),
            (BY_STATUS_SQLITE, BY_STATUS_POSTGRES),
            (BY_TENANT_SQLITE, BY_TENANT_POSTGRES)
        ]
    );
    page(rows, limit)
}

/// Those of these sessions that the filter selects, newest first.
pub async fn among(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    filter: &Filter,
    ids: &[SessionId],
) -> Result<Vec<Session>> {
    let sql = if matches!(conn, Conn::Sqlite(_)) { AMONG_SQLITE } else { AMONG_POSTGRES };
    let (ids, limit) = (hex_list(ids), u32::try_from(ids.len()).unwrap_or(u32::MAX));
    let rows = rows(conn, sql, (tenant_id, ids.as_str().into()), filter, None, limit).await?;
    rows.into_iter().map(Session::try_from).collect()
}

/// At most one row more than `limit`, in the order of the statement.
pub(super) async fn rows(
    conn: &mut Conn<'_>,
    sql: &'static str,
    (tenant_id, lead): (TenantId, Lead<'_>),
    filter: &Filter,
    before: Option<SessionId>,
    limit: u32,
) -> Result<Vec<Row>> {
    Ok(fetch_filtered!(conn, Row, sql, (tenant_id, lead), filter, before, limit)?)
}

/// The oldest of the newest `count` sessions that the leading filter selects. With `before`, of those that are older.
/// `None` if there are fewer. The rest of the filter is ignored.
pub async fn last_looked(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    filter: &Filter,
    before: Option<SessionId>,
    count: u32,
) -> Result<Option<SessionId>> {
    let (tenant, before) = (tenant_id.0, before.map_or(Uuid::max(), |id| id.0));
    let skipped = i64::from(count) - 1;
    macro_rules! last_by {
        ($text:ident, $lead:expr) => {
            run!(conn, fetch_optional(Uuid,), $text, tenant, $lead, before, skipped)?
        };
    }
    let last = by_lead!(
        filter,
        last_by,
        [LAST_BY_RETRIED, LAST_BY_PARENT, LAST_BY_ACTION, LAST_BY_AGENT, LAST_BY_STATUS, LAST_BY_TENANT]
    );
    Ok(last.map(|(id,)| SessionId(id)))
}

/// The newest sessions of an agent on a channel, which [`Channel::key`](domain::memory_writer::channel::Channel::key)
/// names. Incognito ones are on none.
pub async fn list_on_channel(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    channel: &str,
    limit: u32,
) -> Result<Vec<Session>> {
    let rows = run!(conn, fetch_all Row, BY_CHANNEL, tenant_id.0, agent, channel, i64::from(limit))?;
    rows.into_iter().map(Session::try_from).collect()
}

/// These sessions, in no order, without large results; ids that do not exist in the workspace are left out.
pub async fn list_by_ids(conn: &mut Conn<'_>, tenant_id: TenantId, ids: &[SessionId]) -> Result<Vec<Session>> {
    by_ids(conn, (BY_IDS_SQLITE, BY_IDS_POSTGRES), tenant_id, ids).await
}

/// The same with their results, whatever their sizes. Callers bound how many these are.
pub async fn find_many(conn: &mut Conn<'_>, tenant_id: TenantId, ids: &[SessionId]) -> Result<Vec<Session>> {
    by_ids(conn, (WHOLE_BY_IDS_SQLITE, WHOLE_BY_IDS_POSTGRES), tenant_id, ids).await
}

async fn by_ids(
    conn: &mut Conn<'_>,
    (sqlite, postgres): (&'static str, &'static str),
    tenant_id: TenantId,
    ids: &[SessionId],
) -> Result<Vec<Session>> {
    let rows = match conn {
        Conn::Sqlite(c) => c.fetch_all::<Row>(sqlite, &[&tenant_id.0, &hex_list(ids)])?,
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as::<_, Row>(postgres).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    rows.into_iter().map(Session::try_from).collect()
}

/// The newest session of an action.
pub async fn newest_of_action(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    action_id: ActionId,
) -> Result<Option<Session>> {
    let filter = Filter { action_id: Some(action_id), ..Filter::default() };
    Ok(list(conn, tenant_id, &filter, None, 1).await?.items.pop())
}

/// The newest session of each of these actions, in any order. Private ones are left out.
pub async fn newest_of_actions(conn: &mut Conn<'_>, tenant_id: TenantId, actions: &[ActionId]) -> Result<Vec<Session>> {
    let rows = match conn {
        Conn::Sqlite(c) => {
            let hex: Vec<String> = actions.iter().map(|id| id.0.simple().to_string()).collect();
            let hex = serde_json::Value::from(hex).to_string();
            c.fetch_all::<Row>(NEWEST_OF_ACTIONS_SQLITE, &[&tenant_id.0, &hex])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = actions.iter().map(|id| id.0).collect();
            sqlx::query_as::<_, Row>(NEWEST_OF_ACTIONS_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    rows.into_iter().map(Session::try_from).collect()
}

/// The newest session of this source that was started by `first`.
pub async fn newest_continuation(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    first: SessionId,
    source: &str,
) -> Result<Option<Session>> {
    record(run!(conn, fetch_optional Row, NEWEST_CONTINUATION, tenant_id.0, first.0, source)?)
}

pub(super) fn page(mut rows: Vec<Row>, limit: u32) -> Result<Page<Session>> {
    let limit = limit as usize;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    Ok(Page { items: rows.into_iter().map(Session::try_from).collect::<Result<_>>()?, has_more })
}
