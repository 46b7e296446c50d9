//! Paced runs for the matrix.

use crate::prepare::{Maker, Sent, in_an_hour};
use serde_json::{Value, json};

impl Maker<'_> {
    /// The object and the body of a request about paced runs.
    pub async fn paced_request(&self, method: &str, path: &str) -> (String, Sent) {
        match (method, path) {
            ("POST", "/api/paced-runs") => (String::new(), Sent::Json(self.new_paced_run().await)),
            _ => (self.paced_run().await, Sent::Nothing),
        }
    }

    /// A paced run of one failed session. Returns its id.
    pub async fn paced_run(&self) -> String {
        let new = self.new_paced_run().await;
        let made = self.owner().post(self.app, "/api/paced-runs", new).await;
        made["id"].as_str().unwrap().to_owned()
    }

    /// A paced run that begins later: one that has begun changes by itself.
    async fn new_paced_run(&self) -> Value {
        json!({ "sessionIds": [self.failed().await], "startAt": in_an_hour()["until"] })
    }
}
