//! Canvases: documents that people and agents edit together.

use crate::{FieldProblem, Json};
use domain::{
    Timestamp,
    canvas::{Operation, ParticipantRole, Path, Reason, SuggestionState},
    id::{ActionId, EntityId, SessionId},
    session::Status,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `POST /api/canvases`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateCanvas {
    /// Title of the canvas.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// First document, at most 64 KiB. Default: an empty object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>, required = false))]
    pub document: Option<Value>,
    /// Canvas whose newest document is the first one. Not together with `document`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>, required = false))]
    pub from_canvas: Option<SessionId>,
    /// Entity whose fields are the first blocks. Not together with `document` or `fromCanvas`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>, required = false))]
    pub from_entity: Option<EntityId>,
    /// Session whose result is the first document, or the first block if it is no object. It is one that everyone in
    /// the workspace can see. Not together with `document`, `fromCanvas` or `fromEntity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>, required = false))]
    pub from_session: Option<SessionId>,
    /// JSON Schema that every version must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>, required = false))]
    pub schema: Option<Value>,
    /// A request with the same key is answered with the same canvas, as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Key>))]
    pub idempotency_key: Option<String>,
}

/// A canvas at its newest version.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Canvas {
    /// UUID of the canvas and of its session.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: SessionId,
    /// Title of the canvas.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// `running` until it has ended; `completed` at its final version, or `abandoned`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SessionStatus))]
    pub status: Status,
    /// The newest version: sequence of the event of its newest patch.
    pub version: u64,
    /// Content at that version.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub document: Json,
    /// JSON Schema that every version must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub schema: Option<Json>,
    /// Number of patches.
    pub patches: u64,
    /// Whether it is a template of the workspace.
    #[serde(default)]
    pub is_template: bool,
    /// The caller's role. Absent for callers who can only read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::CanvasRole>))]
    pub role: Option<ParticipantRole>,
    /// Session of the task that wrote the canvas to its entity last, or waits for approval to do so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub write_back_id: Option<SessionId>,
    /// Creator: `user:…` or `token:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// Time of creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Time of the newest patch.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub changed_at: Timestamp,
}

/// `PUT /api/canvases/{id}/template`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PutTemplate {
    /// Whether the canvas is a template of the workspace.
    pub is_template: bool,
}

/// `GET /api/canvases/templates`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CanvasTemplates {
    /// The templates by title.
    pub templates: Vec<CanvasSummary>,
}

/// `POST /api/canvases/{id}/complete`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompleteCanvas {
    /// Task that writes the changed fields to the entity with which the canvas began. Its output is fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>, required = false))]
    pub action_id: Option<ActionId>,
}

/// A canvas in a list.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CanvasSummary {
    /// UUID of the canvas and of its session.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: SessionId,
    /// Title of the canvas.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// `running` until it has ended.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SessionStatus))]
    pub status: Status,
    /// The newest version.
    pub version: u64,
    /// Number of patches.
    pub patches: u64,
    /// Whether it is a template of the workspace.
    #[serde(default)]
    pub is_template: bool,
    /// Creator: `user:…` or `token:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// Time of creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Time of the newest patch.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub changed_at: Timestamp,
}

/// `GET /api/canvases/{id}/state`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CanvasState {
    /// Version of the document.
    pub version: u64,
    /// Content at that version.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub document: Value,
}

/// `POST /api/canvases/{id}/patches`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendPatch {
    /// Id that the client makes, unique in the canvas. Ids with the same text before the last colon belong to one
    /// client.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Key))]
    pub op_id: String,
    /// Version that the client saw.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Sequence))]
    pub base: u64,
    /// Operations in order: at most 64 that write, and as many tests.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::CanvasOperation>, min_items = 1, max_items = 128))]
    pub ops: Vec<Value>,
    /// Whether the patch is rejected unless `base` is the newest version. Positions in arrays and the whole document
    /// change only by such a patch.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub strict: bool,
}

/// The answer to `POST /api/canvases/{id}/patches`: the accepted patch, or the reason why it was rejected.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PatchAnswer {
    /// The patch as it was applied. A text of which two changes were joined is the joined one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<CanvasPatch>,
    /// State of the suggestion, if an editor decides about it or declined it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::CanvasSuggestionState>))]
    pub suggested: Option<SuggestionState>,
    /// Why it was not applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<CanvasRejection>,
    /// The newest version. A suggestion has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<u64>,
}

