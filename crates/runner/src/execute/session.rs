//! Works on one session, from its claim to its end.

use super::{
    adapter::{Adapter, Failure, Job, JobContext, Outcome, Phase, Resume, YieldOutcome, wait_for_phase},
    event,
    event_queue::{self, EventStamp},
    lease::{Lease, LeaseLoss, is_transient},
    limit,
    notes::Notes,
    observer::Observer,
    prompt,
    transcript::is_continuation,
    worker_api::WorkerApi,
};
use client::{Error, EventRange};
use domain::{
    event::Known,
    limit::REASON_CHARS_MAX,
    session::{Status, WaitsFor},
    thread::text_of,
};
use serde_json::value::RawValue;
use std::{sync::Arc, time::Duration};
use tokio::{
    select,
    sync::watch,
    time::{Instant, sleep, timeout},
};
use tokio_util::task::AbortOnDropHandle;
use wire::{
    Code, FieldProblem, Json,
    event::{Event, Events},
    session::{Session, SessionError},
    worker::{ClaimedSession, Complete, Fail, Yield, YieldStatus},
};

/// The status in which a worker reports an end. In any other one the agent has yielded its session through the API, and
/// the end of its run says nothing about the session.
const HELD: Option<Status> = Some(Status::Running);

/// What all sessions of a worker share.
#[derive(Debug)]
pub struct Worker {
    /// The API that sessions are claimed from.
    pub api: Arc<dyn WorkerApi>,
    /// Runs the agent.
    pub adapter: Arc<dyn Adapter>,
    /// Length of a lease, whole seconds.
    pub lease: Duration,
    /// Receives the progress.
    pub observer: Arc<dyn Observer>,
    /// Sets ids and times of events.
    pub stamp: EventStamp,
    /// How far the worker has stopped.
    pub phase: watch::Receiver<Phase>,
}

/// How the work on a session ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// The session is completed.
    Completed,
    /// The session is failed, with this code.
    Failed(String),
    /// The session was yielded: it waits for a person or for its children.
    Yielded,
    /// The session is back in the queue.
    Released,
    /// The lease is lost, for this reason.
    Lost(String),
}

impl Worker {
    /// Waits until the worker's phase is `phase` or a later one.
    pub async fn wait_for_phase(&self, phase: Phase) {
        wait_for_phase(&self.phase, phase).await;
    }

    /// Works on a claimed session until it is recorded or lost.
    pub async fn run(&self, claimed: ClaimedSession) -> End {
        let started = Instant::now();
        let observer = &self.observer;
        let (id, attempt) = (claimed.session.id, claimed.attempt);
        let name = claimed.session.action_slug.as_deref().unwrap_or("-");
        observer.message(&format!("{id} claimed (attempt {attempt}, task {name})"));
        observer.session_started();
        let job = job(claimed);
        let lease = Lease::new(Arc::clone(&self.api), id, attempt, self.lease, started);
        let lease = Arc::new(if job.is_thread() { lease.with_heartbeat_interval(limit::THREAD_BEAT) } else { lease });
        let end = self.work(lease, job).await;
        let seconds = started.elapsed().as_secs_f32();
        match &end {
            End::Completed => {
                observer.session_ended(true);
                observer.message(&format!("{id} completed in {seconds:.1} s"));
            }
            End::Failed(code) => {
                observer.session_ended(false);
                observer.message(&format!("{id} failed after {seconds:.1} s ({code})"));
            }
            End::Yielded => {
                observer.session_left();
                observer.message(&format!("{id} is waiting after {seconds:.1} s"));
            }
            End::Released => {
                observer.session_left();
                observer.message(&format!("{id} released after {seconds:.1} s"));
            }
            End::Lost(why) => {
                observer.session_left();
                observer.message(&format!("{id} left after {seconds:.1} s: {why}"));
            }
        }
        end
    }

