//! Tools: calls that people, programs and agents make by name. A change is made to the working copy; publishing copies
//! it to a version that never changes. Secrets belong to the tool, not to a version: a new value is in force at once.

mod access;
mod create;
mod delete;
mod private;
mod publish;
mod read;
mod result;
mod secret;
mod secret_call;
mod steps;
mod update;

pub(crate) use access::{check_run_again, definition_of_run, may_run_on, published_on, require_audience, run_of};
pub use access::{find_published, may_run, secret_values};
pub use create::{NewTool, create};
pub use delete::delete;
pub(crate) use private::{seal_private, whole_input, with_private};
pub(crate) use publish::publish_on;
pub use publish::{publish, unpublish};
pub use read::{get, get_version, list, list_matching, list_versions};
pub(crate) use read::{get_on, versions_on};
pub use result::input_errors;
pub(crate) use result::{INPUT, fail_result, output_schema, schema_errors};
pub use secret::{NewSecret, delete_secret, secrets, set_secret};
pub use secret_call::{SecretCall, get_to_edit, secret_calls};
pub(crate) use secret_call::{gets_secrets, needs_admin_on, run_gets_secrets, secrets_of_call};
pub(crate) use steps::{version_of_step, with_versions};
pub use update::{ToolChange, update};

use crate::{Error, Result, ToolRecord, guard::Fields, output::check_schema};
use domain::{
    id::TenantId,
    limit::{DESCRIPTION_CHARS_MAX, NAME_CHARS_MAX},
    slug::is_slug,
    tool::{check_definition, is_tool_slug},
};
use store::{Conn, WriteTx};

/// Checks everything about a tool that does not depend on other rows.
pub(crate) fn check(record: &ToolRecord) -> Result<()> {
    let definition = &record.definition;
    let mut fields = Fields::default();
    fields.slug("slug", Some(&record.slug));
    if is_slug(&record.slug) && !is_tool_slug(&record.slug) {
        fields.refuse("slug", format!("a page has the name `{}`; choose another one", record.slug));
    }
    fields.name("name", &definition.name, NAME_CHARS_MAX);
    fields.text("description", Some(&definition.description), DESCRIPTION_CHARS_MAX);
    let issues = check_definition(definition);
    let has_issue = |of: &str| issues.iter().any(|issue| issue.field.starts_with(of));
    let schemas =
        [("inputSchema", Some(&definition.input_schema)), ("outputSchema", definition.output_schema.as_ref())];
    // A schema that is too large or too deep is not compiled.
    let compiled = schemas.into_iter().filter(|(field, _)| !has_issue(field));
    let wrong: Vec<_> = compiled.filter_map(|(field, schema)| check_schema(schema?, field)).collect();
    for issue in issues.into_iter().chain(wrong) {
        fields.refuse(&issue.field, issue.message);
    }
    fields.check()
}

/// Refuses a tool whose audience names groups that do not exist.
pub(crate) async fn check_groups(conn: &mut Conn<'_>, tenant_id: TenantId, record: &ToolRecord) -> Result<()> {
    let mut fields = Fields::default();
    for (index, slug) in record.definition.audience.groups.iter().enumerate() {
        if store::group::find_by_slug(conn, tenant_id, slug).await?.is_none() {
            fields.refuse(&format!("audience.groups[{index}]"), format!("there is no group `{slug}`"));
        }
    }
    fields.check()
}

/// Returns a tool, locked until the transaction ends.
async fn locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, slug: &str) -> Result<ToolRecord> {
    store::tool::find_locked(tx, tenant_id, slug).await?.ok_or(Error::NotFound("tool"))
}
