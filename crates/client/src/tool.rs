//! Calls on tools.

use crate::{Client, Result, limit};
use domain::tool::Secret;
use reqwest::Method;
use serde_json::json;
use std::time::Duration;
use wire::{
    Page,
    tool::{CreateTool, PublishTool, Tool, ToolSecrets, ToolVersion, UpdateTool},
    tool_run::{RunTool, ToolRun},
};

impl Client {
    /// `POST /api/tools`
    pub async fn create_tool(&self, tool: &CreateTool) -> Result<Tool> {
        self.post(&["api", "tools"], tool).await
    }

    /// `GET /api/tools`
    pub async fn list_tools(&self, limit: Option<u32>, cursor: Option<&str>) -> Result<Page<Tool>> {
        let query = [("limit", limit.map(|n| n.to_string())), ("cursor", cursor.map(str::to_owned))];
        self.get(&["api", "tools"], &query).await
    }

    /// `GET /api/tools/{slug}`
    pub async fn get_tool(&self, slug: &str) -> Result<Tool> {
        self.get(&["api", "tools", slug], &[]).await
    }

    /// `PATCH /api/tools/{slug}`
    pub async fn update_tool(&self, slug: &str, change: &UpdateTool) -> Result<Tool> {
        self.send(Method::PATCH, &["api", "tools", slug], change, limit::CALL_TIMEOUT).await
    }

    /// `DELETE /api/tools/{slug}`
    pub async fn delete_tool(&self, slug: &str) -> Result<()> {
        self.send(Method::DELETE, &["api", "tools", slug], &json!({}), limit::CALL_TIMEOUT).await
    }

    /// `POST /api/tools/{slug}/publish`
    pub async fn publish_tool(&self, slug: &str, publish: &PublishTool) -> Result<Tool> {
        self.post(&["api", "tools", slug, "publish"], publish).await
    }

    /// `POST /api/tools/{slug}/run`. Can be repeated with an idempotency key.
    pub async fn run_tool(&self, slug: &str, run: &RunTool) -> Result<ToolRun> {
        let wait = Duration::from_secs(u64::from(run.wait_seconds.unwrap_or_default()));
        self.send(Method::POST, &["api", "tools", slug, "run"], run, wait + limit::CALL_TIMEOUT).await
    }

    /// `POST /api/tools/{slug}/unpublish`
    pub async fn unpublish_tool(&self, slug: &str) -> Result<Tool> {
        self.post(&["api", "tools", slug, "unpublish"], &json!({})).await
    }

    /// `GET /api/tools/{slug}/versions`
    pub async fn tool_versions(
        &self,
        slug: &str,
        limit: Option<u32>,
        cursor: Option<&str>,
    ) -> Result<Page<ToolVersion>> {
        let query = [("limit", limit.map(|n| n.to_string())), ("cursor", cursor.map(str::to_owned))];
        self.get(&["api", "tools", slug, "versions"], &query).await
    }

    /// `GET /api/tools/{slug}/secrets`
    pub async fn tool_secrets(&self, slug: &str) -> Result<ToolSecrets> {
        self.get(&["api", "tools", slug, "secrets"], &[]).await
    }

    /// `PUT /api/tools/{slug}/secrets/{name}`
    pub async fn set_tool_secret(
        &self,
        slug: &str,
        name: &str,
        (value, version): (&Secret, Option<u64>),
    ) -> Result<ToolSecrets> {
        let body = json!({ "value": value.expose(), "version": version });
        self.send(Method::PUT, &["api", "tools", slug, "secrets", name], &body, limit::CALL_TIMEOUT).await
    }

    /// `DELETE /api/tools/{slug}/secrets/{name}`
    pub async fn delete_tool_secret(&self, slug: &str, name: &str) -> Result<()> {
        self.send(Method::DELETE, &["api", "tools", slug, "secrets", name], &json!({}), limit::CALL_TIMEOUT).await
    }
}
