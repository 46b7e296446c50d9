//! A server for tests: the worker's routes over memory, with faults on demand.

use super::{
    adapter::{Adapter, Phase},
    command::{ApiAccess, CommandAdapter, Format},
    event_queue::EventStamp,
    lease::Lease,
    limit,
    observer::LogObserver,
    session::Worker,
};
use axum::{
    Json, Router,
    extract::{Path, Query, State},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use client::Client;
use serde_json::{Value, json};
use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use testkit::{SeededEntropy, TestClock};
use tokio::{
    net::TcpListener,
    sync::{Notify, watch},
    time::{Instant, timeout},
};
use wire::{Code, worker::ClaimedSession};

pub const SESSION_ID: &str = "0193b0a0-0000-7000-8000-0000000000aa";
/// Gate of the first question or tool call that a session waits with.
pub const GATE_ID: &str = "0193b0a0-0000-7000-8000-00000000009b";

/// A fault of the next call of a kind.
#[derive(Clone, Copy)]
pub enum Fault {
    /// The call has no effect and is refused as too many.
    Busy,
    /// The call takes effect and its answer is lost.
    LostAnswer,
    /// The server answers 500.
    Broken,
    /// The call has no effect and is refused as invalid.
    Refused,
}

#[derive(Default)]
pub struct Memory {
    /// Inputs of the sessions to claim.
    pub queue: VecDeque<Value>,
    /// The current attempt.
    pub attempt: u32,
    pub status: String,
    pub events: Vec<Value>,
    /// Calls that took effect, by their last path segment.
    pub calls: Vec<(String, Value)>,
    /// The next calls of a kind, each with its fault.
    pub faults: Vec<(&'static str, Fault)>,
    /// Whether every call fails as unavailable.
    pub is_unreachable: bool,
    /// The only result that fits the output contract; `None` for no contract.
    pub contract: Option<Value>,
    /// The action of the sessions.
    pub action: Value,
    /// The only entity.
    pub entity: Value,
    /// The only canvas.
    pub canvas: Value,
    /// Patches of the canvas.
    pub patches: Vec<Value>,
    /// What the server answers to a patch of the canvas.
    pub patch_answer: Value,
    /// What the server answers to a request for feedback.
    pub asked: Value,
    /// Events that contain this text are refused.
    pub refused_text: Option<&'static str>,
    /// Every append of an event with this text is answered as if the server were not available, and has no effect.
    pub stuck_text: Option<&'static str>,
}

#[derive(Clone)]
pub struct Fake {
    memory: Arc<Mutex<Memory>>,
    changed: Arc<Notify>,
    pub url: String,
}

impl Fake {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let memory = Memory { attempt: 1, status: "running".into(), ..Memory::default() };
        let fake = Self { memory: Arc::new(Mutex::new(memory)), changed: Arc::default(), url };
        let routes = Router::new()
            .route("/api/me", get(me))
            .route("/api/sessions/claim", post(claim))
            .route("/api/sessions/{id}", get(|| async { Json(session("running")) }))
            .route("/api/agents/{slug}/memory/tool", post(memory_tool))
            .route("/api/sessions/{id}/{call}", post(call).get(events))
            .route("/api/sessions/{id}/answers/take", post(|| async { Json(json!({ "input": [] })) }))
            .route("/api/actions/{id}", get(action))
            .route("/api/entities/{id}", get(entity).patch(change_entity))
            .route("/api/canvases/{id}", get(canvas))
            .route("/api/canvases/{id}/patches", get(canvas_patches).post(patch_canvas))
            .with_state(fake.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        fake
    }

    pub fn with<T>(&self, look: impl FnOnce(&mut Memory) -> T) -> T {
        let answer = look(&mut self.memory.lock().unwrap());
        self.changed.notify_waiters();
        answer
    }

    /// Waits until `wanted` is true.
    pub async fn until(&self, wanted: impl Fn(&Memory) -> bool) {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if wanted(&self.memory.lock().unwrap()) {
                    return;
                }
                changed.await;
            }
        };
        timeout(Duration::from_secs(30), wait).await.expect("this never came to be");
    }

    /// The calls of a kind that took effect.
    pub fn calls(&self, kind: &str) -> Vec<Value> {
        self.with(|m| m.calls.iter().filter(|(call, _)| call == kind).map(|(_, body)| body.clone()).collect())
    }

    /// Type and text of every event.
    pub fn log(&self) -> Vec<(String, String)> {
        let text =
            |value: &Value| value["content"][0]["text"].as_str().or(value["content"].as_str()).map(str::to_owned);
        let read = |e: &Value| (e["type"].as_str().unwrap().to_owned(), text(e).unwrap_or_default());
        self.with(|m| m.events.iter().map(read).collect())
    }

    pub fn client(&self) -> Client {
        Client::new(&self.url, "sbk_test").unwrap()
    }

    pub fn lease(&self, length: Duration) -> Arc<Lease> {
        Arc::new(Lease::new(Arc::new(self.client()), SESSION_ID.parse().unwrap(), 1, length, Instant::now()))
    }

    /// A worker that runs a shell script, with a lease of one second.
    pub fn worker(&self, script: &str) -> (Worker, watch::Sender<Phase>) {
        self.worker_of(self.command(script))
    }

    /// An adapter that runs a shell script.
    pub fn command(&self, script: &str) -> CommandAdapter {
        CommandAdapter {
            command: ["sh", "-c", script].map(Into::into).to_vec(),
            format: Format::Lines,
            api_access: ApiAccess { url: self.url.clone(), token: Some("sbk_test".into()) },
            instructions: None,
            seconds: None,
            output_time: limit::OUTPUT_TIME_MAX,
            withheld: Vec::new(),
        }
    }

    /// A worker with this adapter.
    pub fn worker_of(&self, adapter: impl Adapter) -> (Worker, watch::Sender<Phase>) {
        let (stop, phase) = watch::channel(Phase::Working);
        let worker = Worker {
            api: Arc::new(self.client()),
            adapter: Arc::new(adapter),
            lease: Duration::from_secs(1),
            observer: Arc::new(LogObserver),
            stamp: stamp(),
            phase,
        };
        (worker, stop)
    }
}

