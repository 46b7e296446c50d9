//! The server functions that start and stop an export of training data. Forms post to them.

use super::form::ChoiceFields;
use crate::server_function::{Client, Created, Refusal, backend};
use leptos::prelude::server;

/// What the server does for these functions.
#[async_trait::async_trait]
pub trait ExportBackend: Send + Sync {
    /// See [`start_export`].
    async fn start(&self, step: String, choice: ChoiceFields) -> Result<Created, Refusal>;
    /// See [`stop_export`].
    async fn stop(&self, export_id: String) -> Result<(), Refusal>;
}

/// Starts an export of the workspace. `step` is `preview`, which writes no file, or `export`.
#[server(prefix = "/fn", endpoint = "export/start", client = Client)]
pub async fn start_export(step: String, #[server(flatten)] choice: ChoiceFields) -> Result<Created, Refusal> {
    backend::<dyn ExportBackend>()?.start(step, choice).await
}

/// Stops an export that is running. One that has ended stays as it is.
#[server(prefix = "/fn", endpoint = "export/stop", client = Client)]
pub async fn stop_export(export_id: String) -> Result<(), Refusal> {
    backend::<dyn ExportBackend>()?.stop(export_id).await
}
