//! Converts views.

use crate::problem::Problem;
use domain::view::{Field, FormSchema};
use ledger::{
    ViewRecord, ViewVersionRecord,
    view::{NewView, ViewChange, fields_of_schema},
};
use wire::{
    Code,
    view::{CreateView, UpdateView, View, ViewVersion},
};

/// Converts a view to its JSON type.
pub fn view(record: ViewRecord) -> View {
    let changed = record.is_changed();
    View {
        id: record.id,
        slug: record.slug,
        title: record.title,
        introduction: record.introduction,
        fields: record.fields,
        publish_config: record.publication,
        state: record.state,
        version: record.version,
        revision: record.revision,
        changed,
        created_by: record.created_by,
        updated_by: record.updated_by,
        created_at: record.created_at,
        updated_at: record.updated_at,
    }
}

/// Converts a version of a view to its JSON type.
pub fn view_version(record: ViewVersionRecord) -> ViewVersion {
    ViewVersion {
        view_id: record.view_id,
        version: record.version,
        title: record.title,
        introduction: record.introduction,
        fields: record.fields,
        publish_config: record.publication,
        published_by: record.published_by,
        published_at: record.published_at,
    }
}

/// Returns the fields of a request, which has them as a list or as JSON Schema.
fn fields(fields: Option<Vec<Field>>, schema: Option<&FormSchema>) -> Result<Option<Vec<Field>>, Problem> {
    match (fields, schema) {
        (Some(_), Some(_)) => Err(Problem::field(Code::InvalidRequest, "schema", "not together with `fields`")),
        (fields, None) => Ok(fields),
        (None, Some(schema)) => Ok(Some(fields_of_schema(schema)?)),
    }
}

/// Converts the body of a request that creates a view. A schema outside of the subset is refused.
pub fn new_view(body: CreateView) -> Result<NewView, Problem> {
    let CreateView { title, slug, introduction, fields: list, schema, publish_config } = body;
    let fields = fields(list, schema.as_ref())?.unwrap_or_default();
    Ok(NewView { title, slug, introduction, fields, publication: publish_config })
}

/// Converts the body of a request that changes a view. A schema outside of the subset is refused.
pub fn view_change(body: UpdateView) -> Result<ViewChange, Problem> {
    let UpdateView { revision, title, introduction, fields: list, schema, publish_config } = body;
    Ok(ViewChange {
        revision,
        title,
        introduction,
        fields: fields(list, schema.as_ref())?,
        publication: publish_config,
    })
}
