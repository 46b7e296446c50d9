//! The meaning of a text, and what is near to it.

use super::{
    agent::{AgentVectors, Near},
    embedder::Embedder,
};
use crate::Result;
use domain::{
    id::TenantId,
    limit::{MEMORY_CANDIDATES, MEMORY_VECTOR_MS_MAX, MEMORY_VECTORS_CACHE_BYTES_MAX, MEMORY_VECTORS_READ_MAX},
};
use embedding::Vector;
use quick_cache::{Weighter, sync::Cache};
use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use store::Conn;

/// Cosine from which on a passage is near to a text, unless the settings have another number.
pub const SIMILARITY_MIN_DEFAULT: f32 = 0.25;
/// Agents whose vectors the cache expects. With more than 32 the library divides the cache into parts, each with its
/// share of the bytes, and keeps nothing that is larger than a part, such as the vectors of the largest agents.
const AGENTS_ESTIMATED: usize = 32;

type Key = (TenantId, String);

#[derive(Debug, Clone, Copy)]
struct ByBytes;

impl Weighter<Key, Arc<AgentVectors>> for ByBytes {
    fn weight(&self, key: &Key, vectors: &Arc<AgentVectors>) -> u64 {
        (size_of::<Key>() + key.1.len()) as u64 + vectors.bytes
    }
}

/// Settings of the comparison of vectors.
#[derive(Debug, Clone)]
struct Comparison {
    embedder: Embedder,
    /// Cosine from which on a passage is near to a text.
    least: f32,
}

struct Inner {
    comparison: OnceLock<Comparison>,
    /// Times that no vectors could be made, of texts or of a search.
    failures: AtomicU64,
    agents: Cache<Key, Arc<AgentVectors>, ByBytes>,
}

/// The vectors of the agents that were searched lately. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct Vectors(Arc<Inner>);

impl fmt::Debug for Vectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vectors").field("comparison", &self.0.comparison.get()).finish_non_exhaustive()
    }
}

/// How much a search reads of vectors that changed since the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// At most [`MEMORY_VECTORS_READ_MAX`] documents. For a claim, which waits for it.
    Bounded,
    /// All.
    Whole,
}

/// The meaning of a text that is looked for.
#[derive(Debug, Clone)]
pub(crate) struct Meaning {
    vectors: Vectors,
    vector: Vector,
    reach: Reach,
}

impl Vectors {
    pub(crate) fn new() -> Self {
        let agents = Cache::with_weighter(AGENTS_ESTIMATED, MEMORY_VECTORS_CACHE_BYTES_MAX, ByBytes);
        Self(Arc::new(Inner { comparison: OnceLock::new(), failures: AtomicU64::new(0), agents }))
    }

    /// Sets what makes vectors, and the cosine from which on a passage is near. Only the first call has an effect.
    pub(crate) fn use_embedder(&self, embedder: Embedder, least: f32) {
        let _ = self.0.comparison.set(Comparison { embedder, least });
    }

    pub(super) fn embedder(&self) -> Option<&Embedder> {
        self.0.comparison.get().map(|comparison| &comparison.embedder)
    }

    pub(super) fn count_failure(&self) {
        self.0.failures.fetch_add(1, Relaxed);
    }

    pub(super) fn failures(&self) -> u64 {
        self.0.failures.load(Relaxed)
    }

    /// The vectors of an agent as far as `reach` reads them. They are kept for the next search.
    async fn of_agent(
        &self,
        conn: &mut Conn<'_>,
        (tenant_id, agent): (TenantId, &str),
        model: &str,
        reach: Reach,
    ) -> Result<Arc<AgentVectors>> {
        let key = (tenant_id, agent.to_owned());
        let mut known = self.0.agents.get(&key).unwrap_or_default();
        loop {
            let rows =
                store::memory::vectors_after(conn, tenant_id, agent, known.change, MEMORY_VECTORS_READ_MAX).await?;
            let is_last = rows.len() < MEMORY_VECTORS_READ_MAX as usize;
            if !rows.is_empty() {
                known = Arc::new(known.changed(rows, model));
                self.0.agents.insert(key.clone(), Arc::clone(&known));
            }
            if is_last || reach == Reach::Bounded {
                return Ok(known);
            }
        }
    }

    /// Reads all vectors of an agent into memory. Returns their bytes; 0 without an embedder.
    pub(super) async fn warm(&self, conn: &mut Conn<'_>, of: (TenantId, &str)) -> Result<u64> {
        let Some(embedder) = self.embedder() else { return Ok(0) };
        Ok(self.of_agent(conn, of, embedder.id(), Reach::Whole).await?.bytes)
    }

    /// The meaning of a text for a claim or a prompt. `None` if vectors are off, if a service would have to make the
    /// vector, or if the model knows no word of the text.
    pub(crate) fn meaning_at_once(&self, text: &str) -> Option<Meaning> {
        let numbers = self.embedder()?.embed_at_once(text)?;
        Some(Meaning { vectors: self.clone(), vector: Vector::of(&numbers)?, reach: Reach::Bounded })
    }

    /// The meaning of a text that a person or program searches for. `None` also if a service does not answer in time:
    /// the search continues without it.
    pub(crate) async fn meaning(&self, text: &str) -> Option<Meaning> {
        let embedder = self.embedder()?;
        if text.trim().is_empty() {
            return None;
        }
        let within = Duration::from_millis(MEMORY_VECTOR_MS_MAX);
        let made = embedder.embed(vec![text.to_owned()], within).await;
        let made = made.inspect_err(|error| {
            self.count_failure();
            tracing::warn!(%error, "a search in memory goes on without vectors");
        });
        let numbers = made.ok()?.pop()?;
        Some(Meaning { vectors: self.clone(), vector: Vector::of(&numbers)?, reach: Reach::Whole })
    }
}

impl Meaning {
    /// The documents of an agent that are near, the nearest first. They are as of the change that was read last: the
    /// caller compares their versions with those of the documents.
    pub(crate) async fn near(&self, conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str) -> Result<Vec<Near>> {
        let Some(comparison) = self.vectors.0.comparison.get() else { return Ok(Vec::new()) };
        let of = (tenant_id, agent);
        let known = self.vectors.of_agent(conn, of, comparison.embedder.id(), self.reach).await?;
        Ok(known.near(&self.vector, comparison.least, MEMORY_CANDIDATES as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::limit::MEMORY_VECTORS_BYTES_MAX;
    use uuid::Uuid;

    #[test]
    fn the_vectors_of_the_largest_agents_stay_in_the_cache() {
        let vectors = Vectors::new();
        let key = |agent: u128| (TenantId(Uuid::from_u128(1)), format!("agent-{agent}"));
        for agent in 1..=3 {
            let mut largest = AgentVectors::default();
            largest.bytes = MEMORY_VECTORS_BYTES_MAX;
            vectors.0.agents.insert(key(agent), Arc::new(largest));
        }
        assert!((1..=3).all(|agent| vectors.0.agents.get(&key(agent)).is_some()));
    }
}
