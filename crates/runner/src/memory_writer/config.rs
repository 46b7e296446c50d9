//! The memory writer as operators describe it in the settings.

use super::WriterModel;
use crate::execute::{
    chat::{Model, ModelAddress, Prices, Secret, Wire},
    config::BuildEnvironment,
};
use domain::{
    limit::APPROVAL_QUORUM_MAX,
    memory_writer::{
        block::Bounds,
        limit::{BLOCK_ITEMS_MAX, BLOCK_TOKENS_MAX},
        plan::Policy,
    },
};
use ledger::memory_writer::WriterTerms;
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicBool},
};

/// The table `[memory]` of the settings.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryConfig {
    /// Wire format of the model's service.
    pub wire: Wire,
    /// Base URL of the model's service; `Wire::default_base_url` if absent.
    pub base_url: Option<String>,
    /// Name of the model at its service.
    pub model: String,
    /// Name of the environment variable that holds the API key.
    pub api_key_env: Option<String>,
    /// Longest answer of the model, tokens.
    pub max_tokens: Option<u32>,
    /// Whether the model's service is given the schema of answers, so that it makes them match; it is if absent.
    pub structured: Option<bool>,
    /// Prices of the model.
    pub prices: Option<Prices>,
    /// What is written without a review; nothing if absent.
    pub policy: Option<Policy>,
    /// Turns past the watermark that start a run.
    pub turn_threshold: Option<u32>,
    /// Silence that starts a run, seconds.
    pub idle_timeout: Option<u32>,
    /// Most runs of an agent on one day (UTC).
    pub runs_per_day: Option<u32>,
    /// Most tokens of an agent on one day (UTC).
    pub tokens_per_day: Option<u64>,
    /// Number of reviewers who must approve a proposal; 1 if absent.
    pub approvals: Option<u32>,
    /// Most memories that an agent is given at once; none with 0.
    pub block_items: Option<usize>,
    /// Most tokens of these memories together; none with 0.
    pub block_tokens: Option<u32>,
    /// Whether the model scores the continuity of sessions that have ended; it does not if absent.
    pub continuity: Option<bool>,
    /// Settings of single agents, by their slugs.
    #[serde(default)]
    pub agents: BTreeMap<String, MemoryAgentConfig>,
}

/// The table `[memory.agents.SLUG]`: what differs for one agent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryAgentConfig {
    /// Whether the agent has a writer; it has one if absent.
    pub enabled: Option<bool>,
    /// Slug of the workspace. Needed for agents that this server does not run.
    pub workspace: Option<String>,
    /// Name of another model at the same service.
    pub model: Option<String>,
    /// Prices of the agent's model. Another model does not have the common ones.
    pub prices: Option<Prices>,
    /// What is written without a review.
    pub policy: Option<Policy>,
    /// Turns past the watermark that start a run.
    pub turn_threshold: Option<u32>,
    /// Silence that starts a run, seconds.
    pub idle_timeout: Option<u32>,
    /// Most runs on one day (UTC).
    pub runs_per_day: Option<u32>,
    /// Most tokens on one day (UTC).
    pub tokens_per_day: Option<u64>,
    /// Number of reviewers who must approve a proposal.
    pub approvals: Option<u32>,
    /// Most memories that the agent is given at once.
    pub block_items: Option<usize>,
    /// Most tokens of these memories together.
    pub block_tokens: Option<u32>,
    /// Whether the model scores the continuity of sessions that have ended.
    pub continuity: Option<bool>,
}

