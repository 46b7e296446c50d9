//! Calls on causes of failures.

use crate::{Client, Result};
use domain::{
    Timestamp,
    failure::cause::{CauseState, Window},
    id::CauseId,
};
use wire::{
    Page,
    failure_cause::{CauseRunAgain, CausedFailure, FailureCause, FailureCauses, RunCauseAgain, SnoozeCause},
};

/// Filter of a list of causes. Absent fields do not filter.
#[derive(Debug, Clone, Default)]
pub struct CauseFilter {
    /// Time range in which failures are counted.
    pub window: Option<Window>,
    /// Beginning of the range, in place of a name.
    pub since: Option<Timestamp>,
    /// End of the range.
    pub until: Option<Timestamp>,
    /// State of the causes.
    pub state: Option<CauseState>,
    /// `nextCursor` of the previous page.
    pub cursor: Option<String>,
}

impl Client {
    /// `GET /api/failure-causes`
    pub async fn list_failure_causes(&self, filter: &CauseFilter) -> Result<FailureCauses> {
        let query = [
            ("window", filter.window.map(|window| window.to_string())),
            ("since", filter.since.map(|since| since.to_rfc3339())),
            ("until", filter.until.map(|until| until.to_rfc3339())),
            ("state", filter.state.map(|state| state.to_string())),
            ("cursor", filter.cursor.clone()),
        ];
        self.get(&["api", "failure-causes"], &query).await
    }

    /// `GET /api/failure-causes/{id}`, with the failures of a time range counted.
    pub async fn get_failure_cause(&self, id: CauseId, window: Option<Window>) -> Result<FailureCause> {
        let query = [("window", window.map(|window| window.to_string()))];
        self.get(&["api", "failure-causes", &id.to_string()], &query).await
    }

    /// `GET /api/failure-causes/{id}/sessions`
    pub async fn list_failures_of_cause(&self, id: CauseId, cursor: Option<&str>) -> Result<Page<CausedFailure>> {
        let query = [("cursor", cursor.map(str::to_owned))];
        self.get(&["api", "failure-causes", &id.to_string(), "sessions"], &query).await
    }

    /// `POST /api/failure-causes/{id}/acknowledge`. Can be repeated.
    pub async fn acknowledge_failure_cause(&self, id: CauseId) -> Result<FailureCause> {
        self.decide_cause(id, "acknowledge").await
    }

    /// `POST /api/failure-causes/{id}/snooze`. Can be repeated.
    pub async fn snooze_failure_cause(&self, id: CauseId, until: Timestamp) -> Result<FailureCause> {
        self.post(&["api", "failure-causes", &id.to_string(), "snooze"], &SnoozeCause { until }).await
    }

    /// `POST /api/failure-causes/{id}/resolve`. Can be repeated.
    pub async fn resolve_failure_cause(&self, id: CauseId) -> Result<FailureCause> {
        self.decide_cause(id, "resolve").await
    }

    /// `POST /api/failure-causes/{id}/reopen`. Can be repeated.
    pub async fn reopen_failure_cause(&self, id: CauseId) -> Result<FailureCause> {
        self.decide_cause(id, "reopen").await
    }

    async fn decide_cause(&self, id: CauseId, decision: &str) -> Result<FailureCause> {
        self.post(&["api", "failure-causes", &id.to_string(), decision], &serde_json::json!({})).await
    }

    /// `POST /api/failure-causes/{id}/run-again`. Can be repeated: no session is run again twice.
    pub async fn run_failure_cause_again(&self, id: CauseId, request: &RunCauseAgain) -> Result<CauseRunAgain> {
        self.post(&["api", "failure-causes", &id.to_string(), "run-again"], request).await
    }
}
