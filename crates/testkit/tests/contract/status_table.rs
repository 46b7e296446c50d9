//! P-11: the test executes each command in each status through its use case and compares the result with the table.

use crate::{
    entity::{acme, company},
    graph::{after, fail, now, of_agent, on, run},
    hook::{payload, send},
    response::{form, submission},
    status::assert_folds,
    thread::ENDING,
};
use chrono::TimeDelta;
use domain::{
    action::OutputType,
    gate::{PausedToolCall, Question, Verdict},
    id::{SessionId, ViewId},
    session::{Actor, COMMANDS, Command, IfDependencyFails, Position, Session, Status, Type, YieldTo, decide},
    view::Publication,
};
use ledger::{
    EntityTypeRecord,
    action::{self, NewAction, Trigger},
    gate::{self, NewDecision},
    human,
    response::{self, DraftSave, Respondent},
    session::{self, Claim, Completion, Failure, NewSession, Swept, YieldRequest},
    thread::{self, Message, NewThread},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};
use testkit::{Fixture, on_both_engines, text};

on_both_engines!(every_command_in_every_status_does_what_the_table_says);

/// Time limits of the test sessions for pending, running and waiting, in seconds.
const LIMITS: [i64; 3] = [5_000, 3_000, 20_000];
/// A lease that is longer than the time limit for running.
const LONG_LEASE: u32 = 3_600;
const SHORT_LEASE: u32 = 60;

/// Pairs that the table accepts and no use case executes, and why.
const NEVER_GIVEN: [(Command, Status, &str); 2] = [
    (Command::Expire, Status::Draft, "a draft has no time limit"),
    (Command::Begin, Status::Pending, "a hook queues and begins in one transaction"),
];

/// The kind of session that a command needs. `kind` has no wildcard, so a new command must be added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
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
}

fn kind(command: Command) -> Kind {
    match command {
        Command::Start
        | Command::Skip
        | Command::Claim
        | Command::Heartbeat
        | Command::Append
        | Command::Complete
        | Command::Fail
        | Command::Yield(_)
        | Command::Release
        | Command::Resume
        | Command::Cancel
        | Command::LoseLease
        | Command::Expire => Kind::Work,
        Command::Approve | Command::Block | Command::Deny => Kind::Gated,
        Command::Stop | Command::Supersede | Command::Abandon => Kind::Human,
        Command::Begin | Command::Rest | Command::Ask | Command::Finish => Kind::Outside,
        Command::SendMessage | Command::Interrupt | Command::End => Kind::Thread,
        Command::Submit | Command::Leave => Kind::Response,
    }
}

fn actor(command: Command, attempt: u32) -> Actor {
    match command {
        Command::Heartbeat
        | Command::Append
        | Command::Complete
        | Command::Fail
        | Command::Yield(_)
        | Command::Release => Actor::Worker { attempt },
        _ => Actor::Server,
    }
}

/// A session and the names of what belongs to it.
struct Scene {
    id: SessionId,
    /// Slug of its agent, or id of its view. The agents of the session that it depends on and of its child are
    /// `…-before` and `…-below`.
    slug: String,
    /// Id of the session in its hooks.
    outside: String,
}

