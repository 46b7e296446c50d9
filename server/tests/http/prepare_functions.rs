//! For each server function: the arguments of a call that succeeds for those who may.

use crate::prepare::{Maker, Sent, form};
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};

impl Maker<'_> {
    /// The query of a function that is called with GET, and what is sent to the others.
    pub async fn function(&self, path: &str) -> (String, Sent) {
        let nothing = String::new;
        match path {
            "/fn/action/trigger" => (nothing(), form(&[("action_id", &self.action().await), ("input", "x")])),
            "/fn/chat/end" => (nothing(), form(&[("session_id", &self.thread(false).await)])),
            "/fn/chat/interrupt" => (nothing(), form(&[("session_id", &self.thread(true).await)])),
            "/fn/chat/send" => (nothing(), form(&[("session_id", &self.thread(false).await), ("text", "x")])),
            "/fn/chat/start" => (nothing(), form(&[("agent", "matrix"), ("message", "Hello")])),
            "/fn/export/start" => {
                self.no_export_runs().await;
                (nothing(), form(&[("step", "preview"), ("format", "sft"), ("fileType", "jsonl")]))
            }
            "/fn/export/stop" => (nothing(), form(&[("export_id", &self.export().await)])),
            "/fn/session/acknowledge" | "/fn/session/retry" => {
                (nothing(), form(&[("session_id", &self.failed().await)]))
            }
            "/fn/session/cancel" => (nothing(), form(&[("session_id", &self.running().await), ("reason", "x")])),
            "/fn/session/dismiss-rating" | "/fn/session/undo-rating" => {
                (nothing(), form(&[("session_id", &self.completed().await)]))
            }
            "/fn/session/promote" => {
                let to = format!("type:{}", self.entity_type().await.0);
                (nothing(), form(&[("session_id", &self.response().await), ("to", &to), ("title", "Matrix")]))
            }
            "/fn/session/rate" => (nothing(), form(&[("session_id", &self.completed().await), ("label", "positive")])),
            "/fn/settings/theme" => (nothing(), form(&[("theme", "dark")])),
            "/fn/inbox/decide" => {
                let id = self.session_with_question().await.1;
                (nothing(), form(&[("id", &id), ("decision", "respond"), ("answer", "x")]))
            }
            "/fn/inbox/decide-many" => {
                let (_, id, digest) = self.session_with_question().await;
                (nothing(), form(&[("decision", "deny"), ("note", "x"), (&format!("items[{id}]"), &digest)]))
            }
            "/fn/inbox/questions-off" => {
                let id = self.session_with_question().await.1;
                (nothing(), form(&[("id", &id)]))
            }
            "/fn/inbox/snooze" => {
                let id = self.session_with_question().await.1;
                (nothing(), form(&[("until", "later"), (&format!("items[{id}]"), "")]))
            }
            "/fn/inbox/undo" => {
                let id = self.answered().await.0;
                (nothing(), form(&[(&format!("items[{id}]"), "")]))
            }
            "/fn/working-on/active" => (nothing(), Sent::Nothing),
            "/fn/working-on/create" => (nothing(), form(&[("name", "Matrix")])),
            "/fn/working-on/marker" => {
                let marker = json!({
                    "session_id": self.at_work().await, "event_id": fresh_uuid(), "at": "2026-01-02T03:04:05Z", "text": "x"
                });
                (nothing(), Sent::Json(json!({ "marker": marker })))
            }
            "/fn/working-on/record" => {
                let append = json!({ "events": [{ "type": "human.navigate", "metadata": { "pathname": "/today" } }] });
                let arguments = json!({ "session_id": self.at_work().await, "append": append.to_string() });
                (nothing(), Sent::Json(arguments))
            }
            "/fn/working-on/start" => (nothing(), form(&[("task_id", &self.action().await)])),
            "/fn/working-on/stop" => (nothing(), form(&[("session_id", &self.at_work().await)])),
            "/fn/working-on/tasks" => ("?name_contains=matrix".to_owned(), Sent::Nothing),
            _ => panic!("no call is prepared for {path}"),
        }
    }
}

/// A UUIDv7 that no call before has used.
pub fn fresh_uuid() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("01890a5d-ac96-774b-bcce-{:012x}", NEXT.fetch_add(1, Ordering::Relaxed))
}
