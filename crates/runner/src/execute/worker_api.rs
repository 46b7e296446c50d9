//! The calls that a worker and its tools make: the worker protocol, and reading and writing entities and actions.
//!
//! [`WorkerApi`] has two implementations: [`Client`] over HTTP, and one in the server that calls the use cases
//! directly. Both use the wire types and return the API's errors, so callers do not depend on which one they have.

use client::{Client, EventRange, Result};
use domain::{
    id::{ActionId, EntityId, SessionId},
    limit::PAGE_MAX,
    tool::State,
};
use std::{fmt::Debug, future::Future, pin::Pin, time::Duration};
use wire::{
    Code,
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

/// The result of one call, boxed so that the trait can be used as `dyn WorkerApi`.
pub type ApiFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// The calls of one worker. Every call can be repeated safely; docs/agents.md says how for each.
pub trait WorkerApi: Debug + Send + Sync + 'static {
    /// Claims pending sessions. Waits up to `claim.wait_seconds` for the first one.
    fn claim<'a>(&'a self, claim: &'a Claim) -> ApiFuture<'a, Claimed>;

    /// Appends events to the log: all of them or none.
    fn append<'a>(&'a self, session_id: SessionId, append: &'a Append) -> ApiFuture<'a, Appended>;

    /// Publishes a piece of a reply that is still being generated. Delivery is best-effort.
    fn send_delta<'a>(&'a self, session_id: SessionId, delta: &'a Delta) -> ApiFuture<'a, ()>;

    /// Publishes how far the session is. Delivery is best-effort.
    fn send_progress<'a>(&'a self, session_id: SessionId, progress: &'a Progress) -> ApiFuture<'a, ()>;

    /// Extends the lease. Fails with a timeout after `allowed`.
    fn heartbeat<'a>(&'a self, session_id: SessionId, attempt: u32, allowed: Duration) -> ApiFuture<'a, Lease>;

    /// Completes the session with its result.
    fn complete<'a>(&'a self, session_id: SessionId, complete: &'a Complete) -> ApiFuture<'a, Session>;

    /// Fails the session with an error.
    fn fail<'a>(&'a self, session_id: SessionId, fail: &'a Fail) -> ApiFuture<'a, Session>;

    /// Yields the session until what it waits for arrives: a decision, an answer, a message or its children.
    fn yield_to<'a>(&'a self, session_id: SessionId, to: &'a Yield) -> ApiFuture<'a, Session>;

    /// Asks people. A blocking request parks the session.
    fn ask_feedback<'a>(&'a self, session_id: SessionId, ask: &'a AskFeedback) -> ApiFuture<'a, Asked>;

    /// Takes answers of people that no claim has got yet. An answer is taken once; a repeat with the same key returns
    /// the same answers.
    fn take_answers<'a>(&'a self, session_id: SessionId, take: &'a TakeAnswers) -> ApiFuture<'a, SessionContext>;

    /// Returns the session to the queue, unfinished.
    fn release<'a>(&'a self, session_id: SessionId, attempt: u32) -> ApiFuture<'a, Session>;

    /// Reads a page of a session's log.
    fn events<'a>(&'a self, session_id: SessionId, range: &'a EventRange) -> ApiFuture<'a, Events>;

    /// Reads an action by its id.
    fn action<'a>(&'a self, id: ActionId) -> ApiFuture<'a, Action>;

    /// Reads an entity by its id.
    fn entity<'a>(&'a self, id: EntityId) -> ApiFuture<'a, Entity>;

    /// Finds an entity type by its slug.
    fn entity_type<'a>(&'a self, slug: &'a str) -> ApiFuture<'a, Option<EntityType>>;

    /// Creates an entity on behalf of a session. Over HTTP the entity's history names only the worker's token.
    fn create_entity<'a>(&'a self, session_id: SessionId, entity: &'a CreateEntity) -> ApiFuture<'a, Entity>;

    /// Writes the next version of an entity on behalf of a session.
    fn update_entity<'a>(
        &'a self,
        session_id: SessionId,
        id: EntityId,
        change: &'a UpdateEntity,
    ) -> ApiFuture<'a, Entity>;

    /// Runs a command of the memory tool over the documents of the session's agent. `sequence` names the event in which
    /// the agent calls it; what the command writes records that event as its origin.
    fn call_memory_tool<'a>(
        &'a self,
        session_id: SessionId,
        sequence: Option<u64>,
        command: &'a MemoryToolCommand,
    ) -> ApiFuture<'a, MemoryToolAnswer>;

    /// Rates memories that the session was given. A repeat changes nothing.
    fn rate_memories<'a>(&'a self, session_id: SessionId, rate: &'a RateMemories) -> ApiFuture<'a, RatedMemories>;

    /// Reads a canvas with its newest document.
    fn canvas<'a>(&'a self, id: SessionId) -> ApiFuture<'a, Canvas>;

    /// Reads patches of a canvas after a version, oldest first. If there are none, waits for one.
    fn canvas_patches<'a>(&'a self, id: SessionId, after: u64, wait_seconds: u32) -> ApiFuture<'a, CanvasPatches>;

    /// Changes a canvas. The same patch under the same id is applied once.
    fn patch_canvas<'a>(&'a self, id: SessionId, patch: &'a SendPatch) -> ApiFuture<'a, PatchAnswer>;

    /// Finds an action by its slug.
    fn action_by_slug<'a>(&'a self, slug: &'a str) -> ApiFuture<'a, Option<Action>>;

    /// Starts a session of an action. A repeat with the same idempotency key returns the same session in its current
    /// state.
    fn trigger<'a>(&'a self, action_id: ActionId, trigger: &'a Trigger) -> ApiFuture<'a, Session>;

    /// Finds the version of a tool that new runs use; `None` if the workspace has no such tool or it is not published.
    fn published_tool<'a>(&'a self, slug: &'a str) -> ApiFuture<'a, Option<ToolVersion>>;

    /// Runs a tool and waits up to `run.wait_seconds` for its end. A repeat with the same idempotency key returns the
    /// same run in its current state.
    fn run_tool<'a>(&'a self, slug: &'a str, run: &'a RunTool) -> ApiFuture<'a, ToolRun>;
}

