//! Erasing several entities.

use super::erase::{erase_one, require_erasing};
use crate::{Error, Ledger, Result, guard::Fields};
use domain::{Scope, id::EntityId, limit::BULK_ENTITIES_MAX};

/// An entity at the version that the caller was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownEntity {
    /// The entity.
    pub id: EntityId,
    /// Its newest version at that time.
    pub version: u64,
}

/// What became of several entities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EraseMany {
    /// Number of entities that were erased.
    pub erased: u64,
    /// Number of entities that were erased before.
    pub already: u64,
    /// Number of entities that were not erased: the workspace has no such entity, or it has a newer version than the
    /// one that was shown.
    pub refused: u64,
}

/// Erases the content of several entities as [`super::erase()`] does, each by itself: what is refused does not stop the
/// others.
///
/// # Errors
/// [`Error::Forbidden`] for others than admins; [`Error::Invalid`] for more than [`BULK_ENTITIES_MAX`].
pub async fn erase_many(ledger: &Ledger, scope: &Scope, shown: &[ShownEntity]) -> Result<EraseMany> {
    require_erasing(scope)?;
    refuse_too_many(shown.len())?;
    let done = erase_each(ledger, scope, shown).await;
    // Also after an error, because entities before it are erased.
    ledger.store().empty_wal().await;
    done
}

/// Refuses a request with too many entities.
pub(super) fn refuse_too_many(count: usize) -> Result<()> {
    let mut fields = Fields::default();
    if count > BULK_ENTITIES_MAX {
        fields.refuse("entity", format!("at most {BULK_ENTITIES_MAX}"));
    }
    fields.check()
}

async fn erase_each(ledger: &Ledger, scope: &Scope, shown: &[ShownEntity]) -> Result<EraseMany> {
    let mut done = EraseMany::default();
    for entity in shown {
        match erase_one(ledger, scope, entity.id, Some(entity.version)).await {
            Ok((_, true)) => done.erased += 1,
            Ok((_, false)) => done.already += 1,
            Err(Error::NotFound(_) | Error::StaleVersion { .. }) => done.refused += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
