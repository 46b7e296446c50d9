//! The texts of a session's row.

use crate::{
    agent_href::agent_word,
    text::{error_text, label::slug_label, number, shorten::one_line},
};
use domain::{
    action::ActionStatus,
    session::{Status, Usage},
};
use serde_json::{Value, value::RawValue};
use wire::{event::Event, failure::Failure, session::Session};

/// Longest line about the input or the last event, characters.
const LINE_CHARS_MAX: usize = 140;
/// Longest input value in a line, characters.
const VALUE_CHARS_MAX: usize = 40;
/// Most input values named in a line.
const VALUES_MAX: usize = 3;

/// A session with the data of its row.
#[derive(Debug, Clone)]
pub struct SessionEntry {
    /// The session that the row shows.
    pub session: Session,
    /// Name of its task; absent for a session without one.
    pub action_name: Option<String>,
    /// Status of its task, if the server has read it.
    pub action_status: Option<ActionStatus>,
    /// Its newest event with a text, if the server has read it.
    pub last_event: Option<Event>,
    /// Details of its failure, if it failed and the server has read them.
    pub failure: Option<Failure>,
    /// Summary of the inbox item that it waits for, if the server has read it.
    pub asks: Option<String>,
}

impl SessionEntry {
    /// An entry with the session alone.
    pub const fn new(session: Session) -> Self {
        Self { session, action_name: None, action_status: None, last_event: None, failure: None, asks: None }
    }
}

/// The input on one line, which distinguishes sessions of the same task. `None` without an input.
pub fn input_words(session: &Session) -> Option<String> {
    let input: Value = serde_json::from_str(session.input.as_ref()?.get()).ok()?;
    let words = match input {
        Value::Object(members) => {
            let named = members.iter().filter(|(_, value)| !value.is_object() && !value.is_array() && !value.is_null());
            let named = named.map(|(key, value)| {
                let value = one_line(&number::display_text(value), VALUE_CHARS_MAX);
                format!("{key}: {value}")
            });
            named.take(VALUES_MAX).collect::<Vec<_>>().join(", ")
        }
        Value::Array(_) | Value::Null => String::new(),
        plain => number::display_text(&plain),
    };
    let words = one_line(&words, LINE_CHARS_MAX);
    (!words.is_empty()).then_some(words)
}

/// The decision that the session waits for, else its error, else its last event.
pub fn last_words(entry: &SessionEntry) -> Option<String> {
    match (&entry.asks, &entry.session.error, &entry.last_event) {
        (Some(asks), ..) => Some(one_line(asks, LINE_CHARS_MAX)),
        (None, Some(error), _) => Some(error_text::one_line(&error.message, LINE_CHARS_MAX)),
        (None, None, Some(event)) => Some(crate::session::one_line(event, LINE_CHARS_MAX)),
        (None, None, None) => None,
    }
}

/// The cost; `None` if no event reported one.
pub fn cost_words(session: &Session) -> Option<String> {
    crate::session::cost(&Usage::read(session.usage.as_deref().map(RawValue::get)))
}

/// The numbers of tokens; `None` if no event reported one.
pub fn token_words(session: &Session) -> Option<String> {
    crate::session::tokens(&Usage::read(session.usage.as_deref().map(RawValue::get)))
}

/// Task and agent of a session, by name. A task that is named like its agent, or like the session, is not named twice.
pub fn who(entry: &SessionEntry) -> Vec<String> {
    let task = task(entry).filter(|task| *task != entry.session.title);
    [task, entry.session.agent_slug.as_deref().map(agent_word)].into_iter().flatten().collect()
}

/// The task of a session, by name. `None` without one, and if it is named like the agent.
pub fn task(entry: &SessionEntry) -> Option<String> {
    let session = &entry.session;
    let task = entry.action_name.clone().or_else(|| session.action_slug.clone())?;
    let is_same = |agent: &String| slug_label(&task).to_lowercase() == slug_label(agent).to_lowercase();
    (!session.agent_slug.as_ref().is_some_and(is_same)).then_some(task)
}

/// Whether the duration still increases.
pub const fn is_live(status: Status) -> bool {
    matches!(status, Status::Pending | Status::Running | Status::WaitingHuman | Status::AwaitingTool | Status::Idle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixture;

    #[test]
    fn runs_of_one_action_are_told_apart_by_what_they_were_given() {
        let given = |json: &str| {
            let mut session = fixture::session();
            session.input = Some(RawValue::from_string(json.to_owned()).unwrap());
            input_words(&session)
        };
        assert_eq!(given(r#"{"week": 47, "team": "sales", "parts": [1]}"#).as_deref(), Some("week: 47, team: sales"));
        assert_eq!(given(r#""Look at\nthe mail""#).as_deref(), Some("Look at the mail"));
        assert_eq!((given("null"), given("{}"), given("[1]")), (None, None, None));
    }

    #[test]
    fn a_task_that_is_named_like_its_agent_or_the_session_is_not_named_twice() {
        let of = |name: Option<&str>| {
            let session = fixture::session();
            who(&SessionEntry { action_name: name.map(str::to_owned), ..SessionEntry::new(session) })
        };
        assert_eq!(of(Some("Triage")), ["Triage", "scout"]);
        assert_eq!(of(Some("Review the inbox")), ["scout"], "the session has this title");
        assert_eq!(of(None), ["review-inbox", "scout"]);
        assert_eq!((of(Some("Scout")), of(Some("scout"))), (vec!["scout".to_owned()], vec!["scout".to_owned()]));
    }

    #[test]
    fn a_run_of_a_tool_is_named_by_its_title_and_not_by_the_slug_of_the_tool() {
        let mut session = fixture::session();
        session.agent_slug = Some("http:weather".into());
        session.action_slug = None;
        assert_eq!(who(&SessionEntry::new(session)), ["Tool run"]);
    }

    #[test]
    fn a_session_says_what_it_asks_for_or_why_it_failed() {
        let mut session = fixture::session();
        let waiting =
            SessionEntry { asks: Some("Acme Corp: Stage → Won".into()), ..SessionEntry::new(session.clone()) };
        assert_eq!(last_words(&waiting).as_deref(), Some("Acme Corp: Stage → Won"));
        session.error = Some(wire::session::SessionError { message: "The disk is full".into(), code: None });
        assert_eq!(last_words(&SessionEntry::new(session.clone())).as_deref(), Some("The disk is full"));
        let trace = "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: none";
        session.error = Some(wire::session::SessionError { message: trace.into(), code: None });
        assert_eq!(last_words(&SessionEntry::new(session)).as_deref(), Some("ValueError: none"));
    }
}
