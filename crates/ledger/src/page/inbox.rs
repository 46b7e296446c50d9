//! The page /inbox: a list of items that wait for a decision, and one item.

use super::{
    answer::{EntityOptions, entities_on},
    choice::{Choices, relations},
    names::{names, titles},
    proposed_values::{labels, unchanged},
    row::{Row, rows},
};
use crate::{
    Error, Ledger, RequestRecord, Result, canvas,
    event::{self, Read},
    feedback_request::{self, Answerable},
    gate::{self, GateDetail, GateFilter, GateItem, ListGates, ListQuery, MayDecide},
    guard::require,
    inbox::{self, Item},
    session,
    work_queue::{day_begins, zone_of},
};
use chrono::NaiveDate;
use chrono_tz::Tz;
use domain::{
    Scope, Timestamp,
    entity::Values,
    event::Event,
    gate::{GateOutcome, GateState, Task},
    id::{EntityId, GateId, SessionId, TenantId, UserId},
    memory_writer::{slot::person_path, turn::OWN_PLATFORM},
    role::Permission,
    session::Session,
    view::Field,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use store::{Conn, gate::ClosedFilter};

/// Number of items on a page. A bulk decision covers at most this many.
pub const ITEMS: u32 = 200;
/// Most open items that are counted to say how many are alike. More than a page of a list is counted only if the list
/// has several pages.
const ALIKE_COUNT_MAX: u32 = 2_000;
/// Number of sessions shown that wait for the caller in a terminal.
const ELSEWHERE_MAX: u32 = 20;
/// Number of events shown of an item's session.
const TAIL_EVENTS: u32 = 12;

/// A request for one page of the list.
#[derive(Debug, Clone)]
pub struct ListRequest {
    /// The state of the items.
    pub filter: GateFilter,
    /// Whether to list items of all reviewers. If false, only items that the caller may decide.
    pub everyone: bool,
    /// Only items that this search line finds, see [`gate::list_matching`].
    pub line: Option<String>,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// Which closed items are listed. Empty: all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DecidedFilter {
    /// Only items whose decision is this person's.
    pub decided_by: Option<UserId>,
    /// Only items that ended like this.
    pub outcome: Option<GateOutcome>,
    /// Only items of this agent.
    pub agent: Option<String>,
    /// The first day on which they were closed.
    pub since: Option<NaiveDate>,
    /// The last day on which they were closed.
    pub until: Option<NaiveDate>,
    /// IANA name of the time zone of the days; `None`: UTC.
    pub timezone: Option<String>,
}

impl DecidedFilter {
    /// The same filter with instants instead of days.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such time zone.
    fn closed(&self) -> Result<ClosedFilter> {
        let zone = self.timezone.as_deref().map_or(Ok(Tz::UTC), zone_of)?;
        let begins = |day: NaiveDate| day_begins(day, zone).unwrap_or(Timestamp::MAX_UTC);
        Ok(ClosedFilter {
            decided_by: self.decided_by,
            outcome: self.outcome,
            agent: self.agent.clone(),
            since: self.since.map(begins),
            until: self.until.map(|day| day.succ_opt().map_or(Timestamp::MAX_UTC, begins)),
        })
    }
}

/// A request for one page of the closed items.
#[derive(Debug, Clone)]
pub struct DecidedRequest {
    /// Which of them.
    pub filter: DecidedFilter,
    /// Whether to list items of all reviewers. If false, only items that the caller could decide.
    pub everyone: bool,
    /// Only items that this search line finds, see [`gate::list_matching`].
    pub line: Option<String>,
    /// Number of items on the page: 1 to 1,000.
    pub limit: u32,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// Which item is shown beside the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selected {
    /// The first item of the list, if there is one.
    First,
    /// This item, even if it is not in the list: a gate, or a question for which no session waits.
    Item(GateId),
}

/// The list page.
#[derive(Debug)]
pub struct List {
    /// The items: closest deadline first, then oldest. Closed ones: closed last first.
    pub items: Vec<GateItem>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Sessions that wait for the caller in a terminal. Only with open items, and without a search line.
    pub elsewhere: Vec<Row>,
    /// Number of suggestions for canvases that the caller may accept or decline. They are on a page of their own.
    pub patches: u64,
    /// Questions that the caller may answer and for which no session waits. Only with open items, on the first page.
    pub questions: Vec<RequestRecord>,
    /// Decisions of the caller that can still be undone.
    pub held: Vec<GateItem>,
    /// Titles of entities that are proposed as values, by id.
    pub titles: Vec<(String, String)>,
    /// Names of fields of entities by slug, where all types that have such a field agree on it.
    pub labels: BTreeMap<String, String>,
    /// Keys of proposed values that the entity has already, by item. Items without such values are left out.
    pub unchanged: HashMap<GateId, BTreeSet<String>>,
    /// Ids and names of the members of the workspace. Only with closed items.
    pub people: Vec<(UserId, String)>,
    /// Number of open items on all pages by [`domain::gate::Gate::similar_key`], with a search line of those that it
    /// finds. Empty if all are on this page.
    pub alike: HashMap<String, u64>,
    /// Seconds for which a decision can be undone.
    pub undo_seconds: u32,
}

/// A gate with everything that its page shows.
#[derive(Debug)]
pub struct Detail {
    /// The item with its context.
    pub found: GateDetail,
    /// The newest events of its session, oldest first. Empty if the session is private to another caller.
    pub events: Vec<Event>,
    /// Names of entities and people in the events and values, by id or actor.
    pub names: Vec<(String, String)>,
    /// Options of relation fields for an edit, by the slug of the related type. Empty if the caller may not
    /// decide.
    pub relations: BTreeMap<String, Choices>,
    /// Entities that the questions of its form offer, by the key of the question. Empty without such a form.
    pub entities: EntityOptions,
}

/// A question for which no session waits.
#[derive(Debug)]
pub struct Question {
    /// The request and its form.
    pub asked: Answerable,
    /// The newest events of its session, oldest first.
    pub events: Vec<Event>,
    /// Names of entities and people in the events, by id or actor.
    pub names: Vec<(String, String)>,
    /// Entities that the questions of its form offer, by the key of the question.
    pub entities: EntityOptions,
}

/// The item that is shown.
#[derive(Debug)]
pub enum Opened {
    /// A gate, at which a session waits.
    Gate(Box<Detail>),
    /// A question for which no session waits.
    Question(Box<Question>),
}

/// A session, and what it waits for.
#[derive(Debug)]
pub enum Waiting {
    /// The gate at which it waits.
    Gate(Box<GateItem>),
    /// The session. It waits at no gate.
    Session(Box<Session>),
}

/// How many items wait for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingCounts {
    /// Open gates that the caller may decide and has not snoozed.
    pub gates: u64,
    /// Questions that the caller may answer and for which no session waits.
    pub questions: u64,
    /// Suggestions for canvases that the caller may accept or decline.
    pub patches: u64,
}

