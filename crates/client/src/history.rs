//! Calls on the history of agents.

use crate::{Client, Result};
use wire::history::History;

impl Client {
    /// `GET /api/agents/{slug}/history/channel`
    pub async fn channel_history(&self, agent: &str, platform: &str, channel: &str) -> Result<History> {
        let query = [("platform", Some(platform.to_owned())), ("channel", Some(channel.to_owned()))];
        self.get(&["api", "agents", agent, "history", "channel"], &query).await
    }

    /// `GET /api/agents/{slug}/history/unsummarised`
    pub async fn unsummarised_history(&self, agent: &str) -> Result<History> {
        self.get(&["api", "agents", agent, "history", "unsummarised"], &[]).await
    }
}
