//! P-21: every operation of the OpenAPI document with the credentials of every caller. The expected table is in the
//! repository; a route without a row fails.

use crate::{
    app::{App, Who},
    browser::add_person,
    routes::documented,
};
use reqwest::Method;
use serde_json::{Value, json};

/// A valid body, so that a refusal is about the caller.
fn body(path: &str) -> Option<Value> {
    Some(match path.rsplit('/').next().unwrap() {
        "actions" => json!({ "name": "Matrix" }),
        "trigger" | "cancel" | "retry" | "interrupt" | "end" | "share-links" | "assignee" => json!({}),
        "tags" => json!({ "add": ["matrix"] }),
        "sessions" if path.starts_with("/api/tools/") => json!({}),
        "sessions" => json!({ "sessionType": "agent", "agentSlug": "matrix" }),
        "claim" => json!({ "agentSlugs": ["nobody"] }),
        "events" => json!({ "attempt": 1, "events": [{ "type": "agent.message" }] }),
        "deltas" => json!({ "attempt": 1, "offset": 0, "text": "x" }),
        "progress" => json!({ "attempt": 1, "done": 1 }),
        "heartbeat" | "release" => json!({ "attempt": 1 }),
        "complete" | "presence" if path.starts_with("/api/canvases/") => json!({}),
        "complete" => json!({ "attempt": 1 }),
        "fail" => json!({ "attempt": 1, "error": { "message": "x" } }),
        "start" => json!({ "taskId": "00000000-0000-7000-8000-000000000000" }),
        "stop" => json!({ "sessionId": "00000000-0000-7000-8000-000000000000" }),
        "{source}" => json!({ "session_id": "matrix", "hook_event_name": "Stop" }),
        "entity-types" => json!({ "name": "Matrix" }),
        "entities" => json!({ "title": "Matrix" }),
        "criteria-sets" => json!({ "name": "Matrix", "dimensions": [{ "slug": "why", "type": "text" }] }),
        "groups" => json!({ "name": "Matrix" }),
        "tools" => crate::prepare::worker_tool(),
        "mcp-servers" => crate::prepare_mcp::new_server(),
        "import" => json!({ "tools": ["echo"] }),
        "canvases" => crate::prepare_canvas::new_canvas(),
        "patches" => crate::prepare_canvas::patch(),
        "suggestions" => crate::prepare_canvas::decline(),
        "rules" | "back-test" => crate::prepare_rule::new_rule(),
        "views" => json!({ "title": "Matrix", "fields": [{ "key": "why", "label": "Why?", "type": "short_text" }] }),
        "bundles" => json!({ "groups": [{ "slug": "matrix", "name": "Matrix" }] }),
        "saved-searches" => json!({ "name": crate::prepare::unique_text(), "q": "status:failed" }),
        "webhooks" => json!({ "url": "https://hooks.example.org/a", "events": ["session.failed"] }),
        "yield" => json!({ "attempt": 1, "status": "idle" }),
        "wake" => json!({ "attempt": 1 }),
        "tool-results" => json!({ "results": [{ "toolCallId": "c", "output": 1 }] }),
        "decision" => json!({ "decision": "respond", "value": "x" }),
        "feedback-requests" => json!({ "attempt": 1, "message": "Which?", "idempotencyKey": "k" }),
        "answer" => json!({ "content": { "answer": "x" } }),
        "take" => json!({ "attempt": 1 }),
        "decisions" if path.starts_with("/api/canvases/") => json!({ "decisions": [crate::prepare_canvas::decline()] }),
        "undo" if path.starts_with("/api/canvases/") => json!({ "opId": "matrix:1" }),
        "decisions" => {
            json!({ "decisions": [{ "id": "00000000-0000-7000-8000-000000000000", "decision": "approve" }] })
        }
        "threads" => json!({ "agent": "matrix" }),
        "links" => json!({}),
        "run-again" => json!({ "window": "7d" }),
        "paced-runs" => json!({ "sessionIds": [UNKNOWN_ID] }),
        "bulk" => json!({ "verb": "cancel", "sessionIds": [UNKNOWN_ID] }),
        "promote" => json!({ "title": "Matrix" }),
        "submit-interaction" => json!({ "submissionId": "matrix", "answers": { "name": "x" } }),
        "messages" => json!({ "text": "x" }),
        "invitations" => json!({ "email": "matrix@new.test", "role": "member" }),
        "feedback" => json!({ "feedback": "positive" }),
        "hand-over" => json!({ "to": "user:00000000-0000-7000-8000-000000000000" }),
        "tool-approval" => json!({ "kind": "question", "decision": "respond", "note": "x" }),
        "elicitation-reply" => json!({ "content": "x" }),
        "opt-in" => json!({ "enabled": false }),
        "memory-feedback" => json!({ "memory_feedback": {} }),
        "forget" | "remember" => json!({ "person": "discord-1" }),
        _ => return None,
    })
}

