//! The five buckets of the work queue: their counts, their history over the day, and the rows of one bucket. The
//! statements here are for one person's queue; [`everyone`] has those for the whole workspace.

pub(crate) mod everyone;

use crate::{
    action::{ActionRecord, action_select},
    engine::{Conn, Error, Result, run, statements},
    gate::{decidable_by, listed, snoozed},
    session::{self, session_select},
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
    gate::ByRole,
    id::{TenantId, UserId, least_v7},
    session::Session,
    work_queue::Bucket,
};

// A session counts for the assignee of its action. The count is made per action, because the planner may begin a join
// with all sessions of a status.
macro_rules! of_assigned_actions {
    ($which:literal) => {
        concat!(
            "(SELECT COALESCE(SUM((SELECT COUNT(*) FROM sessions s WHERE s.tenant_id = $1 AND s.action_id = a.id AND s.private_to IS NULL AND ",
            $which,
            ")), 0) FROM actions a WHERE a.tenant_id = $1 AND a.assigned_to = $2)"
        )
    };
}
// An action that an agent can take on: nothing of it is queued, at work, or waits for a person. Private sessions do not
// count, because the list would show to others that one continues.
macro_rules! ready {
    () => {
        "a.status = 'active' AND a.agent_slug IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sessions s \
         WHERE s.tenant_id = $1 AND s.action_id = a.id AND s.private_to IS NULL \
         AND s.status IN ('running', 'pending', 'waiting_human', 'awaiting_tool'))"
    };
}
macro_rules! failed_since {
    ($instant:literal) => {
        concat!("s.status IN ('failed', 'expired', 'abandoned') AND s.completed_at >= ", $instant)
    };
}
// Open gates that the person may decide.
macro_rules! decidable_gates {
    ($any:literal, $now:literal) => {
        concat!(
            "g.tenant_id = $1 AND g.state = 'open' AND ",
            decidable_by!($any),
            " AND ",
            listed!(),
            " AND NOT ",
            snoozed!($now)
        )
    };
}
// Sessions of the person that wait for them without a gate, such as a coding agent's in a terminal.
macro_rules! waits_in_terminal {
    () => {
        "s.tenant_id = $1 AND s.user_id = $2 AND s.status = 'waiting_human' AND NOT EXISTS (SELECT 1 FROM gates g \
         WHERE g.tenant_id = $1 AND g.session_id = s.id AND g.state IN ('open', 'held'))"
    };
}
// Leaves out what is counted through the actions that are assigned to the person.
macro_rules! not_on_assigned_action {
    ($of:literal) => {
        concat!(
            " AND NOT EXISTS (SELECT 1 FROM actions a WHERE a.tenant_id = $1 AND a.id = ",
            $of,
            ".action_id AND a.assigned_to = $2)"
        )
    };
}

// One part of the day by hour: number of the part, hour (-1: before midnight), count, first and last time. Waiting and
// running sessions count whenever they began. $midnight is the bind of midnight.
macro_rules! part_of_day {
    ($midnight:literal, $part:literal, $at:literal, $from:expr) => {
        concat!(
            "SELECT CAST(",
            $part,
            " AS bigint), CASE WHEN ",
            $at,
            " < ",
            $midnight,
            " THEN -1 ELSE (",
            $at,
            " - ",
            $midnight,
            ") / 3600000000 END, COUNT(*), MIN(",
            $at,
            "), MAX(",
            $at,
            ") FROM ",
            $from,
            " GROUP BY 2"
        )
    };
}
macro_rules! sessions_of_assigned_actions {
    ($which:literal) => {
        concat!(
            "actions a CROSS JOIN sessions s WHERE a.tenant_id = $1 AND a.assigned_to = $2 AND s.tenant_id = $1 \
             AND s.action_id = a.id AND s.private_to IS NULL AND ",
            $which
        )
    };
}

// Selects the ids first, action by action (CROSS JOIN keeps that order on SQLite), then the whole rows of one page.
macro_rules! section_select {
    ($which:literal, $order:literal) => {
        session_select!(concat!(
            "tenant_id = $1 AND id IN (SELECT s.id FROM actions a CROSS JOIN sessions s WHERE a.tenant_id = $1 \
             AND a.assigned_to = $2 AND s.tenant_id = $1 AND s.action_id = a.id AND s.private_to IS NULL AND ",
            $which,
            " ORDER BY s.",
            $order,
            " LIMIT $3) ORDER BY ",
            $order
        ))
    };
}