/// A patch that was accepted.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CanvasPatch {
    /// Sequence of its event, which is the version that it made.
    pub sequence: u64,
    /// Version on which it was applied. A client that has another one reads the patches between.
    pub previous: u64,
    /// Id that its author gave it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Key))]
    pub op_id: String,
    /// Its author: `user:…` or `token:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub by: String,
    /// Its operations.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::CanvasOperation>))]
    pub ops: Vec<Operation>,
    /// Changes of others that it replaced.
    pub overwrote: Vec<CanvasChange>,
    /// Time it was accepted. The answer to the request that sends it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub at: Option<Timestamp>,
}

/// A change of one value.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CanvasChange {
    /// JSON Pointer of the value.
    #[cfg_attr(feature = "openapi", schema(value_type = String, max_length = 65_536))]
    pub path: Path,
    /// Version that set it.
    pub sequence: u64,
    /// Id of the patch that set it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Key))]
    pub op_id: String,
    /// Author of that patch.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub by: String,
}

/// Why a patch was rejected.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CanvasRejection {
    /// Why it is rejected.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::CanvasReason))]
    pub reason: Reason,
    /// Position of the operation in `ops`.
    pub operation: u64,
    /// JSON Pointer of its value.
    #[cfg_attr(feature = "openapi", schema(value_type = String, max_length = 65_536))]
    pub path: Path,
    /// The value that is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson, required = false))]
    pub kept: Option<Value>,
    /// The change that the author had not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<CanvasChange>,
    /// How the document would violate its schema.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
}

/// `GET /api/canvases/{id}/patches`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CanvasPatches {
    /// Patches, oldest first.
    pub patches: Vec<CanvasPatch>,
    /// The newest version.
    pub head: u64,
    /// Whether there are more after the last one.
    pub has_more: bool,
}

/// `PUT /api/canvases/{id}/participants`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PutParticipant {
    /// `user:` or `token:` and the id of a member or token of the workspace, or `agent:` and the slug of an agent that
    /// the server runs.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Key))]
    pub participant: String,
    /// Their role. Without it the participant is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::CanvasRole>, required = false))]
    pub role: Option<ParticipantRole>,
}

/// A person or token with a role in a canvas.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CanvasParticipant {
    /// `user:…`, `token:…` or `agent:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub participant: String,
    /// Whether they edit, suggest or only read.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::CanvasRole))]
    pub role: ParticipantRole,
    /// Who added them.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub added_by: String,
    /// Time they were added.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub added_at: Timestamp,
}

/// The participants of a canvas. Its creator edits it too and is among them only if added.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CanvasParticipants {
    /// In the order of their names.
    pub participants: Vec<CanvasParticipant>,
}

/// `POST /api/canvases/{id}/presence`: where the caller is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MarkPresence {
    /// Id of the block, at most 200 bytes. Without it the caller is at none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required = false, min_length = 1, max_length = 200))]
    pub block: Option<String>,
    /// The selected part of its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub selection: Option<CanvasSelection>,
    /// Whether the caller leaves the canvas.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub leaves: bool,
}

/// A range of the text of a block, in UTF-16 units, as browsers count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CanvasSelection {
    /// Where it begins.
    #[cfg_attr(feature = "openapi", schema(maximum = 262_144))]
    pub start: u32,
    /// Where it ends, not before `start`; the same for a caret.
    #[cfg_attr(feature = "openapi", schema(maximum = 262_144))]
    pub end: u32,
}

/// Where a participant is; also the data of a follower's `presence` event.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CanvasPresence {
    /// `user:…`, `token:…` or `agent:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub by: String,
    /// Their name.
    #[cfg_attr(feature = "openapi", schema(max_length = 80))]
    pub name: String,
    /// Id of the block; absent if they are at none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 200))]
    pub block: Option<String>,
    /// The selected part of its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<CanvasSelection>,
    /// Whether they have left the canvas.
    pub left: bool,
}

/// The answer to `POST /api/canvases/{id}/presence`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CanvasPresences {
    /// Those who are on the canvas as far as this server knows, with the caller, in the order of their ids.
    pub peers: Vec<CanvasPresence>,
    /// Whether the report was sent. One within 100 ms of the last one is not: send it again.
    pub sent: bool,
}
