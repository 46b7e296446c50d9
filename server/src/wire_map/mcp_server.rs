//! Converts MCP servers.

use domain::mcp::ListedTool;
use ledger::{
    McpListingRecord, McpServerRecord,
    mcp_server::{McpServerChange, NewMcpServer, SecretChange},
};
use wire::mcp_server::{CreateMcpServer, McpServer, McpTool, McpTools, UpdateMcpServer};

/// Converts an MCP server to its JSON type.
pub fn mcp_server(record: McpServerRecord) -> McpServer {
    McpServer {
        id: record.id,
        slug: record.slug,
        name: record.definition.name,
        transport: record.definition.transport,
        secret_headers: record.definition.secret_headers,
        revision: record.revision,
        listed_at: record.listed_at,
        tool_count: record.tool_count,
        created_by: record.created_by,
        updated_by: record.updated_by,
        created_at: record.created_at,
        updated_at: record.updated_at,
    }
}

/// Converts the tools that an MCP server listed.
pub fn mcp_tools(record: McpListingRecord) -> McpTools {
    let listing = record.listing.unwrap_or_default();
    McpTools {
        listed_at: record.listed_at,
        tools: listing.tools.into_iter().map(mcp_tool).collect(),
        refused: listing.refused.into_iter().map(Into::into).collect(),
        gone: listing.gone,
        cut: listing.cut,
    }
}

fn mcp_tool(tool: ListedTool) -> McpTool {
    McpTool {
        name: tool.name,
        title: tool.title,
        description: tool.description,
        input_schema: tool.input_schema,
        output_schema: tool.output_schema,
        digest: tool.digest,
        change: tool.change,
    }
}

/// Converts the body of a request that adds an MCP server.
pub fn new_mcp_server(body: CreateMcpServer) -> NewMcpServer {
    let CreateMcpServer { slug, name, transport, secret_headers } = body;
    NewMcpServer { slug, name, transport, secret_headers }
}

/// Converts the body of a request that changes an MCP server.
pub fn mcp_server_change(body: UpdateMcpServer) -> McpServerChange {
    let UpdateMcpServer { revision, name, transport, secret_headers } = body;
    let change = |value: Option<_>| value.map_or(SecretChange::Delete, SecretChange::Set);
    let secret_headers = secret_headers.into_iter().map(|(name, value)| (name, change(value))).collect();
    McpServerChange { revision, name, transport, secret_headers }
}
