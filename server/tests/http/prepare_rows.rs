//! For each route: the object of the request and its body. The matrix fails for a route that is missing here.

use crate::{
    app::{PASSWORD, Who},
    prepare::{Maker, Sent, form, in_an_hour, multipart, tool_result, unique_text},
    prepare_plain::plain,
};
use reqwest::Method;
use serde_json::{Value, json};

impl Maker<'_> {
    /// Returns the object, or the query of a path without a parameter, and the body.
    pub async fn api(&self, method: &str, path: &str) -> (String, Sent) {
        if path.starts_with("/api/agents/{slug}") {
            return self.memory(method, path).await;
        }
        if ["/api/tools", "/api/tool-sessions", "/api/tool-links"].iter().any(|of| path.starts_with(of))
            && method != "GET"
        {
            return self.tool_request(method, path).await;
        }
        if path.starts_with("/api/paced-runs/") || (method, path) == ("POST", "/api/paced-runs") {
            return self.paced_request(method, path).await;
        }
        if path.starts_with("/api/rules") && path != "/api/rules" || (method, path) == ("POST", "/api/rules") {
            return self.rule_request(method, path).await;
        }
        match (method, path) {
            ("GET", path) => (self.read(path).await, Sent::Nothing),
            ("DELETE", path) => (self.deleted(path).await, Sent::Nothing),
            ("POST", path) if path.contains("/sessions") || path.contains("/threads") => {
                self.session_request(path).await
            }
            ("POST", path) => self.created(path).await,
            ("PATCH" | "PUT", path) => self.changed(path).await,
            _ => panic!("no request is prepared for {method} {path}"),
        }
    }

    async fn read(&self, path: &str) -> String {
        if let Some(query) = plain(path) {
            return query;
        }
        match path {
            "/api/sessions/{id}/feedback" => self.rated().await,
            "/api/sessions/{id}/result" => self.completed().await,
            path if path.starts_with("/api/sessions/{id}") => self.running().await,
            "/api/feedback-requests/{id}" => self.feedback_request().await,
            path if path.starts_with("/api/failure-causes/{id}") => self.cause().await.1,
            path if path.starts_with("/api/actions/{id}") => self.action().await,
            "/api/approvals/{id}" => self.session_with_question().await.1,
            path if path.starts_with("/api/criteria-sets/{id}") => self.criteria_set().await,
            path if path.starts_with("/api/entities/{id}") => self.entity().await.0,
            "/api/entity-types/{id}" => self.entity_type().await.0,
            "/api/groups/{id}" => self.group().await,
            "/api/imports/{id}" => self.import().await,
            "/api/responses/{id}" => self.response().await,
            "/api/threads/{id}" => self.thread(false).await,
            "/api/tool-sessions/{id}" => self.tool_session().await,
            path if path.starts_with("/api/tools/{slug}") => self.tool(true).await,
            path if path.starts_with("/api/views/{id}/") => self.published_view("none").await.0,
            path if path.starts_with("/api/views/{id}") => self.view(false).await,
            "/api/webhooks/{id}/deliveries" => self.webhook().await,
            _ => panic!("no request is prepared for GET {path}"),
        }
    }

    /// A session that the person of the row has rated, if they may.
    async fn rated(&self) -> String {
        let session = self.completed().await;
        let path = format!("/api/sessions/{session}/feedback");
        let request = self.person.request(self.app, Method::PUT, &path);
        request.json(&json!({ "label": "positive" })).send().await.unwrap();
        session
    }

    async fn deleted(&self, path: &str) -> String {
        match path {
            "/api/invitations/{id}" => self.invitation().await["invitation"]["id"].as_str().unwrap().to_owned(),
            "/api/members/{id}" => self.member(path).await,
            "/api/sessions/{id}/feedback" => self.rated().await,
            "/api/sessions/{id}/interactions" => self.completed().await,
            "/api/saved-searches/{id}" => self.saved_search().await,
            "/api/share-links/{id}" => self.share_link().await.1,
            "/api/sign-ins/{id}" => self.sign_in().await,
            "/api/view-links/{id}" => self.form_link("none").await.1,
            "/api/views/{id}" => self.view(false).await,
            "/api/webhooks/{id}" => self.webhook().await,
            _ => panic!("no request is prepared for DELETE {path}"),
        }
    }

    async fn session_request(&self, path: &str) -> (String, Sent) {
        let nothing = String::new;
        let (object, body) = match path {
            "/api/sessions" => (nothing(), json!({ "sessionType": "agent", "agentSlug": "matrix" })),
            "/api/sessions/claim" => (nothing(), json!({ "agentSlugs": ["nobody"] })),
            "/api/sessions/bulk" => (nothing(), json!({ "verb": "cancel", "sessionIds": [self.running().await] })),
            "/api/sessions/human/start" => (nothing(), json!({ "taskId": self.action().await })),
            "/api/sessions/human/stop" => (nothing(), json!({ "sessionId": self.at_work().await })),
            "/api/sessions/{id}/cancel" | "/api/sessions/{id}/share-links" | "/api/sessions/{id}/assignee" => {
                (self.running().await, json!({}))
            }
            "/api/sessions/{id}/tags" => (self.running().await, json!({ "add": ["matrix"] })),
            "/api/sessions/{id}/memory-feedback" => (self.running().await, json!({ "memory_feedback": {} })),
            "/api/sessions/{id}/feedback-requests" => {
                (self.running().await, json!({ "attempt": 1, "message": "Which?", "idempotencyKey": "k" }))
            }
            "/api/sessions/{id}/deltas" => (self.running().await, json!({ "attempt": 1, "offset": 0, "text": "x" })),
            "/api/sessions/{id}/progress" => (self.running().await, json!({ "attempt": 1, "done": 1 })),
            "/api/sessions/{id}/elicitation-reply" => (self.session_with_question().await.0, json!({ "content": "x" })),
            "/api/sessions/{id}/events" => {
                (self.running().await, json!({ "attempt": 1, "events": [{ "type": "agent.message" }] }))
            }
            "/api/sessions/{id}/fail" => (self.running().await, json!({ "attempt": 1, "error": { "message": "x" } })),
            "/api/sessions/{id}/answers/take"
            | "/api/sessions/{id}/complete"
            | "/api/sessions/{id}/heartbeat"
            | "/api/sessions/{id}/release" => (self.running().await, json!({ "attempt": 1 })),
            "/api/sessions/{id}/messages" => (self.idle().await, json!({ "text": "x" })),
            "/api/sessions/{id}/tool-results" => {
                (self.awaiting_tool().await, json!({ "results": [{ "toolCallId": "c", "output": 1 }] }))
            }
            "/api/sessions/{id}/wake" => (self.idle().await, json!({ "attempt": 1, "leaseSeconds": 3600 })),
            "/api/sessions/{id}/retry" => (self.failed().await, json!({})),
            "/api/sessions/{id}/yield" => (self.running().await, json!({ "attempt": 1, "status": "idle" })),
            "/api/threads" => (nothing(), json!({ "agent": "matrix" })),
            "/api/threads/{id}/end" | "/threads/{id}/end" => (self.thread(false).await, json!({})),
            "/api/threads/{id}/interrupt" => (self.thread(true).await, json!({})),
            "/api/threads/{id}/messages" => (self.thread(false).await, json!({ "text": "x" })),
            _ => panic!("no request is prepared for POST {path}"),
        };
        (object, Sent::Json(body))
    }

    async fn created(&self, path: &str) -> (String, Sent) {
        let (nothing, respond) = (String::new, json!({ "decision": "respond", "value": "x" }));
        let (object, body) = match path {
            "/api/feedback-requests/{id}/answer" => {
                (self.feedback_request().await, json!({ "content": { "answer": "x" } }))
            }
            "/api/actions" | "/api/entity-types" | "/api/groups" => {
                (nothing(), json!({ "name": "Matrix", "slug": unique_text() }))
            }
            "/api/actions/{id}/tool-approval" => (
                self.session_with_question().await.1,
                json!({ "kind": "question", "decision": "respond", "note": "x" }),
            ),
            "/api/actions/{id}/trigger" => (self.action().await, json!({})),
            "/api/approvals/decisions" => {
                let (_, id, digest) = self.session_with_question().await;
                (
                    nothing(),
                    json!({ "decisions": [{ "id": id, "decision": "respond", "value": "x", "digest": digest }] }),
                )
            }
            "/api/approvals/{id}/decision" => (self.session_with_question().await.1, respond),
            "/api/approvals/{id}/hand-over" => {
                let to = format!("user:{}", self.member(path).await);
                (self.session_with_question().await.1, json!({ "to": to }))
            }
            "/api/approvals/{id}/snooze" => (self.session_with_question().await.1, json!({ "seconds": 600 })),
            "/api/approvals/{id}/undo" => (self.answered().await.0, Value::Null),
            "/api/bundles" => (nothing(), json!({ "groups": [{ "slug": "matrix", "name": "Matrix" }] })),
            "/api/criteria-sets" => {
                let dimensions = json!([{ "slug": "why", "type": "text" }]);
                (nothing(), json!({ "name": "Matrix", "slug": unique_text(), "dimensions": dimensions }))
            }
            "/api/entities" => (nothing(), json!({ "typeId": self.entity_type().await.0, "title": "Matrix" })),
            "/api/entities/{id}/erase" => (self.entity().await.0, Value::Null),
            "/api/entity-types/{id}/imports" => {
                return (self.entity_type().await.0, Sent::Text("text/csv", "Name\nx\n".into()));
            }
            "/api/telemetry/opt-in" => (nothing(), json!({ "enabled": false })),
            "/api/memory/forget" => (nothing(), json!({ "person": "matrix-1", "apply": true })),
            "/api/memory/remember" => {
                let forget = self.app.request(Who::Admin, Method::POST, "/api/memory/forget");
                forget.json(&json!({ "person": "matrix-2", "apply": true })).send().await.unwrap();
                (nothing(), json!({ "person": "matrix-2" }))
            }
            "/api/failures/{id}/acknowledge" => (self.failed().await, Value::Null),
            "/api/failure-causes/{id}/acknowledge"
            | "/api/failure-causes/{id}/resolve"
            | "/api/failure-causes/{id}/reopen" => (self.cause().await.1, Value::Null),
            "/api/failure-causes/{id}/snooze" => (self.cause().await.1, in_an_hour()),
            "/api/failure-causes/{id}/run-again" => {
                let (session, cause) = self.cause().await;
                (cause, json!({ "sessionIds": [session] }))
            }
            "/api/hooks/{source}" => {
                ("claude-code".to_owned(), json!({ "session_id": unique_text(), "hook_event_name": "Stop" }))
            }
            "/api/interactions/{id}/feedback" => {
                let captured = crate::interaction::captured(self.app, &self.completed().await, 1).await;
                (captured[0]["id"].as_str().unwrap().to_owned(), json!({ "feedback": "positive" }))
            }
            "/api/invitations" => {
                (nothing(), json!({ "email": format!("{}@new.test", unique_text()), "role": "member" }))
            }
            "/api/members/{id}/reset-link" => (self.member(path).await, Value::Null),
            "/api/responses/{id}/promote" => {
                (self.response().await, json!({ "typeId": self.entity_type().await.0, "title": "Matrix" }))
            }
            "/api/views/{id}/links" => (self.published_view("none").await.0, json!({})),
            "/api/views/{id}/submit-interaction" => (
                self.published_view("member").await.0,
                json!({ "submissionId": unique_text(), "answers": { "name": "x" } }),
            ),
            "/api/views" => {
                let why = json!([{ "key": "why", "label": "Why?", "type": "short_text" }]);
                (nothing(), json!({ "title": "Matrix", "slug": unique_text(), "fields": why }))
            }
            "/api/views/{id}/publish" => (self.view(false).await, json!({})),
            "/api/views/{id}/unpublish" => (self.view(true).await, Value::Null),
            "/api/saved-searches" => (nothing(), json!({ "name": unique_text(), "q": "status:failed" })),
            "/api/webhooks" => {
                self.webhook().await;
                (nothing(), json!({ "url": "https://hooks.example.org/a", "events": ["session.failed"] }))
            }
            "/api/webhooks/{id}/test" => (self.webhook().await, Value::Null),
            _ => panic!("no request is prepared for POST {path}"),
        };
        (object, if body.is_null() { Sent::Nothing } else { Sent::Json(body) })
    }

    async fn changed(&self, path: &str) -> (String, Sent) {
        let (object, body) = match path {
            "/api/actions/{id}" => (self.action().await, json!({ "description": "changed" })),
            "/api/criteria-sets/{id}" => (self.criteria_set().await, json!({ "version": 1, "name": "changed" })),
            "/api/entities/{id}" => (self.entity().await.0, json!({ "version": 1, "title": "changed" })),
            "/api/entity-types/{id}" => (self.entity_type().await.0, json!({ "version": 1, "name": "changed" })),
            "/api/groups/{id}" => (self.group().await, json!({ "name": "changed" })),
            "/api/members/{id}" => (self.member(path).await, json!({ "role": "reviewer" })),
            "/api/saved-searches/{id}" => (self.saved_search().await, json!({ "name": unique_text() })),
            "/api/sessions/{id}/feedback" => (self.completed().await, json!({ "label": "positive" })),
            "/api/views/{id}" => (self.view(false).await, json!({ "revision": 1, "title": "changed" })),
            "/api/workspace" => (String::new(), json!({ "undoSeconds": 60 })),
            _ => panic!("no request is prepared for the change of {path}"),
        };
        (object, Sent::Json(body))
    }

    pub async fn page(&self, method: &str, path: &str) -> (String, Sent) {
        if path.starts_with("/agents/{slug}") {
            return self.memory(method, path).await;
        }
        if path.starts_with("/sessions/paced/") {
            return (self.paced_run().await, if method == "POST" { form(&[]) } else { Sent::Nothing });
        }
        if path.starts_with("/rules") {
            return self.rule_page(method, path).await;
        }
        match method {
            "GET" => (self.page_of(path).await, Sent::Nothing),
            _ if path.starts_with("/settings") => self.set(path).await,
            _ => self.posted(path).await,
        }
    }

    async fn page_of(&self, path: &str) -> String {
        if let Some(query) = plain(path) {
            return query;
        }
        match path {
            "/actions/{id}" => self.action().await,
            "/chat/rows" => format!("?ids={}", self.thread(false).await),
            "/chat/{id}" | "/chat/{id}/live" => self.thread(false).await,
            path if path.starts_with("/failures/{id}") => self.cause().await.1,
            "/criteria-sets/{id}" => self.criteria_set().await,
            path if path.starts_with("/tools/{slug}") => self.tool(false).await,
            path if path.starts_with("/views/{slug}") => self.view_slug(false).await,
            "/entities/{id}" => self.entity().await.0,
            "/entity-types/{id}" | "/entity-types/{id}/import" => self.entity_type().await.0,
            path if path.starts_with("/exports/{id}") => self.export().await,
            path if path.starts_with("/imports/{id}") => self.import().await,
            "/inbox/waiting/{id}" => self.session_with_question().await.0,
            path if path.starts_with("/inbox/") || path == "/needs-you/{id}" => self.session_with_question().await.1,
            "/embed/{secret}" | "/f/{secret}" => self.form_link("none").await.0,
            "/link/{secret}" => self.link().await,
            "/s/{secret}" => self.share_link().await.0,
            "/r/{secret}" => self.tool_link().await.0,
            "/pkg/{file}" => self.asset().await,
            "/sessions/bulk" => String::new(),
            "/sessions/rows" => format!("?ids={}", self.running().await),
            "/sessions/{id}/pictures/{sequence}/{name}" => self.picture().await,
            "/sessions/{id}/promote" => tool_result(self.app, "{id}").await.0,
            path if path.starts_with("/sessions/{id}") => self.running().await,
            "/settings/members/{id}" => self.member(path).await,
            "/t/{tenant}/{type}/{id}" => {
                let (id, slug) = self.entity().await;
                format!("/t/acme/{slug}/{id}")
            }
            "/questions/{id}" => self.open_question().await,
            "/views/{slug}/answer" => self.published_view("member").await.1,
            "/today/section/{bucket}" => "running".to_owned(),
            _ => panic!("no request is prepared for GET {path}"),
        }
    }

    async fn posted(&self, path: &str) -> (String, Sent) {
        let nothing = String::new;
        match path {
            "/sessions/{id}/messages" => (self.idle().await, form(&[("text", "x")])),
            "/sessions/{id}/tool-results" => {
                (self.awaiting_tool().await, form(&[("results[0].toolCallId", "c"), ("results[0].output", "x")]))
            }
            "/actions" | "/entity-types" => (nothing(), form(&[("name", "Matrix"), ("slug", &unique_text())])),
            "/actions/decisions" => (nothing(), form(&[("decision", "archive"), ("task", &self.action().await)])),
            "/actions/{id}" => (self.action().await, form(&[("name", "changed"), ("agentSlug", "matrix")])),
            "/bundles" => {
                let source = json!({ "groups": [{ "slug": "matrix", "name": "Matrix" }] }).to_string();
                (nothing(), multipart(&[("source", &source), ("step", "install")]))
            }
            "/criteria-sets" => {
                let why = [("dimensions[0].name", "Why"), ("dimensions[0].type", "text")];
                (nothing(), form(&[&[("name", "Matrix"), ("slug", &unique_text())], &why[..]].concat()))
            }
            "/criteria-sets/{id}" => {
                let why = [("dimensions[0].name", "Why"), ("dimensions[0].type", "text")];
                (self.criteria_set().await, form(&[&[("version", "1"), ("name", "changed")], &why[..]].concat()))
            }
            "/failures/{id}/decision" => (self.cause().await.1, form(&[("decision", "acknowledge")])),
            "/failures/decisions" => {
                (nothing(), form(&[("decision", "acknowledge"), ("cause", &self.cause().await.1)]))
            }
            "/failures/{id}/run-again" => {
                let (session, cause) = self.cause().await;
                let item = format!("items[{session}]");
                (cause, form(&[("step", "run"), ("which", "chosen"), (&item, "on")]))
            }
            "/inbox/{id}/hand-over" => {
                let to = format!("user:{}", self.member(path).await);
                (self.session_with_question().await.1, form(&[("to", &to), ("note", "x")]))
            }
            "/inbox/review" => {
                let (_, id, digest) = self.session_with_question().await;
                (nothing(), form(&[("decision", "deny"), ("note", "x"), (&format!("items[{id}]"), &digest)]))
            }
            "/inbox/selection" => {
                let name = format!("items[{}]", self.session_with_question().await.1);
                (nothing(), form(&[(&name, "")]))
            }
            "/tools" => {
                let definition = r#"{"kind":"worker","inputSchema":{"type":"object"}}"#;
                let named = [("name", "Matrix"), ("slug", &unique_text()), ("definition", definition)];
                (nothing(), form(&named))
            }
            "/tools/{slug}" => (self.tool(false).await, form(&[("do", "publish"), ("revision", "1")])),
            "/tools/{slug}/run" | "/tools/{slug}/draft" => (self.tool(true).await, form(&[("_id", &unique_text())])),
            "/tools/{slug}/links" => (self.linked_tool().await, form(&[("do", "make"), ("days", "1")])),
            "/tools/{slug}/test" => (self.tool(false).await, form(&[])),
            "/tools/{slug}/inputs" => (self.tool(true).await, form(&[("_name", "Matrix")])),
            "/tools/{slug}/edit" => {
                let definition = r#"{"kind":"worker","inputSchema":{"type":"object"}}"#;
                let changed = form(&[("revision", "1"), ("name", "changed"), ("definition", definition)]);
                (self.tool(false).await, changed)
            }
            "/views" => {
                (nothing(), form(&[("do", "save"), ("title", "Matrix"), ("slug", &unique_text()), ("rows", "0")]))
            }
            "/views/{slug}" => (self.view_slug(false).await, form(&[("do", "publish"), ("revision", "1")])),
            "/views/{slug}/edit" => {
                let changed = form(&[("do", "save"), ("revision", "1"), ("title", "changed"), ("rows", "0")]);
                (self.view_slug(false).await, changed)
            }
            "/entities" => (nothing(), form(&[("typeId", &self.entity_type().await.0), ("title", "Matrix")])),
            "/entities/erase" => {
                (nothing(), form(&[("entity", &format!("{}@1", self.entity().await.0)), ("confirm", "1")]))
            }
            "/entities/{id}" => (self.entity().await.0, form(&[("version", "1"), ("title", "changed")])),
            "/entity-types/{id}" => (self.entity_type().await.0, form(&[("version", "1"), ("name", "changed")])),
            "/entity-types/{id}/import" => {
                (self.entity_type().await.0, multipart(&[("source", "Name\nx\n"), ("step", "import")]))
            }
            "/sessions/bulk" => (nothing(), form(&[("verb", "cancel"), ("session", &self.running().await)])),
            "/sessions/saved" => (nothing(), form(&[("name", &unique_text()), ("q", "status:failed")])),
            "/sessions/columns" => (nothing(), form(&[("column.agent", "on"), ("density", "compact")])),
            "/sessions/saved/{id}/delete" => (self.saved_search().await, form(&[])),
            "/sessions/saved/{id}/rename" => (self.saved_search().await, form(&[("name", &unique_text())])),
            "/sessions/{id}/promote" => {
                let (session, body) = tool_result(self.app, "{id}").await;
                (session, form(&[("task", body["actionId"].as_str().unwrap()), ("fields.title", "/name")]))
            }
            "/sessions/{id}/share" => (self.running().await, form(&[("do", "share"), ("days", "1")])),
            "/sessions/{id}/memories" => {
                (self.running().await, form(&[("memory", "mem_0123456789ab"), ("value", "1")]))
            }
            "/s/{secret}" => (self.share_link().await.0, form(&[])),
            "/r/{secret}" => (self.tool_link().await.0, form(&[])),
            "/sessions/{id}/labels" => (self.running().await, form(&[("tags", "matrix")])),
            "/sessions/{id}/forget" => (self.completed().await, form(&[("confirm", "forget")])),
            "/memory/forget" => (nothing(), form(&[("person", "matrix-1"), ("step", "forget"), ("confirm", "forget")])),
            "/memory/forget-me" => (nothing(), form(&[("step", "ask")])),
            "/link" => (nothing(), form(&[("name", "Eve"), ("password", PASSWORD)])),
            "/setup" => {
                (nothing(), form(&[("workspace", "x"), ("email", "x@x.test"), ("password", PASSWORD), ("code", "x")]))
            }
            "/sign-in" => (nothing(), form(&[("email", self.person.email), ("password", PASSWORD)])),
            "/sign-out" => (nothing(), form(&[])),
            "/embed/{secret}" => self.framed_form().await,
            "/views/{slug}/answer" | "/views/{slug}/answer/draft" => {
                (self.published_view("member").await.1, form(&[("name", "x")]))
            }
            "/questions/{id}" | "/questions/{id}/draft" => (self.open_question().await, form(&[("answer", "x")])),
            "/workspace" => (nothing(), form(&[("slug", "acme")])),
            _ => panic!("no request is prepared for POST {path}"),
        }
    }

    /// A path of a site file that the sign-in page links to.
    async fn asset(&self) -> String {
        let page = self.app.http.get(format!("{}/sign-in", self.app.url)).send().await.unwrap().text().await.unwrap();
        page.split_once("/pkg/").unwrap().1.split(['"', '?']).next().unwrap().to_owned()
    }
}
