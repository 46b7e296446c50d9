//! /views: list, make, one of them with its publication and links, edit.

use super::{
    form::{Form, or_stale},
    fragment::wants_fragment,
    new_secret::{Made, carried},
    people::people_of,
    search_line::searched,
    shell::{PageRejection, Viewer, redirect_with_notice, render, render_or_refuse},
    view_form::{draft_of, new_view, placed, press, read, view_change},
};
use crate::{cookie::NewSecret, embed_snippet::snippet, extract::Params, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    view::{self as ui, Draft, EditorProps, ListProps, Props},
};
use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use domain::{
    id::{ViewId, ViewLinkId},
    issue::Issue,
    search::Field,
    slug::is_slug,
};
use ledger::{
    Ledger, Scope, ViewRecord,
    page::view as page,
    view,
    view_link::{self, NewViewLink},
};
use serde::Deserialize;
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/views", get(list).post(create))
        .route("/views/new", get(new))
        .route("/views/{slug}", get(show).post(post))
        .route("/views/{slug}/edit", get(edit).post(save))
}

#[derive(Default, Deserialize)]
struct ListQuery {
    q: Option<String>,
    cursor: Option<String>,
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let (line, search, status) = searched(query.q.as_ref(), &Field::OF_FORMS);
    let listed = page::list(&state.ledger, &viewer.scope, line.as_deref(), query.cursor).await?;
    let views = listed.items.into_iter().map(entry).collect();
    let props = ListProps { views, next_cursor: listed.next_cursor, search };
    Ok(render(status, move || ui::list_page(&viewer.shell, props)).await)
}

fn entry((view, counts): (ViewRecord, ledger::ResponseCounts)) -> ui::Entry {
    ui::Entry { view: wire_map::view(view), submitted: counts.submitted, drafts: counts.drafts }
}

/// The slug of a path. What is no slug names no view.
fn known(slug: String) -> Result<String, Problem> {
    if is_slug(&slug) { Ok(slug) } else { Err(ledger::Error::NotFound("view").into()) }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    made: Made,
) -> Result<Response, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, known(slug)?).await?;
    let secret = made.secret(NewSecret::FormLink, &viewer);
    let path = format!("/views/{}", page.view.slug);
    let shown = NewLinkState { new_link: secret.map(str::to_owned), ..NewLinkState::default() };
    let mut response = answer(viewer, page, shown, None).await;
    if secret.is_some() {
        made.forget(&state, NewSecret::FormLink, &path, &mut response);
    }
    Ok(response)
}

/// What the page shows besides what is stored.
#[derive(Default)]
struct NewLinkState {
    /// Secret of a link that was just made.
    new_link: Option<String>,
    /// State of the form that makes a link.
    link_form: FormState,
}

async fn answer(viewer: Viewer, page: page::Page, shown: NewLinkState, problem: Option<Problem>) -> Response {
    // The form of a link shows its own errors.
    let refusals = problem.as_ref().filter(|_| !shown.link_form.is_refused()).map(Problem::lines);
    let props = props(&viewer.origin, page, shown, refusals.unwrap_or_default());
    render_or_refuse(problem.as_ref(), move || ui::page(&viewer.shell, props)).await
}

fn props(origin: &str, page: page::Page, shown: NewLinkState, refusals: Vec<String>) -> Props {
    let new_link = shown
        .new_link
        .map(|secret| ui::NewFormLink { url: format!("{origin}/f/{secret}"), snippet: snippet(origin, &secret) });
    Props {
        form: wire_map::view(page.view),
        versions: page.versions.into_iter().map(wire_map::view_version).collect(),
        has_more_versions: page.has_more_versions,
        people: people_of(page.people),
        refusals,
        links: ui::LinksProps {
            links: page.links.into_iter().map(wire_map::view_link).collect(),
            new_link,
            form: shown.link_form,
            now: page.now,
        },
        preview: page.preview,
    }
}

/// Publishes, closes or deletes the view, and makes or revokes a link.
async fn post(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    form: Form,
) -> Result<Response, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, known(slug)?).await?;
    if form.text("do") == "link" {
        return create_link(&state, viewer, page, &form).await;
    }
    match change(&state.ledger, &viewer.scope, &page.view, &form).await {
        Ok((path, notice)) => Ok(redirect_with_notice(&path, notice).into_response()),
        Err(error) => Ok(answer(viewer, page, NewLinkState::default(), Some(error.into())).await),
    }
}

/// What a button of the page asks for, besides a new link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Publish the working copy; with a revision, only if it is at that one.
    Publish(Option<u64>),
    Unpublish,
    Delete,
    Revoke(ViewLinkId),
}