#[tokio::test]
async fn every_route_answers_every_identity_as_reviewed() {
    let app = App::start();
    let mut table = String::new();
    let mut refuses_tokens = Vec::new();
    for (method, path) in documented(&app).await {
        let mut cells = Vec::new();
        let mut accepts = false;
        for who in Who::ALL {
            let status = ask(&app, who, method.clone(), &path).await;
            accepts |= status < 400;
            cells.push(format!("{who:?}:{status}"));
        }
        table.push_str(&format!("{:<6} {path:<42} {}\n", method.as_str(), cells.join(" ")));
        if !accepts {
            refuses_tokens.push(format!("{method} {path}"));
        }
    }
    insta::assert_snapshot!(table);
    assert_eq!(refuses_tokens, FOR_PEOPLE);
}

/// The status in which a session takes this operation, if it is one for sessions that rest.
fn at_rest(path: &str) -> Option<&'static str> {
    match path {
        "/api/sessions/{id}/messages" | "/api/sessions/{id}/wake" => Some("idle"),
        "/api/sessions/{id}/tool-results" => Some("awaiting_tool"),
        _ => None,
    }
}

/// Creates a session that its worker has yielded with this status, after a call of a tool.
async fn resting(app: &App, status: &str) -> String {
    let session = app.running(Who::Member).await;
    let call = json!([{ "type": "tool-call", "toolCallId": "c", "toolName": "look_up", "input": {} }]);
    let events = json!({ "attempt": 1, "events": [{ "type": "agent.tool_call", "content": call }] });
    app.post(Who::Worker, &format!("/api/sessions/{session}/events"), events).await;
    let rest = json!({ "attempt": 1, "status": status });
    app.post(Who::Worker, &format!("/api/sessions/{session}/yield"), rest).await;
    session
}

/// Operations that no token may use, that have an object of people alone, or that need an MCP server.
/// `matrix_people.rs` tests them with people, `mcp.rs` with a server.
const FOR_PEOPLE: [&str; 31] = [
    "POST /api/actions/{id}/tool-approval",
    "POST /api/approvals/{id}/decision",
    "POST /api/approvals/{id}/hand-over",
    "POST /api/approvals/{id}/snooze",
    "POST /api/approvals/{id}/undo",
    "POST /api/mcp-servers/{slug}/import",
    "POST /api/mcp-servers/{slug}/refresh",
    "POST /api/rules",
    "PATCH /api/rules/{id}",
    "POST /api/rules/{id}/resume",
    "GET /api/saved-searches",
    "POST /api/saved-searches",
    "PATCH /api/saved-searches/{id}",
    "DELETE /api/saved-searches/{id}",
    "GET /api/sessions/human/active",
    "GET /api/sessions/human/recent-activity",
    "POST /api/sessions/human/start",
    "POST /api/sessions/human/stop",
    "GET /api/sessions/human/today",
    "GET /api/sessions/{id}/feedback",
    "PUT /api/sessions/{id}/feedback",
    "DELETE /api/sessions/{id}/feedback",
    "POST /api/sessions/{id}/share-links",
    "DELETE /api/share-links/{id}",
    "GET /api/sign-ins",
    "DELETE /api/sign-ins/{id}",
    "DELETE /api/tool-links/{id}",
    "GET /api/tools/{slug}/inputs",
    "PUT /api/tools/{slug}/inputs/{name}",
    "DELETE /api/tools/{slug}/inputs/{name}",
    "POST /api/tools/{slug}/links",
];