impl WaitingCounts {
    /// Number of all items: gates, questions and suggestions.
    pub const fn all(self) -> u64 {
        self.gates + self.questions + self.patches
    }
}

/// Counts the items of the caller's own list of open ones, on all its pages; nothing for a token. Counting stops at
/// `at_most`.
pub async fn count(ledger: &Ledger, scope: &Scope, at_most: u32) -> Result<WaitingCounts> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        let gates = gate::count_on(conn, &reader, now, at_most).await?;
        let left = |counted: u64| at_most.saturating_sub(u32::try_from(counted).unwrap_or(u32::MAX));
        let questions = feedback_request::count_open_on(conn, &reader, now, left(gates)).await?;
        let patches = canvas::inbox::count_on(conn, &reader, left(gates + questions)).await?;
        Ok(WaitingCounts { gates, questions, patches })
    });
    read.await
}

/// Reads the list and the item beside it.
///
/// # Errors
/// Those of [`list`], and those of [`opened`] for [`Selected::Item`].
pub async fn read(
    ledger: &Ledger,
    scope: &Scope,
    request: ListRequest,
    selected: Selected,
) -> Result<(List, Option<Opened>)> {
    require(scope, Permission::Read)?;
    let list_query = list_query(scope, &request, ledger.now())?;
    read_with(ledger, scope, request, list_query, selected).await
}

/// Reads a list of closed items and the item beside it.
///
/// # Errors
/// [`Error::InvalidCursor`] for a cursor of another list; [`Error::Invalid`] for a time zone that does not exist, a bad
/// search line or a limit above 1,000; those of [`opened`] for [`Selected::Item`].
pub async fn read_decided(
    ledger: &Ledger,
    scope: &Scope,
    wanted: DecidedRequest,
    selected: Selected,
) -> Result<(List, Option<Opened>)> {
    require(scope, Permission::Read)?;
    let (request, list_query) = decided_query(scope, wanted, ledger.now())?;
    read_with(ledger, scope, request, list_query, selected).await
}

async fn read_with(
    ledger: &Ledger,
    scope: &Scope,
    request: ListRequest,
    list_query: ListQuery,
    selected: Selected,
) -> Result<(List, Option<Opened>)> {
    let (reader, now) = (*scope, ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        let list = list_on(conn, &reader, &request, &list_query, now).await?;
        let shown = match selected {
            Selected::First => list.items.first().map(|item| item.gate.id).or_else(|| first_question(&list)),
            Selected::Item(id) => Some(id),
        };
        let detail = match shown {
            Some(id) => match (opened_on(conn, &reader, id, now).await, selected) {
                // No one asked for this item, so the list is shown without it.
                (Err(Error::NotFound(_)), Selected::First) => None,
                (found, _) => Some(found?),
            },
            None => None,
        };
        Ok((list, detail))
    });
    read.await
}

