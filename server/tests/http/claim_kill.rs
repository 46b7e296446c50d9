//! The server is killed at a random time while a person with a link answers a question for which no session waits, and
//! a worker claims the session then, repeatedly. One claim takes the answer, whether or not its response arrives, and
//! no later claim has it again.

use crate::{
    answer_kill::{get, send},
    app::{App, Who},
    feedback_request::{claim, running},
    form::questions,
    kills::Kills,
    submit_kill::Round,
};
use serde_json::{Value, json};
use testkit::Engine;

/// Default number of rounds per engine. `SHIFTBOOK_CLAIM_KILL_ROUNDS` sets another one.
const ROUNDS: usize = 12;

fn rounds() -> usize {
    std::env::var("SHIFTBOOK_CLAIM_KILL_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap())
}

/// A running session with a question for which it does not wait.
async fn ask(app: &App) -> Round {
    let session = running(app).await;
    let ask = json!({
        "attempt": 1, "message": "Where do we start?", "blocking": false, "gate": "none", "idempotencyKey": "k",
        "fields": questions(),
    });
    let asked = app.post(Who::Worker, &format!("/api/sessions/{session}/feedback-requests"), ask).await;
    let secret = asked["url"].as_str().unwrap().strip_prefix("/f/").unwrap().to_owned();
    Round::of(app, session, &secret).await
}

/// Submits the answer, releases the session and claims it, as far as the server lives.
async fn submit_and_claim(app: &App, of: &Round) -> Option<Value> {
    if !of.submit(app).await {
        return None;
    }
    send(app, Who::Worker, &format!("/api/sessions/{}/release", of.session), &json!({ "attempt": 1 })).await?;
    let claim = json!({ "agentSlugs": ["tester"], "leaseSeconds": 3600, "waitSeconds": 20 });
    let claimed = send(app, Who::Worker, "/api/sessions/claim", &claim).await?;
    Some(claimed["sessions"][0].clone())
}

/// Claims the session as the next attempt. A claim whose response was lost ends before.
async fn next_claim(app: &App, session: &str) -> Value {
    let now = get(app, &format!("/api/sessions/{session}")).await;
    if now["status"] == "running" {
        let release = json!({ "attempt": now["attempt"] });
        app.post(Who::Worker, &format!("/api/sessions/{session}/release"), release).await;
    }
    let claimed = claim(app).await;
    assert_eq!(claimed["session"]["id"], session);
    claimed
}

async fn killed_at_any_instant(mut app: App) {
    let mut kills = Kills::default();
    // Nothing disturbs the first round.
    for round in 0..=rounds() {
        let of = ask(&app).await;
        let session = &of.session;
        let claimed = kills.interrupt(submit_and_claim(&app, &of)).await.flatten();
        app.kill();
        app.serve_again();
        kills.count(claimed.is_some(), get(&app, &format!("/api/sessions/{session}")).await["attempt"] == 2);
        // Both repeat what they do not know to be done.
        assert!(of.submit(&app).await, "round {round}");
        let next = next_claim(&app, session).await;
        let last = next_claim(&app, session).await;
        let is_lost = claimed.is_none() && next["attempt"] == 3;
        let end = match (&claimed, is_lost) {
            (Some(_), _) => "response came",
            (None, true) => "response lost",
            (None, false) => "no claim",
        };
        let given = |claim: &Value| claim["sessionContext"]["input"].as_array().map_or(0, Vec::len);
        let claims: Vec<Value> = claimed.into_iter().chain([next, last]).collect();
        let with_answer = claims.iter().filter(|claim| given(claim) > 0).map(|claim| (&claim["attempt"], given(claim)));
        let second = json!(2);
        let expected = if is_lost { vec![] } else { vec![(&second, 1)] };
        let what = format!("round {round}, killed after {:?}, {end}", kills.after);
        assert_eq!(with_answer.collect::<Vec<_>>(), expected, "{what}");
        let all = get(&app, &format!("/api/sessions/{session}/answers")).await;
        let items = all["items"].as_array().unwrap();
        let recorded = (items.len(), &items[0]["consumedAttempt"], &items[0]["late"]);
        assert_eq!(recorded, (1, &second, &json!(false)), "{what}");
        let log = get(&app, &format!("/api/sessions/{session}/events")).await;
        let count = |kind: &str| log["events"].as_array().unwrap().iter().filter(|e| e["type"] == kind).count();
        // The log has the text of the answer also if the response to the claim was lost.
        assert_eq!((count("user.form_submit"), count("session.context_injected")), (1, 1), "{what}");
        app.post(Who::Operator, &format!("/api/sessions/{session}/cancel"), json!({})).await;
    }
    kills.report();
    app.kill();
    let verified = app.cli().arg("verify").output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    app.serve_again();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_claim_takes_the_answer_of_a_stranger_however_the_server_is_killed_on_sqlite() {
    killed_at_any_instant(App::start()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_claim_takes_the_answer_of_a_stranger_however_the_server_is_killed_on_postgresql() {
    let engine = Engine::postgres().await;
    let Engine::Postgres { url, .. } = &engine else { unreachable!("asked for PostgreSQL") };
    // There is no default key on PostgreSQL, and no link without one.
    let key = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(key.path(), format!("{}\n", testkit::INSTANCE_KEY)).unwrap();
    let key_file = key.path().to_str().unwrap();
    let variables = [("SHIFTBOOK_DATABASE_URL", url.as_str()), ("SHIFTBOOK_INSTANCE_KEY_FILE", key_file)];
    killed_at_any_instant(App::start_with("", &[], &variables)).await;
    engine.discard().await;
}
