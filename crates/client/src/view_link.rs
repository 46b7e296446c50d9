//! Calls on links to forms.

use crate::{Client, Result, limit};
use domain::id::{ViewId, ViewLinkId};
use reqwest::Method;
use wire::response::{CreateViewLink, CreatedViewLink, ViewLinks};

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
