//! The interface between a worker and the kinds of agents: [`Adapter`], the job it gets, and its outcome.

use super::{
    event_queue::{Closed, EventSender},
    lease::Lease,
    worker_api::WorkerApi,
};
use domain::{
    feedback_request::Outcome as AnswerOutcome,
    gate::{PausedToolCall, Question, Verdict},
    id::{GateId, SessionId},
};
use serde_json::value::RawValue;
use std::{fmt::Debug, future::Future, pin::Pin, sync::Arc, time::Duration};
use tokio::{
    select,
    sync::watch,
    time::{Instant, sleep},
};
use wire::{
    FieldProblem, Json,
    approval::Denial,
    event::NewEvent,
    feedback_request::SessionContext,
    session::Session,
    worker::{self, ClaimedMessage, Related, ToolResult, YieldStatus},
};

/// Runs one kind of agent.
pub trait Adapter: Debug + Send + Sync + 'static {
    /// Works on a session until it has an outcome. It is called again for the same job only after its output was
    /// refused; [`Job::refused`] then holds the reasons.
    fn run<'a>(&'a self, job: &'a Job, context: &'a JobContext) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

    /// Summarizes an idle conversation from its log, without recording anything. `None` if this kind of agent cannot be
    /// asked outside of a session.
    fn summarize<'a>(
        &'a self,
        _api: &'a dyn WorkerApi,
        _session_id: SessionId,
    ) -> Option<Pin<Box<dyn Future<Output = ConversationSummary> + Send + 'a>>> {
        None
    }
}

/// An agent's summary of a conversation that is being ended.
#[derive(Debug)]
pub struct ConversationSummary {
    /// The summary, or why there is none.
    pub text: Result<String, Failure>,
    /// Usage of the conversation including the summary; `None` if the agent was not asked.
    pub usage: Option<Json>,
}

/// A claimed session and everything that its agent gets.
#[derive(Debug)]
pub struct Job {
    /// The claimed session.
    pub session: Session,
    /// The attempt: the fencing token that every call carries.
    pub attempt: u32,
    /// Input of the session.
    pub input: Option<Json>,
    /// Recent activity of the session's person. It is untrusted text and belongs at the end of a prompt.
    pub activity: Option<String>,
    /// Whether the agent is to rate the memories in it.
    pub rate_memories: bool,
    /// The decision that ended the session's wait, if any.
    pub resume: Option<Resume>,
    /// The same as the API sent it, for agents that are commands.
    pub sent_resume: Option<worker::Resume>,
    /// Results of custom tools that ended the session's wait, in the order in which they were supplied. They are
    /// untrusted.
    pub tool_results: Vec<ToolResult>,
    /// Messages since the worker left the session idle, oldest first; empty in a conversation.
    pub messages: Vec<ClaimedMessage>,
    /// Answers of people for which the session did not wait, and that this claim took.
    pub answers: SessionContext,
    /// Denials of earlier outputs by reviewers, oldest first.
    pub denials: Vec<Denial>,
    /// Sessions that this one depends on, with their outcomes.
    pub dependencies: Vec<Related>,
    /// Sessions that this one has started, with their outcomes.
    pub children: Vec<Related>,
    /// Problems of this attempt's last output; empty if none was refused.
    pub refused: Vec<FieldProblem>,
    /// Usage of the run whose output was refused, a JSON object; `None` if none was refused or it reported none. An
    /// adapter that reports only the usage of its own run adds it.
    pub spent: Option<Json>,
    /// Start of the attempt.
    pub started: Instant,
}

impl Job {
    /// Whether the session is a conversation: it yields after each turn, and its messages are in the log.
    pub fn is_thread(&self) -> bool {
        self.session.source.as_deref() == Some(domain::thread::SOURCE)
    }
}

/// The decision that resumed a session that had yielded.
#[derive(Debug, Clone, PartialEq)]
pub struct Resume {
    /// Id of the gate. Each gate's decision is applied once.
    pub gate_id: GateId,
    /// Id of the paused tool call; `None` for a question.
    pub tool_call_id: Option<String>,
    /// What the person chose.
    pub decision: Decision,
    /// The person's note.
    pub note: Option<String>,
    /// Question and answer as a block of untrusted text; `None` for a tool call.
    pub block: Option<String>,
    /// How a question ended; `None` for a tool call.
    pub outcome: Option<AnswerOutcome>,
}

impl From<worker::Resume> for Resume {
    fn from(resume: worker::Resume) -> Self {
        let value = |json: Option<Json>| json.and_then(|json| serde_json::from_str(json.get()).ok());
        let decision = match resume.decision {
            Verdict::Approve | Verdict::Edit => Decision::Approve(value(resume.tool_input)),
            Verdict::Deny => Decision::Deny,
            Verdict::Respond => Decision::Answer(value(resume.answer).unwrap_or_default()),
        };
        Self {
            gate_id: resume.gate_id,
            tool_call_id: resume.tool_call_id,
            decision,
            note: resume.note,
            block: resume.block,
            outcome: resume.outcome,
        }
    }
}

