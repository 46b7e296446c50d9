//! Converts runs of memory writers.

use ledger::memory_write::RunRecord;
use wire::memory_writer as to;

/// Converts a run of a memory writer.
pub fn memory_run(run: RunRecord) -> to::MemoryRun {
    to::MemoryRun {
        id: run.id,
        cause: run.cause,
        state: run.state.as_str().to_owned(),
        window: serde_json::from_str(&run.window).unwrap_or_default(),
        turns: run.turns,
        proposals: run.proposals,
        written: run.written,
        error: run.error,
        model: run.model,
        input_tokens: run.input_tokens,
        output_tokens: run.output_tokens,
        cost_usd: run.cost_usd,
        started_at: run.started_at,
        ended_at: run.ended_at,
    }
}
