//! Converts entries of the audit list.

use super::json;
use ledger::audit::EntryRecord;
use wire::audit::{AuditEntry, AuditTarget};

/// Converts an entry of the audit list.
pub fn audit_entry(record: EntryRecord) -> AuditEntry {
    AuditEntry {
        sequence: record.sequence,
        at: record.at,
        kind: record.kind,
        actor: record.actor,
        target: record.target.map(|(kind, id)| AuditTarget { kind, id }),
        detail: json(record.detail),
        digest: record.digest.to_string(),
    }
}