/// A person's decision.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Run the call, with this input if the person changed it.
    Approve(Option<serde_json::Value>),
    /// Do not run the call.
    Deny,
    /// The answer to the agent's question.
    Answer(serde_json::Value),
}

/// How a run of an adapter ended.
#[derive(Debug)]
pub enum Outcome {
    /// The agent has finished.
    Done {
        /// The result; `None` for none.
        result: Option<Json>,
        /// Tokens and cost, a JSON object.
        usage: Option<Json>,
    },
    /// The agent has failed.
    Failed(Failure),
    /// The session waits already: a request to people has parked it.
    Parked,
    /// The session has to wait.
    Yielded(Box<YieldOutcome>),
    /// The worker is stopping or the lease is lost.
    Stopped,
}

impl Outcome {
    /// Tokens and cost until now, if the adapter counts them.
    pub fn usage(&self) -> Option<Json> {
        match self {
            Self::Done { usage, .. } => usage.clone(),
            Self::Failed(failure) => failure.usage.clone().and_then(|usage| RawValue::from_string(usage).ok()),
            Self::Yielded(yielded) => yielded.usage.clone(),
            Self::Parked | Self::Stopped => None,
        }
    }
}

/// Why an agent failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Code for programs, such as `budget_steps`.
    pub code: String,
    /// Text for people.
    pub message: String,
    /// Tokens and cost until the failure, a JSON object; `None` if the adapter does not count them.
    pub usage: Option<String>,
}

impl Failure {
    /// A failure without usage.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), usage: None }
    }

    /// Sets the usage, if there is one.
    #[must_use]
    pub fn with_usage(self, usage: Option<&Json>) -> Self {
        Self { usage: usage.map(|usage| usage.get().to_owned()).or(self.usage), ..self }
    }
}

/// What a session waits for.
#[derive(Debug, Clone)]
pub struct YieldOutcome {
    /// Status in which the session waits.
    pub status: YieldStatus,
    /// What it waits for, for people.
    pub detail: String,
    /// The tool call that waits for approval.
    pub paused: Option<PausedToolCall>,
    /// The question that waits for an answer.
    pub question: Option<Question>,
    /// Whether it waits for the sessions that it has started.
    pub for_children: bool,
    /// Tokens and cost so far, a JSON object.
    pub usage: Option<Json>,
}

/// How far a worker has stopped. Phases are ordered; a worker never returns to an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Claims and runs sessions.
    Working,
    /// Claims nothing more; running agents continue.
    Draining,
    /// Running agents are asked to end; their sessions are released.
    Releasing,
    /// Running agents are ended at once; their sessions are released.
    Aborting,
}

/// Waits until the phase is `phase` or a later one. Never returns if the sender is dropped before.
pub async fn wait_for_phase(watched: &watch::Receiver<Phase>, phase: Phase) {
    if watched.clone().wait_for(|now| *now >= phase).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Waits until this many seconds have passed since `started` and returns them; never returns if there is no limit.
pub async fn timed_out(started: Instant, seconds: Option<u64>) -> u64 {
    match seconds {
        Some(seconds) => {
            sleep(Duration::from_secs(seconds).saturating_sub(started.elapsed())).await;
            seconds
        }
        None => std::future::pending().await,
    }
}

/// What an adapter works with: the API, the lease and the event queue of its session.
#[derive(Debug)]
pub struct JobContext {
    /// Reads and writes sessions, actions and entities.
    pub api: Arc<dyn WorkerApi>,
    /// The lease on the session.
    pub lease: Arc<Lease>,
    /// Appends events to the session's log.
    pub events: EventSender,
    /// How far the worker has stopped.
    pub phase: watch::Receiver<Phase>,
}

impl JobContext {
    /// Queues events for the log, in order.
    ///
    /// # Errors
    /// If the lease is lost: nothing more can be recorded.
    pub async fn record(&self, events: impl IntoIterator<Item = NewEvent> + Send) -> Result<(), Closed> {
        for event in events.into_iter().collect::<Vec<_>>() {
            self.events.push(event).await?;
        }
        Ok(())
    }

    /// Waits until the agent has to end: the lease is lost, or the worker releases its sessions.
    pub async fn stop_requested(&self) {
        select! {
            () = self.lease.lost() => {}
            () = wait_for_phase(&self.phase, Phase::Releasing) => {}
        }
    }

    /// Waits until the agent has to be ended at once.
    pub async fn abort_requested(&self) {
        wait_for_phase(&self.phase, Phase::Aborting).await;
    }
}
