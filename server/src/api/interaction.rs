//! Interactions: prompts with their answers, and feedback on them.

use crate::{
    extract::{Caller, Id, JsonBody, Limit, Params, query_id},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::{
    Timestamp,
    id::{InteractionId, SessionId},
    interaction::{Feedback, Source},
    outcome::Outcome,
};
use ledger::interaction as use_case;
use runner::forget::forget_session;
use serde::Deserialize;
use wire::{
    Page,
    interaction::{AnswerFeedback, ForgottenInteractions, Interaction, MarkAnswer},
};

/// A filter for feedback: one label, or `unknown` for interactions without feedback.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FeedbackFilter {
    Positive,
    Negative,
    Neutral,
    Unknown,
}

impl FeedbackFilter {
    const fn wanted(self) -> Option<Feedback> {
        match self {
            Self::Positive => Some(Feedback::Positive),
            Self::Negative => Some(Feedback::Negative),
            Self::Neutral => Some(Feedback::Neutral),
            Self::Unknown => None,
        }
    }
}

/// A filter for outcomes: one outcome, or `unknown` for interactions without an outcome.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutcomeFilter {
    Accepted,
    Rejected,
    Neutral,
    Unknown,
}

impl OutcomeFilter {
    const fn wanted(self) -> Option<Outcome> {
        match self {
            Self::Accepted => Some(Outcome::Accepted),
            Self::Rejected => Some(Outcome::Rejected),
            Self::Neutral => Some(Outcome::Neutral),
            Self::Unknown => None,
        }
    }
}

/// The query of [`list`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    /// Only interactions of this session.
    #[serde(default, deserialize_with = "query_id")]
    #[param(value_type = Option<uuid::Uuid>)]
    session_id: Option<SessionId>,
    /// Only interactions with this feedback: `positive`, `negative`, `neutral`, or `unknown` for those without
    /// feedback.
    #[param(value_type = Option<wire::schema::AnswerLabelFilter>)]
    feedback: Option<FeedbackFilter>,
    /// Only interactions with this outcome: `accepted`, `rejected`, `neutral`, or `unknown` for those without an
    /// outcome.
    #[param(value_type = Option<wire::schema::OutcomeFilter>)]
    outcome: Option<OutcomeFilter>,
    /// Only interactions whose answer was complete at this time or later.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

impl From<ListQuery> for use_case::ListInteractions {
    fn from(query: ListQuery) -> Self {
        Self {
            session_id: query.session_id,
            feedback: query.feedback.map(FeedbackFilter::wanted),
            outcome: query.outcome.map(OutcomeFilter::wanted),
            since: query.since,
            limit: query.limit.0,
            cursor: query.cursor,
        }
    }
}

/// List interactions
///
/// Each prompt of an agent's session with its answer, feedback and outcome, newest first. Everyone who can read the
/// workspace's sessions can read them. A turn is listed within seconds of its end; incognito conversations are never
/// listed. One page searches at most 5,000 interactions: with a filter it can have few entries or none, and still have
/// a next page.
#[utoipa::path(
    get, path = "/api/interactions", operation_id = "listInteractions", tag = "feedback",
    params(ListQuery),
    responses(
        (status = 200, description = "A page", body = Page<Interaction>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Json<Page<Interaction>>, Problem> {
    let listed = use_case::list(&state.ledger, caller.scope(), query.into()).await?;
    let items = listed.items.iter().map(wire_map::interaction).collect::<Result<_, _>>();
    let items = items.map_err(|error| Problem::internal(format!("an interaction does not read: {error}")))?;
    Ok(Json(Page { items, next_cursor: listed.next_cursor }))
}

/// Give feedback on an answer
///
/// For the person who started the session or for whom it runs, and for reviewers, operators and admins. The latest
/// feedback counts, no matter who gave it. Earlier feedback is kept.
#[utoipa::path(
    post, path = "/api/interactions/{id}/feedback", operation_id = "markInteraction", tag = "feedback",
    request_body = MarkAnswer,
    params(("id" = uuid::Uuid, Path, description = "The interaction")),
    responses(
        (status = 201, description = "It is kept", body = AnswerFeedback),
        (
            status = 403, description = "`forbidden`: someone else's session, and the caller decides nothing here",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 404, description = "`not_found`: no such interaction",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn mark(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<InteractionId>,
    JsonBody(body): JsonBody<MarkAnswer>,
) -> Result<(StatusCode, Json<AnswerFeedback>), Problem> {
    let MarkAnswer { feedback, was_edited, edited } = body;
    let was_edited = was_edited || edited.is_some();
    let change = (was_edited, edited.clone());
    let mark = runner::capture::mark(&state.ledger, &state.turn_capture, caller.scope(), id, feedback, change).await?;
    let kept = AnswerFeedback { feedback, source: Source::Manual, was_edited, edited, recorded_at: mark.at };
    Ok((StatusCode::CREATED, Json(kept)))
}

/// Remove the training data of a session
///
/// Deletes its captured prompts and answers, with feedback and outcomes, and captures nothing of it any more. The log
/// stays. For the person of the session and for admins. The request can be repeated.
#[utoipa::path(
    delete, path = "/api/sessions/{id}/interactions", operation_id = "forgetInteractions", tag = "feedback",
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "What was deleted", body = ForgottenInteractions),
    ),
)]
pub async fn forget(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<ForgottenInteractions>, Problem> {
    let (found, files_rewritten) = forget_session(&state.ledger, &state.turn_capture, caller.scope(), id).await?;
    Ok(Json(wire_map::forgotten_interactions(found, files_rewritten)))
}
