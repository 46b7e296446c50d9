//! Starting an import.

use super::{NewImport, columns_of, file};
use crate::{
    Error, ImportRecord, Ledger, Result, entity_type,
    guard::{Fields, require},
};
use domain::{
    Scope,
    entity::ImportStatus,
    id::{EntityTypeId, ImportId},
    limit::KEY_CHARS_MAX,
    role::Permission,
};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use store::{WriteTx, action::Creation};

/// Returns a digest of the request. Requests with the same key must have the same digest.
fn digest(type_id: EntityTypeId, new: &NewImport) -> [u8; 32] {
    let fields = json!([type_id.to_string(), new.source, new.mapping]);
    Sha256::digest(fields.to_string().as_bytes()).into()
}

/// Checks and stores a file to import. No entity is created yet. [`super::run`] creates them, also after a
/// restart.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such entity type; [`crate::Error::TooLarge`] or
/// [`crate::Error::LimitReached`] for a file with too many bytes or rows; [`crate::Error::Invalid`] for a file that is
/// not a table, a wrong mapping, or if no column fills the title.
pub async fn begin(ledger: &Ledger, scope: &Scope, type_id: EntityTypeId, new: NewImport) -> Result<ImportRecord> {
    begin_with(ledger, scope, type_id, new, None).await
}

/// Begins an import once for each key of a caller. A repeat of the request, whose response was lost, returns the import
/// that the first one began, as it is now.
///
/// # Errors
/// Those of [`begin`]; [`Error::Invalid`] for a malformed key; [`Error::IdConflict`] if the caller used the key for a
/// different request.
pub async fn begin_once(
    ledger: &Ledger,
    scope: &Scope,
    type_id: EntityTypeId,
    new: NewImport,
    key: &str,
) -> Result<ImportRecord> {
    let mut fields = Fields::default();
    fields.key("key", Some(key), KEY_CHARS_MAX);
    fields.check()?;
    let creation = Creation { key: format!("{} {key}", scope.caller), digest: digest(type_id, &new) };
    begin_with(ledger, scope, type_id, new, Some(creation)).await
}

async fn begin_with(
    ledger: &Ledger,
    scope: &Scope,
    type_id: EntityTypeId,
    new: NewImport,
    creation: Option<Creation>,
) -> Result<ImportRecord> {
    require(scope, Permission::WriteEntities)?;
    let entity_type = entity_type::get(ledger, scope, type_id).await?;
    let file = file::read(&new.source)?;
    let columns = columns_of(&file.header, &entity_type, &new)?;
    let now = ledger.now();
    let import = ImportRecord {
        tenant_id: scope.tenant_id,
        id: ImportId::new(now, ledger.entropy()),
        type_id,
        status: ImportStatus::Running,
        columns,
        rows_total: file.rows.len() as u64,
        next_row: 0,
        created_count: 0,
        failed_count: 0,
        errors: Vec::new(),
        actor: scope.caller.to_string(),
        created_at: now,
        updated_at: now,
    };
    ledger
        .write(scope.into(), async move |tx| {
            let is_new = store::entity::import::insert(tx, &import, &new.source, creation.as_ref()).await?;
            match creation {
                Some(creation) if !is_new => begun(tx, &import, &creation).await,
                _ => Ok(import),
            }
        })
        .await
}

/// Returns the import that an earlier request with this key began, instead of `repeated`.
async fn begun(tx: &mut WriteTx<'_>, repeated: &ImportRecord, creation: &Creation) -> Result<ImportRecord> {
    let found = store::entity::import::find_created(tx.conn(), repeated.tenant_id, &creation.key).await?;
    let (known, digest) = found.ok_or(Error::NotFound("import"))?;
    let detail = format!("this key already began the import {} from a different request", known.id);
    if digest == creation.digest { Ok(known) } else { Err(Error::IdConflict { detail }) }
}
