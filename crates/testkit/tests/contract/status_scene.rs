//! Sessions of every kind in every status in which they can be, for the test of the status table.

use crate::{
    entity::acme,
    graph::{after, of_agent, on, run},
    hook::{payload, send},
    response::{form, submission},
    thread::ENDING,
};
use chrono::TimeDelta;
use domain::{
    action::OutputType,
    gate::{PausedToolCall, Question, Verdict},
    id::{SessionId, ViewId},
    session::{IfDependencyFails, Session, Status, YieldTo},
    view::Publication,
};
use ledger::{
    EntityTypeRecord,
    action::{self, NewAction, Trigger},
    gate::{self, NewDecision},
    human,
    response::{self, DraftSave, Respondent},
    session::{self, Claim, Completion, Failure, NewSession, Swept, YieldRequest},
    thread::{self, NewThread},
    tool::{self, NewTool},
    tool_run::{self, RunTool},
};
use serde_json::{Value, json};
use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};
use testkit::Fixture;

/// Time limits of the test sessions for pending, running and waiting, in seconds.
pub const LIMITS: [i64; 3] = [5_000, 3_000, 20_000];
/// A lease that is longer than the time limit for running.
pub const LONG_LEASE: u32 = 3_600;

/// The kind of session that a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A session that a worker claims. It depends on another session and has time limits.
    Work,
    /// A session whose output waits for approval.
    Gated,
    /// A human session.
    Human,
    /// A session of a coding agent that reports by hooks.
    Outside,
    /// A conversation.
    Thread,
    /// A response to a form.
    Response,
    /// A run of a composite tool.
    Composite,
}

/// A session and the names of what belongs to it.
pub struct Scene {
    /// The session.
    pub id: SessionId,
    /// Slug of its agent, or id of its view. The agents of the session that it depends on and of its child are
    /// `…-before` and `…-below`.
    pub slug: String,
    /// Id of the session in its hooks.
    pub outside: String,
}

/// The workspace in which scenes are made.
pub struct World<'a> {
    pub f: &'a Fixture,
    /// The type of the entities that outputs change.
    pub company: EntityTypeRecord,
    /// Configuration of outputs that a criteria set judges.
    pub output_config: Value,
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

