//! Maps the payload of a hook to the event and to the changes of the session.

use super::{
    event::{EventBuilder, HookEvent, digest, id_part, tool_name},
    payload::{InvalidPayload, Payload, string},
    prompt::{PromptOrigin, has_working_subagent, own_text, turn_of},
    source::Source,
    status::{ELICITATION, ResumeRule, TargetStatus, Wait, steps},
    text::{argument, one_line, sentence, shortened, title, tool},
    truncate::truncate_text,
};
use crate::{
    event::Known,
    limit::TITLE_CHARS_MAX,
    relevance::{self, Ratings, take_ratings},
    session::{Command, Status},
};
use serde_json::{Value, json, value::RawValue};

/// Longest text in the metadata that a session keeps about its agent, bytes.
const ABOUT_BYTES_MAX: usize = 4 * 1024;
/// Member of the metadata of a prompt that no person is known to have typed. It says where the prompt comes from.
const NOT_TYPED: &str = "notTyped";
/// Longest part of a title that is taken from the first prompt, characters.
const TITLE_PROMPT_CHARS_MAX: usize = 120;

/// A parsed hook: what is recorded, and what happens to the session.
#[derive(Debug, Clone)]
pub struct ParsedHook {
    /// The coding agent's own session id.
    pub session_id: String,
    /// Name of the hook, such as `PreToolUse`.
    pub event_name: String,
    /// Event that is recorded.
    pub event: HookEvent,
    /// For a person's prompt with the id of a turn: that id, and the event that is recorded instead if the turn has a
    /// prompt already.
    pub in_turn: Option<(String, HookEvent)>,
    /// External id of the event, made from the payload; `None` if the payload has no id. A hook that is sent
    /// twice has the same id both times.
    pub external_id: Option<String>,
    /// Status that the session should get; `None` keeps the present one.
    pub target: Option<TargetStatus>,
    /// Whether a session that waits for a person resumes, if the target status is running.
    pub resume_rule: ResumeRule,
    /// Whether an idle session resumes, if the target status is running.
    pub wakes: bool,
    /// Reason that is recorded with the change of status.
    pub reason: String,
    /// Whether the hook may create a session for an agent session that is not known yet.
    pub begins: bool,
    /// Whether the hook may continue an agent session whose session has ended.
    pub reopens: bool,
    /// Whether the agent accepts context in the response to this hook.
    pub takes_context: bool,
    /// Title of the session without a prompt: the last folder of the working directory.
    pub folder: String,
    /// Title of the session with the prompt, if this hook carries one.
    pub titled: Option<String>,
    /// Metadata that the session keeps about the agent, as the text of a JSON object.
    pub about: String,
    /// Ratings of memories, by the way they arrived: with the payload, with a call of the tool for ratings, or in the
    /// agent's message, from which they were removed.
    pub ratings: Vec<(relevance::Source, Ratings)>,
}

/// Member of a payload with the ratings of memories. Members inside of a tool's output, and of the input of other tools
/// than [`RATING_TOOLS`], are not read.
const RATINGS: &str = "memory_feedback";
/// Names that the hosts give the tool with which an agent rates memories: of a plugin, and of the MCP server
/// `shiftbook` in Claude Code and Codex, in Gemini CLI, and in OpenCode.
const RATING_TOOLS: [&str; 4] =
    ["rate_memories", "mcp__shiftbook__rate_memories", "mcp_shiftbook_rate_memories", "shiftbook_rate_memories"];

/// Reads the payload of a hook. Every event name is accepted; the payload of an unknown one is recorded as it
/// was sent.
///
/// # Errors
/// The errors of [`Payload::parse`].
pub fn read(source: Source, text: &str) -> Result<ParsedHook, InvalidPayload> {
    let payload = Payload::parse(text)?;
    let folder = folder(source, &payload);
    let mut reading = ParsedHook {
        event: EventBuilder::new(source, &payload).sentence(),
        in_turn: None,
        external_id: external_id(source, &payload, text),
        target: None,
        resume_rule: ResumeRule::Always,
        wakes: true,
        reason: format!("{}: {}", source.label(), sentence(&payload)),
        begins: true,
        reopens: false,
        takes_context: false,
        titled: None,
        about: about(source, &payload),
        ratings: payload.raw(RATINGS).and_then(ratings_in).into_iter().collect(),
        folder,
        session_id: payload.session_id.clone(),
        event_name: payload.event.clone(),
    };
    reading.interpret(source, &payload);
    Ok(reading)
}

