//! The tools of a chat agent: the executor's own, and published tools of the workspace. One
//! [`Toolbox`] has both, with the same approvals and the same records in the log.
//!
//! A call's input comes from a model: it is validated against the tool's JSON Schema before it is used. A tool with
//! effects outside of the log is recorded as started before it runs, so that it is not run twice.

mod ask_person;
mod canvas_changes;
mod canvas_patch;
mod canvas_read;
mod canvas_wait;
mod ended;
mod entity_read;
mod entity_write;
mod http_request;
mod memory;
mod note;
mod of_workspace;
mod rate_memories;
mod request_feedback;
mod start_session;

use super::{
    adapter::{Failure, JobContext},
    call::Call,
};
use domain::{id::InvalidId, slug::is_slug};
use ended::{Ended, ended};
use jsonschema::Validator;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{fmt, str::FromStr};
use wire::Code;

pub use ask_person::question;
pub use http_request::Http;
pub use of_workspace::{Offered, answer, offers, run, still_running};
pub use request_feedback::{ask, is_blocking};
pub use start_session::{outcome, start};

/// A tool of the executor itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// Makes a request to an allowed host.
    HttpRequest,
    /// Reads an entity or an entity type.
    EntityRead,
    /// Creates or changes an entity.
    EntityWrite,
    /// Returns the document of a canvas with its version.
    CanvasRead,
    /// Changes a canvas.
    CanvasPatch,
    /// Waits until someone else changes a canvas.
    CanvasWait,
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

/// A tool as the settings of an agent name it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Named {
    /// One of the executor's own.
    Own(Tool),
    /// Slug of a tool of the workspace. The executor's own tools have priority: a tool of the workspace with the slug
    /// `note` or `memory` cannot be named.
    OfWorkspace(String),
}

impl Named {
    /// Name of the tool in settings and requests.
    pub fn name(&self) -> &str {
        match self {
            Self::Own(tool) => tool.name(),
            Self::OfWorkspace(slug) => slug,
        }
    }
}

impl TryFrom<String> for Named {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match Tool::ALL.iter().find(|(own, _)| *own == name) {
            Some((_, tool)) => Ok(Self::Own(*tool)),
            None if is_slug(&name) => Ok(Self::OfWorkspace(name)),
            None => {
                let own: Vec<_> = Tool::ALL.iter().map(|(own, _)| *own).collect();
                Err(format!("`{name}` is neither one of {} nor the slug of a tool of the workspace", own.join(", ")))
            }
        }
    }
}

/// What a call of a model runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callee {
    /// One of the executor's own tools.
    Own(Tool),
    /// The tool of the workspace whose slug is the name in the call.
    OfWorkspace,
}

impl Callee {
    /// Whether a call starts a session, whose end is its answer.
    pub const fn starts_session(self) -> bool {
        matches!(self, Self::Own(Tool::StartSession) | Self::OfWorkspace)
    }
}

/// A tool's output, or the error that the model receives.
pub type Answer = Result<Value, Value>;

impl Tool {
    /// All tools with their names in settings and requests.
    pub const ALL: [(&'static str, Self); 12] = [
        ("http_request", Self::HttpRequest),
        ("entity_read", Self::EntityRead),
        ("entity_write", Self::EntityWrite),
        ("canvas_read", Self::CanvasRead),
        ("canvas_patch", Self::CanvasPatch),
        ("canvas_wait", Self::CanvasWait),
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
            Self::CanvasRead => canvas_read::DESCRIPTION,
            Self::CanvasPatch => canvas_patch::DESCRIPTION,
            Self::CanvasWait => canvas_wait::DESCRIPTION,
            Self::AskPerson => ask_person::DESCRIPTION,
            Self::RequestFeedback => request_feedback::DESCRIPTION,
            Self::Note => note::DESCRIPTION,
            Self::Memory => memory::DESCRIPTION,
            Self::RateMemories => domain::relevance::RATE_DESCRIPTION,
            Self::StartSession => start_session::DESCRIPTION,
        }
    }

