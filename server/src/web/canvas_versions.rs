//! /canvases/{id}/versions: a version of a canvas among the others, and the form that restores one.

use super::{
    canvas::notice,
    form::Form,
    people::people_of,
    shell::{PageRejection, Viewer, redirect_with_notice, render, render_or_refuse},
};
use crate::{
    extract::{Id, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use app::{
    FormState,
    canvas::{self as ui, VersionsProps},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{
    canvas::{
        ParticipantRole,
        outline::{blocks, markdown},
    },
    id::SessionId,
};
use ledger::{
    Error, Ledger, Scope,
    canvas::{self, History, Version, Versions},
    memory::compare,
    page,
};
use serde::Deserialize;

pub fn router() -> Router<AppState> {
    Router::new().route("/canvases/{id}/versions", get(show).post(restore))
}

#[derive(Default, Deserialize)]
struct VersionsQuery {
    /// The version to show; the newest without it.
    at: Option<u64>,
    /// The version to compare it with; the one before it without it.
    from: Option<u64>,
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    Params(VersionsQuery { at, from }): Params<VersionsQuery>,
) -> Result<Response, PageRejection> {
    let props = props(&state.ledger, &viewer.scope, id, Versions { at, from }).await?;
    Ok(render(StatusCode::OK, move || ui::versions_page(&viewer.shell, &props)).await)
}

async fn props(ledger: &Ledger, scope: &Scope, id: SessionId, of: Versions) -> Result<VersionsProps, Problem> {
    let history = canvas::history(ledger, scope, id, of).await?;
    Ok(props_of(history, page::people(ledger, scope).await?))
}

fn props_of(history: History, people: page::People) -> VersionsProps {
    let History { canvas, document, version, first, before, from, versions, has_newer, has_older, blame } = history;
    let may_change = matches!(canvas.role, Some(ParticipantRole::Edit | ParticipantRole::Suggest));
    let may_restore = may_change && !canvas.session.status().is_final();
    let title = canvas.session.title;
    let (old, new) = (blocks(&before), blocks(&document));
    let old_text = if from.is_some() { markdown(&title, &old) } else { String::new() };
    let lines = compare(&old_text, &markdown(&title, &new));
    VersionsProps {
        id: canvas.session.id,
        title,
        first,
        head: canvas.record.version,
        version,
        from,
        lines: wire_map::memory_diff_lines(lines),
        blocks: new,
        blame: blame.into_iter().map(|(block, last)| (block, version_of(last))).collect(),
        versions: versions.into_iter().map(version_of).collect(),
        has_newer,
        has_older,
        people: people_of(people),
        may_restore,
        form: FormState::default(),
    }
}

fn version_of(Version { version, by, at, writes }: Version) -> ui::Version {
    ui::Version { version, by, at, writes }
}

/// Makes the document as it was at a version, by a new patch.
async fn restore(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, PageRejection> {
    let problem = match restored(&state.ledger, &viewer.scope, id, &form).await {
        Ok(notice) => return Ok(redirect_with_notice(&format!("/canvases/{id}"), notice).into_response()),
        Err(problem) => problem,
    };
    let of = Versions { at: form.text("at").parse().ok(), from: None };
    let props = props(&state.ledger, &viewer.scope, id, of).await?;
    let props = VersionsProps { form: form.refused("", &problem), ..props };
    Ok(render_or_refuse(Some(&problem), move || ui::versions_page(&viewer.shell, &props)).await)
}

async fn restored(ledger: &Ledger, scope: &Scope, id: SessionId, form: &Form) -> Result<&'static str, Problem> {
    let number = |name: &'static str| {
        let number: Result<u64, _> = form.text(name).parse();
        number.map_err(|_| Error::invalid(name, "the number of a version"))
    };
    let op_id = format!("page-{}:1", form.text("key"));
    notice(canvas::restore(ledger, scope, id, (number("at")?, number("base")?), op_id).await?)
}
