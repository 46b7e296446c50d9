//! The server is killed at a random time while several approvals open at once that a rule decides, repeatedly. Each
//! approval is decided by the rule, once and with its event, or it waits for a person. The rule decides as many a day
//! as its limit says: a kill neither adds one nor takes one away.

use crate::{
    answer_kill::get,
    app::{App, Who},
    kills::Kills,
    prepare_rule::make_rule,
    rule::small_refunds,
};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
};
use testkit::Engine;

/// Default number of rounds per engine. `SHIFTBOOK_RULE_KILL_ROUNDS` sets another one.
const ROUNDS: usize = 6;
/// Approvals that open at once in each round.
const AT_ONCE: usize = 4;
/// Most decisions of a day that a rule can have.
const PER_DAY_MAX: usize = 1_000;

fn rounds() -> usize {
    std::env::var("SHIFTBOOK_RULE_KILL_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap())
}

/// Creates sessions of scout and claims them. Returns their ids.
async fn running(app: &App) -> Vec<String> {
    for _ in 0..AT_ONCE {
        app.post(Who::Member, "/api/sessions", json!({ "sessionType": "agent", "agentSlug": "scout" })).await;
    }
    let claim = json!({ "agentSlugs": ["scout"], "max": AT_ONCE, "leaseSeconds": 3600 });
    let claimed = app.post(Who::Worker, "/api/sessions/claim", claim).await;
    let sessions = claimed["sessions"].as_array().unwrap().iter();
    let ids: Vec<String> = sessions.map(|held| held["session"]["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), AT_ONCE, "{claimed}");
    ids
}

/// Pauses a session before a refund that the rule covers. Returns whether an answer came back.
async fn pause(app: &App, session: &str) -> bool {
    let input = json!({ "amount": 5, "currency": "EUR" });
    let call = json!({ "toolCallId": "c", "toolName": "refund", "toolInput": input });
    let pause = json!({ "attempt": 1, "status": "awaiting_tool", "pausedToolCall": call });
    let path = format!("/api/sessions/{session}/yield");
    match app.request(Who::Worker, Method::POST, &path).json(&pause).send().await {
        Ok(answer) => {
            assert!(answer.status().is_success(), "{}", answer.status());
            true
        }
        Err(_) => false,
    }
}

/// Returns the id of the approval of a session, if it is in this state.
async fn approval(app: &App, state: &str, session: &str) -> Option<String> {
    let page = get(app, &format!("/api/approvals?state={state}&limit=1000")).await;
    let found = page["items"].as_array().unwrap().iter().find(|item| item["sessionId"] == session)?;
    Some(found["id"].as_str().unwrap().to_owned())
}

/// Returns the approval of a session if the rule has decided it, which its log and its list of decisions say once. If
/// not, the approval waits and no decision is recorded anywhere.
async fn by_rule(app: &App, session: &str, rule: &str) -> Option<String> {
    let log = get(app, &format!("/api/sessions/{session}/events")).await;
    let events = log["events"].as_array().unwrap().iter();
    let decisions: Vec<&Value> = events.filter(|event| event["type"] == "user.tool_confirmation").collect();
    let held = approval(app, "held", session).await;
    let waiting = approval(app, "open", session).await;
    let (Some(id), None) = (&held, &waiting) else {
        let id = waiting.unwrap_or_else(|| panic!("{session} has no approval: {log}"));
        let read = get(app, &format!("/api/approvals/{id}")).await;
        assert!(held.is_none() && decisions.is_empty() && read["decisions"] == json!([]), "{read}");
        return None;
    };
    let actor = json!(format!("rule:{rule}"));
    let [event] = decisions.as_slice() else { panic!("one decision is expected: {log}") };
    let said = (&event["actor"], &event["metadata"]["rule"]["id"], &event["metadata"]["decision"]);
    assert_eq!(said, (&actor, &json!(rule), &json!("approve")), "{event}");
    let read = get(app, &format!("/api/approvals/{id}")).await;
    let by: Vec<&Value> = read["decisions"].as_array().unwrap().iter().map(|decision| &decision["email"]).collect();
    assert_eq!(by, [&actor], "{read}");
    held
}

/// What the rule has decided: the approvals, and their number on each day.
async fn decided(app: &App, rule: &str) -> (BTreeSet<String>, BTreeMap<String, usize>) {
    let page = get(app, &format!("/api/rules/{rule}/decisions?limit=1000")).await;
    let items = page["items"].as_array().unwrap();
    let mut days: BTreeMap<String, usize> = BTreeMap::new();
    for item in items {
        *days.entry(item["decidedAt"].as_str().unwrap()[.."2026-11-30".len()].to_owned()).or_default() += 1;
    }
    let ids: BTreeSet<String> = items.iter().map(|item| item["approvalId"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), items.len(), "an approval is decided twice: {page}");
    (ids, days)
}

async fn killed_at_any_instant(mut app: App) {
    let held = app.request(Who::Admin, Method::PATCH, "/api/workspace").json(&json!({ "undoSeconds": 60 }));
    assert!(held.send().await.unwrap().status().is_success());
    // The limit is reached in the middle.
    let limit = (AT_ONCE * (rounds() + 1) / 2).min(PER_DAY_MAX);
    let mut definition = small_refunds();
    definition["limits"]["perDay"] = json!(limit);
    let rule = make_rule(&app, &definition).await;
    let (mut kills, mut approved, mut opened) = (Kills::default(), BTreeSet::<String>::new(), 0);
    // Nothing disturbs the first round.
    for round in 0..=rounds() {
        let sessions = running(&app).await;
        let answered: Vec<Cell<bool>> = sessions.iter().map(|_| Cell::new(false)).collect();
        let on = &app;
        let pauses = sessions.iter().zip(&answered);
        let pauses = pauses.map(|(session, answered)| async move { answered.set(pause(on, session).await) });
        kills.interrupt(join_all(pauses)).await;
        app.kill();
        app.serve_again();
        for (session, answered) in sessions.iter().zip(&answered) {
            let is_recorded = get(&app, &format!("/api/sessions/{session}")).await["status"] == "awaiting_tool";
            kills.count(answered.get(), is_recorded);
            // The worker repeats what is not recorded.
            assert!(is_recorded || pause(&app, session).await, "round {round}");
            opened += 1;
            approved.extend(by_rule(&app, session, &rule).await);
        }
        let (ids, days) = decided(&app, &rule).await;
        let what = format!("round {round}, killed after {:?}: {days:?}", kills.after);
        assert_eq!(ids, approved, "{what}");
        assert!(days.values().all(|count| *count <= limit), "{what}");
        // If midnight came between, another day has begun with a limit of its own.
        assert!(days.len() > 1 || ids.len() == limit.min(opened), "{what}");
        for session in &sessions {
            app.post(Who::Operator, &format!("/api/sessions/{session}/cancel"), json!({})).await;
        }
    }
    kills.report();
    app.kill();
    let verified = app.cli().arg("verify").output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    app.serve_again();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_decides_once_and_within_its_limit_however_the_server_is_killed_on_sqlite() {
    killed_at_any_instant(App::start()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_decides_once_and_within_its_limit_however_the_server_is_killed_on_postgresql() {
    let engine = Engine::postgres().await;
    let Engine::Postgres { url, .. } = &engine else { unreachable!("asked for PostgreSQL") };
    killed_at_any_instant(App::start_on(url)).await;
    engine.discard().await;
}