/// Sets times and ids of events; each worker gets a seed of its own.
pub fn stamp() -> EventStamp {
    static SEEDS: AtomicU64 = AtomicU64::new(0);
    let seed = SEEDS.fetch_add(1, Relaxed);
    EventStamp::new(Arc::new(TestClock::default()), Arc::new(SeededEntropy::new(seed)))
}

/// A claimed session with this input.
pub fn claimed(input: Value) -> ClaimedSession {
    serde_json::from_value(session_json(input)).unwrap()
}

fn session_json(input: Value) -> Value {
    let session = session("running");
    json!({ "session": session, "attempt": 1, "leaseExpiresAt": "2026-11-21T08:00:00Z", "input": input })
}

fn session(status: &str) -> Value {
    json!({
        "id": SESSION_ID, "sessionType": "agent", "status": status, "endReason": null, "actionId": null,
        "actionSlug": "report", "agentSlug": "tester", "title": "t", "input": null, "metadata": {}, "result": null,
        "usage": null, "error": null, "parentId": null, "retryOf": null, "createdBy": "system", "attempt": 1,
        "attemptsMax": 3, "leaseExpiresAt": null, "headSequence": 0, "headDigest": "", "createdAt": "2026-11-21T08:00:00Z",
        "updatedAt": "2026-11-21T08:00:00Z", "startedAt": null, "completedAt": null, "durationMs": null
    })
}

/// Whether two events have the same id, or the same external one.
fn is_same(one: &Value, other: &Value) -> bool {
    let is = |name: &str| one[name].is_string() && one[name] == other[name];
    is("id") || is("externalEventId")
}

fn refusal(code: Code) -> Response {
    let status = code.http_status();
    let body = json!({ "code": code, "title": code.title(), "status": status, "requestId": "r" });
    let mut response = Json(body).into_response();
    *response.status_mut() = status.try_into().unwrap();
    response
}

fn output_refusal() -> Response {
    let code = Code::OutputInvalid;
    let errors = [json!({ "field": "result.n", "message": "2 is what fits" })];
    let body = json!({ "code": code, "title": code.title(), "status": 422, "requestId": "r", "errors": errors });
    let mut response = Json(body).into_response();
    *response.status_mut() = code.http_status().try_into().unwrap();
    response
}

