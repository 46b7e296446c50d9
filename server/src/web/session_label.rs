//! /sessions/{id}/labels: the tags of a session, and the member who looks after it.

use super::{
    bulk_choice::members,
    form::Form,
    shell::{PageRejection, Viewer, redirect_with_notice, refuse, render},
};
use crate::{extract::Id, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    label::NO_ONE,
    session::{self as ui, LabelProps},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
    routing::get,
};
use domain::id::{SessionId, UserId};
use ledger::{
    Error, page as pages,
    session::{self, Tagging},
};

pub fn router() -> Router<AppState> {
    Router::new().route("/sessions/{id}/labels", get(show).post(save))
}

async fn show(State(state): State<AppState>, viewer: Viewer, Id(id): Id<SessionId>) -> Result<Response, PageRejection> {
    let props = read(&state, &viewer, id, FormState::default()).await?;
    Ok(render(StatusCode::OK, move || ui::label_page(&viewer.shell, props)).await)
}

async fn save(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, PageRejection> {
    match change(&state, &viewer, id, &form).await {
        Ok(()) => Ok(redirect_with_notice(&format!("/sessions/{id}"), "labels_saved").into_response()),
        Err(error @ Error::Invalid(_)) => refused(&state, viewer, id, (&form, error)).await,
        Err(error) => Err(error.into()),
    }
}

/// Reads the page. Only whoever may change what it shows sees it.
async fn read(state: &AppState, viewer: &Viewer, id: SessionId, form: FormState) -> Result<LabelProps, Error> {
    let session = session::get(&state.ledger, &viewer.scope, id).await?;
    if !session::may_label(&viewer.scope, &session) {
        return Err(Error::Forbidden("only operators and admins can tag sessions that others started"));
    }
    let people = pages::people(&state.ledger, &viewer.scope).await?;
    let assignee = session.assignee.and_then(|member| people.name(&format!("user:{member}")));
    Ok(LabelProps { session: wire_map::session(session), members: members(&people), assignee, form })
}

/// Writes what differs from what the page showed, so that nothing is lost that others changed since. Tags and assignee
/// are changes of their own: sending the form again does what was refused.
async fn change(state: &AppState, viewer: &Viewer, id: SessionId, form: &Form) -> Result<(), Error> {
    session::get(&state.ledger, &viewer.scope, id).await?;
    let (tagging, to) = (tagging(&form.text(ui::SHOWN_TAGS), &form.text("tags")), member(form, "userId")?);
    if tagging != Tagging::default() {
        session::tag(&state.ledger, &viewer.scope, id, tagging).await.map_err(of_tags)?;
    }
    if to != member(form, ui::SHOWN_ASSIGNEE)? {
        session::assign(&state.ledger, &viewer.scope, id, to).await?;
    }
    Ok(())
}

/// What has to be added and removed so that a session with the tags that were shown has those that were typed.
fn tagging(shown: &str, typed: &str) -> Tagging {
    let (shown, typed) = (tags_of(shown), tags_of(typed));
    Tagging {
        add: typed.iter().filter(|tag| !shown.contains(tag)).cloned().collect(),
        remove: shown.iter().filter(|tag| !typed.contains(tag)).cloned().collect(),
    }
}

fn tags_of(text: &str) -> Vec<String> {
    text.split([' ', ',', '\n', '\t']).filter(|tag| !tag.is_empty()).map(str::to_lowercase).collect()
}

/// The member that a field of the form names.
fn member(form: &Form, field: &str) -> Result<Option<UserId>, Error> {
    match form.optional(field) {
        None => Ok(None),
        Some(id) if id == NO_ONE => Ok(None),
        Some(id) => id.parse().map(Some).map_err(|_| Error::invalid("userId", "no active member of this workspace")),
    }
}

/// The form has one field for tags that are added and removed.
fn of_tags(error: Error) -> Error {
    match error {
        Error::Invalid(mut issues) => {
            issues.iter_mut().for_each(|issue| issue.field = "tags".into());
            Error::Invalid(issues)
        }
        other => other,
    }
}

async fn refused(
    state: &AppState,
    viewer: Viewer,
    id: SessionId,
    (form, error): (&Form, Error),
) -> Result<Response, PageRejection> {
    let problem = Problem::from(error);
    let props = read(state, &viewer, id, form.refused("", &problem)).await?;
    Ok(refuse(&problem, move || ui::label_page(&viewer.shell, props)).await)
}

#[cfg(test)]
mod tests {
    use super::tagging;
    use ledger::session::Tagging;

    #[test]
    fn what_is_typed_is_compared_with_what_the_page_showed() {
        let texts = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
        let expected = Tagging { add: texts(&["urgent"]), remove: texts(&["acme"]) };
        assert_eq!(tagging("acme billing", " Billing, urgent "), expected);
        assert_eq!(tagging("acme billing", "billing acme"), Tagging::default());
        assert_eq!(tagging("acme billing", ""), Tagging { add: Vec::new(), remove: texts(&["acme", "billing"]) });
    }
}
