//! /inbox/review: the open items of a group as a table, decided together.

use super::{
    form::Form,
    inbox::with_named_rule,
    inbox_review_form::{Batch, Decisions, Results, typed_state},
    shell::{PageRejection, Viewer, refuse, render, render_or_refuse},
};
use crate::{extract::Params, state::AppState, wire_map};
use app::{
    FormState,
    inbox::{
        List, UndoDecisions,
        review::{self as ui, Outcome, Props, ResultProps, Sort},
    },
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use domain::id::GateId;
use ledger::page::{
    inbox::ITEMS,
    inbox_review::{self as page, Group, Items},
};
use leptos::server_fn::ServerFn as _;
use serde::Deserialize;
use std::collections::BTreeMap;
use uuid::Uuid;
use wire::approval::Approval;

/// Hexadecimal digits of an id in the address of a result.
const ID_DIGITS: usize = 32;

pub fn router() -> Router<AppState> {
    Router::new().route("/inbox/review", get(show).post(post)).route("/inbox/review/result", get(result))
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReviewQuery {
    group: Option<String>,
    assigned_to: Option<String>,
    sort: Option<String>,
    order: Option<String>,
    items: Option<String>,
}

impl ReviewQuery {
    fn is_everyones(&self) -> bool {
        self.assigned_to.as_deref() == Some("all")
    }

    fn group(&self) -> Group {
        Group { key: self.group.clone().unwrap_or_default(), everyone: self.is_everyones() }
    }

    fn sort(&self) -> Sort {
        let key = self.sort.clone().filter(|key| !key.is_empty());
        Sort { is_descending: key.is_some() && self.order.as_deref() == Some("desc"), key }
    }

    /// The ids that the address of a result names. What is no id is ignored.
    fn ids(&self) -> Vec<GateId> {
        let digits = self.items.as_deref().unwrap_or_default().as_bytes().chunks_exact(ID_DIGITS);
        let ids = digits.filter_map(|digits| Uuid::parse_str(std::str::from_utf8(digits).ok()?).ok());
        ids.map(GateId).take(ITEMS as usize).collect()
    }

    /// The address of the page that says what became of these items.
    fn result_href(&self, ids: &[GateId]) -> String {
        let items: String = ids.iter().map(|id| id.0.simple().to_string()).collect();
        let group: String =
            form_urlencoded::byte_serialize(self.group.as_deref().unwrap_or_default().as_bytes()).collect();
        let everyone = if self.is_everyones() { "&assignedTo=all" } else { "" };
        format!("/inbox/review/result?group={group}{everyone}&items={items}")
    }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ReviewQuery>,
) -> Result<Response, PageRejection> {
    let found = page::alike(&state.ledger, &viewer.scope, query.group()).await?;
    let props = props(&viewer, &query, found, FormState::default());
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, &props)).await)
}

async fn result(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ReviewQuery>,
) -> Result<Response, PageRejection> {
    let ids = query.ids();
    let address = query.result_href(&ids);
    let found = page::by_ids(&state.ledger, &viewer.scope, ids).await?;
    let props = result_props(&viewer, &query, found, address);
    Ok(render(StatusCode::OK, move || ui::result_page(&viewer.shell, &props)).await)
}

fn result_props(viewer: &Viewer, query: &ReviewQuery, found: Items, address: String) -> ResultProps {
    let undo = viewer.form.of(UndoDecisions::PATH);
    let mut list = list_of(viewer, query, found);
    let items = std::mem::take(&mut list.items);
    ResultProps {
        list,
        outcomes: items.into_iter().map(|item| Outcome { item, unused: Vec::new() }).collect(),
        group: query.group().key,
        address,
        viewer_id: viewer.scope.user_id(),
        refusals: undo.errors.into_iter().map(|error| error.message).collect(),
    }
}

fn list_of(viewer: &Viewer, query: &ReviewQuery, found: Items) -> List {
    List {
        everyone: query.is_everyones(),
        items: found.items.into_iter().map(with_named_rule).collect(),
        titles: found.titles.into_iter().collect(),
        labels: found.labels,
        unchanged: found.unchanged.into_iter().map(|(id, keys)| (id.to_string(), keys)).collect(),
        undo_seconds: found.undo_seconds,
        now: viewer.shell.now,
        ..List::default()
    }
}

/// Converts what was read. Of a form whose rows were rendered for earlier proposals, only what was typed is kept.
fn props(viewer: &Viewer, query: &ReviewQuery, found: Items, mut form: FormState) -> Props {
    let has_more = found.has_more;
    let decisions: Vec<Vec<_>> =
        found.items.iter().map(|item| item.decisions.iter().cloned().map(wire_map::decision).collect()).collect();
    let list = list_of(viewer, query, found);
    for (item, decisions) in list.items.iter().zip(decisions) {
        form = ui::refreshed(form, item, decisions);
    }
    Props {
        list,
        group: query.group().key,
        has_more,
        sort: query.sort(),
        form,
        outcomes: Vec::new(),
        viewer_id: viewer.scope.user_id(),
    }
}

