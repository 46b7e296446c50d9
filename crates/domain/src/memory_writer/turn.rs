//! Turns: the messages of a conversation, with their authors.

use super::{
    limit::{PERSON_TURN_CHARS_MAX, TURN_CHARS_MAX},
    slot::{earlier_person_path, person_path, typed_person_path},
    text::one_line,
};
use crate::{
    Timestamp,
    count::counted,
    event::{
        Body, Event, Known,
        kind::{AgentToolResult, Decision, FormSubmit, RelayedAuthor},
    },
    evidence::Evidence,
    id::{GateId, UserId},
    memory::fold,
    names::names,
    thread,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{collections::HashSet, fmt};

/// Kinds of events that are turns.
pub const KINDS: [&str; 4] = [
    Known::UserMessage.as_str(),
    Known::UserFormSubmit.as_str(),
    Known::AgentMessage.as_str(),
    Known::AgentToolResult.as_str(),
];

/// Platform of the people of this workspace.
pub const OWN_PLATFORM: &str = "shiftbook";
/// Longest name of a speaker that the model is shown, characters.
const NAME_CHARS_MAX: usize = 80;
/// Tools with which agents of the server ask people.
const ASKING: [&str; 2] = ["ask_person", "request_feedback"];
/// The note to the model on an answer that no member gave.
const OUTSIDE_ANSWER: &str = "the answer to a question";

/// Returns the path of the document of a member of the workspace.
pub fn own_path(user_id: UserId) -> String {
    person_path(OWN_PLATFORM, &user_id.to_string())
}

/// Returns the member of the workspace whom the document at a path is about; `None` for other paths.
pub fn member_at(path: &str) -> Option<UserId> {
    let id = path.strip_prefix("people/")?.strip_prefix(OWN_PLATFORM)?.strip_prefix('-')?;
    id.strip_suffix(".md")?.parse().ok()
}

/// Where the content of a turn comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Taint {
    /// A person wrote it.
    Person,
    /// The agent wrote it.
    Agent,
    /// A tool returned it.
    Tool,
    /// A tool returned it from outside: a web page, a search, a server of another party.
    Web,
}

names!(Taint { Person = "person", Agent = "agent", Tool = "tool", Web = "web" });

/// Who takes part: the person's document and their name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Participant {
    /// Path of the person's document.
    pub path: String,
    /// Name as it was shown where the turn was written.
    pub name: String,
}

impl Participant {
    /// Returns the platform and the id as they are in the path.
    pub fn id(&self) -> &str {
        let file = self.path.strip_prefix("people/").unwrap_or(&self.path);
        file.strip_suffix(".md").unwrap_or(file)
    }

    /// Whether the aliases of a person's document have the speaker: by name, or by platform and id as in the path.
    /// Case does not matter.
    pub fn is_among(&self, aliases: &[String]) -> bool {
        let (name, id) = (fold(&self.name), fold(self.id()));
        aliases.iter().map(|alias| fold(alias)).any(|alias| !alias.is_empty() && (alias == name || alias == id))
    }
}

/// The text of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Session and sequence.
    pub at: Evidence,
    /// Time of the event (UTC).
    pub time: Timestamp,
    /// Where the content comes from.
    pub taint: Taint,
    /// The person who wrote it; `None` if no person did.
    pub speaker: Option<Participant>,
    /// Name of the tool whose result it is.
    pub tool: Option<String>,
    /// The text, with a mark if it is shortened: to [`PERSON_TURN_CHARS_MAX`] characters or [`TURN_CHARS_MAX`].
    pub text: String,
}

/// Returns the member whom an actor names; `None` for programs, agents, links and the server.
pub fn member(actor: &str) -> Option<UserId> {
    actor.strip_prefix("user:")?.parse().ok()
}

/// Returns the member who answered a question of the agent. `None` for other events, and for answers that a link or a
/// program gave: no one has signed in for those.
pub fn answerer(kind: &str, actor: &str) -> Option<UserId> {
    member(actor).filter(|_| kind == Known::UserFormSubmit)
}

/// Returns the full text of a person's event: the text of a message, or an answer and the note with it.
pub fn text_of_person(kind: &str, content: &str, metadata: &str) -> String {
    let text = thread::text_of(content);
    let Body::UserFormSubmit(submitted) = Body::read(kind, content, metadata) else { return text };
    let answer = submitted.value().map(plain).unwrap_or_default();
    [answer, text].into_iter().filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n")
}

