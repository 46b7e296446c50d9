//! Conversations and ratings over HTTP: the exact paths, their refusals, and what is stored.

use crate::app::{App, Who, problem};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::model::{ScriptedModel, ScriptedReply};

/// Waits until the session's log contains this text.
async fn holds(app: &App, session: &str, wanted: &str) {
    let path = format!("/api/sessions/{session}/events/stream");
    let mut stream = app.request(Who::Operator, Method::GET, &path).send().await.unwrap();
    let mut received = String::new();
    while !received.contains(wanted) {
        let chunk = stream.chunk().await.unwrap().unwrap_or_else(|| panic!("it ended without {wanted}: {received}"));
        received.push_str(&String::from_utf8_lossy(&chunk));
    }
}

async fn get(app: &App, path: &str) -> Value {
    app.request(Who::Operator, Method::GET, path).send().await.unwrap().json().await.unwrap()
}

/// A conversation of the operator after its first turn.
async fn rested(app: &App, incognito: bool) -> String {
    let new = json!({ "agent": "scout", "message": "Hello", "incognito": incognito });
    let thread = app.post(Who::Operator, "/api/threads", new).await;
    assert_eq!((&thread["status"], &thread["turnCount"]), (&json!("pending"), &json!(1)));
    let claim = json!({ "agentSlugs": ["scout"], "leaseSeconds": 3600 });
    let claimed = app.post(Who::Worker, "/api/sessions/claim", claim).await;
    assert_eq!(claimed["sessions"][0]["session"]["source"], "thread");
    let id = thread["id"].as_str().unwrap().to_owned();
    let reply = json!({ "attempt": 1, "events": [{ "type": "agent.message", "content": "Hello to you" }] });
    app.post(Who::Worker, &format!("/api/sessions/{id}/events"), reply).await;
    let usage = json!({ "inputTokens": 7 });
    let idle = json!({ "attempt": 1, "status": "idle", "usage": usage });
    assert_eq!(app.post(Who::Worker, &format!("/api/sessions/{id}/yield"), idle).await["usage"], usage);
    id
}

