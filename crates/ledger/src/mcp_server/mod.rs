//! MCP servers of a workspace: how each is reached, which tools it listed, and the tools that are imported from it. The
//! server itself is called by the crate `runner`, between [`target`] and [`record_listing`].

mod create;
mod import;
mod listing;
mod read;
mod secret;
mod target;
mod update;

pub use create::{NewMcpServer, create};
pub use import::import;
pub use listing::{listing, record_listing};
pub use read::{get, list};
pub use target::{Target, target};
pub use update::{McpServerChange, SecretChange, delete, update};

use crate::{
    Error, McpServerRecord, Result,
    guard::{Fields, require_for},
};
use domain::{
    Scope,
    id::TenantId,
    limit::{NAME_CHARS_MAX, TOOL_SECRET_BYTES_MAX},
    mcp,
    role::Permission,
    tool::Secret,
};
use std::collections::BTreeMap;
use store::{Conn, WriteTx};

const ADMINS_ONLY: &str = "only admins can set secret headers, and change where they are sent";
/// Name of the missing thing in errors.
const WHAT: &str = "MCP server";

/// Checks everything about a server. `values` are the secret headers that the request sets.
pub(crate) fn check(record: &McpServerRecord, values: &BTreeMap<String, Secret>) -> Result<()> {
    let mut fields = Fields::default();
    fields.slug("slug", Some(&record.slug));
    fields.name("name", &record.definition.name, NAME_CHARS_MAX);
    for issue in mcp::check(&record.definition) {
        fields.refuse(&issue.field, issue.message);
    }
    for (name, value) in values {
        let text = value.expose();
        let is_line = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if text.is_empty() || text.len() > TOOL_SECRET_BYTES_MAX || !is_line {
            let rule = format!("1 to {TOOL_SECRET_BYTES_MAX} bytes, one line of ASCII characters");
            fields.refuse(&format!("secretHeaders.{name}"), rule);
        }
    }
    fields.check()
}

/// Refuses a change of how a server with secret headers is reached, if the caller is no admin: whoever chooses the
/// address could read the values there.
pub(crate) fn require_transport(scope: &Scope, before: &mcp::Definition, transport: &mcp::Transport) -> Result<()> {
    if before.secret_headers.is_empty() || *transport == before.transport {
        return Ok(());
    }
    require_for(scope, Permission::Administer, ADMINS_ONLY)
}

/// Returns a server of the workspace on an open connection.
async fn get_on(conn: &mut Conn<'_>, tenant_id: TenantId, slug: &str) -> Result<McpServerRecord> {
    store::mcp_server::find_by_slug(conn, tenant_id, slug).await?.ok_or(Error::NotFound(WHAT))
}

/// Returns a server, locked until the transaction ends.
async fn locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, slug: &str) -> Result<McpServerRecord> {
    store::mcp_server::find_locked(tx, tenant_id, slug).await?.ok_or(Error::NotFound(WHAT))
}
