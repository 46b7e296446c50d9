//! One session, from its claim to its end.

use super::{
    adapter::{Adapter, Failure, Hand, Job, Outcome, Park, Phase, Resume, reached},
    desk::Desk,
    event,
    lease::{Lease, Loss, may_pass},
    limit,
    outbox::{self, Stamp},
    prompt,
    report::Report,
};
use client::{Error, EventRange};
use domain::{
    event::Kind,
    limit::REASON_CHARS_MAX,
    session::{Status, WaitsFor},
    thread::REPLY,
};
use serde_json::value::RawValue;
use std::{sync::Arc, time::Duration};
use tokio::{
    select,
    sync::watch,
    time::{Instant, timeout},
};
use tokio_util::task::AbortOnDropHandle;
use wire::{
    Code, FieldProblem, Json,
    session::{Session, SessionError},
    worker::{ClaimedSession, Complete, Fail, Yield, YieldStatus},
};

/// What all sessions of a worker share.
#[derive(Debug)]
pub struct Worker {
    /// Where sessions come from.
    pub desk: Arc<dyn Desk>,
    /// What works on them.
    pub adapter: Arc<dyn Adapter>,
    /// Length of a lease.
    pub lease: Duration,
    /// Who is told how it goes.
    pub report: Arc<dyn Report>,
    /// Ids and times of events.
    pub stamp: Stamp,
    /// How far it is with stopping.
    pub phase: watch::Receiver<Phase>,
}

/// How a session left this worker.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// Recorded as completed.
    Completed,
    /// Recorded as failed, with this code.
    Failed(String),
    /// It waits for somebody.
    Parked,
    /// Given back unfinished.
    Released,
    /// Not ours any more.
    Left(String),
}

impl Worker {
    /// Waits until the worker is at least this far with stopping.
    pub async fn reached(&self, phase: Phase) {
        reached(&self.phase, phase).await;
    }

    /// Works on a session just claimed.
    pub async fn run(&self, claimed: ClaimedSession) -> End {
        let started = Instant::now();
        let report = &self.report;
        let (id, attempt) = (claimed.session.id.clone(), claimed.attempt);
        let name = claimed.session.action_slug.as_deref().unwrap_or("-");
        report.say(&format!("{id} claimed (attempt {attempt}, task {name})"));
        report.began();
        let job = job(claimed);
        let lease = Lease::new(Arc::clone(&self.desk), id.clone(), attempt, self.lease, started);
        let lease = Arc::new(if job.is_thread() { lease.beating_every(limit::THREAD_BEAT) } else { lease });
        let end = self.work(lease, job).await;
        let seconds = started.elapsed().as_secs_f32();
        match &end {
            End::Completed => {
                report.ended(true);
                report.say(&format!("{id} completed in {seconds:.1} s"));
            }
            End::Failed(code) => {
                report.ended(false);
                report.say(&format!("{id} failed after {seconds:.1} s ({code})"));
            }
            End::Parked => {
                report.left();
                report.say(&format!("{id} is waiting after {seconds:.1} s"));
            }
            End::Released => {
                report.left();
                report.say(&format!("{id} released after {seconds:.1} s"));
            }
            End::Left(why) => {
                report.left();
                report.say(&format!("{id} left after {seconds:.1} s: {why}"));
            }
        }
        end
    }

    /// Works on a job until it is out of this worker's hands.
    pub(super) async fn work(&self, lease: Arc<Lease>, mut job: Job) -> End {
        let _heartbeat = AbortOnDropHandle::new(tokio::spawn({
            let lease = Arc::clone(&lease);
            async move { lease.keep().await }
        }));
        let (queue, outbox) = outbox::open(Arc::clone(&lease), Arc::clone(&self.report), self.stamp.clone());
        let _sending = AbortOnDropHandle::new(tokio::spawn(outbox.run()));
        let hand = Hand { desk: Arc::clone(&self.desk), lease: Arc::clone(&lease), queue, phase: self.phase.clone() };
        loop {
            let outcome = self.adapter.run(&job, &hand).await;
            let written = self.write_out(&hand, &outcome).await;
            match (outcome, written, lease.loss()) {
                (outcome, _, Some(Loss::Unwritable(why))) => {
                    let failure = Failure::new("append_refused", why.clone());
                    return fail(&lease, &failure.having_cost(outcome.usage().as_ref())).await;
                }
                (_, _, Some(loss)) => return End::Left(loss.to_string()),
                (Outcome::Stopped, ..) | (_, false, None) => return release(&lease).await,
                (Outcome::Failed(failure), true, None) if job.is_thread() => {
                    return self.stumble(&lease, &hand, failure).await;
                }
                (Outcome::Failed(failure), true, None) => return fail(&lease, &failure).await,
                (Outcome::Parked(park), true, None) => return self.park(&lease, park).await,
                (Outcome::Done { result, usage }, true, None) if job.is_thread() => {
                    return self.rest(&lease, &hand, &job, (result, usage)).await;
                }
                (Outcome::Done { result, usage }, true, None) => {
                    match complete(&lease, result, usage, job.refused.is_empty()).await {
                        Ok(end) => return end,
                        Err(errors) => {
                            // A closed queue means a lost lease, which is seen after the next turn.
                            let _ = hand.record(refusal_events(&errors)).await;
                            job.refused = errors;
                        }
                    }
                }
            }
        }
    }