    fn schema(self, actions: &[String]) -> Value {
        match self {
            Self::HttpRequest => http_request::schema(),
            Self::EntityRead => entity_read::schema(),
            Self::EntityWrite => entity_write::schema(),
            Self::CanvasRead => canvas_read::schema(),
            Self::CanvasPatch => canvas_patch::schema(),
            Self::CanvasWait => canvas_wait::schema(),
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
            Self::EntityWrite | Self::CanvasPatch | Self::StartSession => true,
            // A repeated request has the same key, so it is the same request. A repeated rating replaces itself.
            Self::EntityRead
            | Self::CanvasRead
            | Self::CanvasWait
            | Self::AskPerson
            | Self::RequestFeedback
            | Self::Note
            | Self::RateMemories => false,
        }
    }
}

/// The tools of one agent.
pub struct Toolbox {
    tools: Vec<(Tool, Validator)>,
    confirmed: Vec<Named>,
    of_workspace: Vec<String>,
    http: Option<Http>,
    actions: Vec<String>,
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.tools.iter().map(|(tool, _)| tool.name());
        f.debug_list().entries(own.chain(self.of_workspace.iter().map(String::as_str))).finish()
    }
}

impl Toolbox {
    /// The tools of an agent. Calls of those in `confirmed` wait for a person's approval. `http` limits
    /// [`Tool::HttpRequest`], `actions` [`Tool::StartSession`].
    ///
    /// # Errors
    /// If a tool's own schema does not compile, which is a bug.
    pub fn new(
        tools: &[Named],
        confirmed: Vec<Named>,
        http: Option<Http>,
        actions: Vec<String>,
    ) -> Result<Self, String> {
        let (mut own, mut of_workspace) = (Vec::new(), Vec::new());
        for tool in tools {
            match tool {
                Named::OfWorkspace(slug) => of_workspace.push(slug.clone()),
                Named::Own(tool) => match jsonschema::validator_for(&tool.schema(&actions)) {
                    Ok(validator) => own.push((*tool, validator)),
                    Err(error) => return Err(format!("the schema of {} cannot be used: {error}", tool.name())),
                },
            }
        }
        Ok(Self { tools: own, confirmed, of_workspace, http, actions })
    }

    /// Whether the agent may rate memories.
    pub fn rates_memories(&self) -> bool {
        self.tools.iter().any(|(tool, _)| *tool == Tool::RateMemories)
    }

    /// Slugs of the tools of the workspace that the agent may call.
    pub fn of_workspace(&self) -> &[String] {
        &self.of_workspace
    }

    /// The tools of the workspace by their names alone, for a request in which no tool is to be called.
    pub fn offers_by_name(&self) -> Vec<Offered> {
        self.of_workspace.iter().map(|slug| Offered::by_name(slug)).collect()
    }

    /// The declarations of the tools for a model. `offers` are those of the workspace.
    pub fn declared(&self, is_thread: bool, offers: &[Offered]) -> Vec<Offered> {
        self.all_offers(is_thread, offers).collect()
    }

    /// The same tools as function schemas, in the form that training data has.
    pub fn schemas(&self, is_thread: bool, offers: &[Offered]) -> Vec<Value> {
        let schema = |offer: Offered| {
            let function = json!({ "name": offer.slug, "description": offer.description, "parameters": offer.schema });
            json!({ "type": "function", "function": function })
        };
        self.all_offers(is_thread, offers).map(schema).collect()
    }

    /// The tools that are offered, those of the workspace last. A conversation cannot start sessions of actions: it
    /// waits only for its person.
    fn all_offers(&self, is_thread: bool, offers: &[Offered]) -> impl Iterator<Item = Offered> {
        let own = self.tools.iter().map(|(tool, _)| *tool);
        let own = own.filter(move |tool| !is_thread || *tool != Tool::StartSession).map(move |tool| Offered {
            slug: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema(&self.actions),
        });
        own.chain(offers.iter().cloned())
    }

