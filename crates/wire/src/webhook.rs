//! Webhooks: URLs to which a workspace sends messages about events.

use domain::Timestamp;
use serde::{Deserialize, Serialize};

/// A webhook to add.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateWebhook {
    /// `https://…` or `http://…`; addresses in private networks are refused unless the operator opened them.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::WebhookUrl))]
    pub url: String,
    /// approval.requested, approval.reminder, approval.escalated, approval.decided, approval.undone, session.failed,
    /// session.ended.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::WebhookEvent>, min_items = 1))]
    pub events: Vec<String>,
}

/// A webhook, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// Id.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: String,
    /// Where messages go.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::WebhookUrl))]
    pub url: String,
    /// What it is told.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::WebhookEvent>))]
    pub events: Vec<String>,
    /// Who made it: `user:…` or `token:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// When.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Since when nothing is sent any more.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub disabled_at: Option<Timestamp>,
    /// Why not.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub disabled_reason: Option<String>,
}

/// A webhook that was just made.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreatedWebhook {
    /// The webhook.
    pub webhook: Webhook,
    /// `whsec_…`: verifies the signatures of its messages. It is not shown again.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::WebhookSecret))]
    pub secret: String,
}

/// The webhooks of a workspace.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Webhooks {
    /// Oldest first, disabled ones included.
    pub webhooks: Vec<Webhook>,
}

/// Where a message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// It is tried at `dueAt`.
    Waiting,
    /// The receiver took it.
    Delivered,
    /// It was given up.
    Dead,
}

/// A message to a webhook.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// The header `webhook-id` of every try.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: String,
    /// What it tells.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::DeliveredEvent))]
    pub event: String,
    /// Where it stands.
    pub state: DeliveryState,
    /// How often it was tried.
    pub attempts: u32,
    /// What came of the last try, where it failed.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::DeliveryError>))]
    pub last_error: Option<String>,
    /// When it happened.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When it is tried next, while it waits.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub due_at: Option<Timestamp>,
    /// When it arrived or was given up.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub ended_at: Option<Timestamp>,
}

/// The newest messages to a webhook.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Deliveries {
    /// Newest first, at most 100.
    pub deliveries: Vec<Delivery>,
}
