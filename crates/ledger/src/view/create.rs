//! Creating a view, and reading its fields from a JSON Schema.

use super::{check, resolve, without_dimensions};
use crate::{
    Error, Ledger, Result, ViewRecord,
    guard::{require, slug_or_of_name},
};
use domain::{
    Scope,
    id::ViewId,
    issue::Issue,
    role::Permission,
    view::{Field, FormSchema, Publication, State},
};

/// The fields of a new view.
#[derive(Debug, Clone, Default)]
pub struct NewView {
    /// 1 to 300 characters, e.g. `How was your week?`.
    pub title: String,
    /// Derived from the title when `None`. It never changes, because URLs and bundles refer to it.
    pub slug: Option<String>,
    /// Text above the questions; at most 10,000 characters.
    pub introduction: String,
    /// Questions, in the order of the form.
    pub fields: Vec<Field>,
    /// Who may answer, how often and when.
    pub publication: Publication,
}

/// Creates a view as a draft at revision 1.
///
/// # Errors
/// [`Error::NameTaken`] if the slug is taken; [`Error::Invalid`] for wrong fields, and for criteria sets, entity types
/// and groups that do not exist.
pub async fn create(ledger: &Ledger, scope: &Scope, new: NewView) -> Result<ViewRecord> {
    require(scope, Permission::ManageViews)?;
    let now = ledger.now();
    let actor = scope.caller.to_string();
    let record = ViewRecord {
        id: ViewId::new(now, ledger.entropy()),
        slug: slug_or_of_name(new.slug, &new.title)?,
        title: new.title,
        introduction: new.introduction,
        fields: without_dimensions(new.fields),
        publication: new.publication,
        state: State::Draft,
        version: None,
        revision: 1,
        published_revision: None,
        listed: true,
        created_by: actor.clone(),
        updated_by: actor,
        created_at: now,
        updated_at: now,
    };
    check(ledger, &record)?;
    let tenant_id = scope.tenant_id;
    ledger
        .write(scope.into(), async move |tx| {
            resolve(tx.conn(), tenant_id, &record).await?;
            if !store::view::insert(tx, tenant_id, &record).await? {
                return Err(Error::NameTaken("the slug"));
            }
            Ok(record)
        })
        .await
}

/// Returns the fields that a JSON Schema describes.
///
/// # Errors
/// [`Error::Invalid`] for what the subset of JSON Schema does not have. Paths begin with `schema.`.
pub fn fields_of_schema(schema: &FormSchema) -> Result<Vec<Field>> {
    let placed = |issue: Issue| Issue::new(format!("schema.{}", issue.field), issue.message);
    schema.fields().map_err(|issues| Error::Invalid(issues.into_iter().map(placed).collect()))
}