impl WorkerApi for Client {
    fn claim<'a>(&'a self, claim: &'a Claim) -> ApiFuture<'a, Claimed> {
        Box::pin(Self::claim(self, claim))
    }

    fn append<'a>(&'a self, session_id: SessionId, append: &'a Append) -> ApiFuture<'a, Appended> {
        Box::pin(Self::append(self, session_id, append))
    }

    fn send_delta<'a>(&'a self, session_id: SessionId, delta: &'a Delta) -> ApiFuture<'a, ()> {
        Box::pin(Self::send_delta(self, session_id, delta))
    }

    fn send_progress<'a>(&'a self, session_id: SessionId, progress: &'a Progress) -> ApiFuture<'a, ()> {
        Box::pin(Self::send_progress(self, session_id, progress))
    }

    fn heartbeat<'a>(&'a self, session_id: SessionId, attempt: u32, allowed: Duration) -> ApiFuture<'a, Lease> {
        Box::pin(Self::heartbeat(self, session_id, attempt, allowed))
    }

    fn complete<'a>(&'a self, session_id: SessionId, complete: &'a Complete) -> ApiFuture<'a, Session> {
        Box::pin(self.report_completion(session_id, complete))
    }

    fn fail<'a>(&'a self, session_id: SessionId, fail: &'a Fail) -> ApiFuture<'a, Session> {
        Box::pin(self.report_failure(session_id, fail))
    }

    fn yield_to<'a>(&'a self, session_id: SessionId, to: &'a Yield) -> ApiFuture<'a, Session> {
        Box::pin(Self::yield_to(self, session_id, to))
    }

    fn ask_feedback<'a>(&'a self, session_id: SessionId, ask: &'a AskFeedback) -> ApiFuture<'a, Asked> {
        Box::pin(Self::ask_feedback(self, session_id, ask))
    }

    fn take_answers<'a>(&'a self, session_id: SessionId, take: &'a TakeAnswers) -> ApiFuture<'a, SessionContext> {
        Box::pin(Self::take_answers(self, session_id, take))
    }

    fn release<'a>(&'a self, session_id: SessionId, attempt: u32) -> ApiFuture<'a, Session> {
        Box::pin(Self::release(self, session_id, attempt))
    }

    fn events<'a>(&'a self, session_id: SessionId, range: &'a EventRange) -> ApiFuture<'a, Events> {
        Box::pin(Self::events(self, session_id, range))
    }

    fn action<'a>(&'a self, id: ActionId) -> ApiFuture<'a, Action> {
        Box::pin(self.get_action(id))
    }

    fn entity<'a>(&'a self, id: EntityId) -> ApiFuture<'a, Entity> {
        Box::pin(self.get_entity(id))
    }

    fn entity_type<'a>(&'a self, slug: &'a str) -> ApiFuture<'a, Option<EntityType>> {
        Box::pin(async move {
            let mut cursor = None;
            loop {
                let page = self.list_entity_types(cursor.as_deref()).await?;
                if let Some(found) = page.items.into_iter().find(|kind| kind.slug == slug) {
                    return Ok(Some(found));
                }
                match page.next_cursor {
                    Some(next) => cursor = Some(next),
                    None => return Ok(None),
                }
            }
        })
    }

    fn create_entity<'a>(&'a self, _: SessionId, entity: &'a CreateEntity) -> ApiFuture<'a, Entity> {
        Box::pin(Self::create_entity(self, entity))
    }

    fn update_entity<'a>(&'a self, _: SessionId, id: EntityId, change: &'a UpdateEntity) -> ApiFuture<'a, Entity> {
        Box::pin(Self::update_entity(self, id, change))
    }

    fn call_memory_tool<'a>(
        &'a self,
        session_id: SessionId,
        sequence: Option<u64>,
        command: &'a MemoryToolCommand,
    ) -> ApiFuture<'a, MemoryToolAnswer> {
        Box::pin(async move {
            let session = self.get_session(session_id).await?;
            let agent = session.agent_slug.unwrap_or_default();
            Self::call_memory_tool(self, &agent, (session_id, sequence), command).await
        })
    }

    fn rate_memories<'a>(&'a self, session_id: SessionId, rate: &'a RateMemories) -> ApiFuture<'a, RatedMemories> {
        Box::pin(Self::rate_memories(self, session_id, rate))
    }

    fn canvas<'a>(&'a self, id: SessionId) -> ApiFuture<'a, Canvas> {
        Box::pin(self.get_canvas(id))
    }

    fn canvas_patches<'a>(&'a self, id: SessionId, after: u64, wait_seconds: u32) -> ApiFuture<'a, CanvasPatches> {
        Box::pin(Self::canvas_patches(self, id, after, wait_seconds))
    }

    fn patch_canvas<'a>(&'a self, id: SessionId, patch: &'a SendPatch) -> ApiFuture<'a, PatchAnswer> {
        Box::pin(Self::patch_canvas(self, id, patch))
    }

    fn action_by_slug<'a>(&'a self, slug: &'a str) -> ApiFuture<'a, Option<Action>> {
        Box::pin(async move {
            let mut cursor = None;
            loop {
                let page = self.list_actions(Some(PAGE_MAX), cursor.as_deref()).await?;
                let found = page.items.into_iter().find(|action| action.slug == slug);
                match (found, page.next_cursor) {
                    (None, Some(next)) => cursor = Some(next),
                    (found, _) => return Ok(found),
                }
            }
        })
    }

    fn trigger<'a>(&'a self, action_id: ActionId, trigger: &'a Trigger) -> ApiFuture<'a, Session> {
        Box::pin(Self::trigger(self, action_id, trigger))
    }

    fn published_tool<'a>(&'a self, slug: &'a str) -> ApiFuture<'a, Option<ToolVersion>> {
        Box::pin(async move {
            match self.get_tool(slug).await {
                Ok(tool) if tool.state == State::Published => {
                    // The newest version is the one that was published last.
                    let newest = self.tool_versions(slug, Some(1), None).await?;
                    Ok(newest.items.into_iter().next())
                }
                Ok(_) => Ok(None),
                Err(error) if error.code() == Some(Code::NotFound) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    fn run_tool<'a>(&'a self, slug: &'a str, run: &'a RunTool) -> ApiFuture<'a, ToolRun> {
        Box::pin(Self::run_tool(self, slug, run))
    }
}
