//! Rows of `gate_reviewers`: who may decide a gate.

use super::{Place, ReviewerRecord, hex_list, listed};
use crate::{
    engine::{Conn, Error, Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    gate::{ByRole, ReviewerKind},
    id::{GateId, GroupId, TenantId, UserId},
    role::Role,
};
use std::collections::HashMap;
use uuid::Uuid;

macro_rules! of_gates {
    ($ids:literal) => {
        concat!(
            "SELECT r.gate_id, r.kind, r.reviewer_id, COALESCE(u.email, p.name, '') AS name FROM gate_reviewers r \
             LEFT JOIN users u ON r.kind = 'user' AND u.id = r.reviewer_id \
             LEFT JOIN groups p ON r.kind = 'group' AND p.tenant_id = r.tenant_id AND p.id = r.reviewer_id \
             WHERE r.tenant_id = $1 AND r.gate_id ",
            $ids,
            " ORDER BY r.gate_id, r.kind, name, r.reviewer_id"
        )
    };
}

// People named by the rows `r` of a gate `g`, and members of its groups.
macro_rules! named {
    () => {
        "SELECT r.reviewer_id AS user_id FROM gate_reviewers r WHERE r.tenant_id = g.tenant_id AND r.gate_id = g.id \
         AND r.kind = 'user' UNION SELECT p.user_id FROM gate_reviewers r JOIN group_members p \
         ON p.tenant_id = r.tenant_id AND p.group_id = r.reviewer_id WHERE r.tenant_id = g.tenant_id AND r.gate_id = g.id \
         AND r.kind = 'group'"
    };
}
// Members `m` among the named people who have access and may decide. The requester is left out if the action forbids
// self-approval.
macro_rules! has_access {
    () => {
        concat!(
            "m.tenant_id = g.tenant_id AND m.status = 'active' AND m.user_id IN (",
            named!(),
            ") AND (g.self_approval OR g.requester_id IS NULL OR g.requester_id <> m.user_id)"
        )
    };
}

statements! {
    const INSERT: &str = "INSERT INTO gate_reviewers (tenant_id, gate_id, kind, reviewer_id) VALUES ($1, $2, $3, $4) \
         ON CONFLICT DO NOTHING";
    const IS_REVIEWER: &str = "SELECT COUNT(*) FROM gate_reviewers r WHERE r.tenant_id = $1 AND r.gate_id = $2 \
         AND ((r.kind = 'user' AND r.reviewer_id = $3) OR (r.kind = 'anyone' AND $4 >= 1) OR (r.kind = 'admins' AND $4 >= 2) \
         OR (r.kind = 'group' AND EXISTS (SELECT 1 FROM group_members m WHERE m.tenant_id = $1 AND m.group_id = r.reviewer_id \
         AND m.user_id = $3)))";
    const OF_GATES_SQLITE: &str = of_gates!("IN (SELECT unhex(value) FROM json_each($2))");
    const OF_GATES_POSTGRES: &str = of_gates!("= ANY($2)");

    const EMAIL_RECIPIENTS: &str = "SELECT m.user_id, m.role, COUNT(CASE WHEN r.kind <> 'anyone' THEN 1 END) AS named \
         FROM memberships m JOIN gate_reviewers r ON r.tenant_id = m.tenant_id AND r.gate_id = $2 \
         AND (r.kind = 'anyone' OR (r.kind = 'admins' AND m.role = 'admin') OR (r.kind = 'user' AND r.reviewer_id = m.user_id) \
         OR (r.kind = 'group' AND EXISTS (SELECT 1 FROM group_members p WHERE p.tenant_id = $1 AND p.group_id = r.reviewer_id \
         AND p.user_id = m.user_id))) \
         WHERE m.tenant_id = $1 AND m.wants_email = 1 AND m.status = 'active' GROUP BY m.user_id, m.role ORDER BY m.user_id";
    // Anyone who reviews includes the admins. Questions of incognito conversations are for their person alone.
    const SHORT_OF_REVIEWERS: &str = concat!(
        "SELECT g.tenant_id, g.id, g.session_id FROM gates g WHERE g.state = 'open' AND g.id > $1 \
         AND NOT EXISTS (SELECT 1 FROM gate_reviewers r WHERE r.tenant_id = g.tenant_id AND r.gate_id = g.id \
         AND r.kind IN ('anyone', 'admins')) AND g.quorum > (SELECT COUNT(*) FROM memberships m WHERE ",
        has_access!(),
        ") AND ",
        listed!(),
        " ORDER BY g.id LIMIT $2"
    );
    const REVIEWERS_WITH_ACCESS: &str = concat!(
        "SELECT m.user_id FROM gates g JOIN memberships m ON ",
        has_access!(),
        " WHERE g.tenant_id = $1 AND g.id = $2 ORDER BY m.user_id"
    );
}

/// Open gates that need more approvals than they have reviewers with access, in id order after `after`.
pub async fn short_of_reviewers(conn: &mut Conn<'_>, after: GateId, limit: u32) -> Result<Vec<Place>> {
    type Row = (Uuid, Uuid, Uuid);
    let rows = run!(conn, fetch_all Row, SHORT_OF_REVIEWERS, after.0, i64::from(limit))?;
    Ok(rows.into_iter().map(Place::of_row).collect())
}

/// Named reviewers of a gate who have access and may decide it.
pub async fn reviewers_left(conn: &mut Conn<'_>, tenant_id: TenantId, id: GateId) -> Result<Vec<UserId>> {
    type One = (Uuid,);
    let rows = run!(conn, fetch_all One, REVIEWERS_WITH_ACCESS, tenant_id.0, id.0)?;
    Ok(rows.into_iter().map(|(user,)| UserId(user)).collect())
}

/// A member who may decide a gate and wants e-mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmailRecipient {
    /// Id of the member's account.
    pub user_id: UserId,
    /// Role of the member. It must allow the decision if the member is not named.
    pub role: Role,
    /// Whether the member may decide by name or through a group.
    pub is_named: bool,
}

