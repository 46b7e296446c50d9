//! The tool and the step in which a session failed.

use crate::event::{Event, Known, kind::Body};

/// Longest name of a tool or a step that a cause keeps, characters.
const NAME_CHARS_MAX: usize = 100;

/// Kinds of the events that [`origin`] reads.
pub const KINDS: [Known; 5] = [
    Known::AgentToolResult,
    Known::ToolInvocationCompleted,
    Known::ToolInvocationFailed,
    Known::ToolCompositionStepStarted,
    Known::ToolCompositionStepCompleted,
];

/// Where a session failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// Name of the tool whose call failed, if the last call of the session failed.
    pub tool: Option<String>,
    /// Name of the step that failed, or had started and not completed.
    pub step: Option<String>,
}

/// Returns where a session failed. `events` are the last ones of [`KINDS`] in its log, oldest first.
pub fn origin(events: &[Event]) -> Origin {
    let read = |event: &Event| Body::read(&event.kind, &event.content, &event.metadata);
    let bodies: Vec<Body> = events.iter().rev().map(read).collect();
    let tool = bodies.iter().find_map(|body| match body {
        Body::ToolInvocationFailed(failed) => Some(failed.0.tool_name.clone()),
        Body::ToolInvocationCompleted(_) => Some(None),
        Body::AgentToolResult(answered) => {
            let last = answered.results.last()?;
            Some(last.is_error().then(|| last.name.clone()).flatten())
        }
        _ => None,
    });
    let step = bodies.iter().find_map(|body| match body {
        Body::ToolCompositionStepStarted(started) => Some(started.0.step.clone()),
        // A step that failed is the one that ended the session, whatever else went on beside it.
        Body::ToolCompositionStepCompleted(ended) => Some(ended.0.step.clone().filter(|_| ended.0.failure.is_some())),
        _ => None,
    });
    Origin { tool: bounded(tool.flatten()), step: bounded(step.flatten()) }
}

fn bounded(name: Option<String>) -> Option<String> {
    name.map(|name| name.chars().take(NAME_CHARS_MAX).collect()).filter(|name: &String| !name.is_empty())
}
