//! /inbox: items that wait for a decision. The forms post to server functions. Scripts read the list or one item alone.

use super::{
    answer::options_of,
    form::Form,
    fragment::wants_fragment,
    search_line::{non_empty, searched},
    sessions::{day, entry},
    shell::{PageRejection, Viewer, render},
};
use crate::{
    extract::{Id, Params},
    state::AppState,
    wire_map,
};
use app::{
    FormState,
    entity::Relations,
    inbox::{
        self as ui, CONFIRMED, Decide, DecideMany, Detail, ItemFilter, List, Props, SnoozeItems, UndoDecisions,
        item_of_field,
    },
    schema_form::STEP,
    ui::list_search::ListSearch,
};
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use domain::{
    gate::{GateOutcome, GateState},
    id::{GateId, UserId},
    search::Field,
};
use ledger::{
    gate::{GateFilter, GateItem},
    page::inbox::{self as page, DecidedRequest, ITEMS, ListRequest, Opened, Selected},
    rule::{self, Suggestion},
    work_queue::is_timezone,
};
use leptos::server_fn::ServerFn as _;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use wire::approval::{Approval, Decision};

/// Least number of alike items that are shown as one group.
const GROUP_MIN: usize = 3;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/inbox", get(show))
        .route("/inbox/list", get(list))
        .route("/inbox/selection", post(selection).get(|| async { Redirect::to("/inbox") }))
        .route("/inbox/{id}", get(open))
        .route("/inbox/{id}/detail", get(detail))
        .route("/needs-you", get(|| async { Redirect::to("/inbox") }))
        .route("/needs-you/{id}", get(|Id(id): Id<GateId>| async move { Redirect::to(&format!("/inbox/{id}")) }))
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListQuery {
    state: Option<String>,
    assigned_to: Option<String>,
    cursor: Option<String>,
    open: Option<String>,
    select: Option<String>,
    by: Option<String>,
    outcome: Option<String>,
    agent: Option<String>,
    since: Option<String>,
    until: Option<String>,
    zone: Option<String>,
    kind: Option<String>,
    q: Option<String>,
}

impl ListQuery {
    fn item_filter(&self) -> ItemFilter {
        self.state.as_deref().map(ItemFilter::parse).unwrap_or_default()
    }

    fn request(&self) -> ListRequest {
        ListRequest {
            filter: match self.item_filter() {
                ItemFilter::Open => GateFilter::In(GateState::Open),
                ItemFilter::Snoozed => GateFilter::Snoozed,
                ItemFilter::Settled => GateFilter::Closed,
            },
            everyone: self.assigned_to.as_deref() == Some("all"),
            line: self.searched().0,
            cursor: self.cursor.clone(),
        }
    }

    /// The search line, its field as the page shows it, and the status of the page.
    fn searched(&self) -> (Option<String>, ListSearch, StatusCode) {
        searched(self.q.as_ref(), &Field::OF_APPROVALS)
    }

    /// The filter of the decided items as the page shows it, and as they are read. It leaves out what is no value of a
    /// field. Days are those of the time zone that the address names, or else of the reader's.
    fn decided(&self, viewer: &Viewer) -> (ui::DecidedFilter, page::DecidedFilter) {
        if self.item_filter() != ItemFilter::Settled {
            return (ui::DecidedFilter::default(), page::DecidedFilter::default());
        }
        let by: Option<UserId> = non_empty(self.by.as_ref()).and_then(|id| id.parse().ok());
        let (since, until) = (day(self.since.as_ref()), day(self.until.as_ref()));
        let zone = non_empty(self.zone.as_ref()).filter(|zone| is_timezone(zone)).unwrap_or(&viewer.timezone);
        let timezone = since.or(until).map(|_| zone.to_owned());
        let outcome = self.outcome.as_deref().and_then(GateOutcome::parse);
        let agent = non_empty(self.agent.as_ref()).map(str::to_owned);
        let shown = ui::DecidedFilter {
            by: by.map(|id| id.to_string()),
            outcome,
            agent: agent.clone(),
            since: since.map(|day| day.to_string()),
            until: until.map(|day| day.to_string()),
            zone: timezone.clone(),
        };
        (shown, page::DecidedFilter { decided_by: by, outcome, agent, since, until, timezone })
    }

    fn decided_request(&self, viewer: &Viewer) -> DecidedRequest {
        let ListRequest { everyone, line, cursor, .. } = self.request();
        DecidedRequest { filter: self.decided(viewer).1, everyone, line, limit: ITEMS, cursor }
    }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    // Suggestions for canvases are no gates, so they have a page of their own.
    if query.kind.as_deref() == Some("patch") {
        return Ok(Redirect::to("/inbox/patches").into_response());
    }
    let props = read(&state, &viewer, &query, Selected::First).await?;
    Ok(render(query.searched().2, move || ui::page(&viewer.shell, props)).await)
}

