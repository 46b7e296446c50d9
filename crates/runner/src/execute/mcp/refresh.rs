//! Asks an MCP server of a workspace for its tools, and stores them.

use super::Mcp;
use domain::{mcp::OfferedTool, tool::http::Secrets};
use ledger::{Error, Ledger, McpListingRecord, Result, Scope, mcp_server};

/// Asks an MCP server for its tools, stores them, and says what changed since it was asked before.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such server; [`Error::Invalid`] at the field `transport` if the server
/// gave no list; [`Error::StaleRevision`] if the server was changed meanwhile; those of
/// [`mcp_server::target`](ledger::mcp_server::target).
pub async fn refresh(mcp: &Mcp, ledger: &Ledger, scope: &Scope, slug: &str) -> Result<McpListingRecord> {
    let target = mcp_server::target(ledger, scope, slug).await?;
    let listed = mcp.list(scope.tenant_id, &target).await;
    let (offered, is_cut) = listed.map_err(|fault| {
        let text = fault.explained(|text| target.secrets.redact(text));
        Error::invalid("transport", format!("the server gave no list of its tools: {text}"))
    })?;
    let offered = offered.into_iter().map(|tool| without_secrets(tool, &target.secrets)).collect();
    mcp_server::record_listing(ledger, scope, (slug, target.revision), offered, is_cut).await
}

/// A tool without the values of secret headers, which a server can repeat in its texts.
fn without_secrets(tool: OfferedTool, secrets: &Secrets) -> OfferedTool {
    OfferedTool {
        name: secrets.redact(&tool.name),
        title: tool.title.map(|title| secrets.redact(&title)),
        description: tool.description.map(|about| secrets.redact(&about)),
        input_schema: secrets.redact_value(tool.input_schema),
        output_schema: tool.output_schema.map(|schema| secrets.redact_value(schema)),
    }
}
