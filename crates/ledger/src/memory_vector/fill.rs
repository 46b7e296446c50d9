//! Makes the vectors of documents, behind the writes of their texts.

use super::embedder::{Embedder, is_about_the_texts, together, unavailable};
use crate::{
    Ledger, Result,
    lease::{ExtendedLease, Lease},
};
use chrono::TimeDelta;
use domain::{
    id::{MemoryDocumentId, TenantId},
    limit::{MEMORY_VECTORS_FAILURE_CHARS_MAX, MEMORY_VECTORS_OF_DOCUMENT_MAX, MEMORY_VECTORS_STEP},
    memory_writer::select::passages,
    thread::cut,
};
use embedding::{ENDPOINT_TEXTS_MAX, Failure, Vector};
use std::{collections::HashMap, time::Duration};
use store::{
    Access,
    memory::{AgentMemory, WithoutVectors},
};

/// The making of vectors. Other servers make none until the lease is over.
const LEASE: Lease = Lease { name: "memory-vectors", time: TimeDelta::minutes(2) };
/// Age of the lease at which it is extended.
const LEASE_AGAIN: TimeDelta = TimeDelta::seconds(30);
/// Agents that one step looks at.
const AGENTS_AT_ONCE: u32 = 500;
/// Agents that are remembered as done. If there are more, all are looked at again.
const AGENTS_DONE_MAX: usize = 100_000;
/// Time for one request to a service.
const WITHIN: Duration = Duration::from_secs(30);

type Key = (TenantId, String);

/// The result of one step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Step {
    /// Number of documents that got vectors.
    pub documents: u64,
    /// Whether there is more to do at once.
    pub more: bool,
}

/// Follows the documents of all agents and makes the vectors of those that have none of the present model.
#[derive(Debug)]
pub struct Filler {
    /// The last agent that was looked at; `None` at the start of a pass.
    after: Option<Key>,
    /// Agents whose documents all had vectors, as they were then.
    done: HashMap<Key, AgentMemory>,
    /// By which one of several servers does the work.
    lease: ExtendedLease,
}

impl Default for Filler {
    fn default() -> Self {
        Self { after: None, done: HashMap::new(), lease: ExtendedLease::new(LEASE, LEASE_AGAIN) }
    }
}

/// A version of a document with its vectors, to be saved.
struct MadeVectors {
    document_id: MemoryDocumentId,
    version: u64,
    vectors: Vec<u8>,
}

impl Filler {
    /// Makes the vectors of at most [`MEMORY_VECTORS_STEP`] documents. What fails is done by a later step.
    ///
    /// # Errors
    /// Those of the database; [`crate::Error::Unavailable`] if a service makes no vectors.
    pub async fn step(&mut self, ledger: &Ledger) -> Result<Step> {
        let vectors = ledger.vectors();
        let Some(embedder) = vectors.embedder() else { return Ok(Step::default()) };
        if !self.lease.hold(ledger).await? {
            return Ok(Step::default());
        }
        let after = self.after.clone();
        let read = ledger.store().read(Access::System, async move |conn| {
            store::memory::agents_after(conn, after.as_ref(), AGENTS_AT_ONCE).await
        });
        let agents = read.await?;
        let is_last = agents.len() < AGENTS_AT_ONCE as usize;
        for agent in agents {
            let key = (agent.tenant_id, agent.agent.clone());
            if self.done.get(&key) != Some(&agent) {
                let made = fill(ledger, embedder, &key).await?;
                if made > 0 {
                    return Ok(Step { documents: made, more: true });
                }
                self.remember(key.clone(), agent);
            }
            self.after = Some(key);
        }
        if is_last {
            self.after = None;
        }
        Ok(Step { documents: 0, more: !is_last })
    }

    fn remember(&mut self, key: Key, agent: AgentMemory) {
        if self.done.len() >= AGENTS_DONE_MAX {
            self.done.clear();
        }
        self.done.insert(key, agent);
    }
}

/// Makes the vectors of the next documents of an agent. Returns how many got some. What was made before a failure is
/// saved, and the failure is noted with the agent for `memory status`.
async fn fill(ledger: &Ledger, embedder: &Embedder, (tenant_id, agent): &Key) -> Result<u64> {
    let (tenant_id, slug, model) = (*tenant_id, agent.clone(), embedder.id().to_owned());
    let read = ledger.store().read(Access::System, async move |conn| {
        store::memory::without_vectors(conn, tenant_id, &slug, &model, MEMORY_VECTORS_STEP).await
    });
    let documents: Vec<Passages> = read.await?.into_iter().map(Passages::of).collect();
    if documents.is_empty() {
        return Ok(0);
    }
    let (all, failed) = vectors_of_all(embedder, &documents).await;
    if failed.is_some() {
        ledger.vectors().count_failure();
    }
    let count = all.len() as u64;
    let (agent, model, now) = (agent.clone(), embedder.id().to_owned(), ledger.now());
    let failure = failed.as_ref().map(|why| cut(&why.to_string(), MEMORY_VECTORS_FAILURE_CHARS_MAX));
    let written = ledger.write(Access::System, async move |tx| {
        store::memory::lock_agent(tx, tenant_id, &agent, now).await?;
        for MadeVectors { document_id, version, vectors } in all {
            let of = (document_id, version);
            store::memory::save_vectors(tx, tenant_id, (&agent, &model), of, vectors).await?;
        }
        store::memory::note_vector_failure(tx, tenant_id, &agent, failure.as_deref()).await?;
        Ok(())
    });
    written.await?;
    match failed {
        Some(why) => Err(unavailable(&why)),
        None => Ok(count),
    }
}

