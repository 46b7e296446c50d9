//! Tools of the workspace that agents call, with the real binary and a scripted model.

use crate::{
    agents::{KEY, ended, get, holds, settings, trigger},
    app::{App, Who},
    tool_service::Service,
};
use serde_json::{Value, json};
use testkit::model::{ScriptedModel, ScriptedReply};

/// Settings that permit services on this machine.
const OPEN: &str = "[outbound]\nallow_private = [\"127.0.0.1\"]\n";

/// Publishes a tool that takes a city.
async fn publish(app: &App, slug: &str, kind: Value) {
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    let mut tool =
        json!({ "slug": slug, "name": slug, "description": format!("The {slug} of a city."), "inputSchema": schema });
    tool.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
    app.post(Who::Operator, "/api/tools", tool).await;
    app.post(Who::Operator, &format!("/api/tools/{slug}/publish"), json!({})).await;
}

fn call(service: &Service) -> Value {
    json!({ "kind": "http", "http": { "method": "POST", "url": service.url("/weather"), "body": "input" } })
}

/// The output of a call in the log of a session, and whether it is an error.
async fn output(app: &App, session: &str, call: &str) -> (Value, bool) {
    let log = get(app, &format!("/api/sessions/{session}/events")).await;
    let events = log["events"].as_array().unwrap();
    let answers = |event: &&Value| event["type"] == "agent.tool_result" && event["content"][0]["toolCallId"] == call;
    let part = &events.iter().find(answers).unwrap_or_else(|| panic!("no answer to {call}: {log}"))["content"][0];
    (part["output"]["value"].clone(), part["isError"] == true)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_of_the_server_runs_tools_of_its_workspace_as_children_of_its_session() {
    let city = |city: Value| json!({ "city": city }).to_string();
    let calls = vec![
        ("c1", "weather", city(json!("Oslo"))),
        ("c2", "by-hand", city(json!("Oslo"))),
        ("c3", "weather", city(json!(7))),
    ];
    let model =
        ScriptedModel::start([ScriptedReply::ToolCalls("I look.", calls), ScriptedReply::Text("It rains.")]).await;
    let clerk = settings(&model, "").replace("\"note\"]", "\"note\", \"weather\", \"by-hand\"]");
    let scout = settings(&model, "").replace("agents.clerk", "agents.scout").replace("\"note\"]", "\"no-tool\"]");
    let app = App::start_with(&format!("{OPEN}{clerk}{scout}"), &[], &[("CLERK_KEY", KEY)]);
    let service = Service::start().await;
    publish(&app, "weather", call(&service)).await;
    publish(&app, "by-hand", json!({ "kind": "worker" })).await;

    let session = trigger(&app).await;
    let claim = json!({ "agentSlugs": ["tool:by-hand"], "waitSeconds": 20 });
    let claimed = app.post(Who::Worker, "/api/sessions/claim", claim).await;
    let run = &claimed["sessions"][0]["session"];
    assert_eq!((&run["parentId"], &run["input"]), (&json!(session), &json!({ "city": "Oslo" })), "{claimed}");
    let path = format!("/api/sessions/{}/complete", run["id"].as_str().unwrap());
    app.post(Who::Worker, &path, json!({ "attempt": 1, "result": "rain" })).await;
    let done = ended(&app, &session).await;
    assert_eq!((&done["status"], &done["result"]), (&json!("completed"), &json!("It rains.")), "{done}");

    let by_hand = output(&app, &session, "c2").await;
    assert_eq!(by_hand, (json!({ "sessionId": run["id"], "result": "rain" }), false));
    let (weather, failed) = output(&app, &session, "c1").await;
    assert_eq!((&weather["result"]["status"], failed), (&json!(200), false), "{weather}");
    let (refused, failed) = output(&app, &session, "c3").await;
    assert_eq!((&refused["errors"][0]["field"], failed), (&json!("input/city"), true), "{refused}");
    let children = get(&app, &format!("/api/tool-sessions?parentId={session}")).await;
    let children = children["items"].as_array().unwrap();
    assert_eq!((children.len(), service.seen().calls), (2, 1), "each call runs once: {children:?}");
    assert!(children.iter().all(|child| child["createdBy"] == "agent:clerk"), "{children:?}");
    let first = model.requests()[0].body.to_string();
    assert!(first.contains("The weather of a city.") && first.contains("The by-hand of a city."), "{first}");

    // A conversation waits for the run in its turn.
    let again = ScriptedReply::tool("c4", "weather", &json!({ "city": "Bergen" }));
    model.then([again, ScriptedReply::Text("It rains there too.")]);
    let talk = json!({ "agent": "clerk", "message": "And in Bergen?" });
    let thread = app.post(Who::Operator, "/api/threads", talk).await["id"].as_str().unwrap().to_owned();
    holds(&app, &thread, "It rains there too.").await;
    let (weather, failed) = output(&app, &thread, "c4").await;
    assert_eq!((&weather["result"]["status"], failed), (&json!(200), false), "{weather}");

    let wrong = json!({ "sessionType": "agent", "agentSlug": "scout", "title": "Look" });
    let wrong = app.post(Who::Operator, "/api/sessions", wrong).await["id"].as_str().unwrap().to_owned();
    let failed = ended(&app, &wrong).await;
    assert_eq!(failed["error"]["code"], "tool_not_published", "{failed}");
    assert!(failed["error"]["message"].as_str().unwrap().contains("names no-tool"), "{failed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_over_http_runs_tools_of_the_workspace_for_its_agent() {
    let weather = ScriptedReply::tool("c1", "weather", &json!({ "city": "Oslo" }));
    let model = ScriptedModel::start([weather, ScriptedReply::Text("It rains.")]).await;
    let (app, service) = (App::start_with(OPEN, &[], &[]), Service::start().await);
    publish(&app, "weather", call(&service)).await;
    let session = trigger(&app).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), settings(&model, "").replace("\"note\"]", "\"weather\"]")).unwrap();
    let mut work = app.cli();
    work.args(["work", "--agent", "clerk", "--once", "--url", &app.url, "--config"]).arg(file.path());
    work.env("SHIFTBOOK_TOKEN", app.token(Who::Worker).unwrap()).env("CLERK_KEY", KEY);
    let output_of_work = tokio::task::spawn_blocking(move || work.output().unwrap()).await.unwrap();
    assert!(output_of_work.status.success(), "{}", String::from_utf8_lossy(&output_of_work.stderr));
    assert_eq!(get(&app, &format!("/api/sessions/{session}")).await["result"], "It rains.");
    let (answer, failed) = output(&app, &session, "c1").await;
    assert_eq!((&answer["result"]["status"], failed, service.seen().calls), (&json!(200), false, 1), "{answer}");
    let run = get(&app, &format!("/api/tool-sessions/{}", answer["sessionId"].as_str().unwrap())).await;
    assert_eq!(run["parentId"], json!(session), "{run}");
}
