//! /memory/forget: shows what is known about a person, and erases it.

use super::{
    form::Form,
    people::people_of,
    shell::{PageRejection, Viewer, redirect_with_notice, refuse, render, render_or_refuse},
};
use crate::{extract::Params, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    memory::{self as ui, ForgetProps},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{Redirect, Response},
    routing::{get, post},
};
use domain::role::Permission;
use ledger::{
    Error, Scope,
    memory_forget::{self, Forget, Forgetting},
};
use runner::forget::forget_person;
use serde::Deserialize;
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new().route("/memory/forget", get(show).post(forget)).route("/memory/forget-me", post(forget_me))
}

#[derive(Default, Deserialize)]
struct ShowQuery {
    person: Option<String>,
}

fn allowed(viewer: &Viewer) -> Result<(), PageRejection> {
    if viewer.scope.may(Permission::Administer) { Ok(()) } else { Err(Problem::new(Code::Forbidden).into()) }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ShowQuery>,
) -> Result<Response, PageRejection> {
    allowed(&viewer)?;
    let person = query.person.unwrap_or_default().trim().to_owned();
    if person.is_empty() {
        return request_list(&state, viewer).await;
    }
    let of = Forget { person: person.clone(), names: None };
    match memory_forget::preview(&state.ledger, &viewer.scope, of).await {
        Ok(found) => known(&state, viewer, person, found).await,
        Err(error) => Ok(refused(viewer, person, error.into()).await),
    }
}

/// Shows who asks to be forgotten.
async fn request_list(state: &AppState, viewer: Viewer) -> Result<Response, PageRejection> {
    let requests = memory_forget::requests(&state.ledger, &viewer.scope).await?;
    let requests = requests.into_iter().map(|one| (one.user_id, one.asked_at)).collect();
    let people = people_of(ledger::page::people(&state.ledger, &viewer.scope).await?);
    let props = ForgetProps { requests, people, ..ForgetProps::default() };
    Ok(render(StatusCode::OK, move || ui::forget_page(&viewer.shell, props)).await)
}

/// Records or withdraws that the viewer asks to be forgotten.
async fn forget_me(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Redirect, PageRejection> {
    if form.text("step") == "withdraw" {
        memory_forget::withdraw(&state.ledger, &viewer.scope).await?;
        return Ok(redirect_with_notice("/memory", "forget_withdrawn"));
    }
    memory_forget::ask(&state.ledger, &viewer.scope).await?;
    Ok(redirect_with_notice("/memory", "forget_asked"))
}

/// Shows what is known about the person.
async fn known(state: &AppState, viewer: Viewer, person: String, found: Forgetting) -> Result<Response, PageRejection> {
    let people = people_of(ledger::page::people(&state.ledger, &viewer.scope).await?);
    let found = Some(wire_map::forgotten_person(found));
    let props = ForgetProps { person, found, people, ..ForgetProps::default() };
    Ok(render(StatusCode::OK, move || ui::forget_page(&viewer.shell, props)).await)
}

/// Shows why a text names no person.
async fn refused(viewer: Viewer, person: String, problem: Problem) -> Response {
    let typed = Form::of([("person".to_owned(), person.clone())].into());
    let props = ForgetProps { person, form: typed.refused("look", &problem), ..ForgetProps::default() };
    refuse(&problem, move || ui::forget_page(&viewer.shell, props)).await
}

/// What the button of the form asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Show what would be erased with these names.
    Preview,
    /// Erase it. The word that confirms it was not typed.
    Unconfirmed,
    /// Erase it.
    Forget,
}

impl Step {
    fn of(form: &Form) -> Self {
        match form.text("step").as_str() {
            "forget" if form.text("confirm").trim() == "forget" => Self::Forget,
            "forget" => Self::Unconfirmed,
            _ => Self::Preview,
        }
    }

    /// The form as the page shows it after this step, and why the step was refused.
    fn answer(self, form: &Form) -> (FormState, Option<Problem>) {
        match self {
            Self::Preview => (form.state_without_errors("forget"), None),
            Self::Unconfirmed => {
                let problem = Problem::from(Error::invalid("confirm", "type the word forget"));
                (form.refused("forget", &problem), Some(problem))
            }
            Self::Forget => (FormState::default(), None),
        }
    }
}

/// The person, and the names that are looked for: one on each line.
fn person_of(form: &Form) -> Forget {
    let names = form.text("names");
    let names = names.lines().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
    Forget { person: form.text("person"), names: Some(names.collect()) }
}

async fn forget(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    allowed(&viewer)?;
    let (of, step) = (person_of(&form), Step::of(&form));
    let person = of.person.clone();
    let people = people_of(ledger::page::people(&state.ledger, &viewer.scope).await?);
    let found = Some(wire_map::forgotten_person(take(&state, &viewer.scope, of, step).await?));
    let (form, problem) = step.answer(&form);
    let props = ForgetProps { person, found, people, form, requests: Vec::new() };
    Ok(render_or_refuse(problem.as_ref(), move || ui::forget_page(&viewer.shell, props)).await)
}

/// Erases what is known about the person, or only finds it.
async fn take(state: &AppState, scope: &Scope, of: Forget, step: Step) -> Result<Forgetting, Error> {
    match step {
        Step::Preview | Step::Unconfirmed => memory_forget::preview(&state.ledger, scope, of).await,
        Step::Forget => forget_person(&state.ledger, &state.turn_capture, scope, of).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(fields: &[(&str, &str)]) -> Form {
        Form::of(fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn only_the_typed_word_erases() {
        let step = |step, confirm| Step::of(&form(&[("step", step), ("confirm", confirm)]));
        assert_eq!(step("forget", " forget "), Step::Forget);
        assert_eq!(step("forget", ""), Step::Unconfirmed);
        assert_eq!(step("look", "forget"), Step::Preview);
        assert_eq!(Step::of(&form(&[])), Step::Preview);
        assert!(Step::Unconfirmed.answer(&form(&[])).0.error("confirm").is_some());
    }

    #[test]
    fn each_line_is_a_name() {
        let of = person_of(&form(&[("person", "discord-1"), ("names", " Ada \r\n\r\nLovelace")]));
        assert_eq!(of.person, "discord-1");
        assert_eq!(of.names, Some(vec!["Ada".to_owned(), "Lovelace".to_owned()]));
    }
}