impl Step {
    fn of(form: &Form) -> ledger::Result<Self> {
        match form.text("do").as_str() {
            "publish" => Ok(Self::Publish(form.text("revision").parse().ok())),
            "unpublish" => Ok(Self::Unpublish),
            "delete" => Ok(Self::Delete),
            "revoke" => match form.text("link").parse() {
                Ok(link) => Ok(Self::Revoke(link)),
                Err(_) => Err(ledger::Error::invalid("link", "the id of a link")),
            },
            _ => Err(ledger::Error::invalid("do", "publish, unpublish, delete, link or revoke")),
        }
    }

    /// The path of the page after this step, and its notice.
    fn leads_to(self, slug: &str) -> (String, &'static str) {
        let page = format!("/views/{slug}");
        match self {
            Self::Publish(_) => (page, "view_published"),
            Self::Unpublish => (page, "view_unpublished"),
            Self::Delete => ("/views".to_owned(), "view_deleted"),
            Self::Revoke(_) => (page, "view_link_revoked"),
        }
    }
}

/// Does what the button says. Returns the path of the page after it, and its notice.
async fn change(
    ledger: &Ledger,
    scope: &Scope,
    of: &ViewRecord,
    form: &Form,
) -> ledger::Result<(String, &'static str)> {
    let step = Step::of(form)?;
    match step {
        Step::Publish(revision) => drop(view::publish(ledger, scope, of.id, revision).await?),
        Step::Unpublish => drop(view::unpublish(ledger, scope, of.id).await?),
        Step::Delete => view::delete(ledger, scope, of.id).await?,
        Step::Revoke(link) => view_link::revoke(ledger, scope, link).await?,
    }
    Ok(step.leads_to(&of.slug))
}

/// Makes a link and shows it, or shows the page with the reason why it was refused.
async fn create_link(
    state: &AppState,
    viewer: Viewer,
    page: page::Page,
    form: &Form,
) -> Result<Response, PageRejection> {
    match make_link(&state.ledger, &viewer.scope, page.view.id, form).await {
        Ok(secret) => show_link(state, viewer, page.view.slug, secret).await,
        Err(error) => {
            let problem = Problem::from(error);
            let shown = NewLinkState { link_form: form.refused("link", &problem), ..NewLinkState::default() };
            Ok(answer(viewer, page, shown, Some(problem)).await)
        }
    }
}

/// Redirects to the page that shows the new link once. A program, which has no cookies, is answered with that page.
async fn show_link(state: &AppState, viewer: Viewer, slug: String, secret: String) -> Result<Response, PageRejection> {
    let path = format!("/views/{slug}");
    // With a fragment the browser would not focus the field with the address of the link.
    if let Some(response) = carried(state, &viewer, (NewSecret::FormLink, &secret), (&path, "")) {
        return Ok(response);
    }
    let page = page::read(&state.ledger, &viewer.scope, slug).await?;
    let shown = NewLinkState { new_link: Some(secret), ..NewLinkState::default() };
    let mut response = answer(viewer, page, shown, None).await;
    *response.status_mut() = StatusCode::CREATED;
    Ok(response)
}

/// Makes the link that the form describes, and returns its secret.
async fn make_link(ledger: &Ledger, scope: &Scope, view_id: ViewId, form: &Form) -> ledger::Result<String> {
    let days: u32 = form.text("days").trim().parse().map_err(|_| ledger::Error::invalid("days", "a whole number"))?;
    let new = NewViewLink { days, note: form.text("note"), request_id: None };
    let (_, secret) = view_link::create_noted(ledger, scope, view_id, new).await?;
    Ok(secret)
}

async fn new(State(state): State<AppState>, viewer: Viewer) -> Result<Response, PageRejection> {
    let offered = page::editor(&state.ledger, &viewer.scope, None).await?;
    let draft = Draft { rows: vec![ui::Row::default()], ..Draft::default() };
    editor(&state, viewer, offered, draft, FormState::default(), StatusCode::OK).await
}

async fn edit(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
) -> Result<Response, PageRejection> {
    let offered = page::editor(&state.ledger, &viewer.scope, Some(known(slug)?)).await?;
    let draft = offered.view.as_ref().map(draft_of).unwrap_or_default();
    editor(&state, viewer, offered, draft, FormState::default(), StatusCode::OK).await
}

async fn editor(
    state: &AppState,
    viewer: Viewer,
    offered: page::Editor,
    draft: Draft,
    form: FormState,
    status: StatusCode,
) -> Result<Response, PageRejection> {
    let preview = page::preview(&state.ledger, &viewer.scope, draft.fields.clone()).await?;
    let page::Editor { criteria_sets, entity_types, groups, .. } = offered;
    let props = EditorProps { draft, preview, criteria_sets, entity_types, groups, form };
    Ok(render(status, move || ui::editor_page(&viewer.shell, props)).await)
}