async fn events(State(fake): State<Fake>, Query(query): Query<HashMap<String, String>>) -> Response {
    let sequence = |name: &str| query.get(name).map(|text| text.parse::<usize>().unwrap());
    let after = sequence("afterSequence").unwrap_or_default();
    let before = sequence("beforeSequence").unwrap_or(usize::MAX);
    let kinds: Vec<_> = query["eventTypes"].split(',').collect();
    fake.with(|m| {
        let numbered = m.events.iter().zip(1..).filter(|(event, sequence)| {
            *sequence > after && *sequence < before && kinds.contains(&event["type"].as_str().unwrap())
        });
        let events: Vec<_> = numbered
            .map(|(event, sequence)| {
                json!({
                    "id": event["id"], "sequence": sequence, "type": event["type"], "role": "agent",
                    "content": event["content"], "metadata": event.get("metadata").unwrap_or(&json!({})),
                    "attempt": event["attempt"], "actor": "system", "at": event["at"], "recordedAt": event["at"], "digest": ""
                })
            })
            .collect();
        Json(json!({ "events": events, "headSequence": m.events.len(), "hasMore": false })).into_response()
    })
}

async fn action(State(fake): State<Fake>) -> Response {
    fake.with(|m| Json(m.action.clone()).into_response())
}

async fn entity(State(fake): State<Fake>, Path(id): Path<String>) -> Response {
    fake.with(|m| if m.entity["id"] == id { Json(m.entity.clone()).into_response() } else { refusal(Code::NotFound) })
}

async fn change_entity(State(fake): State<Fake>, Json(body): Json<Value>) -> Response {
    fake.with(|m| {
        m.calls.push(("change".into(), body.clone()));
        if body["version"] != m.entity["version"] {
            return refusal(Code::StaleVersion);
        }
        m.entity["version"] = (body["version"].as_u64().unwrap() + 1).into();
        m.entity["fields"] = body["fields"].clone();
        Json(m.entity.clone()).into_response()
    })
}

async fn canvas(State(fake): State<Fake>, Path(id): Path<String>) -> Response {
    fake.with(|m| if m.canvas["id"] == id { Json(m.canvas.clone()).into_response() } else { refusal(Code::NotFound) })
}

async fn canvas_patches(State(fake): State<Fake>, Query(query): Query<HashMap<String, String>>) -> Response {
    let after: u64 = query["after"].parse().unwrap();
    fake.with(|m| {
        let is_after = |patch: &&Value| patch["sequence"].as_u64().is_some_and(|sequence| sequence > after);
        let patches: Vec<_> = m.patches.iter().filter(is_after).collect();
        Json(json!({ "patches": patches, "head": m.canvas["version"], "hasMore": false })).into_response()
    })
}

async fn patch_canvas(State(fake): State<Fake>, Json(body): Json<Value>) -> Response {
    fake.with(|m| {
        m.answer("canvas-patch", |m| {
            m.calls.push(("canvas-patch".into(), body));
            Json(m.patch_answer.clone()).into_response()
        })
    })
}

async fn memory_tool(
    State(fake): State<Fake>,
    Query(query): Query<HashMap<String, String>>,
    Json(command): Json<Value>,
) -> Response {
    fake.with(|m| {
        m.answer("memory", |m| {
            m.calls.push(("memory".into(), json!({ "query": query, "command": command["command"] })));
            Json(json!({ "content": "Done.", "isError": false, "version": null })).into_response()
        })
    })
}

async fn me(State(fake): State<Fake>) -> Response {
    if fake.with(|m| m.is_unreachable) {
        return refusal(Code::Unavailable);
    }
    Json(json!({ "tenant": { "id": "0193b0a0-0000-7000-8000-00000000007e", "slug": "acme", "name": "Acme" }, "role": "operator" })).into_response()
}

async fn claim(State(fake): State<Fake>, Json(body): Json<Value>) -> Response {
    let max = body["max"].as_u64().unwrap() as usize;
    let wait = Duration::from_secs(body["waitSeconds"].as_u64().unwrap());
    fake.with(|m| m.calls.push(("claim".into(), body)));
    let _ = timeout(wait, fake.until(|m| !m.queue.is_empty())).await;
    let sessions: Vec<_> = fake.with(|m| (0..max).map_while(|_| m.queue.pop_front()).map(session_json).collect());
    Json(json!({ "sessions": sessions })).into_response()
}

async fn call(State(fake): State<Fake>, Path((id, call)): Path<(String, String)>, Json(body): Json<Value>) -> Response {
    assert_eq!(id, SESSION_ID);
    fake.with(|m| {
        if m.is_unreachable {
            return refusal(Code::Unavailable);
        }
        m.answer(&call, |m| m.act(&call, body))
    })
}

/// Whether an event that is not plain text contains this text.
fn is_typed_with(event: &Value, text: &str) -> bool {
    event["type"] != "agent.message" && event.to_string().contains(text)
}