/// Sends the operation as this caller, on a new object of a member of the first workspace. Returns the status.
async fn ask(app: &App, who: Who, method: Method, path: &str) -> u16 {
    let of = if path.contains("/entit") || path.contains("/imports") || path.ends_with("/promote") {
        let new = json!({ "name": "Matrix", "slug": slug(who, &method, &format!("{path}/of")) });
        app.post(Who::Operator, "/api/entity-types", new).await["id"].clone()
    } else {
        Value::Null
    };
    let csv = |request: reqwest::RequestBuilder| request.header("content-type", "text/csv").body("Name\nx\n");
    let made = if path.starts_with("/api/agents/") {
        Some(memory(app, who, &method, path).await)
    } else if path == "/api/tool-sessions/{id}/promote" {
        let (concrete, body) = crate::prepare::tool_result(app, path).await;
        Some((concrete, Some(body)))
    } else {
        None
    };
    let concrete = if let Some((concrete, _)) = &made {
        concrete.clone()
    } else if path.starts_with("/api/tools/{slug}") {
        let tool = crate::prepare::new_tool(
            app,
            !["/publish", "{slug}", "/secrets/{name}"].iter().any(|end| path.ends_with(end)),
        )
        .await;
        let concrete = path.replace("{slug}", &tool).replace("{name}", "KEY");
        if method == Method::DELETE && path.ends_with("/secrets/{name}") {
            crate::prepare::set_tool_secret(app, &concrete).await;
        }
        concrete
    } else if path.starts_with("/api/mcp-servers/{slug}") {
        path.replace("{slug}", &crate::prepare_mcp::made_server(app).await)
    } else if path.starts_with("/api/rules/{id}") {
        path.replace("{id}", &crate::prepare_rule::made_rule(app).await)
    } else if path.starts_with("/api/paced-runs/{id}") {
        let new = json!({ "sessionIds": [failed(app).await] });
        let made = app.post(Who::Member, "/api/paced-runs", new).await;
        path.replace("{id}", made["id"].as_str().unwrap())
    } else if path.starts_with("/api/canvases/{id}/suggestions") {
        path.replace("{id}", &crate::prepare_canvas::with_suggestion(app, path.ends_with("/undo")).await)
    } else if path.starts_with("/api/canvases/{id}") {
        let made = app.post(Who::Member, "/api/canvases", crate::prepare_canvas::new_canvas()).await;
        path.replace("{id}", made["id"].as_str().unwrap())
    } else if path.starts_with("/api/failure-causes/{id}") {
        path.replace("{id}", &cause(app).await)
    } else if path.starts_with("/api/entity-types/{id}") {
        path.replace("{id}", of.as_str().unwrap())
    } else if path.starts_with("/api/entities/{id}") {
        let made = app.post(Who::Member, "/api/entities", json!({ "typeId": of, "title": "Matrix" })).await;
        path.replace("{id}", made["id"].as_str().unwrap())
    } else if path.starts_with("/api/imports/{id}") {
        let begin =
            app.request(Who::Member, Method::POST, &format!("/api/entity-types/{}/imports", of.as_str().unwrap()));
        let made: Value = csv(begin).send().await.unwrap().json().await.unwrap();
        path.replace("{id}", made["id"].as_str().unwrap())
    } else if ["/links", "/responses", "/responses.csv", "/submit-interaction"].iter().any(|end| path.ends_with(end))
        && path.contains("/views/{id}")
    {
        path.replace("{id}", &view(app).await)
    } else if let Some(of) = ["/api/criteria-sets", "/api/groups", "/api/views"]
        .into_iter()
        .find(|of| path.starts_with(&format!("{of}/{{id}}")))
    {
        let mut new = body(of).unwrap();
        new["slug"] = slug(who, &method, path).into();
        let made = app.post(Who::Operator, of, new).await["id"].as_str().unwrap().to_owned();
        if path.ends_with("/unpublish") {
            app.post(Who::Operator, &format!("/api/views/{made}/publish"), json!({})).await;
        }
        path.replace("{id}", &made)
    } else if path.contains("/approvals/{id}") || path.ends_with("/tool-approval") {
        path.replace("{id}", &session_with_question(app).await.1)
    } else if path.ends_with("/elicitation-reply") {
        path.replace("{id}", &session_with_question(app).await.0)
    } else if path.starts_with("/api/feedback-requests/{id}") {
        let session = app.running(Who::Member).await;
        let asking = format!("/api/sessions/{session}/feedback-requests");
        let asked = app.post(Who::Worker, &asking, body(&asking).unwrap()).await;
        path.replace("{id}", asked["request"]["id"].as_str().unwrap())
    } else if path.starts_with("/api/webhooks/{id}") {
        let made = app.post(Who::Admin, "/api/webhooks", body("/api/webhooks").unwrap()).await;
        let id = made["webhook"]["id"].as_str().unwrap().to_owned();
        path.replace("{id}", &id)
    } else if path.contains("/actions/{id}") {
        let made = app
            .post(
                Who::Operator,
                "/api/actions",
                json!({ "name": "Matrix", "slug": slug(who, &method, path), "agentSlug": "matrix" }),
            )
            .await;
        path.replace("{id}", made["id"].as_str().unwrap())
    } else if path.starts_with("/api/interactions/{id}") {
        path.replace("{id}", &answered(app).await)
    } else if path.ends_with("/threads/{id}/interrupt") {
        path.replace("{id}", &in_turn(app).await)
    } else if path.contains("/threads/{id}") {
        path.replace("{id}", &thread(app).await)
    } else if path.starts_with("/api/members/{id}") {
        path.replace("{id}", &member(app, who, &method, path).await)
    } else if path.starts_with("/api/invitations/{id}") {
        let made = app.post(Who::Admin, "/api/invitations", body("/api/invitations").unwrap()).await;
        path.replace("{id}", made["invitation"]["id"].as_str().unwrap())
    } else if path.starts_with("/api/view-links/{id}") {
        let made = app.post(Who::Operator, &format!("/api/views/{}/links", view(app).await), json!({})).await;
        path.replace("{id}", made["link"]["id"].as_str().unwrap())
    } else if path.starts_with("/api/responses/{id}") {
        let answer = json!({ "submissionId": "matrix", "answers": { "name": "x" } });
        let made = app.post(Who::Member, &format!("/api/views/{}/submit-interaction", view(app).await), answer).await;
        path.replace("{id}", made["response"]["id"].as_str().unwrap())
    } else if path == "/api/search" {
        format!("{path}?q=matrix")
    } else if path == "/api/memory/remember" {
        app.post(Who::Admin, "/api/memory/forget", json!({ "person": "discord-1", "apply": true })).await;
        path.to_owned()
    } else if ["/api/sign-ins/{id}", "/api/saved-searches/{id}", "/api/share-links/{id}", "/api/tool-links/{id}"]
        .contains(&path)
    {
        path.replace("{id}", UNKNOWN_ID)
    } else if let Some(at_rest) = at_rest(path) {
        path.replace("{id}", &resting(app, at_rest).await)
    } else if path == "/api/sessions/{id}/result" {
        path.replace("{id}", &completed(app).await)
    } else if path.ends_with("/retry") || path.ends_with("/acknowledge") {
        path.replace("{id}", &failed(app).await)
    } else if path.starts_with("/api/tool-sessions/{id}/") {
        let tool = crate::prepare::new_tool(app, true).await;
        let made = app.post(Who::Member, &format!("/api/tools/{tool}/sessions"), json!({})).await;
        path.replace("{id}", made["id"].as_str().unwrap())
    } else if path.starts_with("/api/tool-sessions/{id}") {
        let made = app.post(Who::Member, "/api/sessions", json!({ "sessionType": "tool" })).await;
        path.replace("{id}", made["id"].as_str().unwrap())
    } else if path.contains("{id}") {
        path.replace("{id}", &app.running(Who::Member).await)
    } else {
        path.replace("{source}", "claude-code")
    };
    let concrete = match path {
        "/api/today/work-queue-counts" => format!("{concrete}?timezone=UTC"),
        "/api/sessions/{id}/events/find" => format!("{concrete}?q=matrix"),
        _ => concrete,
    };
    let mut request = app.request(who, method.clone(), &concrete);
    if let Some((_, body)) = made {
        request = body.map_or(request.try_clone().unwrap(), |body| request.json(&body));
    } else if method == Method::POST
        && let Some(mut body) = body(path)
    {
        if ["/api/actions", "/api/entity-types", "/api/criteria-sets", "/api/groups", "/api/tools", "/api/views"]
            .contains(&path)
        {
            body["slug"] = slug(who, &method, path).into();
        }
        if path == "/api/hooks/{source}" {
            // Each caller's agent has a session of its own.
            body["session_id"] = format!("{who:?}").into();
        }
        if path == "/api/paced-runs" {
            body["sessionIds"] = json!([failed(app).await]);
        }
        if path == "/api/entities" || path.ends_with("/promote") {
            body["typeId"] = of;
        }
        request = request.json(&body);
    } else if method == Method::POST && path.ends_with("/imports") {
        request = csv(request);
    } else if path == "/api/failure-causes/{id}/snooze" {
        request = request.json(&crate::prepare::in_an_hour());
    } else if method == Method::PATCH && ["/api/entity-types/{id}", "/api/criteria-sets/{id}"].contains(&path) {
        request = request.json(&json!({ "version": 1, "name": "changed" }));
    } else if method == Method::PATCH && path == "/api/entities/{id}" {
        request = request.json(&json!({ "version": 1, "title": "changed" }));
    } else if method == Method::PATCH && path == "/api/views/{id}" {
        request = request.json(&json!({ "revision": 1, "title": "changed" }));
    } else if method == Method::PATCH && ["/api/tools/{slug}", "/api/mcp-servers/{slug}"].contains(&path) {
        request = request.json(&json!({ "revision": 1, "name": "changed" }));
    } else if method == Method::PATCH && path == "/api/rules/{id}" {
        request = request.json(&json!({ "version": 1, "conditions": [] }));
    } else if method == Method::PATCH && path == "/api/tool-sessions/{id}/fields" {
        request = request.json(&json!({ "rev": 1, "fields": { "why": "x" } }));
    } else if method == Method::PUT && path == "/api/tools/{slug}/inputs/{name}" {
        request = request.json(&json!({ "fields": {} }));
    } else if method == Method::PUT && path.starts_with("/api/tools/") {
        request = request.json(&json!({ "value": "x" }));
    } else if method == Method::PATCH && ["/api/groups/{id}", "/api/saved-searches/{id}"].contains(&path) {
        request = request.json(&json!({ "name": "changed" }));
    } else if method == Method::PATCH && path == "/api/members/{id}" {
        request = request.json(&json!({ "role": "member" }));
    } else if method == Method::PATCH && path == "/api/workspace" {
        request = request.json(&json!({ "undoSeconds": 5 }));
    } else if method == Method::PUT && path == "/api/canvases/{id}/template" {
        request = request.json(&json!({ "isTemplate": true }));
    } else if method == Method::PUT && path.ends_with("/participants") {
        request = request.json(&json!({ "participant": "token:00000000-0000-7000-8000-000000000000" }));
    } else if method == Method::PUT {
        request = request.json(&json!({ "label": "positive" }));
    } else if method == Method::PATCH {
        request = request.json(&json!({ "description": "changed" }));
    }
    // The head of a stream's answer has the status. The test does not read the stream to its end.
    let status = request.send().await.unwrap().status().as_u16();
    if path.starts_with("/api/webhooks/{id}") {
        // The number of webhooks in a workspace is limited, and this one is no longer needed.
        let id = concrete.split('/').nth(3).unwrap();
        app.request(Who::Admin, Method::DELETE, &format!("/api/webhooks/{id}")).send().await.unwrap();
    }
    status
}

