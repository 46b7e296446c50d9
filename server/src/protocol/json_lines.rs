//! A session's log as JSON Lines, for shells and log shippers: one event a line.

use crate::{
    extract::{Caller, Id, Params, Sequence},
    problem::Problem,
    render,
    state::AppState,
    stream::{self, Follower, Wake},
};
use axum::{extract::State, http::HeaderMap, response::Response};
use bytes::Bytes;
use domain::id::SessionId;
use futures_util::stream::try_unfold;
use ledger::event::Follow;
use serde::Deserialize;
use std::io;

/// Media type of JSON Lines. Neither this name nor `application/x-ndjson` is registered, and clients take both for the
/// same. This one is the name that jsonlines.org proposes, agrees with the ending of the path, and is without the `x-`
/// that RFC 6648 advises against.
pub const MEDIA_TYPE: &str = "application/jsonl";
/// What is sent after some time without events, so that no proxy closes the connection. It cannot be a comment, because
/// JSON has none. jq and Vector skip blank lines.
const BLANK_LINE: Bytes = Bytes::from_static(b"\n");

/// The query of [`read`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LinesQuery {
    /// Start after this sequence; 0 starts at the beginning.
    #[param(value_type = Option<wire::schema::Sequence>)]
    after_sequence: Option<Sequence>,
    /// Go on with new events until the session has ended.
    #[serde(default)]
    #[param(value_type = Option<bool>)]
    follow: bool,
}

/// Read or follow a session's events as JSON Lines
///
/// One event a line, each as in a page of events, with a line feed after it. Without `follow` the response has the
/// events that are recorded when it begins, and then ends. With `follow` it goes on with each new event when it is
/// committed, and ends when the session has ended and all events were sent; a blank line is sent after at most 15 s
/// without an event. A response that cannot go on to its end is broken off: the connection is closed without the last
/// chunk, possibly within a line. This happens when the server stops, when the credentials stop being valid, and when
/// the log cannot be read. Drop a line without a line feed, and continue with `afterSequence`.
#[utoipa::path(
    get, path = "/api/sessions/{id}/events.jsonl", operation_id = "readEventLines", tag = "events",
    params(("id" = uuid::Uuid, Path, description = "The session"), LinesQuery),
    responses(
        (status = 200, description = "The events, one `Event` a line", body = String, content_type = "application/jsonl"),
    ),
)]
pub async fn read(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Params(query): Params<LinesQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = query.after_sequence.map(|sequence| sequence.0).unwrap_or_default();
    let open = state.metrics.stream();
    let lines = Lines { follower: Follower::of(state, caller, headers, id, after).await?, follow: query.follow };
    Ok(stream::response(MEDIA_TYPE, try_unfold(lines, Lines::next), open))
}

/// One reader of one session.
struct Lines {
    follower: Follower,
    /// Whether to go on after the events that were recorded at the beginning.
    follow: bool,
}

impl Lines {
    /// Returns the next lines; `None` when all were sent. Pieces of an answer are left out, because they are not in the
    /// log, and only followers get blank lines. An error is the only way to say that the response is not complete: its
    /// status was sent long ago.
    async fn next(mut self) -> io::Result<Option<(Bytes, Self)>> {
        while self.follow || !self.follower.has_reached_first_head() {
            match self.follower.next().await {
                Wake::Followed(Follow::Events(batch)) => return Ok(Some((batch.rendered(&render::LINES), self))),
                Wake::Followed(Follow::End(_)) => break,
                Wake::Cut => return Err(io::Error::other("the stream ends before the session does")),
                Wake::Beat if self.follow => return Ok(Some((BLANK_LINE, self))),
                Wake::Followed(Follow::Delta(_) | Follow::Progress(_) | Follow::Presence(_)) | Wake::Beat => {}
            }
        }
        Ok(None)
    }
}