statements! {
    const COUNTS: &str = concat!(
        "SELECT CAST(",
        of_assigned_actions!("s.status IN ('waiting_human', 'awaiting_tool')"),
        " + (SELECT COUNT(*) FROM gates g WHERE ",
        decidable_gates!("$5", "$6"),
        not_on_assigned_action!("g"),
        ") + (SELECT COUNT(*) FROM sessions s WHERE ",
        waits_in_terminal!(),
        not_on_assigned_action!("s"),
        ") AS bigint), CAST(",
        of_assigned_actions!("s.status IN ('running', 'pending') AND s.session_type IN ('agent', 'mixed')"),
        " AS bigint), (SELECT COUNT(*) FROM actions a WHERE a.tenant_id = $1 AND a.assigned_to = $2 AND ",
        ready!(),
        "), CAST(",
        of_assigned_actions!("s.status IN ('failed', 'expired', 'abandoned') AND s.completed_at >= $3"),
        " AS bigint), CAST(",
        of_assigned_actions!("s.status = 'completed' AND s.completed_at >= $4 AND s.session_type IN ('agent', 'mixed')"),
        " AS bigint)"
    );
    const DAY: &str = concat!(
        part_of_day!(
            "$3",
            "0",
            "s.updated_at",
            sessions_of_assigned_actions!("s.status IN ('waiting_human', 'awaiting_tool')")
        ),
        " UNION ALL ",
        part_of_day!(
            "$3",
            "0",
            "g.opened_at",
            concat!("gates g WHERE ", decidable_gates!("$5", "$6"), not_on_assigned_action!("g"))
        ),
        " UNION ALL ",
        part_of_day!(
            "$3",
            "0",
            "s.updated_at",
            concat!("sessions s WHERE ", waits_in_terminal!(), not_on_assigned_action!("s"))
        ),
        " UNION ALL ",
        part_of_day!(
            "$3",
            "1",
            "COALESCE(s.started_at, s.created_at)",
            sessions_of_assigned_actions!("s.status IN ('running', 'pending') AND s.session_type IN ('agent', 'mixed')")
        ),
        " UNION ALL ",
        part_of_day!(
            "$3",
            "2",
            "s.created_at",
            sessions_of_assigned_actions!("s.id >= $7 AND s.session_type IN ('agent', 'mixed')")
        ),
        " UNION ALL ",
        part_of_day!(
            "$3",
            "3",
            "s.completed_at",
            sessions_of_assigned_actions!("s.status IN ('failed', 'expired', 'abandoned') AND s.completed_at >= $4")
        ),
        " UNION ALL ",
        part_of_day!(
            "$3",
            "4",
            "s.completed_at",
            sessions_of_assigned_actions!(
                "s.status = 'completed' AND s.completed_at >= $3 AND s.session_type IN ('agent', 'mixed')"
            )
        ),
    );
    const NEEDS_ME: &str = session_select!(concat!(
        "tenant_id = $1 AND id IN (SELECT id FROM (SELECT s.id FROM actions a CROSS JOIN sessions s WHERE a.tenant_id = $1 \
         AND a.assigned_to = $2 AND s.tenant_id = $1 AND s.action_id = a.id AND s.private_to IS NULL \
         AND s.status IN ('waiting_human', 'awaiting_tool') ORDER BY s.updated_at LIMIT $3) AS of_assigned UNION SELECT session_id FROM (SELECT g.session_id FROM gates g WHERE ",
        decidable_gates!("$4", "$5"),
        " ORDER BY g.order_at, g.id LIMIT $3) AS to_decide UNION SELECT id FROM (SELECT s.id FROM sessions s WHERE ",
        waits_in_terminal!(),
        " ORDER BY s.updated_at LIMIT $3) AS in_terminal) ORDER BY updated_at LIMIT $3"
    ));
    const WAITING_IN_TERMINAL: &str = session_select!(concat!(
        "tenant_id = $1 AND id IN (SELECT s.id FROM sessions s WHERE ",
        waits_in_terminal!(),
        ") ORDER BY updated_at LIMIT $3"
    ));
    const RUNNING: &str =
        section_select!("s.status IN ('running', 'pending') AND s.session_type IN ('agent', 'mixed')", "id DESC");
    const FAILED: &str =
        section_select!("s.status IN ('failed', 'expired', 'abandoned') AND s.completed_at >= $4", "completed_at DESC");
    const DONE_TODAY: &str = section_select!(
        "s.status = 'completed' AND s.completed_at >= $4 AND s.session_type IN ('agent', 'mixed')",
        "completed_at DESC"
    );
    const DELEGATABLE: &str =
        action_select!(concat!("a.assigned_to = $2 AND ", ready!(), " ORDER BY a.updated_at DESC LIMIT $3"));
    // Failed sessions of unassigned actions and of no action, which are in no person's queue.
    const FAILED_UNASSIGNED: &str = concat!(
        "SELECT CAST((SELECT COALESCE(SUM((SELECT COUNT(*) FROM sessions s WHERE s.tenant_id = $1 AND \
         s.action_id = a.id AND s.private_to IS NULL AND ",
        failed_since!("$2"),
        ")), 0) FROM actions a WHERE a.tenant_id = $1 AND a.assigned_to IS NULL) + (SELECT COUNT(*) FROM sessions s \
         WHERE s.tenant_id = $1 AND s.action_id IS NULL AND s.private_to IS NULL AND ",
        failed_since!("$2"),
        ") AS bigint)"
    );
}

