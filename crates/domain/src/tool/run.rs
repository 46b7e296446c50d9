//! Runs of tools: sessions that name a published version.

use super::{Definition, Kind};
use crate::{
    id::ToolId,
    json_pointer::unescaped,
    session::{EndReason, Session, State, Status, TimeLimits, Type, deadline, graph::cancels_children},
    slug::is_slug,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Key of [`ToolRun`] in the metadata of a session.
const KEY: &str = "tool";
/// Key of the definition that a test runs, in the metadata of its session.
const TESTED: &str = "toolDefinition";
/// `source` of the sessions that test the working copy of a tool.
pub const TEST_SOURCE: &str = "tool-test";
/// What is before the slug of a tool that workers run, as the agent of a session.
const OF_WORKERS: &str = "tool:";
/// What is before the slug of a tool that the server runs, as the agent of a session.
const OF_SERVER: &str = "http:";
/// Prefix of the slug of an `mcp` tool in the name of its agent.
const OF_MCP: &str = "mcp:";
/// What is before the slug of a composite tool, as the agent of a session.
const OF_STEPS: &str = "composite:";

/// Error code of a run whose call may have taken effect: it has no answer, or the answer was not recorded.
pub const MAY_HAVE_RUN: &str = "may_have_run";
/// Error code of a run whose call took longer than the time limit of its tool.
pub const TIME_LIMIT: &str = "time_limit";
/// Error code of a run that a person did not allow.
pub const DENIED: &str = "denied";
/// Error code of a run whose input its tool refuses.
pub const INPUT_INVALID: &str = "input_invalid";
/// Error code of a run whose secrets or private values cannot be decrypted.
pub const UNAVAILABLE: &str = "tool_unavailable";
/// Error code of a run of a composite tool with a step that failed.
pub const STEP_FAILED: &str = "step_failed";

/// Returns the agent of the sessions that run a tool: `tool:<slug>` for workers, `http:<slug>` and `mcp:<slug>` for the
/// server, `composite:<slug>` for a run that starts others.
pub fn agent_of(kind: Kind, slug: &str) -> String {
    let before = match kind {
        Kind::Worker => OF_WORKERS,
        Kind::Http => OF_SERVER,
        Kind::Composite => OF_STEPS,
        Kind::Mcp => OF_MCP,
    };
    format!("{before}{slug}")
}

/// Returns how a tool runs and its slug, if an agent is that of a tool.
pub fn of_agent(agent: &str) -> Option<(Kind, &str)> {
    let named = [(Kind::Worker, OF_WORKERS), (Kind::Http, OF_SERVER), (Kind::Composite, OF_STEPS), (Kind::Mcp, OF_MCP)];
    let found = named.into_iter().find_map(|(kind, before)| Some((kind, agent.strip_prefix(before)?)));
    found.filter(|(_, slug)| is_slug(slug))
}

/// Whether `text` is what a claim or a list of sessions can name as an agent: a slug, or the agent of a tool.
pub fn is_agent(text: &str) -> bool {
    is_slug(text) || of_agent(text).is_some()
}

/// The version of a tool that a session runs, and what whoever runs it has to know. It is in the metadata of the
/// session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRun {
    /// Id of the tool.
    pub id: ToolId,
    /// Slug of the tool.
    pub slug: String,
    /// Published version; 0 for a test of the working copy.
    pub version: u64,
    /// Revision of the working copy that a test runs; `None` for a run of a version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// Whether a call with an unknown outcome may be repeated.
    pub repeatable: bool,
    /// Longest time of one call, seconds.
    pub time_limit_seconds: u32,
    /// Further calls after the first one failed.
    pub retries: u32,
    /// Whether a person must approve the call.
    pub requires_confirmation: bool,
    /// Whether values of the input are stored apart from the session.
    pub has_private_input: bool,
    /// Whether the call of a test gets the secrets of the tool. Of a run, its version says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub test_gets_secrets: bool,
}

impl ToolRun {
    /// Reads the run from the metadata of a session; `None` for a session that runs no tool of the workspace.
    pub fn of_metadata(metadata: &str) -> Option<Self> {
        let mut metadata: Map<String, Value> = serde_json::from_str(metadata).ok()?;
        serde_json::from_value(metadata.remove(KEY)?).ok()
    }

