//! Tools that workers run.

use super::{
    super::adapter::{Adapter, Failure, Job, JobContext, Outcome},
    calls::Calls,
    terms::Failed,
};
use domain::tool::run::ToolRun;
use std::{future::Future, pin::Pin, sync::Arc};

/// Runs a tool by another adapter, and records the call.
#[derive(Debug)]
pub struct WorkerTool {
    /// Does the work: it gets the input and returns the result.
    pub inner: Arc<dyn Adapter>,
}

impl Adapter for WorkerTool {
    fn run<'a>(&'a self, job: &'a Job, context: &'a JobContext) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(self.work(job, context))
    }
}

impl WorkerTool {
    async fn work(&self, job: &Job, context: &JobContext) -> Outcome {
        let Some(run) = ToolRun::of_metadata(job.session.metadata.get()) else {
            return Outcome::Failed(Failure::new("no_tool", "the session names no version of a tool"));
        };
        let mut calls = match Calls::read(job, context, &run).await {
            Ok(calls) => calls,
            Err(failure) => return Outcome::Failed(failure),
        };
        match calls.refuse_repeat().await {
            Ok(None) => {}
            Ok(Some(failed)) => return Outcome::Failed(Failure::new(failed.code, failed.text)),
            Err(_) => return Outcome::Stopped,
        }
        if calls.begin().await.is_err() {
            return Outcome::Stopped;
        }
        let outcome = self.inner.run(job, context).await;
        // A closed queue means that the lease is lost, which the worker sees by itself.
        match outcome {
            Outcome::Done { .. } => {
                let _ = calls.complete(None).await;
            }
            Outcome::Failed(ref failure) => {
                let _ = calls.fail(&Failed::final_one(&failure.code, failure.message.clone())).await;
            }
            Outcome::Stopped if !run.repeatable && context.lease.loss().is_none() => {
                let failed = Failed::unknown("The worker stopped while the tool ran");
                let _ = calls.fail(&failed).await;
                return Outcome::Failed(Failure::new(failed.code, failed.text));
            }
            Outcome::Parked | Outcome::Yielded(_) | Outcome::Stopped => {}
        }
        outcome
    }
}
