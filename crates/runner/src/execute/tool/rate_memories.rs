//! `rate_memories`: ratings of the memories that the agent was given.

use super::{
    super::adapter::{Failure, JobContext},
    Answer, tool_answer,
};
use serde_json::{Value, json, value::to_raw_value};
use wire::relevance::RateMemories;

pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            // What is in it is checked one by one, so that a wrong rating does not lose the others.
            "memory_feedback": { "type": "object" },
        },
        "required": ["memory_feedback"],
        "additionalProperties": false,
    })
}

/// Stores the ratings. A repeat replaces them by the same ones.
pub async fn run(input: &Value, context: &JobContext) -> Result<Answer, Failure> {
    let Ok(memory_feedback) = to_raw_value(&input["memory_feedback"]) else {
        return Ok(Err(json!("memory_feedback is not a JSON object")));
    };
    let lease = &context.lease;
    let rate = RateMemories { attempt: Some(lease.attempt), memory_feedback };
    let send = || context.api.rate_memories(lease.session_id, &rate);
    let rated = lease.retry_while_held(lease.backoff(), |_| send()).await;
    tool_answer(rated, |rated| json!(rated))
}
