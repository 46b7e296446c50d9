//! A session's log: append events, send pieces of an answer, and read pages.

use crate::{
    extract::{Caller, Id, JsonBody, Limit, Params, Sequence},
    problem::Problem,
    render,
    state::AppState,
    transcript_cache::{self, Key, Tag},
    wire_map,
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use domain::{id::SessionId, session::Session};
use ledger::{event as use_case, retention, session};
use serde::Deserialize;
use wire::event;

/// Append events
///
/// Either all events are recorded or none. A worker sends its attempt. A person writes `human.*` events without an
/// attempt. An event whose `id` or `externalEventId` is recorded already is answered with its existing sequence.
#[utoipa::path(
    post, path = "/api/sessions/{id}/events", operation_id = "appendEvents",
    tag = "events", request_body = event::Append,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 201, description = "Where the events are", body = event::Appended),
        (
            status = 409,
            description = "`stale_attempt`, `already_final`, `wrong_status`; `id_conflict`: an id has another event",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn append(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<event::Append>,
) -> Result<(StatusCode, Json<event::Appended>), Problem> {
    let appended = use_case::append(&state.ledger, caller.scope(), wire_map::append(id, body)).await?;
    Ok((StatusCode::CREATED, Json(wire_map::appended(appended))))
}

/// Send a piece of an answer
///
/// Sends the piece as a `delta` event to everyone who follows the session on this server. The piece is not stored and
/// cannot be read later. Append the complete answer as an event when it is finished.
#[utoipa::path(
    post, path = "/api/sessions/{id}/deltas", operation_id = "sendDelta",
    tag = "worker", request_body = wire::worker::Delta,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 204, description = "Sent to the followers of the session, if there are any"),
        (
            status = 409, description = "`stale_attempt`, `already_final` or `wrong_status`",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn send_delta(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<wire::worker::Delta>,
) -> Result<StatusCode, Problem> {
    use_case::send_delta(&state.ledger, caller.scope(), id, wire_map::delta_from_wire(body)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Send progress
///
/// Sends how far the worker is as a `progress` event to everyone who follows the session, on all servers. It is not
/// stored and cannot be read later. Followers get at most five a second, and the last step.
#[utoipa::path(
    post, path = "/api/sessions/{id}/progress", operation_id = "sendProgress",
    tag = "worker", request_body = wire::worker::Progress,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 204, description = "Sent to the followers of the session, if there are any"),
        (
            status = 409, description = "`stale_attempt`, `already_final` or `wrong_status`",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn send_progress(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<wire::worker::Progress>,
) -> Result<StatusCode, Problem> {
    use_case::send_progress(&state.ledger, caller.scope(), id, wire_map::progress_from_wire(body)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The query of [`read`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadQuery {
    /// Events after this sequence, oldest first; 0 reads from the beginning.
    #[param(value_type = Option<wire::schema::Sequence>)]
    after_sequence: Option<Sequence>,
    /// The last events before this sequence, oldest first.
    #[param(value_type = Option<wire::schema::Sequence>)]
    before_sequence: Option<Sequence>,
    /// Only events of these types, separated by commas.
    #[param(value_type = Option<wire::schema::EventTypes>)]
    event_types: Option<String>,
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
}

impl From<ReadQuery> for use_case::Read {
    /// Sorts the kinds, so that the cached page does not depend on their order in the query.
    fn from(query: ReadQuery) -> Self {
        let mut kinds = kinds(query.event_types.as_deref());
        kinds.sort();
        kinds.dedup();
        Self {
            after_sequence: query.after_sequence.map(|sequence| sequence.0),
            before_sequence: query.before_sequence.map(|sequence| sequence.0),
            kinds,
            limit: query.limit.0,
        }
    }
}

/// The types of a list that is separated by commas.
fn kinds(types: Option<&str>) -> Vec<String> {
    types.into_iter().flat_map(|types| types.split(',')).map(|kind| kind.trim().to_owned()).collect()
}

/// Read events
///
/// A page of the log, oldest first. Pages of a session that has ended change only when its content is erased: they
/// have an ETag, and a request with `If-None-Match` is answered with 304 while the page is the same.
#[utoipa::path(
    get, path = "/api/sessions/{id}/events", operation_id = "readEvents", tag = "events",
    params(("id" = uuid::Uuid, Path, description = "The session"), ReadQuery),
    responses(
        (status = 200, description = "A page", body = event::Events),
        (status = 304, description = "The client's copy is current"),
    ),
)]
pub async fn read(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Params(query): Params<ReadQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let read = use_case::Read::from(query);
    let session = session::get(&state.ledger, caller.scope(), id).await?;
    if session.status().is_final() {
        return read_sealed(&state, &caller, session, read, &headers).await;
    }
    let page = read_open(&state, &caller, &session, read).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], page).into_response())
}

/// The query of [`find`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindQuery {
    /// The text to find. Case does not matter; all other characters count as they are written, and white space is found
    /// for white space.
    #[param(value_type = wire::schema::LogPhrase)]
    q: String,
    /// Items are events after this sequence; all without it.
    #[param(value_type = Option<wire::schema::Sequence>)]
    after_sequence: Option<Sequence>,
    /// Only events of these types, separated by commas.
    #[param(value_type = Option<wire::schema::EventTypes>)]
    event_types: Option<String>,
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
}

impl From<FindQuery> for use_case::Find {
    fn from(query: FindQuery) -> Self {
        let sequence = query.after_sequence.map(|sequence| sequence.0).unwrap_or_default();
        let items = use_case::Items::After { sequence, limit: query.limit.0 };
        Self { text: query.q, kinds: kinds(query.event_types.as_deref()), items }
    }
}