    /// Waits until the log has everything; whether it has.
    async fn write_out(&self, hand: &Hand, outcome: &Outcome) -> bool {
        let flush = hand.queue.flush();
        if matches!(outcome, Outcome::Stopped) {
            return matches!(timeout(limit::RELEASE_TIME, flush).await, Ok(Ok(())));
        }
        select! {
            written = flush => written.is_ok(),
            () = hand.told_to_end_at_once() => false,
        }
    }

    async fn park(&self, lease: &Lease, park: Park) -> End {
        let detail: String = park.detail.chars().take(REASON_CHARS_MAX).collect();
        let body = Yield {
            attempt: lease.attempt,
            status: park.status,
            detail: Some(detail),
            paused_tool_call: park.paused,
            question: park.question,
            wait_for: park.for_children.then_some(WaitsFor::Children),
            usage: park.usage,
        };
        yielded(lease, body).await
    }

    /// A conversation's turn is over: its reply is in the log, and the session rests until the person speaks again.
    async fn rest(&self, lease: &Lease, hand: &Hand, job: &Job, (result, usage): (Option<Json>, Option<Json>)) -> End {
        let reply = match result.as_ref().map(reply_text) {
            Some(text) if !text.trim().is_empty() => text,
            _ => String::new(),
        };
        if !reply.is_empty() && !has_spoken(lease, job).await {
            let recorded = hand.record(event::texts(REPLY, &reply, &event::Notes::new())).await;
            if recorded.is_err() || hand.queue.flush().await.is_err() {
                return lease
                    .loss()
                    .map_or_else(|| End::Left("the log is closed".into()), |loss| End::Left(loss.to_string()));
            }
        }
        yielded(lease, resting(lease, "it replied", usage)).await
    }

    /// A turn that failed does not end its conversation: the person hears why, and may try again.
    async fn stumble(&self, lease: &Lease, hand: &Hand, failure: Failure) -> End {
        let notes = event::note("code", failure.code.clone());
        let recorded = hand.record(event::texts(Kind::SESSION_ERROR, &failure.message, &notes)).await;
        if recorded.is_err() || hand.queue.flush().await.is_err() {
            return lease
                .loss()
                .map_or_else(|| End::Left("the log is closed".into()), |loss| End::Left(loss.to_string()));
        }
        let detail: String = failure.message.chars().take(REASON_CHARS_MAX).collect();
        yielded(lease, resting(lease, &detail, json_of(failure.usage))).await
    }
}

/// Usage that an adapter reported, which is JSON.
fn json_of(usage: Option<String>) -> Option<Json> {
    usage.and_then(|usage| RawValue::from_string(usage).ok())
}

/// Parks the session as the body says.
async fn yielded(lease: &Lease, body: Yield) -> End {
    let parked = lease.insist(lease.backoff(), |_| lease.desk.yield_to(&lease.session_id, &body));
    match parked.await {
        // A repeat after an answer that got lost finds the session parked already.
        Err(error) if Loss::of(&error) == Some(Loss::Parked) => End::Parked,
        answer => ended(answer, End::Parked),
    }
}

fn resting(lease: &Lease, detail: &str, usage: Option<Json>) -> Yield {
    let detail = Some(detail.to_owned());
    let (attempt, status) = (lease.attempt, YieldStatus::Idle);
    Yield { attempt, status, detail, paused_tool_call: None, question: None, wait_for: None, usage }
}