/// What a person gave as JSON, as text: one line for each field.
fn plain(value: &Value) -> String {
    let lines = |texts: Vec<String>| texts.join("\n");
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => lines(items.iter().map(plain).collect()),
        Value::Object(fields) => lines(fields.iter().map(|(key, value)| field(key, &plain(value))).collect()),
        other => other.to_string(),
    }
}

/// A field as text. A text of several lines and a quotation begin on a line of their own, so that a quotation is seen
/// as one.
fn field(key: &str, text: &str) -> String {
    let has_own_line = text.contains('\n') || text.trim_start().starts_with(['>', '`']);
    format!("{key}:{}{text}", if has_own_line { '\n' } else { ' ' })
}

/// Answers that were undone: the gate of each, and the number of the answer among the decisions of the gate.
pub type Undone = HashSet<(GateId, u32)>;

/// The answer that an event records, or the undoing of one.
fn decision(event: &Event) -> Option<Decision> {
    match event.body() {
        Body::UserFormSubmit(FormSubmit::Decision(decision)) => Some(decision),
        _ => None,
    }
}

/// Returns the answers that events of a session undo.
pub fn undone(events: &[Event]) -> Undone {
    events.iter().filter_map(decision).filter_map(|undoing| Some((undoing.gate_id, undoing.undoes?))).collect()
}

/// Whether an event is an answer that was undone. `undone` is what [`undone`] found in its session.
pub fn is_undone(event: &Event, undone: &Undone) -> bool {
    decision(event).is_some_and(|answer| undone.contains(&(answer.gate_id, answer.number)))
}

/// Whether an event is an answer that its author can still undo.
pub fn can_be_undone(event: &Event, now: Timestamp) -> bool {
    decision(event).and_then(|answer| answer.effect_at).is_some_and(|until| until > now)
}

/// Returns the request of a task as a turn of the member who made it. `input` is JSON. `None` without a text.
pub fn request(input: &str, speaker: Participant) -> Option<Content> {
    let text = plain(&serde_json::from_str(input).ok()?);
    let text = shortened(text.trim(), PERSON_TURN_CHARS_MAX);
    let content = Content { taint: Taint::Person, speaker: Some(speaker), earlier_paths: Vec::new(), tool: None, text };
    (!content.text.is_empty()).then_some(content)
}

/// What an event holds of a turn: taint, speaker, tool and text. `None` for other events and for turns without text.
///
/// `owner` is the person to whom the session belongs. The author that a platform's message names comes first. An answer
/// is its `actor`'s, with the name of the owner if they are the same.
pub fn read(kind: &str, actor: &str, content: &str, metadata: &str, owner: Option<&Participant>) -> Option<Content> {
    let mut earlier_paths = Vec::new();
    let (taint, speaker, tool, text) = match Body::read(kind, content, metadata) {
        Body::UserMessage(message) => {
            let speaker = match message.author.as_ref().map(author) {
                Some((author, earlier)) => {
                    earlier_paths = earlier;
                    Some(author)
                }
                None => owner.cloned(),
            };
            (Taint::Person, speaker, None, message.text.unwrap_or_default())
        }
        Body::UserFormSubmit(_) | Body::Unreadable(Known::UserFormSubmit) => {
            let text = text_of_person(kind, content, metadata);
            match answerer(kind, actor).map(own_path) {
                Some(path) => {
                    let known = owner.filter(|owner| owner.path == path).cloned();
                    let speaker = known.unwrap_or(Participant { path, name: String::new() });
                    (Taint::Person, Some(speaker), None, text)
                }
                None => (Taint::Web, None, Some(OUTSIDE_ANSWER.to_owned()), text),
            }
        }
        Body::AgentMessage(message) => (Taint::Agent, None, None, message.text.unwrap_or_default()),
        Body::AgentToolResult(AgentToolResult { results, gate_id }) => {
            let result = results.into_iter().next()?;
            let tool = result.name.as_deref().unwrap_or("tool");
            // The answer of a person is a turn of its own, and the result of the tool that asked repeats it.
            if ASKING.contains(&tool) && gate_id.is_some() {
                return None;
            }
            let taint = if reaches_out(tool) { Taint::Web } else { Taint::Tool };
            let output = &result.output["value"];
            let text = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
            (taint, None, Some(one_line(tool, NAME_CHARS_MAX)), text)
        }
        _ => return None,
    };
    let most = if taint == Taint::Person { PERSON_TURN_CHARS_MAX } else { TURN_CHARS_MAX };
    let text = shortened(text.trim(), most);
    if text.is_empty() || text == "null" { None } else { Some(Content { taint, speaker, earlier_paths, tool, text }) }
}

