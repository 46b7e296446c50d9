//! /inbox/{id}/hand-over: hands an item over to another person or a group.

use super::{
    form::Form,
    shell::{PageRejection, Viewer, redirect_with_notice, render_or_refuse},
};
use crate::{extract::Id, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    inbox::{self as ui, HandOverProps},
};
use axum::{
    Router,
    extract::State,
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{gate::Principal, id::GateId};
use ledger::{Ledger, Scope, gate, page::hand_over as page};
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new().route("/inbox/{id}/hand-over", get(show).post(post))
}

async fn show(State(state): State<AppState>, viewer: Viewer, Id(id): Id<GateId>) -> Result<Response, PageRejection> {
    let found = page::read(&state.ledger, &viewer.scope, id).await?;
    Ok(answer(viewer, found, FormState::default(), None).await)
}

async fn post(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<GateId>,
    form: Form,
) -> Result<Response, PageRejection> {
    // A repeat is answered as the first request, also if the page can no longer be read because someone has decided.
    let Err(problem) = hand_over(&state.ledger, &viewer.scope, id, &form).await else {
        return Ok(redirect_with_notice("/inbox", "handed_over").into_response());
    };
    let found = page::read(&state.ledger, &viewer.scope, id).await?;
    Ok(answer(viewer, found, form.refused("hand-over", &problem), Some(problem)).await)
}

async fn hand_over(ledger: &Ledger, scope: &Scope, id: GateId, form: &Form) -> Result<(), Problem> {
    let to = form.optional("to");
    let to = to.ok_or_else(|| Problem::field(Code::InvalidRequest, "to", "choose a person or a group"))?;
    let to = wire_map::handed_to(&to)?;
    gate::hand_over(ledger, scope, id, to, form.optional("note")).await?;
    Ok(())
}

/// The page, with what was refused.
async fn answer(viewer: Viewer, found: page::Page, form: FormState, problem: Option<Problem>) -> Response {
    let props = props(found, form);
    render_or_refuse(problem.as_ref(), move || ui::hand_over_page(&viewer.shell, &props)).await
}

fn props(found: page::Page, form: FormState) -> HandOverProps {
    let person = |id, name: &str| (Principal::User(id).to_string(), name.to_owned());
    let people = found.people.iter().map(|member| person(member.user_id, member.display_name()));
    let groups = found.groups.into_iter().map(|group| (Principal::Group(group.slug).to_string(), group.name));
    HandOverProps { people: people.collect(), groups: groups.collect(), item: wire_map::approval(found.item), form }
}
