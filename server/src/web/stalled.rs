//! Memory writers that wait after failures or have sessions which wait, as pages show them.

use app::memory::StalledWriter;
use ledger::memory_writer::StalledRecord;

/// Converts the writers.
pub fn stalled_of(found: Vec<StalledRecord>) -> Vec<StalledWriter> {
    let shown = |record: StalledRecord| StalledWriter {
        agent: record.agent,
        parked_at: record.parked_at,
        parked_sessions: record.parked_sessions,
        retry_at: record.retry_at,
        failures: record.failures,
        why: record.error.unwrap_or_default(),
    };
    found.into_iter().map(shown).collect()
}
