//! The page /memory: the agents with a memory, and a search in all of them.

use super::names::{People, people_on};
use crate::{
    Error, Ledger, MemoryAgentRecord, Result,
    guard::require,
    memory::{FoundMemory, check_search, search_on},
    memory_writer::{StalledRecord, stalled_on},
};
use domain::{Scope, limit::PAGE_MAX, role::Permission};

/// What the page shows.
#[derive(Debug)]
pub struct Page {
    /// The agents that have a memory, by slug.
    pub agents: Vec<MemoryAgentRecord>,
    /// What the search found, the best first; `None` without a search.
    pub found: Option<Vec<FoundMemory>>,
    /// Writers that wait after failures.
    pub stalled: Vec<StalledRecord>,
    /// Everyone who may have written a document.
    pub people: People,
}

/// Reads the page. `query` is what is searched for.
///
/// # Errors
/// [`Error::Invalid`] for a query that is too long.
pub async fn read(ledger: &Ledger, scope: &Scope, query: Option<String>) -> Result<Page> {
    require(scope, Permission::Read)?;
    let search = query.map(|query| Ok::<_, Error>((check_search(&query, 0)?, query))).transpose()?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let read = ledger.snapshot(scope, move |conn| {
        Box::pin(async move {
            let agents = store::memory::agents(conn, tenant_id, None, PAGE_MAX).await?;
            let found = match search {
                Some((limit, query)) => Some(search_on(conn, tenant_id, None, &query, limit).await?),
                None => None,
            };
            let stalled = stalled_on(conn, tenant_id, now).await?;
            Ok(Page { agents, found, stalled, people: people_on(conn, tenant_id).await? })
        })
    });
    read.await
}