    /// Returns the run of a session that runs a tool of the workspace.
    pub fn of_session(session: &Session) -> Option<Self> {
        if session.session_type != Type::Tool {
            return None;
        }
        // No one can create another session with the agent of a tool.
        of_agent(session.agent_slug.as_deref()?)?;
        Self::of_metadata(&session.metadata)
    }

    /// Sets the attempts and the time limit of a session that begins to run a tool at its `updated_at`. The run of a
    /// composite tool begins at once: no one claims it.
    pub fn bound(session: &mut Session) {
        if let (true, Some(run)) = (is_composite(session), Self::of_session(session)) {
            let running_seconds = Some(run.time_limit_seconds);
            session.time_limits = TimeLimits { running_seconds, ..TimeLimits::default() };
            let deadline_at = deadline(&session.time_limits, Status::Running, session.updated_at);
            session.state = State::Running { lease: None, deadline_at };
            (session.queued_at, session.started_at) = (None, Some(session.updated_at));
            return;
        }
        if let Some((run, allowed)) = Self::of_session(session).zip(attempts_allowed(session)) {
            session.attempts_max = allowed;
            // The server measures the calls that it makes itself.
            session.time_limits = TimeLimits { running_seconds: Some(run.time_limit_seconds), ..TimeLimits::default() };
        }
    }

    /// Writes the metadata of a session.
    pub fn to_metadata(&self) -> String {
        Value::Object(self.members()).to_string()
    }

    /// Writes the metadata of a session that tests this definition.
    pub fn to_test_metadata(&self, definition: &Definition) -> String {
        let mut members = self.members();
        members.insert(TESTED.to_owned(), serde_json::to_value(definition).unwrap_or_default());
        Value::Object(members).to_string()
    }

    fn members(&self) -> Map<String, Value> {
        // Numbers, truth values and texts can always be written.
        let run = serde_json::to_value(self).unwrap_or_default();
        Map::from_iter([(KEY.to_owned(), run)])
    }
}

/// The definition that a session tests; `None` for one that tests none.
pub fn tested_definition(session: &Session) -> Option<Definition> {
    if session.source.as_deref() != Some(TEST_SOURCE) {
        return None;
    }
    let mut metadata: Map<String, Value> = serde_json::from_str(&session.metadata).ok()?;
    serde_json::from_value(metadata.remove(TESTED)?).ok()
}

/// Whether a session is a run of a composite tool.
pub fn is_composite(session: &Session) -> bool {
    let agent = session.agent_slug.as_deref().and_then(of_agent);
    session.session_type == Type::Tool && agent.is_some_and(|(kind, _)| kind == Kind::Composite)
}

/// Whether the sessions that a session started are cancelled because of its end. Those of a composite tool are at
/// every end but completion, for which all of them have ended.
pub fn ends_children(session: &Session) -> bool {
    let is_cut = |end| end != EndReason::Done && is_composite(session);
    session.end_reason().is_some_and(|end| cancels_children(end) || is_cut(end))
}

/// Claims of a session after which a lost lease fails it, if workers run a tool in it. What a lost worker did is
/// unknown, so only a tool that may be repeated is claimed again. A server records that it begins a call, so its
/// sessions have as many attempts as others.
pub fn attempts_allowed(session: &Session) -> Option<u32> {
    let run = ToolRun::of_session(session)?;
    let (kind, _) = of_agent(session.agent_slug.as_deref()?)?;
    (kind == Kind::Worker).then(|| if run.repeatable { run.retries.saturating_add(1) } else { 1 })
}

/// Takes the values at these JSON Pointers out of an input, in their order. A member of an object is removed, an item
/// of an array becomes `null`.
pub fn take_private<'a>(
    input: &mut Value,
    pointers: impl IntoIterator<Item = impl AsRef<str> + 'a>,
) -> Vec<(String, Value)> {
    let take = |pointer: String| take_at(input, &pointer).map(|value| (pointer, value));
    pointers.into_iter().map(|pointer| pointer.as_ref().to_owned()).filter_map(take).collect()
}

/// Takes out values of another form than the way to one of these JSON Pointers has, such as a text in the place of an
/// object. An input that is not checked yet can have private values in them that [`take_private`] does not find.
pub fn take_formless<'a>(input: &mut Value, pointers: impl IntoIterator<Item = impl AsRef<str> + 'a>) {
    for pointer in pointers {
        let pointer = pointer.as_ref();
        for (at, _) in pointer.match_indices('/').skip(1) {
            let next = pointer[at + 1..].split('/').next().unwrap_or_default();
            let has_form = match input.pointer(&pointer[..at]) {
                None | Some(Value::Object(_)) => true,
                Some(Value::Array(_)) => next.parse::<usize>().is_ok(),
                Some(_) => false,
            };
            if !has_form {
                drop(take_at(input, &pointer[..at]));
                break;
            }
        }
    }
}

