//! Supplying the results of custom tools: those that run outside of the worker, and for which no one is asked.

use crate::{
    Error, Ledger, Result,
    commit::{Change, Minter, append_server_events, state, write},
    guard::{Fields, require},
    visibility::{claimed_last, own_or_managed, require_visible},
    wait::{Wait, awaited_tool_since},
};
use domain::{
    Scope, Timestamp,
    event::{Event, Known, kind},
    id::SessionId,
    limit::{BATCH_BYTES_MAX, EVENT_BYTES_MAX, KEY_CHARS_MAX, NAME_CHARS_MAX, TOOL_RESULTS_MAX},
    role::{Permission, TokenScope},
    session::{Actor, Command, Report, Session, Status, decide},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use store::{Conn, PreparedEvent, WriteTx};

/// Number of events that are read for the calls that have no result yet, the newest.
const CALLS_READ: u32 = 500;
/// The kind of the event that a worker writes for a call.
const CALL: &str = Known::AgentToolCall.as_str();
/// The kind of the event that a worker writes for the result of a call.
const OWN_RESULT: &str = Known::AgentToolResult.as_str();

/// The result of one call of a custom tool.
#[derive(Debug, Clone)]
pub struct ToolResult {
    /// Id of the call, as the worker named it.
    pub tool_call_id: String,
    /// Name of the tool; that of the call in the log when `None`.
    pub tool_name: Option<String>,
    /// What the tool returned, as JSON.
    pub output: String,
    /// Whether the tool failed. Its output says why then.
    pub is_error: bool,
}

/// Results that a caller supplies.
#[derive(Debug, Clone)]
pub struct ToolResults {
    /// At least one, each of another call.
    pub results: Vec<ToolResult>,
    /// Whether more results follow, so that the session keeps waiting.
    pub more: bool,
}

/// A supplied result, as the log has it.
#[derive(Debug, Clone)]
pub struct SuppliedResult {
    /// The result. It is untrusted.
    pub result: ToolResult,
    /// `user:…` or `token:…`.
    pub by: String,
    /// When it was recorded (UTC).
    pub at: Timestamp,
}

/// The one part of an event that records a result.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    tool_call_id: String,
    #[serde(default)]
    tool_name: Option<String>,
    output: Box<RawValue>,
    #[serde(default)]
    is_error: bool,
}

/// A call of a custom tool that has no result yet, as its event has it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenCall {
    /// What its result has to name; empty for a part that names no call.
    #[serde(default)]
    pub tool_call_id: String,
    /// The tool that the agent called; `None` if the event does not name it.
    #[serde(default)]
    pub tool_name: Option<String>,
    /// What the tool is called with, as JSON.
    #[serde(default)]
    pub input: Option<Box<RawValue>>,
}

impl ToolResults {
    fn check(&self) -> Result<()> {
        let mut fields = Fields::default();
        if self.results.is_empty() || self.results.len() > TOOL_RESULTS_MAX {
            fields.refuse("results", format!("1 to {TOOL_RESULTS_MAX} results"));
        }
        for (at, result) in self.results.iter().enumerate() {
            let field = |name: &str| format!("results[{at}].{name}");
            fields.key(&field("toolCallId"), Some(&result.tool_call_id), KEY_CHARS_MAX);
            if let Some(name) = &result.tool_name {
                fields.name(&field("toolName"), name, NAME_CHARS_MAX);
            }
            fields.document(&field("output"), Some(&result.output));
            if self.results[..at].iter().any(|earlier| earlier.tool_call_id == result.tool_call_id) {
                fields.refuse(&field("toolCallId"), "names a call a second time");
            }
        }
        fields.check()
    }
}