/// The texts of a version of a document of which vectors are made: its first passages.
struct Passages {
    document_id: MemoryDocumentId,
    version: u64,
    texts: Vec<String>,
}

impl Passages {
    fn of(document: WithoutVectors) -> Self {
        let WithoutVectors { document_id, version, body } = document;
        let passages = passages(&body).into_iter().take(MEMORY_VECTORS_OF_DOCUMENT_MAX);
        let texts = passages.map(|passage| format!("{}\n{}", passage.headings, passage.text)).collect();
        Self { document_id, version, texts }
    }

    /// The document with its vectors, which are `numbers` in the order of its texts, or none.
    fn with(&self, embedder: &Embedder, numbers: impl Iterator<Item = Vec<f32>>) -> MadeVectors {
        let mut vectors = Vec::new();
        for numbers in numbers {
            // A passage about which nothing is known keeps its place.
            let vector = Vector::of(&numbers).unwrap_or_else(|| Vector::unknown(embedder.dimensions()));
            vector.write(&mut vectors);
        }
        MadeVectors { document_id: self.document_id, version: self.version, vectors }
    }
}

/// The vectors of documents up to the first failure, and the failure.
async fn vectors_of_all(embedder: &Embedder, documents: &[Passages]) -> (Vec<MadeVectors>, Option<Failure>) {
    let mut all = Vec::with_capacity(documents.len());
    let mut rest = documents;
    while !rest.is_empty() {
        let (batch, after) = rest.split_at(documents_together(rest));
        match vectors_of(embedder, batch).await {
            Ok(made) => all.extend(made),
            Err(why) => return (all, Some(why)),
        }
        rest = after;
    }
    (all, None)
}

/// How many of the first documents are sent in one request: at least one. A document with more texts than a request may
/// have is sent in several.
fn documents_together(documents: &[Passages]) -> usize {
    let texts: Vec<String> =
        documents.iter().flat_map(|one| one.texts.iter().cloned()).take(ENDPOINT_TEXTS_MAX).collect();
    let mut left = together(&texts);
    let fits = |one: &&Passages| {
        let fits = one.texts.len() <= left;
        left = left.saturating_sub(one.texts.len());
        fits
    };
    documents.iter().take_while(fits).count().max(1)
}

/// The vectors of documents whose texts are sent together. If a service refuses them together, each document is sent
/// alone; one that it refuses has none, so that it does not hold the others up.
async fn vectors_of(embedder: &Embedder, batch: &[Passages]) -> std::result::Result<Vec<MadeVectors>, Failure> {
    let texts: Vec<String> = batch.iter().flat_map(|one| one.texts.iter().cloned()).collect();
    match embedder.embed(texts, WITHIN).await {
        Ok(numbers) => {
            let mut numbers = numbers.into_iter();
            Ok(batch.iter().map(|one| one.with(embedder, numbers.by_ref().take(one.texts.len()))).collect())
        }
        Err(why) if is_about_the_texts(&why) => vectors_of_each(embedder, batch).await,
        Err(why) => Err(why),
    }
}

async fn vectors_of_each(embedder: &Embedder, batch: &[Passages]) -> std::result::Result<Vec<MadeVectors>, Failure> {
    let mut all = Vec::with_capacity(batch.len());
    for one in batch {
        let numbers = match embedder.embed(one.texts.clone(), WITHIN).await {
            Ok(numbers) => numbers,
            Err(why) if is_about_the_texts(&why) => {
                tracing::warn!(error = %why, document_id = %one.document_id, "a memory document gets no vectors");
                Vec::new()
            }
            Err(why) => return Err(why),
        };
        all.push(one.with(embedder, numbers.into_iter()));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn documents_share_a_request_while_their_texts_fit() {
        let document = |texts: usize| {
            let document_id = MemoryDocumentId(Uuid::nil());
            Passages { document_id, version: 1, texts: vec!["text".into(); texts] }
        };
        let together =
            |texts: &[usize]| documents_together(&texts.iter().map(|one| document(*one)).collect::<Vec<_>>());
        assert_eq!(together(&[1]), 1);
        assert_eq!(together(&[3, 0, 4]), 3);
        assert_eq!(together(&[32, 32, 1]), 2);
        assert_eq!(together(&[40, 32]), 1, "no document is divided to fill a request");
        assert_eq!(together(&[100, 1]), 1);
        assert_eq!(together(&[1; 40]), 40);
    }
}
