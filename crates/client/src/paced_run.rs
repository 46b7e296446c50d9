//! Calls on paced runs.

use crate::{Client, Result};
use domain::id::PacedRunId;
use wire::{
    Page,
    paced_run::{NewPacedRun, PacedRun, PacedRunDetail},
};

impl Client {
    /// `POST /api/paced-runs`. Can be repeated with an idempotency key.
    pub async fn create_paced_run(&self, new: &NewPacedRun) -> Result<PacedRunDetail> {
        self.post(&["api", "paced-runs"], new).await
    }

    /// `GET /api/paced-runs`
    pub async fn list_paced_runs(&self, cursor: Option<&str>) -> Result<Page<PacedRun>> {
        self.get(&["api", "paced-runs"], &[("cursor", cursor.map(str::to_owned))]).await
    }

    /// `GET /api/paced-runs/{id}`
    pub async fn get_paced_run(&self, id: PacedRunId) -> Result<PacedRunDetail> {
        self.get(&["api", "paced-runs", &id.to_string()], &[]).await
    }

    /// `POST /api/paced-runs/{id}/cancel`. Can be repeated.
    pub async fn cancel_paced_run(&self, id: PacedRunId) -> Result<PacedRunDetail> {
        self.post(&["api", "paced-runs", &id.to_string(), "cancel"], &serde_json::json!({})).await
    }
}
