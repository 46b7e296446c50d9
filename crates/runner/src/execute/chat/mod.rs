//! A chat model with tools, asked until it has a result.
//!
//! Every answer and every tool's output is in the log before the next step is taken. The talk is rebuilt from the log
//! whenever a worker takes the session up ([`conversation`]), so a pause for a person and the death of a worker are the
//! same: somebody goes on.

mod budget;
mod closing;
mod conversation;
mod model;

use budget::Spent;
pub use budget::{Budget, Prices};
pub use conversation::Call;
pub use model::{Model, Pause, Secret, Wire, real_pause};

use super::{
    adapter::{Adapter, Closing, Decision, Failure, Hand, Job, Outcome, Park, Resume, out_of_time},
    desk::Desk,
    event::{Notes, OUTPUT_REFUSED, event, note, texts},
    limit::CHILDREN_STARTED_MAX,
    log::Log,
    part,
    prompt::{self, Prompt},
    tool::{self, Tool, Toolbox},
    voice::Voice,
};
use conversation::{BEGUN, Conversation, DENIALS, GATE, STEP, Turn};
use domain::{count::counted, gate::PausedToolCall};
use model::{Question, Reply};
use serde_json::{Value, json, value::to_raw_value};
use std::{
    future::Future,
    pin::Pin,
    sync::{Mutex, PoisonError},
};
use tokio::select;
use wire::{FieldProblem, event::NewEvent, worker::YieldStatus};

/// A chat model with its tools and its budget.
#[derive(Debug)]
pub struct ChatAdapter {
    /// The model.
    pub model: Model,
    /// What it is told before every task.
    pub instructions: Option<String>,
    /// What it can do.
    pub tools: Toolbox,
    /// What it may spend.
    pub budget: Budget,
    /// What it costs.
    pub prices: Option<Prices>,
}

impl Adapter for ChatAdapter {
    fn run<'a>(&'a self, job: &'a Job, hand: &'a Hand) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(async move {
            let talk = Talk { chat: self, job, hand, spent: Mutex::default() };
            let outcome = select! {
                biased;
                () = hand.told_to_end() => Outcome::Stopped,
                seconds = out_of_time(self.budget.seconds) => {
                    let why = format!("the budget of {seconds} seconds is spent, and the task is not done");
                    Outcome::Failed(Failure::new("budget_seconds", why))
                }
                ended = talk.lead() => ended.unwrap_or_else(Stop::outcome),
            };
            match outcome {
                Outcome::Done { result, .. } => Outcome::Done { result, usage: talk.usage() },
                Outcome::Failed(failure) => Outcome::Failed(failure.having_cost(talk.usage().as_ref())),
                Outcome::Parked(park) => Outcome::Parked(Park { usage: talk.usage(), ..park }),
                Outcome::Stopped => Outcome::Stopped,
            }
        })
    }

    fn close<'a>(
        &'a self,
        desk: &'a dyn Desk,
        session_id: &'a str,
    ) -> Option<Pin<Box<dyn Future<Output = Closing> + Send + 'a>>> {
        Some(Box::pin(closing::close(self, Log::Of(desk, session_id))))
    }
}

impl ChatAdapter {
    /// What a session has cost, as its row keeps it.
    fn usage(&self, spent: &Spent) -> Option<wire::Json> {
        let mut usage = json!({
            "inputTokens": spent.input_tokens,
            "cachedInputTokens": spent.cached_tokens,
            "outputTokens": spent.output_tokens,
            "steps": spent.steps,
            "model": self.model.name(),
        });
        if let Some(prices) = &self.prices {
            usage["costUsd"] = spent.cost(prices).into();
        }
        to_raw_value(&usage).ok()
    }
}

/// Why a talk ends before it has a result.
enum Stop {
    Failed(Failure),
    /// The log takes nothing more, because the lease is lost.
    Closed,
}