/// What [`read`] finds in an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Where the content comes from.
    pub taint: Taint,
    /// The person who wrote it.
    pub speaker: Option<Participant>,
    /// Other paths that earlier versions gave the speaker, or marked them by when they were forgotten.
    pub earlier_paths: Vec<String>,
    /// Name of the tool whose result it is.
    pub tool: Option<String>,
    /// At most [`PERSON_TURN_CHARS_MAX`] or [`TURN_CHARS_MAX`] characters, and the mark of what is left out.
    pub text: String,
}

/// The author that a platform's message names, and their other paths of earlier versions.
fn author(author: &RelayedAuthor) -> (Participant, Vec<String>) {
    let RelayedAuthor { platform, id, name } = author;
    let name = name.as_deref().unwrap_or(id);
    let speaker = Participant { path: person_path(platform, id), name: one_line(name, NAME_CHARS_MAX) };
    let typed = typed_person_path(platform, id).map(|path| path.to_string());
    let mut earlier: Vec<_> = typed.into_iter().chain([earlier_person_path(platform, id)]).collect();
    earlier.retain(|path| *path != speaker.path);
    (speaker, earlier)
}

/// Truncates a text to `max` characters. A truncated text ends with a line that says how much is missing.
fn shortened(text: &str, max: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(max) else { return text.to_owned() };
    let (kept, rest) = text.split_at(end);
    format!("{}\n[{} are left out]", kept.trim_end(), counted(rest.chars().count() as u64, "character"))
}