async fn create(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageRejection> {
    let offered = page::editor(&state.ledger, &viewer.scope, None).await?;
    posted(&state, viewer, headers, offered, form).await
}

async fn save(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageRejection> {
    let offered = page::editor(&state.ledger, &viewer.scope, Some(known(slug)?)).await?;
    posted(&state, viewer, headers, offered, form).await
}

/// Saves what the editor holds, or answers the changed editor: a question more, less or in another place.
async fn posted(
    state: &AppState,
    viewer: Viewer,
    headers: HeaderMap,
    offered: page::Editor,
    form: Form,
) -> Result<Response, PageRejection> {
    let (mut draft, wrong) = read(&form, offered.view.as_ref());
    if wants_fragment(&headers) {
        return Ok(Html(preview(state, &viewer, draft).await?).into_response());
    }
    if form.text("do") == "save" {
        return store_or_refuse(state, viewer, offered, (draft, wrong), &form).await;
    }
    press(&mut draft, &form.text("do"));
    editor(state, viewer, offered, draft, placed(&form, None), StatusCode::OK).await
}

/// Saves what the editor holds, if all of it could be read. Otherwise answers the editor with the reason.
async fn store_or_refuse(
    state: &AppState,
    viewer: Viewer,
    offered: page::Editor,
    (draft, wrong): (Draft, Vec<Issue>),
    form: &Form,
) -> Result<Response, PageRejection> {
    let stored = match wrong.is_empty() {
        true => store(&state.ledger, &viewer.scope, offered.view.as_ref(), &draft, form).await,
        false => Err(ledger::Error::Invalid(wrong)),
    };
    match stored {
        Ok(stored) => Ok(redirect_with_notice(&format!("/views/{}", stored.slug), "view_saved").into_response()),
        Err(error) => refused(state, viewer, offered, draft, form, error.into()).await,
    }
}

/// What the form looks like, for the script of the editor.
async fn preview(state: &AppState, viewer: &Viewer, draft: Draft) -> Result<String, PageRejection> {
    let fields = page::preview(&state.ledger, &viewer.scope, draft.fields).await?;
    Ok(ui::preview_fragment(&draft.title, &draft.introduction, &fields))
}

/// The editor with the typed text, and why it was not saved. If the view was changed in the meantime, the next save
/// replaces that change.
async fn refused(
    state: &AppState,
    viewer: Viewer,
    offered: page::Editor,
    mut draft: Draft,
    form: &Form,
    problem: Problem,
) -> Result<Response, PageRejection> {
    if let Some(stored) = offered.view.as_ref().filter(|_| problem.code() == Code::StaleVersion) {
        draft.revision = stored.revision;
    }
    let typed = or_stale(placed(form, Some(&problem)), &problem);
    let mut response = editor(state, viewer, offered, draft, typed, problem.status()).await?;
    problem.mark(&mut response);
    Ok(response)
}

/// Creates the view that the editor describes, or changes the one that it was opened with.
async fn store(
    ledger: &Ledger,
    scope: &Scope,
    before: Option<&ViewRecord>,
    draft: &Draft,
    form: &Form,
) -> ledger::Result<ViewRecord> {
    match before {
        None => view::create(ledger, scope, new_view(draft, form)).await,
        Some(before) => view::update(ledger, scope, before.id, view_change(draft)).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(fields: &[(&str, &str)]) -> ledger::Result<Step> {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Step::of(&Form::of(fields.collect()))
    }

    #[test]
    fn a_button_is_a_step_that_leads_to_a_page() {
        assert_eq!(step(&[("do", "publish"), ("revision", "3")]).unwrap(), Step::Publish(Some(3)));
        assert_eq!(step(&[("do", "publish")]).unwrap(), Step::Publish(None));
        let revoke = step(&[("do", "revoke"), ("link", "01930000-0000-7000-8000-000000000001")]).unwrap();
        assert_eq!(revoke.leads_to("intake"), ("/views/intake".to_owned(), "view_link_revoked"));
        let delete = step(&[("do", "delete")]).unwrap();
        assert_eq!(delete.leads_to("intake"), ("/views".to_owned(), "view_deleted"));
    }

    #[test]
    fn an_unknown_button_or_link_is_refused_at_its_field() {
        let field = |fields: &[(&str, &str)]| match step(fields) {
            Err(ledger::Error::Invalid(wrong)) => wrong[0].field.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(field(&[("do", "revoke"), ("link", "none")]), "link");
        assert_eq!(field(&[("do", "archive")]), "do");
    }
}
