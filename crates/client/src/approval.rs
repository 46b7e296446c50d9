//! Calls on approvals.

use crate::{Client, Result};
use domain::{Timestamp, id::GateId};
use wire::{
    Page,
    approval::{Approval, HandOver, Snooze},
};

impl Client {
    /// `GET /api/approvals`, one page of the open ones of a kind, whoever may decide them.
    pub async fn list_open_approvals(&self, kind: &str, cursor: Option<&str>) -> Result<Page<Approval>> {
        let query = [
            ("kind", Some(kind.to_owned())),
            ("assignedTo", Some("all".to_owned())),
            ("limit", Some("1000".to_owned())),
            ("cursor", cursor.map(str::to_owned)),
        ];
        self.get(&["api", "approvals"], &query).await
    }

    /// `POST /api/approvals/{id}/snooze`: hides it from the caller until then; `None` shows it again.
    pub async fn snooze_approval(&self, id: GateId, until: Option<Timestamp>) -> Result<Approval> {
        let snooze = Snooze { seconds: None, until };
        self.post(&["api", "approvals", &id.to_string(), "snooze"], &snooze).await
    }

    /// `POST /api/approvals/{id}/hand-over`: `to` is `user:…` with an id or `group:…` with a slug. Can be repeated.
    pub async fn hand_over_approval(&self, id: GateId, to: &str, note: Option<&str>) -> Result<Approval> {
        let request = HandOver { to: to.to_owned(), note: note.map(str::to_owned) };
        self.post(&["api", "approvals", &id.to_string(), "hand-over"], &request).await
    }
}
