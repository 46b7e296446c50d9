//! Creating a tool.

use super::{check, check_groups};
use crate::{
    Error, Ledger, Result, ToolRecord,
    guard::{require, slug_or_of_name},
};
use domain::{
    Scope,
    id::ToolId,
    role::Permission,
    tool::{Change, State},
};

/// Slug and definition of a tool that does not exist yet.
#[derive(Debug, Clone, Default)]
pub struct NewTool {
    /// Derived from the name when `None`. It never changes, because URLs, agents and bundles refer to it.
    pub slug: Option<String>,
    /// What the tool does. Name, kind and input schema are needed.
    pub definition: Change,
}

/// Creates a tool as a draft at revision 1.
///
/// # Errors
/// [`Error::NameTaken`] if the slug is taken; [`Error::Invalid`] for a wrong definition, and for groups that do not
/// exist.
pub async fn create(ledger: &Ledger, scope: &Scope, new: NewTool) -> Result<ToolRecord> {
    require(scope, Permission::ManageTools)?;
    let definition = new.definition.define()?;
    let now = ledger.now();
    let actor = scope.caller.to_string();
    let record = ToolRecord {
        id: ToolId::new(now, ledger.entropy()),
        slug: slug_or_of_name(new.slug, &definition.name)?,
        definition,
        state: State::Draft,
        version: None,
        revision: 1,
        published_revision: None,
        created_by: actor.clone(),
        updated_by: actor,
        created_at: now,
        updated_at: now,
    };
    check(&record)?;
    let tenant_id = scope.tenant_id;
    ledger
        .write(scope.into(), async move |tx| {
            check_groups(tx.conn(), tenant_id, &record).await?;
            if !store::tool::insert(tx, tenant_id, &record).await? {
                return Err(Error::NameTaken("the slug"));
            }
            Ok(record)
        })
        .await
}
