//! Agents of the settings file, run by a real server with a scripted model.

use crate::app::{App, Who, binary};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::model::{ScriptedModel, ScriptedReply};

pub const KEY: &str = "sk-do-not-show";

pub fn settings(model: &ScriptedModel, more: &str) -> String {
    format!(
        r#"
[agents.clerk]
adapter = "chat"
workspace = "acme"
wire = "anthropic"
base_url = "{}"
model = "m-1"
api_key_env = "CLERK_KEY"
instructions = "You are a clerk."
tools = ["entity_read", "entity_write", "ask_person", "note"]
{more}

[agents.clerk.budget]
steps = 5

[agents.clerk.prices]
input = 10.0
output = 50.0
"#,
        model.base_url
    )
}

/// Triggers the clerk's action. Returns the session's id.
pub async fn trigger(app: &App) -> String {
    let action = json!({ "name": "Look at it", "agentSlug": "clerk", "description": "Look at the company." });
    let action = app.post(Who::Operator, "/api/actions", action).await;
    let path = format!("/api/actions/{}/trigger", action["id"].as_str().unwrap());
    app.post(Who::Operator, &path, json!({ "input": { "q": "stage" } })).await["id"].as_str().unwrap().to_owned()
}

/// Reads a path of the API as the operator.
pub async fn get(app: &App, path: &str) -> Value {
    app.request(Who::Operator, Method::GET, path).send().await.unwrap().json().await.unwrap()
}

