//! Full text search over events and records.

use crate::{
    extract::{Caller, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use domain::{Timestamp, search::Kind, session::Status};
use ledger::search as use_case;
use serde::Deserialize;
use wire::search::FoundEvents;

/// The query of [`events`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SearchQuery {
    /// Words, of which an event must have all; `"a phrase"`; `begin*`; `-not`. Other forms of a word are found too,
    /// except in quotation marks. A name such as `foo_bar` or `src/main.rs` is found whole, and by each part. Beside
    /// the words there can be conditions on the sessions, such as `agent:scout status:failed cost>0.5 after:fri`.
    #[param(value_type = wire::schema::EventQuery)]
    q: String,
    /// Only what is of this kind; everything without it. Conditions are about sessions, so a search with conditions
    /// finds events alone, and is refused with another kind.
    #[param(value_type = Option<wire::schema::SearchKind>)]
    kind: Option<Kind>,
    /// Sessions of this agent, or runs of this tool.
    #[param(value_type = Option<wire::schema::AgentName>)]
    agent: Option<String>,
    /// Sessions that have this status now.
    #[param(value_type = Option<wire::schema::SessionStatus>)]
    status: Option<Status>,
    /// Events that were recorded at this time or later.
    #[param(value_type = Option<String>, format = DateTime)]
    after: Option<Timestamp>,
    /// Events that were recorded before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    before: Option<Timestamp>,
    /// Time zone of the days in `q`, an IANA name; UTC without it.
    #[param(value_type = Option<wire::schema::TimeZone>)]
    timezone: Option<String>,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::EventCursor>)]
    cursor: Option<String>,
}

/// Search events, tasks, entities, questions and memory
///
/// Records first: tasks, entities, questions and memory documents, by where they have the words. Then events: what
/// people and agents said, names, inputs and outputs of tools, errors, questions and decisions, in all logs of the
/// workspace; newest first, grouped by session. Incognito sessions are not searched, nor what was erased. What was just
/// recorded is found a moment later: `indexedUntil` says until when events are found.
#[utoipa::path(
    get, path = "/api/search", operation_id = "searchEvents", tag = "sessions",
    params(SearchQuery),
    responses(
        (status = 200, description = "A page", body = FoundEvents),
        (
            status = 422, description = "`invalid_request`: `q` is no search, and the message names the place; or \
                `kind` is a record and there are conditions",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn events(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<SearchQuery>,
) -> Result<Json<FoundEvents>, Problem> {
    let SearchQuery { q, kind, agent, status, after, before, timezone, cursor } = query;
    let search = use_case::SearchEvents { query: q, timezone, kind, agent_slug: agent, status, after, before, cursor };
    let found = use_case::events(&state.ledger, caller.scope(), search).await?;
    Ok(Json(wire_map::found_events(found)))
}
