//! From a real log to training data: messages, ratings, inferred outcomes, edits and denials, and their export.

use crate::{
    app::{App, Who, problem},
    browser::{Browser, add_person},
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{path::Path, time::Duration};
use testkit::Engine;

pub async fn get(app: &App, path: &str) -> Value {
    let response = app.request(Who::Operator, Method::GET, path).send().await.unwrap();
    assert!(response.status().is_success(), "GET {path}: {}", response.status());
    response.json().await.unwrap()
}

/// Waits until the server has captured `count` interactions of a session, and returns them, newest first. The server
/// captures once a second.
pub async fn captured(app: &App, session: &str, count: usize) -> Vec<Value> {
    for _ in 0..1_500 {
        let page = get(app, &format!("/api/interactions?sessionId={session}")).await;
        let items = page["items"].as_array().unwrap().clone();
        if items.len() >= count {
            assert_eq!(items.len(), count, "{page}");
            return items;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{count} turns of {session} were not captured: {}", app.log())
}

async fn claim(app: &App, session: &str) -> u64 {
    let claimed = app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["scout"] })).await;
    assert_eq!(claimed["sessions"][0]["session"]["id"], session);
    claimed["sessions"][0]["session"]["attempt"].as_u64().unwrap()
}

/// Claims a turn of the conversation and answers it as the agent.
async fn turn(app: &App, id: &str, reply: &str) {
    let attempt = claim(app, id).await;
    let events = json!({ "attempt": attempt, "events": [{ "type": "agent.message", "content": reply }] });
    app.post(Who::Worker, &format!("/api/sessions/{id}/events"), events).await;
    app.post(Who::Worker, &format!("/api/sessions/{id}/yield"), json!({ "attempt": attempt, "status": "idle" })).await;
}

/// A conversation of the member with these prompts and replies, and a rating at its end.
async fn conversation(app: &App, turns: &[(&str, &str)], feedback: &str) -> String {
    let new = json!({ "agent": "scout", "message": turns[0].0 });
    let id = app.post(Who::Member, "/api/threads", new).await["id"].as_str().unwrap().to_owned();
    turn(app, &id, turns[0].1).await;
    for (prompt, reply) in &turns[1..] {
        app.post(Who::Member, &format!("/api/threads/{id}/messages"), json!({ "text": prompt })).await;
        turn(app, &id, reply).await;
    }
    app.post(Who::Member, &format!("/api/threads/{id}/end"), json!({ "feedback": feedback })).await;
    id
}

pub async fn asked_once(app: &App, input: &str, result: &str) -> String {
    let new = json!({ "sessionType": "agent", "agentSlug": "scout", "input": input });
    let id = app.post(Who::Member, "/api/sessions", new).await["id"].as_str().unwrap().to_owned();
    let attempt = claim(app, &id).await;
    let done = json!({ "attempt": attempt, "result": result });
    app.post(Who::Worker, &format!("/api/sessions/{id}/complete"), done).await;
    id
}

/// A session whose output is decided by the admin.
async fn reviewed(app: &App, cookie: &str, of: &Value, name: &str, decision: Value) -> String {
    let entity = app.post(Who::Member, "/api/entities", json!({ "typeId": of["id"], "title": "Acme" })).await;
    let action = json!({
        "name": name, "slug": name.to_lowercase(), "agentSlug": "scout", "targetEntityId": entity["id"],
        "outputType": "entity", "metadata": { "requiresApproval": true },
    });
    let action = app.post(Who::Operator, "/api/actions", action).await;
    let path = format!("/api/actions/{}/trigger", action["id"].as_str().unwrap());
    let session = app.post(Who::Member, &path, json!({})).await["id"].as_str().unwrap().to_owned();
    let attempt = claim(app, &session).await;
    let result = json!({ "attempt": attempt, "result": { "title": "Acme Ltd" } });
    app.post(Who::Worker, &format!("/api/sessions/{session}/complete"), result).await;
    let open = get(app, "/api/approvals?assignedTo=all").await;
    let approval = open["items"][0]["id"].as_str().unwrap().to_owned();
    let sent = app.http.post(format!("{}/api/approvals/{approval}/decision", app.url));
    let sent = sent.header("cookie", cookie).header("sec-fetch-site", "same-origin").json(&decision);
    let answer = sent.send().await.unwrap();
    assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
    session
}

