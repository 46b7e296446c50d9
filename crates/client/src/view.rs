//! Calls on views, and on links to them.

use crate::{Client, Result, limit};
use domain::id::{ViewId, ViewLinkId};
use reqwest::Method;
use wire::{
    Page,
    response::{CreateViewLink, CreatedViewLink, ViewLinks},
    view::{CreateView, PublishView, UpdateView, View, ViewVersion},
};

impl Client {
    /// `POST /api/views`
    pub async fn create_view(&self, view: &CreateView) -> Result<View> {
        self.post(&["api", "views"], view).await
    }

    /// `GET /api/views`. With a slug the page has that view, or is empty.
    pub async fn list_views(&self, slug: Option<&str>, limit: Option<u32>, cursor: Option<&str>) -> Result<Page<View>> {
        let query = [
            ("slug", slug.map(str::to_owned)),
            ("limit", limit.map(|n| n.to_string())),
            ("cursor", cursor.map(str::to_owned)),
        ];
        self.get(&["api", "views"], &query).await
    }

    /// `GET /api/views/{id}`
    pub async fn get_view(&self, id: ViewId) -> Result<View> {
        self.get(&["api", "views", &id.to_string()], &[]).await
    }

    /// `PATCH /api/views/{id}`
    pub async fn update_view(&self, id: ViewId, change: &UpdateView) -> Result<View> {
        self.send(Method::PATCH, &["api", "views", &id.to_string()], change, limit::CALL_TIMEOUT).await
    }

    /// `DELETE /api/views/{id}`
    pub async fn delete_view(&self, id: ViewId) -> Result<()> {
        self.send(Method::DELETE, &["api", "views", &id.to_string()], &serde_json::json!({}), limit::CALL_TIMEOUT).await
    }

    /// `POST /api/views/{id}/publish`
    pub async fn publish_view(&self, id: ViewId, publish: &PublishView) -> Result<View> {
        self.post(&["api", "views", &id.to_string(), "publish"], publish).await
    }

    /// `POST /api/views/{id}/unpublish`
    pub async fn unpublish_view(&self, id: ViewId) -> Result<View> {
        self.post(&["api", "views", &id.to_string(), "unpublish"], &serde_json::json!({})).await
    }

    /// `GET /api/views/{id}/versions`
    pub async fn view_versions(
        &self,
        id: ViewId,
        limit: Option<u32>,
        cursor: Option<&str>,
    ) -> Result<Page<ViewVersion>> {
        let query = [("limit", limit.map(|n| n.to_string())), ("cursor", cursor.map(str::to_owned))];
        self.get(&["api", "views", &id.to_string(), "versions"], &query).await
    }
}

impl Client {
    /// `POST /api/views/{id}/links`. Only this answer contains the secret.
    pub async fn create_view_link(&self, view_id: ViewId, link: &CreateViewLink) -> Result<CreatedViewLink> {
        self.post(&["api", "views", &view_id.to_string(), "links"], link).await
    }

    /// `GET /api/views/{id}/links`
    pub async fn view_links(&self, view_id: ViewId) -> Result<ViewLinks> {
        self.get(&["api", "views", &view_id.to_string(), "links"], &[]).await
    }

    /// `DELETE /api/view-links/{id}`
    pub async fn revoke_view_link(&self, id: ViewLinkId) -> Result<()> {
        self.send(Method::DELETE, &["api", "view-links", &id.to_string()], &serde_json::json!({}), limit::CALL_TIMEOUT)
            .await
    }
}
