//! /canvases: list, create, one of them with its forms, and its files.

use super::{
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
    canvas::{self as ui, Declined, ListProps, Props, Suggestion},
    entity::People,
};
use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{Html, IntoResponse, Redirect, Response},
    routing::get,
};
use domain::{
    canvas::{
        Document, Operation, ParticipantRole, SuggestionState, change_words,
        edit::read_block,
        outline::{added, blocks, edited, markdown, removed, ticked},
    },
    chain::Digest,
    id::{ActionId, SessionId},
    role::Permission,
    session::Session,
};
use ledger::{
    Error, Ledger, ListPage, Listed, ListedCanvas, Scope, SuggestionRecord,
    canvas::{self, At, Beside, Canvas, Decision, NewCanvas, Outcome, SentPatch, ShownSuggestion, SuggestionDecision},
    page, session,
};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/canvases", get(list).post(create))
        // The list has the form. Other pages have their forms at such an address.
        .route("/canvases/new", get(|| async { Redirect::to("/canvases") }))
        .route("/canvases/{id}", get(show).post(post))
        .route("/canvases/{id}/export", get(export))
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListQuery {
    cursor: Option<String>,
    /// Session whose result a new canvas begins with.
    from_session: Option<SessionId>,
}

#[derive(Default, Deserialize)]
struct ShowQuery {
    /// Id of a block with the result of a tool, of which only the result is shown.
    block: Option<String>,
}

#[derive(Default, Deserialize)]
struct ExportQuery {
    format: Option<String>,
    /// Version of the document; the newest without it.
    at: Option<u64>,
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let props = list_props(&state.ledger, &viewer, query).await?;
    Ok(render(StatusCode::OK, move || ui::list_page(&viewer.shell, props)).await)
}

async fn list_props(ledger: &Ledger, viewer: &Viewer, query: ListQuery) -> Result<ListProps, Problem> {
    let scope = &viewer.scope;
    let from_session = match query.from_session {
        Some(id) => Some(session::get(ledger, scope, id).await?),
        None => None,
    };
    let is_newest = query.cursor.is_none();
    let listed = canvas::list(ledger, scope, ListPage { limit: 0, cursor: query.cursor }).await?;
    let templates = canvas::templates(ledger, scope).await?;
    Ok(list_of((listed, templates), is_newest, from_session, viewer.shell.form_key.clone()))
}

fn list_of(
    (listed, templates): (Listed<ListedCanvas>, Vec<ListedCanvas>),
    is_newest: bool,
    from_session: Option<Session>,
    key: String,
) -> ListProps {
    let page = wire_map::page(listed, wire_map::canvas_summary);
    ListProps {
        canvases: page.items,
        is_newest,
        next_cursor: page.next_cursor,
        from_session: from_session.map(|session| (session.id.to_string(), session.title)),
        templates: templates.into_iter().map(|one| (one.session_id.to_string(), one.title)).collect(),
        key,
        form: FormState::default(),
    }
}

async fn create(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let problem = match created(&state.ledger, &viewer.scope, &form).await {
        Ok(id) => return Ok(redirect_with_notice(&format!("/canvases/{id}"), "action_saved").into_response()),
        Err(problem) => problem,
    };
    let query = ListQuery { cursor: None, from_session: form.text("fromSession").parse().ok() };
    let props = list_props(&state.ledger, &viewer, query).await?;
    let props = ListProps { form: form.refused("", &problem), ..props };
    Ok(render_or_refuse(Some(&problem), move || ui::list_page(&viewer.shell, props)).await)
}

async fn created(ledger: &Ledger, scope: &Scope, form: &Form) -> Result<SessionId, Problem> {
    let from = form.optional("fromSession").map(|id| id.parse());
    let from_session = from.transpose().map_err(|_| Error::invalid("fromSession", "the id of a session"))?;
    let from = form.optional("fromCanvas").map(|id| id.parse());
    let from_canvas = from.transpose().map_err(|_| Error::invalid("fromCanvas", "the id of a canvas"))?;
    let (title, idempotency_key) = (form.text("title").trim().to_owned(), form.optional("key"));
    let new = NewCanvas { title, from_canvas, from_session, idempotency_key, ..NewCanvas::default() };
    Ok(canvas::create(ledger, scope, new).await?)
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    Params(query): Params<ShowQuery>,
) -> Result<Response, PageRejection> {
    if let Some(block) = query.block {
        return Ok(Html(result_of(&state.ledger, &viewer.scope, id, &block).await?).into_response());
    }
    let props = props(&state.ledger, &viewer.scope, id).await?;
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

/// The result of a tool in a block of the newest document. The editor puts it in the place of the block.
async fn result_of(ledger: &Ledger, scope: &Scope, id: SessionId, block: &str) -> ledger::Result<String> {
    let At { document, .. } = canvas::state(ledger, scope, id, None).await?;
    let result = read_block(&document, block).and_then(|block| ui::result_fragment(&block));
    result.ok_or(Error::NotFound("result"))
}

/// What the page shows.
async fn props(ledger: &Ledger, scope: &Scope, id: SessionId) -> ledger::Result<Props> {
    let canvas = canvas::get(ledger, scope, id).await?;
    let beside = canvas::beside(ledger, scope, id).await?;
    let writes = canvas.session.entity_id.is_some() && scope.may(Permission::WriteEntities);
    let tasks = if writes { canvas::writing_tasks(ledger, scope).await? } else { Vec::new() };
    // A person alone on a canvas needs no names.
    let people = if beside.is_empty() { People::default() } else { people_of(page::people(ledger, scope).await?) };
    let may_mark = scope.may(Permission::Administer);
    Ok(Props { may_mark, ..props_of(canvas, beside, tasks, &people) })
}

/// The names of these actors, as far as they are members or tokens of the workspace.
fn named<'a>(people: &People, actors: impl Iterator<Item = &'a str>) -> BTreeMap<String, String> {
    actors.filter_map(|actor| Some((actor.to_owned(), people.0.get(actor)?.clone()))).collect()
}

