//! Answers as the history wants them.

use crate::{
    checker::{Row, RowKind},
    client::body_digest,
    history::{Answer, Outcome, Seen},
};
use anyhow::Result;
use domain::session::Status;
use serde::Deserialize;
use serde_json::Value;

/// The token of a result `{"token": n}`.
pub(super) fn token_of(result: Option<&wire::Json>) -> Option<u64> {
    #[derive(Deserialize)]
    struct Result {
        token: u64,
    }
    serde_json::from_str::<Result>(result?.get()).ok().map(|result| result.token)
}

pub(super) fn appended(body: &[u8]) -> Result<Answer> {
    let answer: wire::event::Appended = serde_json::from_slice(body)?;
    let events = answer.events.iter().map(|event| (event.id.0, event.sequence));
    Ok(Answer::Appended { events: events.collect(), head: answer.head_sequence })
}

pub(super) fn page(body: &[u8]) -> Result<Answer> {
    let page: wire::event::Events = serde_json::from_slice(body)?;
    let events = page.events.iter().map(seen).collect();
    Ok(Answer::Page { events, head: page.head_sequence, more: page.has_more })
}

pub(super) fn claimed(body: &[u8]) -> Result<Answer> {
    let claimed: wire::worker::Claimed = serde_json::from_slice(body)?;
    let sessions = claimed.sessions.iter().map(|held| (held.session.id.0, held.attempt));
    Ok(Answer::Claimed { sessions: sessions.collect() })
}

pub(super) fn completed(body: &[u8]) -> Result<Answer> {
    let session: wire::session::Session = serde_json::from_slice(body)?;
    Ok(Answer::Completed { token: token_of(session.result.as_ref()) })
}

pub(super) fn row(body: &[u8]) -> Result<Answer> {
    let session: wire::session::Session = serde_json::from_slice(body)?;
    Ok(Answer::Row { status: session.status.to_string(), attempt: session.attempt, head: session.head_sequence })
}

pub(super) fn done(_body: &[u8]) -> Result<Answer> {
    Ok(Answer::Done)
}

/// An event as a reader notes it.
pub(super) fn seen(event: &wire::event::Event) -> Seen {
    (event.sequence, event.id.0, body_digest(event.content.get(), event.metadata.get()))
}

/// An event as the final log keeps it.
pub(super) fn final_row(event: &wire::event::Event) -> Result<Row> {
    let (sequence, id, digest) = seen(event);
    let kind = match event.kind.as_str() {
        "session.claimed" => RowKind::Claimed,
        "session.status_change" => {
            RowKind::StatusChange { from: status_in(event, "from")?, to: status_in(event, "to")? }
        }
        other if other.starts_with("session.") || other.starts_with("user.") => RowKind::Server,
        _ => RowKind::Worker,
    };
    Ok(Row { sequence, id, digest, attempt: event.attempt, kind })
}

/// A status named by the event, in its metadata or in its first part.
fn status_in(event: &wire::event::Event, field: &str) -> Result<Option<Status>> {
    let metadata: Value = serde_json::from_str(event.metadata.get())?;
    let content: Value = serde_json::from_str(event.content.get())?;
    let part = content.get(0);
    let found = metadata.get(field).or_else(|| part.and_then(|part| part.get(field)));
    let found = found.or_else(|| part.and_then(|part| part.get("data")).and_then(|data| data.get(field)));
    Ok(found.and_then(Value::as_str).and_then(Status::parse))
}

/// The outcome of an answered request: 2xx happened, 4xx did not, anything else is unknown.
pub(super) fn outcome(status: u16, body: &[u8], parse: impl Fn(&[u8]) -> Result<Answer>) -> Outcome {
    match status {
        200..300 => match parse(body) {
            Ok(answer) => Outcome::Ok(answer),
            Err(error) => Outcome::Info { why: format!("{status} with an answer that does not parse: {error:#}") },
        },
        // The request may have been cut off anywhere, also after it had been read.
        408 => Outcome::Info { why: "408".into() },
        400..500 => Outcome::Fail { code: problem_code(status, body) },
        _ => Outcome::Info { why: format!("{status} {}", problem_code(status, body)) },
    }
}

fn problem_code(status: u16, body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Problem {
        code: String,
    }
    serde_json::from_slice::<Problem>(body).map_or_else(|_| format!("http_{status}"), |problem| problem.code)
}
