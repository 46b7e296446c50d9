//! Canvases for the matrix. The admin who is signed in makes them, and no one else takes part.

use crate::{
    app::App,
    prepare::{Maker, Sent, form},
};
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

impl Maker<'_> {
    /// The object and the body of a request about canvases.
    pub async fn canvas(&self, method: &str, path: &str) -> (String, Sent) {
        let sent = match (method, path) {
            ("GET", "/api/canvases" | "/canvases") => return (String::new(), Sent::Nothing),
            ("POST", "/api/canvases") => return (String::new(), Sent::Json(new_canvas())),
            ("POST", "/api/canvases/{id}/patches") => Sent::Json(patch()),
            ("POST", "/canvases") => return (String::new(), form(&[("title", "Matrix")])),
            ("POST", "/canvases/{id}") => {
                form(&[("do", "add"), ("base", "3"), ("key", "matrix"), ("kind", "text"), ("text", "Matrix")])
            }
            ("PUT", _) => Sent::Json(json!({ "participant": "token:00000000-0000-7000-8000-000000000000" })),
            _ => Sent::Nothing,
        };
        (made_canvas(self.app).await, sent)
    }
}
