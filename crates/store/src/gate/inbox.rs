//! Lists of gates: those that one reviewer may decide, and those of the whole workspace.

use super::{Row, gate_select, records};
use crate::engine::{Conn, Page, Result, run, statements};
use domain::{
    Timestamp,
    clock::to_micros,
    gate::{ByRole, Gate, GateKind, GateOutcome, GateState, Verdict},
    id::{GateId, TenantId, UserId},
};
use std::collections::HashMap;
use uuid::Uuid;

// Gates that a person may decide, without their own requests if the action forbids self-approval. $2 is the person;
// $any is the bind of their `ByRole`.
macro_rules! decidable_by {
    ($any:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM gate_reviewers r WHERE r.tenant_id = $1 AND r.gate_id = g.id \
             AND ((r.kind = 'user' AND r.reviewer_id = $2) OR (r.kind = 'anyone' AND ",
            $any,
            " >= 1) OR (r.kind = 'admins' AND ",
            $any,
            " >= 2) OR (r.kind = 'group' AND EXISTS (SELECT 1 FROM group_members m WHERE m.tenant_id = $1 \
             AND m.group_id = r.reviewer_id AND m.user_id = $2)))) \
             AND (g.self_approval OR g.requester_id IS NULL OR g.requester_id <> $2)"
        )
    };
}
macro_rules! page {
    () => {
        " AND (g.kind = $5 OR $5 IS NULL) AND ((g.order_at, g.id) > ($6, $7) OR $7 IS NULL) ORDER BY g.order_at, g.id LIMIT $8"
    };
}
macro_rules! snoozed {
    ($instant:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM gate_snoozes z WHERE z.tenant_id = $1 AND z.gate_id = g.id AND z.user_id = $2 AND z.until > ",
            $instant,
            ")"
        )
    };
}

// A question in an incognito conversation is answered in the conversation, so no list has it.
macro_rules! listed {
    () => {
        "(g.kind <> 'question' OR NOT EXISTS (SELECT 1 FROM sessions p WHERE p.tenant_id = g.tenant_id AND p.id = g.session_id \
         AND p.private_to IS NOT NULL))"
    };
}

pub(crate) use decidable_by;
pub(crate) use listed;
pub(crate) use snoozed;

// The ids of the gates of one closed state that were closed last. None if the bind `$asked` is another state.
macro_rules! closed_in {
    ($state:literal, $whose:expr, [$asked:literal, $kind:literal, $at:literal, $id:literal, $limit:literal]) => {
        concat!(
            "SELECT id FROM (SELECT g.id FROM gates g WHERE g.tenant_id = $1 AND g.state = '",
            $state,
            "' AND (",
            $asked,
            " = '",
            $state,
            "' OR ",
            $asked,
            " IS NULL) AND (g.kind = ",
            $kind,
            " OR ",
            $kind,
            " IS NULL) AND (g.settled_at, g.id) < (",
            $at,
            ", ",
            $id,
            ") AND ",
            $whose,
            " ORDER BY g.settled_at DESC, g.id DESC LIMIT ",
            $limit,
            ") AS in_",
            $state
        )
    };
}
// Each state walks its own part of `gates_by_settled_at`, so that a page of all three reads three pages at most.
macro_rules! closed {
    ($whose:expr, [$asked:literal, $kind:literal, $at:literal, $id:literal, $limit:literal]) => {
        gate_select!(concat!(
            "g.tenant_id = $1 AND g.id IN (",
            closed_in!("settled", $whose, [$asked, $kind, $at, $id, $limit]),
            " UNION ALL ",
            closed_in!("expired", $whose, [$asked, $kind, $at, $id, $limit]),
            " UNION ALL ",
            closed_in!("withdrawn", $whose, [$asked, $kind, $at, $id, $limit]),
            ") ORDER BY g.settled_at DESC, g.id DESC LIMIT ",
            $limit
        ))
    };
}

// Gates that a `ClosedFilter` names: by agent, by the time they were closed, and by their newest decision, which is the
// one that counts. A rule that decided counts as the verdict `rule`.
macro_rules! narrowed {
    ($person:literal, $verdict:literal, $agent:literal, $since:literal) => {
        concat!(
            "(g.agent_slug = ",
            $agent,
            " OR ",
            $agent,
            " IS NULL) AND g.settled_at >= ",
            $since,
            " AND (EXISTS (SELECT 1 FROM gate_decisions d WHERE d.tenant_id = $1 AND d.gate_id = g.id AND (d.user_id = ",
            $person,
            " OR ",
            $person,
            " IS NULL) AND (CASE WHEN d.actor LIKE 'rule:%' THEN 'rule' ELSE d.verdict END = ",
            $verdict,
            " OR ",
            $verdict,
            " IS NULL) AND NOT EXISTS (SELECT 1 FROM gate_decisions n WHERE n.tenant_id = $1 AND n.gate_id = g.id \
             AND n.number > d.number)) OR (",
            $person,
            " IS NULL AND ",
            $verdict,
            " IS NULL))"
        )
    };
}

