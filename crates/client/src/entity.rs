//! Calls on entities and entity types.

use crate::{Client, Result, limit};
use domain::id::EntityId;
use reqwest::Method;
use wire::{
    Page,
    entity::{CreateEntity, Entity, EntityType, UpdateEntity},
};

impl Client {
    /// `GET /api/entities/{id}`
    pub async fn get_entity(&self, id: EntityId) -> Result<Entity> {
        self.get(&["api", "entities", &id.to_string()], &[]).await
    }

    /// `POST /api/entities`. Every call creates another entity.
    pub async fn create_entity(&self, entity: &CreateEntity) -> Result<Entity> {
        self.post(&["api", "entities"], entity).await
    }

    /// `PATCH /api/entities/{id}`. A repeat after a success is refused, because the version has changed.
    pub async fn update_entity(&self, id: EntityId, change: &UpdateEntity) -> Result<Entity> {
        self.send(Method::PATCH, &["api", "entities", &id.to_string()], change, limit::CALL_TIMEOUT).await
    }

    /// `POST /api/entities/{id}/erase`. Can be repeated.
    pub async fn erase_entity(&self, id: EntityId) -> Result<Entity> {
        self.post(&["api", "entities", &id.to_string(), "erase"], &serde_json::json!({})).await
    }

    /// `GET /api/entity-types`, one page.
    pub async fn list_entity_types(&self, cursor: Option<&str>) -> Result<Page<EntityType>> {
        self.get(&["api", "entity-types"], &[("cursor", cursor.map(str::to_owned))]).await
    }
}