impl Stop {
    fn outcome(self) -> Outcome {
        match self {
            Self::Failed(failure) => Outcome::Failed(failure),
            Self::Closed => Outcome::Stopped,
        }
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// One claim's part of a talk.
struct Talk<'a> {
    chat: &'a ChatAdapter,
    job: &'a Job,
    hand: &'a Hand,
    /// What the session has cost so far, however the talk ends; `None` before anything was asked.
    spent: Mutex<Option<Spent>>,
}

impl Talk<'_> {
    async fn lead(&self) -> Result<Outcome, Stop> {
        let prompt = Prompt::of(self.job, self.hand, self.chat.instructions.as_deref()).await?;
        let mut talk = Conversation::read(Log::at(self.hand), self.job.is_thread()).await?;
        self.count(&talk);
        self.tell_of_denials(&mut talk).await?;
        let opening = [Some(prompt.task.clone()), prompt.activity.clone()];
        let opening = opening.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
        let mut misshapen = false;
        loop {
            if let Some(parked) = self.work_off_calls(&mut talk).await? {
                return Ok(Outcome::Parked(parked));
            }
            if let Some(text) = talk.final_text() {
                match result(text, prompt.wants_json) {
                    Ok(result) => return Ok(Outcome::Done { result: Some(result), usage: None }),
                    Err(why) if misshapen => return Err(Failure::new("output_invalid", why.message).into()),
                    Err(why) => {
                        misshapen = true;
                        let text = prompt::refusal(&[why]).unwrap_or_default();
                        self.tell(&mut talk, text, OUTPUT_REFUSED, true.into()).await?;
                    }
                }
            }
            let spent = if self.job.is_thread() { talk.spent_in_turn() } else { talk.spent };
            self.chat.budget.check(&spent, self.chat.prices.as_ref())?;
            let messages = if self.job.is_thread() {
                talk.thread_messages(prompt.activity.as_deref())
            } else {
                talk.messages(&opening)
            };
            let tools = self.chat.tools.declared(self.job.is_thread());
            let question = Question { system: prompt.system.clone(), messages, tools };
            let reply = self.ask(&question).await?;
            self.record(&mut talk, reply).await?;
        }
    }

    /// One answer of the model; the log hears of every try that failed.
    async fn ask(&self, question: &Question) -> Result<Reply, Stop> {
        let lease = &self.hand.lease;
        let told = async |why: String| {
            // A closed queue means a lost lease, which ends the talk by itself.
            let _ = self.hand.record(texts("external.event", &why, &note("retry", true))).await;
        };
        // Somebody waits for each word of a conversation; a task's answer is read when it is there.
        let speak = || self.job.is_thread().then(|| Voice::begin(lease.clone()));
        Ok(self.chat.model.ask(question, lease.seed(), told, speak).await?)
    }

    /// Puts an answer of the model into the log and the talk; what it cost is noted on its last event.
    async fn record(&self, talk: &mut Conversation, reply: Reply) -> Result<(), Stop> {
        let mut events = part::said("agent.thinking", &reply.thinking, &Notes::new());
        let says_something = !reply.text.trim().is_empty();
        if says_something {
            events.extend(part::said("agent.message", &reply.text, &Notes::new()));
        }
        let mut turns: Vec<_> = says_something.then(|| Turn::Said(reply.text.clone())).into_iter().collect();
        let mut named = talk.clone();
        for (wanted, name, input) in &reply.calls {
            let call = Call { id: named.unique_id(wanted), name: name.clone(), input: input.clone() };
            events.push(part::call(&call.id, name, input, &Notes::new()));
            named.say(Turn::Call(call.clone()));
            turns.push(Turn::Call(call));
        }
        if turns.is_empty() {
            events.extend(texts("external.event", "The model answered nothing.", &Notes::new()));
        }
        talk.spent.add(reply.input_tokens, reply.cached_tokens, reply.output_tokens);
        self.count(talk);
        if let Some(last) = events.last_mut() {
            self.note_cost(last, &reply, talk);
        }
        turns.into_iter().for_each(|turn| talk.say(turn));
        self.write(events).await?;
        if reply.is_cut {
            return Err(Failure::new("model_truncated", "the model's answer was cut off at its longest length").into());
        }
        if !says_something && reply.calls.is_empty() {
            return Err(Failure::new("model_silent", "the model answered nothing").into());
        }
        Ok(())
    }

    fn note_cost(&self, event: &mut NewEvent, reply: &Reply, talk: &Conversation) {
        let mut step = json!({
            "number": talk.spent.steps,
            "model": self.chat.model.name(),
            "inputTokens": reply.input_tokens,
            "cachedInputTokens": reply.cached_tokens,
            "outputTokens": reply.output_tokens,
        });
        if let Some(prices) = &self.chat.prices {
            step["totalCostUsd"] = talk.spent.cost(prices).into();
        }
        let known = event.metadata.as_ref().and_then(|json| serde_json::from_str::<Notes>(json.get()).ok());
        let mut notes = known.unwrap_or_default();
        notes.insert(STEP.into(), step);
        event.metadata = to_raw_value(&notes).ok();
    }

