//! The routes the harness uses.

use crate::{
    model::{TENANT, now},
    storage::{Refused, Store, problem},
};
use anyhow::Result;
use bytes::Bytes;
use domain::session::Status;
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::{
    Method, Request, Response,
    body::{Body, Frame, Incoming},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};
use tokio::sync::mpsc::{Receiver, channel};
use uuid::Uuid;
use wire::{
    Code,
    event::{Append, Events},
    session::CreateSession,
    worker::{Attempt, Claim, Claimed, ClaimedSession, Complete},
};

type Answer = Response<BoxBody<Bytes, Infallible>>;

pub async fn answer(store: Arc<Store>, request: Request<Incoming>) -> Result<Answer> {
    store.count_request()?;
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let body = body.collect().await?.to_bytes();
    let words: Vec<&str> = path.trim_matches('/').split('/').collect();
    let session = words.get(2).and_then(|word| Uuid::parse_str(word).ok());
    let outcome = match (&parts.method, words.as_slice(), session) {
        (&Method::GET, ["api", "me"], _) => Ok(whole(&json!({
            "tenant": {"id": TENANT, "slug": "t", "name": "t"}, "role": "operator"
        }))),
        (&Method::POST, ["api", "sessions"], _) => create(&store, &body),
        (&Method::POST, ["api", "sessions", "claim"], _) => claim(&store, &body).await,
        (&Method::GET, ["api", "sessions", _], Some(id)) => row(&store, id),
        (&Method::GET, ["api", "sessions", _, "events"], Some(id)) => page(&store, id, &query),
        (&Method::POST, ["api", "sessions", _, "events"], Some(id)) => {
            parse::<Append>(&body).and_then(|append| store.append(id, append)).map(|done| whole(&done))
        }
        (&Method::GET, ["api", "sessions", _, "events", "stream"], Some(id)) => {
            let last = parts.headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
            Ok(stream(store, id, last.unwrap_or(0)))
        }
        (&Method::POST, ["api", "sessions", _, "heartbeat"], Some(id)) => parse::<Attempt>(&body)
            .and_then(|held| store.heartbeat(id, held.attempt))
            .map(|()| whole(&json!({"leaseExpiresAt": now()}))),
        (&Method::POST, ["api", "sessions", _, "release"], Some(id)) => {
            parse::<Attempt>(&body).and_then(|held| store.release(id, held.attempt)).and_then(|()| row(&store, id))
        }
        (&Method::POST, ["api", "sessions", _, "complete"], Some(id)) => parse::<Complete>(&body)
            .and_then(|done| store.complete(id, done.attempt, done.result))
            .and_then(|()| row(&store, id)),
        _ => Err(Refused::Problem(Code::NotFound)),
    };
    match outcome {
        Ok(answer) => Ok(answer),
        Err(Refused::Problem(code)) => status(code.http_status(), problem(code)),
        Err(Refused::Broken(error)) => status(500, format!("{error:#}").into_bytes()),
    }
}

fn status(status: u16, body: Vec<u8>) -> Result<Answer> {
    Ok(Response::builder().status(status).body(Full::new(Bytes::from(body)).boxed())?)
}

fn whole(value: &impl Serialize) -> Answer {
    Response::new(Full::new(Bytes::from(serde_json::to_vec(value).unwrap_or_default())).boxed())
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(body).map_err(|_| Refused::Problem(Code::InvalidRequest))
}

fn create(store: &Store, body: &[u8]) -> Result<Answer, Refused> {
    let new: CreateSession = parse(body)?;
    let id = store.create(&new.agent_slug.unwrap_or_default(), &new.idempotency_key.unwrap_or_default())?;
    row(store, id)
}

fn row(store: &Store, id: Uuid) -> Result<Answer, Refused> {
    Ok(whole(&store.lock().get(id)?.wire()))
}

async fn claim(store: &Store, body: &[u8]) -> Result<Answer, Refused> {
    let claim: Claim = parse(body)?;
    let agent = claim.agent_slugs.into_iter().flatten().next().unwrap_or_default();
    let deadline = Instant::now() + Duration::from_secs(claim.wait_seconds.unwrap_or(0).into());
    let mut sessions = Vec::new();
    loop {
        while sessions.len() < claim.max.unwrap_or(1) as usize {
            let lease_ms = u64::from(claim.lease_seconds.unwrap_or(30)) * 1_000;
            let Some((id, attempt)) = store.claim(&agent, lease_ms)? else { break };
            let session = store.lock().get(id)?.wire();
            sessions.push(ClaimedSession {
                session,
                attempt,
                lease_expires_at: now(),
                input: None,
                context: None,
                rate_memories: false,
                resume: None,
                tool_results: Vec::new(),
                messages: Vec::new(),
                has_more_messages: false,
                session_context: None,
                denials: Vec::new(),
                dependencies: Vec::new(),
                children: Vec::new(),
                has_more_children: false,
            });
        }
        if !sessions.is_empty() || Instant::now() >= deadline {
            return Ok(whole(&Claimed { sessions }));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn page(store: &Store, id: Uuid, query: &str) -> Result<Answer, Refused> {
    let number = |name: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(key, _)| *key == name).find_map(|(_, value)| value.parse::<u64>().ok())
    };
    let (after, limit) = (number("afterSequence").unwrap_or(0), number("limit").unwrap_or(100));
    let inner = store.lock();
    let held = inner.get(id)?;
    let later = held.events.iter().filter(|event| event.sequence > after);
    let events: Vec<_> = later.take(usize::try_from(limit).unwrap_or(100)).cloned().collect();
    let has_more = events.last().is_some_and(|event| event.sequence < held.head());
    Ok(whole(&Events { events, head_sequence: held.head(), has_more }))
}

/// A stream that looks for news every few milliseconds; good enough for a toy.
fn stream(store: Arc<Store>, id: Uuid, mut after: u64) -> Answer {
    let (sender, frames) = channel::<Bytes>(64);
    tokio::spawn(async move {
        loop {
            let (news, ended) = match store.lock().get(id) {
                Ok(held) => {
                    let news: Vec<_> = held.events.iter().filter(|e| e.sequence > after).take(50).cloned().collect();
                    (news, held.row.status == Status::Completed)
                }
                Err(_) => return,
            };
            for event in &news {
                after = event.sequence;
                let data = serde_json::to_string(event).unwrap_or_default();
                if sender.send(format!("id: {after}\ndata: {data}\n\n").into()).await.is_err() {
                    return;
                }
            }
            if news.is_empty() {
                if ended {
                    let _ = sender.send("event: end\ndata: {}\n\n".into()).await;
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    });
    Response::new(Channel(frames).boxed())
}

/// A body fed through a channel.
struct Channel(Receiver<Bytes>);

impl Body for Channel {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|part| part.map(|bytes| Ok(Frame::data(bytes))))
    }
}