// How many open gates have each key of alike ones. The limit bounds what is read.
macro_rules! count_alike {
    ($whose:expr, $limit:literal) => {
        concat!(
            "SELECT similar_key, COUNT(*) FROM (SELECT g.similar_key FROM gates g WHERE g.tenant_id = $1 \
             AND g.state = 'open' AND ",
            $whose,
            " LIMIT ",
            $limit,
            ") AS waiting GROUP BY similar_key"
        )
    };
}

statements! {
    const DECIDABLE: &str = gate_select!(concat!(
        "g.tenant_id = $1 AND g.state = $4 AND ",
        decidable_by!("$3"),
        " AND ",
        listed!(),
        " AND NOT ",
        snoozed!("$9"),
        page!()
    ));
    const DECIDABLE_SNOOZED: &str = gate_select!(concat!(
        "g.tenant_id = $1 AND g.state = $4 AND ",
        decidable_by!("$3"),
        " AND ",
        listed!(),
        " AND ",
        snoozed!("$9"),
        page!()
    ));
    const BY_STATE: &str = gate_select!(concat!(
        "g.tenant_id = $1 AND g.state = $2 AND (g.kind = $3 OR $3 IS NULL) AND ((g.order_at, g.id) > ($4, $5) OR $5 IS NULL) AND ",
        listed!(),
        " ORDER BY g.order_at, g.id LIMIT $6"
    ));
    const CLOSED: &str = closed!(listed!(), ["$2", "$3", "$4", "$5", "$6"]);
    const CLOSED_DECIDABLE: &str =
        closed!(concat!(decidable_by!("$3"), " AND ", listed!()), ["$4", "$5", "$6", "$7", "$8"]);
    const CLOSED_NARROWED: &str = closed!(
        concat!(listed!(), " AND ", narrowed!("$7", "$8", "$9", "$10")),
        ["$2", "$3", "$4", "$5", "$6"]
    );
    const CLOSED_NARROWED_DECIDABLE: &str = closed!(
        concat!(decidable_by!("$3"), " AND ", listed!(), " AND ", narrowed!("$9", "$10", "$11", "$12")),
        ["$4", "$5", "$6", "$7", "$8"]
    );
    // While a gate is held, its newest decision is the one that counts: undoing it opens the gate again.
    const HELD_BY: &str = gate_select!(concat!(
        "g.tenant_id = $1 AND g.state = 'held' AND g.held_until > $3 AND $2 = (SELECT d.user_id FROM gate_decisions d \
         WHERE d.tenant_id = $1 AND d.gate_id = g.id ORDER BY d.number DESC LIMIT 1) AND ",
        listed!(),
        " ORDER BY g.held_until DESC, g.order_at, g.id LIMIT $4"
    ));
    const COUNT_DECIDABLE: &str = concat!(
        "SELECT COUNT(*) FROM (SELECT 1 FROM gates g WHERE g.tenant_id = $1 AND g.state = 'open' AND ",
        decidable_by!("$3"),
        " AND ",
        listed!(),
        " AND NOT ",
        snoozed!("$4"),
        " LIMIT $5) AS counted"
    );
    const ALIKE: &str = gate_select!(concat!(
        "g.tenant_id = $1 AND g.state = 'open' AND g.similar_key = $2 AND ",
        listed!(),
        " ORDER BY g.order_at, g.id LIMIT $3"
    ));
    const ALIKE_DECIDABLE: &str = gate_select!(concat!(
        "g.tenant_id = $1 AND g.state = 'open' AND g.similar_key = $4 AND ",
        decidable_by!("$3"),
        " AND ",
        listed!(),
        " AND NOT ",
        snoozed!("$5"),
        " ORDER BY g.order_at, g.id LIMIT $6"
    ));
    const COUNT_ALIKE: &str = count_alike!(listed!(), "$2");
    const COUNT_ALIKE_DECIDABLE: &str =
        count_alike!(concat!(decidable_by!("$3"), " AND ", listed!(), " AND NOT ", snoozed!("$4")), "$5");
}

/// Whose gates are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboxScope {
    /// All gates of the workspace.
    All,
    /// Gates that this person may decide.
    Mine {
        /// Id of the person.
        user_id: UserId,
        /// What the person's role allows without being named.
        by_role: ByRole,
        /// `true` lists only snoozed gates; `false` leaves them out. Closed gates are listed in either case.
        snoozed: bool,
    },
}