impl Memory {
    /// Makes a call of this kind, with the fault that is next for it.
    fn answer(&mut self, kind: &str, act: impl FnOnce(&mut Self) -> Response) -> Response {
        let fault = self.faults.iter().position(|(faulty, _)| *faulty == kind).map(|at| self.faults.remove(at).1);
        match fault {
            Some(Fault::Busy) => return refusal(Code::TooManyRequests),
            Some(Fault::Broken) => return refusal(Code::Internal),
            Some(Fault::Refused) => return refusal(Code::InvalidRequest),
            Some(Fault::LostAnswer) | None => {}
        }
        let answer = act(self);
        if fault.is_some() { refusal(Code::Unavailable) } else { answer }
    }

    fn act(&mut self, call: &str, body: Value) -> Response {
        if body["attempt"] != self.attempt {
            return refusal(Code::StaleAttempt);
        }
        let wanted = body["status"].as_str().unwrap_or_default().to_owned();
        let end = match call {
            "complete" => "completed",
            "fail" => "failed",
            "release" => "pending",
            "yield" => wanted.as_str(),
            _ => "running",
        };
        match self.status.as_str() {
            "running" => {}
            status if status == end => return Json(session(status)).into_response(),
            "completed" | "failed" | "abandoned" => return refusal(Code::AlreadyFinal),
            _ => return refusal(Code::WrongStatus),
        }
        if call == "complete" && self.contract.as_ref().is_some_and(|wanted| body["result"] != *wanted) {
            return output_refusal();
        }
        let mut answer = session(end);
        if call == "events" {
            let (sent, attempt) = (body["events"].as_array().unwrap(), body["attempt"].clone());
            if self.stuck_text.is_some_and(|text| sent.iter().any(|event| is_typed_with(event, text))) {
                return refusal(Code::Unavailable);
            }
            if !self.append(sent, &attempt) {
                return refusal(Code::InvalidRequest);
            }
            let sequence = |sent: &Value| self.events.iter().position(|known| is_same(known, sent)).unwrap() + 1;
            let id = |sent: &Value| if sent["id"].is_null() { json!(GATE_ID) } else { sent["id"].clone() };
            let events: Vec<_> =
                sent.iter().map(|sent| json!({ "id": id(sent), "sequence": sequence(sent) })).collect();
            answer = json!({ "events": events, "headSequence": self.events.len() });
        } else if call == "feedback-requests" {
            answer = self.asked.clone();
        } else if call == "yield" {
            self.open_gate(&body);
        } else if call == "memory-feedback" {
            answer = json!({ "accepted": [], "refused": [], "notRead": 3 });
        } else if call == "heartbeat" {
            answer = json!({ "leaseExpiresAt": "2026-11-21T08:00:00Z" });
        }
        self.status = end.into();
        self.calls.push((call.into(), body));
        Json(answer).into_response()
    }

    /// Records the gate at which a yielded session waits for a person, as the server does.
    fn open_gate(&mut self, yielded: &Value) {
        if yielded["question"].is_null() && yielded["pausedToolCall"].is_null() {
            return;
        }
        let kind = "session.waiting_approval";
        let opened = self.events.iter().filter(|event| event["type"] == kind).count();
        let later = || format!("0193b0a0-0000-7000-8000-0000000002{opened:02}");
        let gate = if opened == 0 { GATE_ID.to_owned() } else { later() };
        self.events.push(json!({
            "id": format!("0193b0a0-0000-7000-8000-0000000003{opened:02}"), "type": kind, "content": [],
            "metadata": { "gateId": gate }, "at": "2026-11-21T08:00:00Z",
        }));
    }

    /// Appends all events or none; whether it appended them.
    fn append(&mut self, events: &[Value], attempt: &Value) -> bool {
        let is_known_by = |event: &Value, name: &str| event[name].is_string();
        let has_one_id = |event: &Value| is_known_by(event, "id") != is_known_by(event, "externalEventId");
        assert!(events.len() <= 100 && events.iter().all(|e| has_one_id(e) && e["at"].is_string()));
        let hated = |event: &Value| self.refused_text.is_some_and(|text| is_typed_with(event, text));
        if events.iter().any(hated) {
            return false;
        }
        for event in events {
            if !self.events.iter().any(|known| is_same(known, event)) {
                let mut event = event.clone();
                event["attempt"] = attempt.clone();
                self.events.push(event);
            }
        }
        true
    }
}