async fn open(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<GateId>,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let props = read(&state, &viewer, &query, Selected::Item(id)).await?;
    Ok(render(query.searched().2, move || ui::page(&viewer.shell, props)).await)
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
) -> Result<Html<String>, PageRejection> {
    Ok(Html(ui::list_fragment(&read_list(&state, &viewer, &query).await?)))
}

/// The items that a form names, beside the list: as a page, or as a fragment for scripts. Items that are not in the
/// list any more are left out. It changes nothing.
async fn selection(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageRejection> {
    let ids = form.below("items[").filter_map(|(name, _)| Some(name.strip_suffix(']')?.to_owned()));
    let list = read_list(&state, &viewer, &query).await?.with_selection(ids.take(ITEMS as usize).collect());
    if wants_fragment(&headers) {
        return Ok(Html(ui::selection_fragment(&list)).into_response());
    }
    let props = Props { opened: !list.ticked.is_empty(), list, detail: None };
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

async fn detail(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<GateId>,
) -> Result<Html<String>, PageRejection> {
    let found = page::opened(&state.ledger, &viewer.scope, id).await?;
    let detail = item_detail(&viewer, found, None, FormState::default());
    Ok(Html(ui::detail_fragment(&detail)))
}

/// Reads the page of a list with one open item: the requested one, or else the first.
async fn read(
    state: &AppState,
    viewer: &Viewer,
    query: &ListQuery,
    selected: Selected,
) -> Result<Props, PageRejection> {
    let (ledger, scope) = (&state.ledger, &viewer.scope);
    let (found, detail) = match query.item_filter() {
        ItemFilter::Settled => page::read_decided(ledger, scope, query.decided_request(viewer), selected).await?,
        ItemFilter::Open | ItemFilter::Snoozed => page::read(ledger, scope, query.request(), selected).await?,
    };
    let offers = offers(rule::suggestions_alike(ledger, scope, &groups(query, &found)).await?);
    let mut props = props(viewer, query, (found, detail), selected != Selected::First);
    props.list.offers = offers;
    Ok(props)
}

/// Rules to offer, by the key of the group that they would be about.
fn offers(suggested: Vec<Suggestion>) -> HashMap<String, (GateId, u64)> {
    suggested.into_iter().map(|of| (of.similar_key, (of.gate_id, of.approvals))).collect()
}

/// Keys of open items that are shown as groups of alike ones.
fn groups(query: &ListQuery, list: &page::List) -> HashSet<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    if query.item_filter() == ItemFilter::Open {
        for item in &list.items {
            *counts.entry(item.gate.similar_key.as_str()).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count >= GROUP_MIN).map(|(key, _)| key.to_owned()).collect()
}

/// An item as the page shows it: a rule has no name.
pub(super) fn with_named_rule(item: GateItem) -> Approval {
    let mut approval = wire_map::approval(item);
    if let Some(decision) = &mut approval.decision {
        name_rule(decision);
    }
    approval
}

fn name_rule(decision: &mut Decision) {
    if decision.email.starts_with("rule:") {
        decision.email = "a rule".to_owned();
    }
}

/// Converts the list and the item beside it. `opened` says whether the address names the item: a refused form is then
/// that of the item, otherwise that of a batch.
fn props(viewer: &Viewer, query: &ListQuery, (found, detail): (page::List, Option<Opened>), opened: bool) -> Props {
    let current = detail.as_ref().map(id_of);
    let next = current.as_deref().and_then(|current| next_of(&found, current));
    let (item_form, batch) = if opened {
        (form_of_item(&viewer.form, current.as_deref().unwrap_or_default()), FormState::default())
    } else {
        (FormState::default(), form_of_batch(&viewer.form))
    };
    let refused = refused_items(&batch);
    // What a refused form had selected is shown again, with the reasons.
    let ids = batch.values.keys().filter_map(|name| Some(item_of_field(name)?.to_owned())).collect();
    let list = List { current, refused, batch, ..listed(viewer, query, found) }.with_selection(ids);
    let list = if opened { list.with_open_item_visible() } else { list };
    // A narrow screen shows the form that is to be pressed again.
    let opened = opened || list.batch.error(CONFIRMED).is_some() || list.batch.value(STEP).is_some();
    let detail = detail.map(|found| item_detail(viewer, found, next, item_form));
    Props { list, detail, opened }
}

fn id_of(opened: &Opened) -> String {
    match opened {
        Opened::Gate(detail) => detail.found.item.gate.id.to_string(),
        Opened::Question(question) => question.asked.request.id.to_string(),
    }
}

/// The item after the current one. `None` if the current one is the last, or on another page of the list.
fn next_of(list: &page::List, current: &str) -> Option<String> {
    let gates = list.items.iter().map(|item| item.gate.id.to_string());
    let mut ids = gates.chain(list.questions.iter().map(|question| question.id.to_string()));
    ids.find(|id| id == current)?;
    ids.next()
}

async fn read_list(state: &AppState, viewer: &Viewer, query: &ListQuery) -> Result<List, PageRejection> {
    let (ledger, scope) = (&state.ledger, &viewer.scope);
    let found = match query.item_filter() {
        ItemFilter::Settled => page::list_decided(ledger, scope, query.decided_request(viewer)).await?,
        ItemFilter::Open | ItemFilter::Snoozed => page::list(ledger, scope, query.request()).await?,
    };
    let offers = offers(rule::recent_suggestions_alike(ledger, scope, &groups(query, &found)).await?);
    Ok(List { offers, ..listed(viewer, query, found) })
}

/// A list without an open item.
fn listed(viewer: &Viewer, query: &ListQuery, found: page::List) -> List {
    let now = viewer.shell.now;
    List {
        titles: found.titles.into_iter().collect(),
        questions: found.questions.into_iter().map(|asked| wire_map::open_question(asked, None, now)).collect(),
        terminal_sessions: found.elsewhere.into_iter().map(entry).collect(),
        filter: query.item_filter(),
        patches: found.patches,
        everyone: query.request().everyone,
        decided: query.decided(viewer).0,
        search: query.searched().1,
        people: found.people.into_iter().map(|(id, name)| (id.to_string(), name)).collect(),
        items: found.items.into_iter().map(with_named_rule).collect(),
        next_cursor: found.next_cursor,
        cursor: query.cursor.clone(),
        held: found.held.into_iter().map(wire_map::approval).collect(),
        now,
        timezone: viewer.timezone.clone(),
        current: None,
        labels: found.labels,
        unchanged: found.unchanged.into_iter().map(|(id, keys)| (id.to_string(), keys)).collect(),
        alike: found.alike,
        offers: HashMap::new(),
        undo_seconds: found.undo_seconds,
        ticked: BTreeSet::new(),
        unfolded: query.open.clone(),
        selected: query.select.clone(),
        refused: BTreeMap::new(),
        batch: FormState::default(),
        styles: viewer.shell.pages_css_href.clone(),
    }
}

/// An item with its form. A form without typed values gets those of the viewer's decision that was undone.
fn item_detail(viewer: &Viewer, found: Opened, next: Option<String>, form: FormState) -> Detail {
    let (now, mut schema) = (viewer.shell.now, None);
    let (item, goes_on, events, names, relations, entities) = match found {
        Opened::Gate(found) => {
            let relations = super::entity::relations_of(found.relations);
            schema = found.found.schema.clone();
            let mut item = wire_map::approval_detail(found.found);
            item.decisions.iter_mut().chain(&mut item.approval.decision).for_each(name_rule);
            (item, false, found.events, found.names, relations, found.entities)
        }
        Opened::Question(found) => {
            let item = wire_map::open_question_detail(found.asked, now);
            (item, true, found.events, found.names, Relations::default(), found.entities)
        }
    };
    let viewer_id = viewer.scope.user_id();
    let before = viewer_id.and_then(|viewer_id| ui::undone_form(&item, viewer_id));
    let form = if form == FormState::default() { before.unwrap_or_default() } else { form };
    Detail {
        item,
        next,
        goes_on,
        events: events.into_iter().map(wire_map::event).collect(),
        titles: names.into_iter().collect(),
        relations,
        entities: options_of(entities),
        now,
        timezone: viewer.timezone.clone(),
        viewer_id,
        styles: viewer.shell.pages_css_href.clone(),
        schema,
        form,
    }
}

/// The refused form of an item, named as `Detail` names its forms.
fn form_of_item(refused: &FormState, id: &str) -> FormState {
    let name = match refused.form.as_str() {
        Decide::PATH if refused.value("id") == Some(id) => match refused.value("decision") {
            // The button that closes a question is in the form that denies it.
            Some("cancel") => "deny",
            // A button that changes the form of the values or of an answer.
            None if refused.value(STEP).is_some_and(|step| step.contains(&format!(":{}.", ui::VALUE))) => "approve",
            None if refused.value(STEP).is_some() => "respond",
            decision => decision.unwrap_or_default(),
        },
        SnoozeItems::PATH => "snooze",
        _ => return FormState::default(),
    };
    FormState { form: name.to_owned(), ..refused.clone() }
}

/// The refused form of a batch.
fn form_of_batch(refused: &FormState) -> FormState {
    let is_batch = [DecideMany::PATH, SnoozeItems::PATH, UndoDecisions::PATH].contains(&refused.form.as_str());
    if is_batch { refused.clone() } else { FormState::default() }
}

/// Why items were refused, by id. Errors that name no item have the empty id as their key.
fn refused_items(batch: &FormState) -> BTreeMap<String, String> {
    let errors = batch.errors.iter().filter(|error| error.field.as_deref() != Some(CONFIRMED)).map(|error| {
        let id = error.field.as_deref().and_then(item_of_field).unwrap_or_default();
        (id.to_owned(), error.message.clone())
    });
    errors.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tab_of_decided_items_lists_expired_and_withdrawn_ones_too() {
        let query = ListQuery { state: Some("settled".into()), ..ListQuery::default() };
        assert_eq!(query.request().filter, GateFilter::Closed);
    }
}
