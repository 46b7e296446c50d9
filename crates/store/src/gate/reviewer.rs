//! Rows of `gate_reviewers`: who may decide.

use super::hex_list;
use crate::{
    conn::{Conn, run},
    error::{Error, Result},
    record::ReviewerRecord,
    transaction::WriteTx,
};
use domain::{
    id::{GateId, GroupId, TenantId, UserId},
    role::Role,
};
use std::collections::HashMap;
use uuid::Uuid;

pub(crate) const ADD: &str = "INSERT INTO gate_reviewers (tenant_id, gate_id, kind, reviewer_id) VALUES ($1, $2, $3, $4) \
     ON CONFLICT DO NOTHING";
pub(crate) const IS: &str = "SELECT COUNT(*) FROM gate_reviewers r WHERE r.tenant_id = $1 AND r.gate_id = $2 \
     AND ((r.kind = 'user' AND r.reviewer_id = $3) OR (r.kind = 'anyone' AND $4 = 1) \
     OR (r.kind = 'group' AND EXISTS (SELECT 1 FROM group_members m WHERE m.tenant_id = $1 AND m.group_id = r.reviewer_id \
     AND m.user_id = $3)))";

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
pub(crate) const OF_GATES_SQLITE: &str = of_gates!("IN (SELECT unhex(value) FROM json_each($2))");
pub(crate) const OF_GATES_POSTGRES: &str = of_gates!("= ANY($2)");

pub(crate) const WANTING_EMAIL: &str = "SELECT m.user_id, m.role, COUNT(CASE WHEN r.kind <> 'anyone' THEN 1 END) AS named \
     FROM memberships m JOIN gate_reviewers r ON r.tenant_id = m.tenant_id AND r.gate_id = $2 \
     AND (r.kind = 'anyone' OR (r.kind = 'user' AND r.reviewer_id = m.user_id) \
     OR (r.kind = 'group' AND EXISTS (SELECT 1 FROM group_members p WHERE p.tenant_id = $1 AND p.group_id = r.reviewer_id \
     AND p.user_id = m.user_id))) \
     WHERE m.tenant_id = $1 AND m.wants_email = 1 AND m.status = 'active' GROUP BY m.user_id, m.role ORDER BY m.user_id";

/// Somebody who might decide and wants e-mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanting {
    /// Who.
    pub user_id: UserId,
    /// Their role, which has to allow it where they are not named.
    pub role: Role,
    /// Whether they may decide by name or in a group.
    pub is_named: bool,
}

/// Who might decide this gate and wants e-mail.
pub async fn reviewers_wanting_email(conn: &mut Conn<'_>, tenant_id: TenantId, id: GateId) -> Result<Vec<Wanting>> {
    type Row = (Uuid, String, i64);
    let rows = run!(conn, fetch_all Row, WANTING_EMAIL, tenant_id.0, id.0)?;
    rows.into_iter()
        .map(|(user, role, named)| {
            let role = Role::parse(&role).ok_or_else(|| Error::inconsistent("memberships", "role", &role))?;
            Ok(Wanting { user_id: UserId(user), role, is_named: named > 0 })
        })
        .collect()
}

/// Lets one more decide; again is nothing new.
pub async fn add_reviewer(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: GateId,
    reviewer: &ReviewerRecord,
) -> Result<()> {
    let (kind, reviewer) = match reviewer {
        ReviewerRecord::User { id, .. } => ("user", id.0),
        ReviewerRecord::Group { id, .. } => ("group", id.0),
        ReviewerRecord::Anyone => ("anyone", Uuid::nil()),
    };
    run!(tx.conn(), execute, ADD, tenant_id.0, id.0, kind, reviewer)?;
    Ok(())
}

/// Whether this person may decide: by name, in a group, or as anyone whose role allows it.
pub async fn is_reviewer(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: GateId,
    user_id: UserId,
    may_decide: bool,
) -> Result<bool> {
    type One = (i64,);
    let (count,) = run!(conn, fetch_one One, IS, tenant_id.0, id.0, user_id.0, i64::from(may_decide))?;
    Ok(count > 0)
}

/// Who may decide these gates, by name.
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
        let reviewer = match kind.as_str() {
            "user" => ReviewerRecord::User { id: UserId(id), email: name },
            "group" => ReviewerRecord::Group { id: GroupId(id), name },
            "anyone" => ReviewerRecord::Anyone,
            other => return Err(Error::inconsistent("gate_reviewers", "kind", other)),
        };
        all.entry(GateId(gate)).or_default().push(reviewer);
    }
    Ok(all)
}
