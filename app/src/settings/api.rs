//! The server function of the settings that a browser keeps. Its form posts to it.
//!
//! The theme is a cookie of the browser: the switch in the rail sets it without the server. Changed key bindings are
//! kept
//! in the browser too, and need scripts anyway.

use crate::server_function::{Client, Refusal, backend};
use leptos::prelude::server;

/// What the server does for this function.
#[async_trait::async_trait]
pub trait SettingsBackend: Send + Sync {
    /// See [`save_theme`].
    async fn save_theme(&self, theme: String) -> Result<(), Refusal>;
}

/// Sets the theme of this browser: `system`, `light` or `dark`.
#[server(prefix = "/fn", endpoint = "settings/theme", client = Client)]
pub async fn save_theme(theme: String) -> Result<(), Refusal> {
    backend::<dyn SettingsBackend>()?.save_theme(theme).await
}