    /// Runs the calls that have no answer yet. What has to wait for a person is where the session is parked.
    async fn work_off_calls(&self, talk: &mut Conversation) -> Result<Option<Park>, Stop> {
        let open = talk.open_calls();
        let mut decided = self.decided(talk, &open);
        let mut waiting = None;
        for call in open {
            let tool = match self.chat.tools.check(&call) {
                Ok(tool) => tool,
                Err(why) => {
                    self.answer(talk, &call, &Err(why), None).await?;
                    continue;
                }
            };
            if let Some((_, resume)) = decided.take_if(|(id, _)| *id == call.id) {
                talk.decide(&resume.gate_id);
                self.follow(talk, tool, call, resume).await?;
            } else if tool == Tool::StartSession && talk.was_begun(&call.id) {
                self.start(talk, call, None).await?;
            } else if tool == Tool::AskPerson || self.chat.tools.needs_confirmation(tool) {
                waiting.get_or_insert_with(|| park(tool, &call));
            } else {
                self.run(talk, tool, &call, None).await?;
            }
        }
        if waiting.is_none() {
            let children = talk.open_calls().len();
            waiting = (children > 0).then(|| park_for_children(children));
        }
        Ok(waiting)
    }

    /// The call that a person decided about, if the decision is still to be followed. A question's answer does not name
    /// its call; one question is asked at a time.
    fn decided(&self, talk: &Conversation, open: &[Call]) -> Option<(String, &Resume)> {
        let resume = self.job.resume.as_ref().filter(|resume| !talk.was_decided(&resume.gate_id))?;
        let asked = || open.iter().find(|call| call.name == Tool::AskPerson.name()).map(|call| call.id.clone());
        Some((resume.tool_call_id.clone().or_else(asked)?, resume))
    }

    async fn follow(&self, talk: &mut Conversation, tool: Tool, call: Call, resume: &Resume) -> Result<(), Stop> {
        let gate = Some(resume.gate_id.as_str());
        match &resume.decision {
            Decision::Answer(answer) => self.answer(talk, &call, &Ok(answer.clone()), gate).await,
            Decision::Deny => {
                let note = resume.note.as_deref().unwrap_or("no reason was given");
                let why = json!(format!("a person refused this call: {note}"));
                self.answer(talk, &call, &Err(why), gate).await
            }
            Decision::Approve(input) => {
                let input = input.clone().unwrap_or_else(|| call.input.clone());
                self.run(talk, tool, &Call { input, ..call }, gate).await
            }
        }
    }

    /// Runs one call, once: where its beginning is recorded and its answer is not, what came of it is unknown.
    async fn run(&self, talk: &mut Conversation, tool: Tool, call: &Call, gate: Option<&str>) -> Result<(), Stop> {
        if tool == Tool::StartSession {
            return self.start(talk, call.clone(), gate).await;
        }
        if talk.was_begun(&call.id) {
            let why = "this call was started before and its result was lost; check whether it took effect";
            return self.answer(talk, call, &Err(json!(why)), gate).await;
        }
        // A person may have changed the input.
        if let Err(why) = self.chat.tools.check(call) {
            return self.answer(talk, call, &Err(why), gate).await;
        }
        if tool.has_effects(&call.input) {
            self.mark_begun(call, &Notes::new()).await?;
        }
        let answer = self.chat.tools.run(tool, &call.input, self.hand).await?;
        self.answer(talk, call, &answer, gate).await
    }

    async fn mark_begun(&self, call: &Call, notes: &Notes) -> Result<(), Stop> {
        let part = json!([{ "type": "tool-call", "toolCallId": call.id, "toolName": call.name, "input": call.input }]);
        self.write(vec![event(BEGUN, &part, notes)]).await
    }