impl MemoryConfig {
    /// Checks the settings without looking at the environment.
    ///
    /// # Errors
    /// The first problem, with its key.
    pub fn check(&self) -> Result<(), String> {
        if self.model.trim().is_empty() {
            return Err("`memory.model` is missing".into());
        }
        let thresholds = self.agents.values().map(|agent| agent.turn_threshold).chain([self.turn_threshold]);
        if thresholds.flatten().any(|turns| turns == 0) {
            return Err("`memory.turn_threshold` is 1 or more".into());
        }
        let approvals = self.agents.values().map(|agent| agent.approvals).chain([self.approvals]);
        if approvals.flatten().any(|approvals| !(1..=APPROVAL_QUORUM_MAX).contains(&approvals)) {
            return Err(format!("`memory.approvals` is 1 to {APPROVAL_QUORUM_MAX}"));
        }
        let items = self.agents.values().map(|agent| agent.block_items).chain([self.block_items]);
        if items.flatten().any(|items| items > BLOCK_ITEMS_MAX) {
            return Err(format!("`memory.block_items` is 0 to {BLOCK_ITEMS_MAX}"));
        }
        let tokens = self.agents.values().map(|agent| agent.block_tokens).chain([self.block_tokens]);
        if tokens.flatten().any(|tokens| tokens > BLOCK_TOKENS_MAX) {
            return Err(format!("`memory.block_tokens` is 0 to {BLOCK_TOKENS_MAX}"));
        }
        let prices = self.agents.values().map(|agent| agent.prices).chain([self.prices]).flatten();
        if prices.flat_map(Prices::amounts).any(|amount| !amount.is_finite() || amount < 0.0) {
            return Err("`memory.prices` are numbers from 0".into());
        }
        Ok(())
    }

    /// When the writer of an agent runs and what it may do. `None` if the agent has no writer.
    pub fn terms(&self, agent: &str) -> Option<WriterTerms> {
        let own = self.agents.get(agent).cloned().unwrap_or_default();
        if own.enabled == Some(false) {
            return None;
        }
        let default = WriterTerms::default();
        Some(WriterTerms {
            policy: own.policy.or(self.policy).unwrap_or_default(),
            turn_threshold: own.turn_threshold.or(self.turn_threshold).unwrap_or(default.turn_threshold),
            idle_seconds: own.idle_timeout.or(self.idle_timeout).unwrap_or(default.idle_seconds),
            runs_per_day: own.runs_per_day.or(self.runs_per_day).unwrap_or(default.runs_per_day),
            tokens_per_day: own.tokens_per_day.or(self.tokens_per_day).unwrap_or(default.tokens_per_day),
            approvals: own.approvals.or(self.approvals).unwrap_or(default.approvals),
        })
    }

    /// Whether the sessions of an agent are scored.
    pub fn scores_continuity(&self, agent: &str) -> bool {
        let own = self.agents.get(agent).and_then(|own| own.continuity);
        own.or(self.continuity).unwrap_or_default()
    }

    /// How much memory agents are given: all, and by slug those for which it differs. That does not depend on whether
    /// they have a writer.
    pub fn bounds(&self) -> (Bounds, BTreeMap<String, Bounds>) {
        let default = Bounds::default();
        let common = Bounds {
            items: self.block_items.unwrap_or(default.items),
            tokens: self.block_tokens.unwrap_or(default.tokens),
        };
        let of = |own: &MemoryAgentConfig| Bounds {
            items: own.block_items.unwrap_or(common.items),
            tokens: own.block_tokens.unwrap_or(common.tokens),
        };
        (common, self.agents.iter().map(|(agent, own)| (agent.clone(), of(own))).collect())
    }

    /// Number of reviewers who must approve a change of the memory: of all agents, and by slug of those that have their
    /// own settings.
    pub fn approvals(&self) -> (u32, BTreeMap<String, u32>) {
        let common = self.approvals.unwrap_or(WriterTerms::default().approvals);
        let of = |own: &MemoryAgentConfig| own.approvals.unwrap_or(common);
        (common, self.agents.iter().map(|(agent, own)| (agent.clone(), of(own))).collect())
    }

    /// Prices of an agent's model. `None` if they are not known: then its runs have no cost.
    fn prices(&self, agent: &str) -> Option<Prices> {
        let own = self.agents.get(agent);
        let is_common = own.and_then(|own| own.model.as_ref()).is_none_or(|model| *model == self.model);
        own.and_then(|own| own.prices).or(self.prices.filter(|_| is_common))
    }

