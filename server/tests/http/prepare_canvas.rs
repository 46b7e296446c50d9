//! Canvases for the matrix. The admin who is signed in makes them, and no one else takes part.

use crate::{
    app::{App, Who},
    prepare::{Maker, Sent, form},
};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

/// A canvas with a number.
pub fn new_canvas() -> Value {
    json!({ "title": "Matrix", "document": { "n": 1 } })
}

/// A patch of a new canvas.
pub fn patch() -> Value {
    json!({ "opId": "matrix:1", "base": 3, "ops": [{ "op": "replace", "path": "/n", "value": 2 }] })
}

/// Makes a canvas. Returns its id.
async fn made_canvas(app: &App) -> String {
    let request = app.http.post(format!("{}/api/canvases", app.url)).header("cookie", app.cookie().await);
    let response = request.header("sec-fetch-site", "same-origin").json(&new_canvas()).send().await.unwrap();
    let made: Value = response.json().await.unwrap();
    made["id"].as_str().unwrap().to_owned()
}

/// Lets a token suggest a patch of a canvas. `put` is a request of its creator that changes participants.
async fn suggest(app: &App, canvas: &str, by: Who, put: RequestBuilder) {
    let own = app.post(by, "/api/canvases", new_canvas()).await;
    let role = json!({ "participant": own["createdBy"], "role": "suggest" });
    assert!(put.json(&role).send().await.unwrap().status().is_success());
    app.post(by, &format!("/api/canvases/{canvas}/patches"), patch()).await;
}

/// Makes a canvas of a member with a suggestion of an operator, which the member may have declined. Returns the id of
/// the canvas.
pub async fn with_suggestion(app: &App, is_declined: bool) -> String {
    let made = app.post(Who::Member, "/api/canvases", new_canvas()).await;
    let canvas = made["id"].as_str().unwrap();
    let put = app.request(Who::Member, Method::PUT, &format!("/api/canvases/{canvas}/participants"));
    suggest(app, canvas, Who::Operator, put).await;
    if is_declined {
        app.post(Who::Member, &format!("/api/canvases/{canvas}/suggestions"), decline()).await;
    }
    canvas.to_owned()
}

/// The decision about that suggestion.
pub fn decline() -> Value {
    json!({ "opId": "matrix:1", "accept": false })
}

impl Maker<'_> {
    /// Makes a canvas of the admin with a suggestion of a member. Returns its id.
    async fn suggested(&self) -> String {
        let canvas = made_canvas(self.app).await;
        let put = self.app.http.put(format!("{}/api/canvases/{canvas}/participants", self.app.url));
        let put = put.header("cookie", self.app.cookie().await).header("sec-fetch-site", "same-origin");
        suggest(self.app, &canvas, Who::Member, put).await;
        canvas
    }

    /// The object and the body of a request about canvases.
    pub async fn canvas(&self, method: &str, path: &str) -> (String, Sent) {
        let sent = match (method, path) {
            ("GET", "/api/canvases" | "/api/canvases/templates" | "/canvases" | "/canvases/new") => {
                return (String::new(), Sent::Nothing);
            }
            ("POST", "/api/canvases") => return (String::new(), Sent::Json(new_canvas())),
            ("POST", "/api/canvases/{id}/patches") => Sent::Json(patch()),
            ("POST", "/canvases") => return (String::new(), form(&[("title", "Matrix")])),
            ("POST", "/canvases/{id}/participants") => {
                form(&[("do", "remove"), ("participant", "token:00000000-0000-7000-8000-000000000000")])
            }
            ("POST", "/canvases/{id}/versions") => {
                let canvas = made_canvas(self.app).await;
                let patched = self.app.http.post(format!("{}/api/canvases/{canvas}/patches", self.app.url));
                let patched = patched.header("cookie", self.app.cookie().await).header("sec-fetch-site", "same-origin");
                assert!(patched.json(&patch()).send().await.unwrap().status().is_success());
                return (canvas, form(&[("at", "3"), ("base", "4"), ("key", "matrix")]));
            }
            ("POST", "/canvases/{id}") => {
                form(&[("do", "add"), ("base", "3"), ("key", "matrix"), ("kind", "text"), ("text", "Matrix")])
            }
            ("POST", "/api/canvases/{id}/suggestions") => return (self.suggested().await, Sent::Json(decline())),
            ("POST", "/api/canvases/{id}/suggestions/decisions") => {
                return (self.suggested().await, Sent::Json(json!({ "decisions": [decline()] })));
            }
            ("POST", "/api/canvases/{id}/suggestions/undo") => {
                let canvas = self.suggested().await;
                let declined = self.app.http.post(format!("{}/api/canvases/{canvas}/suggestions", self.app.url));
                let declined =
                    declined.header("cookie", self.app.cookie().await).header("sec-fetch-site", "same-origin");
                assert!(declined.json(&decline()).send().await.unwrap().status().is_success());
                return (canvas, Sent::Json(json!({ "opId": "matrix:1" })));
            }
            ("GET", "/inbox/patches") => return (String::new(), Sent::Nothing),
            ("POST", "/inbox/patches") => {
                let canvas = self.suggested().await;
                let fields = [("decision", "decline"), ("canvas", canvas.as_str()), ("suggestion", "matrix:1")];
                return (String::new(), form(&fields));
            }
            ("PUT", "/api/canvases/{id}/template") => Sent::Json(json!({ "isTemplate": true })),
            ("PUT", _) => Sent::Json(json!({ "participant": "token:00000000-0000-7000-8000-000000000000" })),
            _ => Sent::Nothing,
        };
        (made_canvas(self.app).await, sent)
    }
}
