//! A session's log as it grows, as server-sent events.

use crate::{
    extract::{Caller, Id, Params, Sequence},
    metrics::StreamGauge,
    problem::Problem,
    render, sse,
    state::AppState,
    stream::{Follower, Wake},
    wire_map,
};
use axum::{
    extract::State,
    http::{HeaderMap, HeaderName},
    response::Response,
};
use bytes::Bytes;
use domain::{id::SessionId, limit::SEQUENCE_MAX};
use futures_util::{StreamExt, stream};
use ledger::event::Follow;
use serde::Deserialize;
use wire::Code;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The query of [`follow`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FollowQuery {
    /// Start after this sequence; 0 starts at the beginning. The header `Last-Event-ID` takes precedence.
    #[param(value_type = Option<wire::schema::Sequence>)]
    after_sequence: Option<Sequence>,
}

/// The header of [`follow`]. Only the OpenAPI document uses this type: it declares that the header can be absent but
/// not `null`.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "the handler reads the header itself, because an empty one counts as none")]
struct FollowHeader {
    /// The last sequence that was received.
    #[param(rename = "Last-Event-ID", value_type = wire::schema::Sequence, required = false)]
    last_event_id: Option<Sequence>,
}

/// Follow a session's events
///
/// Server-sent events: first the events of the log after the given sequence, then each new event when it is committed.
/// `id` is the sequence and `data` the event's JSON on one line. While an agent writes an answer, `delta` events
/// without an `id` have the pieces that its worker sends (`{"attempt", "offset", "text"}`), and `progress` events say
/// how far it is (`{"attempt", "done", "total", "note"}`). Participants of a canvas get `presence` events, which say
/// where the others are. None of these is stored, and some may be missing. When the session has ended and all events
/// were sent, an `end` event with `{"status"}` closes the stream. A server that stops sends `bye`: reconnect with
/// `Last-Event-ID`. A comment is sent after at most 15 s without an event.
#[utoipa::path(
    get, path = "/api/sessions/{id}/events/stream", operation_id = "followEvents", tag = "events",
    params(
        ("id" = uuid::Uuid, Path, description = "The session"),
        FollowQuery,
        FollowHeader,
    ),
    responses(
        (status = 200, description = "The stream", body = wire::schema::StreamEvent, content_type = "text/event-stream"),
    ),
)]
pub async fn follow(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Params(query): Params<FollowQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = match last_event_id(&headers)? {
        Some(sequence) => sequence,
        None => query.after_sequence.map(|sequence| sequence.0).unwrap_or_default(),
    };
    let follower = Follower::of(state.clone(), caller, headers, id, after).await?;
    let open = state.metrics.stream();
    Ok(Tail { follower, state }.response(open))
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(value) = headers.get(LAST_EVENT_ID).filter(|value| !value.is_empty()) else { return Ok(None) };
    let sequence = value.to_str().ok().and_then(|text| text.parse().ok()).filter(|sequence| *sequence <= SEQUENCE_MAX);
    let refused = || Problem::field(Code::InvalidRequest, "Last-Event-ID", "the sequence of an event");
    sequence.map(Some).ok_or_else(refused)
}

/// One reader of one session.
struct Tail {
    follower: Follower,
    state: AppState,
}

impl Tail {
    fn response(self, open: StreamGauge) -> Response {
        let opening = stream::once(async { sse::RETRY });
        let frames = stream::unfold(Some(self), |tail| async {
            let mut tail = tail?;
            Some(match tail.next().await {
                Next::Frame(frame) => (frame, Some(tail)),
                Next::Last(frame) => (frame, None),
            })
        });
        sse::response(opening.chain(frames), open)
    }

    /// Returns what to send next.
    async fn next(&mut self) -> Next {
        match self.follower.next().await {
            Wake::Followed(followed) => frame_of(followed),
            Wake::Beat => Next::Frame(sse::COMMENT),
            // The client reconnects and continues after its last id.
            Wake::Cut => Next::Last(sse::end_frame(&self.state)),
        }
    }
}

/// Returns what the follower gave as a frame.
fn frame_of(followed: Follow) -> Next {
    match followed {
        Follow::Events(batch) => Next::Frame(batch.rendered(&render::FRAMES)),
        Follow::Delta(delta) => match serde_json::to_string(&wire_map::delta(&delta)) {
            Ok(data) => Next::Frame(sse::frame("delta", &data)),
            // A lost piece does no harm: the complete answer follows as an event.
            Err(_) => Next::Frame(sse::COMMENT),
        },
        Follow::Progress(progress) => match serde_json::to_string(&wire_map::progress(&progress)) {
            Ok(data) => Next::Frame(sse::frame("progress", &data)),
            Err(_) => Next::Frame(sse::COMMENT),
        },
        Follow::Presence(presence) => match serde_json::to_string(&wire_map::presence(presence.as_ref().clone())) {
            Ok(data) => Next::Frame(sse::frame("presence", &data)),
            Err(_) => Next::Frame(sse::COMMENT),
        },
        Follow::End(status) => Next::Last(sse::frame("end", &format!("{{\"status\":\"{status}\"}}"))),
    }
}

enum Next {
    Frame(Bytes),
    Last(Bytes),
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_last_event_id_is_a_sequence_or_refused() {
        let with = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(LAST_EVENT_ID, HeaderValue::from_str(value).unwrap());
            last_event_id(&headers).ok()
        };
        assert_eq!(last_event_id(&HeaderMap::new()).ok(), Some(None));
        assert_eq!(with(""), Some(None), "browsers send none, but some libraries an empty one");
        assert_eq!(with("7"), Some(Some(7)));
        for bad in ["-1", "x", "7 ", "1.5", "9007199254740992", "18446744073709551616"] {
            assert_eq!(with(bad), None, "{bad}");
        }
    }
}
