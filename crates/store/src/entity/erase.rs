//! Erasing the content of entities, and finding the leads whose names and addresses are erased with others' content.

use crate::{
    engine::{Conn, Error, Result, record, run, statements},
    retention::ERASED,
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    entity::Values,
    id::{EntityId, SessionId, TenantId},
    response::{LEAD_EMAIL, LEAD_TYPE},
};
use serde_json::Value;
use uuid::Uuid;

statements! {
    const ERASE: &str = "UPDATE entities SET title = $3, fields = '{}', updated_by = $4, updated_at = $5, erased_at = $5 \
         WHERE tenant_id = $1 AND id = $2 AND erased_at IS NULL";
    const ERASE_VERSIONS: &str =
        "UPDATE entity_versions SET title = $3, fields = '{}' WHERE tenant_id = $1 AND entity_id = $2";
    // The name of a lead is copied to the question that they answer.
    const ERASE_LABELS: &str = "UPDATE request_answers SET respondent_label = NULL WHERE tenant_id = $1 \
         AND respondent_label IS NOT NULL AND response_session_id IN \
         (SELECT r.session_id FROM responses r WHERE r.tenant_id = $1 AND r.lead_entity_id = $2)";

    // A lead that no member has changed, and whose responses are all due too. Its entity is older than its responses.
    const DUE_LEADS: &str = "SELECT e.tenant_id, e.id FROM entities e \
         JOIN entity_types t ON t.tenant_id = e.tenant_id AND t.id = e.type_id \
         WHERE t.slug = $4 AND e.version = 1 AND e.created_by LIKE 'respondent:%' AND e.erased_at IS NULL AND e.updated_at < $1 \
         AND (e.tenant_id, e.id) > ($2, $3) AND NOT EXISTS (SELECT 1 FROM responses r \
             JOIN sessions s ON s.tenant_id = r.tenant_id AND s.id = r.session_id \
             WHERE r.tenant_id = e.tenant_id AND r.lead_entity_id = e.id \
             AND NOT (s.status IN ('completed', 'failed', 'abandoned', 'expired') AND COALESCE(s.completed_at, s.updated_at) < $1)) \
         ORDER BY e.tenant_id, e.id LIMIT $5";
    const LEAD_VERSIONS: &str = "SELECT v.entity_id, v.version, v.title, v.fields FROM entity_versions v \
         JOIN entities e ON e.tenant_id = v.tenant_id AND e.id = v.entity_id \
         JOIN entity_types t ON t.tenant_id = e.tenant_id AND t.id = e.type_id \
         WHERE v.tenant_id = $1 AND t.slug = $4 AND e.erased_at IS NULL AND (v.entity_id, v.version) > ($2, $3) \
         ORDER BY v.entity_id, v.version LIMIT $5";
    const RESPONSES_OF_LEAD: &str = "SELECT r.session_id FROM responses r WHERE r.tenant_id = $1 AND r.lead_entity_id = $2 \
         AND NOT EXISTS (SELECT 1 FROM erasures x WHERE x.tenant_id = r.tenant_id AND x.session_id = r.session_id \
             AND x.finished_at IS NOT NULL) ORDER BY r.session_id LIMIT $3";
}

/// Erases the title and the values of an entity and of all its versions, and the name of a lead at the questions that
/// they answered. Returns whether there was something to erase. The transaction runs with
/// [`crate::Access::Retention`].
pub async fn erase(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: EntityId,
    (by, at): (&str, Timestamp),
) -> Result<bool> {
    let (tenant, id) = (tenant_id.0, id.0);
    if run!(tx.conn(), execute, ERASE, tenant, id, ERASED, by, to_micros(at))? == 0 {
        return Ok(false);
    }
    run!(tx.conn(), execute, ERASE_VERSIONS, tenant, id, ERASED)?;
    run!(tx.conn(), execute, ERASE_LABELS, tenant, id)?;
    Ok(true)
}

/// Leads of every workspace that are due for erasure, in key order after `after`: made before `older_than`, changed by
/// no one since, and with responses only in sessions that ended before that.
pub async fn due_leads(
    conn: &mut Conn<'_>,
    older_than: Timestamp,
    after: Option<(TenantId, EntityId)>,
    limit: u32,
) -> Result<Vec<(TenantId, EntityId)>> {
    type Key = (Uuid, Uuid);
    let (tenant, id) = after.map(|(tenant, id)| (tenant.0, id.0)).unwrap_or_default();
    let rows = run!(conn, fetch_all Key, DUE_LEADS, to_micros(older_than), tenant, id, LEAD_TYPE, i64::from(limit))?;
    Ok(rows.into_iter().map(|(tenant, id)| (TenantId(tenant), EntityId(id))).collect())
}

/// What one version of a lead says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeadVersion {
    /// The entity.
    pub id: EntityId,
    /// Version number, from 1.
    pub version: u64,
    /// Name: the title.
    pub name: String,
    /// E-mail address, if there is one.
    pub email: Option<String>,
}

record! {
    struct Row of "entity_versions" {
        entity_id: EntityId,
        version: u64,
        title: String,
        fields: String,
    }
}

impl TryFrom<Row> for LeadVersion {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let bad = || Error::inconsistent("entity_versions", "fields", "not JSON");
        let fields: Values = serde_json::from_str(&row.fields).map_err(|_| bad())?;
        Ok(Self {
            id: row.entity_id,
            version: row.version,
            name: row.title,
            email: fields.get(LEAD_EMAIL).and_then(Value::as_str).map(str::to_owned),
        })
    }
}

/// Versions of the leads of a workspace that are not erased, in key order after `after`.
pub async fn lead_versions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    after: Option<(EntityId, u64)>,
    limit: u32,
) -> Result<Vec<LeadVersion>> {
    let (id, version) = after.map(|(id, version)| (id.0, version.cast_signed())).unwrap_or_default();
    let rows = run!(conn, fetch_all Row, LEAD_VERSIONS, tenant_id.0, id, version, LEAD_TYPE, i64::from(limit))?;
    rows.into_iter().map(LeadVersion::try_from).collect()
}

/// Sessions of the responses of a lead that still have their content, the oldest first.
pub async fn responses_of_lead(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: EntityId,
    limit: u32,
) -> Result<Vec<SessionId>> {
    type One = (Uuid,);
    let rows = run!(conn, fetch_all One, RESPONSES_OF_LEAD, tenant_id.0, id.0, i64::from(limit))?;
    Ok(rows.into_iter().map(|(id,)| SessionId(id)).collect())
}