    /// Builds the model of an agent's writer.
    ///
    /// # Errors
    /// What is missing in the environment, or an address that cannot be used.
    pub fn writer_model(&self, agent: &str, environment: &BuildEnvironment<'_>) -> Result<Arc<WriterModel>, String> {
        let key = match &self.api_key_env {
            None => String::new(),
            Some(name) => (environment.variable)(name)
                .filter(|key| !key.trim().is_empty())
                .ok_or_else(|| format!("the variable {name} of `memory.api_key_env` is not set"))?,
        };
        let base_url = self.base_url.as_deref().unwrap_or_else(|| self.wire.default_base_url());
        let http = client::http_client(base_url).map_err(|error| format!("`memory.base_url`: {error}"))?;
        let own = self.agents.get(agent).and_then(|agent| agent.model.as_deref());
        let at = ModelAddress { wire: self.wire, base_url, name: own.unwrap_or(&self.model) };
        let model = Model::new(http, at, Secret::new(key), self.max_tokens, environment.pause.clone())?;
        let is_structured = AtomicBool::new(self.structured.unwrap_or(true));
        Ok(Arc::new(WriterModel { model, prices: self.prices(agent), is_structured }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<MemoryConfig, String> {
        let config: MemoryConfig = toml::from_str(text).map_err(|error| error.to_string())?;
        config.check()?;
        Ok(config)
    }

    #[test]
    fn an_agents_settings_come_before_the_common_ones() {
        let config = read(
            "wire = \"openai\"\nmodel = \"small\"\nidle_timeout = 60\npolicy = \"auto\"\n\
             [agents.clerk]\npolicy = \"review\"\nturn_threshold = 5\n[agents.scribe]\nenabled = false\n",
        );
        let config = config.unwrap();
        let clerk = config.terms("clerk").unwrap();
        assert_eq!((clerk.policy, clerk.turn_threshold, clerk.idle_seconds), (Policy::Review, 5, 60));
        assert_eq!(config.terms("other").unwrap().policy, Policy::Auto);
        assert_eq!(config.terms("scribe"), None);
    }

    #[test]
    fn how_much_memory_an_agent_is_given_is_set_for_all_or_for_one() {
        let (common, agents) = read("wire = \"openai\"\nmodel = \"m\"\n[agents.a]\n").unwrap().bounds();
        assert_eq!((common, agents["a"]), (Bounds::default(), Bounds::default()));
        let config = read(
            "wire = \"openai\"\nmodel = \"m\"\nblock_items = 3\n[agents.a]\nblock_tokens = 100\n\
             [agents.b]\nenabled = false\nblock_items = 0\n",
        );
        let (common, agents) = config.unwrap().bounds();
        assert_eq!(common, Bounds { items: 3, ..Bounds::default() });
        assert_eq!(agents["a"], Bounds { items: 3, tokens: 100 });
        assert!(agents["b"].is_zero() && !agents["a"].is_zero());
    }

    #[test]
    fn another_model_does_not_have_the_prices_of_the_common_one() {
        let config = read(
            "wire = \"openai\"\nmodel = \"small\"\nprices = { input = 1.0, output = 2.0 }\n\
             [agents.same]\nmodel = \"small\"\n[agents.other]\nmodel = \"large\"\n\
             [agents.priced]\nmodel = \"large\"\nprices = { input = 5.0, output = 9.0 }\n",
        );
        let config = config.unwrap();
        let input = |agent: &str| config.prices(agent).map(|prices| prices.input);
        assert_eq!(["unnamed", "same", "other", "priced"].map(input), [Some(1.0), Some(1.0), None, Some(5.0)]);
    }

    #[test]
    fn settings_that_make_no_sense_are_refused_by_name() {
        for (text, says) in [
            ("wire = \"openai\"\n", "model"),
            ("wire = \"openai\"\nmodel = \" \"\n", "`memory.model`"),
            ("wire = \"openai\"\nmodel = \"m\"\nturn_threshold = 0\n", "turn_threshold"),
            ("wire = \"openai\"\nmodel = \"m\"\npolicy = \"always\"\n", "policy"),
            ("wire = \"openai\"\nmodel = \"m\"\nother = 1\n", "other"),
            ("wire = \"openai\"\nmodel = \"m\"\nblock_items = 51\n", "`memory.block_items` is 0 to 50"),
            ("wire = \"openai\"\nmodel = \"m\"\n[agents.a]\nblock_tokens = 8001\n", "`memory.block_tokens`"),
            (
                "wire = \"openai\"\nmodel = \"m\"\n[agents.a]\nprices = { input = -1.0, output = 1.0 }\n",
                "`memory.prices`",
            ),
            (
                "wire = \"openai\"\nmodel = \"m\"\nprices = { input = 1.0, cache_write = -1.0, output = 1.0 }\n",
                "`memory.prices`",
            ),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }
}