/// A valid id of no object.
const UNKNOWN_ID: &str = "00000000-0000-7000-8000-000000000000";

/// Returns the id of a member of the first workspace for this operation. The admin's request may remove them.
async fn member(app: &App, who: Who, method: &Method, path: &str) -> String {
    let email = format!("{}@acme.test", slug(Who::Anonymous, method, path));
    if who == Who::ALL[0] {
        add_person(app, &email);
    }
    let members = app.request(Who::Admin, Method::GET, "/api/members").send().await.unwrap();
    let members: Value = members.json().await.unwrap();
    let found = members["members"].as_array().unwrap().iter().find(|member| member["email"] == email.as_str());
    found.map_or_else(|| UNKNOWN_ID.to_owned(), |member| member["id"].as_str().unwrap().to_owned())
}

/// Publishes a view of the workspace.
async fn view(app: &App) -> String {
    let fields = json!([{ "key": "name", "label": "?", "type": "short_text", "required": false }]);
    crate::form::publish(app, "acme", &crate::prepare::unique_text(), &json!({}), &fields).await.to_string()
}

/// Creates a conversation of a member without a running turn.
async fn thread(app: &App) -> String {
    let made = app.post(Who::Member, "/api/threads", json!({ "agent": "matrix" })).await;
    made["id"].as_str().unwrap().to_owned()
}

