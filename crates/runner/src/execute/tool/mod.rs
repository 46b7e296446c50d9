//! The tools of a chat agent.
//!
//! A call's input comes from a model: it is validated against the tool's JSON Schema before it is used. A tool with
//! effects outside of the log is recorded as started before it runs, so that it is not run twice.

mod ask_person;
mod entity_read;
mod entity_write;
mod http_request;
mod memory;
mod note;
mod rate_memories;
mod request_feedback;
mod start_session;

use super::{
    adapter::{Failure, JobContext},
    call::Call,
};
use domain::id::InvalidId;
use jsonschema::Validator;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{fmt, str::FromStr};
use wire::Code;

pub use ask_person::question;
pub use http_request::Http;
pub use request_feedback::{ask, is_blocking};
pub use start_session::{outcome, start};

/// A tool that a chat agent can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// Makes a request to an allowed host.
    HttpRequest,
    /// Reads an entity or an entity type.
    EntityRead,
    /// Creates or changes an entity.
    EntityWrite,
    /// Asks a person and waits for the answer.
    AskPerson,
    /// Asks people with a form, and waits for an answer or continues.
    RequestFeedback,
    /// Records a note in the log.
    Note,
    /// Reads and writes the memory of the session's agent.
    Memory,
    /// Rates the memories that the agent was given.
    RateMemories,
    /// Starts a session of another action and waits for it.
    StartSession,
}

/// A tool's output, or the error that the model receives.
pub type Answer = Result<Value, Value>;

impl Tool {
    /// All tools with their names in settings and requests.
    pub const ALL: [(&'static str, Self); 9] = [
        ("http_request", Self::HttpRequest),
        ("entity_read", Self::EntityRead),
        ("entity_write", Self::EntityWrite),
        ("ask_person", Self::AskPerson),
        ("request_feedback", Self::RequestFeedback),
        ("note", Self::Note),
        ("memory", Self::Memory),
        ("rate_memories", Self::RateMemories),
        ("start_session", Self::StartSession),
    ];

    /// Name of the tool in settings and requests.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, tool)| *tool == self).map_or("", |(name, _)| name)
    }

    const fn description(self) -> &'static str {
        match self {
            Self::HttpRequest => http_request::DESCRIPTION,
            Self::EntityRead => entity_read::DESCRIPTION,
            Self::EntityWrite => entity_write::DESCRIPTION,
            Self::AskPerson => ask_person::DESCRIPTION,
            Self::RequestFeedback => request_feedback::DESCRIPTION,
            Self::Note => note::DESCRIPTION,
            Self::Memory => memory::DESCRIPTION,
            Self::RateMemories => rate_memories::DESCRIPTION,
            Self::StartSession => start_session::DESCRIPTION,
        }
    }

    fn schema(self, actions: &[String]) -> Value {
        match self {
            Self::HttpRequest => http_request::schema(),
            Self::EntityRead => entity_read::schema(),
            Self::EntityWrite => entity_write::schema(),
            Self::AskPerson => ask_person::schema(),
            Self::RequestFeedback => request_feedback::schema(),
            Self::Note => note::schema(),
            Self::Memory => memory::schema(),
            Self::RateMemories => rate_memories::schema(),
            Self::StartSession => start_session::schema(actions),
        }
    }

    /// Whether a call asks people itself, so that it cannot wait for an approval.
    pub const fn asks_people(self) -> bool {
        matches!(self, Self::AskPerson | Self::RequestFeedback)
    }

    /// Whether a call may change something outside of the log, so that its start has to be recorded.
    pub fn has_effects(self, input: &Value) -> bool {
        match self {
            Self::HttpRequest => http_request::has_effects(input),
            Self::Memory => memory::has_effects(input),
            Self::EntityWrite | Self::StartSession => true,
            // A repeated request has the same key, so it is the same request. A repeated rating replaces itself.
            Self::EntityRead | Self::AskPerson | Self::RequestFeedback | Self::Note | Self::RateMemories => false,
        }
    }
}

