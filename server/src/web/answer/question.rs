//! The form of an agent's question: /questions/{id}. A question for which a session waits is in the inbox too; its
//! reviewers are sent there.

use super::{
    flow::{save, show, submit},
    member::keep_typed,
    posted_form::{PostedForm, query_pairs},
    site::{Site, options_of},
    visit::Visit,
};
use crate::{
    extract::Id,
    state::AppState,
    web::shell::{PageRejection, Viewer, signed_in},
    wire_map,
};
use app::{
    form_page::{Asker, Link},
    ui::questions::Question,
};
use axum::{
    Router,
    extract::{RawQuery, State},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use domain::id::{FeedbackRequestId, SessionId};
use ledger::{
    RequestRecord,
    feedback_request::{self, Answerable},
    gate::{self, MayDecide},
    page::answer as page,
    response::Respondent,
    session,
};

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/questions/{id}", get(show_form).post(submit_form))
        .route("/questions/{id}/draft", post(save_form))
}

/// Converts a question for the lists of open ones.
pub fn question(request: RequestRecord) -> Question {
    Question {
        id: request.id.to_string(),
        session_id: request.session_id.to_string(),
        session_title: None,
        agent: None,
        message: request.message,
        asked_at: request.asked_at,
        expires_at: request.expires_at,
    }
}

async fn site(
    state: &AppState,
    viewer: &Viewer,
    Answerable { request, fields, .. }: &Answerable,
    visit: &Visit,
) -> Result<Site, PageRejection> {
    let (respondent, action) = (Respondent::member(&viewer.scope)?, format!("/questions/{}", request.id));
    let back = Some(Link { href: "/inbox".to_owned(), text: "Back to the inbox".to_owned() });
    let entities = options_of(page::entities(&state.ledger, &viewer.scope, fields).await?);
    let site = Site::of_member(respondent, request.view_id, action, visit.frame(state));
    let asker = asker(state, viewer, request.session_id).await?;
    Ok(Site { request_id: Some(request.id.0), asker, back, entities, ..site })
}

/// The session that asks; `None` if the viewer may not see it, because those who are asked need not.
async fn asker(state: &AppState, viewer: &Viewer, id: SessionId) -> Result<Option<Asker>, PageRejection> {
    let session = match session::get(&state.ledger, &viewer.scope, id).await {
        Ok(session) => wire_map::session(session),
        Err(ledger::Error::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let link = Link { href: format!("/sessions/{}", session.id), text: app::session::row_title(&session) };
    Ok(Some(Asker { agent: session.agent_slug, session: link }))
}

async fn show_form(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<FeedbackRequestId>,
    RawQuery(query): RawQuery,
    visit: Visit,
) -> Result<Response, PageRejection> {
    let asked = feedback_request::answerable(&state.ledger, &viewer.scope, id).await?;
    if let Some(gate_id) = asked.request.gate_id {
        let item = gate::get(&state.ledger, &viewer.scope, gate_id).await?.item;
        // The others may answer here: the rules of the task about approvals do not bind the person who is asked.
        if matches!(item.may_decide, MayDecide::Yes | MayDecide::NotOpen) {
            return Ok(Redirect::to(&format!("/inbox/{gate_id}")).into_response());
        }
    }
    let site = site(&state, &viewer, &asked, &visit).await?;
    show(&state, site, &query_pairs(query.as_deref())).await
}

async fn submit_form(
    State(state): State<AppState>,
    viewer: Result<Viewer, PageRejection>,
    Id(id): Id<FeedbackRequestId>,
    visit: Visit,
    posted: PostedForm,
) -> Result<Response, PageRejection> {
    let Some(viewer) = signed_in(viewer)? else {
        return Ok(keep_typed(&state, format!("/questions/{id}"), &visit, posted).await);
    };
    let asked = feedback_request::answerable(&state.ledger, &viewer.scope, id).await?;
    let site = site(&state, &viewer, &asked, &visit).await?;
    submit(&state, site, &posted).await
}

async fn save_form(
    State(state): State<AppState>,
    viewer: Result<Viewer, PageRejection>,
    Id(id): Id<FeedbackRequestId>,
    visit: Visit,
    posted: PostedForm,
) -> Result<Response, PageRejection> {
    let Some(viewer) = signed_in(viewer)? else {
        return Ok(keep_typed(&state, format!("/questions/{id}"), &visit, posted).await);
    };
    let asked = feedback_request::answerable(&state.ledger, &viewer.scope, id).await?;
    let site = site(&state, &viewer, &asked, &visit).await?;
    save(&state, site, &visit, &posted).await
}
