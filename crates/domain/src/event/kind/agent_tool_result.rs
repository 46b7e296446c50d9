//! `agent.tool_result`: tools answered an agent.

use super::{
    payload::{Members, Payload},
    tool_part::{ResultPart, results, write_results},
};
use serde_json::json;

/// The results of one event, usually one.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentToolResult {
    /// In the order of the parts.
    pub results: Vec<ResultPart>,
    /// Id of the gate from whose decision the result follows.
    pub gate_id: Option<String>,
}

impl Payload for AgentToolResult {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        Some(Self { results: results(content), gate_id: Members::read(metadata).text(&["gateId"]) })
    }

    fn content(&self) -> String {
        write_results(&self.results)
    }

    fn metadata(&self) -> String {
        self.gate_id.as_ref().map_or_else(|| "{}".into(), |id| json!({ "gateId": id }).to_string())
    }
}