/// The tools of one agent.
pub struct Toolbox {
    tools: Vec<(Tool, Validator)>,
    confirmed: Vec<Tool>,
    http: Option<Http>,
    actions: Vec<String>,
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools.iter().map(|(tool, _)| tool)).finish()
    }
}

impl Toolbox {
    /// The tools of an agent. Calls of those in `confirmed` wait for a person's approval. `http` limits
    /// [`Tool::HttpRequest`], `actions` [`Tool::StartSession`].
    ///
    /// # Errors
    /// If a tool's own schema does not compile, which is a bug.
    pub fn new(tools: &[Tool], confirmed: Vec<Tool>, http: Option<Http>, actions: Vec<String>) -> Result<Self, String> {
        let compiled = tools.iter().map(|tool| match jsonschema::validator_for(&tool.schema(&actions)) {
            Ok(validator) => Ok((*tool, validator)),
            Err(error) => Err(format!("the schema of {} cannot be used: {error}", tool.name())),
        });
        Ok(Self { tools: compiled.collect::<Result<_, _>>()?, confirmed, http, actions })
    }

    /// The declarations of the tools for a model.
    pub fn declared(&self, is_thread: bool) -> Vec<genai::chat::Tool> {
        let declare = |tool: Tool| {
            let schema = tool.schema(&self.actions);
            genai::chat::Tool::new(tool.name()).with_description(tool.description()).with_schema(schema)
        };
        self.offered(is_thread).map(declare).collect()
    }

    /// The same tools as function schemas, in the form that training data has.
    pub fn schemas(&self, is_thread: bool) -> Vec<Value> {
        let schema = |tool: Tool| {
            let (name, description, parameters) = (tool.name(), tool.description(), tool.schema(&self.actions));
            let function = json!({ "name": name, "description": description, "parameters": parameters });
            json!({ "type": "function", "function": function })
        };
        self.offered(is_thread).map(schema).collect()
    }

    /// The tools that are offered. A conversation cannot start sessions: it waits only for its person.
    fn offered(&self, is_thread: bool) -> impl Iterator<Item = Tool> {
        let tools = self.tools.iter().map(|(tool, _)| *tool);
        tools.filter(move |tool| !is_thread || *tool != Tool::StartSession)
    }

    /// Finds the tool of a call and validates its input.
    ///
    /// # Errors
    /// The error for the model: an unknown tool, an input that does not match the schema, or a question that the server
    /// would refuse.
    pub fn check(&self, call: &Call) -> Result<Tool, Value> {
        let Some((tool, validator)) = self.tools.iter().find(|(tool, _)| tool.name() == call.name) else {
            let known: Vec<_> = self.tools.iter().map(|(tool, _)| tool.name()).collect();
            return Err(json!(format!("there is no tool {:?}; there are: {}", call.name, known.join(", "))));
        };
        if !call.input.is_object() {
            return Err(json!("the input is not a JSON object"));
        }
        let mut wrong: Vec<_> = validator
            .iter_errors(&call.input)
            .map(|error| {
                let at = error.instance_path().to_string();
                if at.is_empty() { error.to_string() } else { format!("{at}: {error}") }
            })
            .collect();
        if wrong.is_empty() && *tool == Tool::AskPerson {
            wrong = ask_person::problems(&call.input);
        }
        if wrong.is_empty() { Ok(*tool) } else { Err(json!(format!("the input does not fit: {}", wrong.join("; ")))) }
    }

    /// Whether calls of this tool wait for a person's approval.
    pub fn needs_confirmation(&self, tool: Tool) -> bool {
        self.confirmed.contains(&tool)
    }

    /// Runs a tool with validated input.
    ///
    /// # Errors
    /// A [`Failure`] if the session cannot continue, for example because the API cannot be reached. An error of the
    /// call itself is its answer.
    pub async fn run(&self, tool: Tool, input: &Value, context: &JobContext) -> Result<Answer, Failure> {
        match tool {
            Tool::HttpRequest => Ok(match &self.http {
                Some(http) => http_request::run(input, http).await,
                None => Err(json!("this agent may reach no host")),
            }),
            Tool::EntityRead => entity_read::run(input, context).await,
            Tool::EntityWrite => entity_write::run(input, context).await,
            Tool::Note => note::run(input, context).await,
            Tool::Memory => memory::run(input, context).await,
            Tool::RateMemories => rate_memories::run(input, context).await,
            Tool::RequestFeedback => Ok(Err(json!("people are asked by whoever can wait for them"))),
            Tool::AskPerson => Ok(Err(json!("a question is answered by a person, never by a program"))),
            Tool::StartSession => Ok(Err(json!("a session is started by whoever can wait for it"))),
        }
    }
}