/// Creates a conversation of a member with a turn that the worker has claimed.
async fn in_turn(app: &App) -> String {
    let agent = crate::prepare::unique_text();
    let made = app.post(Who::Member, "/api/threads", json!({ "agent": agent, "message": "Hello" })).await;
    app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": [agent] })).await;
    made["id"].as_str().unwrap().to_owned()
}

/// Creates a memory document. Returns the path of the operation on it with its query, and the body.
async fn memory(app: &App, who: Who, method: &Method, path: &str) -> (String, Option<Value>) {
    let at = format!("topics/{}.md", slug(who, method, path));
    let document = format!("/api/agents/matrix/memory/document?path={at}");
    let new = json!({ "baseVersion": 0, "text": "matrix\n" });
    app.request(Who::Operator, Method::PUT, &document).json(&new).send().await.unwrap();
    if *method == Method::GET && path.contains("/card") {
        let upload = app.request(Who::Operator, Method::PUT, "/api/agents/matrix/card");
        upload.json(&crate::prepare_memory::card()).send().await.unwrap();
    }
    crate::prepare_memory::operation(method.as_str(), path, "matrix", &at)
}

/// Creates a failed session of a member.
async fn failed(app: &App) -> String {
    let session = app.running(Who::Member).await;
    let failure = json!({ "attempt": 1, "error": { "message": "x" } });
    app.post(Who::Worker, &format!("/api/sessions/{session}/fail"), failure).await;
    session
}

