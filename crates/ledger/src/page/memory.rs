//! The pages /agents, /agents/{slug}, /agents/{slug}/memory, /agents/{slug}/memory/runs and /memory.

use super::{
    memory_document::{Document, Part, document_on, erased_on},
    names::{People, people_on},
};
use crate::{
    CardRecord, Ledger, MemoryAgentRecord, MemoryDocumentRecord, MemoryVersionRecord, Result,
    action::{self, ListActions},
    guard::require,
    insight::{self, InsightsRecord},
    memory::{FoundMemory, MemorySearch, attribute, check_agent, find_on},
    memory_writer::{RUNS_MAX, RunRecord, StalledRecord, WriterRecord, stalled_of_on},
    worker::{self, AgentWorkers},
};
use domain::{
    Scope, Timestamp, id::MemoryDocumentId, limit::PAGE_MAX, memory::MemoryPath, role::Permission, session::Status,
};
use std::collections::BTreeMap;
use store::{memory::DocumentFilter, retention::ErasedOfAgent, session::OpenWork};

/// Number of versions among the last changes.
const RECENT: u32 = 20;
/// Most sessions whose erasure is counted.
const ERASED_MAX: u32 = 10_000;
/// Days of the figures of an agent.
const DAYS: u32 = 30;

/// What the page of an agent's memory shows beside the list of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// The newest changes.
    Recent,
    /// What a search line finds, with words and with `title:`, which is a part of the path.
    Search(String),
    /// The document at a path, which may be deleted.
    Document(MemoryPath, Part),
    /// What is left of an erased document.
    Erased(MemoryDocumentId),
}

/// The page of an agent's memory.
#[derive(Debug)]
pub struct Memory {
    /// Documents that are not deleted, by path.
    pub documents: Vec<MemoryDocumentRecord>,
    /// Whether there are more.
    pub has_more: bool,
    /// The newest versions of all documents.
    pub recent: Vec<MemoryVersionRecord>,
    /// What a search found, the best first; `None` without a search.
    pub found: Option<Vec<FoundMemory>>,
    /// The document that is shown.
    pub document: Option<Document>,
    /// The agent's writer, if it waits after failures.
    pub stalled: Vec<StalledRecord>,
    /// Everyone who may have written a version.
    pub people: People,
}

/// The page of an agent.
#[derive(Debug)]
pub struct Agent {
    /// The card in use, if there is one.
    pub card: Option<CardRecord>,
    /// Totals of its memory.
    pub totals: Option<MemoryAgentRecord>,
    /// The newest versions of its documents.
    pub recent: Vec<MemoryVersionRecord>,
    /// What retention erased of its sessions.
    pub erased: ErasedOfAgent,
    /// Whether retention erased more than was counted.
    pub is_more_erased: bool,
    /// Number of documents that were erased.
    pub erased_documents: u64,
    /// The agent's writer, if it waits after failures.
    pub stalled: Vec<StalledRecord>,
    /// Everyone who may have written a version.
    pub people: People,
    /// Figures of the workspace, by agent.
    pub insights: InsightsRecord,
    /// Its workers; `None` if none was seen lately.
    pub workers: Option<Workers>,
}

/// The runs of an agent's memory writer.
#[derive(Debug)]
pub struct Runs {
    /// The newest runs, newest first.
    pub runs: Vec<RunRecord>,
    /// State of the writer; `None` if it has none yet.
    pub writer: Option<WriterRecord>,
    /// What waits after failures: the writer, or some of its sessions.
    pub stalled: Option<StalledRecord>,
}

/// An agent of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedAgent {
    /// Number of its memory documents.
    pub documents: u64,
    /// Sessions in the window of the figures that have ended.
    pub sessions: u64,
    /// Of those, sessions that failed.
    pub failed: u64,
    /// Sessions that wait for a worker.
    pub queued: u64,
    /// Sessions that run.
    pub running: u64,
    /// Conversations that wait for the next message.
    pub idle: u64,
    /// Sessions that wait for people.
    pub waiting: u64,
    /// Its workers; `None` if none was seen lately.
    pub workers: Option<Workers>,
}

/// The workers of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workers {
    /// Number of those that are connected.
    pub connected: u64,
    /// When one of them was last seen (UTC).
    pub seen_at: Timestamp,
}

impl From<&AgentWorkers> for Workers {
    fn from(of: &AgentWorkers) -> Self {
        Self { connected: of.connected, seen_at: of.seen_at }
    }
}

/// The agents of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agents {
    /// The agents by their slugs.
    pub agents: BTreeMap<String, ListedAgent>,
    /// Workers that take sessions of any agent; `None` if none was seen lately.
    pub of_any: Option<Workers>,
}

impl ListedAgent {
    /// Counts sessions that have not ended.
    fn add(&mut self, open: &OpenWork) {
        match open.status {
            Status::Pending => self.queued += open.sessions,
            Status::WaitingHuman | Status::AwaitingTool => self.waiting += open.sessions,
            Status::Idle => self.idle += open.sessions,
            _ => self.running += open.sessions,
        }
    }
}