    /// Runs the adapter and records its outcome. An output that violates its contract is returned to the adapter once.
    pub(super) async fn work(&self, lease: Arc<Lease>, mut job: Job) -> End {
        let _heartbeat = AbortOnDropHandle::new(tokio::spawn({
            let lease = Arc::clone(&lease);
            async move { lease.send_heartbeats().await }
        }));
        let (events, outbox) = event_queue::channel(Arc::clone(&lease), Arc::clone(&self.observer), self.stamp.clone());
        let _sending = AbortOnDropHandle::new(tokio::spawn(outbox.run()));
        let context =
            JobContext { api: Arc::clone(&self.api), lease: Arc::clone(&lease), events, phase: self.phase.clone() };
        loop {
            let outcome = self.adapter.run(&job, &context).await;
            let written = self.flush_log(&context, &outcome).await;
            match (outcome, written, lease.loss()) {
                (Outcome::Parked, ..) => return End::Yielded,
                (outcome, _, Some(LeaseLoss::Unwritable(why))) => {
                    let failure = Failure::new("append_refused", why.clone());
                    return fail(&lease, &failure.with_usage(outcome.usage().as_ref())).await;
                }
                (_, _, Some(loss)) => return End::Lost(loss.to_string()),
                (Outcome::Stopped, ..) | (_, false, None) => return release(&lease).await,
                (Outcome::Failed(failure), true, None) if job.is_thread() => {
                    return self.record_turn_failure(&lease, &context, failure).await;
                }
                (Outcome::Failed(failure), true, None) => return fail(&lease, &failure).await,
                (Outcome::Yielded(yielded), true, None) => {
                    return self.yield_session(&lease, &context, &job, *yielded).await;
                }
                (Outcome::Done { result, usage }, true, None) if job.is_thread() => {
                    return self.finish_turn(&lease, &context, &job, (result, usage)).await;
                }
                (Outcome::Done { result, usage }, true, None) => {
                    match complete(&context, result, usage.clone(), job.refused.is_empty()).await {
                        Ok(end) => return end,
                        Err(errors) => {
                            // A closed queue means that the lease is lost, which is seen after the next run of the
                            // adapter.
                            let _ = context.record(refusal_events(&errors)).await;
                            // An adapter that rebuilds its conversation from the log finds the reasons there. If they
                            // are not written, its next run is stopped.
                            flush_unless_stopped(&context).await;
                            job.refused = errors;
                            job.spent = usage;
                        }
                    }
                }
            }
        }
    }

    /// Waits until all events are acknowledged; false if they are not. A stopped session waits for at most
    /// [`limit::RELEASE_TIME`].
    async fn flush_log(&self, context: &JobContext, outcome: &Outcome) -> bool {
        if matches!(outcome, Outcome::Stopped) {
            return matches!(timeout(limit::RELEASE_TIME, context.events.flush()).await, Ok(Ok(())));
        }
        flush_unless_stopped(context).await
    }

    /// Yields the session. If the server refuses that, the session fails; a conversation stays open.
    async fn yield_session(&self, lease: &Lease, context: &JobContext, job: &Job, yielded: YieldOutcome) -> End {
        let body = Yield {
            attempt: lease.attempt,
            status: yielded.status,
            detail: Some(reason(&yielded.detail)),
            paused_tool_call: yielded.paused,
            question: yielded.question,
            wait_for: yielded.for_children.then_some(WaitsFor::Children),
            usage: yielded.usage,
        };
        match send_yield(lease, &body).await {
            Ok(end) => end,
            Err(failure) if job.is_thread() => self.record_turn_failure(lease, context, failure).await,
            Err(failure) => fail(lease, &failure).await,
        }
    }

    /// Ends a turn of a conversation: records the result as its reply, unless the agent has replied already, and yields
    /// the session until the next message.
    async fn finish_turn(
        &self,
        lease: &Lease,
        context: &JobContext,
        job: &Job,
        (result, usage): (Option<Json>, Option<Json>),
    ) -> End {
        let reply = match result.as_ref().map(reply_text) {
            Some(text) if !text.trim().is_empty() => text,
            _ => String::new(),
        };
        if !reply.is_empty() && !has_replied(lease, job, &reply).await {
            let recorded = context.record(event::texts(Known::AgentMessage.as_str(), &reply, &Notes::default())).await;
            if recorded.is_err() || context.events.flush().await.is_err() {
                return lease
                    .loss()
                    .map_or_else(|| End::Lost("the log is closed".into()), |loss| End::Lost(loss.to_string()));
            }
        }
        match send_yield(lease, &idle_yield(lease, "it replied", usage)).await {
            Ok(end) => end,
            Err(failure) => self.record_turn_failure(lease, context, failure).await,
        }
    }

    /// Records the failure of a turn and yields the session: the conversation stays open, and the person can try again.
    async fn record_turn_failure(&self, lease: &Lease, context: &JobContext, failure: Failure) -> End {
        let notes = Notes { code: Some(failure.code.clone()), ..Notes::default() };
        let recorded = context.record(event::texts(Known::SessionError.as_str(), &failure.message, &notes)).await;
        if recorded.is_err() || context.events.flush().await.is_err() {
            return lease
                .loss()
                .map_or_else(|| End::Lost("the log is closed".into()), |loss| End::Lost(loss.to_string()));
        }
        let detail = reason(&failure.message);
        let mut yielded = send_yield(lease, &idle_yield(lease, &detail, json_of(failure.usage))).await;
        if yielded.is_err() {
            // The server may have refused the usage. Without it the conversation stays open.
            yielded = send_yield(lease, &idle_yield(lease, &detail, None)).await;
        }
        match yielded {
            Ok(end) => end,
            Err(failure) => fail(lease, &failure).await,
        }
    }
}

