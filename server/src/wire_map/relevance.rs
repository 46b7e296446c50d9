//! Converts memories of sessions and their ratings.

use crate::problem::Problem;
use domain::relevance::{Kind, Ratings};
use ledger::relevance::{Report, SessionMemoryRecord};
use wire::{
    Code, Json,
    relevance::{MemoryRating, RatedMemories, RefusedMemoryRating, SessionMemory},
};

/// Converts the ratings of a request. The problem names the member if it is no object.
pub fn memory_ratings(ratings: &Json) -> Result<Ratings, Problem> {
    let is_object = ratings.get().starts_with('{');
    let read = is_object.then(|| Ratings::read(ratings.get())).flatten();
    read.ok_or_else(|| Problem::field(Code::InvalidRequest, "memory_feedback", "an object of ids and scores"))
}

/// Converts what became of ratings.
pub fn rated_memories(report: Report) -> RatedMemories {
    let accepted =
        report.accepted.into_iter().map(|one| MemoryRating { id: one.memory_id, turn: one.turn, score: one.value });
    let refused = report.refused.into_iter().map(|one| RefusedMemoryRating { id: one.memory_id, reason: one.reason });
    RatedMemories { accepted: accepted.collect(), refused: refused.collect(), not_read: report.not_read }
}

/// Converts a memory that was considered for a prompt.
pub fn session_memory(record: SessionMemoryRecord) -> SessionMemory {
    SessionMemory {
        id: record.memory_id,
        turn: record.turn,
        memory_version: record.memory_version,
        kind: Kind::of(&record.kind),
        injected: record.injected,
        rank: record.rank,
        slot: record.slot,
        holdout: record.holdout,
        propensity: record.propensity,
        ranker: record.ranker,
        bm25: record.bm25,
        similarity: record.similarity,
        recency_d: record.recency_d,
        importance: record.importance,
        uses_30d: record.uses_30d,
        same_person: record.same_person,
        same_channel: record.same_channel,
        tokens: record.tokens,
        use_hits: record.use_hits,
        agent_relevance_score: record.agent_relevance_score,
        agent_feedback_count: record.agent_feedback_count,
        at: record.at,
    }
}
