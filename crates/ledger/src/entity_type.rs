//! Entity types: the fields that entities of a type have.

use crate::{
    EntityTypeRecord, Error, Ledger, ListPage, Listed, Result,
    cursor::{List, encode},
    guard::{Fields, require, require_version, slug_or_of_name},
};
use domain::{
    Scope,
    entity::{FieldDef, check_fields},
    id::{EntityTypeId, TenantId},
    limit::{DOCUMENT_BYTES_MAX, NAME_CHARS_MAX},
    role::Permission,
};
use std::collections::BTreeSet;
use store::Conn;

/// Checks everything about a type that does not depend on other types.
pub(crate) fn check(record: &EntityTypeRecord) -> Result<()> {
    let mut fields = Fields::default();
    fields.name("name", &record.name, NAME_CHARS_MAX);
    fields.slug("slug", Some(&record.slug));
    for issue in check_fields(&record.fields) {
        fields.refuse(&issue.field, issue.message);
    }
    let bytes = serde_json::to_string(&record.fields).map_or(usize::MAX, |json| json.len());
    if bytes > DOCUMENT_BYTES_MAX {
        fields.refuse("fields", format!("at most {DOCUMENT_BYTES_MAX} bytes as JSON"));
    }
    fields.check()
}

/// Refuses relations to a type that does not exist. A type may have a relation to itself.
pub(crate) async fn check_relations(conn: &mut Conn<'_>, tenant_id: TenantId, record: &EntityTypeRecord) -> Result<()> {
    let mut known = BTreeSet::from([record.slug.as_str()]);
    let mut fields = Fields::default();
    for (index, field) in record.fields.iter().enumerate() {
        let Some(slug) = field.relation_type.as_deref() else { continue };
        if known.contains(slug) {
            continue;
        }
        match store::entity_type::find_by_slug(conn, tenant_id, slug).await? {
            Some(_) => {
                known.insert(slug);
            }
            None => {
                fields.refuse(&format!("fields[{index}].relationType"), format!("there is no entity type `{slug}`"))
            }
        }
    }
    fields.check()
}

/// The fields of a new entity type.
#[derive(Debug, Clone, Default)]
pub struct NewEntityType {
    /// 1 to 200 characters, e.g. `Company`.
    pub name: String,
    /// Derived from the name when `None`. It never changes, because URLs contain it.
    pub slug: Option<String>,
    /// In the order of display.
    pub fields: Vec<FieldDef>,
}

/// Creates an entity type at version 1.
///
/// # Errors
/// [`Error::NameTaken`] if the slug is taken; [`Error::Invalid`] for wrong fields.
pub async fn create(ledger: &Ledger, scope: &Scope, new: NewEntityType) -> Result<EntityTypeRecord> {
    require(scope, Permission::ManageEntityTypes)?;
    let slug = slug_or_of_name(new.slug, &new.name)?;
    let now = ledger.now();
    let record = EntityTypeRecord {
        id: EntityTypeId::new(now, ledger.entropy()),
        slug,
        name: new.name,
        fields: new.fields,
        version: 1,
        created_by: scope.caller.to_string(),
        created_at: now,
        updated_at: now,
    };
    check(&record)?;
    let tenant_id = scope.tenant_id;
    ledger
        .write(scope.into(), async move |tx| {
            check_relations(tx.conn(), tenant_id, &record).await?;
            if !store::entity_type::insert(tx, tenant_id, &record).await? {
                return Err(Error::NameTaken("the slug"));
            }
            Ok(record)
        })
        .await
}

/// Returns one page of entity types, newest first.
///
/// # Errors
/// [`Error::Invalid`] for a limit above 1,000; [`Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<EntityTypeRecord>> {
    require(scope, Permission::Read)?;
    let (before, limit) = page.before_id(List::EntityTypes)?;
    let (tenant_id, before) = (scope.tenant_id, before.map(EntityTypeId));
    let page = ledger
        .store()
        .read(scope.into(), async move |conn| store::entity_type::list(conn, tenant_id, before, limit).await)
        .await?;
    Ok(Listed::of(page, |last| encode(List::EntityTypes, last.id.0)))
}

/// Returns an entity type of the workspace.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such entity type.
pub async fn get(ledger: &Ledger, scope: &Scope, id: EntityTypeId) -> Result<EntityTypeRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), async move |conn| store::entity_type::find(conn, tenant_id, id).await);
    read.await?.ok_or(Error::NotFound("entity type"))
}

/// Returns the entity type of the workspace with this slug.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no entity type with this slug.
pub async fn get_by_slug(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<EntityTypeRecord> {
    require(scope, Permission::Read)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let read = ledger
        .store()
        .read(scope.into(), async move |conn| store::entity_type::find_by_slug(conn, tenant_id, &slug).await);
    read.await?.ok_or(Error::NotFound("entity type"))
}

/// A change of an entity type. Fields that are `None` keep their value.
#[derive(Debug, Clone, Default)]
pub struct EntityTypeChange {
    /// The version that the caller read.
    pub version: u64,
    /// 1 to 200 characters.
    pub name: Option<String>,
    /// All fields, in the order of display.
    pub fields: Option<Vec<FieldDef>>,
}

/// Changes an entity type. Existing entities keep their values, which are checked when the entity is next
/// written.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such type; [`Error::StaleVersion`] if it was changed since the caller
/// read it; [`Error::Invalid`] for wrong fields and for relations to types that do not exist.
pub async fn update(
    ledger: &Ledger,
    scope: &Scope,
    id: EntityTypeId,
    change: EntityTypeChange,
) -> Result<EntityTypeRecord> {
    require(scope, Permission::ManageEntityTypes)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    ledger
        .write(scope.into(), async move |tx| {
            let before = store::entity_type::find_locked(tx, tenant_id, id).await?;
            let before = before.ok_or(Error::NotFound("entity type"))?;
            require_version(change.version, before.version)?;
            let record = EntityTypeRecord {
                name: change.name.unwrap_or_else(|| before.name.clone()),
                fields: change.fields.unwrap_or_else(|| before.fields.clone()),
                version: before.version + 1,
                updated_at: now,
                ..before
            };
            check(&record)?;
            check_relations(tx.conn(), tenant_id, &record).await?;
            store::entity_type::update(tx, tenant_id, &record).await?;
            Ok(record)
        })
        .await
}
