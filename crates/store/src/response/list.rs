//! Lists of responses, the versions that they are for, and their numbers.

use super::{ResponseRecord, ResponseState, Row};
use crate::engine::{Conn, Page, Result, run, statements};
use domain::{
    Caller, Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId, ViewId},
};
use uuid::Uuid;

macro_rules! counts {
    () => {
        "COALESCE((SELECT c.submitted FROM response_counts c WHERE c.tenant_id = v.tenant_id AND c.view_id = v.id), 0), \
         (SELECT COUNT(*) FROM responses r WHERE r.tenant_id = v.tenant_id AND r.view_id = v.id AND r.state = 'draft' \
         AND (r.request_id IS NULL OR EXISTS (SELECT 1 FROM sessions s WHERE s.tenant_id = r.tenant_id \
         AND s.id = r.session_id AND s.private_to IS NULL)))"
    };
}

macro_rules! of_view {
    () => {
        concat!(
            "view_id = $7 AND (session_id < $2 OR $2 IS NULL) AND (state = $3 OR $3 IS NULL) \
             AND (respondent = $4 OR $4 IS NULL) \
             AND ((CASE WHEN promoted_entity_id IS NULL THEN 0 ELSE 1 END) = $5 OR $5 IS NULL) \
             AND (version = $8 OR $8 IS NULL) AND (created_at >= $9 OR $9 IS NULL) \
             AND (created_at < $10 OR $10 IS NULL) AND ",
            seen_by!("$11"),
            " "
        )
    };
}

statements! {
    const LIST: &str = concat!(
        response_select!(
            "(session_id < $2 OR $2 IS NULL) AND (state = $3 OR $3 IS NULL) AND (respondent = $4 OR $4 IS NULL) \
             AND ((CASE WHEN promoted_entity_id IS NULL THEN 0 ELSE 1 END) = $5 OR $5 IS NULL) AND "
        ),
        seen_by!("$7"),
        " ORDER BY session_id DESC LIMIT $6"
    );
    const LIST_OF_VIEW: &str = concat!(response_select!(""), of_view!(), "ORDER BY session_id DESC LIMIT $6");
    const VERSIONS_OF_VIEW: &str = concat!(
        "SELECT DISTINCT version FROM responses WHERE tenant_id = $1 AND ",
        of_view!(),
        "ORDER BY version DESC LIMIT $6"
    );
    const COUNTS_SQLITE: &str = concat!(
        "SELECT v.id, ",
        counts!(),
        " FROM views v WHERE v.tenant_id = $1 AND v.id IN (SELECT unhex(value) FROM json_each($2))"
    );
    const COUNTS_POSTGRES: &str =
        concat!("SELECT v.id, ", counts!(), " FROM views v WHERE v.tenant_id = $1 AND v.id = ANY($2)");
}

type One<T> = (T,);

/// Which responses a list has.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter {
    /// Only those to this view.
    pub view_id: Option<ViewId>,
    /// Only those in this state.
    pub state: Option<ResponseState>,
    /// Only those of this respondent.
    pub respondent: Option<Uuid>,
    /// Only those from which an entity was made, or only the others.
    pub promoted: Option<bool>,
    /// Only those to this version. Needs `view_id`, as the two below.
    pub version: Option<u64>,
    /// Only those whose first save was at this time (UTC) or later.
    pub created_from: Option<Timestamp>,
    /// Only those whose first save was before this time (UTC).
    pub created_before: Option<Timestamp>,
    /// Who reads them. Without it, those of incognito sessions are left out.
    pub reader: Option<Caller>,
}

/// One page of responses, newest first, starting after `before`.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    filter: Filter,
    before: Option<SessionId>,
    limit: u32,
) -> Result<Page<ResponseRecord>> {
    let (before, state) = (before.map(|id| id.0), filter.state.map(ResponseState::as_str));
    let (respondent, promoted, more) = (filter.respondent, filter.promoted.map(i64::from), i64::from(limit) + 1);
    let reader = filter.reader.map(|reader| reader.to_string());
    let reader = reader.as_deref();
    let mut rows = match filter.view_id {
        None => run!(conn, fetch_all Row, LIST, tenant_id.0, before, state, respondent, promoted, more, reader)?,
        Some(view) => {
            let (version, from, until) = bounds(filter);
            run!(
                conn,
                fetch_all Row,
                LIST_OF_VIEW,
                tenant_id.0,
                before,
                state,
                respondent,
                promoted,
                more,
                view.0,
                version,
                from,
                until,
                reader
            )?
        }
    };
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    Ok(Page { items: rows.into_iter().map(ResponseRecord::try_from).collect::<Result<_>>()?, has_more })
}

type Bounds = (Option<i64>, Option<i64>, Option<i64>);

fn bounds(filter: Filter) -> Bounds {
    let (from, before) = (filter.created_from.map(to_micros), filter.created_before.map(to_micros));
    (filter.version.map(u64::cast_signed), from, before)
}

/// The versions of a view that responses of this list are for, newest first, at most `limit`.
pub async fn versions_of_view(
    conn: &mut Conn<'_>,
    (tenant_id, view_id): (TenantId, ViewId),
    filter: Filter,
    limit: u32,
) -> Result<Vec<u64>> {
    let (before, state) = (None::<Uuid>, filter.state.map(ResponseState::as_str));
    let (respondent, promoted, limit) = (filter.respondent, filter.promoted.map(i64::from), i64::from(limit));
    let (version, from, until) = bounds(filter);
    let reader = filter.reader.map(|reader| reader.to_string());
    let rows = run!(
        conn,
        fetch_all One<i64>,
        VERSIONS_OF_VIEW,
        tenant_id.0,
        before,
        state,
        respondent,
        promoted,
        limit,
        view_id.0,
        version,
        from,
        until,
        reader.as_deref()
    )?;
    Ok(rows.into_iter().map(|(version,)| version.max(0).cast_unsigned()).collect())
}

/// Numbers of responses of one view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResponseCounts {
    /// Submitted ones, from which entities may have been made. Those of incognito sessions are not counted.
    pub submitted: u64,
    /// Drafts that can still be submitted, without those of incognito sessions.
    pub drafts: u64,
}

/// Numbers of responses of each of these views, in one query.
pub async fn counts(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    views: &[ViewId],
) -> Result<Vec<(ViewId, ResponseCounts)>> {
    if views.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = views.iter().map(|id| id.0).collect();
    let rows: Vec<(Uuid, i64, i64)> = match conn {
        Conn::Sqlite(c) => {
            let hex: Vec<String> = ids.iter().map(|id| id.simple().to_string()).collect();
            c.fetch_all::<(Uuid, i64, i64)>(COUNTS_SQLITE, &[&tenant_id.0, &serde_json::Value::from(hex).to_string()])?
        }
        Conn::Postgres(c) => sqlx::query_as(COUNTS_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?,
    };
    let whole = |count: i64| count.max(0).cast_unsigned();
    let one =
        |(id, submitted, drafts)| (ViewId(id), ResponseCounts { submitted: whole(submitted), drafts: whole(drafts) });
    Ok(rows.into_iter().map(one).collect())
}