/// Waits until all events are acknowledged; false if the lease is lost, if the worker releases its sessions and they
/// are not acknowledged within [`limit::RELEASE_TIME`] then, or if the agent has to be ended at once.
async fn flush_unless_stopped(context: &JobContext) -> bool {
    let released = async {
        wait_for_phase(&context.phase, Phase::Releasing).await;
        sleep(limit::RELEASE_TIME).await;
    };
    select! {
        written = context.events.flush() => written.is_ok(),
        () = released => false,
        () = context.abort_requested() => false,
    }
}

/// An adapter's usage as JSON.
fn json_of(usage: Option<String>) -> Option<Json> {
    usage.and_then(|usage| RawValue::from_string(usage).ok())
}

/// Sends the yield until the server has answered it or the lease is lost. `Err` if the server refuses it: the lease is
/// held, and the caller ends the session in another way.
async fn send_yield(lease: &Lease, body: &Yield) -> Result<End, Failure> {
    let yielded = lease.retry_while_held(lease.backoff(), |_| lease.api.yield_to(lease.session_id, body));
    match yielded.await {
        // A repeat after a lost answer finds the session yielded.
        Err(error) if LeaseLoss::of(&error) == Some(LeaseLoss::Yielded) => Ok(End::Yielded),
        Err(error) if is_refusal(&error) => {
            let why = format!("the session cannot wait: the server refused it: {error}");
            Err(Failure::new("yield_refused", why).with_usage(body.usage.as_ref()))
        }
        answer => Ok(end_of(answer, End::Yielded)),
    }
}

/// Whether the server refuses what a call says. The lease is held, and a repeat is refused too.
fn is_refusal(error: &Error) -> bool {
    LeaseLoss::of(error).is_none() && !is_transient(error)
}

fn idle_yield(lease: &Lease, detail: &str, usage: Option<Json>) -> Yield {
    let detail = Some(detail.to_owned());
    let (attempt, status) = (lease.attempt, YieldStatus::Idle);
    Yield { attempt, status, detail, paused_tool_call: None, question: None, wait_for: None, usage }
}

/// A result as the text of a reply: a JSON string without its quotes, any other value as JSON.
fn reply_text(result: &Json) -> String {
    serde_json::from_str::<String>(result.get()).unwrap_or_else(|_| match result.get() {
        "null" => String::new(),
        json => json.to_owned(),
    })
}

/// Whether the turn has its reply already. True if the log cannot be read, so that no reply is sent twice.
///
/// In this attempt any text of the agent is a reply. A worker that was lost can have recorded a reply without ending
/// the turn, or only messages of the agent during its work: of an earlier attempt the same text counts, as its newest
/// one.
async fn has_replied(lease: &Lease, job: &Job, reply: &str) -> bool {
    let head = job.session.head_sequence;
    let of_attempt = EventRange {
        after_sequence: Some(head),
        event_types: vec![Known::AgentMessage.as_str().to_owned()],
        limit: Some(1),
        ..EventRange::default()
    };
    match read_log(lease, &of_attempt).await {
        Ok(page) if page.events.is_empty() => {}
        Ok(_) | Err(_) => return true,
    }
    let before = EventRange {
        before_sequence: Some(head + 1),
        event_types: vec![Known::UserMessage.as_str().to_owned(), Known::AgentMessage.as_str().to_owned()],
        limit: Some(limit::LOG_PAGE),
        ..EventRange::default()
    };
    read_log(lease, &before).await.map_or(true, |page| last_reply(&page.events) == reply)
}

async fn read_log(lease: &Lease, range: &EventRange) -> client::Result<Events> {
    lease.retry_while_held(lease.backoff(), |_| lease.api.events(lease.session_id, range)).await
}

/// The newest text of the agent since the last message of the person; empty if there is none.
fn last_reply(events: &[Event]) -> String {
    let since = events.iter().rposition(|event| event.kind == Known::UserMessage).map_or(0, |at| at + 1);
    let mut reply = String::new();
    for event in events.iter().skip(since) {
        if !is_continuation(event) {
            reply.clear();
        }
        reply.push_str(&text_of(event.content.get()));
    }
    reply
}

/// The job of a claimed session.
pub(super) fn job(claimed: ClaimedSession) -> Job {
    let ClaimedSession {
        session,
        attempt,
        input,
        context,
        rate_memories,
        resume,
        tool_results,
        messages,
        session_context,
        denials,
        dependencies,
        children,
        ..
    } = claimed;
    Job {
        session,
        attempt,
        input,
        activity: context,
        rate_memories,
        sent_resume: resume.clone(),
        resume: resume.map(Resume::from),
        tool_results,
        messages,
        answers: session_context.unwrap_or_default(),
        denials,
        dependencies,
        children,
        refused: Vec::new(),
        spent: None,
        started: Instant::now(),
    }
}

