//! Tool results whose calls are before the page. A page that begins between a call and its result begins with the call.

use crate::{
    Result,
    event::{self, Read, Slice},
};
use domain::{
    event::{Event, Known, PartType},
    session::Session,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashSet;
use store::Conn;

/// Number of events before a page among which the calls of its results are looked for.
const BEFORE_MAX: u32 = 50;

/// Adds the events before a page from the first call on whose result is on the page. Returns whether there are events
/// before the page then; `None` if nothing was looked for.
pub(super) async fn with_calls(
    conn: &mut Conn<'_>,
    session: &Session,
    read: &Read,
    slice: &mut Slice,
) -> Result<Option<bool>> {
    let wanted = without_calls(&slice.events);
    let first = slice.events.first().map_or(0, |event| event.sequence);
    if first <= 1 || wanted.is_empty() {
        return Ok(None);
    }
    let before = Read { before_sequence: Some(first), after_sequence: None, limit: BEFORE_MAX, ..read.clone() };
    let mut before = event::read_on(conn, session, &before).await?;
    let begins = |event: &Event| ids(event).any(|(id, is_call)| is_call && wanted.contains(&id));
    let Some(at) = before.events.iter().position(begins) else { return Ok(None) };
    slice.events.splice(0..0, before.events.drain(at..));
    Ok(Some(at > 0 || before.has_more))
}

/// The ids of the results that have no call before them.
fn without_calls(events: &[Event]) -> HashSet<String> {
    let mut called = HashSet::new();
    let mut wanted = HashSet::new();
    for (id, is_call) in events.iter().flat_map(ids) {
        if is_call {
            called.insert(id);
        } else if !called.contains(&id) {
            wanted.insert(id);
        }
    }
    wanted
}

/// What the parts of calls and results have in common, in all spellings that transcripts read.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Part<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, alias = "invocationId", alias = "tool_call_id")]
    tool_call_id: Option<&'a RawValue>,
}

fn part_type(json: &RawValue) -> Option<PartType> {
    PartType::parse(json.get().trim_matches('"'))
}

/// The tool calls that an event names, and whether it makes them or brings their results.
fn ids(event: &Event) -> impl Iterator<Item = (String, bool)> + use<> {
    let by_kind = match event.known() {
        Some(Known::AgentToolCall | Known::ToolInvocationStarted) => Some(true),
        Some(
            Known::AgentToolResult
            | Known::UserToolResult
            | Known::ToolInvocationCompleted
            | Known::ToolInvocationFailed,
        ) => Some(false),
        _ => None,
    };
    let found: Vec<(String, bool)> = match by_kind {
        None => Vec::new(),
        Some(by_kind) => {
            let mut parts: Vec<Part<'_>> = serde_json::from_str(&event.content).unwrap_or_default();
            parts.extend(serde_json::from_str::<Part<'_>>(&event.metadata).ok());
            let id = |part: &Part<'_>| part.tool_call_id.map(|id| id.get().to_owned());
            let is_call = |part: &Part<'_>| match part.kind.and_then(part_type) {
                Some(PartType::ToolCall) => true,
                Some(PartType::ToolResult | PartType::ToolError) => false,
                Some(PartType::Text | PartType::Reasoning) | None => by_kind,
            };
            parts.iter().filter_map(|part| Some((id(part)?, is_call(part)))).collect()
        }
    };
    found.into_iter()
}