impl ParsedHook {
    /// Returns the commands that this hook gives to a session with status `from`. `wait` is what a session that
    /// waits for a person waits for, if it is known.
    pub fn steps(&self, from: Status, wait: Option<&Wait>) -> &'static [Command] {
        let Some(target) = self.target else { return &[] };
        let still_resting = from == Status::Idle && target == TargetStatus::Running && !self.wakes;
        let still_waiting = from == Status::WaitingHuman
            && target == TargetStatus::Running
            && wait.is_some_and(|wait| !self.resume_rule.ends(wait));
        if still_resting || still_waiting { &[] } else { steps(from, target) }
    }

    /// Sets what a known hook changes beyond the defaults.
    fn interpret(&mut self, source: Source, payload: &Payload<'_>) {
        let event = || EventBuilder::new(source, payload);
        match source.common_name(&payload.event) {
            "SessionStart" => {
                self.takes_context = true;
                // Compaction sends `SessionStart` in the middle of a turn.
                if payload.text("source").as_deref() != Some("compact") {
                    self.reopens = true;
                    self.target = Some(TargetStatus::Idle);
                }
            }
            "UserPromptSubmit" => self.prompt(source, payload),
            "PreToolUse" => {
                self.event = event().call();
                self.reason = format!("{} calls {}", source.label(), tool_name(payload));
                self.reopens = true;
                self.resume_rule = ResumeRule::Agent(payload.text("agent_id"));
                // A subagent may continue in the background while the agent itself is idle.
                self.wakes = payload.raw("agent_id").is_none();
                self.target = Some(TargetStatus::Running);
            }
            "PostToolUse" | "PostToolUseFailure" => {
                self.event = event().answer();
                self.ratings.extend(rated_by_tool(payload));
                self.reason = format!("{} went on", source.label());
                self.resume_rule = ResumeRule::Call(call_digest(payload));
                self.wakes = false;
                // No other hook reports that a person stopped the turn.
                let interrupted = payload.raw("is_interrupt").is_some_and(|raw| raw.get() == "true");
                self.target = Some(if interrupted { TargetStatus::Idle } else { TargetStatus::Running });
            }
            "PermissionRequest" => {
                self.event = event().with(json!({ "waitsFor": call_digest(payload) })).sentence();
                self.reason = format!("permission needed for {}", tool(payload));
                self.reopens = true;
                self.target = Some(TargetStatus::WaitingHuman);
            }
            "Elicitation" => {
                self.event = event().with(json!({ "waitsFor": ELICITATION })).sentence();
                self.target = Some(TargetStatus::WaitingHuman);
            }
            "PermissionDenied" => {
                self.resume_rule = ResumeRule::Agent(payload.text("agent_id"));
                self.target = Some(TargetStatus::Running);
            }
            "ElicitationResult" => {
                self.resume_rule = ResumeRule::Call(ELICITATION.to_owned());
                self.target = Some(TargetStatus::Running);
            }
            // A subagent whose call was denied may end without another call.
            "SubagentStop" => {
                if let Some(agent_id) = payload.text("agent_id") {
                    self.resume_rule = ResumeRule::Agent(Some(agent_id));
                    self.wakes = false;
                    self.target = Some(TargetStatus::Running);
                }
            }
            "Notification" => self.target = notified(payload),
            "Stop" => {
                let field = source.reply_field();
                if let Some(said) = payload.text(field) {
                    let said = self.without_ratings(said);
                    self.event = event().without(&[field]).text(Known::AgentMessage, &said);
                }
                self.reason = format!("{} rests", source.label());
                // The turn ends with the next stop, after its subagent has reported.
                self.target = if has_working_subagent(payload) { None } else { Some(TargetStatus::Idle) };
            }
            "StopFailure" => {
                self.event = event().failed();
                self.reason = format!("{} stopped with an error", source.label());
                self.target = Some(TargetStatus::Idle);
            }
            "Interrupt" => self.target = Some(TargetStatus::Idle),
            "SessionEnd" => {
                self.begins = false;
                self.reason = match payload.text("reason") {
                    Some(reason) => format!("ended by {}: {}", source.label(), one_line(&reason)),
                    None => format!("ended by {}", source.label()),
                };
                self.target = Some(TargetStatus::Completed);
            }
            _ => {}
        }
    }

    /// Takes the ratings out of an agent's message.
    fn without_ratings(&mut self, said: String) -> String {
        let Some((shown, ratings)) = take_ratings(&said) else { return said };
        self.ratings.push((relevance::Source::Answer, ratings));
        shown
    }

    fn prompt(&mut self, source: Source, payload: &Payload<'_>) {
        let prompt = payload.text("prompt").unwrap_or_default();
        let prompt = if source == Source::Gemini { own_text(prompt) } else { prompt };
        self.reopens = true;
        self.target = Some(TargetStatus::Running);
        let not_typed = |origin| not_typed(source, payload, &prompt, origin);
        if let Some(origin) = PromptOrigin::of_text(source, &prompt) {
            self.event = not_typed(origin);
            self.reason = format!("{} goes on by itself", source.label());
            return;
        }
        self.event = EventBuilder::new(source, payload).without(&["prompt"]).text(Known::UserMessage, &prompt);
        self.in_turn = turn_of(payload).map(|turn| (turn, not_typed(PromptOrigin::Steered)));
        self.reason = "prompt submitted".into();
        self.takes_context = true;
        let line = title(&prompt, TITLE_PROMPT_CHARS_MAX);
        if !line.is_empty() {
            self.titled = Some(shortened(&format!("{}: {line}", self.folder), TITLE_CHARS_MAX));
        }
    }
}