    /// Starts a child, or looks what has become of it. Its call stays open until the child has ended.
    async fn start(&self, talk: &mut Conversation, mut call: Call, gate: Option<&str>) -> Result<(), Stop> {
        if let Some(input) = talk.begun_with(&call.id) {
            call.input = input.clone();
        } else if self.job.is_thread() {
            let why = json!("a conversation starts no sessions: its person would wait without a word");
            return self.answer(talk, &call, &Err(why), gate).await;
        } else {
            // A person may have changed the input.
            if let Err(why) = self.chat.tools.check(&call) {
                return self.answer(talk, &call, &Err(why), gate).await;
            }
            if talk.begun_of(Tool::StartSession.name()) >= CHILDREN_STARTED_MAX {
                let why = format!("this session has started {CHILDREN_STARTED_MAX} others, which is the most it may");
                return self.answer(talk, &call, &Err(json!(why)), gate).await;
            }
            self.mark_begun(&call, &gate.map(|gate| note(GATE, gate)).unwrap_or_default()).await?;
            talk.begin(&call.id, call.input.clone());
        }
        let own = self.job.session.agent_slug.as_deref();
        let answer = match tool::start(&call, own, self.hand).await? {
            Ok(child) if !child.status.is_final() => return Ok(()),
            Ok(child) => tool::outcome(&child),
            Err(why) => Err(why),
        };
        self.answer(talk, &call, &answer, None).await
    }

    async fn answer(
        &self,
        talk: &mut Conversation,
        call: &Call,
        answer: &tool::Answer,
        gate: Option<&str>,
    ) -> Result<(), Stop> {
        let (output, failed) = match answer {
            Ok(output) => (output, false),
            Err(why) => (why, true),
        };
        let notes = gate.map(|gate| note(GATE, gate)).unwrap_or_default();
        talk.answer(&call.id, output);
        self.write(vec![part::answer(&call.id, &call.name, output, failed, &notes)]).await
    }

    /// What reviewers said since the agent last heard of it.
    async fn tell_of_denials(&self, talk: &mut Conversation) -> Result<(), Stop> {
        let fresh = self.job.denials.get(talk.denials_told..).unwrap_or_default();
        let Some(text) = prompt::denials(fresh) else { return Ok(()) };
        talk.denials_told = self.job.denials.len();
        self.tell(talk, text, DENIALS, talk.denials_told.into()).await
    }

    /// Tells the agent something that whoever goes on from the log has to know too.
    async fn tell(&self, talk: &mut Conversation, text: String, mark: &str, value: Value) -> Result<(), Stop> {
        let events = texts("external.event", &text, &note(mark, value));
        talk.tell(text);
        self.write(events).await
    }

    /// Puts events into the log, and waits until they are there.
    async fn write(&self, events: Vec<NewEvent>) -> Result<(), Stop> {
        self.hand.record(events).await.map_err(|_| Stop::Closed)?;
        self.hand.queue.flush().await.map_err(|_| Stop::Closed)
    }

    fn count(&self, talk: &Conversation) {
        let spent = Some(talk.spent).filter(|spent| spent.steps > 0);
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) = spent;
    }

    fn usage(&self) -> Option<wire::Json> {
        let spent = (*self.spent.lock().unwrap_or_else(PoisonError::into_inner))?;
        self.chat.usage(&spent)
    }
}

fn park(tool: Tool, call: &Call) -> Park {
    if tool == Tool::AskPerson {
        let question = tool::question(&call.input);
        return Park {
            status: YieldStatus::WaitingHuman,
            detail: question.message.clone(),
            paused: None,
            question: Some(question),
            for_children: false,
            usage: None,
        };
    }
    let tool_input = call.input.as_object().cloned().unwrap_or_default();
    let paused = PausedToolCall { tool_call_id: call.id.clone(), tool_name: call.name.clone(), tool_input };
    let detail = format!("{} is waiting for approval", call.name);
    Park {
        status: YieldStatus::AwaitingTool,
        detail,
        paused: Some(paused),
        question: None,
        for_children: false,
        usage: None,
    }
}

/// Until the sessions that these calls started have ended.
fn park_for_children(count: usize) -> Park {
    let detail = format!("waiting for {} that it started", counted(count as u64, "session"));
    Park { status: YieldStatus::Idle, detail, paused: None, question: None, for_children: true, usage: None }
}

/// The result in a final text: the text itself, or the JSON that it is.
fn result(text: &str, wants_json: bool) -> Result<wire::Json, FieldProblem> {
    let wrong = |message: String| FieldProblem { field: "result".into(), message };
    if !wants_json {
        return to_raw_value(text).map_err(|error| wrong(error.to_string()));
    }
    let bare = text.trim();
    // Models like to fence what they were asked to give bare.
    let fenced = bare.strip_prefix("```json").or_else(|| bare.strip_prefix("```"));
    let bare = fenced.and_then(|rest| rest.strip_suffix("```")).unwrap_or(bare);
    let value: Value = serde_json::from_str(bare.trim()).map_err(|error| wrong(format!("not JSON: {error}")))?;
    to_raw_value(&value).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests;
