//! Runs an agent that is a chat model with tools: asks the model and runs its tool calls until it has a result.
//!
//! Every reply and every tool result is recorded before the next step. A worker that takes the session rebuilds the
//! conversation from the log ([`conversation`]), so a pause for a person and the death of a worker are handled the same
//! way.

mod asking;
mod budget;
mod child;
mod conversation;
mod declined;
mod frame;
mod message;
mod model;
mod protocol;
mod reply;
mod request;
mod summary;
mod waiting;

pub use super::call::Call;
pub use super::tokens::Tokens;
pub use budget::{Budget, Prices, Spent};
use domain::id::{GateId, SessionId};
pub use message::{CallResult, Message, ModelRequest, Part};
pub use model::{Model, ModelAddress, Pause, Secret, tokio_pause};
pub use protocol::Wire;
pub use reply::ModelReply;

use super::{
    adapter::{
        Adapter, ConversationSummary, Decision, Failure, Job, JobContext, Outcome, Resume, YieldOutcome, timed_out,
    },
    agent_event,
    delta::DeltaSender,
    event::{add_context, add_step, texts},
    log::LogSource,
    notes::Notes,
    prompt::{self, Prompt},
    tokens::Step,
    tool::{self, Callee, Offered, Tool, Toolbox},
    worker_api::WorkerApi,
};
use conversation::{Conversation, Entry};
use declined::declined_events;
use domain::{count::counted, event::Known, message::ModelContext, relevance::TOOL_REQUEST};
use serde_json::{Value, json, value::to_raw_value};
use std::{
    future::Future,
    pin::Pin,
    sync::{Mutex, OnceLock, PoisonError},
};
use tokio::select;
use waiting::{Waiting, yield_for, yield_for_children};
use wire::{FieldProblem, event::NewEvent};

/// An agent that is a chat model with tools and a budget.
#[derive(Debug)]
pub struct ChatAdapter {
    /// Connection to the model.
    pub model: Model,
    /// System prompt of every session, before the task's own instructions.
    pub instructions: Option<String>,
    /// The tools that the model may call.
    pub tools: Toolbox,
    /// What one session may spend.
    pub budget: Budget,
    /// Prices of the model; without them no cost is reported.
    pub prices: Option<Prices>,
}

impl Adapter for ChatAdapter {
    fn run<'a>(&'a self, job: &'a Job, context: &'a JobContext) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(async move {
            let chat_run = ChatRun { chat: self, job, context, spent: Mutex::default(), offers: OnceLock::new() };
            let outcome = select! {
                biased;
                () = context.stop_requested() => Outcome::Stopped,
                seconds = timed_out(job.started, self.budget.seconds) => {
                    let allowed = counted(seconds, "second");
                    let why = format!("the budget of {allowed} is spent, and the task is not done");
                    Outcome::Failed(Failure::new("budget_seconds", why))
                }
                ended = chat_run.run() => ended.unwrap_or_else(Stop::outcome),
            };
            match outcome {
                Outcome::Done { result, .. } => Outcome::Done { result, usage: chat_run.usage() },
                Outcome::Failed(failure) => Outcome::Failed(failure.with_usage(chat_run.usage().as_ref())),
                Outcome::Yielded(yielded) => {
                    Outcome::Yielded(Box::new(YieldOutcome { usage: chat_run.usage(), ..*yielded }))
                }
                ended @ (Outcome::Parked | Outcome::Stopped) => ended,
            }
        })
    }

    fn summarize<'a>(
        &'a self,
        api: &'a dyn WorkerApi,
        session_id: SessionId,
    ) -> Option<Pin<Box<dyn Future<Output = ConversationSummary> + Send + 'a>>> {
        Some(Box::pin(summary::summarize(self, LogSource::Direct(api, session_id))))
    }
}

impl ChatAdapter {
    /// The usage of a session, in the form that its row keeps. Tokens and cost that are not known are left out.
    fn usage(&self, spent: &Spent) -> Option<wire::Json> {
        to_raw_value(&spent.usage(self.model.name(), self.prices.as_ref())).ok()
    }
}

/// Why a run ends without a result.
enum Stop {
    Failed(Failure),
    /// No event can be recorded, because the lease is lost.
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

/// The work on one claim of a session.
struct ChatRun<'a> {
    chat: &'a ChatAdapter,
    job: &'a Job,
    context: &'a JobContext,
    /// What the session has spent in all attempts; `None` before the model was asked.
    spent: Mutex<Option<Spent>>,
    /// Published tools with the slugs of the settings; not set before they are read.
    offers: OnceLock<Vec<Offered>>,
}