fn props_of(
    Canvas { session, record, role, write_back_id }: Canvas,
    Beside { suggestions, declined, participants }: Beside,
    tasks: Vec<(ActionId, String)>,
    people: &People,
) -> Props {
    let authors = suggestions.iter().map(|one| one.record.author.as_str()).chain([session.created_by.as_str()]);
    let names = named(people, participants.iter().map(|one| one.participant.as_str()).chain(authors));
    let document = Document::read(&record.document).unwrap_or_default();
    let status = session.status();
    Props {
        id: session.id,
        title: session.title,
        status,
        version: record.version,
        patches: record.patches,
        changed_at: record.changed_at,
        blocks: blocks(&document),
        entity_id: session.entity_id,
        write_back_id,
        tasks: tasks.into_iter().map(|(id, name)| (id.to_string(), name)).collect(),
        role: role.filter(|_| !status.is_final()),
        suggestions: suggestions.into_iter().map(|one| suggestion(one, &document, people)).collect(),
        declined: declined.into_iter().map(|record| declined_of(record, &document, people)).collect(),
        names,
        is_template: record.is_template == 1,
        may_mark: false,
        form: FormState::default(),
    }
}

fn suggestion(shown: ShownSuggestion, document: &Document, people: &People) -> Suggestion {
    let ShownSuggestion { record, digest } = shown;
    let changes = changes_of(&record, document);
    let digest = digest.map(|digest| digest.to_string()).unwrap_or_default();
    Suggestion { op_id: record.op_id, by: people.word(&record.author), at: record.at, changes, digest }
}

fn declined_of(record: SuggestionRecord, document: &Document, people: &People) -> Declined {
    let by = people.word(record.decided_by.as_deref().unwrap_or_default());
    let (changes, at) = (changes_of(&record, document), record.decided_at.unwrap_or(record.at));
    Declined { by, at, reason: record.reason.unwrap_or_default(), changes }
}

/// What a suggestion changes in the newest document, in words.
fn changes_of(record: &SuggestionRecord, document: &Document) -> Vec<String> {
    let ops: Vec<Operation> = serde_json::from_str(&record.ops).unwrap_or_default();
    ops.iter().filter(|op| op.writes()).map(|op| change_words(document, op)).collect()
}

/// Adds, edits, ticks or removes a block, or completes the canvas.
async fn post(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, PageRejection> {
    match change(&state.ledger, &viewer.scope, id, &form).await {
        Ok(notice) => Ok(redirect_with_notice(&format!("/canvases/{id}"), notice).into_response()),
        Err(problem) => {
            let now = props(&state.ledger, &viewer.scope, id).await?;
            refused(viewer, now, &form, problem).await
        }
    }
}

/// The page of the canvas as it is now, with the typed text and why it was not saved; an error page if the viewer may
/// not change the canvas any more.
async fn refused(viewer: Viewer, shown: Props, form: &Form, problem: Problem) -> Result<Response, PageRejection> {
    if !matches!(shown.role, Some(ParticipantRole::Edit | ParticipantRole::Suggest)) {
        return Err(problem.into());
    }
    let name = name_of(&shown, form);
    let shown = Props { form: form.refused(&name, &problem), ..shown };
    Ok(render_or_refuse(Some(&problem), move || ui::page(&viewer.shell, shown)).await)
}

/// The form of the page that was sent. The text of a block that is gone is in the form of a new one.
fn name_of(shown: &Props, form: &Form) -> String {
    let (block, suggestion) = (form.text("block"), form.text("suggestion"));
    match form.text("do").as_str() {
        "complete" => ui::COMPLETE.to_owned(),
        "template" | "no-template" => ui::TEMPLATE.to_owned(),
        "accept" | "decline" if shown.suggestions.iter().any(|one| one.op_id == suggestion) => {
            ui::suggestion_form(&suggestion)
        }
        _ if shown.blocks.iter().any(|one| !block.is_empty() && one.id == block) => ui::edit_form(&block),
        _ => ui::ADD.to_owned(),
    }
}

/// Does what the button says. Returns the notice of the page after it.
async fn change(ledger: &Ledger, scope: &Scope, id: SessionId, form: &Form) -> Result<&'static str, Problem> {
    let step = form.text("do");
    let decision = decision(&step).map(|decision| shown_decision(decision, form)).transpose()?;
    match (step.as_str(), decision) {
        (_, Some(decision)) => return notice(canvas::decide_suggestion(ledger, scope, id, decision).await?),
        ("complete", _) => canvas::complete(ledger, scope, id, task_of(form)?).await?,
        ("template" | "no-template", _) => canvas::set_template(ledger, scope, id, step == "template").await?,
        _ => return notice(send(ledger, scope, id, (&step, form)).await?),
    }
    Ok("action_saved")
}

