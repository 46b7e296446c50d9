//! The [`WorkerApi`] of agents that run in this process: calls the use cases of the worker routes directly, without
//! HTTP.

use crate::{problem::Problem, state::AppState, wire_map};
use client::EventRange;
use domain::{
    Caller, Scope,
    id::{ActionId, EntityId, SessionId, TenantId},
    role::Role,
};
use ledger::{
    TenantRecord, action, canvas, entity, entity_type, event, feedback_request, memory, relevance, session, tool,
    tool_run, view_link, worker,
};
use runner::execute::{ApiFuture, WorkerApi};
use std::{fmt, time::Duration};
use tokio::sync::oneshot;
use wire::{
    action::{Action, Trigger},
    canvas::{Canvas, CanvasPatches, PatchAnswer, SendPatch},
    entity::{CreateEntity, Entity, EntityType, UpdateEntity},
    event::{Append, Appended, Events},
    feedback_request::{AskFeedback, Asked, SessionContext, TakeAnswers},
    memory::{MemoryToolAnswer, MemoryToolCommand},
    relevance::{RateMemories, RatedMemories},
    session::Session,
    tool::ToolVersion,
    tool_run::{RunTool, ToolRun},
    worker::{Claim, Claimed, Complete, Delta, Fail, Lease, Progress, Yield},
};

/// The calls of one agent in one workspace.
#[derive(Clone)]
pub struct LocalWorkerApi {
    state: AppState,
    scope: Scope,
}

impl fmt::Debug for LocalWorkerApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LocalWorkerApi").field(&self.scope.tenant_id).finish()
    }
}

impl LocalWorkerApi {
    /// The API for the agent `slug`. It has the permissions of an operator, which its tools need; what it writes
    /// carries its name.
    pub fn new(state: AppState, tenant: &TenantRecord, slug: &str) -> Self {
        // Leaks one string per agent: agents come from the settings, once per process.
        let caller = Caller::Agent(Box::leak(slug.into()));
        Self { state, scope: Scope { role: Role::Operator, caller, ..Scope::system(tenant.id) } }
    }
}

impl LocalWorkerApi {
    /// The API for a part of the server that runs sessions itself. What it writes carries `name`.
    pub fn of_server(state: AppState, tenant_id: TenantId, name: &'static str) -> Self {
        Self { state, scope: Scope { role: Role::Operator, caller: Caller::Agent(name), ..Scope::system(tenant_id) } }
    }

    /// Claims sessions that are queued now, without recording a worker.
    ///
    /// # Errors
    /// Those of [`session::claim`].
    pub async fn claim_now(&self, claim: session::Claim) -> Result<Claimed, ledger::Error> {
        session::claim(&self.state.ledger, &self.scope, claim, Duration::ZERO).await.map(wire_map::claimed)
    }
}

/// Converts a refusal to the error that a client of the API receives.
fn refused(problem: impl Into<Problem>) -> client::Error {
    let problem: Problem = problem.into();
    if let Some(internal) = problem.internal_text() {
        tracing::error!(internal, "an agent's call failed");
    }
    let problem = problem.to_wire("in-process".into());
    client::Error::Problem { status: problem.status, problem: Box::new(problem), retry_after: None }
}

impl WorkerApi for LocalWorkerApi {
    fn claim<'a>(&'a self, claim: &'a Claim) -> ApiFuture<'a, Claimed> {
        Box::pin(async move {
            let wait = Duration::from_secs(claim.wait_seconds.unwrap_or_default().into());
            let (state, scope, wanted) = (self.state.clone(), self.scope, wire_map::claim(claim.clone()));
            let (mut answer, claimed) = oneshot::channel();
            // Runs the claim in its own task, so that a caller that is dropped does not abort the
            // claim. In that case the task releases the claimed sessions.
            tokio::spawn(async move {
                let stop = async {
                    tokio::select! {
                        () = state.shutdown.begun() => {}
                        () = answer.closed() => {}
                    }
                };
                let claimed = worker::claim_seen(&state.ledger, &scope, None, wanted, wait, stop).await;
                if let Err(Ok(unclaimed)) = answer.send(claimed) {
                    session::release_all(&state.ledger, &scope, unclaimed).await;
                }
            });
            let gone = |_| refused(Problem::internal("a claim ended without an answer"));
            let records = claimed.await.map_err(gone)?.map_err(refused)?;
            self.state.metrics.record_claims(records.len());
            Ok(wire_map::claimed(records))
        })
    }

    fn append<'a>(&'a self, session_id: SessionId, append: &'a Append) -> ApiFuture<'a, Appended> {
        Box::pin(async move {
            let append = wire_map::append(session_id, append.clone());
            event::append(&self.state.ledger, &self.scope, append).await.map(wire_map::appended).map_err(refused)
        })
    }

    fn send_delta<'a>(&'a self, session_id: SessionId, delta: &'a Delta) -> ApiFuture<'a, ()> {
        Box::pin(async move {
            let delta = wire_map::delta_from_wire(delta.clone());
            event::send_delta(&self.state.ledger, &self.scope, session_id, delta).await.map_err(refused)
        })
    }