/// Find a text in a log
///
/// The events of a session that have a text in what people see of them, oldest first: messages, reasoning, inputs and
/// outputs of tools, errors, results and changes of status. The log itself is read, so what was just recorded is found,
/// and what was erased is not. `total` counts the events of the whole log.
#[utoipa::path(
    get, path = "/api/sessions/{id}/events/find", operation_id = "findEvents", tag = "events",
    params(("id" = uuid::Uuid, Path, description = "The session"), FindQuery),
    responses(
        (status = 200, description = "A page", body = wire::search::FoundInLog),
        (
            status = 422, description = "`invalid_request`: `q` has only white space",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn find(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Params(query): Params<FindQuery>,
) -> Result<Json<wire::search::FoundInLog>, Problem> {
    let found = use_case::find(&state.ledger, caller.scope(), id, query.into()).await?;
    Ok(Json(wire_map::found_in_log(found)))
}

/// Reads a page of a session that has not ended.
async fn read_open(
    state: &AppState,
    caller: &Caller,
    session: &Session,
    read: use_case::Read,
) -> Result<Bytes, Problem> {
    let limit = u64::from(use_case::events_of_page(read.limit)?);
    match end_of_full_page(&read, session, limit) {
        Some(last) => read_full(state, caller, session, read, (last, limit)).await,
        None => Ok(render::render_slice(&use_case::read(&state.ledger, caller.scope(), session.id, read).await?)),
    }
}

/// Reads a page of `limit` events that ends with the sequence `last`. Recorded events never change, so they are
/// rendered once and cached. Only the head of the log is added for each request. A page ends early when its events
/// reach the limit in bytes, so only a page with `limit` events is complete.
async fn read_full(
    state: &AppState,
    caller: &Caller,
    session: &Session,
    read: use_case::Read,
    (last, limit): (u64, u64),
) -> Result<Bytes, Problem> {
    let key = key_of(caller, session, last, format!("open&limit={limit}"));
    if let Some(start) = state.transcripts.get(&key) {
        return Ok(with_page_end(&start, session.head_sequence, session.head_sequence > last));
    }
    let slice = use_case::read(&state.ledger, caller.scope(), session.id, read).await?;
    let start = Bytes::from(render::render_page_start(&slice));
    if slice.events.len() as u64 == limit {
        state.transcripts.insert(key, start.clone());
    }
    Ok(with_page_end(&start, slice.head_sequence, slice.has_more))
}

/// The place of a page in the cache.
fn key_of(caller: &Caller, session: &Session, head_sequence: u64, query: String) -> Key {
    Key { tenant_id: caller.scope().tenant_id, session_id: session.id, head_sequence, query }
}

/// The last sequence of a page that is not filtered and has `limit` recorded events. `None` for another page.
fn end_of_full_page(read: &use_case::Read, session: &Session, limit: u64) -> Option<u64> {
    let last = read.after_sequence.unwrap_or_default().saturating_add(limit);
    let is_full = read.before_sequence.is_none() && read.kinds.is_empty() && last <= session.head_sequence;
    is_full.then_some(last)
}

/// A page from the rendering of its events and from the head of the log.
fn with_page_end(start: &[u8], head_sequence: u64, has_more: bool) -> Bytes {
    let mut page = Vec::with_capacity(start.len() + render::PAGE_END_BYTES_MAX);
    page.extend_from_slice(start);
    render::render_page_end(head_sequence, has_more, &mut page);
    page.into()
}

/// Answers with a page of a session that has ended.
async fn read_sealed(
    state: &AppState,
    caller: &Caller,
    session: Session,
    read: use_case::Read,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let query = sealed_query(&read, &session);
    let tag = Tag::new(session.head_digest, &query);
    if tag.matches(headers) {
        return Ok(transcript_cache::not_modified(&tag));
    }
    let key = key_of(caller, &session, session.head_sequence, query);
    let page = sealed_page(state, caller, &key, read).await?;
    Ok(state.transcripts.respond(key, page, &tag, headers).await)
}

/// Returns the canonical query of a page of a session that has ended. It differs once the session is erased, because an
/// erasure changes neither the head of the log nor its digest.
fn sealed_query(read: &use_case::Read, session: &Session) -> String {
    let erased = if retention::is_erased(session) { "&erased" } else { "" };
    canonical(read) + erased
}

/// Returns the page from the cache, or renders it into the cache.
async fn sealed_page(state: &AppState, caller: &Caller, key: &Key, read: use_case::Read) -> Result<Bytes, Problem> {
    if let Some(page) = state.transcripts.get(key) {
        return Ok(page);
    }
    let slice = use_case::read(&state.ledger, caller.scope(), key.session_id, read).await?;
    let page = render::render_slice(&slice);
    state.transcripts.insert(key.clone(), page.clone());
    Ok(page)
}

/// Returns the canonical query of a page, independent of the order of the parameters.
fn canonical(read: &use_case::Read) -> String {
    let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let (after, before) = (number(read.after_sequence), number(read.before_sequence));
    format!("after={after}&before={before}&limit={}&types={}", read.limit, read.kinds.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_filter_is_the_same_page_however_it_is_spelt() {
        let page = |types: &str| {
            let query = ReadQuery {
                after_sequence: Some(Sequence(0)),
                before_sequence: None,
                event_types: Some(types.to_owned()),
                limit: Limit::default(),
            };
            canonical(&query.into())
        };
        assert_eq!(page("b.c, a.b,b.c"), "after=0&before=&limit=100&types=a.b,b.c");
        assert_eq!(page("b.c, a.b,b.c"), page("a.b,b.c"));
    }
}