struct World<'a> {
    f: &'a Fixture,
    company: EntityTypeRecord,
    output_config: Value,
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
    async fn take(&self, slug: &str, lease_seconds: u32) -> Option<Session> {
        let claim = Claim { agent_slugs: Some(vec![slug.into()]), max: 1, lease_seconds };
        let claimed = session::claim(&self.f.ledger, &self.f.worker, claim, Duration::ZERO).await.unwrap();
        claimed.into_iter().next().map(|claimed| claimed.session)
    }

    async fn sweep_after(&self, seconds: i64) {
        self.f.clock.advance(TimeDelta::seconds(seconds));
        while session::sweep(&self.f.ledger).await.unwrap() != Swept::default() {}
    }

    async fn yield_session(&self, session: &Session, yield_request: YieldRequest) {
        session::yield_to(&self.f.ledger, &self.f.worker, session.id, yield_request).await.unwrap();
    }

    async fn complete(&self, id: SessionId, attempt: u32, result: Option<Value>) -> bool {
        let result = result.map(|result| result.to_string());
        let completion = Completion { attempt, result, usage: None };
        session::complete(&self.f.ledger, &self.f.worker, id, completion).await.is_ok()
    }

    async fn fail(&self, id: SessionId, attempt: u32) -> bool {
        let failure = Failure { attempt, message: "x".into(), code: None, usage: None };
        session::fail(&self.f.ledger, &self.f.worker, id, failure).await.is_ok()
    }

    /// Decides the newest open gate of the session. Returns whether there was one.
    async fn decide(&self, id: SessionId, verdict: Verdict) -> bool {
        let gates = gate::of_sessions(&self.f.ledger, &self.f.admin, vec![id]).await.unwrap();
        let Some(open) = gates.iter().max_by_key(|item| item.gate.id) else { return false };
        let note = (verdict == Verdict::Deny).then(|| "not yet".to_owned());
        let value = (verdict == Verdict::Respond).then(|| "\"x\"".to_owned());
        let new = NewDecision { verdict, value, note, digest: None };
        gate::decide(&self.f.ledger, &self.f.operator, open.gate.id, new).await.is_ok()
    }

    /// Creates a session of this kind in this status. `None` if such a session cannot exist.
    async fn make(&self, kind: Kind, status: Status, lease: u32) -> Option<Scene> {
        match kind {
            Kind::Work => Some(self.work(status, lease).await),
            Kind::Gated => self.gated(status).await,
            Kind::Human => self.human(status).await,
            Kind::Outside => self.outside(status).await,
            Kind::Thread => self.thread(status).await,
            Kind::Response => self.response(status).await,
        }
    }

    async fn work(&self, status: Status, lease: u32) -> Scene {
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

    async fn start_work(&self) -> SessionId {
        let new = NewAction { name: new_slug(), assigned_to: self.f.member.user_id(), ..NewAction::default() };
        let task = action::create(&self.f.ledger, &self.f.operator, new).await.unwrap();
        human::start(&self.f.ledger, &self.f.member, task.id).await.unwrap().session.id
    }

    async fn leave_open(&self) {
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

    async fn hook(&self, outside: &str, event: &str) {
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

    async fn submit(&self, view: ViewId) {
        let who = Respondent::member(&self.f.member).unwrap();
        let sent = submission(&new_slug(), json!({ "name": "Ada" }));
        response::submit(&self.f.ledger, &who, view, sent).await.unwrap();
    }

    async fn leave_form(&self) {
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

    /// Executes the use case that gives this command to the session, if there is one.
    async fn give(&self, scene: &Scene, command: Command, row: &Session) {
        let (l, w, id, attempt) = (&self.f.ledger, &self.f.worker, scene.id, row.attempt);
        let (f, m) = (self.f, &self.f.member);
        match command {
            Command::Start | Command::Skip if row.status() == Status::Draft => {
                let before = self.take(&format!("{}-before", scene.slug), LONG_LEASE).await.unwrap();
                match command {
                    Command::Start => assert!(self.complete(before.id, 1, None).await),
                    _ => fail(f, &before).await,
                }
            }
            // The sweep handles the end of the session that it depends on once more.
            Command::Start | Command::Skip => self.end_again(scene).await,
            Command::Claim => drop(self.take(&scene.slug, LONG_LEASE).await),
            Command::Heartbeat => drop(session::heartbeat(l, w, id, attempt).await),
            Command::Append => drop(f.append(id, attempt, vec![text("x")]).await),
            Command::Complete => drop(self.complete(id, attempt, None).await),
            Command::Fail => drop(self.fail(id, attempt).await),
            Command::Yield(to) => drop(session::yield_to(l, w, id, YieldRequest::at(attempt, to)).await),
            Command::Release => drop(session::release(l, w, id, attempt).await),
            Command::Resume if row.status() == Status::Idle => {
                run(f, &format!("{}-below", scene.slug), &json!(1)).await;
            }
            Command::Resume => {
                let verdict = if row.status() == Status::AwaitingTool { Verdict::Approve } else { Verdict::Respond };
                self.decide(id, verdict).await;
            }
            Command::Approve => drop(self.decide(id, Verdict::Approve).await),
            Command::Block => drop(self.complete(id, attempt, Some(passes("fail"))).await),
            Command::Deny => drop(self.decide(id, Verdict::Deny).await),
            Command::Cancel => drop(session::cancel(l, &f.operator, id, None).await),
            Command::LoseLease => self.sweep_after(i64::from(SHORT_LEASE) + 1).await,
            // The time limit ends before the lease.
            Command::Expire if row.status() == Status::Running => self.sweep_after(LIMITS[1] + 1).await,
            Command::Expire => self.sweep_after(LIMITS[2] + 1).await,
            Command::Stop => drop(human::stop(l, m, id).await),
            Command::Supersede => drop(self.start_work().await),
            Command::Abandon => self.leave_open().await,
            Command::Begin => self.hook(&scene.outside, "UserPromptSubmit").await,
            Command::Rest => self.hook(&scene.outside, "Stop").await,
            Command::Ask => self.hook(&scene.outside, "PermissionRequest").await,
            Command::Finish => self.hook(&scene.outside, "SessionEnd").await,
            Command::SendMessage => drop(thread::send_message(l, m, id, Message { text: "x".into(), id: None }).await),
            Command::Interrupt => drop(thread::interrupt(l, m, id).await),
            Command::End => drop(thread::end(l, m, id, ENDING).await),
            Command::Submit => {
                if let Ok(view) = scene.slug.parse() {
                    self.submit(view).await;
                }
            }
            Command::Leave => self.leave_form().await,
        }
    }

    async fn end_again(&self, scene: &Scene) {
        let slug = format!("{}-before", scene.slug);
        let note = format!(
            "INSERT INTO session_endings (tenant_id, session_id, at) \
             SELECT tenant_id, id, 0 FROM sessions WHERE agent_slug = '{slug}'"
        );
        assert_eq!(self.f.engine.raw().await.execute(&note).await.unwrap(), 1);
        self.sweep_after(0).await;
    }
}

/// An output with this rating of its safety.
fn passes(safety: &str) -> Value {
    json!({ "stage": "Won", "claim_safety": safety })
}

/// Whether the table accepts a command in a status for any session.
fn is_accepted(command: Command, status: Status) -> bool {
    [Type::Agent, Type::Response, Type::Tool, Type::Mixed].into_iter().any(|session_type| {
        [0, 1].into_iter().any(|attempt| {
            let state = Position { status, session_type, attempt, attempts_max: 3 };
            decide(state, actor(command, attempt), command).is_ok()
        })
    })
}

async fn every_command_in_every_status_does_what_the_table_says(f: Fixture) {
    crate::gate::at_once(&f).await;
    let output_config = crate::gate::safety(&f).await;
    let world = World { f: &f, company: company(&f).await, output_config };
    let (mut accepted, mut wrong) = (BTreeSet::new(), Vec::new());
    for command in COMMANDS {
        for status in Status::ALL {
            let lease = if command == Command::LoseLease { SHORT_LEASE } else { LONG_LEASE };
            let scene = match world.make(kind(command), status, lease).await {
                Some(scene) => scene,
                // A hook names its own session, so it cannot be sent for another.
                None if kind(command) == Kind::Outside => continue,
                None => world.work(status, lease).await,
            };
            let row = now(&f, scene.id).await;
            if row.status() != status {
                wrong.push(format!("{command:?} in {status}: the scene is {}", row.status()));
                continue;
            }
            let (session_type, attempts_max) = (row.session_type, row.attempts_max);
            let state = Position { status, session_type, attempt: row.attempt, attempts_max };
            let expected = decide(state, actor(command, row.attempt), command);
            let is_begun_first = (command, status) == (Command::Submit, Status::Draft);
            if expected.is_err() && (kind(command) == Kind::Outside || is_begun_first) {
                // A hook asks for a status instead of a command. If one step does not reach the status, it takes
                // several. Submitting a draft starts it first.
                continue;
            }
            world.give(&scene, command, &row).await;
            let after = now(&f, scene.id).await;
            let never = NEVER_GIVEN.iter().any(|(c, s, _)| (*c, *s) == (command, status));
            let wanted = match expected {
                Ok(t) if !never => {
                    accepted.insert(format!("{command:?} in {status}"));
                    (t.to(), t.attempt, t.end_reason())
                }
                _ => (row.status(), row.attempt, row.end_reason()),
            };
            let found = (after.status(), after.attempt, after.end_reason());
            if found != wanted {
                wrong.push(format!("{command:?} in {status}: {found:?} instead of {wanted:?}"));
            }
            assert_folds(&f, scene.id).await;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let pairs = COMMANDS.iter().flat_map(|command| Status::ALL.into_iter().map(|status| (*command, status)));
    let table = pairs.filter(|(command, status)| is_accepted(*command, *status));
    let given = table.filter(|pair| !NEVER_GIVEN.iter().any(|(command, status, _)| *pair == (*command, *status)));
    let given: BTreeSet<_> = given.map(|(command, status)| format!("{command:?} in {status}")).collect();
    assert_eq!(accepted, given, "what the table accepts and what was seen to happen");
    f.assert_verified().await;
    f.done().await;
}
