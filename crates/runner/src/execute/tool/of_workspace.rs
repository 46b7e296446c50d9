//! Tools of the workspace. A call is a run of the published version: a session that the agent's session has started.
//!
//! The request carries a key made from the id of the call. Whoever repeats it gets the same run in its current state.

use super::{
    super::{
        adapter::{Failure, JobContext},
        call::Call,
    },
    Answer, Ended, ended, refusal_answer,
};
use domain::chain::body_digest;
use serde_json::{Value, json, value::to_raw_value};
use wire::{
    tool::ToolVersion,
    tool_run::{RunTool, ToolRun},
};

/// A tool of the workspace, as a model is offered it.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// Slug of the tool, and its name for the model.
    pub slug: String,
    /// What the tool does.
    pub description: String,
    /// JSON Schema of the input, an object.
    pub schema: Value,
}

impl Offered {
    /// The offer of a version.
    fn of(slug: &str, version: ToolVersion) -> Self {
        let definition = version.definition;
        let description =
            if definition.description.trim().is_empty() { definition.name } else { definition.description };
        Self { slug: slug.to_owned(), description, schema: definition.input_schema }
    }

    /// An offer that says nothing but the name, for a request in which no tool is to be called.
    pub(super) fn by_name(slug: &str) -> Self {
        Self { slug: slug.to_owned(), description: String::new(), schema: json!({ "type": "object" }) }
    }
}

/// Reads what the workspace offers under these slugs.
///
/// # Errors
/// `tool_not_published` for the first slug that is no published tool of the workspace; `unavailable` if the API cannot
/// be reached.
pub async fn offers(slugs: &[String], context: &JobContext) -> Result<Vec<Offered>, Failure> {
    let lease = &context.lease;
    let mut offers = Vec::with_capacity(slugs.len());
    for slug in slugs {
        match lease.retry_while_held(lease.backoff(), |_| context.api.published_tool(slug)).await {
            Ok(Some(version)) => offers.push(Offered::of(slug, version)),
            Ok(None) => {
                let why = format!("`tools` of the agent names {slug}, which is no published tool of the workspace");
                return Err(Failure::new("tool_not_published", why));
            }
            Err(error) => {
                let why = refusal_answer(error)?;
                return Err(Failure::new("tool_unreadable", format!("the tool {slug} cannot be read: {why}")));
            }
        }
    }
    Ok(offers)
}

/// Starts the run of a call, or finds the one that it started, and waits up to `wait_seconds` for its end. The inner
/// error is the call's answer: why the tool does not run.
///
/// # Errors
/// If the session cannot continue.
pub async fn run(call: &Call, wait_seconds: u32, context: &JobContext) -> Result<Result<ToolRun, Value>, Failure> {
    let lease = &context.lease;
    let request = RunTool {
        input: to_raw_value(&call.input).ok(),
        idempotency_key: Some(format!("tool-call-{}", body_digest(&lease.session_id.to_string(), &call.id))),
        parent_id: Some(lease.session_id),
        output: None,
        wait_seconds: Some(wait_seconds),
    };
    match lease.retry_while_held(lease.backoff(), |_| context.api.run_tool(&call.name, &request)).await {
        Ok(run) => Ok(Ok(run)),
        Err(error) => refusal_answer(error).map(Err),
    }
}

/// The answer of a call whose run has ended.
pub fn answer(run: &ToolRun) -> Answer {
    ended(&Ended {
        session_id: run.session_id,
        status: run.status,
        end_reason: run.end_reason,
        error: run.error.as_ref(),
        result: run.result.as_deref(),
    })
}

/// The answer of a call whose run goes on, for a conversation.
pub fn still_running(run: &ToolRun) -> Answer {
    let note = "the run goes on; its session will have the result";
    Ok(json!({ "sessionId": run.session_id, "status": run.status, "note": note }))
}