/// Which closed gates are listed. Empty: all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClosedFilter {
    /// Only gates whose newest decision is this person's.
    pub decided_by: Option<UserId>,
    /// Only gates that ended like this.
    pub outcome: Option<GateOutcome>,
    /// Only gates of this agent.
    pub agent: Option<String>,
    /// Only gates that were closed at this time or later.
    pub since: Option<Timestamp>,
    /// Only gates that were closed before this time.
    pub until: Option<Timestamp>,
}

impl ClosedFilter {
    /// The state of the gates that are listed; `None` for every state of closed gates.
    pub fn state(&self) -> Option<GateState> {
        let decided = self.decided_by.map(|_| GateState::Settled);
        self.outcome.map(GateOutcome::state).or(decided)
    }

    /// The name of the verdict of their newest decision in the statements.
    fn verdict(&self) -> Option<&'static str> {
        match self.outcome? {
            GateOutcome::ByRule => Some("rule"),
            outcome => outcome.verdict().map(Verdict::as_str),
        }
    }
}

/// Parameters of a list of gates.
#[derive(Debug, Clone)]
pub struct Inbox {
    /// Whose gates are listed.
    pub whose: InboxScope,
    /// Only gates in this state. `None`: only gates that are settled, expired or withdrawn.
    pub state: Option<GateState>,
    /// Only gates of this kind.
    pub kind: Option<GateKind>,
    /// Which closed gates are listed. Open and held gates are listed in any case.
    pub closed: ClosedFilter,
    /// Sort key and id of the last gate of the page before. The key is the gate's `order_at`, or for a list of closed
    /// gates the time it was closed, microseconds since the Unix epoch.
    pub after: Option<(i64, GateId)>,
    /// Most gates of a page.
    pub limit: u32,
    /// Current time, which decides whether a snooze has ended.
    pub now: Timestamp,
}

impl Inbox {
    /// Whether closed gates are listed. They are ordered by the time they were closed.
    pub fn is_closed(&self) -> bool {
        self.state.is_none_or(GateState::is_closed)
    }
}

/// One page of gates: closest deadline first, then oldest. Closed gates: closed last first.
pub async fn list(conn: &mut Conn<'_>, tenant_id: TenantId, inbox: &Inbox) -> Result<Page<Gate>> {
    let mut rows =
        if inbox.is_closed() { closed(conn, tenant_id, inbox).await? } else { waiting(conn, tenant_id, inbox).await? };
    let has_more = rows.len() > inbox.limit as usize;
    rows.truncate(inbox.limit as usize);
    Ok(Page { items: records(rows)?, has_more })
}

/// The open gates of a list that have this key of alike ones, on its first page: closest deadline first, then oldest.
pub async fn list_alike(conn: &mut Conn<'_>, tenant_id: TenantId, inbox: &Inbox, key: &str) -> Result<Page<Gate>> {
    let more = i64::from(inbox.limit) + 1;
    let mut rows: Vec<Row> = match inbox.whose {
        InboxScope::All => run!(conn, fetch_all Row, ALIKE, tenant_id.0, key, more)?,
        InboxScope::Mine { user_id, by_role, .. } => {
            let (any, now) = (by_role as i64, to_micros(inbox.now));
            run!(conn, fetch_all Row, ALIKE_DECIDABLE, tenant_id.0, user_id.0, any, key, now, more)?
        }
    };
    let has_more = rows.len() > inbox.limit as usize;
    rows.truncate(inbox.limit as usize);
    Ok(Page { items: records(rows)?, has_more })
}

/// The rows of a page of open or held gates, and one more if there is one.
async fn waiting(conn: &mut Conn<'_>, tenant_id: TenantId, inbox: &Inbox) -> Result<Vec<Row>> {
    let (state, kind) = (inbox.state.map(GateState::as_str), inbox.kind.map(GateKind::as_str));
    let (after_at, after_id) = (inbox.after.map_or(0, |(at, _)| at), inbox.after.map(|(_, id)| id.0));
    let more = i64::from(inbox.limit) + 1;
    Ok(match inbox.whose {
        InboxScope::All => run!(conn, fetch_all Row, BY_STATE, tenant_id.0, state, kind, after_at, after_id, more)?,
        InboxScope::Mine { user_id, by_role, snoozed } => run!(
            conn,
            fetch_all Row,
            if snoozed { DECIDABLE_SNOOZED } else { DECIDABLE },
            tenant_id.0,
            user_id.0,
            by_role as i64,
            state,
            kind,
            after_at,
            after_id,
            more,
            to_micros(inbox.now),
        )?,
    })
}