    fn send_progress<'a>(&'a self, session_id: SessionId, progress: &'a Progress) -> ApiFuture<'a, ()> {
        Box::pin(async move {
            let progress = wire_map::progress_from_wire(progress.clone());
            event::send_progress(&self.state.ledger, &self.scope, session_id, progress).await.map_err(refused)
        })
    }

    fn heartbeat<'a>(&'a self, session_id: SessionId, attempt: u32, allowed: Duration) -> ApiFuture<'a, Lease> {
        Box::pin(async move {
            let beat = session::heartbeat(&self.state.ledger, &self.scope, session_id, attempt);
            let beat = tokio::time::timeout(allowed, beat).await.map_err(|_| client::Error::Timeout(allowed))?;
            let lease_expires_at = beat.map_err(refused)?;
            worker::see_again(&self.state.ledger, &self.scope, None, lease_expires_at).await;
            Ok(Lease { lease_expires_at })
        })
    }

    fn complete<'a>(&'a self, session_id: SessionId, complete: &'a Complete) -> ApiFuture<'a, Session> {
        Box::pin(async move {
            let (completion, if_status) = wire_map::completion(complete.clone());
            let ledger = &self.state.ledger;
            let done = session::complete_in(ledger, &self.scope, session_id, completion, if_status).await;
            done.map(wire_map::session).map_err(refused)
        })
    }

    fn fail<'a>(&'a self, session_id: SessionId, fail: &'a Fail) -> ApiFuture<'a, Session> {
        Box::pin(async move {
            let (failure, if_status) = wire_map::failure(fail.clone());
            let done = session::fail_in(&self.state.ledger, &self.scope, session_id, failure, if_status).await;
            done.map(wire_map::session).map_err(refused)
        })
    }

    fn yield_to<'a>(&'a self, session_id: SessionId, to: &'a Yield) -> ApiFuture<'a, Session> {
        Box::pin(async move {
            let yield_request = wire_map::yield_request(to.clone()).map_err(refused)?;
            let done = session::yield_to(&self.state.ledger, &self.scope, session_id, yield_request).await;
            done.map(wire_map::session).map_err(refused)
        })
    }

    fn ask_feedback<'a>(&'a self, session_id: SessionId, ask: &'a AskFeedback) -> ApiFuture<'a, Asked> {
        Box::pin(async move {
            let new = wire_map::new_request(ask.clone()).map_err(refused)?;
            let made = view_link::ask(&self.state.ledger, &self.scope, session_id, new).await;
            let (recorded, link) = made.map_err(refused)?;
            Ok(wire_map::recorded_request(recorded, link))
        })
    }

    fn take_answers<'a>(&'a self, session_id: SessionId, take: &'a TakeAnswers) -> ApiFuture<'a, SessionContext> {
        Box::pin(async move {
            let (attempt, call) = (take.attempt, take.idempotency_key.clone());
            let taken = feedback_request::take(&self.state.ledger, &self.scope, session_id, attempt, call).await;
            Ok(wire_map::taken(taken.map_err(refused)?))
        })
    }

    fn release<'a>(&'a self, session_id: SessionId, attempt: u32) -> ApiFuture<'a, Session> {
        Box::pin(async move {
            let done = session::release(&self.state.ledger, &self.scope, session_id, attempt).await;
            done.map(wire_map::session).map_err(refused)
        })
    }

    fn events<'a>(&'a self, session_id: SessionId, range: &'a EventRange) -> ApiFuture<'a, Events> {
        Box::pin(async move {
            let read = event::Read {
                after_sequence: range.after_sequence,
                before_sequence: range.before_sequence,
                kinds: range.event_types.clone(),
                limit: range.limit.unwrap_or_default(),
            };
            let id: SessionId = session_id;
            let slice = event::read(&self.state.ledger, &self.scope, id, read).await.map_err(refused)?;
            Ok(Events {
                events: slice.events.into_iter().map(wire_map::event).collect(),
                head_sequence: slice.head_sequence,
                has_more: slice.has_more,
            })
        })
    }

    fn action<'a>(&'a self, action_id: ActionId) -> ApiFuture<'a, Action> {
        Box::pin(async move {
            action::get(&self.state.ledger, &self.scope, action_id).await.map(wire_map::action).map_err(refused)
        })
    }

    fn entity<'a>(&'a self, entity_id: EntityId) -> ApiFuture<'a, Entity> {
        Box::pin(async move {
            entity::get(&self.state.ledger, &self.scope, entity_id).await.map(wire_map::entity).map_err(refused)
        })
    }

    fn entity_type<'a>(&'a self, slug: &'a str) -> ApiFuture<'a, Option<EntityType>> {
        Box::pin(async move {
            match entity_type::get_by_slug(&self.state.ledger, &self.scope, slug).await {
                Ok(found) => Ok(Some(wire_map::entity_type(found))),
                Err(ledger::Error::NotFound(_)) => Ok(None),
                Err(error) => Err(refused(error)),
            }
        })
    }

    fn create_entity<'a>(&'a self, session_id: SessionId, entity: &'a CreateEntity) -> ApiFuture<'a, Entity> {
        Box::pin(async move {
            let new = wire_map::new_entity(entity.clone());
            let made = entity::create_in(&self.state.ledger, &self.scope, new, Some(session_id)).await;
            made.map(wire_map::entity).map_err(refused)
        })
    }

    fn update_entity<'a>(
        &'a self,
        session_id: SessionId,
        entity_id: EntityId,
        change: &'a UpdateEntity,
    ) -> ApiFuture<'a, Entity> {
        Box::pin(async move {
            let change = wire_map::entity_change(change.clone());
            let ledger = &self.state.ledger;
            let written = entity::update_in(ledger, &self.scope, entity_id, change, Some(session_id)).await;
            written.map(wire_map::entity).map_err(refused)
        })
    }

    fn call_memory_tool<'a>(
        &'a self,
        session_id: SessionId,
        sequence: Option<u64>,
        command: &'a MemoryToolCommand,
    ) -> ApiFuture<'a, MemoryToolAnswer> {
        Box::pin(async move {
            let ledger = &self.state.ledger;
            let session = session::get(ledger, &self.scope, session_id).await.map_err(refused)?;
            let agent = session.agent_slug.unwrap_or_default();
            let command = wire_map::memory_tool_command(command.clone());
            let answer = memory::tool(ledger, &self.scope, &agent, Some(session_id), sequence, command).await;
            let answer = answer.map_err(refused)?;
            Ok(MemoryToolAnswer { content: answer.text, is_error: answer.is_error, version: answer.version })
        })
    }

    fn rate_memories<'a>(&'a self, session_id: SessionId, rate: &'a RateMemories) -> ApiFuture<'a, RatedMemories> {
        Box::pin(async move {
            let ratings = wire_map::memory_ratings(&rate.memory_feedback).map_err(refused)?;
            let ledger = &self.state.ledger;
            let report = relevance::rate(ledger, &self.scope, session_id, rate.attempt, ratings).await;
            report.map(wire_map::rated_memories).map_err(refused)
        })
    }

    fn canvas<'a>(&'a self, id: SessionId) -> ApiFuture<'a, Canvas> {
        Box::pin(async move {
            canvas::get(&self.state.ledger, &self.scope, id).await.map(wire_map::canvas).map_err(refused)
        })
    }

    fn canvas_patches<'a>(&'a self, id: SessionId, after: u64, wait_seconds: u32) -> ApiFuture<'a, CanvasPatches> {
        Box::pin(async move {
            let (ledger, wait) = (&self.state.ledger, Duration::from_secs(wait_seconds.into()));
            let stop = self.state.shutdown.begun();
            let found = canvas::wait_for_patches(ledger, &self.scope, id, (after, 0), wait, stop).await;
            found.map(wire_map::canvas_patches).map_err(refused)
        })
    }

    fn patch_canvas<'a>(&'a self, id: SessionId, patch: &'a SendPatch) -> ApiFuture<'a, PatchAnswer> {
        Box::pin(async move {
            let sent = wire_map::sent_patch(patch.clone());
            let outcome = canvas::patch(&self.state.ledger, &self.scope, id, sent).await;
            outcome.map(wire_map::patch_answer).map_err(refused)
        })
    }

    fn action_by_slug<'a>(&'a self, slug: &'a str) -> ApiFuture<'a, Option<Action>> {
        Box::pin(async move {
            let found = action::find_by_slug(&self.state.ledger, &self.scope, slug).await.map_err(refused)?;
            Ok(found.map(wire_map::action))
        })
    }

    fn trigger<'a>(&'a self, action_id: ActionId, trigger: &'a Trigger) -> ApiFuture<'a, Session> {
        Box::pin(async move {
            let trigger = wire_map::trigger(trigger.clone()).map_err(refused)?;
            let started = action::trigger(&self.state.ledger, &self.scope, action_id, trigger).await;
            started.map(wire_map::session).map_err(refused)
        })
    }

    fn published_tool<'a>(&'a self, slug: &'a str) -> ApiFuture<'a, Option<ToolVersion>> {
        Box::pin(async move {
            let found = tool::find_published(&self.state.ledger, &self.scope, slug).await.map_err(refused)?;
            Ok(found.map(wire_map::tool_version))
        })
    }

    fn run_tool<'a>(&'a self, slug: &'a str, run: &'a RunTool) -> ApiFuture<'a, ToolRun> {
        Box::pin(async move {
            let (ledger, scope) = (&self.state.ledger, &self.scope);
            let wait = Duration::from_secs(run.wait_seconds.unwrap_or_default().into());
            let begun = tool_run::run(ledger, scope, slug, wire_map::run_tool(run.clone())).await.map_err(refused)?;
            let stop = self.state.shutdown.begun();
            let session = tool_run::wait_for_end(ledger, scope, begun.id, wait, stop).await.map_err(refused)?;
            Ok(wire_map::tool_run(session))
        })
    }
}