/// Members who may decide this gate and want e-mail.
pub async fn reviewers_wanting_email(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: GateId,
) -> Result<Vec<EmailRecipient>> {
    type Row = (Uuid, String, i64);
    let rows = run!(conn, fetch_all Row, EMAIL_RECIPIENTS, tenant_id.0, id.0)?;
    rows.into_iter()
        .map(|(user, role, named)| {
            let role = Role::parse(&role).ok_or_else(|| Error::inconsistent("memberships", "role", &role))?;
            Ok(EmailRecipient { user_id: UserId(user), role, is_named: named > 0 })
        })
        .collect()
}

/// Adds a reviewer. Adding the same one again changes nothing.
pub async fn add_reviewer(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: GateId,
    reviewer: &ReviewerRecord,
) -> Result<()> {
    let reviewer_id = match reviewer {
        ReviewerRecord::User { id, .. } => id.0,
        ReviewerRecord::Group { id, .. } => id.0,
        ReviewerRecord::Anyone | ReviewerRecord::Admins => Uuid::nil(),
    };
    run!(tx.conn(), execute, INSERT, tenant_id.0, id.0, reviewer.kind().as_str(), reviewer_id)?;
    Ok(())
}

/// Whether this person may decide: by name, in a group, or by role.
pub async fn is_reviewer(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: GateId,
    user_id: UserId,
    by_role: ByRole,
) -> Result<bool> {
    type One = (i64,);
    let (count,) = run!(conn, fetch_one One, IS_REVIEWER, tenant_id.0, id.0, user_id.0, by_role as i64)?;
    Ok(count > 0)
}

/// The reviewers of these gates, with their names.
pub async fn reviewers(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: &[GateId],
) -> Result<HashMap<GateId, Vec<ReviewerRecord>>> {
    type Row = (Uuid, String, Uuid, String);
    let rows: Vec<Row> = match conn {
        Conn::Sqlite(c) => c.fetch_all::<Row>(OF_GATES_SQLITE, &[&tenant_id.0, &hex_list(ids)])?,
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as(OF_GATES_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    let mut all: HashMap<GateId, Vec<ReviewerRecord>> = HashMap::new();
    for (gate, kind, id, name) in rows {
        let known = ReviewerKind::parse(&kind).ok_or_else(|| Error::inconsistent("gate_reviewers", "kind", &kind))?;
        let reviewer = match known {
            ReviewerKind::User => ReviewerRecord::User { id: UserId(id), email: name },
            ReviewerKind::Group => ReviewerRecord::Group { id: GroupId(id), name },
            ReviewerKind::Anyone => ReviewerRecord::Anyone,
            ReviewerKind::Admins => ReviewerRecord::Admins,
        };
        all.entry(GateId(gate)).or_default().push(reviewer);
    }
    Ok(all)
}
