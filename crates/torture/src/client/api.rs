//! The calls of a client. Each is recorded as one operation of the history.

use super::{Connection, Reply, connection::ANSWER_MAX, parse};
use crate::{
    checker::FinalSession,
    history::{Answer, Op, Outcome, Recorder},
};
use anyhow::{Context as _, Result, bail};
use domain::chain::{Digest, Link, body_digest as chain_body, extend};
use hyper::Method;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::{sync::Arc, time::Duration};
use uuid::Uuid;

/// Events per page of the final read.
const PAGE_MAX: u64 = 1_000;
/// Reads of a session that keeps moving although all clients are done.
const FINAL_READS_MAX: u32 = 5;

/// Eight bytes of a SHA-256 over an event's content and metadata: enough to tell bodies apart.
pub fn body_digest(content: &str, metadata: &str) -> u64 {
    let mut hash = Sha256::new();
    hash.update(content.as_bytes());
    hash.update([0]);
    hash.update(metadata.as_bytes());
    let bytes: [u8; 32] = hash.finalize().into();
    bytes.iter().take(8).fold(0, |value, byte| (value << 8) | u64::from(*byte))
}

/// A session to create.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Slug of the agent that may claim the session.
    pub agent: String,
    /// Idempotency key.
    pub key: String,
}

/// A client of a round: a connection, and a process number in the history.
pub struct Api {
    /// Process number in the history.
    pub process: u32,
    /// The connection to the server.
    pub connection: Connection,
    recorder: Arc<Recorder>,
}

impl Api {
    /// A client that records its operations under `process`.
    pub fn new(process: u32, connection: Connection, recorder: Arc<Recorder>) -> Self {
        Self { process, connection, recorder }
    }

    /// The history that the client writes.
    pub fn recorder(&self) -> &Arc<Recorder> {
        &self.recorder
    }

    /// Sends a request and records it.
    async fn send(
        &mut self,
        op: &Op,
        (method, path, body): (Method, String, Option<Vec<u8>>),
        answer_max: Duration,
        parse: impl Fn(&[u8]) -> Result<Answer>,
    ) -> Outcome {
        let begun = self.recorder.begin(self.process, op);
        let outcome = match self.connection.call(method, &path, body, answer_max).await {
            Reply::Answered { status, body } => parse::outcome(status, &body, parse),
            Reply::NotSent(_) => Outcome::Fail { code: "not_sent".into() },
            Reply::Unknown(why) => Outcome::Info { why },
        };
        self.recorder.end(begun, outcome.clone());
        outcome
    }

    /// Appends. `body` is the JSON of the events, which the caller digested into `op`.
    pub async fn append(&mut self, op: &Op, session: Uuid, body: Vec<u8>) -> Outcome {
        let request = (Method::POST, format!("/api/sessions/{session}/events"), Some(body));
        self.send(op, request, ANSWER_MAX, parse::appended).await
    }

    /// Reads one page.
    pub async fn read(&mut self, session: Uuid, after: u64, limit: u32) -> Outcome {
        let path = format!("/api/sessions/{session}/events?afterSequence={after}&limit={limit}");
        self.send(&Op::Read { session, after, limit }, (Method::GET, path, None), ANSWER_MAX, parse::page).await
    }

    /// Claims up to `max` sessions of an agent, waiting up to `wait_seconds`.
    pub async fn claim(&mut self, agent: &str, max: u32, lease_seconds: u32, wait_seconds: u32) -> Outcome {
        let op = Op::Claim { agent: agent.to_owned(), lease_ms: u64::from(lease_seconds) * 1_000 };
        let body =
            json!({"agentSlugs": [agent], "max": max, "leaseSeconds": lease_seconds, "waitSeconds": wait_seconds});
        let request = (Method::POST, "/api/sessions/claim".to_owned(), Some(body.to_string().into_bytes()));
        self.send(&op, request, ANSWER_MAX + Duration::from_secs(wait_seconds.into()), parse::claimed).await
    }

    /// Extends the lease.
    pub async fn heartbeat(&mut self, session: Uuid, attempt: u32) -> Outcome {
        let request = post(session, "heartbeat", &json!({"attempt": attempt}));
        self.send(&Op::Heartbeat { session, attempt }, request, ANSWER_MAX, parse::done).await
    }

    /// Completes a session with `{"token": token}` as its result.
    pub async fn complete(&mut self, session: Uuid, attempt: u32, token: u64) -> Outcome {
        let request = post(session, "complete", &json!({"attempt": attempt, "result": {"token": token}}));
        self.send(&Op::Complete { session, attempt, token }, request, ANSWER_MAX, parse::completed).await
    }

    /// Releases the session.
    pub async fn release(&mut self, session: Uuid, attempt: u32) -> Outcome {
        let request = post(session, "release", &json!({"attempt": attempt}));
        self.send(&Op::Release { session, attempt }, request, ANSWER_MAX, parse::done).await
    }

    /// Reads the session's row.
    pub async fn status(&mut self, session: Uuid) -> Outcome {
        let request = (Method::GET, format!("/api/sessions/{session}"), None);
        self.send(&Op::Status { session }, request, ANSWER_MAX, parse::row).await
    }

