//! Appends: by a worker that holds its session, each event with an id of its own.

use super::{Script, expect};
use crate::{
    event,
    http::{Answer, Connection, Request, credentials},
    ids::Ids,
};
use anyhow::{Context as _, Result, ensure};
use memchr::memmem;
use serde::Deserialize;
use std::net::SocketAddr;
use uuid::{Uuid, fmt::Hyphenated};

/// The longest lease: a load sends no heartbeats.
const LEASE_SECONDS: u32 = 3_600;
/// Most sessions of one claim.
const CLAIM_MAX: usize = 100;
/// Placeholder of an id.
const NO_ID: &str = "00000000-0000-7000-8000-000000000000";

/// A worker that appends to the session it holds.
pub struct AppendScript {
    request: Request,
    /// Where the ids are in the body.
    ids_at: Vec<usize>,
    ids: Ids,
}

impl AppendScript {
    /// Appends `batch` events per request.
    pub fn new(target: SocketAddr, token: &str, held: &Held, batch: usize) -> Self {
        let events: Vec<String> = (0..batch).map(|index| event::json(NO_ID, index)).collect();
        let body = format!("{{\"attempt\":{},\"events\":[{}]}}", held.attempt, events.join(","));
        let path = format!("/api/sessions/{}/events", held.id);
        let request = Request::post(target, &path, &credentials(token), &body);
        let ids_at = memmem::find_iter(request.body(), NO_ID).collect();
        Self { request, ids_at, ids: Ids::new() }
    }
}

impl Script for AppendScript {
    fn request(&mut self) -> Option<&[u8]> {
        let body = self.request.body_mut();
        for &at in &self.ids_at {
            self.ids.next().as_hyphenated().encode_lower(&mut body[at..at + Hyphenated::LENGTH]);
        }
        Some(self.request.bytes())
    }

    fn settle(&mut self, answer: &Answer<'_>) -> Result<u64> {
        expect(answer, 201)?;
        Ok(self.ids_at.len() as u64)
    }
}

/// The same load on the probe, which knows neither sessions nor ids.
pub struct ProbeAppendScript(Request);

impl ProbeAppendScript {
    /// Appends one event per request, `bytes` long.
    pub fn new(target: SocketAddr, bytes: usize) -> Self {
        Self(Request::post(target, "/append", &[], &"x".repeat(bytes)))
    }

    pub fn into_request(self) -> Request {
        self.0
    }
}

impl Script for ProbeAppendScript {
    fn request(&mut self) -> Option<&[u8]> {
        Some(self.0.bytes())
    }

    fn settle(&mut self, answer: &Answer<'_>) -> Result<u64> {
        expect(answer, 201)?;
        Ok(1)
    }
}

/// A claimed session.
#[derive(Debug, Clone)]
pub struct Held {
    pub id: Uuid,
    pub attempt: u32,
}

#[derive(Deserialize)]
struct Claimed {
    sessions: Vec<ClaimedSession>,
}

#[derive(Deserialize)]
struct ClaimedSession {
    session: Named,
    attempt: u32,
}

#[derive(Deserialize)]
struct Named {
    id: Uuid,
}

/// The sessions in the answer to a claim.
pub fn claimed(body: &[u8]) -> Result<Vec<Held>> {
    let claimed: Claimed = serde_json::from_slice(body).context("the answer to a claim")?;
    Ok(claimed.sessions.into_iter().map(|held| Held { id: held.session.id, attempt: held.attempt }).collect())
}

/// The body of a request for a new session of this agent.
pub fn new_session(agent: &str) -> String {
    format!(
        "{{\"sessionType\":\"agent\",\"agentSlug\":\"{agent}\",\"title\":\"Compare three suppliers\",\"input\":{{\"order\":4711}}}}"
    )
}

/// The body of a claim.
pub fn claim(agent: &str, max: usize) -> String {
    format!("{{\"agentSlugs\":[\"{agent}\"],\"max\":{max},\"leaseSeconds\":{LEASE_SECONDS}}}")
}

/// The body of a claim that waits for work.
pub fn claim_and_wait(agent: &str) -> String {
    format!("{{\"agentSlugs\":[\"{agent}\"],\"max\":1,\"leaseSeconds\":{LEASE_SECONDS},\"waitSeconds\":10}}")
}

/// Creates a session of an agent of its own and claims it. Returns the agent and the session.
pub async fn claimed_session(target: SocketAddr, token: &str) -> Result<(String, Held)> {
    let agent = format!("bench-{:08x}", fastrand::u32(..));
    let held = claimed_session_of(target, token, &agent).await?;
    Ok((agent, held))
}

/// Creates a session of this agent and claims it.
pub async fn claimed_session_of(target: SocketAddr, token: &str, agent: &str) -> Result<Held> {
    let headers = credentials(token);
    let mut connection = Connection::open(target).await?;
    connection.call(&Request::post(target, "/api/sessions", &headers, &new_session(agent))).await?;
    let request = Request::post(target, "/api/sessions/claim", &headers, &claim(agent, 1));
    let held = claimed(connection.call(&request).await?.body)?.pop();
    held.context("the session could not be claimed")
}

/// Creates sessions and claims them, for as long as a load lasts.
pub async fn claimed_sessions(target: SocketAddr, token: &str, count: usize) -> Result<Vec<Held>> {
    // An agent of its own: nothing that another measurement left behind is claimed.
    let agent = format!("bench-{:08x}", fastrand::u32(..));
    claimed_sessions_of(target, token, &agent, count).await
}

/// Creates sessions of this agent, which has no others, and claims them.
pub async fn claimed_sessions_of(target: SocketAddr, token: &str, agent: &str, count: usize) -> Result<Vec<Held>> {
    let headers = credentials(token);
    let mut connection = Connection::open(target).await?;
    let create = Request::post(target, "/api/sessions", &headers, &new_session(agent));
    for _ in 0..count {
        connection.call(&create).await?;
    }
    let mut held = Vec::with_capacity(count);
    while held.len() < count {
        let request =
            Request::post(target, "/api/sessions/claim", &headers, &claim(agent, CLAIM_MAX.min(count - held.len())));
        let more = claimed(connection.call(&request).await?.body)?;
        ensure!(!more.is_empty(), "{} sessions were made, but only {} could be claimed", count, held.len());
        held.extend(more);
    }
    Ok(held)
}
