//! Samples for training, from rows.

use domain::{
    limit::MEMORY_RANKER_SAMPLES_MAX,
    memory_writer::{
        limit::BLOCK_CANDIDATES_MAX,
        select::{Measured, formula},
    },
    relevance::{Kind, Row},
};
use ranker::{Facts, Folder, Sample, features};
use std::collections::{HashMap, VecDeque};

/// Most that one row can weigh.
const WEIGHT_MAX: f64 = 10.0;

/// Values for the ranker. `Measured` has those of the formula; uses and tokens follow.
pub(super) fn facts(of: Measured, (uses_30d, tokens): (u32, u32), kind: Kind) -> Facts {
    let Measured { bm25, similarity, recency_d, importance, same_person, same_channel } = of;
    let folder = match kind {
        Kind::People => Folder::People,
        Kind::Topics => Folder::Topics,
        Kind::Sessions => Folder::Sessions,
        Kind::Other => Folder::Other,
    };
    Facts { bm25, similarity, recency_d, importance, uses_30d, same_person, same_channel, folder, tokens }
}

/// Collects samples from rows in the order of their sessions and prompts. The newest [`MEMORY_RANKER_SAMPLES_MAX`] are
/// kept.
#[derive(Debug, Default)]
pub struct Samples {
    /// Rows of the prompt that is being read.
    prompt: Vec<Row>,
    prompts: u64,
    /// Numbers of the sessions by their names.
    sessions: HashMap<String, u64>,
    samples: VecDeque<Sample>,
}

impl Samples {
    /// Adds a row. Rows of one prompt follow each other, and older sessions come first. Rows without a label are needed
    /// too: the formula scores all candidates of a prompt together.
    pub fn push(&mut self, row: Row) {
        let is_next = self.prompt.first().is_some_and(|first| first.query_group != row.query_group);
        if is_next || self.prompt.len() >= BLOCK_CANDIDATES_MAX {
            self.finish_prompt();
        }
        self.prompt.push(row);
    }

    /// Returns the samples.
    pub fn finish(mut self) -> Vec<Sample> {
        self.finish_prompt();
        self.samples.into()
    }

    fn finish_prompt(&mut self) {
        let rows = std::mem::take(&mut self.prompt);
        let measured: Vec<Measured> = rows.iter().map(measured).collect();
        let most = measured.iter().map(|one| one.bm25).fold(0.0, f64::max);
        self.prompts += 1;
        for ((row, measured), score) in rows.into_iter().zip(&measured).zip(formula(&measured)) {
            let Some(label) = row.label else { continue };
            let next = self.sessions.len() as u64;
            let facts = facts(*measured, (row.uses_30d, row.tokens), row.kind);
            let session = *self.sessions.entry(row.session_hmac).or_insert(next);
            if self.samples.len() >= MEMORY_RANKER_SAMPLES_MAX {
                self.samples.pop_front();
            }
            self.samples.push_back(Sample {
                session,
                group: self.prompts,
                features: features(&facts, most, row.slot.unwrap_or_default()),
                formula: narrow(score),
                label: narrow(label.clamp(-1.0, 1.0)),
                weight: narrow(row.weight.clamp(0.0, WEIGHT_MAX)),
                rating: row.agent_mean.map(narrow),
                used: row.use_hits > 0,
            });
        }
    }
}

fn measured(row: &Row) -> Measured {
    Measured {
        bm25: row.bm25,
        similarity: row.similarity,
        recency_d: row.recency_d,
        importance: row.importance,
        same_person: row.same_person,
        same_channel: row.same_channel,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a sample needs no more digits")]
fn narrow(value: f64) -> f32 {
    value as f32
}
