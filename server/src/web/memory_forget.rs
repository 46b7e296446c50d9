//! /memory/forget: shows what is known about a person, and erases it.

use super::{
    form::Form,
    people::people_of,
    shell::{PageRejection, Viewer, refuse, render},
};
use crate::{problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    memory::{self as ui, ForgetProps},
};
use axum::{
    Router,
    extract::{Query, State},
    http::StatusCode,
    response::Response,
    routing::get,
};
use domain::role::Permission;
use ledger::{
    Error,
    memory_forget::{self, Forget},
};
use serde::Deserialize;
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new().route("/memory/forget", get(show).post(forget))
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
    Query(query): Query<ShowQuery>,
) -> Result<Response, PageRejection> {
    allowed(&viewer)?;
    let person = query.person.unwrap_or_default().trim().to_owned();
    let mut props = ForgetProps { person: person.clone(), ..ForgetProps::default() };
    if person.is_empty() {
        return Ok(render(StatusCode::OK, move || ui::forget_page(&viewer.shell, props)).await);
    }
    match memory_forget::preview(&state.ledger, &viewer.scope, Forget { person, names: None }).await {
        Ok(found) => {
            props.people = people_of(ledger::page::people(&state.ledger, &viewer.scope).await?);
            props.found = Some(wire_map::forgotten_person(found));
            Ok(render(StatusCode::OK, move || ui::forget_page(&viewer.shell, props)).await)
        }
        Err(error) => {
            let problem = Problem::from(error);
            let typed = Form::of([("person".to_owned(), props.person.clone())].into());
            props.form = typed.refused("look", &problem);
            Ok(refuse(&problem, move || ui::forget_page(&viewer.shell, props)).await)
        }
    }
}

async fn forget(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    allowed(&viewer)?;
    let names = form.text("names");
    let names: Vec<String> = names.lines().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let of = Forget { person: form.text("person"), names: Some(names) };
    let people = people_of(ledger::page::people(&state.ledger, &viewer.scope).await?);
    let mut props = ForgetProps { person: of.person.clone(), people, ..ForgetProps::default() };
    let applies = form.text("step") == "forget";
    let is_confirmed = form.text("confirm").trim() == "forget";
    if applies && is_confirmed {
        let found = memory_forget::forget(&state.ledger, &viewer.scope, of).await.map_err(Problem::from)?;
        props.found = Some(wire_map::forgotten_person(found));
        return Ok(render(StatusCode::OK, move || ui::forget_page(&viewer.shell, props)).await);
    }
    let found = memory_forget::preview(&state.ledger, &viewer.scope, of).await.map_err(Problem::from)?;
    props.found = Some(wire_map::forgotten_person(found));
    if !applies {
        props.form = FormState { errors: Vec::new(), ..form.kept("forget") };
        return Ok(render(StatusCode::OK, move || ui::forget_page(&viewer.shell, props)).await);
    }
    let problem = Problem::from(Error::invalid("confirm", "type the word forget"));
    props.form = form.refused("forget", &problem);
    Ok(refuse(&problem, move || ui::forget_page(&viewer.shell, props)).await)
}