/// Exports. Returns the rows and the manifest.
pub fn exported(app: &App, args: &[&str]) -> (Vec<Value>, Value) {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("pairs");
    let output =
        app.cli().args(["export", "training", "--workspace", "acme", "--out"]).arg(&folder).args(args).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let name = manifest["files"][0]["name"].as_str().unwrap();
    if !name.ends_with(".jsonl") {
        assert!(std::fs::read(folder.join(name)).unwrap().starts_with(b"PAR1"));
        return (Vec::new(), manifest);
    }
    let lines = std::fs::read_to_string(folder.join(name)).unwrap();
    (lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), manifest)
}

fn raw_lines(folder: &Path) -> usize {
    let mut lines = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        lines += if path.is_dir() { raw_lines(&path) } else { std::fs::read_to_string(path).unwrap().lines().count() };
    }
    lines
}

/// Checks that insights link to the sessions with an answer, and to those with a decision, of a day.
async fn insights_lead_to(app: &App, cookie: &str, answered: &str, decided: &str) {
    let (_, insights) = seen(app, cookie, "/insights").await;
    for (filter, session, other) in [("answered", answered, None), ("decided", decided, Some(answered))] {
        let link = format!("href=\"/sessions?{filter}=");
        let (_, day) = insights.split_once(&link).unwrap_or_else(|| panic!("no {link}: {insights}"));
        for (day, is_listed) in [(&day[..10], true), ("2000-01-01", false)] {
            let (_, page) = seen(app, cookie, &format!("/sessions?{filter}={day}")).await;
            assert_eq!(page.contains(&format!("/sessions/{session}")), is_listed, "{filter} {day}: {page}");
            assert!(other.is_none_or(|other| !page.contains(&format!("/sessions/{other}"))), "{filter} {day}: {page}");
        }
    }
}

