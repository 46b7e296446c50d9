//! The webhooks of /settings, as plain forms.

use super::{
    form::Form,
    settings::{read, refused},
    shell::{PageRejection, Viewer, redirect_with_notice, render},
};
use crate::{extract::Id, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    settings::{self as ui, EVENT_FIELD, Props, WebhookEntry},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{Redirect, Response},
    routing::post,
};
use domain::{id::WebhookId, notification::Topic};
use ledger::{
    WebhookRecord,
    page::settings as page,
    webhook::{self, NewWebhook},
};
use wire::webhook::CreatedWebhook;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/settings/webhooks", post(create))
        .route("/settings/webhooks/{id}/delete", post(delete))
        .route("/settings/webhooks/{id}/test", post(test))
}

/// A webhook with its newest messages.
pub fn entry(found: page::Webhook) -> WebhookEntry {
    let deliveries = found.deliveries.into_iter().map(wire_map::delivery).collect();
    WebhookEntry { webhook: wire_map::webhook(found.webhook), deliveries }
}

/// Creates a webhook. Only this response contains the secret, so it is not a redirect and nothing
/// is stored.
async fn create(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    match make(&state, &viewer, &form).await {
        Ok((record, secret)) => {
            let created = CreatedWebhook { webhook: wire_map::webhook(record), secret };
            let props = Props { new_webhook: Some(created), ..read(&state, &viewer, FormState::default()).await? };
            Ok(render(StatusCode::CREATED, move || ui::page(&viewer.shell, props)).await)
        }
        Err(problem) => refused(&state, viewer, form.refused("webhook", &problem), &problem).await,
    }
}

/// Creates the webhook that the form describes, and returns it with its secret.
async fn make(state: &AppState, viewer: &Viewer, form: &Form) -> Result<(WebhookRecord, String), Problem> {
    let chosen = Topic::SUBSCRIBABLE.iter().filter(|topic| form.has(&format!("{EVENT_FIELD}{topic}")));
    let new = NewWebhook { url: form.text("url").trim().to_owned(), events: chosen.map(ToString::to_string).collect() };
    Ok(webhook::create(&state.ledger, &viewer.scope, &state.outbound, new).await?)
}

async fn delete(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<WebhookId>,
) -> Result<Redirect, PageRejection> {
    webhook::delete(&state.ledger, &viewer.scope, id).await?;
    Ok(redirect_with_notice("/settings", "webhook_removed"))
}

async fn test(State(state): State<AppState>, viewer: Viewer, Id(id): Id<WebhookId>) -> Result<Redirect, PageRejection> {
    webhook::test(&state.ledger, &viewer.scope, id).await?;
    Ok(redirect_with_notice("/settings", "webhook_tested"))
}
