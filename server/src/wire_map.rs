//! Converts between records of the ledger and types of the API. No rules are applied here.
//!
//! These are functions, because Rust permits no `From` between types of two other crates.

use crate::problem::Problem;
use domain::{
    event::Event,
    session::{Ended, Session, Status, WaitsFor, YieldTo},
};
use ledger::{
    ActionRecord, FailureRecord, Listed, TokenRecord, action,
    auth::{Identity, Person},
    event, hook, session, work_queue,
};
use serde_json::value::RawValue;
use std::str::FromStr;
use wire::{Code, Json};

mod access;
mod approval;
mod audit;
mod canvas;
mod criteria_set;
mod entity;
mod error;
mod failure_cause;
mod feedback_request;
mod graph;
mod history;
mod human;
mod insight;
mod interaction;
mod mcp_server;
mod memory;
mod memory_forget;
mod paced_run;
mod relevance;
mod response;
mod rule;
mod search;
mod session_bulk;
mod share_link;
mod telemetry;
#[cfg(test)]
mod tests;
mod thread;
mod tool;
mod tool_link;
mod tool_run;
mod view;
mod webhook;

pub use access::*;
pub use approval::*;
pub use audit::audit_entry;
pub use canvas::*;
pub use criteria_set::*;
pub use entity::*;
pub use failure_cause::*;
pub use feedback_request::*;
pub use graph::*;
pub use history::{history, history_turn};
pub use human::*;
pub use insight::*;
pub use interaction::*;
pub use mcp_server::*;
pub use memory::{memory_flush, memory_run, *};
pub use memory_forget::{forget_person, forgotten_person};
pub use paced_run::{new_paced_run, paced_run, paced_run_detail};
pub use relevance::{memory_ratings, rated_memories, session_memory};
pub use response::*;
pub use rule::*;
pub use search::{found_events, found_in_log, new_saved_search, saved_search, snippet};
pub use session_bulk::{bulk_request, bulk_result};
pub use share_link::share_link;
pub use telemetry::telemetry;
pub use thread::*;
pub use tool::*;
pub use tool_link::tool_link;
pub use tool_run::{
    change_tool_fields, open_tool_draft, promote_run, run_tool, run_tool_draft, saved_tool_input, tool_run,
    tool_run_output, tool_session, tool_sessions,
};
pub use view::*;
pub use webhook::*;