use failed_since;
use part_of_day;
use ready;

/// Start times of the buckets.
#[derive(Debug, Clone, Copy)]
pub struct Since {
    /// Start of the failed bucket: 24 hours ago.
    pub failed: Timestamp,
    /// Start of the done bucket: midnight in the caller's time zone.
    pub done: Timestamp,
    /// Current time, which decides whether a snooze has ended.
    pub now: Timestamp,
}

/// The person whose queue is read.
#[derive(Debug, Clone, Copy)]
pub struct QueuePerson {
    /// Id of the person.
    pub user_id: UserId,
    /// What the person's role allows without being named.
    pub by_role: ByRole,
}

/// Whose queue is read.
#[derive(Debug, Clone, Copy)]
pub enum QueueOwner {
    /// One person's queue: their tasks, and the gates they may decide.
    Mine(QueuePerson),
    /// The queue of the whole workspace.
    Everyone,
}

/// Counts in the order of [`Bucket::ALL`].
pub async fn counts(conn: &mut Conn<'_>, tenant_id: TenantId, of: QueueOwner, since: Since) -> Result<[u64; 5]> {
    type Counts = (i64, i64, i64, i64, i64);
    let (failed, done, now) = (to_micros(since.failed), to_micros(since.done), to_micros(since.now));
    let row = match of {
        QueueOwner::Mine(me) => {
            let (user, any) = (me.user_id.0, me.by_role as i64);
            run!(conn, fetch_one Counts, COUNTS, tenant_id.0, user, failed, done, any, now)?
        }
        QueueOwner::Everyone => run!(conn, fetch_one Counts, everyone::COUNTS, tenant_id.0, failed, done)?,
    };
    Ok([row.0, row.1, row.2, row.3, row.4].map(i64::cast_unsigned))
}

/// A part of the summary of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayPart {
    /// Sessions and gates that wait for the person, by the time they began to wait.
    Waiting,
    /// Sessions that are queued or running, by the time they were begun or made.
    Live,
    /// Sessions made since midnight.
    Begun,
    /// Sessions that ended badly since [`Since::failed`].
    Failed,
    /// Sessions completed since midnight.
    Done,
}

impl DayPart {
    const ALL: [Self; 5] = [Self::Waiting, Self::Live, Self::Begun, Self::Failed, Self::Done];
}

/// The items of one part of a day that fall in one hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hour {
    /// The part of the day's summary.
    pub part: DayPart,
    /// Hours since midnight; `None` for all items before midnight.
    pub hour: Option<u8>,
    /// Number of items.
    pub count: u64,
    /// Time of the first item (UTC).
    pub first: Timestamp,
    /// Time of the last item (UTC).
    pub last: Timestamp,
}

