//! How much memory agents are given at once, as the settings say.

use domain::memory_writer::block::Bounds;
use std::{collections::BTreeMap, sync::Arc};

/// Bounds for all agents, and for single agents by their slugs. Copies are cheap.
#[derive(Debug, Clone, Default)]
pub struct MemoryBounds(Arc<(Bounds, BTreeMap<String, Bounds>)>);

impl MemoryBounds {
    /// Bounds for all agents, and those that differ.
    pub fn new(common: Bounds, agents: BTreeMap<String, Bounds>) -> Self {
        Self(Arc::new((common, agents)))
    }

    /// The bounds of an agent.
    pub(crate) fn of(&self, agent: &str) -> Bounds {
        let (common, agents) = &*self.0;
        agents.get(agent).copied().unwrap_or(*common)
    }
}
