//! /sessions/{id}: the page and its fragments. Its forms post to server functions.

use super::{
    rating,
    session_find::{self, FindQuery},
    shell::{PageRejection, Viewer, render_or_refuse},
};
use crate::{
    extract::{Id, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use app::{
    FormState,
    session::{
        self as ui, Find, Offer, OpensAt, PromotionOffer, Props, Rating, RunOutput, Summary, Titles, WaitingCall,
    },
};
use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderMap, HeaderName, HeaderValue, header::CONTENT_TYPE},
    response::{Html, IntoResponse, Redirect, Response},
    routing::get,
};
use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use domain::id::SessionId;
use ledger::{
    ToolRunOutputRecord,
    event::{Read, Slice},
    gate::MayDecide,
    interaction::may_forget,
    page::{
        self as pages,
        session::{self as page, Around, LogWindow},
    },
    session::{OpenCall, may_label},
    share_link::may_share,
};
use serde::Deserialize;
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/sessions/{id}", get(show))
        .route("/sessions/{id}/rows", get(rows))
        .route("/sessions/{id}/summary", get(summary))
        .route("/sessions/{id}/pictures/{sequence}/{name}", get(picture))
}

#[derive(Default, Deserialize)]
pub(super) struct PageQuery {
    before: Option<u64>,
    after: Option<u64>,
    /// `end` shows the newest events.
    at: Option<String>,
    kinds: Option<String>,
    /// The text to find in the log.
    find: Option<String>,
    /// The number of the event that has it and that the page is around.
    #[serde(rename = "match")]
    number: Option<u64>,
}

impl PageQuery {
    fn find_query(&self) -> FindQuery<'_> {
        FindQuery {
            typed: self.find.as_deref().unwrap_or_default().trim(),
            number: self.number,
            kinds: self.kinds.as_deref().unwrap_or_default(),
            is_placed: self.window() != LogWindow::Fitting,
        }
    }

    fn window(&self) -> LogWindow {
        match (self.before, self.after, self.at.as_deref()) {
            (Some(sequence), ..) => LogWindow::Before(sequence),
            (None, Some(sequence), _) => LogWindow::After(sequence),
            (None, None, Some("end")) => LogWindow::End,
            _ => LogWindow::Fitting,
        }
    }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    Params(query): Params<PageQuery>,
) -> Result<Response, PageRejection> {
    let props = read(&state, &viewer, id, query).await?;
    if let Some(first) = props.first_found() {
        return Ok(Redirect::to(&first).into_response());
    }
    let problem = props.find.problem.as_deref().map(|why| Problem::field(Code::InvalidRequest, "find", why));
    Ok(render_or_refuse(problem.as_ref(), move || ui::page(&viewer.shell, props)).await)
}

/// Reads what the page shows.
pub(super) async fn read(
    state: &AppState,
    viewer: &Viewer,
    id: SessionId,
    query: PageQuery,
) -> Result<Props, PageRejection> {
    let kinds = query.kinds.clone().unwrap_or_default();
    let find = session_find::read(state, viewer, id, query.find_query()).await?;
    let window = find.sequence().map_or_else(|| query.window(), LogWindow::Around);
    let page = page::read(&state.ledger, &viewer.scope, id, window, chosen(kinds.clone())).await?;
    let opens_at = opens_at(page.opens_at);
    let (is_rated, has_earlier, has_later) = (page.events.is_rated, page.has_earlier, page.has_later);
    let (events, titles) = transcript_of(page.events);
    let around = beside(state, viewer, page.around).await;
    let form = viewer.form.clone();
    Ok(Props { events, titles, is_rated, has_earlier, has_later, opens_at, kinds, find, form, ..around })
}

const fn opens_at(found: page::OpensAt) -> OpensAt {
    match found {
        page::OpensAt::Start => OpensAt::Start,
        page::OpensAt::End => OpensAt::End,
    }
}

/// The kinds of events that the query `kinds` selects.
fn chosen(kinds: String) -> impl FnOnce(&[(String, u64)]) -> Vec<String> + Send + 'static {
    move |counted| ui::types_of_groups(&kinds, counted)
}

/// Converts events for the transcript, with the titles of the records that they mention.
fn transcript_of(events: page::Events) -> (Vec<wire::event::Event>, Titles) {
    let titles = events.names.into_iter().collect();
    (events.slice.events.into_iter().map(wire_map::event).collect(), titles)
}

/// The properties of the page without events.
async fn beside(state: &AppState, viewer: &Viewer, around: Around) -> Props {
    let rating = rating::of(state, viewer, &around.session).await;
    let (scope, session) = (&viewer.scope, &around.session);
    let may = [may_forget(scope, session), may_share(scope, session), may_label(scope, session)];
    let progress_script = state.assets.path("form-js").unwrap_or_default();
    Props { progress_script, ..around_log(around, rating, may) }
}

/// Converts what is around the log.
fn around_log(around: Around, rating: Rating, [may_forget, may_share, may_label]: [bool; 3]) -> Props {
    let (offer, calls) = offered_calls(around.continuation);
    Props {
        calls,
        events: Vec::new(),
        opens_at: OpensAt::Start,
        titles: Titles::default(),
        is_rated: false,
        has_earlier: false,
        has_later: false,
        kinds: String::new(),
        find: Find::default(),
        retries: around.retries.into_iter().map(wire_map::session).collect(),
        parent: around.parent.map(wire_map::session),
        graph: wire_map::dependencies(around.related),
        has_more_children: around.has_more_children,
        children: around.children.into_iter().map(wire_map::session).collect(),
        promotion: around.promotion.offer.map(offered),
        form: FormState::default(),
        progress_script: String::new(),
        summary: Summary {
            failure: around.failure.map(wire_map::session_failure),
            alike: around.alike.map(|alike| (alike.cause_id.to_string(), alike.others)),
            error_sequence: around.error_sequence,
            kind_counts: around.kind_counts.clone(),
            may_forget,
            may_share,
            may_label,
            assignee: around.assignee,
            offer,
            rating,
            gate: around.gate.map(|item| (item.gate.id.to_string(), item.may_decide == MayDecide::Yes)),
            session: wire_map::session(around.session),
            action_status: around.action_status,
            action_name: around.action_name,
            promoted: around.promotion.entity.map(|(id, title)| (id.to_string(), title)),
            promotion_waits_at: around.promotion.waits.map(|(session, gate)| match gate {
                Some(gate) => format!("/inbox/{gate}"),
                None => format!("/sessions/{session}"),
            }),
            output: around.output.map(output_of),
            timeline: around.timeline.into_iter().map(wire_map::event).collect(),
            shown: (0, 0),
        },
    }
}

