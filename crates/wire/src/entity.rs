//! Entities, their types, versions, sessions and imports.

use crate::Json;
use domain::{
    Timestamp,
    entity::{Column, FieldDef, ImportStatus, RowError},
    id::{ActionId, EntityId, EntityTypeId, ImportId, SessionId},
    session::Status,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A kind of entity.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct EntityType {
    /// UUID of the entity type.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: EntityTypeId,
    /// URL name, unique in the workspace; never changes.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub slug: String,
    /// Display name of one entity.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// In the order shown: `{slug, name, type, required, options, relationType}`. `type` is text, number, select (one
    /// of `options`), date (`YYYY-MM-DD`) or relation (the id of an entity of the type with slug `relationType`).
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::FieldDefinition>))]
    pub fields: Vec<FieldDef>,
    /// Counts its changes, from 1.
    pub version: u64,
    /// Creator: `user:…`, `token:…`, `agent:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// Time of creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When it last changed.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}

/// `POST /api/entity-types`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateEntityType {
    /// 1 to 200 characters.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// Default: derived from the name.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub slug: Option<String>,
    /// At most 50.
    #[serde(default)]
    #[cfg_attr(
        feature = "openapi",
        schema(value_type = Vec<crate::schema::FieldDefinition>, required = false, max_items = 50)
    )]
    pub fields: Vec<FieldDef>,
}

/// `PATCH /api/entity-types/{id}`: absent fields stay.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateEntityType {
    /// The version that was read; another one is refused with `stale_version`.
    pub version: u64,
    /// 1 to 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Name>))]
    pub name: Option<String>,
    /// All fields, in the order shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<crate::schema::FieldDefinition>>, max_items = 50))]
    pub fields: Option<Vec<FieldDef>>,
}

/// A record that work is about.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Entity {
    /// UUID of the entity.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: EntityId,
    /// UUID of its entity type.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub type_id: EntityTypeId,
    /// That type's slug.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub type_slug: String,
    /// What people call it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// Values by field slug; a field without a value is absent.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub fields: Map<String, Value>,
    /// Counts its versions, from 1.
    pub version: u64,
    /// Creator: `user:…`, `token:…`, `agent:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// Who wrote the newest version.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub updated_by: String,
    /// Time of creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When the newest version was written.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
    /// When the title and the values of all versions were erased, by `updatedBy`. Absent unless they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub erased_at: Option<Timestamp>,
}

/// `POST /api/entities`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateEntity {
    /// An entity type of the workspace.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub type_id: EntityTypeId,
    /// 1 to 300 characters on one line.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::RecordTitle))]
    pub title: String,
    /// Values by field slug.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Object, required = false))]
    pub fields: Map<String, Value>,
}

/// `PATCH /api/entities/{id}`: absent fields stay, `null` clears one.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateEntity {
    /// The version that was read; another one is refused with `stale_version`.
    pub version: u64,
    /// 1 to 300 characters on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::RecordTitle>))]
    pub title: Option<String>,
    /// Values by field slug.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Object, required = false))]
    pub fields: Map<String, Value>,
}

/// What an entity was, from one write to the next.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct EntityVersion {
    /// From 1.
    pub version: u64,
    /// The title then.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// The values then.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub fields: Map<String, Value>,
    /// Who wrote it: `user:…`, `token:…`, `agent:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub actor: String,
    /// Session that wrote the version, if a session did.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub session_id: Option<SessionId>,
    /// Time at which the version was written.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
}

/// `GET /api/entities/{id}/sessions`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct EntitySessions {
    /// Newest first.
    pub sessions: Vec<EntitySessionSummary>,
}

/// A session about an entity, in brief.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct EntitySessionSummary {
    /// UUID of the session.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: SessionId,
    /// The action it executes.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub task_id: Option<ActionId>,
    /// That action's slug.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub task_slug: Option<String>,
    /// Name of that action, or the title of a session without an action.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub task_name: String,
    /// That action's output contract.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub task_output_config: Option<Json>,
    /// Status of the session, one of ten.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SessionStatus))]
    pub status: Status,
    /// When it was first claimed or begun.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub started_at: Option<Timestamp>,
    /// When it became final.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub completed_at: Option<Timestamp>,
    /// From start to end; absent until it ended.
    pub duration_ms: Option<u64>,
    /// The session that started it.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub parent_id: Option<SessionId>,
    /// Error of the session, if it failed.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub error_message: Option<String>,
    /// Sessions it started.
    pub child_count: u32,
}

/// `POST /api/entity-types/{id}/imports?dryRun=true`: what an import would do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImportPreview {
    /// The field that each column fills: `{column, field}`, where `field` is a field's slug, `title` or null.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::ImportColumn>))]
    pub columns: Vec<Column>,
    /// Rows of the file, the header not counted.
    pub rows_total: u64,
    /// Rows from which no entity can be created.
    pub failed_count: u64,
    /// Rows that can, but whose title an entity of the type or an earlier row has already. They are made all the same,
    /// so a file that is sent twice is there twice.
    pub repeated_count: u64,
    /// The first rows that can, at most 10.
    pub rows: Vec<PreviewRow>,
    /// What is wrong with the others: `{row, field, message}`, at most 1,000. The header is row 1.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::RowError>))]
    pub errors: Vec<RowError>,
}

/// A row as the entity it would become.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PreviewRow {
    /// As a spreadsheet numbers it.
    pub row: u64,
    /// Title of the entity in this row.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// The values.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub fields: Map<String, Value>,
}

/// `GET /api/imports/{id}`: how far an import has got.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Import {
    /// UUID of the import.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: ImportId,
    /// What its rows become.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub type_id: EntityTypeId,
    /// running, completed or failed.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ImportStatus))]
    pub status: ImportStatus,
    /// What each column fills.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::ImportColumn>))]
    pub columns: Vec<Column>,
    /// Rows of the file, the header not counted.
    pub rows_total: u64,
    /// Rows that are done, from the top.
    pub rows_done: u64,
    /// Number of created entities.
    pub created_count: u64,
    /// Rows it refused.
    pub failed_count: u64,
    /// What was wrong with them: `{row, field, message}`, at most 1,000. The header is row 1.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::RowError>))]
    pub errors: Vec<RowError>,
    /// Who imports: `user:…`, `token:…`, `agent:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// When it was begun.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When it last got on.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}