/// Records the results of custom tools as `user.tool_result`, and queues the session that waits for them. The next
/// claim has them. Allowed for the person or token that started the session, and for operators and admins. A token with
/// the scope worker supplies no result to a session that it has claimed: its own results are `agent.tool_result`.
///
/// A result that is recorded already is not recorded again. If all are, the session is returned as it is now.
///
/// # Errors
/// [`Error::Invalid`] for wrong fields, and for a call that the log has and that needs no result; [`Error::NotFound`]
/// if there is no such session or the caller cannot see it; [`Error::Forbidden`] for other callers; [`Error::Refused`]
/// unless the session waits for a tool; [`Error::NotNow`] if a person decides about its call; [`Error::IdConflict`] if
/// the call has another result; [`Error::TooLarge`] and [`Error::LimitReached`] for more than one wait takes.
pub async fn supply_tool_results(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    supplied: ToolResults,
) -> Result<Session> {
    require(scope, Permission::StartSession)?;
    supplied.check()?;
    let minter = Minter::new(ledger, ledger.now());
    let scope = *scope;
    ledger
        .write((&scope).into(), async move |tx| {
            let before = store::session::find_locked(tx, scope.tenant_id, id).await?;
            let before = require_visible(tx.conn(), &scope, before).await?;
            may_supply(tx.conn(), &scope, &before).await?;
            record(tx, &scope, before, supplied, minter).await
        })
        .await
}

async fn may_supply(conn: &mut Conn<'_>, scope: &Scope, session: &Session) -> Result<()> {
    if scope.token_scope == Some(TokenScope::Worker) && claimed_last(conn, scope, session).await? {
        return Err(Error::Forbidden("the worker of a session appends its own results as agent.tool_result"));
    }
    own_or_managed(scope, session)
}

async fn record(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    before: Session,
    supplied: ToolResults,
    mut minter: Minter,
) -> Result<Session> {
    let since = awaited_tool_since(tx.conn(), &before).await?;
    let known = match since {
        Some(since) => results_between(tx.conn(), &before, (since, before.head_sequence)).await?,
        None => Vec::new(),
    };
    let fresh = not_recorded(supplied.results, &known)?;
    let waits = before.status() == Status::AwaitingTool;
    if fresh.is_empty() && (supplied.more || !waits) {
        return Ok(before);
    }
    let transition = decide(state(&before), Actor::Server, Command::Resume)?;
    if !waits {
        return Err(domain::session::Refusal::WrongStatus { status: before.status() }.into());
    }
    if store::gate::waiting_locked(tx, before.tenant_id, before.id).await?.is_some() {
        return Err(Error::NotNow("a person decides about this call in the inbox, and can replace its result there"));
    }
    check_sizes(&known, &fresh)?;
    let calls = open_calls(tx.conn(), &before).await?;
    let mut events = Vec::with_capacity(fresh.len());
    for (at, result) in fresh {
        events.push(event(&mut minter, &before, named(result, at, &calls)?)?);
    }
    let caller = scope.caller;
    if supplied.more {
        return append_server_events(tx, before, events, caller, minter.at()).await;
    }
    let (actor, command, reason) = (Actor::Server, Command::Resume, "its tool has answered".into());
    let change = Change { id: before.id, actor, command, caller, reason, minter };
    write(tx, before, transition, change, events, Report::default()).await
}

/// Returns the results that the log does not have, each with its place in the request.
fn not_recorded(results: Vec<ToolResult>, known: &[SuppliedResult]) -> Result<Vec<(usize, ToolResult)>> {
    let mut fresh = Vec::with_capacity(results.len());
    for (at, result) in results.into_iter().enumerate() {
        match known.iter().find(|known| known.result.tool_call_id == result.tool_call_id) {
            None => fresh.push((at, result)),
            Some(known) if known.result.output == result.output && known.result.is_error == result.is_error => {}
            Some(_) => {
                let detail = format!("results[{at}]: the call {} has another result already", result.tool_call_id);
                return Err(Error::IdConflict { detail });
            }
        }
    }
    Ok(fresh)
}

fn check_sizes(known: &[SuppliedResult], fresh: &[(usize, ToolResult)]) -> Result<()> {
    if known.len() + fresh.len() > TOOL_RESULTS_MAX {
        return Err(Error::LimitReached(format!("a session waits for at most {TOOL_RESULTS_MAX} results at once")));
    }
    let all = known.iter().map(|known| &known.result).chain(fresh.iter().map(|(_, result)| result));
    let bytes: usize = all.map(|result| result.output.len()).sum();
    if bytes > BATCH_BYTES_MAX {
        let message = format!("the results for which a session waits have at most {BATCH_BYTES_MAX} bytes together");
        return Err(Error::TooLarge(message));
    }
    Ok(())
}