/// Waits for the end of the session, and returns the session.
pub async fn ended(app: &App, session: &str) -> Value {
    let path = format!("/api/sessions/{session}/events/stream");
    let stream = app.request(Who::Operator, Method::GET, &path).send().await.unwrap().text().await.unwrap();
    assert!(stream.contains("event: end"), "{stream}");
    get(app, &format!("/api/sessions/{session}")).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_triggered_action_is_worked_on_and_its_steps_usage_and_cost_are_in_the_session() {
    let script = [
        ScriptedReply::Status(529, None, "overloaded"),
        ScriptedReply::tool("c1", "note", &json!({ "text": "Looked." })),
        ScriptedReply::Text("The stage is Lead."),
    ];
    let model = ScriptedModel::start(script).await;
    let app = App::start_with(&settings(&model, ""), &[], &[("CLERK_KEY", KEY)]);
    let session = trigger(&app).await;
    let ended = ended(&app, &session).await;
    assert_eq!((&ended["status"], &ended["result"]), (&json!("completed"), &json!("The stage is Lead.")));
    assert_eq!((&ended["usage"]["steps"], &ended["usage"]["costUsd"]), (&json!(2), &json!(0.004)));
    let log = get(&app, &format!("/api/sessions/{session}/events")).await;
    let kinds: Vec<_> = log["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    let agents: Vec<_> = kinds.iter().filter(|kind| kind.starts_with("agent.")).copied().collect();
    assert_eq!(agents, ["agent.tool_call", "agent.tool_result", "agent.message"], "{kinds:?}");
    let requests = model.requests();
    let first = requests[0].body.to_string();
    assert!(first.contains("Look at the company.") && first.contains("You are a clerk."), "{first}");
    assert!(requests[0].head.contains(KEY));
    assert!(!app.log().contains(KEY) && !log.to_string().contains(KEY), "the key is not shown");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_agent_writes_to_its_memory_names_the_event_of_its_call() {
    let create = json!({ "command": "create", "path": "/memories/topics/a.md", "file_text": "one\ntwo\n" });
    let script = [ScriptedReply::tool("c1", "memory", &create), ScriptedReply::Text("Noted.")];
    let model = ScriptedModel::start(script).await;
    let settings = settings(&model, "").replace("\"note\"]", "\"memory\"]");
    let app = App::start_with(&settings, &[], &[("CLERK_KEY", KEY)]);
    let session = trigger(&app).await;
    assert_eq!(ended(&app, &session).await["status"], "completed");
    let log = get(&app, &format!("/api/sessions/{session}/events")).await;
    let events = log["events"].as_array().unwrap();
    let started = events.iter().find(|event| event["type"] == "tool.invocation_started").unwrap();
    let blame = get(&app, "/api/agents/clerk/memory/blame?path=topics/a.md").await;
    let lines = blame["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 2, "{blame}");
    for line in lines {
        let origin = &line["evidence"][0];
        assert_eq!((&origin["session"], &origin["sequence"]), (&json!(session), &started["sequence"]));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_fails_says_why_in_its_session() {
    let model = ScriptedModel::start([ScriptedReply::Status(400, None, "no such model")]).await;
    let app = App::start_with(&settings(&model, ""), &[], &[("CLERK_KEY", KEY)]);
    let ended = ended(&app, &trigger(&app).await).await;
    assert_eq!((&ended["status"], &ended["error"]["code"]), (&json!("failed"), &json!("model_refused")));
    assert!(ended["error"]["message"].as_str().unwrap().contains("no such model"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_failed_session_has_cost_is_in_the_api_on_its_page_and_in_the_insights() {
    let note = || ScriptedReply::tool("c", "note", &json!({ "text": "x" }));
    let model = ScriptedModel::start([note(), note(), ScriptedReply::Status(400, None, "no such model")]).await;
    let app = App::start_with(&settings(&model, ""), &[], &[("CLERK_KEY", KEY)]);
    let session = trigger(&app).await;
    let ended = ended(&app, &session).await;
    assert_eq!((&ended["status"], &ended["error"]["code"]), (&json!("failed"), &json!("model_refused")));
    assert_eq!((&ended["usage"]["inputTokens"], &ended["usage"]["costUsd"]), (&json!(200), &json!(0.004)));
    for path in [format!("/sessions/{session}"), "/insights".into()] {
        let page = page(&app, &path).await;
        assert!(page.contains("$0.004"), "{path}: {page}");
    }
}

async fn page(app: &App, path: &str) -> String {
    let request = app.http.get(format!("{}{path}", app.url)).header("cookie", app.cookie().await);
    request.send().await.unwrap().text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_insights_link_to_the_sessions_of_an_agent_a_task_and_a_day_and_to_those_that_failed() {
    let model = ScriptedModel::start([ScriptedReply::Status(400, None, "no such model")]).await;
    let app = App::start_with(&settings(&model, ""), &[], &[("CLERK_KEY", KEY)]);
    let session = trigger(&app).await;
    let ended = ended(&app, &session).await;
    assert_eq!(ended["status"], "failed", "{ended}");
    let insights = page(&app, "/insights").await;
    let of_agent = "/sessions?q=agent%3Aclerk&amp;endedSince=";
    let (_, since) = insights.split_once(of_agent).unwrap_or_else(|| panic!("no period: {insights}"));
    // Insights count by days in UTC, and readers may be elsewhere.
    let since = format!("endedSince={}&zone=UTC", &since[..10]);
    let of_action = format!("actionId={}", ended["actionId"].as_str().unwrap());
    let with_failed = |of: &str| match of.strip_prefix("q=") {
        Some(line) => format!("/sessions?q={line}%20status%3Afailed&{since}"),
        None => format!("/sessions?q=status%3Afailed&{of}&{since}"),
    };
    for of in ["q=agent%3Aclerk".to_owned(), of_action] {
        let later = page(&app, &format!("/sessions?{of}&endedSince=2999-01-01")).await;
        assert!(!later.contains(&format!("/sessions/{session}")), "{of}: {later}");
        let (all, failed) = (format!("/sessions?{of}&{since}"), with_failed(&of));
        for href in [all, failed] {
            let escaped = href.replace('&', "&amp;");
            assert!(insights.contains(&format!("href=\"{escaped}\"")), "{href}: {insights}");
            assert!(page(&app, &href).await.contains(&format!("/sessions/{session}")), "{href}");
        }
    }
    assert!(insights.contains("aria-label=\"1: failed sessions of clerk\""), "{insights}");
    let by_day = "/sessions?q=type%3Aagent&amp;ended=";
    let (_, day) = insights.split_once(by_day).unwrap_or_else(|| panic!("no day: {insights}"));
    for (day, is_listed) in [(&day[..10], true), ("2000-01-01", false)] {
        let listed = page(&app, &format!("/sessions?type=agent&ended={day}")).await;
        assert_eq!(listed.contains(&format!("/sessions/{session}")), is_listed, "{day}: {listed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_starts_others_waits_for_all_of_them_and_goes_on_with_their_results() {
    let start = |id, action: &str, n: u32| (id, "start_session", json!({ "action": action, "input": n }).to_string());
    let calls =
        vec![start("c1", "look-up", 1), start("c2", "look-up", 2), start("c3", "own-work", 3), start("c4", "other", 4)];
    let parent =
        ScriptedModel::start([ScriptedReply::ToolCalls("I ask others.", calls), ScriptedReply::Text("Both are in.")])
            .await;
    let child =
        ScriptedModel::start([ScriptedReply::Text("Found."), ScriptedReply::Status(400, None, "no such model")]).await;
    let scout = settings(&child, "").replace("agents.clerk", "agents.scout");
    let clerk =
        settings(&parent, "actions = [\"look-up\", \"own-work\"]").replace("\"note\"]", "\"note\", \"start_session\"]");
    let app = App::start_with(&format!("{clerk}{scout}"), &[], &[("CLERK_KEY", KEY)]);
    for (slug, agent) in [("look-up", "scout"), ("own-work", "clerk"), ("other", "scout")] {
        let action = json!({ "name": slug, "slug": slug, "agentSlug": agent });
        app.post(Who::Operator, "/api/actions", action).await;
    }
    let session = trigger(&app).await;
    let ended = ended(&app, &session).await;
    assert_eq!((&ended["status"], &ended["result"]), (&json!("completed"), &json!("Both are in.")), "{ended}");

    let children = get(&app, &format!("/api/sessions?parentId={session}")).await;
    let children = children["items"].as_array().unwrap();
    assert_eq!(children.len(), 2, "each call starts one, however often its parent is taken up: {children:?}");
    assert!(children.iter().all(|child| child["createdBy"] == "agent:clerk" && child["actionSlug"] == "look-up"));
    let log = get(&app, &format!("/api/sessions/{session}/events")).await;
    let events = log["events"].as_array().unwrap();
    let answers: Vec<_> = events.iter().filter(|event| event["type"] == "agent.tool_result").collect();
    let answer = |id: &str| {
        let found = answers.iter().find(|event| event["content"][0]["toolCallId"] == id).unwrap();
        (found["content"][0]["isError"] == true, found["content"][0]["output"]["value"].clone())
    };
    let (one, two) = (answer("c1"), answer("c2"));
    let (good, bad) = if one.0 { (two, one) } else { (one, two) };
    assert_eq!((good.0, &good.1["result"]), (false, &json!("Found.")));
    assert_eq!((bad.0, &bad.1["status"], &bad.1["error"]["code"]), (true, &json!("failed"), &json!("model_refused")));
    let (own, other) = (answer("c3"), answer("c4"));
    assert!(own.0 && own.1.as_str().unwrap().contains("does not start itself"), "{own:?}");
    assert!(other.0 && other.1.as_str().unwrap().contains("does not fit"), "{other:?}");
    let waited = events.iter().any(|event| {
        event["type"] == "session.status_change"
            && event["metadata"]["to"] == "idle"
            && event["metadata"]["reason"] == "waiting for 2 sessions that it started"
    });
    assert!(waited, "{events:?}");
    assert_eq!(parent.requests().len(), 2, "the model is asked again when all of them have ended");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_started_without_agents_leaves_their_sessions_to_workers() {
    let model = ScriptedModel::start([ScriptedReply::Text("From a worker.")]).await;
    let settings = settings(&model, "");
    let app = App::start_with(&settings, &["--no-agents"], &[]);
    let session = trigger(&app).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &settings).unwrap();
    let mut work = app.cli();
    work.args(["work", "--agent", "clerk", "--once", "--url", &app.url, "--config"]).arg(file.path());
    work.env("SHIFTBOOK_TOKEN", app.token(Who::Worker).unwrap()).env("CLERK_KEY", KEY);
    let output = tokio::task::spawn_blocking(move || work.output().unwrap()).await.unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !stderr.contains(KEY), "{stderr}");
    assert_eq!(get(&app, &format!("/api/sessions/{session}")).await["result"], "From a worker.");
}

/// Waits until the session's log contains this text.
pub async fn holds(app: &App, session: &str, wanted: &str) {
    let path = format!("/api/sessions/{session}/events/stream");
    let mut stream = app.request(Who::Operator, Method::GET, &path).send().await.unwrap();
    let mut received = String::new();
    while !received.contains(wanted) {
        let chunk = stream.chunk().await.unwrap().unwrap_or_else(|| panic!("it ended without {wanted}: {received}"));
        received.push_str(&String::from_utf8_lossy(&chunk));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_waits_for_a_reviewer_and_happens_once_it_is_approved() {
    let model = ScriptedModel::start([]).await;
    let app = App::start_with(&settings(&model, "confirm = [\"entity_write\"]"), &[], &[("CLERK_KEY", KEY)]);
    let at_once = json!({ "undoSeconds": 0 });
    let answer = app.request(Who::Admin, Method::PATCH, "/api/workspace").json(&at_once).send().await.unwrap();
    assert!(answer.status().is_success());
    let fields = json!([{ "slug": "stage", "name": "Stage", "type": "text" }]);
    let kind = app.post(Who::Operator, "/api/entity-types", json!({ "name": "Company", "fields": fields })).await;
    let acme = json!({ "typeId": kind["id"], "title": "Acme", "fields": { "stage": "Lead" } });
    let acme = app.post(Who::Operator, "/api/entities", acme).await["id"].as_str().unwrap().to_owned();
    let change = json!({ "id": acme, "version": 1, "fields": { "stage": "Won" } });
    model.then([ScriptedReply::tool("c1", "entity_write", &change), ScriptedReply::Text("It is won.")]);

    let session = trigger(&app).await;
    holds(&app, &session, "awaiting_tool").await;
    assert_eq!(get(&app, &format!("/api/entities/{acme}")).await["fields"]["stage"], "Lead");
    let waiting = get(&app, "/api/approvals?assignedTo=all").await["items"][0].clone();
    assert_eq!(waiting["task"]["pausedToolCall"]["toolInput"], change);
    let decision = json!({ "decision": "approve", "digest": waiting["digest"] });
    let path = format!("{}/api/approvals/{}/decision", app.url, waiting["id"].as_str().unwrap());
    let request = app.http.post(path).header("cookie", app.cookie().await).header("origin", &app.url);
    let answer = request.json(&decision).send().await.unwrap();
    assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());

    let ended = ended(&app, &session).await;
    assert_eq!((&ended["status"], &ended["result"]), (&json!("completed"), &json!("It is won.")));
    let written = get(&app, &format!("/api/entities/{acme}")).await;
    assert_eq!((&written["fields"]["stage"], &written["version"]), (&json!("Won"), &json!(2)));
    // The versions of the entity name the agent and the session, and so do the events of the log.
    assert_eq!(written["updatedBy"], "agent:clerk");
    let versions = get(&app, &format!("/api/entities/{acme}/versions")).await;
    let newest = versions["items"].as_array().unwrap().iter().find(|version| version["version"] == 2).unwrap().clone();
    assert_eq!((&newest["actor"], &newest["sessionId"]), (&json!("agent:clerk"), &json!(session)));
    let log = get(&app, &format!("/api/sessions/{session}/events")).await;
    let started = log["events"].as_array().unwrap().iter().find(|event| event["type"] == "tool.invocation_started");
    assert_eq!(started.unwrap()["actor"], "agent:clerk");
    assert_eq!(model.requests().len(), 2, "an approved call is run, not asked for again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_gets_no_secret_of_the_settings_but_its_own() {
    let model = ScriptedModel::start([ScriptedReply::Text("unused")]).await;
    let coder = r#"
[memory]
wire = "openai"
model = "m"
api_key_env = "SIDE_KEY"

[memory.agents.clerk]
enabled = false

[memory.agents.coder]
enabled = false

[agents.coder]
adapter = "command"
workspace = "acme"
command = ["sh", "-c", "echo ${CLERK_KEY-none} ${SIDE_KEY-none} ${CODER_KEY-none} ${PLAIN-none}"]
api_key_env = "CODER_KEY"
"#;
    let variables = [("CLERK_KEY", KEY), ("SIDE_KEY", KEY), ("CODER_KEY", "own"), ("PLAIN", "plain")];
    let app = App::start_with(&format!("{}{coder}", settings(&model, "")), &[], &variables);
    let action = app.post(Who::Operator, "/api/actions", json!({ "name": "Code", "agentSlug": "coder" })).await;
    let path = format!("/api/actions/{}/trigger", action["id"].as_str().unwrap());
    let triggered = app.post(Who::Operator, &path, json!({ "input": { "q": "stage" } })).await;
    let session = triggered["id"].as_str().unwrap().to_owned();
    assert_eq!(ended(&app, &session).await["status"], "completed");
    let log = get(&app, &format!("/api/sessions/{session}/events")).await;
    let said = log["events"].as_array().unwrap().iter().find(|event| event["type"] == "agent.message").unwrap();
    assert_eq!(said["content"][0]["text"], "none none own plain");
}

/// Answers the question at which the session waits, as soon as it waits at one.
async fn answered(app: &App, session: &str, answer: &str) {
    let path = format!("/api/sessions/{session}/elicitation-reply");
    let reply = json!({ "content": { "answer": answer } });
    let mut tries = 0;
    while !app.request(Who::Operator, Method::POST, &path).json(&reply).send().await.unwrap().status().is_success() {
        tries += 1;
        assert!(tries < 5_000, "the agent has not asked: {}", app.log());
    }
}

/// The output of a call's only result in the session's log.
async fn output(app: &App, session: &str, call: &str) -> String {
    let log = get(app, &format!("/api/sessions/{session}/events")).await;
    let parts = log["events"].as_array().unwrap().iter().filter(|event| event["type"] == "agent.tool_result");
    let outputs: Vec<_> = parts.map(|event| &event["content"][0]).filter(|part| part["toolCallId"] == call).collect();
    let [part] = outputs.as_slice() else { panic!("{call}: {outputs:?}") };
    part["output"].to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_is_refused_leaves_the_other_calls_of_its_reply_waiting() {
    let wrong = json!({ "message": "Which?", "fields": [{ "key": "a", "label": "A?", "type": "scale" }] });
    let ask = json!({ "message": "Which stage?" });
    let calls = vec![("c1", "request_feedback", wrong.to_string()), ("c2", "ask_person", ask.to_string())];
    let model = ScriptedModel::start([ScriptedReply::ToolCalls("", calls), ScriptedReply::Text("Done.")]).await;
    let settings = settings(&model, "").replace("\"note\"]", "\"request_feedback\"]");
    let app = App::start_with(&settings, &[], &[("CLERK_KEY", KEY)]);
    let session = trigger(&app).await;
    answered(&app, &session, "Won").await;
    let ended = ended(&app, &session).await;
    assert_eq!((&ended["status"], &ended["result"]), (&json!("completed"), &json!("Done.")), "{ended}");
    assert!(output(&app, &session, "c1").await.contains("minimum"));
    assert!(output(&app, &session, "c2").await.contains("Won"));
    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    let messages = requests[1].body["messages"].to_string();
    assert!(messages.contains("minimum") && messages.contains("Won"), "every call has its result: {messages}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_with_a_schema_that_cannot_be_used_goes_back_to_the_model_with_the_reason() {
    let wrong = json!({ "message": "Which?", "schema": { "type": "strin" } });
    let script = [ScriptedReply::tool("c1", "ask_person", &wrong), ScriptedReply::Text("Done.")];
    let model = ScriptedModel::start(script).await;
    let app = App::start_with(&settings(&model, ""), &[], &[("CLERK_KEY", KEY)]);
    let session = trigger(&app).await;
    let ended = ended(&app, &session).await;
    assert_eq!((&ended["status"], &ended["attempt"]), (&json!("completed"), &json!(1)), "{ended}");
    let messages = model.requests()[1].body["messages"].to_string();
    assert!(messages.contains("not a JSON Schema that can be used here"), "{messages}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_question_of_a_reply_is_put_to_people_and_gets_its_own_answer() {
    let ask = |message: &str| json!({ "message": message }).to_string();
    let calls = vec![
        ("c1", "ask_person", ask("Which stage?")),
        ("c2", "request_feedback", ask("Which region?")),
        ("c3", "request_feedback", ask("Which currency?")),
    ];
    let model = ScriptedModel::start([ScriptedReply::ToolCalls("", calls), ScriptedReply::Text("Done.")]).await;
    let settings = settings(&model, "").replace("\"note\"]", "\"request_feedback\"]");
    let app = App::start_with(&settings, &[], &[("CLERK_KEY", KEY)]);
    let session = trigger(&app).await;
    // Requests are made first, in their order.
    for answer in ["EU", "Euro", "Won"] {
        answered(&app, &session, answer).await;
    }
    let ended = ended(&app, &session).await;
    assert_eq!((&ended["status"], &ended["result"]), (&json!("completed"), &json!("Done.")), "{ended}");
    for (call, question, answer) in
        [("c1", "Which stage?", "Won"), ("c2", "Which region?", "EU"), ("c3", "Which currency?", "Euro")]
    {
        let output = output(&app, &session, call).await;
        assert!(output.contains(question) && output.contains(answer), "{call}: {output}");
    }
    assert_eq!(model.requests().len(), 2, "the model is asked again when every call has its result");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_agent_writes_with_its_memory_tool_is_there_for_its_next_session() {
    let path = "/memories/topics/acme.md";
    let create = json!({ "command": "create", "path": path, "file_text": "# Acme\n\n- Lead\n" });
    let wrong = json!({ "command": "str_replace", "path": path, "old_str": "- Lost", "new_str": "- Won" });
    let right = json!({ "command": "str_replace", "path": path, "old_str": "- Lead", "new_str": "- Won" });
    let tool = |id, input: &Value| ScriptedReply::tool(id, "memory", input);
    let script = [tool("c1", &create), tool("c2", &wrong), tool("c3", &right), ScriptedReply::Text("Noted.")];
    let model = ScriptedModel::start(script).await;
    let settings = settings(&model, "").replace("\"note\"]", "\"memory\"]");
    let app = App::start_with(&settings, &[], &[("CLERK_KEY", KEY)]);
    let session = trigger(&app).await;
    assert_eq!(ended(&app, &session).await["status"], "completed");
    for (call, says) in [
        ("c1", "File created successfully at: /memories/topics/acme.md"),
        ("c2", "No replacement was performed, old_str `- Lost` did not appear verbatim in /memories/topics/acme.md."),
        ("c3", "The memory file has been edited. Here is the snippet showing the change (with line numbers):"),
    ] {
        let output = output(&app, &session, call).await;
        assert!(output.contains(says), "{call}: {output}");
    }
    let memory = "/api/agents/clerk/memory";
    let document = get(&app, &format!("{memory}/document?path=topics/acme.md")).await;
    assert_eq!((&document["version"], &document["text"]), (&json!(2), &json!("# Acme\n\n- Won\n")));
    let versions = get(&app, &format!("{memory}/versions?path=topics/acme.md")).await;
    for version in versions["items"].as_array().unwrap() {
        assert_eq!((&version["source"], &version["author"]), (&json!("agent"), &json!("agent:clerk")), "{versions}");
    }

    let view = json!({ "command": "view", "path": path });
    model.then([tool("c4", &view), ScriptedReply::Text("It is won.")]);
    let again = json!({ "sessionType": "agent", "agentSlug": "clerk", "title": "Look again" });
    let again = app.post(Who::Operator, "/api/sessions", again).await["id"].as_str().unwrap().to_owned();
    assert_eq!(ended(&app, &again).await["result"], "It is won.");
    let output = output(&app, &again, "c4").await;
    assert!(output.contains("Here's the content of /memories/topics/acme.md") && output.contains("- Won"), "{output}");
}

#[test]
fn what_is_wrong_with_an_agent_is_said_before_anything_is_served() {
    let dir = tempfile::tempdir().unwrap();
    let chat = "adapter = \"chat\"\nwire = \"openai\"\nmodel = \"m\"\n";
    let of_one = "base_url = \"http://127.0.0.1:9/v1\"\n";
    for (settings, expected) in [
        (format!("[agents.a]\n{chat}base_urll = \"x\""), "unknown field `base_urll`"),
        (format!("[agents.a]\n{chat}command = [\"x\"]"), "`command` has no meaning"),
        (format!("[agents.a]\n{chat}tools = [\"entity_delete\"]"), "`entity_delete` is neither one of"),
        (format!("[agents.a]\n{chat}tools = [\"note\", \"rm\", \"rm\"]"), "`tools` names rm twice"),
        (format!("[agents.a]\n{chat}confirm = [\"note\"]"), "`confirm` names note"),
        (
            format!("[agents.a]\n{chat}tools = [\"request_feedback\"]\nconfirm = [\"request_feedback\"]"),
            "`confirm` names request_feedback, which asks people itself",
        ),
        (
            format!("[agents.a]\n{chat}tools = [\"ask_person\"]\nconfirm = [\"ask_person\"]"),
            "`confirm` names ask_person, which asks people itself",
        ),
        (format!("[agents.a]\n{chat}tools = [\"http_request\"]"), "`hosts` is missing"),
        (format!("[agents.a]\n{chat}tools = [\"start_session\"]"), "`actions` is missing"),
        (
            format!("[agents.a]\n{chat}tools = [\"start_session\"]\nactions = [\"Look up\"]"),
            "`Look up` is not the slug",
        ),
        (format!("[agents.a]\n{chat}[agents.a.budget]\ncost_usd = 1.0"), "needs `prices`"),
        (
            format!("[agents.a]\n{chat}reports_tokens = false\n[agents.a.budget]\noutput_tokens = 9"),
            "the budget of 9 output tokens cannot be held",
        ),
        (
            format!("[agents.a]\n{chat}{of_one}[agents.a.budget]\ninput_tokens = 9"),
            "set `reports_tokens = true` if it does",
        ),
        (
            format!("[agents.a]\n{chat}{of_one}reports_tokens = true\n[agents.a.budget]\ninput_tokens = 9"),
            "`workspace` is missing",
        ),
        (format!("[agents.a]\n{chat}{of_one}[agents.a.budget]\nsteps = 9"), "`workspace` is missing"),
        (format!("[agents.a]\n{chat}[agents.a.budget]\ninput_tokens = 9"), "`workspace` is missing"),
        (format!("[agents.a]\n{chat}[agents.a.budget]\nstep = 1"), "unknown field `step`"),
        (format!("[agents.a]\n{chat}"), "`workspace` is missing"),
        (format!("[agents.a]\n{chat}workspace = \"acme\"\napi_key_env = \"NO_SUCH_VARIABLE\""), "NO_SUCH_VARIABLE"),
        (
            "[agents.a]\nadapter = \"command\"\nworkspace = \"acme\"\ncommand = [\"no-such-program\"]".into(),
            "no-such-program",
        ),
        ("[agents.A_b]\nadapter = \"chat\"".into(), "`A_b` is not an agent's name"),
        ("[agents]\nenabled = 1".into(), "invalid type"),
    ] {
        let file = dir.path().join("shiftbook.toml");
        std::fs::write(&file, &settings).unwrap();
        let output = binary(&dir).args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(file).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{settings}: {stderr}");
        assert!(stderr.contains(expected), "{settings}: {stderr}");
    }
}