impl ChatRun<'_> {
    async fn run(&self) -> Result<Outcome, Stop> {
        self.read_offers().await?;
        let mut prompt = Prompt::of(self.job, self.context, self.chat.instructions.as_deref()).await?;
        if self.job.rate_memories && self.chat.tools.rates_memories() {
            prompt.activity = prompt.activity.map(|activity| format!("{activity}\n\n{TOOL_REQUEST}"));
        }
        let (log, decision) = (LogSource::of_job(self.context), self.job.resume.as_ref());
        let mut conversation = Conversation::read(log, self.job.is_thread(), decision).await?;
        self.save_spent(&conversation);
        if self.chat.model.hides_usage() {
            self.chat.budget.held_without_usage()?;
        }
        self.report_denials(&mut conversation).await?;
        let opening = [Some(prompt.task.clone()), prompt.activity.clone()];
        let opening = opening.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
        let mut is_second_try = false;
        let mut model_context = Some(self.model_context(&prompt));
        loop {
            match self.run_open_calls(&mut conversation).await? {
                Waiting::No => {}
                Waiting::For(yielded) => return Ok(Outcome::Yielded(yielded)),
                Waiting::Parked => return Ok(Outcome::Parked),
            }
            self.take_answers(&mut conversation).await?;
            if let Some(text) = conversation.final_text() {
                match result(text, prompt.wants_json) {
                    Ok(result) => return Ok(Outcome::Done { result: Some(result), usage: None }),
                    Err(why) if is_second_try => return Err(Failure::new("output_invalid", why.message).into()),
                    Err(why) => {
                        is_second_try = true;
                        let text = prompt::refusal(&[why]).unwrap_or_default();
                        self.instruct(&mut conversation, text, Notes { output_refused: true, ..Notes::default() })
                            .await?;
                    }
                }
            }
            let spent = if self.job.is_thread() { conversation.spent_in_turn() } else { conversation.spent };
            self.chat.budget.check(&spent, self.chat.prices.as_ref())?;
            let messages = if self.job.is_thread() {
                conversation.thread_messages(prompt.activity.as_deref())
            } else {
                conversation.messages(&opening)
            };
            let tools = self.chat.tools.declared(self.job.is_thread(), self.offers());
            let question = ModelRequest { system: prompt.system.clone(), messages, tools, reply_schema: None };
            let reply = self.ask(&question).await?;
            self.record(&mut conversation, reply, &mut model_context).await?;
        }
    }

    async fn read_offers(&self) -> Result<(), Failure> {
        let offers = tool::offers(self.chat.tools.of_workspace(), self.context).await?;
        // One claim reads them once.
        self.offers.get_or_init(|| offers);
        Ok(())
    }

    fn offers(&self) -> &[Offered] {
        self.offers.get().map_or(&[], Vec::as_slice)
    }

    /// What the model gets beside the messages. It is the same in every step of a claim.
    fn model_context(&self, prompt: &Prompt) -> Value {
        let tools = self.chat.tools.schemas(self.job.is_thread(), self.offers());
        json!(ModelContext { system: Some(prompt.system.clone()), tools: Some(tools) })
    }

    /// Asks the model for one reply. Every failed request is recorded.
    async fn ask(&self, question: &ModelRequest) -> Result<ModelReply, Stop> {
        let lease = &self.context.lease;
        let on_retry = async |why: String| {
            // A closed queue means that the lease is lost, which ends the run.
            let _ = self
                .context
                .record(texts(Known::ExternalEvent.as_str(), &why, &Notes { retry: true, ..Notes::default() }))
                .await;
        };
        // Replies in a conversation are published while they are generated; a task's are not.
        let deltas = || self.job.is_thread().then(|| DeltaSender::start(lease.clone()));
        Ok(self.chat.model.ask(question, lease.seed(), on_retry, deltas).await?)
    }

    /// Records a reply of the model and adds it to the conversation. Its last event carries the cost and, once per
    /// claim, what the model was given.
    async fn record(
        &self,
        conversation: &mut Conversation,
        reply: ModelReply,
        model_context: &mut Option<Value>,
    ) -> Result<(), Stop> {
        let mut events = agent_event::text(Known::AgentThinking.as_str(), &reply.thinking, &Notes::default());
        let has_text = !reply.text.trim().is_empty();
        if has_text {
            events.extend(agent_event::text(Known::AgentMessage.as_str(), &reply.text, &Notes::default()));
        }
        let mut entries: Vec<_> = has_text.then(|| Entry::AgentText(reply.text.clone())).into_iter().collect();
        let mut named = conversation.clone();
        for (wanted, name, input) in &reply.calls {
            let call = Call { id: named.unique_id(wanted), name: name.clone(), input: input.clone() };
            events.push(agent_event::tool_call(&call.id, name, input, &Notes::default()));
            named.push(Entry::Call(call.clone()));
            entries.push(Entry::Call(call));
        }
        if let Some(declined) = &reply.declined {
            events.extend(declined_events(declined));
        } else if entries.is_empty() {
            events.extend(texts(Known::ExternalEvent.as_str(), "The model answered nothing.", &Notes::default()));
        }
        if reply.tokens.is_none()
            && let Err(failure) = self.chat.budget.held_without_usage()
        {
            events.extend(texts(
                Known::ExternalEvent.as_str(),
                &failure.message,
                &Notes { budget_unknown: true, ..Notes::default() },
            ));
        }
        conversation.spent.add(reply.tokens);
        self.save_spent(conversation);
        if let Some(last) = events.last_mut() {
            self.note_cost(last, &reply, conversation);
            add_context(last, model_context);
        }
        entries.into_iter().for_each(|entry| conversation.push(entry));
        self.write(events).await?;
        if let Some(failure) = reply.failure() {
            return Err(failure.into());
        }
        if !has_text && reply.calls.is_empty() {
            return Err(Failure::new("model_silent", "the model answered nothing").into());
        }
        Ok(())
    }

    fn note_cost(&self, event: &mut NewEvent, reply: &ModelReply, conversation: &Conversation) {
        let step = Step {
            number: Some(conversation.spent.steps),
            model: Some(self.chat.model.name().to_owned()),
            tokens: reply.tokens,
            total_cost_usd: self.chat.prices.and_then(|prices| conversation.spent.cost(&prices)),
        };
        add_step(event, &step);
    }

    /// Runs the calls without a result. Returns what the session has to wait for.
    async fn run_open_calls(&self, conversation: &mut Conversation) -> Result<Waiting, Stop> {
        loop {
            let (waiting, blocking) = self.run_each_open_call(conversation).await?;
            let Some(call) = blocking else {
                return Ok(waiting.map_or(Waiting::No, |waiting| Waiting::For(Box::new(waiting))));
            };
            if let Some(waiting) = self.ask_and_wait(conversation, &call).await? {
                return Ok(waiting);
            }
            // The request has its result. The model is not asked before the other calls have theirs.
        }
    }

    /// Runs the calls without a result, in order. Returns what the session has to wait for, and the first request for
    /// which it waits. People are asked by such a request before anything else is waited for.
    async fn run_each_open_call(
        &self,
        conversation: &mut Conversation,
    ) -> Result<(Option<YieldOutcome>, Option<Call>), Stop> {
        let open = conversation.open_calls();
        let mut decided = self.open_decision(conversation);
        let (mut waiting, mut blocking) = (None, None);
        for call in open {
            let callee = match self.chat.tools.check(&call) {
                Ok(callee) => callee,
                Err(why) => {
                    self.answer(conversation, &call, &Err(why), None).await?;
                    continue;
                }
            };
            if let Some((_, resume)) = decided.take_if(|(id, _)| *id == call.id) {
                conversation.mark_decision_applied(resume.gate_id);
                self.apply_decision(conversation, callee, call, resume).await?;
            } else if callee.starts_session() && conversation.was_started(&call.id) {
                self.start_child(conversation, callee, call, None).await?;
            } else if callee == Callee::Own(Tool::RequestFeedback) {
                if tool::is_blocking(&call.input) {
                    blocking.get_or_insert(call);
                } else {
                    self.ask_aside(conversation, &call).await?;
                }
            } else if callee == Callee::Own(Tool::AskPerson) || self.chat.tools.needs_confirmation(&call) {
                waiting.get_or_insert_with(|| yield_for(callee, &call));
            } else {
                self.run_call(conversation, callee, &call, None).await?;
            }
        }
        if waiting.is_none() && blocking.is_none() {
            self.await_tool_runs(conversation).await?;
            let children = conversation.open_calls().len();
            waiting = (children > 0).then(|| yield_for_children(children));
        }
        Ok((waiting, blocking))
    }

    /// The call that the person's decision is about, unless the decision is applied already.
    fn open_decision(&self, conversation: &Conversation) -> Option<(String, &Resume)> {
        let resume = self.job.resume.as_ref().filter(|resume| !conversation.is_decision_applied(resume.gate_id))?;
        Some((conversation.decided_call()?.to_owned(), resume))
    }

    async fn apply_decision(
        &self,
        conversation: &mut Conversation,
        callee: Callee,
        call: Call,
        resume: &Resume,
    ) -> Result<(), Stop> {
        let gate = Some(resume.gate_id);
        if let (Some(block), Some(outcome)) = (&resume.block, resume.outcome) {
            let reply = json!({ "outcome": outcome, "answer": block });
            return self.answer(conversation, &call, &Ok(reply), gate).await;
        }
        match &resume.decision {
            Decision::Answer(answer) => self.answer(conversation, &call, &Ok(answer.clone()), gate).await,
            Decision::Deny => {
                let note = resume.note.as_deref().unwrap_or("no reason was given");
                let why = json!(format!("a person refused this call: {note}"));
                self.answer(conversation, &call, &Err(why), gate).await
            }
            Decision::Approve(input) => {
                let input = input.clone().unwrap_or_else(|| call.input.clone());
                self.run_call(conversation, callee, &Call { input, ..call }, gate).await
            }
        }
    }

    /// Runs a call unless it was started before. A started call without a result is not repeated: its outcome is
    /// unknown, and the model gets this result.
    async fn run_call(
        &self,
        conversation: &mut Conversation,
        callee: Callee,
        call: &Call,
        gate: Option<GateId>,
    ) -> Result<(), Stop> {
        let tool = match callee {
            Callee::Own(tool) if !callee.starts_session() => tool,
            _ => return self.start_child(conversation, callee, call.clone(), gate).await,
        };
        if conversation.was_started(&call.id) {
            let why = "this call was started before and its result was lost; check whether it took effect";
            return self.answer(conversation, call, &Err(json!(why)), gate).await;
        }
        // A person may have changed the input.
        if let Err(why) = self.chat.tools.check(call) {
            return self.answer(conversation, call, &Err(why), gate).await;
        }
        if tool.has_effects(&call.input) {
            self.mark_started(call, &Notes::default()).await?;
        }
        let answer = self.chat.tools.run_own(tool, &call.input, self.context).await?;
        self.answer(conversation, call, &answer, gate).await
    }

    async fn answer(
        &self,
        conversation: &mut Conversation,
        call: &Call,
        answer: &tool::Answer,
        gate: Option<GateId>,
    ) -> Result<(), Stop> {
        let (output, failed) = match answer {
            Ok(output) => (output, false),
            Err(why) => (why, true),
        };
        let notes = Notes { gate_id: gate, ..Notes::default() };
        conversation.push_result(&call.id, output);
        self.write(vec![agent_event::tool_result(&call.id, &call.name, output, failed, &notes)]).await
    }

    /// Passes on the reviewers' denials that the agent has not received yet.
    async fn report_denials(&self, conversation: &mut Conversation) -> Result<(), Stop> {
        let fresh = self.job.denials.get(conversation.denials_sent..).unwrap_or_default();
        let Some(text) = prompt::denials(fresh) else { return Ok(()) };
        conversation.denials_sent = self.job.denials.len();
        let notes = Notes { denials: Some(conversation.denials_sent), ..Notes::default() };
        self.instruct(conversation, text, notes).await
    }

    /// Adds text for the model and records it, so that the next worker finds it.
    async fn instruct(&self, conversation: &mut Conversation, text: String, notes: Notes) -> Result<(), Stop> {
        let events = texts(Known::ExternalEvent.as_str(), &text, &notes);
        conversation.push_user_text(text);
        self.write(events).await
    }

    /// Records events and waits until the server has acknowledged them.
    async fn write(&self, events: Vec<NewEvent>) -> Result<(), Stop> {
        self.context.record(events).await.map_err(|_| Stop::Closed)?;
        self.context.events.flush().await.map_err(|_| Stop::Closed)
    }

    fn save_spent(&self, conversation: &Conversation) {
        let spent = Some(conversation.spent).filter(|spent| spent.steps > 0);
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) = spent;
    }

    fn usage(&self) -> Option<wire::Json> {
        let spent = (*self.spent.lock().unwrap_or_else(PoisonError::into_inner))?;
        self.chat.usage(&spent)
    }
}

/// The result in the agent's last text: the text itself, or the JSON in it.
fn result(text: &str, wants_json: bool) -> Result<wire::Json, FieldProblem> {
    let wrong = |message: String| FieldProblem { field: "result".into(), message };
    if !wants_json {
        return to_raw_value(text).map_err(|error| wrong(error.to_string()));
    }
    let bare = text.trim();
    // Models often put JSON into a code fence although they are asked not to.
    let fenced = bare.strip_prefix("```json").or_else(|| bare.strip_prefix("```"));
    let bare = fenced.and_then(|rest| rest.strip_suffix("```")).unwrap_or(bare);
    let value: Value = serde_json::from_str(bare.trim()).map_err(|error| wrong(format!("not JSON: {error}")))?;
    to_raw_value(&value).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests;