/// Reads the ratings of a payload: an object, or a text that contains one.
fn ratings_in(raw: &RawValue) -> Option<(relevance::Source, Ratings)> {
    let ratings = match string(raw) {
        Some(text) => Ratings::read(&text),
        None => Ratings::read(raw.get()),
    };
    Some((relevance::Source::Hook, ratings?))
}

/// Reads the ratings of a call of the tool for ratings that succeeded. The tool itself does nothing: its result is the
/// only hook that comes after the host's own rules have let the call pass.
fn rated_by_tool(payload: &Payload<'_>) -> Option<(relevance::Source, Ratings)> {
    let is_rating = RATING_TOOLS.contains(&payload.text("tool_name")?.as_str());
    if !is_rating || payload.event == "PostToolUseFailure" {
        return None;
    }
    Some((relevance::Source::Tool, Ratings::read(payload.raw("tool_input")?.get())?))
}

/// Returns the event of a prompt that no person is known to have typed.
fn not_typed(source: Source, payload: &Payload<'_>, prompt: &str, origin: PromptOrigin) -> HookEvent {
    let event = EventBuilder::new(source, payload).without(&["prompt"]).with(json!({ NOT_TYPED: origin.as_str() }));
    event.text(Known::ExternalEvent, prompt)
}

/// Returns the status that a notification asks for: waiting for a person if it asks for a decision, idle if it
/// says that the agent is idle.
fn notified(payload: &Payload<'_>) -> Option<TargetStatus> {
    match payload.text("notification_type").as_deref() {
        Some("permission_prompt" | "elicitation_dialog") => Some(TargetStatus::WaitingHuman),
        Some("idle_prompt") => Some(TargetStatus::Idle),
        Some(_) => None,
        // Older agents send notifications without a type.
        None => {
            let message = payload.text("message").unwrap_or_default().to_lowercase();
            if message.contains("permission") || message.contains("approval") {
                Some(TargetStatus::WaitingHuman)
            } else if message.contains("waiting for your input") {
                Some(TargetStatus::Idle)
            } else {
                None
            }
        }
    }
}

/// Returns the metadata that the session keeps about the agent.
fn about(source: Source, payload: &Payload<'_>) -> String {
    let mut about = json!({ "source": source.as_str(), "hookSessionId": payload.session_id });
    for (name, field) in [
        ("cwd", "cwd"),
        ("transcriptPath", "transcript_path"),
        ("model", "model"),
        ("permissionMode", "permission_mode"),
        ("agentType", "agent_type"),
    ] {
        if let Some(text) = payload.text(field) {
            about[name] = Value::from(truncate_text(&text, ABOUT_BYTES_MAX).0);
        }
    }
    about.to_string()
}

/// Returns the last folder of the working directory, or the agent's name without one.
fn folder(source: Source, payload: &Payload<'_>) -> String {
    let cwd = payload.text("cwd").unwrap_or_default();
    let last = cwd.rsplit(['/', '\\']).find(|part| !part.trim().is_empty()).unwrap_or_default();
    let folder = title(last, TITLE_CHARS_MAX / 2);
    if folder.is_empty() { source.label().to_owned() } else { folder }
}

/// Returns a digest that identifies a call by its tool and main argument. Permission requests carry no call id,
/// and their other fields may differ from those of the call.
fn call_digest(payload: &Payload<'_>) -> String {
    let input = payload.raw("tool_input");
    let argument = input.and_then(argument).unwrap_or_else(|| input.map_or("null", RawValue::get).to_owned());
    digest(&format!("{}\n{argument}", payload.text("tool_name").unwrap_or_default()))
}

/// Returns the external id of this hook, if the payload has an id: that of the tool call, or that of the
/// prompt's turn. A payload of Gemini CLI has neither, but the time to the millisecond, so its text is its id.
fn external_id(source: Source, payload: &Payload<'_>, text: &str) -> Option<String> {
    if source == Source::Gemini {
        return payload.text("timestamp").map(|_| format!("{}:{}", payload.event, digest(text)));
    }
    match payload.event.as_str() {
        "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PermissionDenied" => {
            payload.text("tool_use_id").map(|id| format!("{}:{}", payload.event, id_part(id)))
        }
        "UserPromptSubmit" => {
            let turn = turn_of(payload)?;
            Some(format!("{}:{}:{}", payload.event, id_part(turn), digest(text)))
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
