//! What the operator of an installation sets for the use cases.

use crate::memory_bounds::MemoryBounds;
use domain::relevance;

/// Settings of a ledger. [`Options`](crate::Options) give them to it, and they do not change while it is open. The
/// default allows no other host and no program.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Hosts to which views may send respondents: host names in lower case, with a port if it is not 443.
    pub redirect_hosts: Vec<String>,
    /// Programs that workspaces may use as MCP servers.
    pub mcp_programs: Vec<McpProgram>,
    /// How much memory agents are given at once.
    pub memory_bounds: MemoryBounds,
    /// How ratings of memories are requested and what they cause.
    pub relevance: relevance::Settings,
}

/// A program of the installation that one workspace may use as an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpProgram {
    /// Name by which MCP servers refer to the program.
    pub name: String,
    /// Slug of the workspace.
    pub workspace: String,
}
