//! What an executor asks of Shiftbook: the worker protocol, and what tools read and write. A server in the same process
//! answers it, or one on the other side of HTTP.
//!
//! Both speak the types of the API, and both fail with its errors, so that nothing above knows where it runs.

use client::{Client, EventRange, Result};
use domain::limit::PAGE_MAX;
use std::{fmt::Debug, future::Future, pin::Pin, time::Duration};
use wire::{
    action::{Action, Trigger},
    entity::{CreateEntity, Entity, EntityType, UpdateEntity},
    event::{Append, Appended, Events},
    session::Session,
    worker::{Claim, Claimed, Complete, Delta, Fail, Lease, Yield},
};

/// An answer on its way.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// The calls of one worker. All of them are safe to repeat, as docs/agents.md says for each.
pub trait Desk: Debug + Send + Sync + 'static {
    /// Sessions to work on; waits for the first as long as the claim says.
    fn claim<'a>(&'a self, claim: &'a Claim) -> Answer<'a, Claimed>;

    /// Records events: all or none.
    fn append<'a>(&'a self, session_id: &'a str, append: &'a Append) -> Answer<'a, Appended>;

    /// Tells a piece of an unfinished answer to whoever follows. Nothing depends on it.
    fn tell_delta<'a>(&'a self, session_id: &'a str, delta: &'a Delta) -> Answer<'a, ()>;

    /// Keeps the lease, within `allowed` or not at all.
    fn heartbeat<'a>(&'a self, session_id: &'a str, attempt: u32, allowed: Duration) -> Answer<'a, Lease>;

    /// Hands over the result.
    fn complete<'a>(&'a self, session_id: &'a str, complete: &'a Complete) -> Answer<'a, Session>;

    /// Reports an error.
    fn fail<'a>(&'a self, session_id: &'a str, fail: &'a Fail) -> Answer<'a, Session>;

    /// Parks the session until what it waits for has come.
    fn yield_to<'a>(&'a self, session_id: &'a str, to: &'a Yield) -> Answer<'a, Session>;

    /// Puts the session back into the queue, unfinished.
    fn release<'a>(&'a self, session_id: &'a str, attempt: u32) -> Answer<'a, Session>;

    /// A part of a session's log.
    fn events<'a>(&'a self, session_id: &'a str, range: &'a EventRange) -> Answer<'a, Events>;

    /// The action a session executes.
    fn action<'a>(&'a self, id: &'a str) -> Answer<'a, Action>;

    /// One entity.
    fn entity<'a>(&'a self, id: &'a str) -> Answer<'a, Entity>;

    /// The type of this slug; `None` where there is none.
    fn entity_type<'a>(&'a self, slug: &'a str) -> Answer<'a, Option<EntityType>>;

    /// Makes an entity, at work on a session. Over HTTP its history names the worker's token alone.
    fn create_entity<'a>(&'a self, session_id: &'a str, entity: &'a CreateEntity) -> Answer<'a, Entity>;

    /// Writes an entity's next version, at work on a session.
    fn update_entity<'a>(&'a self, session_id: &'a str, id: &'a str, change: &'a UpdateEntity) -> Answer<'a, Entity>;

    /// The action of this slug; `None` where there is none.
    fn action_by_slug<'a>(&'a self, slug: &'a str) -> Answer<'a, Option<Action>>;

    /// Starts a session of an action. With the same key it answers with the same session, as that stands by then.
    fn trigger<'a>(&'a self, action_id: &'a str, trigger: &'a Trigger) -> Answer<'a, Session>;
}

impl Desk for Client {
    fn claim<'a>(&'a self, claim: &'a Claim) -> Answer<'a, Claimed> {
        Box::pin(Self::claim(self, claim))
    }

    fn append<'a>(&'a self, session_id: &'a str, append: &'a Append) -> Answer<'a, Appended> {
        Box::pin(Self::append(self, session_id, append))
    }

    fn tell_delta<'a>(&'a self, session_id: &'a str, delta: &'a Delta) -> Answer<'a, ()> {
        Box::pin(Self::tell_delta(self, session_id, delta))
    }

    fn heartbeat<'a>(&'a self, session_id: &'a str, attempt: u32, allowed: Duration) -> Answer<'a, Lease> {
        Box::pin(Self::heartbeat(self, session_id, attempt, allowed))
    }

    fn complete<'a>(&'a self, session_id: &'a str, complete: &'a Complete) -> Answer<'a, Session> {
        let Complete { attempt, result, usage } = complete.clone();
        Box::pin(Self::complete(self, session_id, attempt, result, usage))
    }

    fn fail<'a>(&'a self, session_id: &'a str, fail: &'a Fail) -> Answer<'a, Session> {
        Box::pin(self.report_failure(session_id, fail))
    }

    fn yield_to<'a>(&'a self, session_id: &'a str, to: &'a Yield) -> Answer<'a, Session> {
        Box::pin(Self::yield_to(self, session_id, to))
    }

    fn release<'a>(&'a self, session_id: &'a str, attempt: u32) -> Answer<'a, Session> {
        Box::pin(Self::release(self, session_id, attempt))
    }

    fn events<'a>(&'a self, session_id: &'a str, range: &'a EventRange) -> Answer<'a, Events> {
        Box::pin(Self::events(self, session_id, range))
    }

    fn action<'a>(&'a self, id: &'a str) -> Answer<'a, Action> {
        Box::pin(self.get_action(id))
    }

    fn entity<'a>(&'a self, id: &'a str) -> Answer<'a, Entity> {
        Box::pin(self.get_entity(id))
    }

    fn entity_type<'a>(&'a self, slug: &'a str) -> Answer<'a, Option<EntityType>> {
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

    fn create_entity<'a>(&'a self, _: &'a str, entity: &'a CreateEntity) -> Answer<'a, Entity> {
        Box::pin(Self::create_entity(self, entity))
    }

    fn update_entity<'a>(&'a self, _: &'a str, id: &'a str, change: &'a UpdateEntity) -> Answer<'a, Entity> {
        Box::pin(Self::update_entity(self, id, change))
    }

    fn action_by_slug<'a>(&'a self, slug: &'a str) -> Answer<'a, Option<Action>> {
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

    fn trigger<'a>(&'a self, action_id: &'a str, trigger: &'a Trigger) -> Answer<'a, Session> {
        Box::pin(Self::trigger(self, action_id, trigger))
    }
}
