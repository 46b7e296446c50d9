//! For each route a request that succeeds for everyone who is permitted to send it: a new object and a valid body.

use crate::{
    app::{App, PASSWORD, Who},
    people::{People, Person, add, member_id},
    routes::Route,
};
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// A valid id of no object.
const UNKNOWN_ID: &str = "00000000-0000-7000-8000-000000000000";

/// Body of a request of the matrix.
pub enum Sent {
    Nothing,
    Json(Value),
    Form(Vec<(String, String)>),
    /// A content type and a body.
    Text(&'static str, String),
}

pub struct Prepared {
    pub path: String,
    pub sent: Sent,
    /// A cookie that is sent in addition to that of the sign-in.
    pub cookie: Option<String>,
    /// Whether the request, if accepted, may end the sign-in that sends it.
    pub ends_sign_in: bool,
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A text that no other object contains.
pub fn unique_text() -> String {
    format!("m{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Returns a message that no other failure has, and the report of a failure with it.
pub fn failure_of_its_own() -> (String, Value) {
    // Numbers separate no causes, letters do.
    let word: String = unique_text().bytes().map(|byte| char::from(byte % 26 + b'a')).collect();
    let message = format!("no {word} here");
    let report = json!({ "attempt": 1, "error": { "message": message } });
    (message, report)
}

/// Returns a body that sets something aside for an hour.
#[expect(clippy::disallowed_methods, reason = "the server's clock is the real one")]
pub fn in_an_hour() -> Value {
    json!({ "until": chrono::Utc::now() + chrono::TimeDelta::hours(1) })
}

fn id(object: &Value) -> String {
    object["id"].as_str().unwrap().to_owned()
}

pub fn form(fields: &[(&str, &str)]) -> Sent {
    Sent::Form(fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

/// A form as a browser sends it with a file upload.
pub fn multipart(fields: &[(&str, &str)]) -> Sent {
    let part = |(name, value): &(&str, &str)| {
        format!("--edge\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let parts: String = fields.iter().map(part).collect();
    Sent::Text("multipart/form-data; boundary=edge", format!("{parts}--edge--\r\n"))
}

/// The text between `before` and `after`.
fn between<'a>(page: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("no {before} in {page}"));
    rest.split_once(after).unwrap().0
}

/// The body of a request that creates a tool.
pub fn worker_tool() -> Value {
    json!({ "name": "Matrix", "kind": "worker", "inputSchema": { "type": "object" } })
}

/// Creates a tool. It is a draft, or published. Returns its slug.
pub async fn new_tool(app: &App, published: bool) -> String {
    let slug = unique_text();
    let mut new = worker_tool();
    new["slug"] = slug.as_str().into();
    app.post(Who::Operator, "/api/tools", new).await;
    if published {
        app.post(Who::Operator, &format!("/api/tools/{slug}/publish"), json!({})).await;
    }
    slug
}

/// Sets the secret with this path.
pub async fn set_tool_secret(app: &App, path: &str) {
    let set = app.request(Who::Admin, Method::PUT, path).json(&json!({ "value": "x" })).send().await.unwrap();
    assert!(set.status().is_success(), "{path}: {}", set.status());
}

/// Creates a completed session of the type `tool`. Returns the path of the request that writes its result to a new
/// entity, and its body.
pub async fn tool_result(app: &App, path: &str) -> (String, Value) {
    let slug = unique_text();
    app.post(Who::Operator, "/api/entity-types", json!({ "name": "Matrix", "slug": slug })).await;
    let of = json!({ "entityType": slug });
    let action = json!({ "name": "Matrix", "slug": slug, "outputType": "entity", "outputConfig": of });
    let action = app.post(Who::Operator, "/api/actions", action).await;
    let new = json!({ "sessionType": "tool", "agentSlug": slug });
    let session = id(&app.post(Who::Member, "/api/sessions", new).await);
    app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": [slug], "leaseSeconds": 3600 })).await;
    let complete = json!({ "attempt": 1, "result": { "name": "Matrix" } });
    app.post(Who::Worker, &format!("/api/sessions/{session}/complete"), complete).await;
    (path.replace("{id}", &session), json!({ "actionId": action["id"], "fields": { "title": "/name" } }))
}

/// Creates objects for one row of the matrix.
pub struct Maker<'a> {
    pub app: &'a App,
    people: &'a People,
    /// The person who sends the request.
    pub person: &'a Person,
}

pub async fn prepare(app: &App, people: &People, person: &Person, (method, path): &Route) -> Prepared {
    let maker = Maker { app, people, person };
    let mut cookie = None;
    let (object, sent) = if path.starts_with("/forms/") {
        let (id, sent, cookies) = maker.opened_form(method.as_str(), path).await;
        cookie = cookies;
        (id, sent)
    } else if path.starts_with("/shared/{id}") {
        let session = if path.ends_with("/result") { maker.with_result().await } else { maker.queued().await };
        let (id, opened) = maker.opened_share(&session).await;
        cookie = opened;
        (id, Sent::Nothing)
    } else if path.starts_with("/tool-links/") {
        let (object, sent, cookies) = maker.opened_tool_link(method.as_str(), path).await;
        cookie = Some(cookies);
        (object, sent)
    } else if path.starts_with("/api/mcp-servers") {
        maker.mcp_request(method.as_str(), path).await
    } else if path.starts_with("/mcp-servers") {
        maker.mcp_page(method.as_str(), path).await
    } else if path.starts_with("/api/canvases") || path.starts_with("/canvases") || path == "/inbox/patches" {
        maker.canvas(method.as_str(), path).await
    } else if path.starts_with("/api/") || path == "/threads/{id}/end" {
        maker.api(method.as_str(), path).await
    } else if path.starts_with("/fn/") {
        maker.function(path).await
    } else {
        maker.page(method.as_str(), path).await
    };
    if path == "/link" {
        cookie = Some(format!("sbk_link={}", maker.link().await));
    }
    let ends = ["/sign-out", "/sign-in", "/settings/password", "/workspace"].contains(&path.as_str())
        || path.contains("/sign-ins");
    let concrete = match path.split_once('{') {
        Some((start, rest))
            if !["/t/", "/agents/{slug}", "/pictures/", "{name}", "{run}"].iter().any(|part| path.contains(part)) =>
        {
            let query = if path.ends_with("/events/find") { "?q=matrix" } else { "" };
            format!("{start}{object}{}{query}", rest.split_once('}').unwrap().1)
        }
        Some(_) => object,
        // A path without a parameter gets the object as its query.
        None => format!("{path}{object}"),
    };
    Prepared { path: concrete, sent, cookie, ends_sign_in: ends }
}

impl Maker<'_> {
    pub fn owner(&self) -> &Person {
        self.people.named("owner")
    }

    pub fn admin(&self) -> &Person {
        self.people.named("admin")
    }

    /// A session of the type `tool`.
    pub async fn tool_session(&self) -> String {
        id(&self.owner().post(self.app, "/api/sessions", json!({ "sessionType": "tool" })).await)
    }

    /// A session of the owner that the worker has claimed.
    pub async fn running(&self) -> String {
        let agent = unique_text();
        let new = json!({ "sessionType": "agent", "agentSlug": agent });
        let made = self.owner().post(self.app, "/api/sessions", new).await;
        self.claim(&agent).await;
        id(&made)
    }

    async fn claim(&self, agent: &str) {
        let claim = json!({ "agentSlugs": [agent], "leaseSeconds": 3600 });
        let claimed = self.app.post(Who::Worker, "/api/sessions/claim", claim).await;
        assert_eq!(claimed["sessions"].as_array().unwrap().len(), 1, "{agent}");
    }

    async fn worker(&self, session: &str, does: &str, body: Value) {
        self.app.post(Who::Worker, &format!("/api/sessions/{session}/{does}"), body).await;
    }

    pub async fn idle(&self) -> String {
        let session = self.running().await;
        self.worker(&session, "yield", json!({ "attempt": 1, "status": "idle" })).await;
        session
    }

    pub async fn awaiting_tool(&self) -> String {
        let session = self.running().await;
        self.worker(&session, "yield", json!({ "attempt": 1, "status": "awaiting_tool" })).await;
        session
    }

    /// Creates a session whose second message is a picture. Returns the address of the picture.
    pub async fn picture(&self) -> String {
        let session = self.running().await;
        let pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        let parts = json!([{ "type": "image", "data": pixel, "mediaType": "image/png" }]);
        let said = json!({ "attempt": 1, "events": [{ "type": "agent.message", "content": parts }] });
        let appended = self.app.post(Who::Worker, &format!("/api/sessions/{session}/events"), said).await;
        let sequence = appended["events"][0]["sequence"].as_u64().unwrap();
        let name = &domain::chain::body_digest(pixel, "").to_string()[..16];
        format!("/sessions/{session}/pictures/{sequence}/{name}")
    }

    pub async fn completed(&self) -> String {
        let session = self.running().await;
        self.worker(&session, "complete", json!({ "attempt": 1, "result": "42" })).await;
        session
    }

    pub async fn failed(&self) -> String {
        let session = self.running().await;
        self.worker(&session, "fail", json!({ "attempt": 1, "error": { "message": "x" } })).await;
        session
    }

    /// Creates a failed session with a cause of its own. Returns its id and that of the cause.
    pub async fn cause(&self) -> (String, String) {
        let session = self.running().await;
        let (message, failure) = failure_of_its_own();
        self.worker(&session, "fail", failure).await;
        let list = self.owner().get(self.app, "/api/failure-causes?window=7d&limit=1000").await;
        let found = list["items"].as_array().unwrap().iter().find(|cause| cause["message"] == message.as_str());
        (session, id(found.unwrap()))
    }

    /// Creates a session that asks the owner a question. Returns its id, its approval's, and the approval's digest.
    pub async fn session_with_question(&self) -> (String, String, String) {
        let session = self.running().await;
        let question = json!({ "attempt": 1, "status": "waiting_human", "question": { "message": "Which?" } });
        self.worker(&session, "yield", question).await;
        let list = self.owner().get(self.app, "/api/approvals?assignedTo=all&limit=1000").await;
        let found =
            list["items"].as_array().unwrap().iter().find(|item| item["sessionId"] == session.as_str()).unwrap();
        (session, id(found), found["digest"].as_str().unwrap().to_owned())
    }

    /// A request of a session that waits for its answer.
    pub async fn feedback_request(&self) -> String {
        let session = self.running().await;
        let ask = json!({ "attempt": 1, "message": "Which?", "idempotencyKey": "k" });
        let asked = self.app.post(Who::Worker, &format!("/api/sessions/{session}/feedback-requests"), ask).await;
        id(&asked["request"])
    }

    /// A request for which its session does not wait.
    pub async fn open_question(&self) -> String {
        let session = self.running().await;
        let ask = json!({ "attempt": 1, "message": "Which?", "blocking": false, "idempotencyKey": "k" });
        let asked = self.app.post(Who::Worker, &format!("/api/sessions/{session}/feedback-requests"), ask).await;
        id(&asked["request"])
    }

    /// The same, answered by the person of the row if they may, so that they can undo it.
    pub async fn answered(&self) -> (String, String) {
        let (_, approval, digest) = self.session_with_question().await;
        let answer = json!({ "decision": "respond", "value": "x" });
        let path = format!("/api/approvals/{approval}/decision");
        self.person.request(self.app, Method::POST, &path).json(&answer).send().await.unwrap();
        (approval, digest)
    }

    /// A conversation of the owner. With `in_turn`, the worker has claimed its turn.
    pub async fn thread(&self, in_turn: bool) -> String {
        let agent = unique_text();
        let new = match in_turn {
            true => json!({ "agent": agent, "message": "Hello" }),
            false => json!({ "agent": agent }),
        };
        let made = self.owner().post(self.app, "/api/threads", new).await;
        if in_turn {
            self.claim(&agent).await;
        }
        id(&made)
    }

    pub async fn action(&self) -> String {
        let new = json!({ "name": "Matrix", "slug": unique_text(), "agentSlug": "matrix" });
        id(&self.app.post(Who::Operator, "/api/actions", new).await)
    }

    pub async fn entity_type(&self) -> (String, String) {
        let slug = unique_text();
        let made = self.app.post(Who::Operator, "/api/entity-types", json!({ "name": "Matrix", "slug": slug })).await;
        (id(&made), slug)
    }

    pub async fn entity(&self) -> (String, String) {
        let (of, slug) = self.entity_type().await;
        let new = json!({ "typeId": of, "title": "Matrix" });
        (id(&self.owner().post(self.app, "/api/entities", new).await), slug)
    }

    pub async fn import(&self) -> String {
        let path = format!("/api/entity-types/{}/imports", self.entity_type().await.0);
        let request = self.owner().request(self.app, Method::POST, &path).header("content-type", "text/csv");
        let made: Value = request.body("Name\nx\n").send().await.unwrap().json().await.unwrap();
        id(&made)
    }

    pub async fn criteria_set(&self) -> String {
        let new = json!({ "name": "Matrix", "slug": unique_text(), "dimensions": [{ "slug": "why", "type": "text" }] });
        id(&self.app.post(Who::Operator, "/api/criteria-sets", new).await)
    }

    /// A view with one question. It is a draft, or published.
    pub async fn view(&self, published: bool) -> String {
        self.new_view(published).await.0
    }

    /// The slug of such a view.
    pub async fn view_slug(&self, published: bool) -> String {
        self.new_view(published).await.1
    }

    async fn new_view(&self, published: bool) -> (String, String) {
        let why = json!([{ "key": "why", "label": "Why?", "type": "short_text" }]);
        let slug = unique_text();
        let new = json!({ "title": "Matrix", "slug": slug, "fields": why });
        let made = id(&self.app.post(Who::Operator, "/api/views", new).await);
        if published {
            self.app.post(Who::Operator, &format!("/api/views/{made}/publish"), json!({})).await;
        }
        (made, slug)
    }

    /// The slug of a tool. It is a draft, or published.
    pub async fn tool(&self, published: bool) -> String {
        new_tool(self.app, published).await
    }

    /// The path of a tool's secret.
    pub async fn tool_secret(&self) -> String {
        let path = format!("/api/tools/{}/secrets/KEY", self.tool(false).await);
        set_tool_secret(self.app, &path).await;
        path
    }

    pub async fn group(&self) -> String {
        id(&self.app.post(Who::Operator, "/api/groups", json!({ "name": "Matrix", "slug": unique_text() })).await)
    }

    /// A new webhook. Earlier ones are removed, because their number in a workspace is limited.
    pub async fn webhook(&self) -> String {
        let list = self.app.request(Who::Admin, Method::GET, "/api/webhooks").send().await.unwrap();
        let list: Value = list.json().await.unwrap();
        for earlier in list["webhooks"].as_array().unwrap() {
            let path = format!("/api/webhooks/{}", id(earlier));
            self.app.request(Who::Admin, Method::DELETE, &path).send().await.unwrap();
        }
        let new = json!({ "url": "https://hooks.example.org/a", "events": ["session.failed"] });
        id(&self.app.post(Who::Admin, "/api/webhooks", new).await["webhook"])
    }

    pub async fn invitation(&self) -> Value {
        let new = json!({ "email": format!("{}@new.test", unique_text()), "role": "member" });
        self.app.post(Who::Admin, "/api/invitations", new).await
    }

    /// The secret of an invitation.
    pub async fn link(&self) -> String {
        self.invitation().await["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
    }

    /// A member for the request; a deactivated one if the request activates them. The admin, who is last, may
    /// remove them.
    pub async fn member(&self, path: &str) -> String {
        let email = format!("{}@acme.test", path.replace(['/', '{', '}'], "-").trim_matches('-'));
        if self.person.name == "nobody" && member_id(self.app, &email).await.is_none() {
            add(self.app, &email, "acme", "member");
            if path.ends_with("/activate") {
                let member = member_id(self.app, &email).await.unwrap();
                let change = json!({ "status": "deactivated" });
                let request = self.app.request(Who::Admin, Method::PATCH, &format!("/api/members/{member}"));
                assert!(request.json(&change).send().await.unwrap().status().is_success());
            }
        }
        member_id(self.app, &email).await.unwrap_or_else(|| UNKNOWN_ID.to_owned())
    }

    /// A further sign-in of the person of the row.
    pub async fn sign_in(&self) -> String {
        let answer = self.person.request(self.app, Method::GET, "/api/sign-ins").send().await.unwrap();
        if !answer.status().is_success() {
            return UNKNOWN_ID.to_owned();
        }
        let form = [("email", self.person.email), ("password", PASSWORD)];
        let request = self.app.http.post(format!("{}/sign-in", self.app.url)).header("origin", &self.app.url);
        assert_eq!(request.form(&form).send().await.unwrap().status(), 303);
        let list = self.person.get(self.app, "/api/sign-ins").await;
        id(list["signIns"].as_array().unwrap().iter().find(|sign_in| sign_in["isCurrent"] == false).unwrap())
    }

    /// A search that the person of the row saved, if they may.
    pub async fn saved_search(&self) -> String {
        let request = self.person.request(self.app, Method::POST, "/api/saved-searches");
        let answer = request.json(&json!({ "name": unique_text(), "q": "status:failed" })).send().await.unwrap();
        if !answer.status().is_success() {
            return UNKNOWN_ID.to_owned();
        }
        id(&answer.json::<Value>().await.unwrap())
    }

    /// A personal token of the person of the row.
    pub async fn token(&self) -> String {
        let fields = [("name", "matrix"), ("role", "member"), ("for_me", "yes")];
        let request = self.person.request(self.app, Method::POST, "/settings/tokens");
        request.form(&fields).send().await.unwrap();
        let settings = self.person.request(self.app, Method::GET, "/settings").send().await.unwrap();
        if settings.status() != 200 {
            return UNKNOWN_ID.to_owned();
        }
        between(&settings.text().await.unwrap(), "/settings/tokens/", "/revoke").to_owned()
    }

    /// A task that the person of the row may work on, and their human session on it.
    pub async fn at_work(&self) -> String {
        let start = json!({ "taskId": self.action().await });
        let request = self.person.request(self.app, Method::POST, "/api/sessions/human/start").json(&start);
        let answer = request.send().await.unwrap();
        match answer.status().is_success() {
            true => id(&answer.json::<Value>().await.unwrap()["session"]),
            false => UNKNOWN_ID.to_owned(),
        }
    }

    /// The finished export that all rows share. A workspace runs only one export at a time.
    pub async fn export(&self) -> String {
        let known = self.people.1.lock().unwrap().clone();
        if let Some(known) = known {
            return known;
        }
        self.no_export_runs().await;
        let fields = [("step", "export"), ("format", "sft"), ("fileType", "jsonl")];
        let request = self.people.named("operator").request(self.app, Method::POST, "/fn/export/start");
        let started: Value = request.form(&fields).send().await.unwrap().json().await.unwrap();
        let id = id(&started);
        self.no_export_runs().await;
        *self.people.1.lock().unwrap() = Some(id.clone());
        id
    }

    pub async fn no_export_runs(&self) {
        let operator = self.people.named("operator");
        loop {
            let page = operator.request(self.app, Method::GET, "/export").send().await.unwrap();
            if !page.text().await.unwrap().contains("Running") {
                return;
            }
            tokio::task::yield_now().await;
        }
    }
}
