//! Human sessions: what a person is working on, and the context about it that an agent gets.

use crate::{action::Action, session::Session};
use domain::Timestamp;
use domain::id::{ActionId, SessionId};
use serde::{Deserialize, Serialize};

/// `GET /api/sessions/human/active`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ActiveHuman {
    /// The caller's running working session; null when they work on nothing.
    pub session: Option<Session>,
    /// The task it is about; absent without a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Action>,
}

/// `POST /api/sessions/human/start`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartHuman {
    /// An active action of the workspace.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub task_id: ActionId,
}

/// The answer to a start.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct StartedHuman {
    /// The new session, or the running one when it is about this task already.
    pub session: Session,
    /// Action that the person works on.
    pub task: Action,
    /// The session that ended for it (completed, superseded).
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub superseded: Option<SessionId>,
}

/// `POST /api/sessions/human/stop`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StopHuman {
    /// The caller's own working session. Stopping one that has ended answers with it as it ended.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
}

/// `GET /api/sessions/human/today?timezone=Area/City`: the caller's own working sessions of their local day.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct HumanToday {
    /// Time per task, longest first.
    pub tasks: Vec<TaskTime>,
    /// The sessions themselves, newest first, at most 100.
    pub sessions: Vec<Session>,
}

/// Time on one task within the day.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskTime {
    /// Action that the person worked on.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub task_id: ActionId,
    /// Its name.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub title: String,
    /// Time within the day, a running session counted to now.
    pub duration_ms: u64,
    /// Sessions that it was spread over.
    pub sessions: u32,
}

/// `GET /api/sessions/human/recent-activity` as JSON; `Accept: text/plain` answers with `text` alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RecentActivity {
    /// The block for an agent's prompt; null without an active session.
    pub text: Option<String>,
    /// Session that the text is about.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub session_id: Option<SessionId>,
    /// Time at which the text was written.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
}
