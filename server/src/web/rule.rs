//! /rules: list, make, one of them with its decisions, edit.

use super::{
    form::{Form, or_stale},
    people::people_of,
    rule_form::{draft_of, placed, read, what},
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
    rule::{self as ui, Draft, EditorProps, ListProps, Props, Suggested, Version},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{
    id::{GateId, InvalidId, RuleId},
    role::Permission,
    rule::Definition,
};
use ledger::{
    Ledger, RuleRecord, RuleVersionRecord, Scope,
    page::rule as page,
    rule::{self, RuleChange, Suggestion},
};
use serde::Deserialize;
use wire::{Code, rule::BackTest};

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/rules", get(list).post(create))
        .route("/rules/new", get(new))
        .route("/rules/{id}", get(show).post(post))
        .route("/rules/{id}/edit", get(edit).post(save))
}

#[derive(Default, Deserialize)]
struct ListQuery {
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct NewQuery {
    from: Option<String>,
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let page::List { rules, suggestions, now } = page::list(&state.ledger, &viewer.scope, query.cursor).await?;
    let suggested = suggestions.into_iter().map(suggested).collect();
    let rules = wire_map::page(rules, wire_map::rule);
    let props = ListProps { rules: rules.items, next_cursor: rules.next_cursor, suggested, now };
    Ok(render(StatusCode::OK, move || ui::list_page(&viewer.shell, props)).await)
}

/// A suggestion as the page shows it.
fn suggested(of: Suggestion) -> Suggested {
    Suggested { from: of.gate_id, what: what(&of.subject), approvals: of.approvals }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<RuleId>,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, id, query.cursor).await?;
    Ok(answer(viewer, page, None).await)
}

/// The page of a rule, with the problem of a button that was refused.
async fn answer(viewer: Viewer, page: page::Page, problem: Option<Problem>) -> Response {
    let props = props(page, problem.as_ref().map(Problem::lines).unwrap_or_default());
    render_or_refuse(problem.as_ref(), move || ui::page(&viewer.shell, props)).await
}

fn props(page: page::Page, refusals: Vec<String>) -> Props {
    let decisions = wire_map::page(page.decisions, wire_map::rule_decision);
    Props {
        rule: wire_map::rule(page.rule),
        versions: page.versions.into_iter().map(version).collect(),
        decisions: decisions.items,
        next_cursor: decisions.next_cursor,
        people: people_of(page.people),
        refusals,
        now: page.now,
    }
}

fn version(record: RuleVersionRecord) -> Version {
    Version {
        version: record.version,
        sentence: record.definition.sentence(),
        made_by: format!("user:{}", record.made_by),
        made_at: record.made_at,
    }
}

/// Suspends, resumes or deletes the rule.
async fn post(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<RuleId>,
    form: Form,
) -> Result<Response, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, id, None).await?;
    match change(&state.ledger, &viewer.scope, id, &form.text("do")).await {
        Ok((path, notice)) => Ok(redirect_with_notice(&path, notice).into_response()),
        Err(error) => Ok(answer(viewer, page, Some(Problem::from(error))).await),
    }
}

/// Does what the button says. Returns the path of the page after it, and its notice.
async fn change(ledger: &Ledger, scope: &Scope, id: RuleId, step: &str) -> ledger::Result<(String, &'static str)> {
    let page = format!("/rules/{id}");
    match step {
        "suspend" => rule::suspend(ledger, scope, id).await.map(|_| (page, "rule_suspended")),
        "resume" => rule::resume(ledger, scope, id).await.map(|_| (page, "rule_resumed")),
        "delete" => rule::delete(ledger, scope, id).await.map(|()| ("/rules".to_owned(), "rule_deleted")),
        _ => Err(ledger::Error::invalid("do", "suspend, resume or delete")),
    }
}

/// Refuses everyone who may not change rules.
fn require_admin(scope: &Scope) -> Result<(), Problem> {
    if scope.may(Permission::Administer) {
        return Ok(());
    }
    Err(ledger::Error::Forbidden("only admins can change rules").into())
}

async fn new(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<NewQuery>,
) -> Result<Response, PageRejection> {
    require_admin(&viewer.scope)?;
    let Some(from) = query.from.filter(|id| !id.is_empty()) else { return start(&state, viewer).await };
    let from: GateId =
        from.parse().map_err(|error: InvalidId| Problem::field(Code::InvalidId, "from", error.to_string()))?;
    let definition = rule::draft(&state.ledger, &viewer.scope, from).await?;
    let draft = draft_of(&definition);
    Ok(tested(&state, viewer, draft, definition, FormState::default()).await?)
}

