//! Webhooks: URLs to which a workspace sends messages about events.

use crate::{
    extract::{Caller, Id, JsonBody},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::id::WebhookId;
use ledger::webhook as use_case;
use wire::webhook::{CreateWebhook, CreatedWebhook, Deliveries, Delivery, Webhooks};

/// Add a webhook
///
/// For admins. The answer contains the secret that verifies the signatures of its messages. The secret is not shown
/// again. Messages follow the Standard Webhooks specification.
#[utoipa::path(
    post, path = "/api/webhooks", operation_id = "createWebhook", tag = "webhooks",
    request_body = CreateWebhook,
    responses(
        (status = 201, description = "Added", body = CreatedWebhook),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<CreateWebhook>,
) -> Result<(StatusCode, Json<CreatedWebhook>), Problem> {
    let new = wire_map::new_webhook(body);
    let (webhook, secret) = use_case::create(&state.ledger, caller.scope(), &state.outbound, new).await?;
    Ok((StatusCode::CREATED, Json(CreatedWebhook { webhook: wire_map::webhook(webhook), secret })))
}

/// List webhooks
#[utoipa::path(
    get, path = "/api/webhooks", operation_id = "listWebhooks", tag = "webhooks",
    responses(
        (status = 200, description = "All of them", body = Webhooks),
    ),
)]
pub async fn list(State(state): State<AppState>, caller: Caller) -> Result<Json<Webhooks>, Problem> {
    let webhooks = use_case::list(&state.ledger, caller.scope()).await?;
    Ok(Json(Webhooks { webhooks: webhooks.into_iter().map(wire_map::webhook).collect() }))
}

/// Remove a webhook
///
/// Messages to it that have not been delivered are dropped.
#[utoipa::path(
    delete, path = "/api/webhooks/{id}", operation_id = "deleteWebhook", tag = "webhooks",
    params(("id" = uuid::Uuid, Path, description = "The webhook")),
    responses(
        (status = 204, description = "Removed"),
    ),
)]
pub async fn delete(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<WebhookId>,
) -> Result<StatusCode, Problem> {
    use_case::delete(&state.ledger, caller.scope(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Send a test message
///
/// Queues a message `webhook.test` like any other message. The list of deliveries shows its result.
#[utoipa::path(
    post, path = "/api/webhooks/{id}/test", operation_id = "testWebhook", tag = "webhooks",
    params(("id" = uuid::Uuid, Path, description = "The webhook")),
    responses(
        (status = 202, description = "On its way", body = Delivery),
    ),
)]
pub async fn test(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<WebhookId>,
) -> Result<(StatusCode, Json<Delivery>), Problem> {
    let message = use_case::test(&state.ledger, caller.scope(), id).await?;
    Ok((StatusCode::ACCEPTED, Json(wire_map::delivery(message))))
}

/// List a webhook's deliveries
#[utoipa::path(
    get, path = "/api/webhooks/{id}/deliveries", operation_id = "listDeliveries", tag = "webhooks",
    params(("id" = uuid::Uuid, Path, description = "The webhook")),
    responses(
        (status = 200, description = "The newest messages", body = Deliveries),
    ),
)]
pub async fn deliveries(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<WebhookId>,
) -> Result<Json<Deliveries>, Problem> {
    let messages = use_case::deliveries(&state.ledger, caller.scope(), id).await?;
    Ok(Json(Deliveries { deliveries: messages.into_iter().map(wire_map::delivery).collect() }))
}
