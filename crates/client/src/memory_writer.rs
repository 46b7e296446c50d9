//! Calls on the memory writers of agents.

use crate::{Client, Result};
use domain::Timestamp;
use reqwest::Method;
use wire::memory_writer::{MemoryFlush, MemoryRuns};

impl Client {
    /// `POST /api/agents/{slug}/memory/flush`. With `since` the sessions that began then or later are read too.
    pub async fn flush_memory(&self, agent: &str, since: Option<Timestamp>) -> Result<MemoryFlush> {
        let query = [("since", since.map(|since| since.to_rfc3339()))];
        let to = ["api", "agents", agent, "memory", "flush"];
        self.send_bytes(Method::POST, &to, &query, "application/json", b"null".to_vec()).await
    }

    /// `GET /api/agents/{slug}/memory/runs`
    pub async fn memory_runs(&self, agent: &str) -> Result<MemoryRuns> {
        self.get(&["api", "agents", agent, "memory", "runs"], &[]).await
    }
}