/// What a rule can be made from, for an address that names nothing.
async fn start(state: &AppState, viewer: Viewer) -> Result<Response, PageRejection> {
    let list = page::list(&state.ledger, &viewer.scope, None).await?;
    let suggested: Vec<Suggested> = list.suggestions.into_iter().map(suggested).collect();
    Ok(render(StatusCode::OK, move || ui::new_page(&viewer.shell, &suggested)).await)
}

async fn edit(State(state): State<AppState>, viewer: Viewer, Id(id): Id<RuleId>) -> Result<Response, PageRejection> {
    require_admin(&viewer.scope)?;
    let record = rule::get(&state.ledger, &viewer.scope, id).await?.record;
    let draft = editing(&record);
    Ok(editor(viewer, draft, None, FormState::default(), StatusCode::OK).await)
}

/// What the editor of a stored rule holds.
fn editing(record: &RuleRecord) -> Draft {
    Draft { id: Some(record.id), version: record.version, ..draft_of(&record.definition) }
}

async fn editor(
    viewer: Viewer,
    draft: Draft,
    tested: Option<BackTest>,
    form: FormState,
    status: StatusCode,
) -> Response {
    let props = EditorProps { draft, tested, form };
    render(status, move || ui::editor_page(&viewer.shell, props)).await
}

/// The editor with what the rule would have decided.
async fn tested(
    state: &AppState,
    viewer: Viewer,
    draft: Draft,
    definition: Definition,
    form: FormState,
) -> Result<Response, Problem> {
    let tested = rule::back_test(&state.ledger, &viewer.scope, definition).await?;
    Ok(editor(viewer, draft, Some(wire_map::back_test(tested)), form, StatusCode::OK).await)
}

/// Tests or makes the rule that the form holds.
async fn create(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    require_admin(&viewer.scope)?;
    let (draft, definition) = read(&form, None)?;
    match definition {
        Ok(definition) if is_test(&form) => Ok(test(&state, viewer, draft, definition, &form).await),
        Ok(definition) => {
            let stored = rule::create(&state.ledger, &viewer.scope, definition).await;
            Ok(saved(viewer, draft, &form, stored).await)
        }
        Err(issues) => Ok(saved(viewer, draft, &form, Err(issues.into())).await),
    }
}

/// Tests the rule that the form holds, or makes it a version.
async fn save(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<RuleId>,
    form: Form,
) -> Result<Response, PageRejection> {
    require_admin(&viewer.scope)?;
    let before = rule::get(&state.ledger, &viewer.scope, id).await?.record;
    let (draft, definition) = read(&form, Some(&before))?;
    let stored = match definition {
        Ok(definition) if is_test(&form) => return Ok(test(&state, viewer, draft, definition, &form).await),
        Ok(definition) => rule::update(&state.ledger, &viewer.scope, id, edited(&form, definition)).await,
        Err(issues) => Err(issues.into()),
    };
    Ok(saved(viewer, draft, &form, stored).await)
}

/// Whether the form is only to be tested.
fn is_test(form: &Form) -> bool {
    form.text("do") == "test"
}

/// The change that makes a stored rule what the form holds.
fn edited(form: &Form, Definition { conditions, limits, .. }: Definition) -> RuleChange {
    let version = form.text("version").parse().unwrap_or_default();
    RuleChange { version, conditions: Some(conditions), limits: Some(limits) }
}

/// The editor with what the typed rule would have decided, or with its errors.
async fn test(state: &AppState, viewer: Viewer, draft: Draft, definition: Definition, form: &Form) -> Response {
    let typed = form.state_without_errors("rule");
    match rule::back_test(&state.ledger, &viewer.scope, definition).await {
        Ok(result) => editor(viewer, draft, Some(wire_map::back_test(result)), typed, StatusCode::OK).await,
        Err(error) => refused(viewer, draft, form, &Problem::from(error)).await,
    }
}

/// The page after a save, or the editor with the typed text and why it was not saved.
async fn saved(viewer: Viewer, draft: Draft, form: &Form, stored: ledger::Result<RuleRecord>) -> Response {
    match stored {
        Ok(rule) => redirect_with_notice(&format!("/rules/{}", rule.id), "rule_saved").into_response(),
        Err(error) => refused(viewer, draft, form, &Problem::from(error)).await,
    }
}

async fn refused(viewer: Viewer, draft: Draft, form: &Form, problem: &Problem) -> Response {
    let typed = or_stale(placed(form, &draft, problem), problem);
    let mut response = editor(viewer, draft, None, typed, problem.status()).await;
    problem.mark(&mut response);
    response
}
