//! The table `[agents]` of the settings file.

use runner::execute::config::AgentConfig;
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor},
};
use std::{collections::BTreeMap, fmt};

/// `[agents]`: the agents that this server runs, by their names, and whether it runs any.
#[derive(Debug, Clone, Default)]
pub struct AgentsFile {
    /// Whether the agents run; they do if it is not set.
    pub enabled: Option<bool>,
    /// Settings of each agent, by its slug.
    pub agents: BTreeMap<String, AgentConfig>,
}

impl<'de> Deserialize<'de> for AgentsFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(AgentsVisitor)
    }
}

/// Written by hand, because `#[serde(flatten)]` loses the position of an error.
struct AgentsVisitor;

impl<'de> Visitor<'de> for AgentsVisitor {
    type Value = AgentsFile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`enabled` and a table for each agent")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AgentsFile, A::Error> {
        let mut file = AgentsFile::default();
        while let Some(key) = map.next_key::<String>()? {
            if key == "enabled" {
                file.enabled = Some(map.next_value()?);
            } else if domain::slug::is_slug(&key) {
                let agent: AgentConfig = map.next_value()?;
                agent.check().map_err(|why| A::Error::custom(format!("agents.{key}: {why}")))?;
                file.agents.insert(key, agent);
            } else {
                let why = format!("`{key}` is not an agent's name: lower-case letters, digits and single hyphens");
                return Err(A::Error::custom(why));
            }
        }
        Ok(file)
    }
}
