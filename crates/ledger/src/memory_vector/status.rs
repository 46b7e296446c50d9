//! How many documents have vectors.

use crate::{Error, Ledger, Result};
use store::{Access, memory::VectorCount};

/// How many documents of an agent have vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentVectorStatus {
    /// Slug of the agent.
    pub agent: String,
    /// Number of documents that are not deleted.
    pub documents: u64,
    /// Number of documents whose newest version was given to what makes vectors, by its name.
    pub made: Vec<(String, u64)>,
    /// Number of those that got none: without text, or refused by a service.
    pub empty: u64,
    /// Why the vectors of the others could not be made when it was last tried; `None` if nothing failed.
    pub failure: Option<String>,
}

impl AgentVectorStatus {
    /// Number of documents whose newest version has no vectors yet.
    pub fn pending(&self) -> u64 {
        self.documents.saturating_sub(self.made.iter().map(|(_, made)| made).sum())
    }
}

/// Returns how many documents of each agent have vectors, by agent.
///
/// # Errors
/// [`Error::NotFound`] if there is no workspace with this slug.
pub async fn status_by_operator(ledger: &Ledger, workspace: &str) -> Result<Vec<AgentVectorStatus>> {
    let workspace = workspace.to_owned();
    let read = ledger.store().read(Access::System, async move |conn| {
        let Some(tenant) = store::tenant::find_by_slug(conn, &workspace).await? else { return Ok(None) };
        Ok(Some(store::memory::vector_counts(conn, tenant.id).await?))
    });
    Ok(by_agent(read.await?.ok_or(Error::NotFound("workspace"))?))
}

/// Joins counts, which are in the order of their agents.
fn by_agent(counts: Vec<VectorCount>) -> Vec<AgentVectorStatus> {
    let mut all: Vec<AgentVectorStatus> = Vec::new();
    for VectorCount { agent, documents, model, made, empty, failure } in counts {
        if all.last().is_none_or(|last| last.agent != agent) {
            all.push(AgentVectorStatus { agent, documents, made: Vec::new(), empty: 0, failure });
        }
        if let Some(last) = all.last_mut().filter(|_| made > 0) {
            last.made.push((model, made));
            last.empty += empty;
        }
    }
    all
}
