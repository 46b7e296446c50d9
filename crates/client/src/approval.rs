//! Calls on approvals.

use crate::{Client, Result};
use wire::{Page, approval::Approval};

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
}
