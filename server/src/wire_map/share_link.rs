//! Converts links to sessions.

use ledger::ShareLinkRecord;
use wire::share_link::ShareLink;

/// Converts a link to a session.
pub fn share_link(record: ShareLinkRecord) -> ShareLink {
    ShareLink {
        id: record.id,
        session_id: record.session_id,
        audience: record.audience,
        hint: record.hint,
        created_by: record.created_by,
        created_at: record.created_at,
        expires_at: record.expires_at,
        uses: record.uses,
        last_used_at: record.last_used_at,
        revoked_at: record.revoked_at,
    }
}