/// Creates a failed session of a member, with a cause of its own. Returns the id of the cause.
async fn cause(app: &App) -> String {
    let session = app.running(Who::Member).await;
    let (message, failure) = crate::prepare::failure_of_its_own();
    app.post(Who::Worker, &format!("/api/sessions/{session}/fail"), failure).await;
    let list = app.request(Who::Admin, Method::GET, "/api/failure-causes?window=7d&limit=1000");
    let list: Value = list.send().await.unwrap().json().await.unwrap();
    let found = list["items"].as_array().unwrap().iter().find(|cause| cause["message"] == message.as_str());
    found.unwrap()["id"].as_str().unwrap().to_owned()
}

/// Creates a session of a member that ended with a result.
async fn completed(app: &App) -> String {
    let session = app.running(Who::Member).await;
    let done = json!({ "attempt": 1, "result": "42" });
    app.post(Who::Worker, &format!("/api/sessions/{session}/complete"), done).await;
    session
}

/// Creates an answer in a session of a member.
async fn answered(app: &App) -> String {
    let session = completed(app).await;
    crate::interaction::captured(app, &session, 1).await[0]["id"].as_str().unwrap().to_owned()
}

/// Creates a session of a member that asks them a question. Returns its id and its approval's.
async fn session_with_question(app: &App) -> (String, String) {
    let session = app.running(Who::Member).await;
    let yielded = json!({ "attempt": 1, "status": "waiting_human", "question": { "message": "Which?" } });
    app.post(Who::Worker, &format!("/api/sessions/{session}/yield"), yielded).await;
    let list = app.request(Who::Operator, Method::GET, "/api/approvals?assignedTo=all&limit=1000");
    let list: Value = list.send().await.unwrap().json().await.unwrap();
    let found = list["items"].as_array().unwrap().iter().find(|item| item["sessionId"] == session.as_str());
    let id = found.unwrap()["id"].as_str().unwrap().to_owned();
    (session, id)
}

fn slug(who: Who, method: &Method, path: &str) -> String {
    let text = format!("{who:?}-{method}-{}", path.replace(['/', '{', '}'], "-")).to_lowercase();
    let mut slug = text.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    slug.truncate(60);
    slug.trim_end_matches('-').to_owned()
}
