//! What is left of a conversation at its end: figures and quotations from its log, nothing made up.

use crate::{Result, SessionRecord};
use domain::{
    Timestamp,
    limit::{CLOSING_CHARS_MAX, REASON_CHARS_MAX, SUMMARY_QUOTE_CHARS_MAX},
    thread::{MESSAGE, REPLY, SummaryBy, cut, text_of},
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
    /// Who wrote it.
    #[serde(default)]
    pub by: SummaryBy,
    /// The agent's closing words.
    #[serde(default)]
    pub closing: Option<String>,
    /// Why there are none, where it was asked.
    #[serde(default)]
    pub closing_missing: Option<String>,
}

/// What a conversation's agent says at its end, when it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closing {
    /// The newest event that it knew of: words about an earlier state are not kept.
    pub head_sequence: u64,
    /// Its words, or why there are none.
    pub words: std::result::Result<String, String>,
    /// What the conversation has cost with them: a JSON object.
    pub usage: Option<String>,
}

impl Summary {
    /// As a session's result.
    pub(super) fn to_result(&self) -> String {
        json!({ "summary": self }).to_string()
    }

    /// With what the agent says of it.
    pub(super) fn with_closing(self, words: std::result::Result<String, String>) -> Self {
        match words {
            Ok(text) => Self { by: SummaryBy::Agent, closing: Some(cut(text.trim(), CLOSING_CHARS_MAX)), ..self },
            Err(why) => Self { closing_missing: Some(cut(&why, REASON_CHARS_MAX)), ..self },
        }
    }

    /// The summary in a session's result, where it has one.
    pub fn of(session: &SessionRecord) -> Option<Self> {
        let result: Value = serde_json::from_str(session.result()?).ok()?;
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
        by: SummaryBy::Log,
        closing: None,
        closing_missing: None,
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
