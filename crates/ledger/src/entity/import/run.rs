//! Making the entities of an import, a chunk at a time.

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

/// An import that has not got on for so long has lost whoever worked on it.
const STALLED_AFTER: TimeDelta = TimeDelta::seconds(10);
/// Stalled imports taken up in one look.
const BATCH: u32 = 10;

/// Makes all that is left of an import. Any number may run the same one at once: each chunk is decided under the
/// import's lock.
pub async fn run(ledger: &Ledger, tenant_id: TenantId, id: ImportId) -> Result<ImportRecord> {
    let file = open(ledger, tenant_id, id).await?;
    loop {
        match chunk(ledger, tenant_id, id, file.clone()).await {
            Ok(import) if import.status == ImportStatus::Running => {}
            // It would go wrong again and again.
            Err(Error::Internal(detail)) => {
                tracing::error!(import = %id, detail, "an import cannot go on");
                return give_up(ledger, tenant_id, id).await;
            }
            ended => return ended,
        }
    }
}

/// Ends an import that cannot go on. What it made stays.
async fn give_up(ledger: &Ledger, tenant_id: TenantId, id: ImportId) -> Result<ImportRecord> {
    let now = ledger.now();
    let access = (&Scope::system(tenant_id)).into();
    ledger
        .store()
        .write(access, move |tx| {
            Box::pin(async move {
                let import = store::entity_import::find_locked(tx, tenant_id, id).await?;
                let mut import = import.ok_or(Error::NotFound("import"))?;
                if import.status == ImportStatus::Running {
                    let message =
                        "something went wrong on our side; this row and the rows after it were not imported".to_owned();
                    let error = RowError { row: import.next_row + 2, field: String::new(), message };
                    import.errors.push(error);
                    import.status = ImportStatus::Failed;
                    import.updated_at = now;
                    store::entity_import::save(tx, &import).await?;
                }
                Ok(import)
            })
        })
        .await
}

/// Makes the next chunk of an import.
pub async fn advance(ledger: &Ledger, tenant_id: TenantId, id: ImportId) -> Result<ImportRecord> {
    let file = open(ledger, tenant_id, id).await?;
    chunk(ledger, tenant_id, id, file).await
}

/// Takes up imports of every workspace whose server went away; answers with how many it finished.
pub async fn resume_stalled(ledger: &Ledger) -> Result<u64> {
    let before = ledger.now() - STALLED_AFTER;
    let stalled = ledger
        .store()
        .read(Access::System, move |conn| Box::pin(store::entity_import::stalled(conn, before, BATCH)))
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

/// The file of an import; nothing once it has finished.
async fn open(ledger: &Ledger, tenant_id: TenantId, id: ImportId) -> Result<Option<Arc<File>>> {
    let access = (&Scope::system(tenant_id)).into();
    let read = ledger.store().read(access, move |conn| Box::pin(store::entity_import::source(conn, tenant_id, id)));
    let source = read.await?.ok_or(Error::NotFound("import"))?;
    if source.is_empty() { Ok(None) } else { Ok(Some(Arc::new(file::read(&source)?))) }
}

async fn chunk(ledger: &Ledger, tenant_id: TenantId, id: ImportId, file: Option<Arc<File>>) -> Result<ImportRecord> {
    let now = ledger.now();
    // Made before the transaction, because the transaction has no randomness of its own.
    let mut ids: Vec<EntityId> = (0..IMPORT_CHUNK_ROWS).map(|_| EntityId::new(now, ledger.entropy())).collect();
    // Lists go by id: rows of one chunk keep the order of the file.
    ids.sort_unstable();
    let access = (&Scope::system(tenant_id)).into();
    ledger
        .store()
        .write(access, move |tx| {
            Box::pin(async move {
                let import = store::entity_import::find_locked(tx, tenant_id, id).await?;
                let import = import.ok_or(Error::NotFound("import"))?;
                match file {
                    Some(file) if import.status == ImportStatus::Running => write(tx, import, &file, ids, now).await,
                    _ => Ok(import),
                }
            })
        })
        .await
}

/// One chunk: the entities of its good rows and the import's progress, in the caller's transaction.
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
    store::entity_import::save(tx, &import).await?;
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
    }
}

fn refuse(import: &mut ImportRecord, errors: Vec<RowError>) {
    import.failed_count += 1;
    let room = IMPORT_ERRORS_MAX.saturating_sub(import.errors.len());
    import.errors.extend(errors.into_iter().take(room));
}