fn new_slug() -> String {
    format!("agent-{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

fn metadata(with_gate: bool) -> String {
    let [pending, running, waiting] = LIMITS;
    let limits = json!({ "pendingSeconds": pending, "runningSeconds": running, "waitingSeconds": waiting });
    match with_gate {
        true => json!({ "timeLimits": limits, "requiresApproval": true }).to_string(),
        false => json!({ "timeLimits": limits }).to_string(),
    }
}

impl World<'_> {
    pub async fn take(&self, slug: &str, lease_seconds: u32) -> Option<Session> {
        let claim = Claim { agent_slugs: Some(vec![slug.into()]), max: 1, lease_seconds };
        let claimed = session::claim(&self.f.ledger, &self.f.worker, claim, Duration::ZERO).await.unwrap();
        claimed.into_iter().next().map(|claimed| claimed.session)
    }

    pub async fn sweep_after(&self, seconds: i64) {
        self.f.clock.advance(TimeDelta::seconds(seconds));
        while session::sweep(&self.f.ledger).await.unwrap() != Swept::default() {}
    }

    async fn yield_session(&self, session: &Session, yield_request: YieldRequest) {
        session::yield_to(&self.f.ledger, &self.f.worker, session.id, yield_request).await.unwrap();
    }

    pub async fn complete(&self, id: SessionId, attempt: u32, result: Option<Value>) -> bool {
        let result = result.map(|result| result.to_string());
        let completion = Completion { attempt, result, usage: None };
        session::complete(&self.f.ledger, &self.f.worker, id, completion).await.is_ok()
    }

    pub async fn fail(&self, id: SessionId, attempt: u32) -> bool {
        let failure = Failure { attempt, message: "x".into(), code: None, usage: None };
        session::fail(&self.f.ledger, &self.f.worker, id, failure).await.is_ok()
    }

    /// Decides the newest open gate of the session. Returns whether there was one.
    pub async fn decide(&self, id: SessionId, verdict: Verdict) -> bool {
        let gates = gate::of_sessions(&self.f.ledger, &self.f.admin, vec![id]).await.unwrap();
        let Some(open) = gates.iter().max_by_key(|item| item.gate.id) else { return false };
        let note = (verdict == Verdict::Deny).then(|| "not yet".to_owned());
        let value = (verdict == Verdict::Respond).then(|| "x".into());
        let new = NewDecision { verdict, value, note, digest: None };
        gate::decide(&self.f.ledger, &self.f.operator, open.gate.id, new).await.is_ok()
    }

    /// Creates a session of this kind in this status. `None` if such a session cannot exist.
    pub async fn make(&self, kind: Kind, status: Status, lease: u32) -> Option<Scene> {
        match kind {
            Kind::Work => Some(self.work(status, lease).await),
            Kind::Gated => self.gated(status).await,
            Kind::Human => self.human(status).await,
            Kind::Outside => self.outside(status).await,
            Kind::Thread => self.thread(status).await,
            Kind::Response => self.response(status).await,
            Kind::Composite => self.composite(status).await,
        }
    }

    pub async fn work(&self, status: Status, lease: u32) -> Scene {
        let (l, slug) = (&self.f.ledger, new_slug());
        let before = after(self.f, &format!("{slug}-before"), &[]).await;
        let new = NewAction {
            name: slug.clone(),
            agent_slug: Some(slug.clone()),
            metadata: Some(metadata(false)),
            ..NewAction::default()
        };
        let task = action::create(l, &self.f.operator, new).await.unwrap();
        let trigger = Trigger { depends_on: on(&[before.id], IfDependencyFails::Abandon), ..Trigger::default() };
        let id = action::trigger(l, &self.f.operator, task.id, trigger).await.unwrap().id;
        let scene = Scene { id, slug: slug.clone(), outside: String::new() };
        if status == Status::Draft {
            return scene;
        }
        run(self.f, &format!("{slug}-before"), &json!(1)).await;
        if status == Status::Pending {
            return scene;
        }
        // The lease must expire later than the time limit.
        let lease = if status == Status::Expired { LONG_LEASE } else { lease };
        let held = self.take(&slug, lease).await.unwrap();
        match status {
            Status::Draft | Status::Pending | Status::Running => {}
            Status::WaitingHuman => {
                let question = Some(Question::new("Which?".into(), None));
                self.yield_session(&held, YieldRequest { question, ..YieldRequest::at(1, YieldTo::WaitingHuman) })
                    .await;
            }
            Status::AwaitingTool => {
                let input = json!({ "to": "ada@acme.test" }).as_object().unwrap().clone().into_iter().collect();
                let call =
                    PausedToolCall { tool_call_id: "1".into(), tool_name: "send_mail".into(), tool_input: input };
                let yield_request =
                    YieldRequest { paused_tool_call: Some(call), ..YieldRequest::at(1, YieldTo::AwaitingTool) };
                self.yield_session(&held, yield_request).await;
            }
            Status::Idle => {
                let below = NewSession { parent_id: Some(id), ..of_agent(&format!("{slug}-below")) };
                session::create(l, &self.f.worker, below).await.unwrap();
                self.yield_session(
                    &held,
                    YieldRequest { waits_for_children: true, ..YieldRequest::at(1, YieldTo::Idle) },
                )
                .await;
            }
            Status::Completed => assert!(self.complete(id, 1, None).await),
            Status::Failed => assert!(self.fail(id, 1).await),
            Status::Abandoned => drop(session::cancel(l, &self.f.operator, id, None).await.unwrap()),
            Status::Expired => self.sweep_after(LIMITS[1] + 1).await,
        }
        scene
    }

    async fn gated(&self, status: Status) -> Option<Scene> {
        let (l, slug) = (&self.f.ledger, new_slug());
        let entity = acme(self.f, &self.company, &slug).await;
        let new = NewAction {
            name: slug.clone(),
            agent_slug: Some(slug.clone()),
            target_entity_id: Some(entity.id),
            output_type: Some(OutputType::Entity),
            output_config: Some(self.output_config.to_string()),
            metadata: Some(metadata(true)),
            ..NewAction::default()
        };
        let task = action::create(l, &self.f.operator, new).await.unwrap();
        let id = action::trigger(l, &self.f.member, task.id, Trigger::default()).await.unwrap().id;
        let scene = Scene { id, slug: slug.clone(), outside: String::new() };
        let stage = async || {
            let held = self.take(&slug, LONG_LEASE).await.unwrap();
            assert!(self.complete(id, held.attempt, Some(passes("soft"))).await);
        };
        match status {
            Status::Draft => return None,
            Status::Pending => {}
            Status::Running => drop(self.take(&slug, LONG_LEASE).await.unwrap()),
            Status::WaitingHuman => {
                // The second denial ends the session.
                for _ in 0..2 {
                    stage().await;
                    assert!(self.decide(id, Verdict::Deny).await);
                }
                stage().await;
            }
            Status::AwaitingTool | Status::Idle => {
                let held = self.take(&slug, LONG_LEASE).await.unwrap();
                let to = if status == Status::Idle { YieldTo::Idle } else { YieldTo::AwaitingTool };
                self.yield_session(&held, YieldRequest::at(1, to)).await;
            }
            Status::Completed => {
                stage().await;
                assert!(self.decide(id, Verdict::Approve).await);
            }
            Status::Failed => {
                let held = self.take(&slug, LONG_LEASE).await.unwrap();
                self.complete(id, held.attempt, Some(passes("fail"))).await;
            }
            Status::Abandoned => {
                stage().await;
                session::cancel(l, &self.f.operator, id, None).await.unwrap();
            }
            Status::Expired => {
                stage().await;
                self.sweep_after(LIMITS[2] + 1).await;
            }
        }
        Some(scene)
    }

    pub async fn start_work(&self) -> SessionId {
        let new = NewAction { name: new_slug(), assigned_to: self.f.member.user_id(), ..NewAction::default() };
        let task = action::create(&self.f.ledger, &self.f.operator, new).await.unwrap();
        human::start(&self.f.ledger, &self.f.member, task.id).await.unwrap().session.id
    }

    pub async fn leave_open(&self) {
        self.f.clock.advance(TimeDelta::hours(12));
        human::sweep(&self.f.ledger).await.unwrap();
    }

    async fn human(&self, status: Status) -> Option<Scene> {
        if !matches!(status, Status::Running | Status::Completed | Status::Abandoned) {
            return None;
        }
        let id = self.start_work().await;
        match status {
            Status::Completed => drop(human::stop(&self.f.ledger, &self.f.member, id).await.unwrap()),
            Status::Abandoned => self.leave_open().await,
            _ => {}
        }
        Some(Scene { id, slug: String::new(), outside: String::new() })
    }

    pub async fn hook(&self, outside: &str, event: &str) {
        let more = json!({ "session_id": outside, "prompt": "x", "tool_name": "Bash", "tool_input": {} });
        send(self.f, &self.f.member, payload(event, more)).await.unwrap();
    }

    async fn outside(&self, status: Status) -> Option<Scene> {
        let hooks: &[&str] = match status {
            Status::Running => &["UserPromptSubmit"],
            Status::Idle => &["UserPromptSubmit", "Stop"],
            Status::WaitingHuman => &["UserPromptSubmit", "PermissionRequest"],
            _ => return None,
        };
        let outside = new_slug();
        // The newest session is found by its id, which is ordered by milliseconds.
        self.f.clock.advance(TimeDelta::milliseconds(1));
        for event in hooks {
            self.hook(&outside, event).await;
        }
        let newest = session::ListSessions { limit: 1, ..Default::default() };
        let id = session::list(&self.f.ledger, &self.f.admin, newest).await.unwrap().items.remove(0).id;
        Some(Scene { id, slug: String::new(), outside })
    }

    async fn thread(&self, status: Status) -> Option<Scene> {
        let (l, m, slug) = (&self.f.ledger, &self.f.member, new_slug());
        if matches!(status, Status::Failed | Status::Expired) {
            return None;
        }
        let message = (status != Status::Draft).then(|| "Hello".to_owned());
        let new = NewThread { agent: slug.clone(), message, ..NewThread::default() };
        let id = thread::start(l, m, new).await.unwrap().session.id;
        if !matches!(status, Status::Draft | Status::Pending | Status::Abandoned) {
            let held = self.take(&slug, LONG_LEASE).await.unwrap();
            match status {
                Status::WaitingHuman => self.yield_session(&held, YieldRequest::at(1, YieldTo::WaitingHuman)).await,
                Status::AwaitingTool => self.yield_session(&held, YieldRequest::at(1, YieldTo::AwaitingTool)).await,
                Status::Idle | Status::Completed => self.yield_session(&held, YieldRequest::at(1, YieldTo::Idle)).await,
                _ => {}
            }
        }
        if status.is_final() {
            thread::end(l, m, id, ENDING).await.unwrap();
        }
        Some(Scene { id, slug, outside: String::new() })
    }

    async fn composite(&self, status: Status) -> Option<Scene> {
        if status != Status::Running {
            return None;
        }
        let (l, slug) = (&self.f.ledger, new_slug());
        let steps = json!({ "steps": [{ "name": "a", "tool": slug }] });
        for (slug, how) in [
            (slug.clone(), json!({ "kind": "worker" })),
            (format!("{slug}-run"), json!({ "kind": "composite", "composite": steps })),
        ] {
            let mut whole = json!({ "name": slug, "inputSchema": { "type": "object" } });
            whole.as_object_mut().unwrap().extend(how.as_object().unwrap().clone());
            let new = NewTool { slug: Some(slug.clone()), definition: serde_json::from_value(whole).unwrap() };
            tool::create(l, &self.f.operator, new).await.unwrap();
            tool::publish(l, &self.f.operator, &slug, None).await.unwrap();
        }
        let id = tool_run::run(l, &self.f.member, &format!("{slug}-run"), RunTool::default()).await.unwrap().id;
        Some(Scene { id, slug, outside: String::new() })
    }

    pub async fn submit(&self, view: ViewId) {
        let who = Respondent::member(&self.f.member).unwrap();
        let sent = submission(&new_slug(), json!({ "name": "Ada" }));
        response::submit(&self.f.ledger, &who, view, sent).await.unwrap();
    }

    pub async fn leave_form(&self) {
        self.f.clock.advance(TimeDelta::hours(24));
        response::sweep(&self.f.ledger, TimeDelta::hours(24)).await.unwrap();
    }

    async fn response(&self, status: Status) -> Option<Scene> {
        if !matches!(status, Status::Draft | Status::Running | Status::Completed | Status::Abandoned) {
            return None;
        }
        let view = form(self.f, Publication::default()).await;
        let who = Respondent::member(&self.f.member).unwrap();
        let answers = if status == Status::Draft { json!({}) } else { json!({ "name": "Ada" }) };
        let save = DraftSave { answers: answers.as_object().unwrap().clone(), ..DraftSave::default() };
        let draft = response::save_draft(&self.f.ledger, &who, view, save).await.unwrap();
        match status {
            Status::Completed => self.submit(view).await,
            Status::Abandoned => self.leave_form().await,
            _ => {}
        }
        Some(Scene { id: draft.session_id, slug: view.to_string(), outside: String::new() })
    }
}

/// An output with this rating of its safety.
pub fn passes(safety: &str) -> Value {
    json!({ "stage": "Won", "claim_safety": safety })
}