    /// Creates a session; not part of the history, because creation is repeatable by its key.
    pub async fn create(&mut self, new: &NewSession) -> Result<Uuid> {
        let body =
            json!({"sessionType": "agent", "agentSlug": new.agent, "title": "torture", "idempotencyKey": new.key});
        let reply =
            self.connection.call(Method::POST, "/api/sessions", Some(body.to_string().into_bytes()), ANSWER_MAX).await;
        let session: wire::session::Session = serde_json::from_slice(&answered(reply, "create a session")?)?;
        Ok(session.id.0)
    }

    /// The whole session with its hash chain recomputed. Read again when its row moved meanwhile (a lease may
    /// run out at any time); a session that does not exist is an answer.
    pub async fn final_session(&mut self, id: Uuid, tenant: Uuid) -> Result<FinalSession> {
        for _ in 0..FINAL_READS_MAX {
            let Some(before) = self.row(id).await? else { return Ok(FinalSession::missing(id)) };
            let log = self.final_log(before, id, tenant).await?;
            let after = self.row(id).await?.context("the session vanished while it was read")?;
            if (after.head_sequence, after.status, after.attempt)
                == (log.head, log.status.unwrap_or(after.status), log.attempt)
            {
                return Ok(log);
            }
        }
        bail!("session {id} does not come to rest")
    }

    async fn row(&mut self, id: Uuid) -> Result<Option<wire::session::Session>> {
        let reply = self.connection.call(Method::GET, &format!("/api/sessions/{id}"), None, ANSWER_MAX).await;
        if matches!(reply, Reply::Answered { status: 404, .. }) {
            return Ok(None);
        }
        Ok(Some(serde_json::from_slice(&answered(reply, "read a session")?)?))
    }

    async fn final_log(&mut self, session: wire::session::Session, id: Uuid, tenant: Uuid) -> Result<FinalSession> {
        let mut log = FinalSession {
            found: true,
            status: Some(session.status),
            attempt: session.attempt,
            head: session.head_sequence,
            head_digest: session.head_digest,
            token: parse::token_of(session.result.as_ref()),
            ..FinalSession::missing(id)
        };
        let mut chain = Digest::GENESIS;
        loop {
            let after = log.rows.last().map_or(0, |row| row.sequence);
            let path = format!("/api/sessions/{id}/events?afterSequence={after}&limit={PAGE_MAX}");
            let reply = self.connection.call(Method::GET, &path, None, ANSWER_MAX * 4).await;
            let page: wire::event::Events = serde_json::from_slice(&answered(reply, "read a final log")?)?;
            for event in &page.events {
                chain = link(chain, tenant, id, event)?;
                if chain.to_string() != event.digest && log.chain_fault.is_none() {
                    log.chain_fault = Some(format!("the hash chain breaks at sequence {}", event.sequence));
                }
                log.rows.push(parse::final_row(event)?);
            }
            if !page.has_more || page.events.is_empty() {
                break;
            }
        }
        if log.chain_fault.is_none() && chain.to_string() != log.head_digest {
            log.chain_fault = Some("the hash chain does not end in the digest of the row".into());
        }
        Ok(log)
    }

    /// Head and digest of a session that was final long ago.
    pub async fn sealed(&mut self, id: Uuid) -> Result<Option<(u64, String)>> {
        Ok(self.row(id).await?.map(|row| (row.head_sequence, row.head_digest)))
    }

    /// The tenant this client's token belongs to.
    pub async fn tenant(&mut self) -> Result<Uuid> {
        let reply = self.connection.call(Method::GET, "/api/me", None, ANSWER_MAX).await;
        let me: wire::me::Me = serde_json::from_slice(&answered(reply, "ask who we are")?)?;
        Ok(me.tenant.id.0)
    }
}

fn post(session: Uuid, command: &str, body: &serde_json::Value) -> (Method, String, Option<Vec<u8>>) {
    (Method::POST, format!("/api/sessions/{session}/{command}"), Some(body.to_string().into_bytes()))
}

fn answered(reply: Reply, what: &str) -> Result<bytes::Bytes> {
    match reply {
        Reply::Answered { status: 200..300, body } => Ok(body),
        Reply::Answered { status, body } => {
            bail!("cannot {what}: {status} {}", String::from_utf8_lossy(&body).chars().take(300).collect::<String>())
        }
        Reply::NotSent(why) | Reply::Unknown(why) => bail!("cannot {what}: {why}"),
    }
}

/// The link of an event, from what the API shows of it.
fn link(previous: Digest, tenant: Uuid, session: Uuid, event: &wire::event::Event) -> Result<Digest> {
    Ok(extend(
        previous,
        &Link {
            tenant_id: tenant,
            session_id: session,
            sequence: event.sequence,
            event_id: event.id.0,
            kind: &event.kind,
            role: event.role.as_str(),
            actor: &event.actor,
            attempt: event.attempt,
            thread_id: event.thread_id.as_deref(),
            external_event_id: event.external_event_id.as_deref(),
            at: event.at,
            recorded_at: event.recorded_at,
            body: chain_body(event.content.get(), event.metadata.get()),
        },
    ))
}
