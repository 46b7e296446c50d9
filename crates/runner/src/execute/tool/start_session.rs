//! `start_session`: starts a session of another action and waits for its outcome.
//!
//! The call has no result until the child has ended. Until then the session waits. The next worker repeats the
//! request with the same idempotency key, which finds the child instead of starting another.

use super::{
    super::{
        adapter::{Failure, JobContext},
        call::Call,
    },
    Answer, Ended, ended, refusal_answer,
};
use domain::chain::body_digest;
use serde_json::{Value, json, value::to_raw_value};
use wire::{action::Trigger, session::Session};

pub const DESCRIPTION: &str = "Starts a session of another action and answers with what came of it once it has ended, \
which can take long. `action` is the slug of the action, `input` what its agent is given. Calls of one turn run side by side.";

/// `actions` are the slugs that the agent may start; the schema refuses any other.
pub fn schema(actions: &[String]) -> Value {
    json!({
        "type": "object",
        "properties": { "action": { "type": "string", "enum": actions }, "input": {} },
        "required": ["action"],
        "additionalProperties": false,
    })
}

/// Starts the child of a call with validated input, or finds the one that it started. `own` is the slug of the calling
/// agent. The inner error is the call's answer: why no child was started.
///
/// # Errors
/// If the session cannot continue.
pub async fn start(call: &Call, own: Option<&str>, context: &JobContext) -> Result<Result<Session, Value>, Failure> {
    let slug = call.input["action"].as_str().unwrap_or_default();
    let lease = &context.lease;
    let action = match lease.retry_while_held(lease.backoff(), |_| context.api.action_by_slug(slug)).await {
        Ok(Some(action)) => action,
        Ok(None) => return Ok(Err(json!(format!("there is no action {slug:?}")))),
        Err(error) => return refusal_answer(error).map(Err),
    };
    if own.is_some() && action.agent_slug.as_deref() == own {
        return Ok(Err(json!(format!("{slug:?} is this agent's own work: an agent does not start itself"))));
    }
    let key = format!("start-session-{}", body_digest(&lease.session_id.to_string(), &call.id));
    let trigger = Trigger {
        input: call.input.get("input").and_then(|input| to_raw_value(input).ok()),
        parent_id: Some(lease.session_id),
        idempotency_key: Some(key),
        ..Trigger::default()
    };
    match lease.retry_while_held(lease.backoff(), |_| context.api.trigger(action.id, &trigger)).await {
        Ok(child) => Ok(Ok(child)),
        Err(error) => refusal_answer(error).map(Err),
    }
}

/// The answer of a call whose child has ended.
pub fn outcome(child: &Session) -> Answer {
    ended(&Ended {
        session_id: child.id,
        status: child.status,
        end_reason: child.end_reason,
        error: child.error.as_ref(),
        result: child.result.as_deref(),
    })
}
