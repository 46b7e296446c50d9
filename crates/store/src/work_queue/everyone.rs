//! The queue of the whole workspace: of every action, assigned or not, and of sessions that execute none. Every member
//! reads it, so no statement finds a private session.

use super::{Since, failed_since, part_of_day, ready};
use crate::{
    action::action_select,
    engine::{Conn, Result, run, statements},
    session::{self, session_select},
};
use domain::{clock::to_micros, id::TenantId, session::Session, work_queue::Bucket};

// Counted action by action, like one person's queue: the same index answers, and no row of a session is read.
macro_rules! of_all {
    ($which:expr) => {
        concat!(
            "(SELECT COALESCE(SUM((SELECT COUNT(*) FROM sessions s WHERE s.tenant_id = $1 AND s.action_id = a.id \
             AND s.private_to IS NULL AND ",
            $which,
            ")), 0) FROM actions a WHERE a.tenant_id = $1) + (SELECT COUNT(*) FROM sessions s WHERE s.tenant_id = $1 \
             AND s.action_id IS NULL AND s.private_to IS NULL AND ",
            $which,
            ")"
        )
    };
}
macro_rules! waiting {
    () => {
        "s.status IN ('waiting_human', 'awaiting_tool')"
    };
}
macro_rules! live {
    () => {
        "s.status IN ('running', 'pending') AND s.session_type IN ('agent', 'mixed')"
    };
}
macro_rules! done_since {
    ($instant:literal) => {
        concat!("s.status = 'completed' AND s.completed_at >= ", $instant, " AND s.session_type IN ('agent', 'mixed')")
    };
}

// A part of the day in two rows an hour: of sessions that execute an action, and of those that execute none.
macro_rules! part {
    ($part:literal, $at:literal, $which:expr) => {
        concat!(
            part_of_day!(
                "$2",
                $part,
                $at,
                concat!(
                    "actions a CROSS JOIN sessions s WHERE a.tenant_id = $1 AND s.tenant_id = $1 \
                     AND s.action_id = a.id AND s.private_to IS NULL AND ",
                    $which
                )
            ),
            " UNION ALL ",
            part_of_day!(
                "$2",
                $part,
                $at,
                concat!(
                    "sessions s WHERE s.tenant_id = $1 AND s.action_id IS NULL AND s.private_to IS NULL AND ",
                    $which
                )
            )
        )
    };
}

// The ids first, through the same index, and whole rows of the few that are shown.
macro_rules! section_select {
    ($which:expr, $order:literal) => {
        session_select!(concat!(
            "tenant_id = $1 AND id IN (SELECT id FROM (SELECT s.id, s.",
            $order,
            " FROM actions a CROSS JOIN sessions s WHERE a.tenant_id = $1 AND s.tenant_id = $1 \
             AND s.action_id = a.id AND s.private_to IS NULL AND ",
            $which,
            " UNION ALL SELECT s.id, s.",
            $order,
            " FROM sessions s WHERE s.tenant_id = $1 AND s.action_id IS NULL AND s.private_to IS NULL AND ",
            $which,
            " ORDER BY 2 DESC LIMIT $2) AS newest) ORDER BY ",
            $order,
            " DESC"
        ))
    };
}
macro_rules! newest_of_status {
    ($status:literal) => {
        concat!(
            "SELECT id FROM (SELECT id FROM sessions WHERE tenant_id = $1 AND status = '",
            $status,
            "' AND session_type IN ('agent', 'mixed') AND private_to IS NULL ORDER BY id DESC LIMIT $2) AS ",
            $status
        )
    };
}

statements! {
    // $1 the workspace, $2 since when failures count, $3 midnight.
    pub(crate) const COUNTS: &str = concat!(
        "SELECT CAST(",
        of_all!(waiting!()),
        " AS bigint), CAST(",
        of_all!(live!()),
        " AS bigint), (SELECT COUNT(*) FROM actions a WHERE a.tenant_id = $1 AND ",
        ready!(),
        "), CAST(",
        of_all!(failed_since!("$2")),
        " AS bigint), CAST(",
        of_all!(done_since!("$3")),
        " AS bigint)"
    );
    // $1 the workspace, $2 midnight, $3 since when failures count, $4 the least id of a session made since midnight.
    pub(crate) const DAY: &str = concat!(
        part!("0", "s.updated_at", waiting!()),
        " UNION ALL ",
        part!("1", "COALESCE(s.started_at, s.created_at)", live!()),
        " UNION ALL ",
        part_of_day!(
            "$2",
            "2",
            "s.created_at",
            "sessions s WHERE s.tenant_id = $1 AND s.id >= $4 AND s.session_type IN ('agent', 'mixed') \
             AND s.private_to IS NULL"
        ),
        " UNION ALL ",
        part!("3", "s.completed_at", failed_since!("$3")),
        " UNION ALL ",
        part!("4", "s.completed_at", done_since!("$2")),
    );
    const FAILED: &str = section_select!(failed_since!("$3"), "completed_at");
    const DONE_TODAY: &str = section_select!(done_since!("$3"), "completed_at");
    // What waits or is at work is found by its status, however many have ended.
    const WAITING: &str = session_select!(
        "tenant_id = $1 AND status IN ('waiting_human', 'awaiting_tool') AND private_to IS NULL \
         ORDER BY updated_at LIMIT $2"
    );
    const RUNNING: &str = session_select!(concat!(
        "tenant_id = $1 AND id IN (",
        newest_of_status!("running"),
        " UNION ALL ",
        newest_of_status!("pending"),
        ") ORDER BY id DESC LIMIT $2"
    ));
    pub(crate) const DELEGATABLE: &str = action_select!(concat!(ready!(), " ORDER BY a.updated_at DESC LIMIT $2"));
}

/// The sessions of a bucket; empty for `Delegatable`.
pub(super) async fn sessions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    bucket: Bucket,
    since: Since,
    limit: u32,
) -> Result<Vec<Session>> {
    type Row = session::Row;
    let (tenant, limit) = (tenant_id.0, i64::from(limit));
    let rows = match bucket {
        Bucket::NeedsMe => run!(conn, fetch_all Row, WAITING, tenant, limit)?,
        Bucket::Running => run!(conn, fetch_all Row, RUNNING, tenant, limit)?,
        Bucket::Failed => run!(conn, fetch_all Row, FAILED, tenant, limit, to_micros(since.failed))?,
        Bucket::DoneToday => run!(conn, fetch_all Row, DONE_TODAY, tenant, limit, to_micros(since.done))?,
        Bucket::Delegatable => Vec::new(),
    };
    rows.into_iter().map(Session::try_from).collect()
}
