//! Forwards coding agents' hooks.

use crate::{Client, Result};
use std::time::Duration;
use wire::hook::HookAnswer;

impl Client {
    /// `POST /api/hooks/{source}` with the agent's JSON unchanged. Can be repeated with an `id`, a UUID. `at` is the
    /// time of the agent's call, RFC 3339.
    pub async fn hook(
        &self,
        source: &str,
        id: Option<&str>,
        at: Option<&str>,
        payload: String,
        allowed: Duration,
    ) -> Result<HookAnswer> {
        let query = [("id", id.map(str::to_owned)), ("at", at.map(str::to_owned))];
        self.post_document(&["api", "hooks", source], &query, payload, allowed).await
    }
}
