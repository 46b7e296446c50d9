//! Paced runs for the matrix.

use crate::prepare::{Maker, Sent};
use serde_json::json;

impl Maker<'_> {
    /// The object and the body of a request about paced runs.
    pub async fn paced_request(&self, method: &str, path: &str) -> (String, Sent) {
        match (method, path) {
            ("POST", "/api/paced-runs") => (String::new(), Sent::Json(json!({ "sessionIds": [self.failed().await] }))),
            _ => (self.paced_run().await, Sent::Nothing),
        }
    }

    /// A paced run of one failed session. Returns its id.
    pub async fn paced_run(&self) -> String {
        let new = json!({ "sessionIds": [self.failed().await] });
        let made = self.owner().post(self.app, "/api/paced-runs", new).await;
        made["id"].as_str().unwrap().to_owned()
    }
}
