//! Gates of the past that a rule is compared with.
//!
//! Gates of sessions that only their own person can see are left out.

use super::{Row, gate_select, records};
use crate::engine::{Conn, Result, record, run, statements};
use domain::{
    Timestamp,
    clock::to_micros,
    gate::{Gate, Verdict},
    id::{GateId, TenantId},
    rule::Subject,
};

macro_rules! of_everyone {
    () => {
        "NOT EXISTS (SELECT 1 FROM sessions p WHERE p.tenant_id = g.tenant_id AND p.id = g.session_id \
         AND p.private_to IS NOT NULL)"
    };
}

statements! {
    // The title of a tool call is the name of the tool.
    const OF_SUBJECT: &str = gate_select!(concat!(
        "g.tenant_id = $1 AND g.agent_slug = $2 AND g.kind = $3 AND g.opened_at >= $4 AND (g.title = $5 OR $5 IS NULL) AND ",
        of_everyone!(),
        " ORDER BY g.opened_at DESC, g.id DESC LIMIT $6"
    ));
    const RECENTLY_DECIDED: &str = concat!(
        "SELECT g.id, g.similar_key, g.outcome FROM gates g WHERE g.tenant_id = $1 AND g.state = 'settled' \
         AND g.settled_at >= $2 AND g.kind IN ('tool', 'output', 'fields') AND g.agent_slug IS NOT NULL AND g.quorum = 1 \
         AND g.flags = '[]' AND g.similar_key <> '' AND NOT EXISTS (SELECT 1 FROM rule_uses u \
         WHERE u.tenant_id = g.tenant_id AND u.gate_id = g.id) AND ",
        of_everyone!(),
        " ORDER BY g.settled_at DESC, g.id DESC LIMIT $3"
    );
}

record! {
    /// A decision that has taken effect.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Decided of "gates" {
        /// The gate.
        pub id: GateId,
        /// Key that similar gates share.
        pub similar_key: String,
        /// What was decided.
        pub outcome: Option<Verdict>,
    }
}

/// The newest gates of the subject's agent, kind and tool that were opened since, newest first. Its fields are not
/// compared.
pub async fn of_subject(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    subject: &Subject,
    since: Timestamp,
    max: u32,
) -> Result<Vec<Gate>> {
    records(run!(
        conn,
        fetch_all Row,
        OF_SUBJECT,
        tenant_id.0,
        subject.agent.as_str(),
        subject.kind.as_str(),
        to_micros(since),
        subject.tool.as_deref(),
        i64::from(max),
    )?)
}

/// The newest decisions of people that took effect since and that a rule could have made, newest first.
pub async fn recently_decided(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    since: Timestamp,
    max: u32,
) -> Result<Vec<Decided>> {
    Ok(run!(conn, fetch_all Decided, RECENTLY_DECIDED, tenant_id.0, to_micros(since), i64::from(max))?)
}
