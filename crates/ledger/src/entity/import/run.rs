//! Creates the entities of an import in chunks.

use super::{
    file::{self, File},
    row::{Row, check_rows},
};
use crate::{EntityRecord, Error, ImportRecord, Ledger, Result};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    entity::{ImportStatus, RowError},
    id::{EntityId, EntityTypeId, ImportId, TenantId},
    limit::{IMPORT_CHUNK_ROWS, IMPORT_ERRORS_MAX},
};
use std::sync::Arc;
use store::{Access, WriteTx};

/// A running import without progress for this long is stalled: the server that worked on it has stopped.
const STALLED_AFTER: TimeDelta = TimeDelta::seconds(10);
/// Largest number of stalled imports that one call resumes.
const BATCH: u32 = 10;

/// Imports all remaining rows. Several callers may run the same import at once, because each chunk holds the
/// import's lock.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such import. An [`Error::Internal`] ends the import as failed and is not
/// returned.
pub async fn run(ledger: &Ledger, tenant_id: TenantId, id: ImportId) -> Result<ImportRecord> {
    let file = open(ledger, tenant_id, id).await?;
    loop {
        match chunk(ledger, tenant_id, id, file.clone()).await {
            Ok(import) if import.status == ImportStatus::Running => {}
            // An internal error would occur again at every attempt.
            Err(Error::Internal(detail)) => {
                tracing::error!(import = %id, detail, "an import cannot go on");
                return give_up(ledger, tenant_id, id).await;
            }
            ended => return ended,
        }
    }
}

/// Ends an import that cannot continue. Entities that it created are kept.
async fn give_up(ledger: &Ledger, tenant_id: TenantId, id: ImportId) -> Result<ImportRecord> {
    let now = ledger.now();
    let access = (&Scope::system(tenant_id)).into();
    ledger
        .write(access, async move |tx| {
            let import = store::entity::import::find_locked(tx, tenant_id, id).await?;
            let mut import = import.ok_or(Error::NotFound("import"))?;
            if import.status == ImportStatus::Running {
                let message =
                    "something went wrong on our side; this row and the rows after it were not imported".to_owned();
                let error = RowError { row: import.next_row + 2, field: String::new(), message };
                import.errors.push(error);
                import.status = ImportStatus::Failed;
                import.updated_at = now;
                store::entity::import::save(tx, &import).await?;
            }
            Ok(import)
        })
        .await
}

/// Imports the next chunk and returns the progress.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such import.
pub async fn advance(ledger: &Ledger, tenant_id: TenantId, id: ImportId) -> Result<ImportRecord> {
    let file = open(ledger, tenant_id, id).await?;
    chunk(ledger, tenant_id, id, file).await
}

/// Resumes stalled imports of all workspaces. Returns how many of them finished.
///
/// # Errors
/// Only those of the database while it lists the imports. An import that fails is logged, and the next call tries it
/// again.
pub async fn resume_stalled(ledger: &Ledger) -> Result<u64> {
    let before = ledger.now() - STALLED_AFTER;
    let stalled = ledger
        .store()
        .read(Access::System, async move |conn| store::entity::import::stalled(conn, before, BATCH).await)
        .await?;
    let mut finished = 0;
    for (tenant_id, id) in stalled {
        match run(ledger, tenant_id, id).await {
            Ok(_) => finished += 1,
            Err(error) => tracing::warn!(import = %id, %error, "an import waits; it is tried again later"),
        }
    }
    Ok(finished)
}

/// Returns the file of an import, or `None` once the import has finished.
async fn open(ledger: &Ledger, tenant_id: TenantId, id: ImportId) -> Result<Option<Arc<File>>> {
    let access = (&Scope::system(tenant_id)).into();
    let read = ledger.store().read(access, async move |conn| store::entity::import::source(conn, tenant_id, id).await);
    let source = read.await?.ok_or(Error::NotFound("import"))?;
    if source.is_empty() { Ok(None) } else { Ok(Some(Arc::new(file::read(&source)?))) }
}

async fn chunk(ledger: &Ledger, tenant_id: TenantId, id: ImportId, file: Option<Arc<File>>) -> Result<ImportRecord> {
    let now = ledger.now();
    // Ids are created before the transaction, which has no source of randomness.
    let mut ids: Vec<EntityId> = (0..IMPORT_CHUNK_ROWS).map(|_| EntityId::new(now, ledger.entropy())).collect();
    // Lists are ordered by id, so sorted ids keep the rows of a chunk in the order of the file.
    ids.sort_unstable();
    let access = (&Scope::system(tenant_id)).into();
    ledger
        .write(access, async move |tx| {
            let import = store::entity::import::find_locked(tx, tenant_id, id).await?;
            let import = import.ok_or(Error::NotFound("import"))?;
            match file {
                Some(file) if import.status == ImportStatus::Running => write(tx, import, &file, ids, now).await,
                _ => Ok(import),
            }
        })
        .await
}

/// Imports one chunk in the caller's transaction: creates the entities of valid rows and saves the progress.
async fn write(
    tx: &mut WriteTx<'_>,
    mut import: ImportRecord,
    file: &File,
    ids: Vec<EntityId>,
    now: Timestamp,
) -> Result<ImportRecord> {
    let tenant_id = import.tenant_id;
    let entity_type = store::entity_type::find(tx.conn(), tenant_id, import.type_id).await?;
    let entity_type = entity_type.ok_or(Error::NotFound("entity type"))?;
    let from = usize::try_from(import.next_row).unwrap_or(usize::MAX).min(file.rows.len());
    let to = (from + IMPORT_CHUNK_ROWS).min(file.rows.len());
    // The header is row 1.
    let first = import.next_row + 2;
    let checked =
        check_rows(tx.conn(), tenant_id, &entity_type.fields, &import.columns, first, &file.rows[from..to]).await?;
    let mut made = Vec::new();
    for (row, id) in checked.into_iter().zip(ids) {
        match row {
            Ok(row) => made.push(entity(row, id, &import, entity_type.id, &entity_type.slug, now)),
            Err(errors) => refuse(&mut import, errors),
        }
    }
    store::entity::insert(tx, tenant_id, &made, None).await?;
    import.created_count += made.len() as u64;
    import.next_row += (to - from) as u64;
    import.updated_at = now;
    if to == file.rows.len() {
        import.status = ImportStatus::Completed;
    }
    store::entity::import::save(tx, &import).await?;
    Ok(import)
}

fn entity(
    row: Row,
    id: EntityId,
    import: &ImportRecord,
    type_id: EntityTypeId,
    type_slug: &str,
    now: Timestamp,
) -> EntityRecord {
    EntityRecord {
        id,
        type_id,
        type_slug: type_slug.to_owned(),
        title: row.title,
        fields: row.fields,
        version: 1,
        created_by: import.actor.clone(),
        updated_by: import.actor.clone(),
        created_at: now,
        updated_at: now,
        erased_at: None,
    }
}

fn refuse(import: &mut ImportRecord, errors: Vec<RowError>) {
    import.failed_count += 1;
    let room = IMPORT_ERRORS_MAX.saturating_sub(import.errors.len());
    import.errors.extend(errors.into_iter().take(room));
}
