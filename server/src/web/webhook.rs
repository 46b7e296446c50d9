//! The webhooks of /settings, as plain forms.

use super::{
    form::Form,
    new_secret::carried,
    settings::{PAGE, read, refused},
    shell::{PageRejection, Viewer, redirect_with_notice, render},
};
use crate::{cookie::NewSecret, extract::Id, problem::Problem, state::AppState};
use app::{
    FormState,
    settings::{self as ui, EVENT_FIELD, Props},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{Redirect, Response},
    routing::post,
};
use domain::{id::WebhookId, notification::Topic};
use ledger::webhook::{self, NewWebhook};

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/settings/webhooks", post(create))
        .route("/settings/webhooks/{id}/delete", post(delete))
        .route("/settings/webhooks/{id}/test", post(test))
}

async fn create(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let secret = match make(&state, &viewer, &form).await {
        Ok(secret) => secret,
        Err(problem) => return refused(&state, viewer, form.refused("webhook", &problem), &problem).await,
    };
    if let Some(response) = carried(&state, &viewer, (NewSecret::Webhook, &secret), (PAGE, "#new-webhook")) {
        return Ok(response);
    }
    let props = Props { new_webhook: Some(secret), ..read(&state, &viewer, FormState::default()).await? };
    Ok(render(StatusCode::CREATED, move || ui::page(&viewer.shell, props)).await)
}

/// Creates the webhook that the form describes, and returns its secret.
async fn make(state: &AppState, viewer: &Viewer, form: &Form) -> Result<String, Problem> {
    let chosen = Topic::SUBSCRIBABLE.iter().filter(|topic| form.has(&format!("{EVENT_FIELD}{topic}")));
    let new = NewWebhook { url: form.text("url").trim().to_owned(), events: chosen.map(ToString::to_string).collect() };
    let (_, secret) = webhook::create(&state.ledger, &viewer.scope, &state.outbound, new).await?;
    Ok(secret)
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
