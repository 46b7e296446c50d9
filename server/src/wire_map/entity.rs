//! Converts entities, their types and imports.

use super::json;
use ledger::{
    EntityRecord, EntityTypeRecord, EntityVersionRecord, ImportRecord,
    entity::{self, OfEntity, import},
    entity_type,
};
use wire::entity as wired;

/// Converts an entity type to its JSON type.
pub fn entity_type(record: EntityTypeRecord) -> wired::EntityType {
    wired::EntityType {
        id: record.id,
        slug: record.slug,
        name: record.name,
        fields: record.fields,
        version: record.version,
        created_by: record.created_by,
        created_at: record.created_at,
        updated_at: record.updated_at,
    }
}

/// Converts the body of a request that creates an entity type.
pub fn new_entity_type(body: wired::CreateEntityType) -> entity_type::NewEntityType {
    entity_type::NewEntityType { name: body.name, slug: body.slug, fields: body.fields }
}

/// Converts the body of a request that changes an entity type.
pub fn entity_type_change(body: wired::UpdateEntityType) -> entity_type::EntityTypeChange {
    entity_type::EntityTypeChange { version: body.version, name: body.name, fields: body.fields }
}

/// Converts an entity to its JSON type.
pub fn entity(record: EntityRecord) -> wired::Entity {
    wired::Entity {
        id: record.id,
        type_id: record.type_id,
        type_slug: record.type_slug,
        title: record.title,
        fields: record.fields,
        version: record.version,
        created_by: record.created_by,
        updated_by: record.updated_by,
        created_at: record.created_at,
        updated_at: record.updated_at,
        erased_at: record.erased_at,
    }
}

/// Converts the body of a request that creates an entity.
pub fn new_entity(body: wired::CreateEntity) -> entity::NewEntity {
    entity::NewEntity { type_id: body.type_id, title: body.title, fields: body.fields }
}

/// Converts the body of a request that changes an entity.
pub fn entity_change(body: wired::UpdateEntity) -> entity::EntityChange {
    entity::EntityChange { version: body.version, title: body.title, fields: body.fields }
}

/// Converts a version of an entity to its JSON type.
pub fn entity_version(record: EntityVersionRecord) -> wired::EntityVersion {
    wired::EntityVersion {
        version: record.version,
        title: record.title,
        fields: record.fields,
        actor: record.actor,
        session_id: record.session_id,
        at: record.at,
    }
}

/// A session about an entity.
pub fn entity_session(record: OfEntity) -> wired::EntitySessionSummary {
    let elapsed = record.started_at.zip(record.completed_at).map(|(from, to)| (to - from).num_milliseconds());
    wired::EntitySessionSummary {
        id: record.id,
        task_id: record.action_id,
        task_slug: record.action_slug,
        task_name: record.action_name.unwrap_or(record.title),
        task_output_config: record.output_config.map(json),
        status: record.status,
        started_at: record.started_at,
        completed_at: record.completed_at,
        duration_ms: elapsed.and_then(|ms| u64::try_from(ms).ok()),
        parent_id: record.parent_id,
        error_message: record.error_message,
        child_count: record.child_count,
    }
}

/// Converts the preview of an import.
pub fn import_preview(preview: import::Preview) -> wired::ImportPreview {
    let row = |row: import::PreviewRow| wired::PreviewRow { row: row.row, title: row.title, fields: row.fields };
    wired::ImportPreview {
        columns: preview.columns,
        rows_total: preview.rows_total,
        failed_count: preview.failed_count,
        repeated_count: preview.repeated_count,
        rows: preview.rows.into_iter().map(row).collect(),
        errors: preview.errors,
    }
}

/// Converts an import with its progress.
pub fn import(record: ImportRecord) -> wired::Import {
    wired::Import {
        id: record.id,
        type_id: record.type_id,
        status: record.status,
        columns: record.columns,
        rows_total: record.rows_total,
        rows_done: record.next_row,
        created_count: record.created_count,
        failed_count: record.failed_count,
        errors: record.errors,
        created_by: record.actor,
        created_at: record.created_at,
        updated_at: record.updated_at,
    }
}
