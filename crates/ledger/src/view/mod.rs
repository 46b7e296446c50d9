//! Views: input forms that people answer. A change is made to the working copy; publishing copies it to a version that
//! never changes.
//!
//! Views that are not listed were made for one question of an agent. The use cases here do not find them, because they
//! are as confidential as the session that asked.

mod create;
mod publish;
mod read;
mod update;

pub use create::{NewView, create, fields_of_schema};
pub(crate) use publish::publish_on;
pub use publish::{publish, unpublish};
pub use read::{get, get_version, list, list_by_slug, list_matching, list_versions};
pub(crate) use read::{get_by_slug_on, versions_on};
pub use update::{ViewChange, delete, update};

use crate::{Error, Ledger, Result, ViewRecord, guard::Fields};
use domain::{
    id::{TenantId, ViewId},
    limit::{DESCRIPTION_CHARS_MAX, DOCUMENT_BYTES_MAX, TITLE_CHARS_MAX},
    slug::is_slug,
    view::{Field, Gate, Kind, check_fields, check_publication, is_view_slug},
};
use store::{Conn, WriteTx};

/// Checks everything about a view that does not depend on other rows.
pub(crate) fn check(ledger: &Ledger, record: &ViewRecord) -> Result<()> {
    let mut fields = Fields::default();
    fields.name("title", &record.title, TITLE_CHARS_MAX);
    fields.slug("slug", Some(&record.slug));
    if is_slug(&record.slug) && !is_view_slug(&record.slug) {
        fields.refuse("slug", format!("a page has the name `{}`; choose another one", record.slug));
    }
    fields.text("introduction", Some(&record.introduction), DESCRIPTION_CHARS_MAX);
    for issue in check_fields(&record.fields).into_iter().chain(check_publication(&record.publication)) {
        fields.refuse(&issue.field, issue.message);
    }
    if !ledger.allows_redirect(&record.publication) {
        let message = "the operator of this server does not allow this host; see `forms.redirect_hosts`";
        fields.refuse("publishConfig.redirectUrl", message);
    }
    check_size(&mut fields, &record.fields);
    fields.check()
}

fn check_size(fields: &mut Fields, list: &[Field]) {
    let bytes = serde_json::to_string(list).map_or(usize::MAX, |json| json.len());
    if bytes > DOCUMENT_BYTES_MAX {
        fields.refuse("fields", format!("at most {DOCUMENT_BYTES_MAX} bytes as JSON, with the dimensions of ratings"));
    }
}

/// Returns the fields of a view with the dimensions of the criteria sets that its ratings name.
///
/// # Errors
/// [`Error::Invalid`] if a criteria set, an entity type or the group of the audience does not exist.
pub(crate) async fn resolve(conn: &mut Conn<'_>, tenant_id: TenantId, record: &ViewRecord) -> Result<Vec<Field>> {
    let mut fields = Fields::default();
    let mut resolved = record.fields.clone();
    for (index, field) in resolved.iter_mut().enumerate() {
        match &mut field.kind {
            Kind::Rating { criteria_set, dimensions } => {
                match store::criteria_set::find_by_slug(conn, tenant_id, criteria_set).await? {
                    Some(found) => *dimensions = found.dimensions,
                    None => fields.refuse(
                        &format!("fields[{index}].criteriaSet"),
                        format!("there is no criteria set `{criteria_set}`"),
                    ),
                }
            }
            Kind::Entity { entity_type } => {
                let found = store::entity_type::find_by_slug(conn, tenant_id, entity_type).await?;
                if found.is_none() {
                    fields.refuse(
                        &format!("fields[{index}].entityType"),
                        format!("there is no entity type `{entity_type}`"),
                    );
                }
            }
            _ => {}
        }
    }
    if let Some(slug) = &record.publication.audience
        && store::group::find_by_slug(conn, tenant_id, slug).await?.is_none()
    {
        fields.refuse("publishConfig.audience", format!("there is no group `{slug}`"));
    }
    check_size(&mut fields, &resolved);
    fields.check()?;
    Ok(resolved)
}

/// Refuses to publish a form that asks people without an account for an entity: none can be offered to them, and no one
/// knows its id.
pub(crate) fn check_askable(record: &ViewRecord) -> Result<()> {
    let mut refused = Fields::default();
    for (index, field) in record.fields.iter().enumerate() {
        let is_asked = field.kind.entity_type().is_some() && !field.hidden;
        if is_asked && record.publication.gate != Gate::Member {
            let message = "a reference to an entity can be asked only with the gate `member`";
            refused.refuse(&format!("fields[{index}].type"), message);
        }
    }
    refused.check()
}

/// Returns the fields of a working copy with the dimensions of the criteria sets that its ratings name, to show them.
/// A rating whose set does not exist has none.
pub(crate) async fn with_dimensions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    mut fields: Vec<Field>,
) -> Result<Vec<Field>> {
    for field in &mut fields {
        if let Kind::Rating { criteria_set, dimensions } = &mut field.kind
            && let Some(found) = store::criteria_set::find_by_slug(conn, tenant_id, criteria_set).await?
        {
            *dimensions = found.dimensions;
        }
    }
    Ok(fields)
}

/// Removes the dimensions of ratings, which only published versions have. A caller may send back the fields of a
/// version.
pub(crate) fn without_dimensions(mut fields: Vec<Field>) -> Vec<Field> {
    for field in &mut fields {
        if let Kind::Rating { dimensions, .. } = &mut field.kind {
            dimensions.clear();
        }
    }
    fields
}

/// Returns a listed view, locked until the transaction ends.
async fn listed_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ViewId) -> Result<ViewRecord> {
    let found = store::view::find_locked(tx, tenant_id, id).await?;
    found.filter(|view| view.listed).ok_or(Error::NotFound("view"))
}