async fn a_log_becomes_training_data(app: &App) {
    let cookie = app.cookie().await;
    let of = app.post(Who::Operator, "/api/entity-types", json!({ "name": "Company", "slug": "company" })).await;
    let patch = app.request(Who::Admin, Method::PATCH, "/api/workspace").json(&json!({ "undoSeconds": 0 }));
    assert!(patch.send().await.unwrap().status().is_success());
    // Two answers: the next message accepts the first; the outcome of the last is unknown. A skipped rating is no
    // feedback.
    let turns = [("What is the stage of Acme?", "It is Lead."), ("Perfect, thanks! And who owns it?", "Ann owns it.")];
    let thanked = conversation(app, &turns, "skip").await;
    // One answer that has no feedback but the rating of its conversation.
    let rated = conversation(app, &[("Draft a mail to ann@example.org", "Dear Ann")], "positive").await;
    // Two sessions with one prompt each, so no outcome is inferred. A reviewer gives feedback on one answer.
    let alone = asked_once(app, "Which port?", "5432").await;
    let marked = asked_once(app, "Which port?", "password=hunter2hunter2").await;
    // Two outputs that reviewers decided.
    let edit = json!({ "decision": "edit", "value": { "title": "Acme Corporation" } });
    let edited = reviewed(app, &cookie, &of, "Rename", edit).await;
    let denied = reviewed(app, &cookie, &of, "Guess", json!({ "decision": "deny", "note": "Made up." })).await;
    app.post(Who::Operator, &format!("/api/sessions/{denied}/cancel"), json!({})).await;

    let two = captured(app, &thanked, 2).await;
    assert_eq!((&two[0]["outcome"], &two[1]["outcome"]), (&Value::Null, &json!("accepted")));
    assert_eq!(two[1]["feedback"]["source"], "outcome_tracker");
    for session in [&rated, &alone] {
        let only = captured(app, session, 1).await;
        assert_eq!((&only[0]["feedback"], &only[0]["outcome"]), (&Value::Null, &Value::Null));
    }
    insights_lead_to(app, &cookie, &alone, &edited).await;
    let judged = captured(app, &edited, 1).await.remove(0)["feedback"].clone();
    assert_eq!((&judged["feedback"], &judged["source"]), (&json!("positive"), &json!("reviewer")));
    assert_eq!(judged["edited"], r#"{"title":"Acme Corporation"}"#);
    let judged = captured(app, &denied, 1).await.remove(0)["feedback"].clone();
    assert_eq!((&judged["feedback"], &judged["source"]), (&json!("negative"), &json!("reviewer")));
    let id = captured(app, &marked, 1).await[0]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/interactions/{id}/feedback");
    let kept = app.post(Who::Reviewer, &path, json!({ "feedback": "negative" })).await;
    assert_eq!((&kept["source"], &kept["wasEdited"]), (&json!("manual"), &json!(false)));
    for (body, field) in [
        (json!({ "feedback": "skip" }), "feedback"),
        (json!({ "feedback": "positive", "edited": "x".repeat(100_001) }), "edited"),
    ] {
        let (status, refused) =
            problem(app.request(Who::Reviewer, Method::POST, &path).json(&body).send().await.unwrap()).await;
        assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!(field)), "{refused}");
    }
    let negative = get(app, "/api/interactions?feedback=negative").await;
    assert_eq!(negative["items"].as_array().unwrap().len(), 2);
    let (status, _) =
        problem(app.request(Who::Member, Method::GET, "/api/interactions?outcome=bad").send().await.unwrap()).await;
    assert_eq!(status, 422);

    let (rows, manifest) = exported(app, &["--format", "kto"]);
    let counts = &manifest["counts"];
    let of = |name: &str| counts[name].as_u64().unwrap();
    // The second answer of the conversation and one of the single prompts are unknown. Neither they nor the skipped
    // rating count as negative.
    assert_eq!((of("interactions"), of("positive"), of("negative")), (7, 3, 2), "{manifest}");
    assert_eq!((of("neutral"), of("unknown"), of("edited"), of("orphans")), (0, 2, 1, 0));
    let sources = json!({ "manual": 1, "outcome_tracker": 1, "reviewer": 2, "session": 1, "memory_writer": 0 });
    assert_eq!(manifest["bySource"], sources);
    let labels: Vec<_> = rows.iter().map(|row| row["label"].as_bool().unwrap()).collect();
    assert_eq!(labels.iter().filter(|good| **good).count(), 3, "{rows:?}");
    assert_eq!(labels.len(), 6, "an edit is a good answer and a bad one");
    let text = json!(rows).to_string();
    assert!(!text.contains("hunter2hunter2") && text.contains("[REDACTED:"), "{text}");
    assert!(text.contains("ann@example.org"), "addresses go only where that is asked for");

    let (rows, _) = exported(app, &["--format", "sft", "--redact-emails"]);
    assert_eq!(rows.len(), 3);
    let last: Vec<_> =
        rows.iter().map(|row| row["messages"].as_array().unwrap().last().unwrap()["content"].clone()).collect();
    assert!(last.contains(&json!(r#"{"title":"Acme Corporation"}"#)), "{last:?}");
    assert!(!json!(rows).to_string().contains("ann@example.org"));
    let (rows, _) = exported(app, &["--format", "dpo", "--source", "reviewer"]);
    let [pair] = rows.as_slice() else { panic!("one edit: {rows:?}") };
    assert_eq!(pair["chosen"][0]["content"], r#"{"title":"Acme Corporation"}"#);
    assert_eq!(pair["rejected"][0]["content"], r#"{"title":"Acme Ltd"}"#);
    let (_, manifest) = exported(app, &["--format", "kto", "--file-type", "parquet", "--source", "manual"]);
    assert_eq!((&manifest["counts"]["unknown"], &manifest["counts"]["rows"]), (&json!(6), &json!(1)));

    let out = tempfile::tempdir().unwrap();
    let raw = app.cli().args(["export", "raw", "--workspace", "acme", "--out"]).arg(out.path()).output().unwrap();
    assert!(raw.status.success(), "{}", String::from_utf8_lossy(&raw.stderr));
    // Seven answers; four lines of feedback from the next message, two decisions and a mark; one outcome.
    assert_eq!(raw_lines(out.path()), 7 + 4 + 1);
    let insights = get(app, "/api/insights").await;
    let total = &insights["total"];
    let mix = ["accepted", "rejected", "neutral", "unknown"].map(|name| total[name].as_u64().unwrap());
    assert_eq!((mix, &insights["captureFailures"]), ([1, 0, 0, 6], &json!(0)));
    let metrics = app.request(Who::Admin, Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("shiftbook_interactions_captured_total 7"), "{metrics}");
    assert!(metrics.contains("shiftbook_interaction_capture_failures_total 0"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_becomes_training_data_that_counts_its_turns_and_nothing_else_on_sqlite() {
    a_log_becomes_training_data(&App::start()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_becomes_training_data_that_counts_its_turns_and_nothing_else_on_postgresql() {
    let engine = Engine::postgres().await;
    let Engine::Postgres { url, .. } = &engine else { unreachable!("asked for PostgreSQL") };
    let key = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(key.path(), format!("{}\n", testkit::INSTANCE_KEY)).unwrap();
    let key = key.path().to_str().unwrap();
    let app =
        App::start_with("", &[], &[("SHIFTBOOK_DATABASE_URL", url.as_str()), ("SHIFTBOOK_INSTANCE_KEY_FILE", key)]);
    a_log_becomes_training_data(&app).await;
    drop(app);
    engine.discard().await;
}

/// Posts the form of `/export` as a browser without scripts does. Returns the status, and the redirect or the page.
pub async fn begin(app: &App, cookie: &str, fields: &[(&str, &str)]) -> (u16, String) {
    let form = app.http.post(format!("{}/fn/export/start", app.url)).header("cookie", cookie);
    let fields = [fields, &[("next", "/exports/{id}"), ("page", "/export")]].concat();
    let form = form.header("origin", &app.url).header("accept", "text/html").form(&fields);
    let answer = form.send().await.unwrap();
    let status = answer.status().as_u16();
    let location = answer.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
    (status, location.unwrap_or(answer.text().await.unwrap()))
}

pub async fn seen(app: &App, cookie: &str, path: &str) -> (u16, String) {
    let answer = app.http.get(format!("{}{path}", app.url)).header("cookie", cookie).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// Waits for the end of an export, and returns its page.
pub async fn ended(app: &App, cookie: &str, path: &str) -> String {
    for _ in 0..1_500 {
        let (status, page) = seen(app, cookie, path).await;
        assert_eq!(status, 200, "{page}");
        if !page.contains("data-running") {
            return page;
        }
        assert!(page.contains("http-equiv=\"refresh\""), "a browser without scripts looks again: {page}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{path} did not end")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_is_looked_at_made_and_downloaded_by_plain_forms() {
    let app = App::start();
    let cookie = app.cookie().await;
    let session = asked_once(&app, "Which port, ann@example.org?", "5432").await;
    let id = captured(&app, &session, 1).await[0]["id"].as_str().unwrap().to_owned();
    app.post(Who::Admin, &format!("/api/interactions/{id}/feedback"), json!({ "feedback": "positive" })).await;
    let chosen = [("format", "sft"), ("fileType", "jsonl"), ("minFeedback", ""), ("source.manual", "on")];
    let preview = [&chosen[..], &[("step", "preview"), ("redactEmails", "on")]].concat();
    let (status, preview) = begin(&app, &cookie, &preview).await;
    assert_eq!(status, 303, "{preview}");
    let page = ended(&app, &cookie, &preview).await;
    assert!(page.contains("No file was written") && page.contains("[REDACTED:email]"), "{page}");
    assert!(!page.contains("ann@example.org"));
    assert_eq!(seen(&app, &cookie, &format!("{preview}/file")).await.0, 404, "a preview has no file");

    let (status, made) = begin(&app, &cookie, &[&chosen[..], &[("step", "export")]].concat()).await;
    assert_eq!(status, 303, "{made}");
    let page = ended(&app, &cookie, &made).await;
    assert!(page.contains("Download sft.jsonl"), "{page}");
    let (status, file) = seen(&app, &cookie, &format!("{made}/file")).await;
    let row: Value = serde_json::from_str(file.trim()).unwrap();
    assert_eq!((status, &row["messages"][1]["content"]), (200, &json!("5432")));
    let manifest: Value = serde_json::from_str(&seen(&app, &cookie, &format!("{made}/manifest")).await.1).unwrap();
    assert_eq!((&manifest["counts"]["rows"], &manifest["sources"]), (&json!(1), &json!(["manual"])));
    assert_eq!(manifest["files"][0]["bytes"], file.len());

    for wrong in [
        ("format", "csv"),
        ("fileType", "xlsx"),
        ("minFeedback", "skip"),
        ("source.guess", "on"),
        ("minConfidence", "1001"),
        ("sessionRating", "often"),
        ("since", "yesterday"),
        ("until", "2026-13-01"),
        ("validationShare", "2"),
        ("mergeRoles", "maybe"),
    ] {
        let (status, page) = begin(&app, &cookie, &[&chosen[..], &[("step", "preview"), wrong]].concat()).await;
        assert_eq!((status, page.contains("field-error")), (422, true), "{wrong:?}: {page}");
    }
    // Further exports remove the oldest ones and their files.
    for _ in 0..5 {
        let (_, next) = begin(&app, &cookie, &[&chosen[..], &[("step", "export")]].concat()).await;
        ended(&app, &cookie, &next).await;
    }
    let (status, page) = seen(&app, &cookie, &made).await;
    assert!(
        status == 200 && page.contains("was removed to make room for newer ones") && page.contains("Try again"),
        "{page}"
    );
    assert_eq!(seen(&app, &cookie, &format!("{made}/file")).await.0, 404);
    for path in ["/export", preview.as_str()] {
        let answer = app.request(Who::Reviewer, Method::GET, path).send().await.unwrap();
        assert_eq!(answer.status(), 403, "{path}");
    }
    let elsewhere = app.request(Who::Stranger, Method::GET, &preview).send().await.unwrap();
    assert_eq!(elsewhere.status(), 404);
}

/// Whether any file of training data of the server has this text.
fn is_in_files(app: &App, text: &str) -> bool {
    let mut folders = vec![app.data_dir().join("datalake/01-raw")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read_to_string(&path).unwrap().contains(text) {
                return true;
            }
        }
    }
    false
}

/// A conversation of a person, whose token acts for her.
async fn conversation_of_ada(app: &App, prompt: &str, reply: &str) -> String {
    let add = ["token", "add", "--tenant", "acme", "--name", "Ada's", "--role", "member", "--user", "ada@acme.test"];
    let token = String::from_utf8(app.cli().args(add).output().unwrap().stdout).unwrap();
    let new = json!({ "agent": "scout", "message": prompt });
    let started = app.http.post(format!("{}/api/threads", app.url)).bearer_auth(token.trim()).json(&new);
    let thread: Value = started.send().await.unwrap().json().await.unwrap();
    let id = thread["id"].as_str().unwrap().to_owned();
    turn(app, &id, reply).await;
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_training_data_of_a_session_or_a_person_goes_from_files_and_exports_too() {
    let app = App::start();
    let first = conversation(&app, &[("My dog is called Rexmarker.", "A fine name.")], "positive").await;
    let second = conversation_of_ada(&app, "I live in Lisbonmarker.", "Nice.").await;
    asked_once(&app, "Which portmarker?", "5432").await;
    for session in [&first, &second] {
        captured(&app, session, 1).await;
    }
    while !is_in_files(&app, "portmarker") {
        tokio::task::yield_now().await;
    }
    assert!(is_in_files(&app, "Rexmarker") && is_in_files(&app, "Lisbonmarker"));
    let path = format!("/api/sessions/{first}/interactions");
    let other = app.request(Who::OtherMember, Method::DELETE, &path).send().await.unwrap();
    assert_eq!(problem(other).await.0, 403);
    let out = tempfile::tempdir().unwrap();
    let written = app.cli().args(["export", "raw", "--tenant", "acme", "--out"]).arg(out.path()).output().unwrap();
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let mut gone: Value = app.request(Who::Member, Method::DELETE, &path).send().await.unwrap().json().await.unwrap();
    let kept = gone["kept"].take();
    let [kept] = kept.as_array().unwrap().as_slice() else { panic!("{kept}") };
    let kept = kept.as_str().unwrap();
    assert!(kept.starts_with("captured prompts and answers by the operator of the server on "), "{kept}");
    assert!(!kept.contains(out.path().to_str().unwrap()), "folders of the server are for admins: {kept}");
    assert_eq!(gone, json!({ "interactions": 1, "exports": [], "kept": null, "filesRewritten": true }));
    assert!(!is_in_files(&app, "Rexmarker") && is_in_files(&app, "Lisbonmarker"));

    let members = get(&app, "/api/members").await;
    let ada = members["members"].as_array().unwrap().iter().find(|member| member["email"] == "ada@acme.test").unwrap();
    let person = format!("shiftbook-{}", ada["id"].as_str().unwrap());
    let forget = json!({ "person": person, "apply": true });
    let forgotten = app.post(Who::Admin, "/api/memory/forget", forget).await;
    assert_eq!(forgotten["interactions"], 1, "{forgotten}");
    assert!(forgotten["kept"].to_string().contains(out.path().to_str().unwrap()), "{forgotten}");
    assert!(!is_in_files(&app, "Lisbonmarker"));
    assert_eq!(get(&app, &format!("/api/interactions?sessionId={second}")).await["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_forgotten_on_its_page_after_a_look_at_what_would_go() {
    let app = App::start();
    let id = conversation_of_ada(&app, "I live in Lisbonmarker.", "Nice.").await;
    captured(&app, &id, 1).await;
    let (session, forget) = (format!("/sessions/{id}"), format!("/sessions/{id}/forget"));
    add_person(&app, "mia@acme.test");
    let (ada, mia) = (Browser::of(&app, "ada@acme.test").await, Browser::of(&app, "mia@acme.test").await);
    assert!(ada.page(&session).await.contains(&forget));
    assert!(!mia.page(&session).await.contains(&forget), "the session of another person");
    for method in [Method::GET, Method::POST] {
        assert_eq!(mia.ask(method, &forget, &[("confirm", "forget")]).await.status(), 403);
    }
    assert!(ada.page(&forget).await.contains("1 prompt with answers"));
    let refused = ada.ask(Method::POST, &forget, &[("confirm", "yes")]).await;
    assert_eq!(refused.status(), 422);
    assert!(refused.text().await.unwrap().contains("type the word forget"));
    captured(&app, &id, 1).await;
    let done = ada.ask(Method::POST, &forget, &[("confirm", "forget")]).await;
    assert_eq!(done.status(), 200);
    let done = done.text().await.unwrap();
    assert!(done.contains("Nothing more of this session is captured.") && done.contains("1 prompt"), "{done}");
    captured(&app, &id, 0).await;
    assert!(ada.page(&forget).await.contains("has nothing of this session"));
}