/// What an agent says with its result: text as it is, anything else as JSON.
fn reply_text(result: &Json) -> String {
    serde_json::from_str::<String>(result.get()).unwrap_or_else(|_| match result.get() {
        "null" => String::new(),
        json => json.to_owned(),
    })
}

/// Whether the agent said something since this attempt began. One that cannot be asked has: nothing is said twice.
async fn has_spoken(lease: &Lease, job: &Job) -> bool {
    let range = EventRange {
        after_sequence: Some(job.session.head_sequence),
        event_types: vec![REPLY.to_owned()],
        limit: Some(1),
        ..EventRange::default()
    };
    let said = lease.insist(lease.backoff(), |_| lease.desk.events(&lease.session_id, &range)).await;
    said.map_or(true, |page| !page.events.is_empty())
}

/// What a claim hands to an agent.
pub(super) fn job(claimed: ClaimedSession) -> Job {
    let ClaimedSession { session, attempt, input, context, resume, denials, dependencies, children, .. } = claimed;
    Job {
        session,
        attempt,
        input,
        activity: context,
        resume: resume.map(Resume::from),
        denials,
        dependencies,
        children,
        refused: Vec::new(),
    }
}

/// Hands over the result. `Err` are the reasons why it breaks its contract, if the agent may mend it.
async fn complete(
    lease: &Lease,
    result: Option<Json>,
    usage: Option<Json>,
    may_mend: bool,
) -> Result<End, Vec<FieldProblem>> {
    let failed = |code: &str, why: String| Failure::new(code, why).having_cost(usage.as_ref());
    let body = Complete { attempt: lease.attempt, result, usage: usage.clone() };
    let answer = lease.insist(lease.backoff(), |_| lease.desk.complete(&lease.session_id, &body)).await;
    Ok(match answer {
        Ok(session) => match session.status {
            Status::Completed => End::Completed,
            Status::Failed => End::Failed(session.error.and_then(|error| error.code).unwrap_or_default()),
            // Its output waits for a reviewer.
            _ => End::Parked,
        },
        Err(error) => match (output_errors(&error), Loss::of(&error)) {
            (Some(errors), _) if may_mend => return Err(errors),
            (Some(errors), _) => {
                let why: Vec<_> = errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect();
                let why = format!("the output breaks its contract: {}", why.join("; "));
                fail(lease, &failed(Code::OutputInvalid.as_str(), why)).await
            }
            (None, Some(loss)) => End::Left(loss.to_string()),
            (None, None) if may_pass(&error) => End::Left(error.to_string()),
            (None, None) => fail(lease, &failed("result_refused", format!("the result was refused: {error}"))).await,
        },
    })
}

/// What is wrong with an output, if that is what the desk says.
fn output_errors(error: &Error) -> Option<Vec<FieldProblem>> {
    match error {
        Error::Problem { problem, .. } if problem.code == Code::OutputInvalid => Some(problem.errors.clone()),
        _ => None,
    }
}

/// The refusal, in the log: whoever goes on from the log has to know of it.
fn refusal_events(errors: &[FieldProblem]) -> Vec<wire::event::NewEvent> {
    let text = prompt::refusal(errors).unwrap_or_default();
    event::texts("external.event", &text, &event::note(event::OUTPUT_REFUSED, true))
}

async fn fail(lease: &Lease, failure: &Failure) -> End {
    let message = failure.message.chars().take(REASON_CHARS_MAX).collect();
    let error = SessionError { message, code: Some(failure.code.clone()) };
    let body = Fail { attempt: lease.attempt, error, usage: json_of(failure.usage.clone()) };
    let answer = lease.insist(lease.backoff(), |_| lease.desk.fail(&lease.session_id, &body)).await;
    ended(answer, End::Failed(failure.code.clone()))
}

async fn release(lease: &Lease) -> End {
    let release = lease.insist(lease.backoff(), |_| lease.desk.release(&lease.session_id, lease.attempt));
    match timeout(limit::RELEASE_TIME, release).await {
        // A repeat after an answer that got lost finds the session in the queue already.
        Ok(Err(error)) if Loss::of(&error) == Some(Loss::Parked) => End::Released,
        Ok(answer) => ended(answer, End::Released),
        Err(_) => End::Left("the server is out of reach; the lease will run out".into()),
    }
}

fn ended(answer: client::Result<Session>, end: End) -> End {
    match answer {
        Ok(_) => end,
        Err(error) => End::Left(Loss::of(&error).map_or_else(|| error.to_string(), |loss| loss.to_string())),
    }
}
