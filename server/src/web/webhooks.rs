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
use ledger::webhook::{self, NewWebhook};
use wire::webhook::CreatedWebhook;

/// Number of messages that are shown for each webhook.
const DELIVERIES_SHOWN: usize = 8;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/settings/webhooks", post(create))
        .route("/settings/webhooks/{id}/delete", post(delete))
        .route("/settings/webhooks/{id}/test", post(test))
}

/// The webhooks of the viewer's workspace, with their newest messages.
pub async fn entries(state: &AppState, viewer: &Viewer) -> Result<Vec<WebhookEntry>, PageRejection> {
    let mut entries = Vec::new();
    for record in webhook::list(&state.ledger, &viewer.scope).await? {
        let messages = webhook::deliveries(&state.ledger, &viewer.scope, record.id).await?;
        let deliveries = messages.into_iter().take(DELIVERIES_SHOWN).map(wire_map::delivery).collect();
        entries.push(WebhookEntry { webhook: wire_map::webhook(record), deliveries });
    }
    Ok(entries)
}

/// Creates a webhook. Only this response contains the secret, so it is not a redirect and nothing
/// is stored.
async fn create(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let chosen = Topic::SUBSCRIBABLE.iter().filter(|topic| form.has(&format!("{EVENT_FIELD}{topic}")));
    let new = NewWebhook { url: form.text("url").trim().to_owned(), events: chosen.map(ToString::to_string).collect() };
    let made = match state.instance_key() {
        Ok(key) => {
            webhook::create(&state.ledger, &viewer.scope, key, &state.outbound, new).await.map_err(Problem::from)
        }
        Err(problem) => Err(problem),
    };
    match made {
        Ok((record, secret)) => {
            let created = CreatedWebhook { webhook: wire_map::webhook(record), secret };
            let props = Props { new_webhook: Some(created), ..read(&state, &viewer, FormState::default()).await? };
            Ok(render(StatusCode::CREATED, move || ui::page(&viewer.shell, props)).await)
        }
        Err(problem) => refused(&state, viewer, form.refused("webhook", &problem), &problem).await,
    }
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
