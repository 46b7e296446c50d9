//! What runs an agent: one session in, its outcome out.

use super::{
    desk::Desk,
    lease::Lease,
    outbox::{Closed, Queue},
};
use domain::gate::{PausedToolCall, Question, Verdict};
use serde_json::value::RawValue;
use std::{fmt::Debug, future::Future, pin::Pin, sync::Arc, time::Duration};
use tokio::{select, sync::watch, time::sleep};
use wire::{
    FieldProblem, Json,
    approval::Denial,
    event::NewEvent,
    session::Session,
    worker::{self, Related, YieldStatus},
};

/// One kind of agent.
pub trait Adapter: Debug + Send + Sync + 'static {
    /// Works on a session until it is done, has to wait, or is told to stop. Called again for the same job only after
    /// its output was refused, with the reasons in [`Job::refused`].
    fn run<'a>(&'a self, job: &'a Job, hand: &'a Hand) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

    /// Its closing words on a conversation that rests, from the log as `desk` tells it; nothing is recorded. `None` for a
    /// kind of agent that speaks in sessions alone.
    fn close<'a>(
        &'a self,
        _desk: &'a dyn Desk,
        _session_id: &'a str,
    ) -> Option<Pin<Box<dyn Future<Output = Closing> + Send + 'a>>> {
        None
    }
}

/// What an agent says of a conversation that ends.
#[derive(Debug)]
pub struct Closing {
    /// Its words, or why there are none.
    pub words: Result<String, Failure>,
    /// What the conversation has cost with them, where that is more than before.
    pub usage: Option<Json>,
}

/// A session that was claimed, and all that its agent is told.
#[derive(Debug)]
pub struct Job {
    /// The session.
    pub session: Session,
    /// The fencing token.
    pub attempt: u32,
    /// What the session was started with.
    pub input: Option<Json>,
    /// What its person was doing: untrusted text for the end of the prompt.
    pub activity: Option<String>,
    /// What people decided while it was parked.
    pub resume: Option<Resume>,
    /// Outputs that reviewers refused, oldest first.
    pub denials: Vec<Denial>,
    /// What came of the sessions that it depends on.
    pub dependencies: Vec<Related>,
    /// The sessions that it has started, and what came of them.
    pub children: Vec<Related>,
    /// Why the output of this attempt was refused, where it was.
    pub refused: Vec<FieldProblem>,
}

impl Job {
    /// Whether the session is a conversation: it rests after each turn, and its log says what it is about.
    pub fn is_thread(&self) -> bool {
        self.session.source.as_deref() == Some(domain::thread::SOURCE)
    }
}

/// The decision that put a parked session back to work.
#[derive(Debug, Clone, PartialEq)]
pub struct Resume {
    /// Tells decisions apart: each counts once.
    pub gate_id: String,
    /// The call that was paused, where it was a call.
    pub tool_call_id: Option<String>,
    /// What was decided.
    pub decision: Decision,
    /// What the person wrote beside it.
    pub note: Option<String>,
}

impl From<worker::Resume> for Resume {
    fn from(resume: worker::Resume) -> Self {
        let value = |json: Option<Json>| json.and_then(|json| serde_json::from_str(json.get()).ok());
        let decision = match resume.decision {
            Verdict::Approve | Verdict::Edit => Decision::Approve(value(resume.tool_input)),
            Verdict::Deny => Decision::Deny,
            Verdict::Respond => Decision::Answer(value(resume.answer).unwrap_or_default()),
        };
        Self { gate_id: resume.gate_id, tool_call_id: resume.tool_call_id, decision, note: resume.note }
    }
}

/// What a person decided.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Run the call; with this input, where they changed it.
    Approve(Option<serde_json::Value>),
    /// Do not run it.
    Deny,
    /// The answer to a question.
    Answer(serde_json::Value),
}

/// How a turn ended.
#[derive(Debug)]
pub enum Outcome {
    /// There is a result to hand over.
    Done {
        /// The result proper.
        result: Option<Json>,
        /// What it cost.
        usage: Option<Json>,
    },
    /// It cannot be done.
    Failed(Failure),
    /// It goes on when something has come.
    Parked(Park),
    /// It was told to stop and did.
    Stopped,
}

impl Outcome {
    /// What it has cost, where its agent counts.
    pub fn usage(&self) -> Option<Json> {
        match self {
            Self::Done { usage, .. } => usage.clone(),
            Self::Failed(failure) => failure.usage.clone().and_then(|usage| RawValue::from_string(usage).ok()),
            Self::Parked(park) => park.usage.clone(),
            Self::Stopped => None,
        }
    }
}

/// Why an agent failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// For machines.
    pub code: String,
    /// For people.
    pub message: String,
    /// What the session has cost until then, where its agent counts: a JSON object.
    pub usage: Option<String>,
}

impl Failure {
    /// A failure with its code.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), usage: None }
    }

    /// The same, and what it has cost.
    #[must_use]
    pub fn having_cost(self, usage: Option<&Json>) -> Self {
        Self { usage: usage.map(|usage| usage.get().to_owned()).or(self.usage), ..self }
    }
}

/// What a session waits for.
#[derive(Debug, Clone)]
pub struct Park {
    /// Where it waits.
    pub status: YieldStatus,
    /// For people.
    pub detail: String,
    /// The call that waits for approval.
    pub paused: Option<PausedToolCall>,
    /// The question that waits for an answer.
    pub question: Option<Question>,
    /// It waits for the sessions that it has started.
    pub for_children: bool,
    /// What the session has cost so far.
    pub usage: Option<Json>,
}

/// How far a worker is with stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Not at all.
    Working,
    /// Nothing new is claimed; running agents go on.
    Draining,
    /// Agents are asked to end; their sessions are released.
    Releasing,
    /// Agents are ended; their sessions are released.
    Aborting,
}

/// Waits until the worker is at least this far with stopping.
pub async fn reached(watched: &watch::Receiver<Phase>, phase: Phase) {
    // A sender that is gone stops nobody.
    if watched.clone().wait_for(|now| *now >= phase).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Waits until the time is over, if there is an end to it.
pub async fn out_of_time(seconds: Option<u64>) -> u64 {
    match seconds {
        Some(seconds) => {
            sleep(Duration::from_secs(seconds)).await;
            seconds
        }
        None => std::future::pending().await,
    }
}

/// What an adapter works with: the session's log, its lease and the desk.
#[derive(Debug)]
pub struct Hand {
    /// Where to read and write.
    pub desk: Arc<dyn Desk>,
    /// The right to work on the session.
    pub lease: Arc<Lease>,
    /// The way into the log.
    pub queue: Queue,
    /// How far the worker is with stopping.
    pub phase: watch::Receiver<Phase>,
}

impl Hand {
    /// Records events, in order, each once.
    ///
    /// # Errors
    /// When the lease is lost, and nothing more can be recorded.
    pub async fn record(&self, events: impl IntoIterator<Item = NewEvent> + Send) -> Result<(), Closed> {
        for event in events.into_iter().collect::<Vec<_>>() {
            self.queue.push(event).await?;
        }
        Ok(())
    }

    /// Waits until the agent has to end: the lease is lost, or the worker gives its sessions back.
    pub async fn told_to_end(&self) {
        select! {
            () = self.lease.lost() => {}
            () = reached(&self.phase, Phase::Releasing) => {}
        }
    }

    /// Waits until the agent has to end at once.
    pub async fn told_to_end_at_once(&self) {
        reached(&self.phase, Phase::Aborting).await;
    }
}