/// The ratings of a session, as the operator's command lists them.
fn ratings(app: &App, id: &str) -> Vec<Value> {
    let output = app.cli().args(["feedback", "list", "--thread", id]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn feedback(app: &App, args: &[&str]) -> String {
    let output = app.cli().arg("feedback").args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_ends_at_both_addresses_and_other_labels_are_refused_before_anything_happens() {
    let app = App::start();
    let mut shapes = Vec::new();
    for (path, body, label) in [
        ("/threads", Some(json!({ "feedback": "positive", "source": "cli_end" })), Some("positive")),
        ("/api/threads", Some(json!({ "feedback": "negative", "source": "cli_exit" })), Some("negative")),
        ("/threads", Some(json!({ "feedback": "skip" })), Some("skip")),
        ("/threads", Some(json!({ "feedback": null })), None),
        ("/threads", Some(Value::Null), None),
        ("/threads", Some(json!({})), None),
        ("/threads", None, None),
    ] {
        let id = rested(&app, false).await;
        let path = format!("{path}/{id}/end");
        for wrong in [
            json!({ "feedback": "great" }),
            json!({ "feedback": "Positive" }),
            json!({ "feedback": "" }),
            json!({ "feedback": 1 }),
            json!({ "feedback": true }),
            json!({ "feedback": ["positive"] }),
            json!({ "feedback": "positive", "comment": "it was great" }),
            json!({ "feedback": "positive", "source": "web_end" }),
            json!({ "feedback": "positive", "source": "mail" }),
            json!(["positive"]),
        ] {
            let refused = app.request(Who::Operator, Method::POST, &path).json(&wrong).send().await.unwrap();
            let (status, problem) = problem(refused).await;
            assert_eq!((status, &problem["code"]), (422, &json!("invalid_request")), "{wrong}");
        }
        assert_eq!(get(&app, &format!("/api/threads/{id}")).await["status"], "idle", "nothing happened");
        let mut answers = Vec::new();
        for _ in 0..2 {
            let mut request = app.request(Who::Operator, Method::POST, &path);
            if let Some(body) = &body {
                request = request.json(body);
            }
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status(), 200);
            answers.push(answer.json::<Value>().await.unwrap());
        }
        assert_eq!(answers[0], answers[1], "ending is repeated safely");
        assert_eq!(answers[0]["thread"]["status"], "completed");
        assert_eq!(answers[0]["summary"]["lastReply"], "Hello to you");
        let keys =
            |value: &Value| value.as_object().unwrap().keys().cloned().collect::<std::collections::BTreeSet<_>>();
        shapes.push([keys(&answers[0]), keys(&answers[0]["thread"]), keys(&answers[0]["summary"])]);
        let kept = ratings(&app, &id);
        assert_eq!(
            kept.iter().map(|one| one["label"].as_str().unwrap()).collect::<Vec<_>>(),
            label.into_iter().collect::<Vec<_>>()
        );
        if let Some(record) = kept.first() {
            let source = body.as_ref().and_then(|body| body["source"].as_str()).unwrap_or("api_end");
            assert_eq!((record["source"].as_str(), &record["turn_count_at_end"]), (Some(source), &json!(1)));
            assert!(record["recorded_at"].as_str().unwrap().ends_with('Z'));
            assert_eq!(record.as_object().unwrap().len(), 8);
        }
        let status = get(&app, &format!("/api/memory/status?thread_id={id}")).await;
        assert_eq!(status["session_feedback_count"], u64::from(label.is_some()));
        assert_eq!((&status["turn_count"], &status["feedback_backend"]), (&json!(1), &json!("sqlite")));
    }
    assert!(shapes.windows(2).all(|pair| pair[0] == pair[1]), "{shapes:?}");
    assert_eq!(feedback(&app, &["count"]), "3");
    assert_eq!(feedback(&app, &["purge"]).split(' ').next(), Some("0"), "none is 180 days old");
    assert_eq!(feedback(&app, &["purge", "--before", "2999-01-01"]).split(' ').next(), Some("3"));
    assert_eq!(feedback(&app, &["count"]), "0");
    let metrics = app.request(Who::Anonymous, Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("shiftbook_session_feedback_write_failures_total 0"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_rates_in_the_browser_is_theirs_to_change_and_take_back() {
    let app = App::start();
    let cookie = app.cookie().await;
    let path = |id: &str| format!("{}/api/sessions/{id}/feedback", app.url);
    let browser = |method: Method, id: &str| {
        app.http.request(method, path(id)).header("cookie", &cookie).header("origin", &app.url)
    };
    let running = app.running(Who::Member).await;
    let positive = json!({ "label": "positive" });
    let early = problem(browser(Method::PUT, &running).json(&positive).send().await.unwrap()).await;
    assert_eq!((early.0, &early.1["code"]), (409, &json!("wrong_status")));
    app.post(Who::Worker, &format!("/api/sessions/{running}/complete"), json!({ "attempt": 1 })).await;
    let wrong = browser(Method::PUT, &running).json(&json!({ "label": "nice" })).send().await.unwrap();
    assert_eq!(problem(wrong).await.0, 422);
    let kept: Value = browser(Method::PUT, &running).json(&positive).send().await.unwrap().json().await.unwrap();
    assert_eq!(kept["label"], "positive");
    let read: Value = browser(Method::GET, &running).send().await.unwrap().json().await.unwrap();
    assert_eq!(read, kept);
    assert_eq!(ratings(&app, &running)[0]["source"], "web_end");
    for _ in 0..2 {
        assert_eq!(browser(Method::DELETE, &running).send().await.unwrap().status(), 204);
    }
    let none: Value = browser(Method::GET, &running).send().await.unwrap().json().await.unwrap();
    assert_eq!(none, json!({ "label": null, "recordedAt": null }));
    assert!(ratings(&app, &running).is_empty());
    // A token that acts for no person cannot rate. One that acts for a person can, and the rating's source is a
    // program.
    let by_token = app.request(Who::Operator, Method::PUT, &format!("/api/sessions/{running}/feedback"));
    assert_eq!(problem(by_token.json(&positive).send().await.unwrap()).await.0, 403);
    let add = ["token", "add", "--tenant", "acme", "--name", "Ada's", "--role", "member", "--user", "ada@acme.test"];
    let token = String::from_utf8(app.cli().args(add).output().unwrap().stdout).unwrap();
    let rate = app.http.put(path(&running)).bearer_auth(token.trim()).json(&positive);
    assert_eq!(rate.send().await.unwrap().status(), 200);
    assert_eq!(ratings(&app, &running)[0]["source"], "api_end");
    let status: Value = app
        .http
        .get(format!("{}/api/memory/status", app.url))
        .bearer_auth(token.trim())
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!((&status["thread_id"], &status["session_feedback_count"]), (&Value::Null, &json!(1)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ratings_survive_a_kill_and_incognito_ones_do_not() {
    let mut app = App::start();
    let mut ids = Vec::new();
    for incognito in [false, true] {
        let id = rested(&app, incognito).await;
        app.post(Who::Operator, &format!("/threads/{id}/end"), json!({ "feedback": "positive" })).await;
        let status = get(&app, &format!("/api/memory/status?thread_id={id}")).await;
        assert_eq!((&status["session_feedback_count"], &status["incognito"]), (&json!(1), &json!(incognito)));
        ids.push(id);
    }
    app.kill();
    app.serve_again();
    for (id, expected) in ids.iter().zip([1, 0]) {
        let status = get(&app, &format!("/api/memory/status?thread_id={id}")).await;
        assert_eq!(status["session_feedback_count"], expected);
    }
    assert_eq!(feedback(&app, &["count"]), "1");
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("log.db");
    let backup = app.cli().arg("backup").arg(&target).output().unwrap();
    let stdout = String::from_utf8_lossy(&backup.stdout).into_owned();
    assert!(backup.status.success() && stdout.contains("wrote the ratings to"), "{stdout}");
    assert!(dir.path().join("log.db.session_feedback.sqlite3").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_file_of_ratings_answers_503_and_the_rest_of_the_status_is_served() {
    let mut app = App::start();
    let cookie = app.cookie().await;
    let id = rested(&app, false).await;
    app.post(Who::Operator, &format!("/threads/{id}/end"), json!({ "feedback": "positive" })).await;
    app.kill();
    // The write-ahead log could repair it.
    for file in ["session_feedback.sqlite3-wal", "session_feedback.sqlite3-shm"] {
        let _ = std::fs::remove_file(app.data_dir().join(file));
    }
    std::fs::write(app.data_dir().join("session_feedback.sqlite3"), "this was a database").unwrap();
    app.serve_again();
    for (method, body) in [(Method::GET, None), (Method::PUT, Some("negative")), (Method::DELETE, None)] {
        let path = format!("{}/api/sessions/{id}/feedback", app.url);
        let asked = app.http.request(method.clone(), path).header("cookie", &cookie).header("origin", &app.url);
        let asked = body.map_or(asked.try_clone().unwrap(), |label| asked.json(&json!({ "label": label })));
        let (status, refused) = problem(asked.send().await.unwrap()).await;
        assert_eq!((status, &refused["code"]), (503, &json!("unavailable")), "{method}");
    }
    let status = get(&app, &format!("/api/memory/status?thread_id={id}")).await;
    assert_eq!((&status["session_feedback_count"], &status["ratings_missing"]), (&Value::Null, &json!("unreadable")));
    assert_eq!((&status["turn_count"], &status["status"]), (&json!(1), &json!("completed")));
    assert!(status["event_count"].as_u64().unwrap() > 0, "{status}");
}

fn settings(model: &ScriptedModel) -> String {
    format!(
        "[agents.clerk]\nadapter = \"chat\"\nworkspace = \"acme\"\nwire = \"openai\"\nbase_url = \"{}\"\nmodel = \"m-1\"\n\
         instructions = \"You are a clerk.\"\ntools = [\"note\", \"ask_person\"]\n[agents.clerk.budget]\nsteps = 2\n",
        model.base_url
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_of_the_server_remembers_the_conversation_and_a_turn_that_fails_ends_nothing() {
    let script = [
        ScriptedReply::tool("c1", "note", &json!({ "text": "A guest." })),
        ScriptedReply::Text("Hello, I am the clerk."),
        ScriptedReply::Status(400, None, "no such model"),
        ScriptedReply::Text("You said hello."),
    ];
    let model = ScriptedModel::start(script).await;
    let app = App::start_with(&settings(&model), &[], &[]);
    let new = json!({ "agent": "clerk", "message": "Hello there" });
    let id = app.post(Who::Operator, "/api/threads", new).await["id"].as_str().unwrap().to_owned();
    holds(&app, &id, "\"to\":\"idle\"").await;
    let say = async |text: &str| {
        app.post(Who::Operator, &format!("/api/threads/{id}/messages"), json!({ "text": text })).await
    };
    say("Who are you?").await;
    holds(&app, &id, "no such model").await;
    holds(&app, &id, "session.error").await;
    // The log has the turn's error before the session is idle.
    let at_rest = async |turns: u64| loop {
        let thread = get(&app, &format!("/api/threads/{id}")).await;
        if thread["status"] == "idle" && thread["turnCount"] == turns {
            return thread;
        }
        assert!(!["failed", "completed", "abandoned"].contains(&thread["status"].as_str().unwrap()), "{thread}");
        tokio::task::yield_now().await;
    };
    at_rest(2).await;
    say("What did I say first?").await;
    holds(&app, &id, "You said hello.").await;
    at_rest(3).await;
    let requests = model.requests();
    assert_eq!(requests.len(), 4);
    let last = requests[3].body["messages"].clone();
    let roles: Vec<_> = last.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "user", "user"], "{last}");
    let text = last.to_string();
    for part in ["You are a clerk.", "Hello there", "I am the clerk", "Who are you?", "What did I say first?"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let session = get(&app, &format!("/api/sessions/{id}")).await;
    assert_eq!(session["usage"]["steps"], 3, "over the whole conversation, although a turn may have two");
    let ended = app.post(Who::Operator, &format!("/threads/{id}/end"), json!({ "feedback": "negative" })).await;
    assert_eq!((&ended["summary"]["turns"], &ended["summary"]["lastReply"]), (&json!(3), &json!("You said hello.")));
    assert_eq!(get(&app, &format!("/api/sessions/{id}")).await["result"]["summary"], ended["summary"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_gets_the_conversation_and_its_result_is_the_reply() {
    let app = App::start();
    let script = r#"read -r talk; n=$(printf '%s' "$talk" | grep -o '"role":"user"' | wc -l)
        printf '{"type":"result","result":"I heard %s of you","usage":{"inputTokens":5}}\n' $n"#;
    let new = json!({ "agent": "tester", "message": "One" });
    let id = app.post(Who::Operator, "/api/threads", new).await["id"].as_str().unwrap().to_owned();
    for turn in 1..=2 {
        let mut work = app.cli();
        work.args(["work", "--agent", "tester", "--once", "--url", &app.url, "--", "sh", "-c", script]);
        work.env("SHIFTBOOK_TOKEN", app.token(Who::Worker).unwrap());
        let output = tokio::task::spawn_blocking(move || work.output().unwrap()).await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let log = get(&app, &format!("/api/sessions/{id}/events?eventTypes=agent.message")).await;
        let last = log["events"].as_array().unwrap().last().unwrap()["content"][0]["text"].clone();
        assert_eq!(last, format!("I heard {turn} of you"));
        let session = get(&app, &format!("/api/sessions/{id}")).await;
        assert_eq!((&session["status"], &session["usage"]["inputTokens"]), (&json!("idle"), &json!(5 * turn)));
        if turn == 1 {
            app.post(Who::Operator, &format!("/api/threads/{id}/messages"), json!({ "text": "Two" })).await;
        }
    }
}
