//! /memory and /agents/{slug}/memory: search, documents, and the plain forms that change them.

use super::{
    form::Form,
    people::people_of,
    posted,
    shell::{PageRejection, Viewer, redirect_with_notice, refuse, render, return_path},
    stalled::stalled_of,
};
use crate::{extract::AgentSlug, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    memory::{self as ui, HomeProps, Preview, Props, Selected, View},
};
use axum::{
    Router,
    extract::{Query, State},
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use domain::{id::MemoryDocumentId, memory::MemoryPath};
use ledger::{
    Error, ListPage, Scope,
    memory::{self, Change, Conflict, Write},
    memory_writer,
    page::memory as page,
};
use serde::Deserialize;
use wire::Code;

/// Number of versions on the page of a document's history.
const VERSIONS: u32 = 50;

pub fn router() -> Router<AppState> {
    Router::new().route("/memory", get(home)).route("/agents/{slug}/memory", get(show).post(change))
}

#[derive(Default, Deserialize)]
struct HomeQuery {
    q: Option<String>,
}

/// The words of a search; `None` if there are none.
fn asked(q: Option<String>) -> Option<String> {
    q.map(|q| q.trim().to_owned()).filter(|q| !q.is_empty())
}

async fn home(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<HomeQuery>,
) -> Result<Response, PageRejection> {
    let agents = memory::agents(&state.ledger, &viewer.scope).await?;
    let found = match asked(query.q) {
        Some(words) => {
            let found = memory::search(&state.ledger, &viewer.scope, None, &words, 0).await?;
            Some((words, wire_map::found_memories(found).items))
        }
        None => None,
    };
    let agents = agents.into_iter().map(|one| (one.agent, one.documents, one.bytes, one.updated_at)).collect();
    let stalled = stalled_of(memory_writer::stalled(&state.ledger, &viewer.scope).await?);
    let people = people_of(ledger::page::people(&state.ledger, &viewer.scope).await?);
    let props = HomeProps { agents, stalled, found, people };
    Ok(render(StatusCode::OK, move || ui::home_page(&viewer.shell, props)).await)
}

#[derive(Default, Deserialize)]
struct ShowQuery {
    path: Option<String>,
    view: Option<String>,
    version: Option<String>,
    q: Option<String>,
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    AgentSlug(agent): AgentSlug,
    Query(query): Query<ShowQuery>,
) -> Result<Response, PageRejection> {
    let view = View::parse(query.view.as_deref().unwrap_or_default());
    let version = query.version.and_then(|text| text.parse().ok());
    let props = read(&state, &viewer.scope, &agent, query.path.as_deref(), (view, version)).await?;
    let found = match (asked(query.q), &props.selected) {
        (Some(words), None) => {
            let found = memory::search(&state.ledger, &viewer.scope, Some(&agent), &words, 0).await?;
            Some((words, wire_map::found_memories(found).items))
        }
        _ => None,
    };
    let props = Props { found, ..props };
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

/// Reads the page. A path that is none, or at which there was never a document, is not found.
async fn read(
    state: &AppState,
    scope: &Scope,
    agent: &str,
    path: Option<&str>,
    shown: (View, Option<u64>),
) -> Result<Props, PageRejection> {
    let page = page::memory(&state.ledger, scope, agent).await?;
    let selected = match path.filter(|path| !path.is_empty()) {
        Some(path) => Some(open(state, scope, agent, path, shown).await?),
        None => None,
    };
    Ok(Props {
        agent: agent.to_owned(),
        documents: page.documents.into_iter().map(wire_map::memory_document).collect(),
        has_more: page.has_more,
        selected,
        recent: page.recent.into_iter().map(wire_map::memory_version).collect(),
        found: None,
        stalled: stalled_of(page.stalled),
        people: people_of(page.people),
        form: FormState::default(),
    })
}

/// The document at a path, or what is left of one that was erased. The pair is the view and the version.
async fn open(
    state: &AppState,
    scope: &Scope,
    agent: &str,
    path: &str,
    (view, version): (View, Option<u64>),
) -> Result<Selected, PageRejection> {
    if let Some(id) = path.strip_prefix("erased/") {
        return erased(state, scope, agent, id).await;
    }
    let path = MemoryPath::parse(path).map_err(|_| Problem::new(Code::NotFound))?;
    select(state, scope, agent, path, view, version).await
}

async fn select(
    state: &AppState,
    scope: &Scope,
    agent: &str,
    path: MemoryPath,
    view: View,
    version: Option<u64>,
) -> Result<Selected, PageRejection> {
    let ledger = &state.ledger;
    let found = memory::find(ledger, scope, agent, path.clone()).await?;
    let mut selected = Selected {
        is_erased: false,
        document: wire_map::memory_document(found.document),
        text: found.text,
        view,
        versions: Vec::new(),
        diff: None,
        origin: Vec::new(),
        preview: None,
        conflict: None,
    };
    match view {
        View::Text | View::Edit => {}
        View::History => {
            let page = ListPage { limit: VERSIONS, cursor: None };
            let versions = memory::versions(ledger, scope, agent, path.clone(), page).await?;
            selected.versions = versions.items.into_iter().map(wire_map::memory_version).collect();
            let diff = memory::diff(ledger, scope, agent, path, None, version).await?;
            selected.diff = Some(wire_map::memory_diff(diff));
        }
        View::Origin => {
            selected.origin = wire_map::memory_blame(memory::blame(ledger, scope, agent, path).await?).lines;
        }
    }
    Ok(selected)
}

/// What is left of an erased document, by its id.
async fn erased(state: &AppState, scope: &Scope, agent: &str, id: &str) -> Result<Selected, PageRejection> {
    let id: MemoryDocumentId = id.parse().map_err(|_| Problem::new(Code::NotFound))?;
    let found = memory::find_erased(&state.ledger, scope, agent, id, VERSIONS).await?;
    Ok(Selected {
        is_erased: true,
        document: wire_map::memory_document(found.document),
        text: String::new(),
        view: View::History,
        versions: found.versions.into_iter().map(wire_map::memory_version).collect(),
        diff: None,
        origin: Vec::new(),
        preview: None,
        conflict: None,
    })
}

/// What a form did.
enum Done {
    /// The document to show, and the notice.
    Saved(String, &'static str),
    /// The text is shown before it is saved.
    Preview,
}

async fn change(
    State(state): State<AppState>,
    viewer: Result<Viewer, PageRejection>,
    AgentSlug(agent): AgentSlug,
    parts: Parts,
    form: Form,
) -> Result<Response, PageRejection> {
    let viewer = match viewer {
        Ok(viewer) => viewer,
        Err(PageRejection::Redirect(to_sign_in)) if form.has("text") => {
            let page = return_path(&parts).unwrap_or_else(|| format!("/agents/{agent}/memory"));
            let kept = posted::keep(&state, &parts, &form, &page).await;
            return Ok(kept.unwrap_or_else(|| to_sign_in.into_response()));
        }
        Err(rejection) => return Err(rejection),
    };
    let step = form.text("step");
    let name = match step.as_str() {
        "create" => "new",
        "save" | "preview" => "edit",
        _ => "change",
    };
    match apply(&state, &viewer.scope, &agent, &form, &step).await {
        Ok(Done::Saved(path, notice)) => {
            if path.is_empty() {
                return Ok(redirect_with_notice(&format!("/agents/{agent}/memory"), notice).into_response());
            }
            let path: String = form_urlencoded::byte_serialize(path.as_bytes()).collect();
            Ok(Redirect::to(&format!("/agents/{agent}/memory?path={path}&notice={notice}")).into_response())
        }
        Ok(Done::Preview) => {
            let mut props = read(&state, &viewer.scope, &agent, Some(&form.text("path")), (View::Edit, None)).await?;
            if let Some(selected) = &mut props.selected {
                let text = form.text("text");
                let lines = wire_map::memory_diff_lines(memory::compare(&selected.text, &text));
                selected.preview = Some(Preview { text, lines });
            }
            props.form = form.kept("edit");
            Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
        }
        Err(error) => refused(&state, viewer, &agent, &form, name, error).await,
    }
}

async fn apply(state: &AppState, scope: &Scope, agent: &str, form: &Form, step: &str) -> Result<Done, Error> {
    let ledger = &state.ledger;
    let path = memory::path(&form.text("path"))?;
    let base_version = form.text("baseVersion").parse().unwrap_or_default();
    let reason = form.text("reason").trim().to_owned();
    let change = Change { base_version, reason: reason.clone(), session_id: None };
    match step {
        "preview" => Ok(Done::Preview),
        "create" | "save" => {
            let write = Write { base_version, text: form.text("text"), reason, ..Write::default() };
            let written = memory::write(ledger, scope, agent, path, write).await?;
            Ok(Done::Saved(written.document.path, "memory_saved"))
        }
        "revert" => {
            let to = form.text("toVersion").parse().unwrap_or_default();
            let written = memory::revert(ledger, scope, agent, path, to, change).await?;
            Ok(Done::Saved(written.document.path, "memory_saved"))
        }
        "rename" => {
            let new_path = MemoryPath::parse(&form.text("newPath"));
            let new_path = new_path.map_err(|why| Error::invalid("newPath", why.to_string()))?;
            let renamed = memory::rename(ledger, scope, agent, path, new_path, change).await?;
            Ok(Done::Saved(renamed.path, "memory_saved"))
        }
        "delete" => {
            memory::delete(ledger, scope, agent, path, change).await?;
            Ok(Done::Saved(String::new(), "memory_deleted"))
        }
        "erase" => {
            if form.text("confirm").trim() != "erase" {
                return Err(Error::invalid("confirm", "type the word erase"));
            }
            memory::erase(ledger, scope, agent, path).await?;
            Ok(Done::Saved(String::new(), "memory_erased"))
        }
        _ => Err(Error::invalid("step", "not a step of this form")),
    }
}

/// Shows the page with the refused form. A conflict shows both sides.
async fn refused(
    state: &AppState,
    viewer: Viewer,
    agent: &str,
    form: &Form,
    name: &str,
    error: Error,
) -> Result<Response, PageRejection> {
    let sides: Option<Conflict> = match &error {
        Error::MemoryConflict(sides) => Some((**sides).clone()),
        _ => None,
    };
    let problem = Problem::from(error);
    if matches!(problem.code(), Code::NotFound | Code::Forbidden) {
        return Err(problem.into());
    }
    let path = form.text("path");
    let exists = name != "new" || sides.as_ref().is_some_and(|sides| sides.current.is_some());
    let path = exists.then_some(path.as_str());
    let view = if name == "change" && sides.is_none() { View::Text } else { View::Edit };
    let mut props = read(state, &viewer.scope, agent, path, (view, None)).await?;
    props.form = form.refused(if name == "new" && sides.is_some() { "edit" } else { name }, &problem);
    if let (Some(selected), Some(sides)) = (&mut props.selected, sides) {
        let newest = sides.current.as_ref().map(|side| side.text.clone()).unwrap_or_default();
        let lines = wire_map::memory_diff_lines(memory::compare(&newest, &sides.wanted));
        selected.conflict = Some((wire_map::memory_conflict(sides), lines));
    }
    Ok(refuse(&problem, move || ui::page(&viewer.shell, props)).await)
}