/// Gives a result the name of its tool. If the log has calls that wait for results, the result must be of one of them.
fn named(mut result: ToolResult, at: usize, calls: &[OpenCall]) -> Result<ToolResult> {
    let call = calls.iter().find(|call| call.tool_call_id == result.tool_call_id);
    if call.is_none() && !calls.is_empty() {
        let open: Vec<&str> = calls.iter().map(|call| call.tool_call_id.as_str()).collect();
        let message = format!("the session waits for the results of: {}", open.join(", "));
        return Err(Error::invalid(format!("results[{at}].toolCallId"), message));
    }
    result.tool_name = result.tool_name.or_else(|| call.and_then(|call| call.tool_name.clone()));
    Ok(result)
}

fn event(minter: &mut Minter, session: &Session, result: ToolResult) -> Result<PreparedEvent> {
    let output = RawValue::from_string(result.output)
        .map_err(|error| Error::invalid("results", format!("not readable as JSON: {error}")))?;
    let ToolResult { tool_call_id, tool_name, is_error, .. } = result;
    let part = Part { kind: "tool-result".into(), tool_call_id, tool_name, output, is_error };
    let content = serde_json::to_string(&[part]).map_err(|error| Error::Internal(error.to_string()))?;
    let event = minter.event(&kind::SuppliedResult { content, attempt: session.attempt });
    if event.content.len() + event.metadata.len() > EVENT_BYTES_MAX {
        return Err(Error::TooLarge(format!("one result and what names it have at most {EVENT_BYTES_MAX} bytes")));
    }
    Ok(event)
}

/// Returns the calls of the present attempt that have no result in the log.
pub(crate) async fn open_calls(conn: &mut Conn<'_>, session: &Session) -> Result<Vec<OpenCall>> {
    let kinds = [CALL, OWN_RESULT, Known::UserToolResult.as_str()].map(str::to_owned);
    let (tenant_id, end) = (session.tenant_id, session.head_sequence + 1);
    let page = store::event::before(conn, tenant_id, session.id, end, &kinds, CALLS_READ).await?;
    let mut open: Vec<OpenCall> = Vec::new();
    for event in page.items {
        let parts: Vec<OpenCall> = serde_json::from_str(&event.content).unwrap_or_default();
        for part in parts.into_iter().filter(|part| !part.tool_call_id.is_empty()) {
            open.retain(|call| call.tool_call_id != part.tool_call_id);
            if event.kind == CALL && event.attempt == Some(session.attempt) {
                open.push(part);
            }
        }
    }
    Ok(open)
}

/// Returns the results in a part of the log, oldest first.
async fn results_between(
    conn: &mut Conn<'_>,
    session: &Session,
    range: (u64, u64),
) -> store::Result<Vec<SuppliedResult>> {
    let kinds = [Known::UserToolResult.as_str().to_owned()];
    let limit = u32::try_from(TOOL_RESULTS_MAX).unwrap_or(u32::MAX);
    let page = store::event::after(conn, session.tenant_id, session.id, range, &kinds, limit).await?;
    Ok(page.items.iter().filter_map(supplied).collect())
}

fn supplied(event: &Event) -> Option<SuppliedResult> {
    let parts: Vec<Part> = serde_json::from_str(&event.content).ok()?;
    let Part { tool_call_id, tool_name, output, is_error, .. } = parts.into_iter().next()?;
    let output = String::from(Box::<str>::from(output));
    let result = ToolResult { tool_call_id, tool_name, output, is_error };
    Some(SuppliedResult { result, by: event.actor.clone(), at: event.recorded_at })
}

/// Returns the results that ended the session's wait for a tool; empty if it was queued for another reason.
pub(super) async fn of_wait(
    conn: &mut Conn<'_>,
    session: &Session,
    wait: Option<Wait>,
) -> store::Result<Vec<SuppliedResult>> {
    match wait {
        Some(wait) if wait.status == Status::AwaitingTool => {
            results_between(conn, session, (wait.began, wait.ended)).await
        }
        _ => Ok(Vec::new()),
    }
}
