//! Converts links to tools.

use ledger::ToolLinkRecord;
use wire::tool_link::ToolLink;

/// Converts a link to a tool.
pub fn tool_link(record: ToolLinkRecord) -> ToolLink {
    ToolLink {
        id: record.id,
        tool_id: record.tool_id,
        hint: record.hint,
        created_by: record.created_by,
        created_at: record.created_at,
        expires_at: record.expires_at,
        uses: record.uses,
        last_used_at: record.last_used_at,
        runs: record.runs,
        revoked_at: record.revoked_at,
    }
}