/// Converts stored text to JSON. All stored text of these columns is JSON; invalid text becomes `null`.
fn json(text: String) -> Json {
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Converts JSON to the text to store, byte for byte.
fn text(json: Json) -> String {
    String::from(Box::<str>::from(json))
}

/// Parses a required id of a body. The problem names the field.
pub fn parse_id<T: FromStr<Err = domain::id::InvalidId>>(field: &str, text: &str) -> Result<T, Problem> {
    text.parse().map_err(|error: T::Err| invalid(field, &error))
}

fn invalid(field: &str, error: &domain::id::InvalidId) -> Problem {
    Problem::field(Code::InvalidRequest, field, error.to_string())
}

/// Converts a page of a list, item by item.
pub fn page<T, U>(listed: Listed<T>, map: impl Fn(T) -> U) -> wire::Page<U> {
    wire::Page { items: listed.items.into_iter().map(map).collect(), next_cursor: listed.next_cursor }
}

/// Converts the identity of the caller.
pub fn me(identity: Identity) -> wire::me::Me {
    wire::me::Me {
        tenant: wire::me::Tenant { id: identity.tenant.id, slug: identity.tenant.slug, name: identity.tenant.name },
        user: identity.user.map(|Person { id, email, name }| wire::me::User { id, email, name }),
        token: identity.token.map(|(id, name)| wire::me::TokenName { id, name }),
        role: identity.scope.role,
        scope: identity.scope.token_scope,
    }
}

/// Converts a token. Its secret is not part of the record.
pub fn token(record: TokenRecord) -> wire::settings::Token {
    wire::settings::Token {
        id: record.id,
        name: record.name,
        hint: record.hint,
        role: record.role,
        scope: record.scope,
        created_at: record.created_at,
        last_used_at: record.last_used_at,
        revoked_at: record.revoked_at,
        user_id: record.user_id,
    }
}

/// Converts an action to its JSON type.
pub fn action(record: ActionRecord) -> wire::action::Action {
    wire::action::Action {
        id: record.id,
        name: record.name,
        slug: record.slug,
        description: record.description,
        agent_slug: record.agent_slug,
        assigned_to: record.assigned_to,
        target_entity_id: record.target_entity_id,
        output_type: record.output_type,
        output_config: json(record.output_config),
        metadata: json(record.metadata),
        status: record.status,
        created_at: record.created_at,
        updated_at: record.updated_at,
    }
}

/// Converts the body of a request that creates an action.
pub fn new_action(body: wire::action::CreateAction) -> action::NewAction {
    action::NewAction {
        name: body.name,
        slug: body.slug,
        description: body.description,
        agent_slug: body.agent_slug,
        assigned_to: body.assigned_to,
        target_entity_id: body.target_entity_id,
        output_type: body.output_type,
        output_config: body.output_config.map(text),
        metadata: body.metadata.map(text),
    }
}

/// Converts the body of a request that changes an action.
pub fn action_change(body: wire::action::UpdateAction) -> action::ActionChange {
    action::ActionChange {
        read_at: None,
        name: body.name,
        slug: body.slug,
        description: body.description,
        agent_slug: body.agent_slug,
        assigned_to: body.assigned_to,
        target_entity_id: body.target_entity_id,
        output_type: body.output_type,
        output_config: body.output_config.map(text),
        metadata: body.metadata.map(text),
        status: body.status,
    }
}

/// Converts the body of a request that triggers an action.
pub fn trigger(body: wire::action::Trigger) -> Result<action::Trigger, Problem> {
    Ok(action::Trigger {
        input: body.input.map(text),
        parent_id: body.parent_id,
        depends_on: depends_on(body.depends_on, body.if_dependency_fails)?,
        idempotency_key: body.idempotency_key,
    })
}

/// Converts the status of an action's newest session, with its newest events.
pub fn task_status_and_events(of: action::TaskStatusAndEvents) -> wire::action::TaskStatus {
    let recent_events = of.recent_events.into_iter().map(event).collect();
    wire::action::TaskStatus { recent_events, ..task_status(of.status) }
}

/// Converts the status of an action's newest session.
pub fn task_status(status: action::TaskStatus) -> wire::action::TaskStatus {
    wire::action::TaskStatus {
        action_id: status.action_id,
        session_id: status.session_id,
        status: status.status,
        duration_ms: status.duration_ms,
        error: status.error,
        recent_events: Vec::new(),
    }
}

/// Converts a triggered session, with a warning if its action names no agent.
pub fn triggered(record: Session) -> wire::action::Triggered {
    let warning = record.agent_slug.is_none().then(|| wire::action::Warning {
        code: domain::action::NO_AGENT.into(),
        message: "the task names no agent: only a worker that claims without agentSlugs takes its sessions".into(),
    });
    wire::action::Triggered { session: session(record), warnings: warning.into_iter().collect() }
}

/// Converts a session to its JSON type.
pub fn session(record: Session) -> wire::session::Session {
    let elapsed = record.started_at.zip(record.completed_at()).map(|(from, to)| (to - from).num_milliseconds());
    let (status, end_reason, waits_for) = (record.status(), record.end_reason(), record.waits_for());
    let (lease_expires_at, deadline_at) = (record.lease_expires_at(), record.deadline_at());
    let (completed_at, result_left_out) = (record.completed_at(), record.result_left_out());
    let (result, error) = match record.state.into_ended() {
        None => (None, None),
        Some(Ended { result, error_message, error_code: code, .. }) => {
            (result, error_message.map(|message| wire::session::SessionError { message, code }))
        }
    };
    wire::session::Session {
        id: record.id,
        session_type: record.session_type,
        status,
        end_reason,
        action_id: record.action_id,
        action_slug: record.action_slug,
        agent_slug: record.agent_slug,
        entity_id: record.entity_id,
        source: record.source,
        title: record.title,
        input: record.input.map(json),
        metadata: json(record.metadata),
        result: result.map(json),
        result_left_out,
        usage: record.usage.map(json),
        error,
        parent_id: record.parent_id,
        waits_for,
        retry_of: record.retry_of,
        created_by: record.created_by,
        attempt: record.attempt,
        attempts_max: record.attempts_max,
        lease_expires_at,
        head_sequence: record.head_sequence,
        head_digest: record.head_digest.to_string(),
        created_at: record.created_at,
        updated_at: record.updated_at,
        started_at: record.started_at,
        completed_at,
        deadline_at,
        duration_ms: elapsed.and_then(|ms| u64::try_from(ms).ok()),
        tags: record.tags,
        assignee_id: record.assignee,
    }
}

/// Converts the failure of a session.
pub fn session_failure(record: FailureRecord) -> wire::failure::Failure {
    wire::failure::Failure {
        session_id: record.session_id,
        title: record.title,
        status: record.status,
        agent_slug: record.agent_slug,
        action_id: record.action_id,
        code: record.code,
        message: record.message,
        remediation: record.remediation.to_owned(),
        at: record.at,
        acknowledged_by: record.acknowledged_by,
        acknowledged_at: record.acknowledged_at,
    }
}

/// Converts the body of a request that creates a session.
pub fn new_session(body: wire::session::CreateSession) -> Result<session::NewSession, Problem> {
    Ok(session::NewSession {
        session_type: body.session_type,
        action_id: body.action_id,
        agent_slug: body.agent_slug,
        title: body.title,
        input: body.input.map(text),
        metadata: body.metadata.map(text),
        parent_id: body.parent_id,
        depends_on: depends_on(body.depends_on, body.if_dependency_fails)?,
        idempotency_key: body.idempotency_key,
    })
}

/// Converts an event to its JSON type.
pub fn event(record: Event) -> wire::event::Event {
    wire::event::Event {
        id: record.id,
        sequence: record.sequence,
        kind: record.kind,
        role: record.role,
        content: json(record.content),
        metadata: json(record.metadata),
        thread_id: record.thread_id,
        external_event_id: record.external_event_id,
        attempt: record.attempt,
        actor: record.actor,
        at: record.at,
        recorded_at: record.recorded_at,
        digest: record.digest.to_string(),
    }
}

/// Converts the body of a request that appends events.
pub fn append(session_id: domain::id::SessionId, body: wire::event::Append) -> event::Append {
    event::Append { session_id, attempt: body.attempt, events: body.events }
}

/// Converts the sequences of appended events.
pub fn appended(appended: event::Appended) -> wire::event::Appended {
    let place = |(id, sequence): (domain::id::EventId, u64)| wire::event::AppendedEvent { id, sequence };
    wire::event::Appended {
        events: appended.events.into_iter().map(place).collect(),
        head_sequence: appended.head_sequence,
    }
}

/// Converts a claim. Absent fields get their defaults.
pub fn claim(body: wire::worker::Claim) -> session::Claim {
    session::Claim {
        agent_slugs: body.agent_slugs,
        max: body.max.unwrap_or(1),
        lease_seconds: body.lease_seconds.unwrap_or(domain::limit::LEASE_SECONDS_DEFAULT),
    }
}

/// Converts claimed sessions with their attempts and leases.
pub fn claimed(claimed: Vec<session::Claimed>) -> wire::worker::Claimed {
    let hold = |claimed: session::Claimed| wire::worker::ClaimedSession {
        attempt: claimed.session.attempt,
        lease_expires_at: claimed.session.lease_expires_at().unwrap_or(claimed.session.updated_at),
        input: claimed.session.input.clone().map(json),
        session: session(claimed.session),
        context: claimed.context,
        rate_memories: claimed.rate_memories,
        resume: claimed.resume.map(resume),
        tool_results: claimed.tool_results.into_iter().map(tool_result).collect(),
        messages: claimed.messages.into_iter().map(claimed_message).collect(),
        has_more_messages: claimed.has_more_messages,
        session_context: session_context(claimed.answers),
        denials: denials(claimed.denials),
        dependencies: claimed.dependencies.into_iter().map(related_session).collect(),
        children: claimed.children.into_iter().map(related_session).collect(),
        has_more_children: claimed.has_more_children,
    };
    wire::worker::Claimed { sessions: claimed.into_iter().map(hold).collect() }
}

fn claimed_message(message: session::ClaimedMessage) -> wire::worker::ClaimedMessage {
    let session::ClaimedMessage { sequence, text, by, at } = message;
    wire::worker::ClaimedMessage { sequence, text, by, at }
}

fn tool_result(supplied: session::SuppliedResult) -> wire::worker::ToolResult {
    let session::SuppliedResult { result, by, at } = supplied;
    wire::worker::ToolResult {
        tool_call_id: result.tool_call_id,
        tool_name: result.tool_name,
        output: json(result.output),
        is_error: result.is_error,
        by,
        at,
    }
}

/// Converts results of custom tools that a caller supplies.
pub fn tool_results(body: wire::session::SupplyToolResults) -> session::ToolResults {
    let result = |result: wire::session::NewToolResult| session::ToolResult {
        tool_call_id: result.tool_call_id,
        tool_name: result.tool_name,
        output: text(result.output),
        is_error: result.is_error,
    };
    session::ToolResults { results: body.results.into_iter().map(result).collect(), more: body.more }
}

/// Converts progress that a worker sends.
pub fn progress_from_wire(body: wire::worker::Progress) -> event::Progress {
    let wire::worker::Progress { attempt, done, total, note } = body;
    event::Progress { attempt, done, total, note }
}

/// Converts progress to its JSON type.
pub fn progress(progress: &event::Progress) -> wire::worker::Progress {
    let event::Progress { attempt, done, total, note } = progress.clone();
    wire::worker::Progress { attempt, done, total, note }
}

/// Converts a piece of an answer that a worker sends.
pub fn delta_from_wire(body: wire::worker::Delta) -> event::Delta {
    event::Delta { attempt: body.attempt, offset: body.offset, text: body.text }
}

/// Converts a piece of an answer for a follower.
pub fn delta(delta: &event::Delta) -> wire::worker::Delta {
    wire::worker::Delta { attempt: delta.attempt, offset: delta.offset, text: delta.text.clone() }
}

/// Converts a worker's report of success, and the status in which alone it counts.
pub fn completion(body: wire::worker::Complete) -> (session::Completion, Option<Status>) {
    let wire::worker::Complete { attempt, result, usage, if_status } = body;
    (session::Completion { attempt, result: result.map(text), usage: usage.map(text) }, if_status)
}

/// Converts a worker's report of failure, and the status in which alone it counts.
pub fn failure(body: wire::worker::Fail) -> (session::Failure, Option<Status>) {
    let wire::worker::Fail { attempt, error, usage, if_status } = body;
    (session::Failure { attempt, message: error.message, code: error.code, usage: usage.map(text) }, if_status)
}

/// Converts a worker's request to yield its session.
pub fn yield_request(body: wire::worker::Yield) -> Result<session::YieldRequest, Problem> {
    if body.wait_for == Some(WaitsFor::Dependencies) {
        let message = "only a running session can wait for `children`";
        return Err(Problem::field(Code::InvalidRequest, "waitFor", message));
    }
    Ok(session::YieldRequest {
        attempt: body.attempt,
        to: match body.status {
            wire::worker::YieldStatus::Idle => YieldTo::Idle,
            wire::worker::YieldStatus::WaitingHuman => YieldTo::WaitingHuman,
            wire::worker::YieldStatus::AwaitingTool => YieldTo::AwaitingTool,
        },
        detail: body.detail,
        paused_tool_call: body.paused_tool_call,
        question: body.question,
        waits_for_children: body.wait_for.is_some(),
        usage: body.usage.map(text),
    })
}

/// Converts the counts of the work queue.
pub const fn counts(counts: &work_queue::Counts) -> wire::count::WorkQueueCounts {
    wire::count::WorkQueueCounts {
        needs_me: counts.needs_me,
        running: counts.running,
        delegatable: counts.delegatable,
        failed: counts.failed,
        done_today: counts.done_today,
    }
}

/// Converts the response to a hook of a coding agent.
pub fn hook_answer(answer: hook::Answer) -> wire::hook::HookAnswer {
    let output = |additional_context| wire::hook::HookOutput { hook_event_name: answer.event_name, additional_context };
    wire::hook::HookAnswer { hook_specific_output: answer.additional_context.map(output) }
}
