//! How the memory writers of the settings are set up, for pages.

use crate::config::Settings;
use ledger::memory_writer::WriterTerms;
use std::collections::BTreeSet;

/// How the writer of an agent is set up.
#[derive(Debug, Clone)]
pub struct WriterSettings {
    /// Slug of the workspace.
    pub workspace: String,
    /// Slug of the agent.
    pub agent: String,
    /// Name of the model.
    pub model: String,
    /// When it runs and what it may do.
    pub terms: WriterTerms,
}

/// Returns how the writers of this server are set up, for pages. Empty if the server runs no agents.
pub fn described(settings: &Settings) -> Vec<WriterSettings> {
    let Some(memory) = settings.memory.as_ref().filter(|_| settings.runs_agents) else { return Vec::new() };
    let agents: BTreeSet<&String> = settings.agents.keys().chain(memory.agents.keys()).collect();
    let describe = |agent: &String| {
        let own = memory.agents.get(agent);
        let workspace = own.and_then(|own| own.workspace.clone());
        let workspace = workspace.or_else(|| settings.agents.get(agent)?.workspace.clone())?;
        let model = own.and_then(|own| own.model.clone()).unwrap_or_else(|| memory.model.clone());
        Some(WriterSettings { workspace, agent: agent.clone(), model, terms: memory.terms(agent)? })
    };
    agents.into_iter().filter_map(describe).collect()
}
