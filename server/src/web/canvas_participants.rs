//! /canvases/{id}/participants: who takes part in a canvas, and the forms that change it.

use super::{
    form::Form,
    people::people_of,
    shell::{PageRejection, Viewer, redirect_with_notice, render, render_or_refuse},
};
use crate::{extract::Id, problem::Problem, state::AppState};
use app::{
    FormState,
    canvas::{self as ui, Participant, ParticipantsProps},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{canvas::ParticipantRole, id::SessionId, member::MemberStatus};
use ledger::{
    Error, Ledger, ParticipantRecord, Scope,
    canvas::{self, Canvas},
    page,
};

pub fn router() -> Router<AppState> {
    Router::new().route("/canvases/{id}/participants", get(show).post(change))
}

async fn show(State(state): State<AppState>, viewer: Viewer, Id(id): Id<SessionId>) -> Result<Response, PageRejection> {
    let props = props(&state.ledger, &viewer.scope, id).await?;
    Ok(render(StatusCode::OK, move || ui::participants_page(&viewer.shell, &props)).await)
}

async fn props(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<ParticipantsProps, Problem> {
    let canvas = canvas::get(ledger, scope, id).await?;
    let participants = canvas::participants(ledger, scope, id).await?;
    let may_manage = canvas::may_manage(scope, &canvas.session);
    Ok(props_of(canvas, participants, may_manage, page::people(ledger, scope).await?))
}

fn props_of(
    canvas: Canvas,
    participants: Vec<ParticipantRecord>,
    may_manage: bool,
    people: page::People,
) -> ParticipantsProps {
    let members = people.members.iter().filter(|member| member.status == MemberStatus::Active);
    let members = members.map(|member| (format!("user:{}", member.user_id), member.display_name().to_owned()));
    let tokens = people.tokens.iter().map(|(id, name)| (format!("token:{id}"), format!("{name} (token)")));
    let is_new = |(who, _): &(String, String)| participants.iter().all(|one| one.participant != *who);
    let choices = members.chain(tokens).filter(is_new).collect();
    ParticipantsProps {
        id: canvas.session.id,
        title: canvas.session.title,
        created_by: canvas.session.created_by,
        choices,
        participants: participants.into_iter().map(participant).collect(),
        people: people_of(people),
        may_manage,
        form: FormState::default(),
    }
}

fn participant(ParticipantRecord { participant, role, added_by, added_at }: ParticipantRecord) -> Participant {
    Participant { participant, role, added_by, added_at }
}

/// Adds a participant, changes their role, or removes them.
async fn change(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, PageRejection> {
    let problem = match changed(&state.ledger, &viewer.scope, id, &form).await {
        Ok(()) => {
            return Ok(redirect_with_notice(&format!("/canvases/{id}/participants"), "action_saved").into_response());
        }
        Err(error) => Problem::from(error),
    };
    let props = props(&state.ledger, &viewer.scope, id).await?;
    refused(viewer, props, &form, problem).await
}

/// The page with what was typed and why it was refused; an error page if the viewer may not change who takes part.
async fn refused(
    viewer: Viewer,
    shown: ParticipantsProps,
    form: &Form,
    problem: Problem,
) -> Result<Response, PageRejection> {
    if !shown.may_manage {
        return Err(problem.into());
    }
    let shown = ParticipantsProps { form: form.refused(ui::ADD_PARTICIPANT, &problem), ..shown };
    Ok(render_or_refuse(Some(&problem), move || ui::participants_page(&viewer.shell, &shown)).await)
}

async fn changed(ledger: &Ledger, scope: &Scope, id: SessionId, form: &Form) -> ledger::Result<()> {
    let who = participant_of(form)?;
    if form.text("do") == "remove" {
        return canvas::remove_participant(ledger, scope, id, &who).await;
    }
    let role = ParticipantRole::parse(&form.text("role"));
    let role = role.ok_or_else(|| Error::invalid("role", "edit, suggest or view"))?;
    canvas::put_participant(ledger, scope, id, &who, role).await
}

/// The chosen member or token, or the agent whose slug was typed.
fn participant_of(form: &Form) -> ledger::Result<String> {
    match (form.optional("participant"), form.optional("agent")) {
        (Some(who), None) => Ok(who),
        (None, Some(slug)) => Ok(format!("agent:{slug}")),
        (None, None) => Err(Error::invalid("participant", "choose someone, or enter the slug of an agent")),
        (Some(_), Some(_)) => Err(Error::invalid("agent", "either someone who is chosen, or an agent")),
    }
}