    /// Finds the tool of a call and validates its input. The server validates the input of a tool of the workspace.
    ///
    /// # Errors
    /// The error for the model: an unknown tool, an input that does not match the schema, or a question that the server
    /// would refuse.
    pub fn check(&self, call: &Call) -> Result<Callee, Value> {
        let own = self.tools.iter().find(|(tool, _)| tool.name() == call.name);
        if own.is_none() && !self.of_workspace.contains(&call.name) {
            let known = self.tools.iter().map(|(tool, _)| tool.name());
            let known: Vec<_> = known.chain(self.of_workspace.iter().map(String::as_str)).collect();
            return Err(json!(format!("there is no tool {:?}; there are: {}", call.name, known.join(", "))));
        }
        if !call.input.is_object() {
            return Err(json!("the input is not a JSON object"));
        }
        let Some((tool, validator)) = own else { return Ok(Callee::OfWorkspace) };
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
        if wrong.is_empty() {
            Ok(Callee::Own(*tool))
        } else {
            Err(json!(format!("the input does not fit: {}", wrong.join("; "))))
        }
    }

    /// Whether a call waits for a person's approval in the agent's session. A tool of the workspace that requires
    /// confirmation asks for it in the session of its run.
    pub fn needs_confirmation(&self, call: &Call) -> bool {
        self.confirmed.iter().any(|tool| tool.name() == call.name)
    }

    /// Runs a tool with validated input.
    ///
    /// # Errors
    /// A [`Failure`] if the session cannot continue, for example because the API cannot be reached. An error of the
    /// call itself is its answer.
    pub async fn run_own(&self, tool: Tool, input: &Value, context: &JobContext) -> Result<Answer, Failure> {
        match tool {
            Tool::HttpRequest => Ok(match &self.http {
                Some(http) => http_request::run(input, http).await,
                None => Err(json!("this agent may reach no host")),
            }),
            Tool::EntityRead => entity_read::run(input, context).await,
            Tool::EntityWrite => entity_write::run(input, context).await,
            Tool::CanvasRead => canvas_read::run(input, context).await,
            Tool::CanvasPatch => canvas_patch::run(input, context).await,
            Tool::CanvasWait => canvas_wait::run(input, context).await,
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
        let all = Tool::ALL.map(|(_, tool)| Named::Own(tool));
        let toolbox = Toolbox::new(&all, Vec::new(), None, vec!["look-up".into()]).unwrap();
        for (name, tool) in Tool::ALL {
            assert_eq!(tool.name(), name);
            let wrong = toolbox.check(&call(name, json!({ "surplus": 1 }))).unwrap_err();
            assert!(wrong.as_str().unwrap().contains("surplus"), "{name}: {wrong}");
        }
    }

    #[test]
    fn a_wrong_call_says_what_is_wrong_with_it() {
        let tools = [Named::Own(Tool::Note), Named::OfWorkspace("weather".into())];
        let toolbox = Toolbox::new(&tools, Vec::new(), None, Vec::new()).unwrap();
        let refusal = |call: Call| toolbox.check(&call).unwrap_err().to_string();
        assert!(refusal(call("entity_write", json!({}))).contains("there are: note, weather"));
        assert!(refusal(call("note", json!({ "text": 7 }))).contains("/text"));
        assert!(refusal(call("note", json!("{\"text\":"))).contains("not a JSON object"));
        assert!(refusal(call("weather", json!("Oslo"))).contains("not a JSON object"));
        assert_eq!(toolbox.check(&call("note", json!({ "text": "x" }))), Ok(Callee::Own(Tool::Note)));
        assert_eq!(toolbox.check(&call("weather", json!({ "city": 7 }))), Ok(Callee::OfWorkspace));
    }

    #[test]
    fn a_question_that_the_server_would_refuse_is_a_wrong_call() {
        let toolbox = Toolbox::new(&[Named::Own(Tool::AskPerson)], Vec::new(), None, Vec::new()).unwrap();
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
        assert_eq!(check(json!({ "message": "Which?", "schema": form })), Ok(Callee::Own(Tool::AskPerson)));
    }
}
