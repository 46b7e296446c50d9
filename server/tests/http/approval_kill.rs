//! P-18: the server is killed at a random time during an approval, repeatedly. The reviewer repeats the decision,
//! which is recorded once and takes effect once.

use crate::{
    app::{App, Who},
    kills::Kills,
};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::Engine;

/// Default number of rounds per engine. `SHIFTBOOK_APPROVAL_KILL_ROUNDS` sets another one; the long tier runs 1,000.
const ROUNDS: usize = 12;

fn rounds() -> usize {
    std::env::var("SHIFTBOOK_APPROVAL_KILL_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap())
}

async fn get(app: &App, path: &str) -> Value {
    let response = app.request(Who::Admin, Method::GET, path).send().await.unwrap();
    assert!(response.status().is_success(), "GET {path}: {}", response.status());
    response.json().await.unwrap()
}

/// Sends the decision as the reviewer's browser does. `None` if there was no answer.
async fn decide(app: &App, cookie: &str, approval: &str) -> Option<(u16, Value)> {
    let sent = app.http.post(format!("{}/api/approvals/{approval}/decision", app.url));
    let sent =
        sent.header("cookie", cookie).header("sec-fetch-site", "same-origin").json(&json!({ "decision": "approve" }));
    let response = sent.send().await.ok()?;
    let status = response.status().as_u16();
    Some((status, response.json().await.ok()?))
}

/// Creates an entity, and a session whose output would change it and waits. Returns their ids and the approval's.
async fn staged(app: &App, of: &Value, round: usize) -> (String, String, String) {
    let entity = app.post(Who::Member, "/api/entities", json!({ "typeId": of["id"], "title": "Acme" })).await;
    let action = json!({
        "name": "Qualify", "slug": format!("qualify-{round}"), "agentSlug": "scout", "targetEntityId": entity["id"],
        "outputType": "entity", "metadata": { "requiresApproval": true },
    });
    let action = app.post(Who::Operator, "/api/actions", action).await;
    let path = format!("/api/actions/{}/trigger", action["id"].as_str().unwrap());
    let session = app.post(Who::Member, &path, json!({})).await["id"].as_str().unwrap().to_owned();
    let claim = json!({ "agentSlugs": ["scout"], "leaseSeconds": 3600 });
    let claimed = app.post(Who::Worker, "/api/sessions/claim", claim).await;
    assert_eq!(claimed["sessions"][0]["session"]["id"], session.as_str());
    let result = json!({ "attempt": 1, "result": { "title": format!("Acme {round}") } });
    app.post(Who::Worker, &format!("/api/sessions/{session}/complete"), result).await;
    let open = get(app, "/api/approvals").await;
    let [only] = open["items"].as_array().unwrap().as_slice() else { panic!("{open}") };
    (entity["id"].as_str().unwrap().into(), session, only["id"].as_str().unwrap().into())
}

async fn killed_at_any_instant(mut app: App) {
    let cookie = app.cookie().await;
    let of = json!({ "name": "Company", "slug": "company", "fields": [] });
    let of = app.post(Who::Operator, "/api/entity-types", of).await;
    let patch = app.request(Who::Admin, Method::PATCH, "/api/workspace").json(&json!({ "undoSeconds": 0 }));
    assert!(patch.send().await.unwrap().status().is_success());
    let mut kills = Kills::default();
    // Nothing disturbs the first round.
    for round in 0..=rounds() {
        let (entity, session, approval) = staged(&app, &of, round).await;
        let answer = kills.interrupt(decide(&app, &cookie, &approval)).await.flatten();
        app.kill();
        app.serve_again();
        let log_of = format!("/api/sessions/{session}/events");
        let count = |log: &Value, kind: &str| {
            log["events"].as_array().unwrap().iter().filter(|event| event["type"] == kind).count()
        };
        kills.count(answer.is_some(), count(&get(&app, &log_of).await, "user.output_approval") > 0);
        let (status, decided) = decide(&app, &cookie, &approval).await.unwrap();
        assert_eq!((status, decided["state"].as_str()), (200, Some("settled")), "{decided}");
        let versions = get(&app, &format!("/api/entities/{entity}/versions")).await;
        let written: Vec<_> = versions["items"].as_array().unwrap().iter().map(|v| v["sessionId"].clone()).collect();
        assert_eq!(written, [json!(session), Value::Null], "round {round}, killed after {:?}", kills.after);
        let log = get(&app, &log_of).await;
        assert_eq!((count(&log, "user.output_approval"), count(&log, "session.completed")), (1, 1), "round {round}");
        assert_eq!(get(&app, &format!("/api/sessions/{session}")).await["status"], "completed");
    }
    kills.report();
    app.kill();
    let verified = app.cli().arg("verify").output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    app.serve_again();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_has_its_effect_once_however_the_server_is_killed_on_sqlite() {
    killed_at_any_instant(App::start()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_has_its_effect_once_however_the_server_is_killed_on_postgresql() {
    let engine = Engine::postgres().await;
    let Engine::Postgres { url, .. } = &engine else { unreachable!("asked for PostgreSQL") };
    killed_at_any_instant(App::start_on(url)).await;
    engine.discard().await;
}
