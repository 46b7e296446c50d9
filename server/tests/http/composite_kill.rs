//! The server is killed at a random time while a composite tool of three steps runs, repeatedly: a call of a service, a
//! step of a worker, and a call that may be repeated. No step begins twice and none is lost. The call that may not be
//! repeated is made at most once: a run that goes on without its outcome has failed, and says that it may have run.

use crate::{
    answer_kill::{get, send},
    app::{App, Who},
    kills::Kills,
    tool_service::Service,
};
use serde_json::{Value, json};
use testkit::Engine;

/// Default number of rounds per engine. `SHIFTBOOK_COMPOSITE_KILL_ROUNDS` sets another one.
const ROUNDS: usize = 12;
/// Settings that permit services on this machine.
const OPEN: &str = "[outbound]\nallow_private = [\"127.0.0.1\"]\n";
const STEPS: [&str; 3] = ["once", "check", "again"];

fn rounds() -> usize {
    std::env::var("SHIFTBOOK_COMPOSITE_KILL_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap())
}

async fn publish(app: &App, slug: &str, more: Value) {
    let schema = json!({ "type": "object", "properties": { "round": { "type": "string" } }, "required": ["round"] });
    let mut tool = json!({ "slug": slug, "name": slug, "inputSchema": schema });
    tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    app.post(Who::Operator, "/api/tools", tool).await;
    app.post(Who::Operator, &format!("/api/tools/{slug}/publish"), json!({})).await;
}

async fn publish_all(app: &App, service: &Service) {
    let call = |path: &str| json!({ "method": "POST", "url": service.url(path) });
    publish(app, "once", json!({ "kind": "http", "http": call("/once/{round}") })).await;
    publish(app, "check", json!({ "kind": "worker", "timeLimitSeconds": 3600 })).await;
    publish(app, "again", json!({ "kind": "http", "http": call("/again/{round}"), "repeatable": true })).await;
    let input = json!({ "round": "{/input/round}" });
    let step = |(at, name): (usize, &&str)| {
        let after: Vec<&str> = STEPS[..at].last().copied().into_iter().collect();
        json!({ "name": name, "tool": name, "input": input, "after": after })
    };
    let steps: Vec<Value> = STEPS.iter().enumerate().map(step).collect();
    let trip = json!({ "kind": "composite", "composite": { "steps": steps }, "timeLimitSeconds": 3600 });
    publish(app, "trip", trip).await;
}

/// Starts the run of a round, or finds it, and waits for its end. `None` if there was no answer.
async fn run(app: &App, round: usize, wait_seconds: u32) -> Option<Value> {
    let (input, key) = (json!({ "round": round.to_string() }), format!("round-{round}"));
    let body = json!({ "input": input, "idempotencyKey": key, "waitSeconds": wait_seconds });
    send(app, Who::Member, "/api/tools/trip/run", &body).await
}

/// Claims steps of the worker and completes them, as far as the server lives.
async fn work(app: &App, wait_seconds: u32) -> Option<()> {
    let claim = json!({ "agentSlugs": ["tool:check"], "max": 100, "leaseSeconds": 3600, "waitSeconds": wait_seconds });
    let claimed = send(app, Who::Worker, "/api/sessions/claim", &claim).await?;
    for held in claimed["sessions"].as_array().unwrap() {
        complete(app, held["session"]["id"].as_str().unwrap(), &held["attempt"]).await?;
    }
    Some(())
}

async fn complete(app: &App, session: &str, attempt: &Value) -> Option<Value> {
    let body = json!({ "attempt": attempt, "result": "checked" });
    send(app, Who::Worker, &format!("/api/sessions/{session}/complete"), &body).await
}

/// Completes what the worker has claimed and does not know to be completed.
async fn complete_claimed(app: &App) {
    let active = get(app, "/api/tool-sessions?tool=check&status=active").await;
    for step in active["items"].as_array().unwrap().iter().filter(|step| step["sessionStatus"] == "running") {
        let id = step["id"].as_str().unwrap();
        let session = get(app, &format!("/api/sessions/{id}")).await;
        complete(app, id, &session["attempt"]).await.unwrap();
    }
}

async fn run_and_work(app: &App, round: usize) -> Option<Value> {
    run(app, round, 0).await?;
    work(app, 20).await?;
    run(app, round, 20).await
}

/// How often the log of a run says something about a step.
fn count(log: &Value, kind: &str, step: &str) -> usize {
    let kind = format!("tool.composition_step.{kind}");
    let events = log["events"].as_array().unwrap().iter();
    events.filter(|event| event["type"] == kind && event.to_string().contains(&format!("\"step\":\"{step}\""))).count()
}

/// Checks a run that has ended. Returns whether it completed.
async fn check(app: &App, service: &Service, round: usize, ended: &Value) -> bool {
    let id = ended["sessionId"].as_str().unwrap();
    let log = get(app, &format!("/api/sessions/{id}/events")).await;
    let children = get(app, &format!("/api/tool-sessions?parentId={id}")).await;
    let children = children["items"].as_array().unwrap();
    let calls = |step: &str| service.paths().iter().filter(|path| **path == format!("/{step}/{round}")).count();
    let started = STEPS.map(|step| count(&log, "started", step));
    assert_eq!(STEPS.map(|step| count(&log, "completed", step)), started, "round {round}: {log}");
    assert_eq!(children.len(), started.iter().sum::<usize>(), "round {round}: {children:?}");
    if ended["status"] == "completed" {
        assert_eq!((started, calls("once")), ([1, 1, 1], 1), "round {round}: {log}");
        assert!(calls("again") >= 1, "round {round}: the last step is lost: {log}");
        return true;
    }
    assert_eq!((&ended["status"], &ended["error"]["code"]), (&json!("failed"), &json!("step_failed")), "{ended}");
    assert_eq!((started, &children[0]["error"]["code"]), ([1, 0, 0], &json!("may_have_run")), "round {round}: {log}");
    assert!(calls("once") <= 1 && calls("again") == 0, "round {round}: {:?}", service.paths());
    false
}

async fn killed_at_any_instant(mut app: App) {
    let service = Service::start().await;
    publish_all(&app, &service).await;
    let mut kills = Kills::default();
    // Nothing disturbs the first round.
    for round in 0..=rounds() {
        kills.interrupt(run_and_work(&app, round)).await;
        app.kill();
        app.serve_again();
        complete_claimed(&app).await;
    }
    // A call that a kill has broken off is held by its lease, which the last start has given its whole length again.
    let mut completed = 0;
    for round in 0..=rounds() {
        let ended = loop {
            let now = run(&app, round, 2).await.unwrap();
            if !["running", "pending"].contains(&now["status"].as_str().unwrap()) {
                break now;
            }
            work(&app, 0).await.unwrap();
        };
        completed += usize::from(check(&app, &service, round, &ended).await);
    }
    println!("{completed} of {} runs completed; the others may have made their first call", rounds() + 1);
    assert!(completed > 0, "nothing disturbed the first round");
    app.kill();
    let verified = app.cli().arg("verify").output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    app.serve_again();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_step_is_lost_or_begins_twice_however_the_server_is_killed_on_sqlite() {
    killed_at_any_instant(App::start_with(OPEN, &[], &[])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_step_is_lost_or_begins_twice_however_the_server_is_killed_on_postgresql() {
    let engine = Engine::postgres().await;
    let Engine::Postgres { url, .. } = &engine else { unreachable!("asked for PostgreSQL") };
    killed_at_any_instant(App::start_with(OPEN, &[], &[("SHIFTBOOK_DATABASE_URL", url)])).await;
    engine.discard().await;
}