fn output_of(record: ToolRunOutputRecord) -> RunOutput {
    match (record.written_session_id, record.refused) {
        (Some(session), _) => RunOutput::Written(session.to_string()),
        (None, Some(why)) => RunOutput::Refused(why),
        (None, None) => RunOutput::Waiting,
    }
}

/// What the viewer can give the session, and the calls that wait for it.
fn offered_calls(continuation: pages::Continuation) -> (Offer, Vec<WaitingCall>) {
    let call = |call: OpenCall| WaitingCall {
        id: call.tool_call_id,
        tool: call.tool_name,
        input: call.input.map(|input| String::from(Box::<str>::from(input))),
    };
    match continuation {
        pages::Continuation::Nothing => (Offer::Nothing, Vec::new()),
        pages::Continuation::Message => (Offer::Message, Vec::new()),
        pages::Continuation::Results(calls) => (Offer::Results, calls.into_iter().map(call).collect()),
    }
}

fn offered(offer: pages::PromotionOffer) -> PromotionOffer {
    PromotionOffer {
        types: offer.types.into_iter().map(|(id, name)| (id.to_string(), name)).collect(),
        tasks: offer.tasks.into_iter().map(|(id, name)| (id.to_string(), name)).collect(),
        has_more: offer.has_more,
        is_private: offer.is_private,
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RowsQuery {
    after_sequence: Option<u64>,
    before_sequence: Option<u64>,
    kinds: Option<String>,
}

impl RowsQuery {
    /// The part of the log that the query selects.
    fn read(&self) -> Read {
        Read {
            after_sequence: self.after_sequence,
            before_sequence: self.before_sequence,
            limit: page::EVENTS,
            ..Read::default()
        }
    }
}

/// Rows of the transcript. Headers have their first and last sequences.
async fn rows(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    Params(query): Params<RowsQuery>,
) -> Result<Response, PageRejection> {
    let wanted = query.read();
    let kinds = query.kinds.filter(|kinds| !kinds.is_empty()).map(chosen);
    let found = page::events(&state.ledger, &viewer.scope, id, wanted, kinds).await?;
    let sequences = sequences(&found.slice);
    Ok((sequences, Html(html_of(id, found))).into_response())
}

/// The rows of these events, with forms to rate memories if the viewer may.
fn html_of(id: SessionId, found: page::Events) -> String {
    let is_rated = found.is_rated;
    let (events, titles) = transcript_of(found);
    match is_rated {
        true => ui::rateable_rows(id, &events, &titles),
        false => ui::rows_fragment(&id.to_string(), &events, &titles),
    }
}

/// A picture that an event holds as base64. Its type is one of four, by its first bytes, whatever the event says.
async fn picture(
    State(state): State<AppState>,
    viewer: Viewer,
    Path((id, sequence, name)): Path<(String, String, String)>,
) -> Result<Response, PageRejection> {
    let none = || Problem::new(Code::NotFound);
    let (id, sequence) = (id.parse().map_err(|_| none())?, sequence.parse().map_err(|_| none())?);
    let wanted = one_event(sequence).ok_or_else(none)?;
    let all = None::<fn(&[(String, u64)]) -> Vec<String>>;
    let found = page::events(&state.ledger, &viewer.scope, id, wanted, all).await?;
    Ok(picture_of(&found.slice, sequence, &name).ok_or_else(none)?)
}

/// The read of the event with this sequence. A tool call may precede its result in what it returns.
fn one_event(sequence: u64) -> Option<Read> {
    Some(Read { after_sequence: Some(sequence.checked_sub(1)?), limit: 1, ..Read::default() })
}

/// The picture with this name in the event with this sequence.
fn picture_of(slice: &Slice, sequence: u64, name: &str) -> Option<Response> {
    let event = slice.events.iter().find(|event| event.sequence == sequence)?;
    let (media_type, data) = ui::picture_named([&event.content, &event.metadata], name)?;
    let bytes = STANDARD_NO_PAD.decode(data.trim_end_matches('=')).ok()?;
    Some(([(CONTENT_TYPE, media_type)], bytes).into_response())
}

/// Where a part of the log is: the headers from which the script knows what it has and what is left.
fn sequences(slice: &Slice) -> HeaderMap {
    let last = slice.events.last().map_or(0, |event| event.sequence);
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("x-head-sequence", slice.head_sequence.to_string()),
        ("x-last-sequence", last.to_string()),
        ("x-has-more", slice.has_more.to_string()),
        ("x-status", slice.status.to_string()),
    ] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    headers
}

/// The parts of the page that change while the session runs. The filter chips count all events of the log.
async fn summary(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
) -> Result<Html<String>, PageRejection> {
    let around = page::around(&state.ledger, &viewer.scope, id).await?;
    let props = beside(&state, &viewer, around).await;
    Ok(Html(ui::moving_fragment(&viewer.shell, &props)))
}