async fn post(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ReviewQuery>,
    form: Form,
) -> Result<Response, PageRejection> {
    if form.has(ui::ARRANGE) {
        return arrange(&state, viewer, &query, &form).await;
    }
    decide(&state, viewer, &query, &form).await
}

/// Shows the table in the order of the address, with what was typed, and with the selection that the form asks for.
async fn arrange(
    state: &AppState,
    viewer: Viewer,
    query: &ReviewQuery,
    form: &Form,
) -> Result<Response, PageRejection> {
    let found = page::alike(&state.ledger, &viewer.scope, query.group()).await?;
    let props = props(&viewer, query, found, typed_state(form));
    let props = Props { form: ui::arranged(props.form, &props.list), ..props };
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, &props)).await)
}

async fn decide(state: &AppState, viewer: Viewer, query: &ReviewQuery, form: &Form) -> Result<Response, PageRejection> {
    let batch = Batch::read(form)?;
    let found = page::by_ids(&state.ledger, &viewer.scope, batch.ids()).await?;
    let shown = list_of(&viewer, query, found);
    let refused = match batch.checked(&shown) {
        Ok(decisions) => return decided(state, viewer, query, &batch, &shown, decisions).await,
        Err(refused) => *refused,
    };
    let found = page::alike(&state.ledger, &viewer.scope, query.group()).await?;
    let props = props(&viewer, query, found, refused.form);
    Ok(refuse(&refused.problem, move || ui::page(&viewer.shell, &props)).await)
}

/// Labels and texts that were typed and not used, by item.
type Unused = BTreeMap<GateId, Vec<(String, String)>>;

/// Decides the items, and answers with what became of them: with a page of its own, or with the table again if items
/// were refused or if a text would be lost.
async fn decided(
    state: &AppState,
    viewer: Viewer,
    query: &ReviewQuery,
    batch: &Batch<'_>,
    shown: &List,
    decisions: Decisions,
) -> Result<Response, PageRejection> {
    let results = batch.results(shown, ledger::inbox::decide_many(&state.ledger, &viewer.scope, decisions).await);
    let late = page::by_ids(&state.ledger, &viewer.scope, results.late_ids.clone()).await?;
    let unused = unused(late, &results.form);
    let rest = page::alike(&state.ledger, &viewer.scope, query.group()).await?;
    let rest = props(&viewer, query, rest, results.form.clone());
    if results.is_complete() && unused.is_empty() && !has_typed(&rest) {
        return Ok(Redirect::to(&query.result_href(&batch.ids())).into_response());
    }
    again(state, viewer, query, results, rest, unused).await
}

/// Shows the table again, with what became of the items that were decided.
async fn again(
    state: &AppState,
    viewer: Viewer,
    query: &ReviewQuery,
    results: Results,
    rest: Props,
    unused: Unused,
) -> Result<Response, PageRejection> {
    let now = page::by_ids(&state.ledger, &viewer.scope, results.closed_ids).await?;
    let outcomes = outcomes(list_of(&viewer, query, now), unused);
    let rest = Props { outcomes, ..rest };
    Ok(render_or_refuse(results.problem.as_ref(), move || ui::page(&viewer.shell, &rest)).await)
}

/// Labels and texts that were typed for items which others had decided.
fn unused(late: Items, form: &FormState) -> Unused {
    let labels = late.labels;
    let typed = late.items.into_iter().filter_map(|item| {
        let decisions = item.decisions.iter().cloned().map(wire_map::decision).collect();
        let item = with_named_rule(item);
        let typed = ui::typed_changes(&item, &ui::refreshed(form.clone(), &item, decisions), &labels);
        (!typed.is_empty()).then_some((item.id, typed))
    });
    typed.collect()
}

/// Whether the table has a text that was typed and not sent.
fn has_typed(props: &Props) -> bool {
    let list = &props.list;
    list.items.iter().any(|item| !ui::typed_changes(item, &props.form, &list.labels).is_empty())
}

fn outcomes(now: List, mut unused: Unused) -> Vec<Outcome> {
    let outcome = |item: Approval| {
        let unused = unused.remove(&item.id).unwrap_or_default();
        Outcome { item, unused }
    };
    now.items.into_iter().map(outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_result_names_its_items() {
        let ids: Vec<GateId> = (1..=3).map(|n| GateId(Uuid::from_u128(n))).collect();
        let (group, assigned_to) = (Some("a&b".into()), Some("all".into()));
        let query = ReviewQuery { group, assigned_to, ..ReviewQuery::default() };
        let href = query.result_href(&ids);
        let (start, items) = href.split_once("&items=").unwrap();
        assert_eq!(start, "/inbox/review/result?group=a%26b&assignedTo=all");
        let named = |items: String| ReviewQuery { items: Some(items), ..ReviewQuery::default() }.ids();
        assert_eq!(named(items.to_owned()), ids);
        assert_eq!(named(format!("{items}12")), ids);
        assert!(named("x".repeat(ID_DIGITS)).is_empty());
    }
}
