//! P-11: the test executes each command in each status through its use case and compares the result with the table.

use crate::{
    entity::company,
    graph::{fail, now, run},
    status::assert_folds,
    status_scene::{Kind, LIMITS, LONG_LEASE, Scene, World, passes},
    thread::ENDING,
};
use domain::{
    gate::Verdict,
    session::{Actor, COMMANDS, Command, Position, Session, Status, Type, decide},
};
use ledger::{
    human,
    session::{self, YieldRequest},
    thread::{self, Message},
};
use serde_json::json;
use std::collections::BTreeSet;
use testkit::{Fixture, on_both_engines, text};

on_both_engines!(every_command_in_every_status_does_what_the_table_says);

const SHORT_LEASE: u32 = 60;

/// Pairs that the table accepts and no use case executes, and why.
const NEVER_GIVEN: [(Command, Status, &str); 2] = [
    (Command::Expire, Status::Draft, "a draft has no time limit"),
    (Command::Begin, Status::Pending, "a hook queues and begins in one transaction"),
];

/// The kind of session that a command needs. It has no wildcard, so a new command must be added.
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
        | Command::Wake
        | Command::Release
        | Command::Resume
        | Command::Cancel
        | Command::LoseLease
        | Command::Expire => Kind::Work,
        Command::Approve | Command::Block | Command::Deny => Kind::Gated,
        Command::Stop | Command::Supersede | Command::Abandon => Kind::Human,
        Command::Begin | Command::Rest | Command::Ask | Command::Finish => Kind::Outside,
        Command::FailRun => Kind::Composite,
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
        | Command::Wake
        | Command::Release => Actor::Worker { attempt },
        _ => Actor::Server,
    }
}

impl World<'_> {
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
            Command::Wake => drop(session::wake(l, w, id, attempt, None).await),
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
            Command::FailRun => {
                if let Some(step) = self.take(&format!("tool:{}", scene.slug), LONG_LEASE).await {
                    assert!(self.fail(step.id, 1).await);
                }
            }
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