/// The decision that a form asks for. A suggestion is accepted only as the page showed it.
fn shown_decision(decision: Decision, form: &Form) -> ledger::Result<SuggestionDecision> {
    let shown = Digest::parse(&form.text("digest"));
    if decision == Decision::Accept && shown.is_none() {
        return Err(Error::invalid("digest", "Only a suggestion that the page has shown can be accepted."));
    }
    Ok(SuggestionDecision { op_id: form.text("suggestion"), decision, reason: form.optional("reason"), shown })
}

/// The task that writes the canvas to its entity; `None` if it is only completed.
fn task_of(form: &Form) -> ledger::Result<Option<ActionId>> {
    let task = form.optional("actionId").map(|task| task.parse());
    task.transpose().map_err(|_| Error::invalid("actionId", "the id of a task"))
}

/// The decision about a suggestion that a button means; `None` for other buttons.
pub(super) fn decision(step: &str) -> Option<Decision> {
    match step {
        "accept" => Some(Decision::Accept),
        "decline" => Some(Decision::Decline),
        _ => None,
    }
}

/// The notice after a change.
pub(super) fn notice(outcome: Outcome) -> Result<&'static str, Problem> {
    match outcome {
        Outcome::Committed(_) | Outcome::Suggested(SuggestionState::Declined | SuggestionState::Accepted) => {
            Ok("action_saved")
        }
        Outcome::Suggested(SuggestionState::Open) => Ok("canvas_suggested"),
        Outcome::Rejected { rejected, .. } => {
            Err(Problem::detailed(Code::StaleVersion, ui::rejected_words(rejected.reason)))
        }
    }
}

/// Sends the change that a form asks for. It is made of the version that its page showed, so that a form that is sent
/// twice is the same change.
async fn send(ledger: &Ledger, scope: &Scope, id: SessionId, (step, form): (&str, &Form)) -> ledger::Result<Outcome> {
    let base: u64 =
        form.text("base").parse().map_err(|_| Error::invalid("base", "the version that the page showed"))?;
    let shown = canvas::state(ledger, scope, id, Some(base)).await?;
    let ops = operations(&shown.document, step, form)?;
    let ops = ops.iter().map(|operation| json!(operation)).collect();
    let sent = SentPatch { op_id: format!("page-{}:1", form.text("key")), base, ops, is_strict: false };
    canvas::patch(ledger, scope, id, sent).await
}

fn operations(document: &Document, step: &str, form: &Form) -> ledger::Result<Vec<Operation>> {
    let (block, text) = (form.text("block"), form.text("text"));
    match step {
        "add" if text.trim().is_empty() => Err(Error::invalid("text", "some text")),
        "add" => {
            let kind = form.text("kind");
            if !["text", "heading", "code"].contains(&kind.as_str()) {
                return Err(Error::invalid("kind", "text, heading or code"));
            }
            let id = format!("b{}", form.text("key"));
            added(document, &id, &kind, &text).map_err(|error| Error::invalid("text", error.to_string()))
        }
        "edit" => Ok(vec![edited(document, &block, &text)]),
        "tick" => Ok(vec![ticked(document, &block, &form.text("item"), form.text("value") == "true")]),
        "remove" => Ok(vec![removed(&block)]),
        _ => Err(Error::invalid("do", "add, edit, tick, remove, complete, template, no-template, accept or decline")),
    }
}

/// The canvas as a file: Markdown of its blocks, or the document as JSON.
async fn export(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    Params(query): Params<ExportQuery>,
) -> Result<Response, PageRejection> {
    let canvas = canvas::get(&state.ledger, &viewer.scope, id).await?;
    let at = canvas::state(&state.ledger, &viewer.scope, id, query.at).await?;
    Ok(file(&canvas, &at, query.format.as_deref()))
}

fn file(canvas: &Canvas, at: &At, format: Option<&str>) -> Response {
    let (text, kind, ending) = match format {
        Some("json") => (at.document.text(), "application/json", "json"),
        _ => (markdown(&canvas.session.title, &blocks(&at.document)), "text/markdown; charset=utf-8", "md"),
    };
    let name = format!("attachment; filename=\"canvas-{}-{}.{ending}\"", canvas.session.id, at.version);
    let head = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, name)];
    (head, [(header::CACHE_CONTROL, "no-store")], text).into_response()
}
