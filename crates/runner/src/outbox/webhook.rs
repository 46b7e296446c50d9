//! Sends one message to one webhook, as the Standard Webhooks specification describes.

use super::OutboxWorker;
use chrono::SecondsFormat;
use domain::id::WebhookId;
use ledger::{
    MessageRecord,
    outbox::Outcome,
    webhook::{Signature, sign},
};
use outbound::{Hosts, Method, Request, Response};
use serde_json::{Value, json};

/// HTTP status of a receiver that wants no more messages.
const GONE: u16 = 410;
/// Characters of a response body that are kept as an error.
const QUOTE_CHARS_MAX: usize = 200;

/// Sends a message. Only a 2xx status counts as delivered; redirects are not followed.
pub(super) async fn post(worker: &OutboxWorker, message: &MessageRecord, id: WebhookId, url: String) -> Outcome {
    let Ok(key) = worker.ledger.instance_key() else {
        return Outcome::Failed {
            error: "this server has no instance key to sign with".to_owned(),
            retry_after_seconds: None,
        };
    };
    let body = match body(message, worker.public_origin.as_deref()) {
        Ok(body) => body,
        Err(error) => return Outcome::Refused { error: format!("the message cannot be read: {error}") },
    };
    let message_id = message.id.to_string();
    let signed = Signature { message_id: &message_id, timestamp: worker.ledger.now().timestamp() };
    let signature = sign(key, message.tenant_id, id, signed, body.as_bytes());
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("webhook-id", message_id.clone()),
        ("webhook-timestamp", signed.timestamp.to_string()),
        ("webhook-signature", signature),
    ];
    let request = Request {
        method: Method::POST,
        url,
        headers: headers.map(|(name, value)| (name.to_owned(), value)).into(),
        body: body.into(),
        // An administrator chose this URL; `outbound` refuses private addresses.
        hosts: Hosts::any(),
    };
    match worker.http.fetch(request).await {
        Ok(answer) => outcome(&answer),
        Err(error) if error.is_retryable() => Outcome::Failed { error: error.to_string(), retry_after_seconds: None },
        Err(error) => Outcome::Refused { error: error.to_string() },
    }
}

fn outcome(answer: &Response) -> Outcome {
    let quoted: String = String::from_utf8_lossy(&answer.body).chars().take(QUOTE_CHARS_MAX).collect();
    let error = format!("the receiver answered {} {}", answer.status, quoted.trim()).trim_end().to_owned();
    match answer.status {
        200..=299 => Outcome::Delivered,
        GONE => Outcome::Gone { error },
        _ => Outcome::Failed {
            error,
            retry_after_seconds: answer
                .header("retry-after")
                .and_then(|retry_after_seconds| retry_after_seconds.trim().parse().ok()),
        },
    }
}

/// The body `{type, timestamp, data}`. `data.url` is the address of the subject, if this server knows its public
/// address.
fn body(message: &MessageRecord, public_origin: Option<&str>) -> Result<String, serde_json::Error> {
    let mut data: Value = serde_json::from_str(&message.payload)?;
    let path = data.get("path").and_then(Value::as_str).map(str::to_owned);
    if let (Some(origin), Some(path), Some(data)) = (public_origin, path, data.as_object_mut()) {
        data.insert("url".to_owned(), format!("{origin}{path}").into());
    }
    let timestamp = message.created_at.to_rfc3339_opts(SecondsFormat::Millis, true);
    Ok(json!({ "type": message.topic, "timestamp": timestamp, "data": data }).to_string())
}
