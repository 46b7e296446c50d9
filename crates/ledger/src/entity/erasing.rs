//! What erasing several entities would do.

use super::{
    erase::require_erasing,
    erase_many::refuse_too_many,
    list::{ListEntities, list},
};
use crate::{EntityRecord, Ledger, Result, entity_type};
use domain::{
    Scope,
    id::{EntityId, EntityTypeId},
    limit::{BULK_ENTITIES_MAX, BULK_PAGES_MAX},
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// An entity that has its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasable {
    /// The entity.
    pub id: EntityId,
    /// What people call it, such as `Acme Corp`.
    pub title: String,
    /// What people call entities of its kind, such as `Company`.
    pub type_name: String,
    /// Its newest version, which is the number of its versions.
    pub version: u64,
    /// Number of values in its newest version.
    pub values: u64,
    /// Number of sessions about it, without incognito ones.
    pub sessions: u64,
}

/// What erasing several entities would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Erasing {
    /// The entities that would be erased, each once, in the order of the request.
    pub entities: Vec<Erasable>,
    /// Number of entities that cannot be erased: the workspace has no such entity, or it is erased.
    pub left_out: u64,
}

/// Says what erasing these entities would do.
///
/// # Errors
/// [`crate::Error::Forbidden`] for others than admins; [`crate::Error::Invalid`] for more than
/// [`BULK_ENTITIES_MAX`].
pub async fn erasing(ledger: &Ledger, scope: &Scope, ids: &[EntityId]) -> Result<Erasing> {
    require_erasing(scope)?;
    refuse_too_many(ids.len())?;
    let (tenant_id, ids) = (scope.tenant_id, ids.to_vec());
    let read = ledger.snapshot(scope, async move |conn| {
        let found = store::entity::list_by_ids(conn, tenant_id, &ids).await?;
        let mut left: HashMap<EntityId, EntityRecord> =
            found.into_iter().filter(|one| one.erased_at.is_none()).map(|one| (one.id, one)).collect();
        let sessions = store::session::count_of_entities(conn, tenant_id, &ids).await?;
        let types: BTreeSet<EntityTypeId> = left.values().map(|one| one.type_id).collect();
        let mut names: BTreeMap<EntityTypeId, String> = BTreeMap::new();
        for id in types {
            let of = store::entity_type::find(conn, tenant_id, id).await?;
            names.insert(id, of.map(|of| of.name).unwrap_or_default());
        }
        let different = ids.iter().collect::<BTreeSet<_>>().len();
        let of = |id: &EntityId| {
            let entity = left.remove(id)?;
            Some(Erasable {
                id: entity.id,
                title: entity.title,
                type_name: names.get(&entity.type_id).cloned().unwrap_or_default(),
                version: entity.version,
                values: entity.fields.len() as u64,
                sessions: sessions.get(id).copied().unwrap_or_default(),
            })
        };
        let entities: Vec<Erasable> = ids.iter().filter_map(of).collect();
        let left_out = (different - entities.len()) as u64;
        Ok(Erasing { entities, left_out })
    });
    read.await
}

/// The newest entities of a list, as many as one request erases. `slug` selects a type, and `line` entities that it
/// finds among those that [`BULK_PAGES_MAX`] pages look at.
///
/// # Errors
/// [`crate::Error::NotFound`] if no type has this slug; [`crate::Error::Invalid`] for a bad line.
pub async fn newest(
    ledger: &Ledger,
    scope: &Scope,
    slug: Option<String>,
    line: Option<String>,
) -> Result<Vec<EntityId>> {
    let type_id = match slug {
        Some(slug) => Some(entity_type::get_by_slug(ledger, scope, &slug).await?.id),
        None => None,
    };
    let (mut ids, mut cursor) = (Vec::new(), None);
    // A page of a search can have few entities and still be followed by others.
    for _ in 0..BULK_PAGES_MAX {
        let limit = u32::try_from(BULK_ENTITIES_MAX - ids.len()).unwrap_or(1);
        let wanted = ListEntities { type_id, line: line.clone(), limit, cursor, ..ListEntities::default() };
        let found = list(ledger, scope, wanted).await?;
        ids.extend(found.items.into_iter().map(|entity| entity.id));
        cursor = found.next_cursor;
        if cursor.is_none() || ids.len() >= BULK_ENTITIES_MAX {
            break;
        }
    }
    Ok(ids)
}