/// Puts values back that [`take_private`] took. Values whose place is gone are left out.
pub fn put_private(input: &mut Value, private: Vec<(String, Value)>) {
    // In the opposite order: a part that was taken before the whole belongs into the whole.
    for (pointer, value) in private.into_iter().rev() {
        put_at(input, &pointer, value);
    }
}

/// The object or array that contains the value at a pointer, and the last part of the pointer.
fn parent<'a>(input: &'a mut Value, pointer: &str) -> Option<(&'a mut Value, String)> {
    let (parent, last) = pointer.rsplit_once('/')?;
    Some((input.pointer_mut(parent)?, unescaped(last)))
}

fn take_at(input: &mut Value, pointer: &str) -> Option<Value> {
    match parent(input, pointer)? {
        (Value::Object(members), name) => members.remove(&name),
        (Value::Array(items), index) => items.get_mut(index.parse::<usize>().ok()?).map(Value::take),
        _ => None,
    }
}

fn put_at(input: &mut Value, pointer: &str, value: Value) {
    match parent(input, pointer) {
        Some((Value::Object(members), name)) => drop(members.insert(name, value)),
        Some((Value::Array(items), index)) => {
            if let Some(item) = index.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                *item = value;
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_tool_has_an_agent_that_no_other_agent_is_named_like() {
        for kind in Kind::ALL {
            let agent = agent_of(kind, "weather");
            assert_eq!(of_agent(&agent), Some((kind, "weather")));
            assert!(is_agent(&agent) && !is_slug(&agent));
        }
        for bad in ["tool:", "tool:A", "http:a b", "npm:a", "mcp:", "tool:tool:a", ""] {
            assert!(!is_agent(bad), "{bad}");
        }
        assert!(is_agent("scout") && of_agent("scout").is_none());
    }

    #[test]
    fn a_run_reads_back_from_the_metadata_of_its_session() {
        let run = ToolRun {
            id: "0199c0de-0000-7000-8000-000000000001".parse().unwrap(),
            slug: "weather".to_owned(),
            version: 3,
            revision: None,
            repeatable: true,
            time_limit_seconds: 5,
            retries: 2,
            requires_confirmation: false,
            has_private_input: true,
            test_gets_secrets: false,
        };
        assert_eq!(ToolRun::of_metadata(&run.to_metadata()), Some(run));
        for other in ["{}", "[]", r#"{"tool":"weather"}"#, "no JSON"] {
            assert_eq!(ToolRun::of_metadata(other), None, "{other}");
        }
    }

    #[test]
    fn what_could_hide_a_private_value_is_taken_out() {
        let pointers = ["/person/email", "/list/0/pin", "/key"];
        for (mut input, left) in [
            (
                json!({ "person": "Ada, a@b", "list": [{ "pin": 1 }], "a": "x" }),
                json!({ "list": [{ "pin": 1 }], "a": "x" }),
            ),
            (json!({ "person": [{ "email": "a@b" }], "list": ["1", 2] }), json!({ "list": [null, 2] })),
            (
                json!({ "person": { "email": "a@b" }, "list": { "0": 1 }, "key": "k" }),
                json!({ "person": { "email": "a@b" }, "list": {}, "key": "k" }),
            ),
        ] {
            take_formless(&mut input, pointers);
            assert_eq!(input, left);
        }
    }

    #[test]
    fn private_values_are_taken_out_and_put_back() {
        let whole = json!({ "a": 1, "b": { "c": "x", "d/e": 2 }, "f": [1, "y"] });
        let mut input = whole.clone();
        let private = take_private(&mut input, ["/b/c", "/b/d~1e", "/b", "/f/1", "/none", "/a/b"]);
        assert_eq!(input, json!({ "a": 1, "f": [1, null] }));
        assert_eq!(private.len(), 4);
        put_private(&mut input, private);
        assert_eq!(input, whole);
        let mut nothing = json!({});
        put_private(&mut nothing, vec![("/b/c".to_owned(), json!(1))]);
        assert_eq!(nothing, json!({}));
    }
}
