//! Calls on sessions, other than those of workers, and on paced runs.

use crate::{Client, Result};
use domain::{
    id::{ActionId, PacedRunId, SessionId, UserId},
    session::Sort,
};
use wire::{
    Page,
    failure::Failure,
    paced_run::{NewPacedRun, PacedRun, PacedRunDetail},
    session::{
        AssignSession, Cancel, CreateSession, Dependencies, SendSessionMessage, Session, SessionMessageReceipt,
        SupplyToolResults, TagSession,
    },
    session_bulk::{BulkSessions, BulkSessionsResult},
};

/// Filter of a list of sessions. Absent fields do not filter.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    /// `agent`, `response`, `tool` or `mixed`.
    pub session_type: Option<String>,
    /// A status, such as `running`.
    pub status: Option<String>,
    /// Id of the action that the sessions execute.
    pub action_id: Option<ActionId>,
    /// Id of the sessions' parent.
    pub parent_id: Option<SessionId>,
    /// Text that the title contains.
    pub title: Option<String>,
    /// A search line, such as `agent:scout cost>0.5 refund`.
    pub query: Option<String>,
    /// IANA name of the time zone of the query's days; UTC if absent.
    pub timezone: Option<String>,
    /// Order of the list; newest first if absent.
    pub sort: Option<Sort>,
    /// Most items on the page; the server's default if absent.
    pub limit: Option<u32>,
    /// `nextCursor` of the previous page.
    pub cursor: Option<String>,
}

impl Client {
    /// `POST /api/sessions`. Can be repeated with an idempotency key.
    pub async fn create_session(&self, session: &CreateSession) -> Result<Session> {
        self.post(&["api", "sessions"], session).await
    }

    /// `GET /api/sessions`
    pub async fn list_sessions(&self, filter: &SessionFilter) -> Result<Page<Session>> {
        let query = [
            ("type", filter.session_type.clone()),
            ("status", filter.status.clone()),
            ("actionId", filter.action_id.map(|id| id.to_string())),
            ("parentId", filter.parent_id.map(|id| id.to_string())),
            ("title", filter.title.clone()),
            ("q", filter.query.clone()),
            ("timezone", filter.timezone.clone()),
            ("sort", filter.sort.map(|sort| sort.as_str().to_owned())),
            ("limit", filter.limit.map(|n| n.to_string())),
            ("cursor", filter.cursor.clone()),
        ];
        self.get(&["api", "sessions"], &query).await
    }

    /// `GET /api/sessions/{id}`
    pub async fn get_session(&self, id: SessionId) -> Result<Session> {
        self.get(&["api", "sessions", &id.to_string()], &[]).await
    }

    /// `GET /api/sessions/{id}/dependencies`: the sessions that it waits for and those that wait for it.
    pub async fn get_dependencies(&self, id: SessionId) -> Result<Dependencies> {
        self.get(&["api", "sessions", &id.to_string(), "dependencies"], &[]).await
    }

    /// `POST /api/sessions/{id}/cancel`
    pub async fn cancel(&self, id: SessionId, reason: Option<&str>) -> Result<Session> {
        let cancel = Cancel { reason: reason.map(str::to_owned) };
        self.post(&["api", "sessions", &id.to_string(), "cancel"], &cancel).await
    }

    /// `POST /api/sessions/bulk`. Can be repeated: no session is changed twice.
    pub async fn change_sessions(&self, request: &BulkSessions) -> Result<BulkSessionsResult> {
        self.post(&["api", "sessions", "bulk"], request).await
    }

    /// `POST /api/sessions/{id}/tags`. Can be repeated.
    pub async fn tag_session(&self, id: SessionId, tags: &TagSession) -> Result<Session> {
        self.post(&["api", "sessions", &id.to_string(), "tags"], tags).await
    }

    /// `POST /api/sessions/{id}/assignee`: to a member of the workspace, or to no one. Can be repeated.
    pub async fn assign_session(&self, id: SessionId, to: Option<UserId>) -> Result<Session> {
        self.post(&["api", "sessions", &id.to_string(), "assignee"], &AssignSession { user_id: to }).await
    }

    /// `POST /api/sessions/{id}/messages`
    pub async fn send_session_message(
        &self,
        id: SessionId,
        message: &SendSessionMessage,
    ) -> Result<SessionMessageReceipt> {
        self.post(&["api", "sessions", &id.to_string(), "messages"], message).await
    }

    /// `POST /api/sessions/{id}/tool-results`
    pub async fn supply_tool_results(&self, id: SessionId, results: &SupplyToolResults) -> Result<Session> {
        self.post(&["api", "sessions", &id.to_string(), "tool-results"], results).await
    }

    /// `GET /api/failures`. `state` is `open` or `acknowledged`; `None` for both.
    pub async fn list_failures(&self, state: Option<&str>, cursor: Option<&str>) -> Result<Page<Failure>> {
        let query = [("state", state.map(str::to_owned)), ("cursor", cursor.map(str::to_owned))];
        self.get(&["api", "failures"], &query).await
    }

    /// `POST /api/failures/{id}/acknowledge`. Can be repeated: the first acknowledgement counts.
    pub async fn acknowledge_failure(&self, session_id: SessionId) -> Result<Failure> {
        self.post(&["api", "failures", &session_id.to_string(), "acknowledge"], &serde_json::json!({})).await
    }

    /// `POST /api/sessions/{id}/retry`: creates a session like this one. Every call creates another.
    pub async fn retry(&self, id: SessionId) -> Result<Session> {
        self.post(&["api", "sessions", &id.to_string(), "retry"], &serde_json::json!({})).await
    }
}

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
