//! Sessions, from outside.

use crate::{Client, Result};
use wire::{
    Page,
    failure::Failure,
    session::{Cancel, CreateSession, Dependencies, Session},
};

/// Which sessions to list. Absent means any.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    /// `agent`, `response`, `tool` or `mixed`.
    pub session_type: Option<String>,
    /// One of the ten statuses.
    pub status: Option<String>,
    /// Of this action.
    pub action_id: Option<String>,
    /// Children of this session.
    pub parent_id: Option<String>,
    /// Whose title contains this.
    pub title: Option<String>,
    /// Items on the page; the server's default when absent.
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    pub cursor: Option<String>,
}

impl Client {
    /// `POST /api/sessions`. Safe to repeat with an idempotency key.
    pub async fn create_session(&self, session: &CreateSession) -> Result<Session> {
        self.post(&["api", "sessions"], session).await
    }

    /// `GET /api/sessions`
    pub async fn list_sessions(&self, filter: &SessionFilter) -> Result<Page<Session>> {
        let query = [
            ("type", filter.session_type.clone()),
            ("status", filter.status.clone()),
            ("actionId", filter.action_id.clone()),
            ("parentId", filter.parent_id.clone()),
            ("title", filter.title.clone()),
            ("limit", filter.limit.map(|n| n.to_string())),
            ("cursor", filter.cursor.clone()),
        ];
        self.get(&["api", "sessions"], &query).await
    }

    /// `GET /api/sessions/{id}`
    pub async fn get_session(&self, id: &str) -> Result<Session> {
        self.get(&["api", "sessions", id], &[]).await
    }

    /// `GET /api/sessions/{id}/dependencies`: what it waits for, and what waits for it.
    pub async fn get_dependencies(&self, id: &str) -> Result<Dependencies> {
        self.get(&["api", "sessions", id, "dependencies"], &[]).await
    }

    /// `POST /api/sessions/{id}/cancel`
    pub async fn cancel(&self, id: &str, reason: Option<&str>) -> Result<Session> {
        let cancel = Cancel { reason: reason.map(str::to_owned) };
        self.post(&["api", "sessions", id, "cancel"], &cancel).await
    }

    /// `GET /api/failures`, `open` or `acknowledged` ones, or both.
    pub async fn list_failures(&self, state: Option<&str>, cursor: Option<&str>) -> Result<Page<Failure>> {
        let query = [("state", state.map(str::to_owned)), ("cursor", cursor.map(str::to_owned))];
        self.get(&["api", "failures"], &query).await
    }

    /// `POST /api/failures/{id}/acknowledge`. Safe to repeat: the first one stands.
    pub async fn acknowledge_failure(&self, session_id: &str) -> Result<Failure> {
        self.post(&["api", "failures", session_id, "acknowledge"], &serde_json::json!({})).await
    }

    /// `POST /api/sessions/{id}/retry`: a new session that repeats this one. Every call makes another.
    pub async fn retry(&self, id: &str) -> Result<Session> {
        self.post(&["api", "sessions", id, "retry"], &serde_json::json!({})).await
    }
}
