//! The page /memory: the agents with a memory, and a search in all of them.

use super::names::{People, people_on};
use crate::{
    Ledger, MemoryAgentRecord, MemoryDocumentRecord, Result,
    guard::require,
    memory::{FoundMemory, MemorySearch, find_on},
    memory_writer::{StalledRecord, stalled_on},
};
use domain::{Scope, Timestamp, limit::PAGE_MAX, memory::MemoryPath, memory_writer::turn::own_path, role::Permission};

/// What the page shows.
#[derive(Debug)]
pub struct Page {
    /// The agents that have a memory, by slug.
    pub agents: Vec<MemoryAgentRecord>,
    /// The documents about the person who looks, by agent.
    pub own: Vec<MemoryDocumentRecord>,
    /// When the person who looks asked to be forgotten (UTC); `None` if they did not, or it is done.
    pub asked_at: Option<Timestamp>,
    /// Number of members who ask to be forgotten, for admins.
    pub requests: usize,
    /// What the search found, the best first; `None` without a search.
    pub found: Option<Vec<FoundMemory>>,
    /// Writers that wait after failures.
    pub stalled: Vec<StalledRecord>,
    /// Everyone who may have written a document.
    pub people: People,
}

/// Reads the page. `line` is what is searched for: words, and `title:`, which is a part of the path.
///
/// # Errors
/// [`crate::Error::Invalid`] for a bad line.
pub async fn read(ledger: &Ledger, scope: &Scope, line: Option<String>) -> Result<Page> {
    require(scope, Permission::Read)?;
    let search = match &line {
        Some(line) => Some(MemorySearch::of(ledger, line).await?),
        None => None,
    };
    let (tenant_id, now, own) = (scope.tenant_id, ledger.now(), scope.user_id().map(own_path));
    let (user_id, is_admin) = (scope.user_id(), scope.may(Permission::Administer));
    let read = ledger.snapshot(scope, async move |conn| {
        let agents = store::memory::agents(conn, tenant_id, None, PAGE_MAX).await?;
        let found = match &search {
            Some(search) => Some(find_on(conn, tenant_id, None, search).await?),
            None => None,
        };
        let own = match own.as_deref().map(MemoryPath::parse) {
            Some(Ok(path)) => store::memory::of_all_agents(conn, tenant_id, &path, PAGE_MAX).await?,
            Some(Err(_)) | None => Vec::new(),
        };
        let asked = store::memory_forget::requests(conn, tenant_id, None, PAGE_MAX).await?;
        let asked_at = asked.iter().find(|one| Some(one.user_id) == user_id).map(|one| one.asked_at);
        let requests = if is_admin { asked.len() } else { 0 };
        let stalled = stalled_on(conn, tenant_id, now).await?;
        Ok(Page { agents, own, asked_at, requests, found, stalled, people: people_on(conn, tenant_id).await? })
    });
    read.await
}
