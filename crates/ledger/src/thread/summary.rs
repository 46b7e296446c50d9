//! What is left of a conversation at its end: figures and quotations from its log, nothing made up.

use crate::{Result, SessionRecord};
use domain::{
    Timestamp,
    limit::SUMMARY_QUOTE_CHARS_MAX,
    thread::{MESSAGE, REPLY, cut, text_of},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{Conn, EventRecord};

/// Parts of one long reply that are put together again, at most.
const PARTS_MAX: u32 = 20;

/// A conversation in short. Kept as `result.summary` of its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The conversation's title.
    pub title: String,
    /// Messages of the person.
    pub turns: u64,
    /// From its first moment to its end.
    pub duration_ms: u64,
    /// Beginning of the first message.
    pub first_request: Option<String>,
    /// Beginning of the last reply.
    pub last_reply: Option<String>,
}

impl Summary {
    /// As a session's result.
    pub(super) fn to_result(&self) -> String {
        json!({ "summary": self }).to_string()
    }

    /// The summary in a session's result, where it has one.
    pub fn of(session: &SessionRecord) -> Option<Self> {
        let result: Value = serde_json::from_str(session.result.as_deref()?).ok()?;
        serde_json::from_value(result.get("summary")?.clone()).ok()
    }
}

/// Reads a conversation's log for its summary.
pub(super) async fn summarize(
    conn: &mut Conn<'_>,
    session: &SessionRecord,
    turns: u64,
    now: Timestamp,
) -> Result<Summary> {
    let (tenant, id, head) = (session.tenant_id, session.id, session.head_sequence);
    let first = store::event::after(conn, tenant, id, (0, head), &[MESSAGE.to_owned()], 1).await?;
    let last = store::event::before(conn, tenant, id, head + 1, &[REPLY.to_owned()], PARTS_MAX).await?;
    let elapsed = (now - session.created_at).num_milliseconds();
    Ok(Summary {
        title: session.title.clone(),
        turns,
        duration_ms: u64::try_from(elapsed).unwrap_or_default(),
        first_request: first.items.first().map(|event| quote(&text_of(&event.content))),
        last_reply: last_reply(&last.items).map(|text| quote(&text)),
    })
}

fn quote(text: &str) -> String {
    cut(text.trim(), SUMMARY_QUOTE_CHARS_MAX)
}

/// The last reply, put together where it came in parts. `events` are replies, oldest first.
fn last_reply(events: &[EventRecord]) -> Option<String> {
    let part = |event: &EventRecord| {
        let metadata: Value = serde_json::from_str(&event.metadata).unwrap_or_default();
        metadata["part"].as_u64().unwrap_or(1)
    };
    let begin = events.iter().rposition(|event| part(event) <= 1).unwrap_or(0);
    let texts: Vec<_> = events.get(begin..)?.iter().map(|event| text_of(&event.content)).collect();
    if texts.is_empty() { None } else { Some(texts.concat()) }
}