/// The rows of a page of closed gates, and one more if there is one.
async fn closed(conn: &mut Conn<'_>, tenant_id: TenantId, inbox: &Inbox) -> Result<Vec<Row>> {
    let (state, kind) = (inbox.state.map(GateState::as_str), inbox.kind.map(GateKind::as_str));
    // The first page begins after every gate. A comparison that is always true would keep later pages from entering the
    // index at the right place.
    let (before_at, before_id) = inbox.after.map_or((i64::MAX, Uuid::max()), |(at, id)| (at, id.0));
    let more = i64::from(inbox.limit) + 1;
    if inbox.closed != ClosedFilter::default() {
        return narrowed(conn, tenant_id, inbox, (before_at, before_id)).await;
    }
    Ok(match inbox.whose {
        InboxScope::All => run!(conn, fetch_all Row, CLOSED, tenant_id.0, state, kind, before_at, before_id, more)?,
        InboxScope::Mine { user_id, by_role, .. } => run!(
            conn,
            fetch_all Row,
            CLOSED_DECIDABLE,
            tenant_id.0,
            user_id.0,
            by_role as i64,
            state,
            kind,
            before_at,
            before_id,
            more,
        )?,
    })
}

/// The rows of a page of closed gates that a filter names, and one more if there is one.
async fn narrowed(conn: &mut Conn<'_>, tenant_id: TenantId, inbox: &Inbox, before: (i64, Uuid)) -> Result<Vec<Row>> {
    let (state, kind) = (inbox.state.map(GateState::as_str), inbox.kind.map(GateKind::as_str));
    let ClosedFilter { decided_by, agent, since, until, .. } = &inbox.closed;
    let until = until.map_or((i64::MAX, Uuid::max()), |until| (to_micros(until), Uuid::nil()));
    let (before_at, before_id) = before.min(until);
    let more = i64::from(inbox.limit) + 1;
    let (person, verdict, agent) = (decided_by.map(|id| id.0), inbox.closed.verdict(), agent.as_deref());
    let since = since.map_or(i64::MIN, to_micros);
    Ok(match inbox.whose {
        InboxScope::All => run!(
            conn,
            fetch_all Row,
            CLOSED_NARROWED,
            tenant_id.0,
            state,
            kind,
            before_at,
            before_id,
            more,
            person,
            verdict,
            agent,
            since,
        )?,
        InboxScope::Mine { user_id, by_role, .. } => run!(
            conn,
            fetch_all Row,
            CLOSED_NARROWED_DECIDABLE,
            tenant_id.0,
            user_id.0,
            by_role as i64,
            state,
            kind,
            before_at,
            before_id,
            more,
            person,
            verdict,
            agent,
            since,
        )?,
    })
}

/// Gates whose last decision is this person's and can still be undone, newest first.
pub async fn held_by(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    user_id: UserId,
    now: Timestamp,
    at_most: u32,
) -> Result<Vec<Gate>> {
    records(run!(conn, fetch_all Row, HELD_BY, tenant_id.0, user_id.0, to_micros(now), i64::from(at_most))?)
}

/// Number of open gates that this person may decide and has not snoozed. Counting ends at `at_most`.
pub async fn count(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    user_id: UserId,
    by_role: ByRole,
    now: Timestamp,
    at_most: u32,
) -> Result<u64> {
    type One = (i64,);
    let (any, now, at_most) = (by_role as i64, to_micros(now), i64::from(at_most));
    let (count,) = run!(conn, fetch_one One, COUNT_DECIDABLE, tenant_id.0, user_id.0, any, now, at_most)?;
    Ok(count.cast_unsigned())
}

/// Number of open gates by their key of alike ones, of all pages of a list of open gates. Counting ends at `at_most`
/// gates.
pub async fn count_alike(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    inbox: &Inbox,
    at_most: u32,
) -> Result<HashMap<String, u64>> {
    type Count = (String, i64);
    let at_most = i64::from(at_most);
    let counts = match inbox.whose {
        InboxScope::All => run!(conn, fetch_all Count, COUNT_ALIKE, tenant_id.0, at_most)?,
        InboxScope::Mine { user_id, by_role, .. } => {
            let (any, now) = (by_role as i64, to_micros(inbox.now));
            run!(conn, fetch_all Count, COUNT_ALIKE_DECIDABLE, tenant_id.0, user_id.0, any, now, at_most)?
        }
    };
    Ok(counts.into_iter().map(|(key, count)| (key, count.cast_unsigned())).collect())
}
