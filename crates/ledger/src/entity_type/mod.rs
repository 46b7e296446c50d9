//! Entity types: the fields that entities of a type have.

mod create;
mod read;
mod update;

pub use create::{NewEntityType, create};
pub use read::{get, get_by_slug, list};
pub use update::{EntityTypeChange, update};

use crate::{EntityTypeRecord, Result, guard::Fields};
use domain::{
    entity::check_fields,
    id::TenantId,
    limit::{DOCUMENT_BYTES_MAX, NAME_CHARS_MAX},
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
