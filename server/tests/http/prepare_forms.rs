//! Views, links and the forms that they open, for the rows of the matrix.

use crate::{
    app::Who,
    form::publish,
    prepare::{Maker, Sent, form, unique_text},
};
use reqwest::{Method, header::SET_COOKIE};
use serde_json::{Value, json};

impl Maker<'_> {
    /// A published view with one question. Returns its id and its slug.
    pub async fn published_view(&self, gate: &str) -> (String, String) {
        let slug = unique_text();
        let config = json!({ "gate": gate, "responses": "many", "embedOrigins": ["https://a.example"] });
        let config = if gate == "member" { json!({ "responses": "many" }) } else { config };
        let fields = json!([{ "key": "name", "label": "?", "type": "short_text", "required": false }]);
        let id = publish(self.app, "acme", &slug, &config, &fields).await;
        (id.to_string(), slug)
    }

    /// A link to a form with this gate. Returns the secret and the id.
    pub async fn form_link(&self, gate: &str) -> (String, String) {
        let (view, _) = self.published_view(gate).await;
        let made: Value = self.app.post(Who::Operator, &format!("/api/views/{view}/links"), json!({})).await;
        let secret = made["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        (secret, made["link"]["id"].as_str().unwrap().to_owned())
    }

    /// A response to a view of the workspace.
    pub async fn response(&self) -> String {
        let (view, _) = self.published_view("member").await;
        let path = format!("/api/views/{view}/submit-interaction");
        let body = json!({ "submissionId": unique_text(), "answers": { "name": "x" } });
        self.app.post(Who::Operator, &path, body).await["response"]["id"].as_str().unwrap().to_owned()
    }

    /// The id of a link, a posted form if one is posted, and the cookies of a browser that opened the link.
    pub async fn opened_form(&self, method: &str, path: &str) -> (String, Sent, Option<String>) {
        let gate = if path.ends_with("/lead") { "lead" } else { "none" };
        let (secret, id) = self.form_link(gate).await;
        let entered = self.app.http.get(format!("{}/f/{secret}", self.app.url)).send().await.unwrap();
        let cookies: Vec<_> = entered.headers().get_all(SET_COOKIE).iter().map(|set| set.to_str().unwrap()).collect();
        let cookies = cookies.iter().map(|set| set.split(';').next().unwrap()).collect::<Vec<_>>().join("; ");
        if method == "GET" {
            return (id, Sent::Nothing, Some(cookies));
        }
        let key = self.key(&format!("/forms/{id}"), &cookies).await;
        let fields = [("_key", key.as_str()), ("name", "x"), ("email", "x@example.org")];
        (id, form(&fields), Some(cookies))
    }

    /// A session of the owner. No worker claims it: a row before has revoked the token of the worker.
    pub async fn queued(&self) -> String {
        let new = json!({ "sessionType": "agent", "agentSlug": unique_text() });
        self.owner().post(self.app, "/api/sessions", new).await["id"].as_str().unwrap().to_owned()
    }

    /// A session of the owner with a result that no worker sent: that of a task that was given a response.
    pub async fn with_result(&self) -> String {
        let of = json!({ "entityType": self.entity_type().await.1 });
        let action = json!({ "name": "Matrix", "slug": unique_text(), "outputType": "entity", "outputConfig": of });
        let action = self.app.post(Who::Operator, "/api/actions", action).await;
        let path = format!("/api/responses/{}/promote", self.response().await);
        let promote = json!({ "actionId": action["id"], "title": "Matrix" });
        let promoted = self.owner().post(self.app, &path, promote).await;
        promoted["promotionSessionId"].as_str().unwrap().to_owned()
    }

    /// A link to a session of the owner. Returns the secret and the id.
    pub async fn share_link(&self) -> (String, String) {
        self.share_link_to(&self.queued().await).await
    }

    async fn share_link_to(&self, session: &str) -> (String, String) {
        let path = format!("/api/sessions/{session}/share-links");
        let made = self.owner().post(self.app, &path, json!({})).await;
        let secret = made["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        (secret, made["link"]["id"].as_str().unwrap().to_owned())
    }

    /// The id of a link to a session, and the cookie of a browser that opened it.
    pub async fn opened_share(&self, session: &str) -> (String, Option<String>) {
        let (secret, id) = self.share_link_to(session).await;
        let entered = self.app.http.post(format!("{}/s/{secret}", self.app.url)).send().await.unwrap();
        let cookie = entered.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
        (id, Some(cookie))
    }

    /// The key that the form at this path carries.
    pub async fn key(&self, path: &str, cookies: &str) -> String {
        let request = self.app.http.request(Method::GET, format!("{}{path}", self.app.url)).header("cookie", cookies);
        let page = request.header("accept", "text/html").send().await.unwrap().text().await.unwrap();
        field(&page, "_key")
    }

    /// A link that a frame may show, and what its page posts.
    pub async fn framed_form(&self) -> (String, Sent) {
        let (secret, _) = self.form_link("none").await;
        let page = self.app.http.get(format!("{}/embed/{secret}", self.app.url)).send().await.unwrap();
        let page = page.text().await.unwrap();
        let names = ["_link", "_browser", "_clearance", "_key"];
        let fields: Vec<_> = names.iter().map(|name| (*name, field(&page, name))).collect();
        let mut fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        fields.push(("name", "x"));
        (secret, form(&fields))
    }
}

/// The value of a field that a page carries.
fn field(page: &str, name: &str) -> String {
    let rest = page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap_or_else(|| panic!("no {name}: {page}"));
    rest.split('"').next().unwrap().to_owned()
}