/// The day so far, hour by hour. Hours without items are left out. Some parts have several rows for an
/// hour.
pub async fn day(conn: &mut Conn<'_>, tenant_id: TenantId, of: QueueOwner, since: Since) -> Result<Vec<Hour>> {
    type Row = (i64, i64, i64, i64, i64);
    let (failed, done, now) = (to_micros(since.failed), to_micros(since.done), to_micros(since.now));
    let least = least_v7(since.done);
    let rows = match of {
        QueueOwner::Mine(me) => {
            let (user, any) = (me.user_id.0, me.by_role as i64);
            run!(conn, fetch_all Row, DAY, tenant_id.0, user, done, failed, any, now, least)?
        }
        QueueOwner::Everyone => run!(conn, fetch_all Row, everyone::DAY, tenant_id.0, done, failed, least)?,
    };
    let hours = rows.into_iter().map(|(part, hour, count, first, last)| {
        let known = usize::try_from(part).ok().and_then(|at| DayPart::ALL.get(at).copied());
        Ok(Hour {
            part: known.ok_or_else(|| Error::inconsistent("day", "part", part))?,
            hour: u8::try_from(hour).ok(),
            count: count.cast_unsigned(),
            first: from_micros(first),
            last: from_micros(last),
        })
    });
    hours.collect()
}

/// The sessions of a bucket; empty for `Delegatable`.
pub async fn sessions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    of: QueueOwner,
    bucket: Bucket,
    since: Since,
    limit: u32,
) -> Result<Vec<Session>> {
    type Row = session::Row;
    let me = match of {
        QueueOwner::Mine(me) => me,
        QueueOwner::Everyone => return everyone::sessions(conn, tenant_id, bucket, since, limit).await,
    };
    let (tenant, user, limit) = (tenant_id.0, me.user_id.0, i64::from(limit));
    let rows = match bucket {
        Bucket::NeedsMe => {
            let (may_decide, now) = (me.by_role as i64, to_micros(since.now));
            run!(conn, fetch_all Row, NEEDS_ME, tenant, user, limit, may_decide, now)?
        }
        Bucket::Running => run!(conn, fetch_all Row, RUNNING, tenant, user, limit)?,
        Bucket::Failed => run!(conn, fetch_all Row, FAILED, tenant, user, limit, to_micros(since.failed))?,
        Bucket::DoneToday => run!(conn, fetch_all Row, DONE_TODAY, tenant, user, limit, to_micros(since.done))?,
        Bucket::Delegatable => Vec::new(),
    };
    rows.into_iter().map(Session::try_from).collect()
}

/// Sessions of a person that wait for the person and cannot be answered here, such as those of coding
/// agents. The longest waiting come first.
pub async fn waiting_in_terminal(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    user_id: UserId,
    limit: u32,
) -> Result<Vec<Session>> {
    type Row = session::Row;
    let rows = run!(conn, fetch_all Row, WAITING_IN_TERMINAL, tenant_id.0, user_id.0, i64::from(limit))?;
    rows.into_iter().map(Session::try_from).collect()
}

/// The actions of the `Delegatable` bucket.
pub async fn delegatable(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    of: QueueOwner,
    limit: u32,
) -> Result<Vec<ActionRecord>> {
    let limit = i64::from(limit);
    Ok(match of {
        QueueOwner::Mine(me) => run!(conn, fetch_all ActionRecord, DELEGATABLE, tenant_id.0, me.user_id.0, limit)?,
        QueueOwner::Everyone => run!(conn, fetch_all ActionRecord, everyone::DELEGATABLE, tenant_id.0, limit)?,
    })
}

/// Number of sessions without an action, or of unassigned actions, that ended badly since `since`.
pub async fn failed_unassigned(conn: &mut Conn<'_>, tenant_id: TenantId, since: Timestamp) -> Result<u64> {
    type One = (i64,);
    let (count,) = run!(conn, fetch_one One, FAILED_UNASSIGNED, tenant_id.0, to_micros(since))?;
    Ok(count.cast_unsigned())
}
