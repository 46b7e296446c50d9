//! Entities that people made from the responses of a person. They are records of the workspace and are kept when the
//! person is forgotten, but can hold what the person typed.

use super::lead::ForgottenLead;
use crate::Result;
use domain::{
    id::{EntityId, TenantId, UserId},
    limit::MEMORY_FORGET_PROMOTED_MAX,
};
use std::collections::BTreeMap;
use store::Conn;

/// An entity that was made from a response of the person. It is not erased with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromotedEntity {
    /// Record of a type that people defined.
    pub entity_id: EntityId,
    /// Its present title.
    pub title: String,
}

/// Finds the entities that were made from responses of these leads and of this member, at most
/// [`MEMORY_FORGET_PROMOTED_MAX`]. Leaves out those that are erased.
pub(super) async fn find(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    leads: &[ForgottenLead],
    member: Option<UserId>,
) -> Result<Vec<PromotedEntity>> {
    let limit = MEMORY_FORGET_PROMOTED_MAX;
    let mut found = BTreeMap::new();
    if let Some(member) = member {
        found.extend(store::response::promoted_of_member(conn, tenant_id, member, limit).await?);
    }
    for lead in leads.iter().map(|lead| lead.entity_id) {
        if found.len() >= limit as usize {
            break;
        }
        found.extend(store::response::promoted_of_lead(conn, tenant_id, lead, limit).await?);
    }
    let is_kept = |id: &EntityId| leads.iter().all(|lead| lead.entity_id != *id);
    let kept = found.into_iter().filter(|(id, _)| is_kept(id)).take(limit as usize);
    Ok(kept.map(|(entity_id, title)| PromotedEntity { entity_id, title }).collect())
}

/// Says which entities are kept, and how they are erased.
pub(super) fn sentence(entities: &[PromotedEntity]) -> Option<String> {
    let names: Vec<_> = entities.iter().map(|one| format!("“{}” ({})", one.title, one.entity_id)).collect();
    let more = match names.len() >= MEMORY_FORGET_PROMOTED_MAX as usize {
        true => " There can be more.",
        false => "",
    };
    (!names.is_empty()).then(|| {
        format!(
            "Entities that were made from responses of this person keep what they hold of them: {}.{more} Erase each \
             on its page or with POST /api/entities/ID/erase; a tombstone of it stays.",
            names.join(", ")
        )
    })
}