/// Reads only the list.
///
/// # Errors
/// [`Error::InvalidCursor`] for a cursor of another list; [`Error::Forbidden`] if a token asks for snoozed gates;
/// [`Error::Invalid`] for a bad search line.
pub async fn list(ledger: &Ledger, scope: &Scope, request: ListRequest) -> Result<List> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let list_query = list_query(scope, &request, now)?;
    let read = ledger.snapshot(scope, async move |conn| list_on(conn, &reader, &request, &list_query, now).await);
    read.await
}

/// Reads only a list of closed items.
///
/// # Errors
/// Those of [`read_decided`] about the list.
pub async fn list_decided(ledger: &Ledger, scope: &Scope, wanted: DecidedRequest) -> Result<List> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let (request, list_query) = decided_query(scope, wanted, now)?;
    let read = ledger.snapshot(scope, async move |conn| list_on(conn, &reader, &request, &list_query, now).await);
    read.await
}

/// Reads only one item.
///
/// # Errors
/// [`Error::NotFound`] if there is neither such a gate nor such a question, or if the caller cannot see it;
/// [`Error::Forbidden`] for a question that others are asked.
pub async fn opened(ledger: &Ledger, scope: &Scope, id: GateId) -> Result<Opened> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    ledger.snapshot(scope, async move |conn| opened_on(conn, &reader, id, now).await).await
}

/// Reads what a session waits for, for a notification.
///
/// # Errors
/// [`Error::NotFound`] if the session waits at no gate and the caller cannot see it, or if there is no such session.
pub async fn waiting(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Waiting> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        if let Some(item) = gate::of_sessions_on(conn, &reader, &[id], now).await?.pop() {
            return Ok(Waiting::Gate(Box::new(item)));
        }
        Ok(Waiting::Session(Box::new(session::get_on(conn, &reader, id).await?)))
    });
    read.await
}

/// All items have one kind of address, so the id of a question is passed like that of a gate.
fn first_question(list: &List) -> Option<GateId> {
    list.questions.first().map(|question| GateId(question.id.0))
}

fn list_query(scope: &Scope, request: &ListRequest, now: Timestamp) -> Result<ListQuery> {
    let cursor = request.cursor.clone();
    let list = ListGates { filter: request.filter, kind: None, all: request.everyone, limit: ITEMS, cursor };
    ListQuery::of(scope, &list, now)?.matching(request.line.as_deref())
}

fn decided_query(scope: &Scope, wanted: DecidedRequest, now: Timestamp) -> Result<(ListRequest, ListQuery)> {
    let DecidedRequest { filter, everyone, line, limit, cursor } = wanted;
    let list = ListGates { filter: GateFilter::Closed, kind: None, all: everyone, limit, cursor: cursor.clone() };
    let list_query = ListQuery::of(scope, &list, now)?.narrowed(filter.closed()?).matching(line.as_deref())?;
    Ok((ListRequest { filter: GateFilter::Closed, everyone, line, cursor }, list_query))
}

async fn list_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    request: &ListRequest,
    asked: &ListQuery,
    now: Timestamp,
) -> Result<List> {
    let listed = gate::list_on(conn, scope, asked).await?;
    let elsewhere = match (request.filter, scope.user_id()) {
        (GateFilter::In(GateState::Open), Some(user_id)) if !asked.is_searched() => {
            store::work_queue::waiting_in_terminal(conn, scope.tenant_id, user_id, ELSEWHERE_MAX).await?
        }
        _ => Vec::new(),
    };
    let questions = match request {
        ListRequest { filter: GateFilter::In(GateState::Open), cursor: None, .. } => {
            let open = feedback_request::open_on(conn, scope, now).await?;
            open.into_iter().filter(|question| asked.finds_question(question)).collect()
        }
        _ => Vec::new(),
    };
    let ids = listed.items.iter().flat_map(proposed).collect();
    let mut titles = titles(conn, scope.tenant_id, ids).await?;
    titles.extend(owners(conn, scope.tenant_id, listed.items.iter()).await?);
    let has_pages = listed.next_cursor.is_some() || request.cursor.is_some();
    let alike = match request.filter {
        GateFilter::In(GateState::Open) if has_pages => {
            gate::count_alike_on(conn, scope, asked, ALIKE_COUNT_MAX).await?
        }
        _ => HashMap::new(),
    };
    let people = match request.filter {
        GateFilter::Closed => store::user::members(conn, scope.tenant_id).await?,
        GateFilter::In(_) | GateFilter::Snoozed => Vec::new(),
    };
    Ok(List {
        alike,
        people: people.into_iter().map(|member| (member.user_id, member.display_name().to_owned())).collect(),
        labels: labels(conn, scope.tenant_id, listed.items.iter()).await?,
        unchanged: unchanged(conn, scope.tenant_id, listed.items.iter()).await?,
        undo_seconds: store::tenant::undo_seconds(conn, scope.tenant_id).await?,
        patches: canvas::inbox::count_on(conn, scope, u32::MAX).await?,
        questions,
        titles,
        elsewhere: rows(conn, scope, elsewhere, now).await?,
        held: gate::held_on(conn, scope, now, ITEMS).await?,
        items: listed.items,
        next_cursor: listed.next_cursor,
    })
}

