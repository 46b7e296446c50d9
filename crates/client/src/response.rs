//! Calls on responses to views.

use crate::{Client, Error, Result};
use domain::id::{SessionId, ViewId};
use wire::{
    Page,
    response::{PromoteResponse, Response, SubmitInteraction, SubmittedInteraction},
};

/// Which responses to a view to return. All fields are optional.
#[derive(Debug, Clone, Default)]
pub struct ResponseFilter {
    /// `draft`, `submitted`, `promoted` or `abandoned`.
    pub status: Option<String>,
    /// Version of the view.
    pub version: Option<u64>,
    /// Time (RFC 3339) of the first save or later.
    pub created_from: Option<String>,
    /// Time (RFC 3339) before which the first save was.
    pub created_before: Option<String>,
    /// Most items on the page; the server's default if absent.
    pub limit: Option<u32>,
    /// `nextCursor` of the previous page.
    pub cursor: Option<String>,
}

impl ResponseFilter {
    fn query(&self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("status", self.status.clone()),
            ("version", self.version.map(|n| n.to_string())),
            ("createdFrom", self.created_from.clone()),
            ("createdBefore", self.created_before.clone()),
        ]
    }
}

impl Client {
    /// `GET /api/views/{id}/responses`
    pub async fn view_responses(&self, view_id: ViewId, filter: &ResponseFilter) -> Result<Page<Response>> {
        let mut query = filter.query();
        query.extend([("limit", filter.limit.map(|n| n.to_string())), ("cursor", filter.cursor.clone())]);
        self.get(&["api", "views", &view_id.to_string(), "responses"], &query).await
    }

    /// `GET /api/views/{id}/responses.csv`. `each` gets the pieces of the file in order; `limit` and `cursor` of the
    /// filter are ignored. With `bom` the file begins with a byte order mark.
    ///
    /// # Errors
    /// What `each` returns, or an error of the call. The file is incomplete then.
    pub async fn view_responses_csv<E: From<Error>>(
        &self,
        view_id: ViewId,
        filter: &ResponseFilter,
        bom: bool,
        each: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut query = filter.query();
        query.push(("bom", bom.then(|| "true".to_owned())));
        self.download(&["api", "views", &view_id.to_string(), "responses.csv"], &query, each).await
    }

    /// `GET /api/responses/{id}`
    pub async fn get_response(&self, id: SessionId) -> Result<Response> {
        self.get(&["api", "responses", &id.to_string()], &[]).await
    }

    /// `POST /api/views/{id}/submit-interaction`. Can be repeated with the same submission id.
    pub async fn submit_interaction(
        &self,
        view_id: ViewId,
        answers: &SubmitInteraction,
    ) -> Result<SubmittedInteraction> {
        self.post(&["api", "views", &view_id.to_string(), "submit-interaction"], answers).await
    }

    /// `POST /api/responses/{id}/promote`
    pub async fn promote_response(&self, id: SessionId, to: &PromoteResponse) -> Result<Response> {
        self.post(&["api", "responses", &id.to_string(), "promote"], to).await
    }
}
