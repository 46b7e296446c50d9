//! MCP servers whose tools a workspace calls.

use crate::tool::Tool;
use domain::{
    Timestamp,
    id::McpServerId,
    mcp::{Change, RefusedTool, Transport},
    tool::Secret,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// An MCP server, without the values of its secret headers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct McpServer {
    /// UUID of the server.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: McpServerId,
    /// URL name, unique in the workspace; never changes.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub slug: String,
    /// 1 to 200 characters.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// How the server is reached.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::McpTransport))]
    pub transport: Transport,
    /// Names of the headers whose values are secret.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub secret_headers: BTreeSet<String>,
    /// Number of this definition: 1 at first, one more with each change.
    pub revision: u64,
    /// Time at which its tools were listed last; absent before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub listed_at: Option<Timestamp>,
    /// Number of its listed tools that can be imported; absent before they were listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_count: Option<u64>,
    /// Who added the server: `user:…`, `token:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// Who changed the definition last.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub updated_by: String,
    /// Time at which the server was added.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Time of the last change of the definition.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}

/// `POST /api/mcp-servers`
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateMcpServer {
    /// Default: derived from the name.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub slug: Option<String>,
    /// 1 to 200 characters.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// How the server is reached.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::McpTransport))]
    pub transport: Transport,
    /// Values of headers by their names, stored encrypted and never returned. For admins.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::McpSecretHeaders))]
    pub secret_headers: BTreeMap<String, Secret>,
}

/// `PATCH /api/mcp-servers/{slug}`: absent fields stay.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateMcpServer {
    /// The revision that was read; another one is refused with `stale_version`.
    pub revision: u64,
    /// 1 to 200 characters.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Name>))]
    pub name: Option<String>,
    /// How the server is reached, as a whole.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::McpTransport>))]
    pub transport: Option<Transport>,
    /// Secret headers to set, or with `null` to delete; others stay. For admins.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::McpSecretHeaderChanges))]
    pub secret_headers: BTreeMap<String, Option<Secret>>,
}

/// A tool of an MCP server that can be imported.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct McpTool {
    /// The name by which the server calls it.
    pub name: String,
    /// Name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the tool does; may be empty.
    pub description: String,
    /// JSON Schema 2020-12 of the input.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolInputSchema))]
    pub input_schema: Value,
    /// JSON Schema 2020-12 of the structured result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ToolOutputSchema>))]
    pub output_schema: Option<Value>,
    /// SHA-256 of all of this, in hexadecimal digits.
    #[cfg_attr(feature = "openapi", schema(min_length = 64, max_length = 64))]
    pub digest: String,
    /// How the tool differs from the one that the server listed before: `new`, `changed` or `same`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::McpToolChange))]
    pub change: Change,
}

/// A tool of an MCP server that cannot be imported.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RefusedMcpTool {
    /// The beginning of its name, without control characters.
    pub name: String,
    /// Why it cannot be imported.
    pub reason: String,
}

impl From<RefusedTool> for RefusedMcpTool {
    fn from(RefusedTool { name, reason }: RefusedTool) -> Self {
        Self { name, reason }
    }
}

/// `GET /api/mcp-servers/{slug}/tools`: the tools that an MCP server listed last.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct McpTools {
    /// Time at which they were listed; absent before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub listed_at: Option<Timestamp>,
    /// The tools that can be imported, in the order of the server.
    pub tools: Vec<McpTool>,
    /// The tools that cannot be imported.
    pub refused: Vec<RefusedMcpTool>,
    /// Names of tools that the server listed before and does not list any more.
    pub gone: Vec<String>,
    /// Whether the server has more tools than are kept.
    pub cut: bool,
}

/// `POST /api/mcp-servers/{slug}/import`
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ImportMcpTools {
    /// Names of listed tools, each once.
    #[cfg_attr(
        feature = "openapi",
        schema(value_type = Vec<crate::schema::McpToolName>, min_items = 1, max_items = 200)
    )]
    pub tools: Vec<String>,
}

/// The tools that were imported.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportedMcpTools {
    /// Each with its working copy, in the order of the request.
    pub tools: Vec<Tool>,
}