async fn opened_on(conn: &mut Conn<'_>, scope: &Scope, id: GateId, now: Timestamp) -> Result<Opened> {
    match inbox::get_on(conn, scope, id, now).await {
        Ok(Item::Gate(found)) => Ok(Opened::Gate(Box::new(detail_on(conn, scope, *found).await?))),
        Ok(Item::Question(asked)) if !asked.request.blocking => {
            Ok(Opened::Question(Box::new(question_on(conn, scope, *asked).await?)))
        }
        // A question for which a session waits is shown as its gate.
        Ok(Item::Question(_)) | Err(Error::NotFound(_)) => Err(Error::NotFound("approval")),
        Err(error) => Err(error),
    }
}

async fn question_on(conn: &mut Conn<'_>, scope: &Scope, asked: Answerable) -> Result<Question> {
    let session = session::get_on(conn, scope, asked.request.session_id).await?;
    let events = tail_on(conn, &session).await?;
    let names = names(conn, scope.tenant_id, &events).await?;
    let entities = entities_on(conn, scope.tenant_id, &asked.fields).await?;
    Ok(Question { asked, events, names, entities })
}

/// The newest events of a session.
async fn tail_on(conn: &mut Conn<'_>, session: &Session) -> Result<Vec<Event>> {
    let tail = Read { before_sequence: Some(session.head_sequence + 1), limit: TAIL_EVENTS, ..Read::default() };
    Ok(event::read_on(conn, session, &tail).await?.events)
}

async fn detail_on(conn: &mut Conn<'_>, scope: &Scope, found: GateDetail) -> Result<Detail> {
    let events = match session::get_on(conn, scope, found.item.gate.session_id).await {
        Ok(session) => tail_on(conn, &session).await?,
        // Reviewers approve what the agent of a private session wants to do, and see nothing else of it.
        Err(Error::NotFound(_)) => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut names = names(conn, scope.tenant_id, &events).await?;
    let now_has = found.entity.iter().flat_map(|entity| ids_in(&entity.fields));
    let then_had = found.entity_then.iter().flat_map(|then| ids_in(&then.fields));
    let ids = proposed(&found.item).chain(now_has).chain(then_had).collect();
    names.extend(titles(conn, scope.tenant_id, ids).await?);
    names.extend(owners(conn, scope.tenant_id, [&found.item]).await?);
    let relations = match found.item.may_decide {
        MayDecide::Yes => relations(conn, scope.tenant_id, &found.fields).await?,
        _ => BTreeMap::new(),
    };
    let entities = entities_on(conn, scope.tenant_id, form_fields(&found.item.gate.task)).await?;
    Ok(Detail { found, events, names, relations, entities })
}

/// The questions of the form of a question. Empty without such a form.
fn form_fields(task: &Task) -> &[Field] {
    match task {
        Task::Question(question) => &question.fields,
        _ => &[],
    }
}

/// Names of the people of the workspace whose documents proposals would change, by the path of their document.
pub(super) async fn owners<'a>(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    items: impl IntoIterator<Item = &'a GateItem>,
) -> Result<Vec<(String, String)>> {
    let path = |item: &GateItem| match &item.gate.task {
        Task::Memory(proposal) if proposal.path.starts_with("people/") => Some(proposal.path.clone()),
        _ => None,
    };
    let paths: BTreeSet<String> = items.into_iter().filter_map(path).collect();
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let members = store::user::members(conn, tenant_id).await?;
    let named = members.iter().map(|member| {
        let path = person_path(OWN_PLATFORM, &member.user_id.to_string());
        (path, member.display_name().to_owned())
    });
    Ok(named.filter(|(path, _)| paths.contains(path)).collect())
}

/// Returns proposed values that may be ids of entities.
pub(super) fn proposed(item: &GateItem) -> impl Iterator<Item = EntityId> {
    item.proposed.iter().flat_map(|values| values.values()).filter_map(id_in)
}

fn ids_in(values: &Values) -> impl Iterator<Item = EntityId> {
    values.values().filter_map(id_in)
}

fn id_in(value: &Value) -> Option<EntityId> {
    value.as_str()?.parse().ok()
}
