//! Training telemetry of a workspace.

use domain::Timestamp;
use serde::{Deserialize, Serialize};

/// Whether the workspace shares anonymous numbers about the usefulness of memories for training.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Telemetry {
    /// The answer; `null` if no one has answered. After seven days a missing answer is `false`.
    pub enabled: Option<bool>,
    /// Whether the operator of the installation forbids it. Then nothing is shared.
    pub is_forbidden: bool,
    /// Time of the newest request of an agent (UTC).
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub last_prompted_at: Option<Timestamp>,
    /// Time from which the seven days count.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub installed_at: Timestamp,
}

/// `POST /api/telemetry/opt-in`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerTelemetry {
    /// Whether numbers are shared. A token cannot answer `true` after `false`.
    pub enabled: bool,
}