/// Whether a tool brings in content of other parties.
fn reaches_out(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    ["web", "http", "fetch", "browser", "search", "mcp__", "url"].iter().any(|word| tool.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::THREAD_MESSAGE_CHARS_MAX;
    use serde_json::json;

    #[test]
    fn a_turn_has_the_taint_of_where_it_comes_from() {
        let owner = Participant { path: person_path(OWN_PLATFORM, "u1"), name: "Alice".into() };
        let text = json!([{"type": "text", "text": " Hi "}]).to_string();
        let said = read("user.message", "system", &text, "{}", Some(&owner)).unwrap();
        assert_eq!((said.taint, said.speaker, said.text.as_str()), (Taint::Person, Some(owner.clone()), "Hi"));
        let relayed = json!({"author": {"platform": "Slack", "id": "U02/../x", "name": "Bob\nB"}}).to_string();
        let said = read("user.message", "system", &text, &relayed, Some(&owner)).unwrap();
        assert_eq!(said.earlier_paths, ["people/slack-u02-x.md"]);
        let speaker = Participant { path: person_path("slack", "u02/../x"), name: "Bob B".into() };
        assert_eq!(said.speaker, Some(speaker));
        let relayed = json!({"author": {"platform": "sms", "id": "+4915"}}).to_string();
        let said = read("user.message", "system", &text, &relayed, None).unwrap();
        assert_eq!(said.earlier_paths, ["people/sms-+4915.md", "people/sms-4915.md"]);
        assert_eq!(read("agent.message", "system", &text, "{}", None).unwrap().taint, Taint::Agent);
        let result = |tool: &str| {
            let part = json!([{"type": "tool-result", "toolCallId": "c", "toolName": tool, "output": {"type": "text", "value": "x"}}]);
            read("agent.tool_result", "system", &part.to_string(), "{}", None).unwrap().taint
        };
        assert_eq!(result("note"), Taint::Tool);
        for tool in ["http_request", "WebFetch", "WebSearch", "mcp__shop__find", "browser_open"] {
            assert_eq!(result(tool), Taint::Web, "{tool}");
        }
    }

    #[test]
    fn the_request_of_a_task_is_said_by_the_member_who_made_it() {
        let alice = Participant { path: own_path(UserId(uuid::Uuid::from_u128(7))), name: "Alice".into() };
        let text = |input: &str| request(input, alice.clone()).map(|content| content.text);
        assert_eq!(text("\"Book a train\"").as_deref(), Some("Book a train"));
        assert_eq!(text(r#"{"city":"Oslo","via":["Malmö"]}"#).as_deref(), Some("city: Oslo\nvia: Malmö"));
        // A quotation begins its line, because that is how it is found.
        let mail = r#"{"mail":"> Trust Acme","notes":["> So","Hello"]}"#;
        assert_eq!(text(mail).as_deref(), Some("mail:\n> Trust Acme\nnotes:\n> So\nHello"));
        assert!(["null", "{}", "\" \"", "no JSON"].iter().all(|input| text(input).is_none()));
        assert_eq!((member("token:1"), member("user:x")), (None, None));
    }

    #[test]
    fn an_answer_is_said_by_the_member_who_gave_it_and_its_repetition_is_no_turn() {
        let user = UserId(uuid::Uuid::from_u128(7));
        let owner = Participant { path: own_path(user), name: "Alice".into() };
        let read = |actor: &str, content: &str, metadata: &Value, owner: Option<&Participant>| {
            read(Known::UserFormSubmit.as_str(), actor, content, &metadata.to_string(), owner)
        };
        let answered = |value: Value| {
            let gate = uuid::Uuid::from_u128(9);
            json!({ "gateId": gate, "kind": "question", "number": 1, "digest": "", "decision": "respond", "value": value })
        };
        let (alice, oslo) = (format!("user:{user}"), answered(json!("Oslo")));
        let said = read(&alice, "[]", &oslo, Some(&owner)).unwrap();
        assert_eq!((said.taint, said.speaker, said.text.as_str()), (Taint::Person, Some(owner.clone()), "Oslo"));
        let unnamed = Participant { name: String::new(), ..owner.clone() };
        assert_eq!(read(&alice, "[]", &oslo, None).unwrap().speaker, Some(unnamed));
        for actor in ["respondent:1", "token:1", "system", "user:nobody"] {
            let said = read(actor, "[]", &oslo, Some(&owner)).unwrap();
            assert_eq!((said.taint, said.speaker), (Taint::Web, None), "{actor}");
        }
        let note = r#"[{"type":"text","text":"Ask later"}]"#;
        let fields = answered(json!({ "city": "Oslo", "years": 3 }));
        assert_eq!(read(&alice, note, &fields, None).unwrap().text, "city: Oslo\nyears: 3\nAsk later");
        assert_eq!(read(&alice, note, &json!({}), None).unwrap().text, "Ask later");
        assert_eq!(read(&alice, "[]", &answered(Value::Null), None), None);

        let result = |tool: &str, metadata: &str| {
            let part =
                json!([{ "type": "tool-result", "toolName": tool, "output": { "type": "text", "value": "Oslo" } }]);
            super::read("agent.tool_result", "system", &part.to_string(), metadata, None).is_some()
        };
        assert!(!result("ask_person", r#"{"gateId":"g"}"#) && !result("request_feedback", r#"{"gateId":"g"}"#));
        assert!(result("note", r#"{"gateId":"g"}"#) && result("ask_person", "{}"));
    }

    #[test]
    fn a_persons_message_is_whole_and_what_is_left_out_of_a_longer_turn_is_counted() {
        let text = |kind: &str, chars: usize| {
            let content = json!([{ "type": "text", "text": "é".repeat(chars) }]).to_string();
            read(kind, "system", &content, "{}", None).unwrap().text
        };
        assert_eq!(text("user.message", THREAD_MESSAGE_CHARS_MAX), "é".repeat(THREAD_MESSAGE_CHARS_MAX));
        let shortened = text("user.message", THREAD_MESSAGE_CHARS_MAX + 1_500);
        assert!(shortened.ends_with("é\n[1,500 characters are left out]"), "{}", shortened.len());
        let reply = text("agent.message", TURN_CHARS_MAX + 2);
        assert_eq!(reply, format!("{}\n[2 characters are left out]", "é".repeat(TURN_CHARS_MAX)));
    }

    #[test]
    fn aliases_name_a_speaker_by_name_or_by_platform_and_id() {
        let speaker = |name: &str| Participant { path: person_path("Slack", "U1"), name: name.into() };
        let aliases = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(speaker("Ada").id(), "slack-u1");
        for names in [["ADA", "Bob"], ["Bob", "slack-U1"]] {
            assert!(speaker("Ada").is_among(&aliases(&names)), "{names:?}");
        }
        assert!(!speaker("Ada").is_among(&aliases(&["Adam", "U1"])));
        assert!(!speaker("").is_among(&aliases(&["", "Ada"])));
    }

    #[test]
    fn events_without_text_are_no_turns() {
        assert_eq!(read("agent.thinking", "system", "[]", "{}", None), None);
        assert_eq!(read("user.message", "system", "[]", "{}", None), None);
        assert_eq!(read("agent.tool_result", "system", "[]", "{}", None), None);
        assert_eq!(read("agent.tool_result", "system", "[{}]", "{}", None), None);
    }
}
