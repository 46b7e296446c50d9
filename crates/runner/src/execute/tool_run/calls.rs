//! The calls of a run, as its log has them.

use super::{
    super::{
        adapter::{Failure, Job, JobContext},
        event_queue::Closed,
    },
    terms::Failed,
};
use client::EventRange;
use domain::{
    event::{
        Body, Known,
        kind::{Invocation, InvocationCompleted, InvocationFailed, InvocationStarted, OfKind},
    },
    limit::PAGE_MAX,
    tool::run::ToolRun,
};
use serde_json::value::RawValue;
use tokio::time::Instant;
use wire::event::{Event, NewEvent};

/// The kinds of events about calls.
const KINDS: [Known; 3] = [Known::ToolInvocationStarted, Known::ToolInvocationCompleted, Known::ToolInvocationFailed];

/// What an earlier attempt recorded last.
enum Earlier {
    /// No call.
    Nothing,
    /// The beginning of a call.
    Began,
    /// The end of a call, without the result, which is in no event.
    Ended,
    /// A failure.
    Failed(Failed),
}

/// Records the calls of one run.
pub(super) struct Calls<'a> {
    context: &'a JobContext,
    run: &'a ToolRun,
    /// Calls so far, those of earlier attempts included.
    count: u64,
    earlier: Earlier,
    began: Instant,
}

impl<'a> Calls<'a> {
    /// Reads what earlier attempts recorded.
    ///
    /// # Errors
    /// If the log cannot be read while the lease is held.
    pub async fn read(job: &Job, context: &'a JobContext, run: &'a ToolRun) -> Result<Self, Failure> {
        let mut calls = Self { context, run, count: 0, earlier: Earlier::Nothing, began: Instant::now() };
        // A session that was never claimed before has no call.
        if job.attempt > 1 {
            let range = EventRange {
                before_sequence: Some(job.session.head_sequence + 1),
                event_types: KINDS.map(|kind| kind.as_str().to_owned()).into(),
                limit: Some(PAGE_MAX),
                ..EventRange::default()
            };
            let lease = &context.lease;
            let read = lease.retry_while_held(lease.backoff(), |_| lease.api.events(lease.session_id, &range)).await;
            let read =
                read.map_err(|error| Failure::new("log_unreadable", format!("its log cannot be read: {error}")))?;
            read.events.iter().for_each(|event| calls.apply(event));
        }
        Ok(calls)
    }

    fn apply(&mut self, event: &Event) {
        match event.body() {
            Body::ToolInvocationStarted(_) => {
                self.count += 1;
                self.earlier = Earlier::Began;
            }
            Body::ToolInvocationCompleted(_) => self.earlier = Earlier::Ended,
            Body::ToolInvocationFailed(InvocationFailed(call)) => {
                let text = call.text.unwrap_or_default();
                self.earlier = Earlier::Failed(Failed::final_one(&call.code.unwrap_or_default(), text));
            }
            _ => {}
        }
    }

    /// Number of calls so far.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Why the run fails without another call, if an earlier attempt made one that must not be repeated.
    ///
    /// # Errors
    /// If the lease is lost.
    pub async fn refuse_repeat(&self) -> Result<Option<Failed>, Closed> {
        if self.run.repeatable {
            return Ok(None);
        }
        let failed = match &self.earlier {
            Earlier::Nothing => return Ok(None),
            Earlier::Began => {
                let failed = Failed::unknown("An earlier attempt began the call and was lost");
                self.record_failure(&failed, None).await?;
                failed
            }
            Earlier::Ended => Failed::unknown("The call of an earlier attempt ended, and its result was lost"),
            Earlier::Failed(failed) => failed.clone(),
        };
        Ok(Some(failed))
    }

    /// Records that a call begins, and waits until that is stored.
    ///
    /// # Errors
    /// If the lease is lost: the call must not be made.
    pub async fn begin(&mut self) -> Result<(), Closed> {
        self.count += 1;
        self.record(&InvocationStarted(self.invocation())).await?;
        self.context.events.flush().await?;
        self.began = Instant::now();
        Ok(())
    }

    /// Records that the call ended.
    ///
    /// # Errors
    /// If the lease is lost.
    pub async fn complete(&self, status: Option<u16>) -> Result<(), Closed> {
        let call = Invocation { status: status.map(u64::from), duration_ms: self.took(), ..self.invocation() };
        self.record(&InvocationCompleted(call)).await
    }

    /// Records that the call failed.
    ///
    /// # Errors
    /// If the lease is lost.
    pub async fn fail(&self, failed: &Failed) -> Result<(), Closed> {
        self.record_failure(failed, self.took()).await
    }

    async fn record_failure(&self, failed: &Failed, duration_ms: Option<u64>) -> Result<(), Closed> {
        let call = Invocation {
            text: Some(failed.text.clone()),
            status: failed.status.map(u64::from),
            duration_ms,
            code: Some(failed.code.clone()),
            ..self.invocation()
        };
        self.record(&InvocationFailed(call)).await
    }

    fn took(&self) -> Option<u64> {
        u64::try_from(self.began.elapsed().as_millis()).ok()
    }

    fn invocation(&self) -> Invocation {
        Invocation {
            tool_call_id: Some(self.count.to_string()),
            tool_name: Some(self.run.slug.clone()),
            version: Some(self.run.version),
            call: Some(self.count),
            ..Invocation::default()
        }
    }

    async fn record<P: OfKind>(&self, payload: &P) -> Result<(), Closed> {
        let event = NewEvent {
            id: None,
            kind: P::KIND.as_str().to_owned(),
            role: None,
            content: RawValue::from_string(payload.content()).ok(),
            metadata: RawValue::from_string(payload.metadata()).ok(),
            thread_id: None,
            external_event_id: None,
            at: None,
        };
        self.context.record([event]).await
    }
}
