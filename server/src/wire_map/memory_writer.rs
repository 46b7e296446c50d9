//! Converts runs of memory writers.

use super::insight::dollars;
use ledger::memory_writer::{FlushWait, Flushed, RunRecord};
use wire::memory_writer as to;

/// Converts what becomes of a request for a run, with the number of sessions that it added.
pub fn memory_flush(flushed: Flushed, added_sessions: Option<u64>) -> to::MemoryFlush {
    to::MemoryFlush {
        has_writer: flushed.has_writer,
        waits_for: flushed.waits.map(FlushWait::waits_for),
        reason: flushed.waits.map(|waits| waits.to_string()),
        waits_until: flushed.waits.and_then(|waits| waits.until()),
        added_sessions,
    }
}

/// Converts a run of a memory writer.
pub fn memory_run(run: RunRecord) -> to::MemoryRun {
    to::MemoryRun {
        id: run.id,
        cause: run.cause,
        state: run.state,
        window: serde_json::from_str(&run.window).unwrap_or_default(),
        turns: run.turns,
        proposals: run.proposals,
        written: run.written,
        error: run.error,
        model: run.model,
        input_tokens: run.input_tokens,
        output_tokens: run.output_tokens,
        cost_usd: run.cost_usd.map(dollars),
        started_at: run.started_at,
        ended_at: run.ended_at,
    }
}
