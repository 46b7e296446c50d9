//! Converts webhooks and their deliveries.

use ledger::{MessageRecord, WebhookRecord, webhook::NewWebhook};
use wire::webhook as wired;

/// Converts the body of a request that adds a webhook.
pub fn new_webhook(body: wired::CreateWebhook) -> NewWebhook {
    NewWebhook { url: body.url, events: body.events }
}

/// Converts a webhook to its JSON type, without its secret.
pub fn webhook(record: WebhookRecord) -> wired::Webhook {
    wired::Webhook {
        id: record.id,
        url: record.url,
        events: record.topics,
        created_by: record.created_by,
        created_at: record.created_at,
        disabled_at: record.disabled_at,
        disabled_reason: record.disabled_reason,
    }
}

/// Converts a delivery.
pub fn delivery(record: MessageRecord) -> wired::Delivery {
    let ended_at = record.delivered_at.or(record.dead_at);
    let state = match (record.delivered_at, record.dead_at) {
        (Some(_), _) => wired::DeliveryState::Delivered,
        (None, Some(_)) => wired::DeliveryState::Dead,
        (None, None) => wired::DeliveryState::Waiting,
    };
    wired::Delivery {
        id: record.id,
        event: record.topic,
        state,
        attempts: record.attempts,
        last_error: record.last_error,
        created_at: record.created_at,
        due_at: ended_at.is_none().then_some(record.due_at),
        ended_at,
    }
}
