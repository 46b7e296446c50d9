//! Importing tools of an MCP server.

use super::{WHAT, get_on};
use crate::{
    Error, Ledger, Result, ToolRecord,
    guard::{Fields, require},
    tool::check,
};
use domain::{
    Scope, Timestamp,
    id::{TenantId, ToolId},
    limit::MCP_TOOLS_MAX,
    mcp::ListedTool,
    role::Permission,
    slug::slugify,
    tool::{Change, State},
};
use store::WriteTx;

/// Creates a draft of each of these listed tools, or replaces the working copy of a tool that was imported before by
/// the listed tool. Nothing is published. Returns the tools in the order of the names.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such server; [`Error::Invalid`] for a name that is not listed or is
/// there twice, for a tool whose slug another one has, and for a listed tool that cannot be one of the workspace.
pub async fn import(ledger: &Ledger, scope: &Scope, slug: &str, names: Vec<String>) -> Result<Vec<ToolRecord>> {
    require(scope, Permission::ManageTools)?;
    if names.is_empty() || names.len() > MCP_TOOLS_MAX {
        return Err(Error::invalid("tools", format!("1 to {MCP_TOOLS_MAX} names")));
    }
    let (tenant_id, now, slug) = (scope.tenant_id, ledger.now(), slug.to_owned());
    let actor = scope.caller.to_string();
    let new_ids: Vec<ToolId> = names.iter().map(|_| ToolId::new(now, ledger.entropy())).collect();
    let written = ledger.write(scope.into(), async move |tx| {
        let server = get_on(tx.conn(), tenant_id, &slug).await?;
        let stored = store::mcp_server::listing(tx.conn(), tenant_id, server.id).await?.ok_or(Error::NotFound(WHAT))?;
        let listing = stored.listing.unwrap_or_default();
        let mut fields = Fields::default();
        let mut imported = Vec::with_capacity(names.len());
        for (index, (name, id)) in names.iter().zip(new_ids).enumerate() {
            let field = format!("tools[{index}]");
            if names.iter().take(index).any(|before| before == name) {
                fields.refuse(&field, "named twice");
                continue;
            }
            let Some(listed) = listing.find(name) else {
                fields.refuse(&field, "the server does not list this tool; ask it for its tools again");
                continue;
            };
            let fresh = Fresh { tenant_id, id, server: &server.slug, actor: &actor, now };
            match import_one(tx, &fresh, listed).await? {
                Ok(tool) => imported.push(tool),
                Err(why) => fields.refuse(&field, why),
            }
        }
        fields.check()?;
        Ok(imported)
    });
    written.await
}

/// Values of an imported tool that the server does not list.
struct Fresh<'a> {
    tenant_id: TenantId,
    /// Id of a new tool.
    id: ToolId,
    /// Slug of the MCP server.
    server: &'a str,
    actor: &'a str,
    now: Timestamp,
}

/// Imports one tool; the inner error says why it cannot be imported.
async fn import_one(
    tx: &mut WriteTx<'_>,
    fresh: &Fresh<'_>,
    listed: &ListedTool,
) -> Result<std::result::Result<ToolRecord, String>> {
    let Fresh { tenant_id, id, server, actor, now } = *fresh;
    let Some(slug) = slugify(&format!("{server}-{}", listed.name)) else {
        return Ok(Err("no slug can be made of its name".to_owned()));
    };
    let change = listed.to_tool(server);
    let Some(before) = store::tool::find_locked(tx, tenant_id, &slug).await? else {
        let record = ToolRecord {
            id,
            slug: slug.clone(),
            definition: change.define()?,
            state: State::Draft,
            version: None,
            revision: 1,
            published_revision: None,
            created_by: actor.to_owned(),
            updated_by: actor.to_owned(),
            created_at: now,
            updated_at: now,
        };
        if let Some(why) = problem(&record)? {
            return Ok(Err(why));
        }
        if !store::tool::insert(tx, tenant_id, &record).await? {
            return Ok(Err(format!("the slug `{slug}` is taken")));
        }
        return Ok(Ok(record));
    };
    let is_same = before.definition.mcp().is_some_and(|call| call.server == server && call.tool == listed.name);
    if !is_same {
        return Ok(Err(format!("another tool has the slug `{slug}`")));
    }
    // The name is not replaced.
    let change = Change { name: None, ..change };
    let definition = change.apply(before.definition.clone())?;
    if definition == before.definition {
        return Ok(Ok(before));
    }
    let revision = before.revision + 1;
    let record = ToolRecord { definition, revision, updated_by: actor.to_owned(), updated_at: now, ..before };
    if let Some(why) = problem(&record)? {
        return Ok(Err(why));
    }
    store::tool::update(tx, tenant_id, &record).await?;
    Ok(Ok(record))
}

/// Why a tool breaks a rule of tools, if it does.
fn problem(record: &ToolRecord) -> Result<Option<String>> {
    match check(record) {
        Ok(()) => Ok(None),
        Err(Error::Invalid(issues)) => {
            let texts = issues.iter().map(|issue| format!("{}: {}", issue.field, issue.message));
            Ok(Some(texts.collect::<Vec<_>>().join("; ")))
        }
        Err(error) => Err(error),
    }
}
