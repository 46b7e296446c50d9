//! Rows of `webhooks`: URLs of a workspace that receive messages about events.

use crate::{
    engine::{Conn, Error, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{TenantId, WebhookId},
    limit::WEBHOOKS_MAX,
    notification::Topic,
};

statements! {
    const INSERT: &str =
        "INSERT INTO webhooks (tenant_id, id, url, events, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6)";
    const BY_ID: &str = "SELECT id, url, events AS topics, created_by, created_at, disabled_at, disabled_reason FROM webhooks \
         WHERE tenant_id = $1 AND id = $2";
    const LIST: &str = "SELECT id, url, events AS topics, created_by, created_at, disabled_at, disabled_reason FROM webhooks \
         WHERE tenant_id = $1 ORDER BY id LIMIT $2";
    const DELETE: &str = "DELETE FROM webhooks WHERE tenant_id = $1 AND id = $2";
    const DISABLE: &str = "UPDATE webhooks SET disabled_at = $3, disabled_reason = $4 \
         WHERE tenant_id = $1 AND id = $2 AND disabled_at IS NULL";
}

record! {
    /// A URL that receives messages about its workspace. Its secret is derived and not stored.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct WebhookRecord of "webhooks" {
        /// Identifies the webhook.
        pub id: WebhookId,
        /// URL that messages are sent to.
        pub url: String,
        /// Topics that the webhook receives.
        pub topics: Vec<Topic>,
        /// Who made the webhook.
        pub created_by: String,
        /// Time the webhook was made (UTC).
        pub created_at: Timestamp,
        /// Time the webhook was disabled; nothing is sent since then (UTC).
        pub disabled_at: Option<Timestamp>,
        /// Why the webhook was disabled.
        pub disabled_reason: Option<String>,
    }
}

/// Adds a webhook.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, webhook: &WebhookRecord) -> Result<()> {
    let events = serde_json::to_string(&webhook.topics).map_err(|error| Error::Database(error.to_string()))?;
    run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        webhook.id.0,
        webhook.url.as_str(),
        events.as_str(),
        webhook.created_by.as_str(),
        to_micros(webhook.created_at),
    )?;
    Ok(())
}

/// A webhook of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: WebhookId) -> Result<Option<WebhookRecord>> {
    Ok(run!(conn, fetch_optional WebhookRecord, BY_ID, tenant_id.0, id.0)?)
}

/// The webhooks of a workspace, oldest first, disabled ones included.
pub async fn list(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<Vec<WebhookRecord>> {
    Ok(run!(conn, fetch_all WebhookRecord, LIST, tenant_id.0, WEBHOOKS_MAX as i64)?)
}

/// Removes a webhook. `false` when the workspace has no such webhook.
pub async fn delete(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: WebhookId) -> Result<bool> {
    Ok(run!(tx.conn(), execute, DELETE, tenant_id.0, id.0)? == 1)
}

/// Disables a webhook. If it is disabled already, the first reason is kept.
pub async fn disable(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: WebhookId,
    reason: &str,
    at: Timestamp,
) -> Result<()> {
    run!(tx.conn(), execute, DISABLE, tenant_id.0, id.0, to_micros(at), reason)?;
    Ok(())
}