/// Completes the session. `Err` holds the problems of an output that breaks its contract, if the agent may correct it.
async fn complete(
    context: &JobContext,
    result: Option<Json>,
    usage: Option<Json>,
    may_correct: bool,
) -> Result<End, Vec<FieldProblem>> {
    let lease = &context.lease;
    let failed = |code: &str, why: String| Failure::new(code, why).with_usage(usage.as_ref());
    let body = Complete { attempt: lease.attempt, result, usage: usage.clone(), if_status: HELD };
    let answer = lease.retry_while_held(lease.backoff(), |_| lease.api.complete(lease.session_id, &body)).await;
    Ok(match answer {
        Ok(session) => match session.status {
            Status::Completed => End::Completed,
            Status::Failed => End::Failed(session.error.and_then(|error| error.code).unwrap_or_default()),
            // The output waits for a reviewer.
            _ => End::Yielded,
        },
        Err(error) => match (output_errors(&error), LeaseLoss::of(&error)) {
            (Some(errors), _) if may_correct => return Err(errors),
            (Some(errors), _) => {
                let why: Vec<_> = errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect();
                let why = format!("the output breaks its contract: {}", why.join("; "));
                fail(lease, &failed(Code::OutputInvalid.as_str(), why)).await
            }
            (None, Some(loss)) => End::Lost(loss.to_string()),
            (None, None) if is_transient(&error) => End::Lost(error.to_string()),
            (None, None) => {
                let why = format!("the result was refused: {error}");
                // What the agent printed is lost nowhere.
                let result = body.result.as_ref().map_or("null", |result| result.get());
                let notes = event::not_an_event(&why);
                let _ = context.record(event::texts(Known::AgentMessage.as_str(), result, &notes)).await;
                flush_unless_stopped(context).await;
                fail(lease, &failed("result_refused", why)).await
            }
        },
    })
}

/// The problems of an output; `None` for any other error.
fn output_errors(error: &Error) -> Option<Vec<FieldProblem>> {
    match error {
        Error::Problem { problem, .. } if problem.code == Code::OutputInvalid => Some(problem.errors.clone()),
        _ => None,
    }
}

/// The refusal of an output as events, from which the next worker rebuilds the conversation.
fn refusal_events(errors: &[FieldProblem]) -> Vec<wire::event::NewEvent> {
    let text = prompt::refusal(errors).unwrap_or_default();
    event::texts(Known::ExternalEvent.as_str(), &text, &Notes { output_refused: true, ..Notes::default() })
}

/// A text as the API takes it: without NUL, and at most [`REASON_CHARS_MAX`] characters.
fn reason(text: &str) -> String {
    let replaced = |letter| if letter == '\0' { char::REPLACEMENT_CHARACTER } else { letter };
    text.chars().map(replaced).take(REASON_CHARS_MAX).collect()
}

async fn fail(lease: &Lease, failure: &Failure) -> End {
    let send = async |message: String, usage: Option<Json>| {
        let error = SessionError { message, code: Some(failure.code.clone()) };
        let body = Fail { attempt: lease.attempt, error, usage, if_status: HELD };
        lease.retry_while_held(lease.backoff(), |_| lease.api.fail(lease.session_id, &body)).await
    };
    let mut answer = send(reason(&failure.message), json_of(failure.usage.clone())).await;
    if let Err(error) = &answer
        && is_refusal(error)
    {
        // Without an end the session would run again when its lease is over, and do its work once more.
        answer = send(reason(&format!("it failed, and the server refused the message: {error}")), None).await;
    }
    end_of(answer, End::Failed(failure.code.clone()))
}

async fn release(lease: &Lease) -> End {
    let release = lease.retry_while_held(lease.backoff(), |_| lease.api.release(lease.session_id, lease.attempt));
    match timeout(limit::RELEASE_TIME, release).await {
        // A repeat after a lost answer finds the session in the queue.
        Ok(Err(error)) if LeaseLoss::of(&error) == Some(LeaseLoss::Yielded) => End::Released,
        Ok(answer) => end_of(answer, End::Released),
        Err(_) => End::Lost("the server is out of reach; the lease will run out".into()),
    }
}

fn end_of(answer: client::Result<Session>, end: End) -> End {
    match answer {
        Ok(_) => end,
        Err(error) => End::Lost(LeaseLoss::of(&error).map_or_else(|| error.to_string(), |loss| loss.to_string())),
    }
}
