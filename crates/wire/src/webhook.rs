//! Webhooks: URLs to which a workspace sends messages about events.

use domain::{
    Timestamp,
    id::{MessageId, WebhookId},
    notification::Topic,
};
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
    /// session.ended, session.assigned, failure_cause.opened, form.submitted, rule.suspended.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::WebhookEvent>, min_items = 1))]
    pub events: Vec<String>,
}

/// A webhook, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// UUID of the webhook.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: WebhookId,
    /// URL to which messages are sent.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::WebhookUrl))]
    pub url: String,
    /// Events that it subscribes to.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::WebhookEvent>))]
    pub events: Vec<Topic>,
    /// Creator: `user:…` or `token:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// Time of creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Time at which sending was disabled; null while it is enabled.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub disabled_at: Option<Timestamp>,
    /// Why sending was disabled.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub disabled_reason: Option<String>,
}

/// A new webhook, with its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreatedWebhook {
    /// The webhook as lists show it.
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

/// State of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// It is sent at `dueAt`.
    Waiting,
    /// The receiver accepted it.
    Delivered,
    /// It was given up. No further attempt is made.
    Dead,
}

/// A message to a webhook.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// The header `webhook-id` of every attempt.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: MessageId,
    /// Event that the message is about.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::DeliveredEvent))]
    pub event: Topic,
    /// Whether it waits, was delivered, or was given up.
    pub state: DeliveryState,
    /// Number of attempts.
    pub attempts: u32,
    /// Error of the last attempt, if it failed.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::DeliveryError>))]
    pub last_error: Option<String>,
    /// Time of the event.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Time of the next attempt, while it waits.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub due_at: Option<Timestamp>,
    /// Time at which it was delivered or given up.
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
