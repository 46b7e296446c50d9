//! Calls on the memory writers of agents.

use crate::{Client, Result};
use wire::memory_writer::{MemoryFlush, MemoryRuns};

impl Client {
    /// `POST /api/agents/{slug}/memory/flush`
    pub async fn flush_memory(&self, agent: &str) -> Result<MemoryFlush> {
        self.post(&["api", "agents", agent, "memory", "flush"], &()).await
    }

    /// `GET /api/agents/{slug}/memory/runs`
    pub async fn memory_runs(&self, agent: &str) -> Result<MemoryRuns> {
        self.get(&["api", "agents", agent, "memory", "runs"], &[]).await
    }
}