/// Parses an id that a model gives. The error is the answer that the model receives.
fn parse_id<T: FromStr<Err = InvalidId>>(text: &str) -> Result<T, Value> {
    text.parse().map_err(|error: InvalidId| json!({ "code": Code::InvalidId, "message": error.to_string() }))
}

/// Turns the result of an API call into a tool's answer. An API that cannot be reached fails the session.
fn tool_answer<T>(answer: client::Result<T>, render: impl FnOnce(T) -> Value) -> Result<Answer, Failure> {
    match answer {
        Ok(answer) => Ok(Ok(render(answer))),
        Err(error) => refusal_answer(error).map(Err),
    }
}

/// The error that a model receives for a refusal of the API.
///
/// # Errors
/// A [`Failure`] with the code `unavailable` if the API could not be reached, so the model can correct nothing.
pub fn refusal_answer(error: client::Error) -> Result<Value, Failure> {
    if super::lease::is_transient(&error) {
        return Err(Failure::new("unavailable", format!("a tool could not reach Shiftbook: {error}")));
    }
    Ok(match error {
        client::Error::Problem { problem, .. } => json!({
            "code": problem.code, "message": problem.detail.as_deref().unwrap_or(&problem.title), "errors": problem.errors
        }),
        error => json!(error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, input: Value) -> Call {
        Call { id: "c".into(), name: name.into(), input }
    }

    #[test]
    fn every_tool_has_a_name_and_a_schema_that_refuses_what_it_does_not_know() {
        let all: Vec<_> = Tool::ALL.iter().map(|(_, tool)| *tool).collect();
        let toolbox = Toolbox::new(&all, Vec::new(), None, vec!["look-up".into()]).unwrap();
        for (name, tool) in Tool::ALL {
            assert_eq!(tool.name(), name);
            let wrong = toolbox.check(&call(name, json!({ "surplus": 1 }))).unwrap_err();
            assert!(wrong.as_str().unwrap().contains("surplus"), "{name}: {wrong}");
        }
    }

    #[test]
    fn a_wrong_call_says_what_is_wrong_with_it() {
        let toolbox = Toolbox::new(&[Tool::Note], Vec::new(), None, Vec::new()).unwrap();
        let refusal = |call: Call| toolbox.check(&call).unwrap_err().to_string();
        assert!(refusal(call("entity_write", json!({}))).contains("there are: note"));
        assert!(refusal(call("note", json!({ "text": 7 }))).contains("/text"));
        assert!(refusal(call("note", json!("{\"text\":"))).contains("not a JSON object"));
        assert_eq!(toolbox.check(&call("note", json!({ "text": "x" }))), Ok(Tool::Note));
    }

    #[test]
    fn a_question_that_the_server_would_refuse_is_a_wrong_call() {
        let toolbox = Toolbox::new(&[Tool::AskPerson], Vec::new(), None, Vec::new()).unwrap();
        let check = |input: Value| toolbox.check(&call("ask_person", input)).map_err(|why| why.to_string());
        for (input, why) in [
            (json!({ "message": "  " }), "question.message: needs a text"),
            (json!({ "message": "a\u{0}b" }), "question.message: no NUL characters"),
            (json!({ "message": "Which?", "schema": { "type": "strin" } }), "question.schema: not a JSON Schema"),
            (json!({ "message": "Which?", "schema": { "$ref": "https://example.org/a" } }), "question.schema: "),
        ] {
            let refused = check(input).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
        let form = json!({ "type": "object", "properties": { "stage": { "type": "string" } } });
        assert_eq!(check(json!({ "message": "Which?", "schema": form })), Ok(Tool::AskPerson));
    }
}
