//! How much memory agents are given at once, and how many people review its changes, as the settings say.

use domain::memory_writer::block::Bounds;
use std::{collections::BTreeMap, sync::Arc};

/// Bounds for all agents, and for single agents by their slugs. Copies are cheap.
#[derive(Debug, Clone, Default)]
pub struct MemoryBounds {
    bounds: Arc<(Bounds, BTreeMap<String, Bounds>)>,
    approvals: Arc<(u32, BTreeMap<String, u32>)>,
}

impl MemoryBounds {
    /// Bounds for all agents, and those that differ. One reviewer approves a change.
    pub fn new(common: Bounds, agents: BTreeMap<String, Bounds>) -> Self {
        Self { bounds: Arc::new((common, agents)), approvals: Arc::default() }
    }

    /// Sets how many reviewers must approve a change of the memory of all agents, and of those for which it differs.
    #[must_use]
    pub fn with_approvals(self, common: u32, agents: BTreeMap<String, u32>) -> Self {
        Self { approvals: Arc::new((common, agents)), ..self }
    }

    /// The bounds of an agent.
    pub(crate) fn of(&self, agent: &str) -> Bounds {
        let (common, agents) = &*self.bounds;
        agents.get(agent).copied().unwrap_or(*common)
    }

    /// Number of reviewers who must approve a change of the agent's memory, from 1.
    pub(crate) fn approvals_of(&self, agent: &str) -> u32 {
        let (common, agents) = &*self.approvals;
        agents.get(agent).copied().unwrap_or(*common).max(1)
    }
}
