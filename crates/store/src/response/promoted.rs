//! What was made from the responses of a person.

use crate::engine::{Conn, Result, run, statements};
use domain::{
    id::{EntityId, SessionId, TenantId, UserId},
    response::PROMOTION_SOURCE,
};
use uuid::Uuid;

type One = (Uuid,);

macro_rules! promoted_select {
    ($whose:literal) => {
        concat!(
            "SELECT DISTINCT e.id, e.title FROM responses r \
             JOIN entities e ON e.tenant_id = r.tenant_id AND e.id = r.promoted_entity_id \
             WHERE r.tenant_id = $1 AND r.promoted_entity_id IS NOT NULL AND e.erased_at IS NULL AND ",
            $whose,
            " ORDER BY e.id LIMIT $3"
        )
    };
}

statements! {
    const SESSIONS: &str = "SELECT id FROM sessions WHERE tenant_id = $1 AND parent_id = $2 AND source = $3 ORDER BY id";
    const OF_LEAD: &str = promoted_select!("r.lead_entity_id = $2");
    const OF_MEMBER: &str = promoted_select!("r.respondent_kind = 'user' AND r.respondent = $2");
}

/// Returns the sessions of tasks that were given a response, the oldest first: several if one was denied.
pub async fn promotion_sessions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    response: SessionId,
) -> Result<Vec<SessionId>> {
    let rows = run!(conn, fetch_all One, SESSIONS, tenant_id.0, response.0, PROMOTION_SOURCE)?;
    Ok(rows.into_iter().map(|(id,)| SessionId(id)).collect())
}

/// Returns id and title of the entities that were made from responses of a lead and are not erased, in the order of
/// their ids.
pub async fn promoted_of_lead(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    lead: EntityId,
    limit: u32,
) -> Result<Vec<(EntityId, String)>> {
    promoted(conn, OF_LEAD, (tenant_id, lead.0), limit).await
}

/// The same of the responses of a member.
pub async fn promoted_of_member(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    member: UserId,
    limit: u32,
) -> Result<Vec<(EntityId, String)>> {
    promoted(conn, OF_MEMBER, (tenant_id, member.0), limit).await
}

async fn promoted(
    conn: &mut Conn<'_>,
    text: &'static str,
    (tenant_id, whose): (TenantId, Uuid),
    limit: u32,
) -> Result<Vec<(EntityId, String)>> {
    type One = (Uuid, String);
    let rows = run!(conn, fetch_all One, text, tenant_id.0, whose, i64::from(limit))?;
    Ok(rows.into_iter().map(|(id, title)| (EntityId(id), title)).collect())
}