/// Reads the page of an agent's memory.
///
/// # Errors
/// [`crate::Error::NotFound`] if `agent` is not a slug, and for a document that never was or a version it does not
/// have; [`crate::Error::Invalid`] for a bad search line.
pub async fn memory(ledger: &Ledger, scope: &Scope, agent: &str, selection: Selection) -> Result<Memory> {
    require(scope, Permission::Read)?;
    check_agent(agent)?;
    let search = match &selection {
        Selection::Search(line) => Some(MemorySearch::of(ledger, line).await?),
        _ => None,
    };
    let (tenant_id, agent, now) = (scope.tenant_id, agent.to_owned(), ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        let found = match &search {
            Some(search) => Some(find_on(conn, tenant_id, Some(&agent), search).await?),
            None => None,
        };
        let (mut document, mut texts) = (None, Vec::new());
        match selection {
            Selection::Recent | Selection::Search(_) => {}
            Selection::Document(path, part) => {
                let (opened, of_lines) = document_on(conn, tenant_id, &agent, &path, part).await?;
                (document, texts) = (Some(opened), of_lines);
            }
            Selection::Erased(id) => document = Some(erased_on(conn, tenant_id, &agent, id).await?),
        }
        let listed = store::memory::list(conn, tenant_id, &agent, &DocumentFilter::default(), None, PAGE_MAX).await?;
        let page = Memory {
            documents: listed.items,
            has_more: listed.has_more,
            recent: store::memory::audit(conn, tenant_id, &agent, None, RECENT).await?.items,
            found,
            document,
            stalled: stalled_of_on(conn, tenant_id, &agent, now).await?.into_iter().collect(),
            people: people_on(conn, tenant_id).await?,
        };
        Ok((page, texts))
    });
    let (mut page, texts) = read.await?;
    if let Some(document) = &mut page.document {
        // Comparing many versions takes long, and no snapshot is needed for it.
        document.origin = attribute(texts);
    }
    Ok(page)
}

/// Reads the page of an agent.
///
/// # Errors
/// [`crate::Error::NotFound`] if `agent` is not a slug.
pub async fn agent(ledger: &Ledger, scope: &Scope, agent: &str) -> Result<Agent> {
    require(scope, Permission::Read)?;
    check_agent(agent)?;
    let (tenant_id, agent, now) = (scope.tenant_id, agent.to_owned(), ledger.now());
    let insights = insight::read_window(ledger, scope, DAYS).await?;
    let read = ledger.snapshot(scope, async move |conn| {
        let mut erased = store::retention::of_agent(conn, tenant_id, &agent, ERASED_MAX + 1).await?;
        let is_more_erased = erased.sessions > u64::from(ERASED_MAX);
        erased.sessions = erased.sessions.min(u64::from(ERASED_MAX));
        let workers = worker::by_agent_on(conn, tenant_id, now).await?;
        Ok(Agent {
            workers: workers.iter().find(|of| of.agent == agent).map(Workers::from),
            erased,
            is_more_erased,
            erased_documents: store::memory::count_erased(conn, tenant_id, &agent).await?,
            card: store::memory::card(conn, tenant_id, &agent).await?,
            totals: store::memory::find_agent(conn, tenant_id, &agent).await?,
            recent: store::memory::audit(conn, tenant_id, &agent, None, RECENT).await?.items,
            stalled: stalled_of_on(conn, tenant_id, &agent, now).await?.into_iter().collect(),
            people: people_on(conn, tenant_id).await?,
            insights,
        })
    });
    read.await
}

/// Reads the newest runs of an agent's memory writer, and its state.
pub async fn runs(ledger: &Ledger, scope: &Scope, agent: &str) -> Result<Runs> {
    require(scope, Permission::Read)?;
    let (tenant_id, agent, now) = (scope.tenant_id, agent.to_owned(), ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        Ok(Runs {
            stalled: stalled_of_on(conn, tenant_id, &agent, now).await?,
            runs: store::memory_writer::runs(conn, tenant_id, &agent, RUNS_MAX).await?,
            writer: store::memory_writer::find(conn, tenant_id, &agent).await?,
        })
    });
    read.await
}

/// Reads the agents by their slugs: those with a memory, those that actions or sessions name, and those that workers
/// were there for.
pub async fn agents(ledger: &Ledger, scope: &Scope) -> Result<Agents> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let insights = insight::read_window(ledger, scope, DAYS).await?;
    let known = action::ListQuery::of(scope, ListActions { limit: PAGE_MAX, ..ListActions::default() })?;
    let read = ledger.snapshot(scope, async move |conn| {
        let mut agents: BTreeMap<String, ListedAgent> = BTreeMap::new();
        for memory in store::memory::agents(conn, reader.tenant_id, None, PAGE_MAX).await? {
            agents.entry(memory.agent).or_default().documents = memory.documents;
        }
        let actions = action::list_on(conn, &reader, known).await?.items;
        for slug in actions.into_iter().filter_map(|action| action.agent_slug) {
            agents.entry(slug).or_default();
        }
        for slug in store::session::named_agents(conn, reader.tenant_id, PAGE_MAX).await? {
            agents.entry(slug).or_default();
        }
        for open in store::session::open_work(conn, reader.tenant_id).await? {
            agents.entry(open.agent.clone()).or_default().add(&open);
        }
        for part in insights.insights.agents {
            let figures = part.figures;
            if let Some(slug) = part.slug {
                let agent = agents.entry(slug).or_default();
                (agent.sessions, agent.failed) = (figures.sessions, figures.failed);
            }
        }
        let mut of_any = None;
        for of in worker::by_agent_on(conn, reader.tenant_id, now).await? {
            let workers = Some(Workers::from(&of));
            if of.agent.is_empty() {
                of_any = workers;
            } else {
                agents.entry(of.agent).or_default().workers = workers;
            }
        }
        Ok(Agents { agents, of_any })
    });
    read.await
}
