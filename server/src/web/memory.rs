//! /memory and /agents/{slug}/memory: search, documents, and the plain forms that change them.

use super::{
    form::Form,
    memory_form::{self, Step},
    memory_usefulness::usefulness,
    people::people_of,
    posted,
    search_line::searched,
    shell::{PageRejection, Viewer, redirect_with_notice, refuse, render, return_path},
    stalled::stalled_of,
};
use crate::{
    extract::{AgentSlug, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use app::{
    FormState,
    memory::{self as ui, AgentMemory, HomeProps, Preview, Props, Selected, View},
    ui::list_search::ListSearch,
};
use axum::{
    Router,
    extract::State,
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use domain::{memory::MemoryPath, search::Field};
use ledger::{
    Error, Ledger, MemoryDocumentRecord, Scope,
    memory::{self, Conflict, Written},
    memory_forget,
    page::{
        memory as page,
        memory_document::{Document, Part},
        memory_home,
    },
};
use serde::Deserialize;
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new().route("/memory", get(home)).route("/agents/{slug}/memory", get(show).post(change))
}

#[derive(Default, Deserialize)]
struct HomeQuery {
    q: Option<String>,
}

/// The line of a search; `None` if it is empty.
fn search_line(q: Option<String>) -> Option<String> {
    q.map(|q| q.trim().to_owned()).filter(|q| !q.is_empty())
}

async fn home(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<HomeQuery>,
) -> Result<Response, PageRejection> {
    let (line, search, status) = searched(query.q.as_ref(), &Field::OF_DOCUMENTS);
    let line = search_line(line);
    let page = memory_home::read(&state.ledger, &viewer.scope, line.clone()).await?;
    let props = HomeProps { search, ..home_props(line, page) };
    Ok(render(status, move || ui::home_page(&viewer.shell, props)).await)
}

fn home_props(line: Option<String>, page: memory_home::Page) -> HomeProps {
    let agents = page.agents.into_iter().map(|one| AgentMemory {
        agent: one.agent,
        documents: one.documents,
        bytes: one.bytes,
        updated_at: one.updated_at,
    });
    HomeProps {
        agents: agents.collect(),
        asked_at: page.asked_at,
        requests: page.requests as u64,
        own: page.own.into_iter().map(wire_map::memory_document).collect(),
        stalled: stalled_of(page.stalled),
        search: ListSearch::default(),
        found: line.zip(page.found.map(|found| wire_map::found_memories(found).items)),
        people: people_of(page.people),
    }
}

#[derive(Default, Deserialize)]
struct ShowQuery {
    path: Option<String>,
    view: Option<String>,
    version: Option<String>,
    before: Option<String>,
    q: Option<String>,
}

/// What the page shows beside the list of documents.
#[derive(Debug, PartialEq, Eq)]
enum Selection {
    /// The newest changes.
    Recent,
    /// What this search line finds.
    Search(String),
    /// The document at a path, or what is left of an erased one.
    Document(DocumentRequest),
}

/// The document that is asked for.
#[derive(Debug, PartialEq, Eq)]
struct DocumentRequest {
    path: String,
    view: View,
    /// The version whose changes are shown; `None` for the newest of those that are listed.
    version: Option<u64>,
    /// The versions before this one are listed; `None` for the newest ones.
    before: Option<u64>,
}

impl Selection {
    /// The newest version of the document at a path; the newest changes if the path is empty.
    fn newest(path: String, view: View) -> Self {
        if path.is_empty() {
            Self::Recent
        } else {
            Self::Document(DocumentRequest { path, view, version: None, before: None })
        }
    }

    /// What is read for it. A text that cannot be the path of a document, or the id of an erased one, is not found.
    fn to_page(&self) -> Result<page::Selection, Problem> {
        let DocumentRequest { path, view, version, before } = match self {
            Self::Recent => return Ok(page::Selection::Recent),
            Self::Search(line) => return Ok(page::Selection::Search(line.clone())),
            Self::Document(request) => request,
        };
        let not_found = || Problem::new(Code::NotFound);
        if let Some(id) = path.strip_prefix("erased/") {
            return id.parse().map(page::Selection::Erased).map_err(|_| not_found());
        }
        let path = MemoryPath::parse(path).map_err(|_| not_found())?;
        Ok(page::Selection::Document(path, part_of(*view, *version, *before)))
    }
}

impl From<ShowQuery> for Selection {
    fn from(query: ShowQuery) -> Self {
        let view = View::parse(query.view.as_deref().unwrap_or_default());
        let number = |text: Option<String>| text.and_then(|text| text.parse().ok());
        let (version, before) = (number(query.version), number(query.before));
        match query.path.filter(|path| !path.is_empty()) {
            Some(path) => Self::Document(DocumentRequest { path, view, version, before }),
            None => search_line(query.q).map_or(Self::Recent, Self::Search),
        }
    }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<ShowQuery>,
) -> Result<Response, PageRejection> {
    // A document is shown rather than a search.
    let q = query.q.as_ref().filter(|_| query.path.as_ref().is_none_or(String::is_empty));
    let (line, search, status) = searched(q, &Field::OF_DOCUMENTS);
    let shown = ShowQuery { q: line, ..query };
    let props = Props { search, ..read(&state, &viewer.scope, &agent, shown.into()).await? };
    Ok(render(status, move || ui::page(&viewer.shell, props)).await)
}

/// Reads the page. A path that is none, or at which there was never a document, is not found.
async fn read(state: &AppState, scope: &Scope, agent: &str, shown: Selection) -> Result<Props, PageRejection> {
    let page = page::memory(&state.ledger, scope, agent, shown.to_page()?).await?;
    Ok(props_of(agent, shown, page))
}

fn props_of(agent: &str, shown: Selection, page: page::Memory) -> Props {
    let found = page.found.map(|found| wire_map::found_memories(found).items);
    let (view, before) = match &shown {
        Selection::Document(request) => (request.view, request.before),
        Selection::Recent | Selection::Search(_) => (View::Text, None),
    };
    Props {
        agent: agent.to_owned(),
        documents: page.documents.into_iter().map(wire_map::memory_document).collect(),
        has_more: page.has_more,
        selected: page.document.map(|document| selected(document, view, before)),
        recent: page.recent.into_iter().map(wire_map::memory_version).collect(),
        search: ListSearch::default(),
        found: if let Selection::Search(line) = shown { Some(line).zip(found) } else { None },
        stalled: stalled_of(page.stalled),
        people: people_of(page.people),
        form: FormState::default(),
    }
}

/// What is read for a view besides the text.
const fn part_of(view: View, version: Option<u64>, before: Option<u64>) -> Part {
    match view {
        View::Text | View::Edit => Part::Text,
        View::History => Part::History { version, before },
        View::Origin => Part::Origin,
        View::Usefulness => Part::Usefulness,
    }
}

/// A document as it is shown. Of an erased one only its history is left.
fn selected(found: Document, view: View, before: Option<u64>) -> Selected {
    Selected {
        is_erased: found.is_erased,
        document: wire_map::memory_document(found.document),
        text: found.text,
        view: if found.is_erased { View::History } else { view },
        versions: found.versions.into_iter().map(wire_map::memory_version).collect(),
        before,
        has_more_versions: found.has_more_versions,
        diff: found.diff.map(wire_map::memory_diff),
        origin: wire_map::memory_blame(found.origin).lines,
        usefulness: found.usefulness.map(usefulness),
        preview: None,
        conflict: None,
    }
}

/// Takes a form. A text that is sent after the sign-in has expired is kept by the sign-in page.
async fn change(
    State(state): State<AppState>,
    viewer: Result<Viewer, PageRejection>,
    AgentSlug(agent): AgentSlug,
    parts: Parts,
    form: Form,
) -> Result<Response, PageRejection> {
    match viewer {
        Ok(viewer) => answer(&state, viewer, &agent, &form).await,
        Err(rejection) if form.has("text") => {
            let page = return_path(&parts).unwrap_or_else(|| format!("/agents/{agent}/memory"));
            posted::keep_or_reject(&state, rejection, (&parts, &form), &page).await
        }
        Err(rejection) => Err(rejection),
    }
}

/// What a form did.
enum Done {
    /// The text is shown before it is saved.
    Preview,
    /// The document is at this path now.
    Saved(String),
    /// The document is deleted.
    Deleted,
    /// The document is erased.
    Erased,
}

impl From<Written> for Done {
    fn from(written: Written) -> Self {
        written.document.into()
    }
}

impl From<MemoryDocumentRecord> for Done {
    fn from(document: MemoryDocumentRecord) -> Self {
        Self::Saved(document.path)
    }
}

async fn answer(state: &AppState, viewer: Viewer, agent: &str, form: &Form) -> Result<Response, PageRejection> {
    let page = format!("/agents/{agent}/memory");
    match apply(&state.ledger, &viewer.scope, agent, form).await {
        Ok(Done::Preview) => preview(state, viewer, agent, form).await,
        Ok(Done::Saved(path)) => Ok(redirect_to_document(&page, &path).into_response()),
        Ok(Done::Deleted) => Ok(redirect_with_notice(&page, "memory_deleted").into_response()),
        Ok(Done::Erased) => Ok(redirect_with_notice(&page, "memory_erased").into_response()),
        Err(error) => refused(state, viewer, agent, form, error).await,
    }
}

fn redirect_to_document(page: &str, path: &str) -> Redirect {
    let path: String = form_urlencoded::byte_serialize(path.as_bytes()).collect();
    Redirect::to(&format!("{page}?path={path}&notice=memory_saved"))
}

/// Does what the button of the form says.
async fn apply(ledger: &Ledger, scope: &Scope, agent: &str, form: &Form) -> Result<Done, Error> {
    let (path, step) = memory_form::read(form)?;
    match step {
        Step::Preview => Ok(Done::Preview),
        Step::Write(write) => memory::write(ledger, scope, agent, path, write).await.map(Done::from),
        Step::Revert(to, change) => memory::revert(ledger, scope, agent, path, to, change).await.map(Done::from),
        Step::Rename(to, change) => memory::rename(ledger, scope, agent, path, to, change).await.map(Done::from),
        Step::Delete(change) => memory::delete(ledger, scope, agent, path, change).await.map(|_| Done::Deleted),
        Step::Erase => memory_forget::erase(ledger, scope, agent, path).await.map(|_| Done::Erased),
    }
}

/// Shows the page with the typed text before it is saved.
async fn preview(state: &AppState, viewer: Viewer, agent: &str, form: &Form) -> Result<Response, PageRejection> {
    let shown = Selection::newest(form.text("path"), View::Edit);
    let Some(mut props) = read_if_there(state, &viewer.scope, agent, shown).await? else {
        return gone(state, viewer, agent, form, &Problem::new(Code::StaleVersion)).await;
    };
    props.selected = props.selected.map(|selected| with_preview(selected, form.text("text")));
    props.form = form.state_without_errors("edit");
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

fn with_preview(selected: Selected, text: String) -> Selected {
    let lines = wire_map::memory_diff_lines(memory::compare(&selected.text, &text));
    Selected { preview: Some(Preview { text, lines }), ..selected }
}

/// Reads the page with the document that a form is about. `None` if no document has its path any more.
async fn read_if_there(
    state: &AppState,
    scope: &Scope,
    agent: &str,
    shown: Selection,
) -> Result<Option<Props>, PageRejection> {
    match read(state, scope, agent, shown).await {
        Err(PageRejection::Problem(problem)) if problem.code() == Code::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Shows the text of a form in the form of a new document: no document has its path any more. Only the answer has the
/// text, because it can be one that was erased.
async fn gone(
    state: &AppState,
    viewer: Viewer,
    agent: &str,
    form: &Form,
    problem: &Problem,
) -> Result<Response, PageRejection> {
    if !form.has("text") {
        return Err(Problem::new(Code::NotFound).into());
    }
    let mut props = read(state, &viewer.scope, agent, Selection::Recent).await?;
    props.form = memory_form::gone(form, problem);
    Ok(refuse(problem, move || ui::page(&viewer.shell, props)).await)
}

/// Shows the page with the refused form. A conflict of texts shows both sides.
async fn refused(
    state: &AppState,
    viewer: Viewer,
    agent: &str,
    form: &Form,
    error: Error,
) -> Result<Response, PageRejection> {
    let sides = sides_of(&error);
    let problem = Problem::from(error);
    if matches!(problem.code(), Code::NotFound | Code::Forbidden) {
        return Err(problem.into());
    }
    let (name, path, view) = memory_form::refused(form, sides.as_ref());
    let read = read_if_there(state, &viewer.scope, agent, Selection::newest(path, view)).await?;
    let Some(props) = read else { return gone(state, viewer, agent, form, &problem).await };
    let props = with_refusal(props, (form, name), &problem, sides);
    Ok(refuse(&problem, move || ui::page(&viewer.shell, props)).await)
}

fn with_refusal(props: Props, (form, name): (&Form, &str), problem: &Problem, sides: Option<Conflict>) -> Props {
    let state = memory_form::state(form, name, problem, sides.as_ref());
    // The other forms have no text that could be compared.
    let sides = sides.filter(|_| name == "edit");
    Props { form: state, selected: props.selected.map(|selected| with_conflict(selected, sides)), ..props }
}

fn sides_of(error: &Error) -> Option<Conflict> {
    match error {
        Error::MemoryConflict(sides) => Some((**sides).clone()),
        _ => None,
    }
}

fn with_conflict(selected: Selected, sides: Option<Conflict>) -> Selected {
    let conflict = sides.map(|sides| {
        let newest = sides.current.as_ref().map(|side| side.text.as_str()).unwrap_or_default();
        let lines = wire_map::memory_diff_lines(memory::compare(newest, &sides.wanted));
        (wire_map::memory_conflict(sides), lines)
    });
    Selected { conflict, ..selected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_shown_rather_than_a_search() {
        let text = |text: &str| Some(text.to_owned());
        let query = |path: &str, q: &str| ShowQuery { path: text(path), q: text(q), ..ShowQuery::default() };
        assert_eq!(Selection::from(ShowQuery::default()), Selection::Recent);
        assert_eq!(Selection::from(query("", "  ")), Selection::Recent);
        assert_eq!(Selection::from(query("", " green tea ")), Selection::Search("green tea".into()));
        let newest = Selection::newest("topics/a.md".into(), View::Text);
        assert_eq!(Selection::from(query("topics/a.md", "tea")), newest);
        let older = ShowQuery { view: text("history"), version: text("3"), ..query("topics/a.md", "") };
        let older = ShowQuery { before: text("9"), ..older };
        let request =
            DocumentRequest { path: "topics/a.md".into(), view: View::History, version: Some(3), before: Some(9) };
        assert_eq!(Selection::from(older), Selection::Document(request));
        assert_eq!(Selection::newest(String::new(), View::Edit), Selection::Recent);
    }
}
