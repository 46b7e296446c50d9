//! Sessions made, claimed and completed.

use super::{
    Script,
    append::{Held, claim, claimed, new_session},
    expect,
};
use crate::http::{Answer, Body, Request, credentials};
use anyhow::Result;
use std::{
    collections::HashSet,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use uuid::Uuid;

/// Makes sessions until a shared budget is used up.
pub struct CreateScript {
    request: Request,
    left: Arc<AtomicUsize>,
}

impl CreateScript {
    pub fn new(target: SocketAddr, token: &str, agent: &str, left: Arc<AtomicUsize>) -> Self {
        Self { request: Request::post(target, "/api/sessions", &credentials(token), &new_session(agent)), left }
    }
}

impl Script for CreateScript {
    fn request(&mut self) -> Option<&[u8]> {
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        taken.is_ok().then(|| self.request.bytes())
    }

    fn settle(&mut self, answer: &Answer<'_>) -> Result<u64> {
        expect(answer, 201)?;
        Ok(1)
    }
}

/// Claims one session after another and keeps them.
pub struct ClaimScript {
    request: Request,
    pub held: Vec<Uuid>,
    empty: bool,
}

impl ClaimScript {
    pub fn new(target: SocketAddr, token: &str, agent: &str) -> Self {
        let request = Request::post(target, "/api/sessions/claim", &credentials(token), &claim(agent, 1));
        Self { request, held: Vec::new(), empty: false }
    }
}

impl Script for ClaimScript {
    fn request(&mut self) -> Option<&[u8]> {
        (!self.empty).then(|| self.request.bytes())
    }

    fn body(&self) -> Body {
        Body::Keep
    }

    fn settle(&mut self, answer: &Answer<'_>) -> Result<u64> {
        expect(answer, 200)?;
        let held = claimed(answer.body)?;
        self.empty = held.is_empty();
        self.held.extend(held.iter().map(|held| held.id));
        Ok(held.len() as u64)
    }
}

/// A worker: claims a session, completes it, claims the next. A unit is such a pair.
pub struct PairScript {
    target: SocketAddr,
    token: String,
    claim: ClaimScript,
    complete: Option<Request>,
}

impl PairScript {
    pub fn new(target: SocketAddr, token: &str, agent: &str) -> Self {
        Self { target, token: token.to_owned(), claim: ClaimScript::new(target, token, agent), complete: None }
    }

    /// The sessions it was given.
    pub fn held(&self) -> &[Uuid] {
        &self.claim.held
    }

    fn complete(&self, held: &Held) -> Request {
        let path = format!("/api/sessions/{}/complete", held.id);
        let body = format!("{{\"attempt\":{},\"result\":{{\"supplier\":2}}}}", held.attempt);
        Request::post(self.target, &path, &credentials(&self.token), &body)
    }
}

impl Script for PairScript {
    fn request(&mut self) -> Option<&[u8]> {
        match &self.complete {
            Some(request) => Some(request.bytes()),
            None => self.claim.request(),
        }
    }

    fn body(&self) -> Body {
        if self.complete.is_some() { Body::Drop } else { Body::Keep }
    }

    fn settle(&mut self, answer: &Answer<'_>) -> Result<u64> {
        if self.complete.take().is_some() {
            expect(answer, 200)?;
            return Ok(1);
        }
        expect(answer, 200)?;
        match claimed(answer.body)?.first() {
            Some(held) => {
                self.claim.held.push(held.id);
                self.complete = Some(self.complete(held));
            }
            None => self.claim.empty = true,
        }
        Ok(0)
    }
}

/// How many sessions were given out more than once.
pub fn duplicates<'a>(held: impl Iterator<Item = &'a [Uuid]>) -> usize {
    let mut seen = HashSet::new();
    held.flatten().filter(|id| !seen.insert(**id)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_held_twice_is_a_duplicate() {
        let [a, b, c] = [1, 2, 3].map(Uuid::from_u128);
        assert_eq!(duplicates([&[a, b][..], &[c]].into_iter()), 0);
        assert_eq!(duplicates([&[a, b][..], &[b, a]].into_iter()), 2);
    }
}
