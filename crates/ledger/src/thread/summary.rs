//! The summary of a conversation: counts and quotes from its log, and an optional closing by the agent.

use crate::Result;
use domain::{
    Timestamp,
    event::{Body, Event, Known},
    limit::{CLOSING_CHARS_MAX, REASON_CHARS_MAX, SUMMARY_QUOTE_CHARS_MAX},
    session::Session,
    thread::{SummaryBy, cut, text_of},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::Conn;

/// Largest number of parts of one long reply that are joined.
const PARTS_MAX: u32 = 20;

/// A summary of a conversation. Stored as `result.summary` of its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The conversation's title.
    pub title: String,
    /// Number of messages of the person.
    pub turns: u64,
    /// Milliseconds from the start of the conversation to its end.
    pub duration_ms: u64,
    /// Beginning of the first message.
    pub first_request: Option<String>,
    /// Beginning of the agent's last reply.
    pub last_reply: Option<String>,
    /// Whether the agent contributed a closing, or the summary is from the log only.
    #[serde(default)]
    pub by: SummaryBy,
    /// The agent's closing text.
    #[serde(default)]
    pub closing: Option<String>,
    /// Why there is no closing, although the agent was asked for one.
    #[serde(default)]
    pub closing_missing: Option<String>,
}

/// The closing that an agent was asked for at the end of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closing {
    /// The last sequence that the agent knew. A closing about an earlier state is not kept.
    pub head_sequence: u64,
    /// The text, or the reason why there is none.
    pub words: std::result::Result<String, String>,
    /// Usage of the conversation including the closing, as a JSON object.
    pub usage: Option<String>,
}

impl Summary {
    /// Returns the summary as the result of a session.
    pub(super) fn to_result(&self) -> String {
        json!({ "summary": self }).to_string()
    }

    /// Adds the agent's closing or the reason why there is none.
    pub(super) fn with_closing(self, words: std::result::Result<String, String>) -> Self {
        match words {
            Ok(text) => Self { by: SummaryBy::Agent, closing: Some(cut(text.trim(), CLOSING_CHARS_MAX)), ..self },
            Err(why) => Self { closing_missing: Some(cut(&why, REASON_CHARS_MAX)), ..self },
        }
    }

    /// Returns the summary in a session's result, if there is one.
    pub fn of(session: &Session) -> Option<Self> {
        let result: Value = serde_json::from_str(session.result()?).ok()?;
        serde_json::from_value(result.get("summary")?.clone()).ok()
    }
}

/// Builds the summary from a conversation's log.
pub(super) async fn summarize(conn: &mut Conn<'_>, session: &Session, turns: u64, now: Timestamp) -> Result<Summary> {
    let (tenant, id, head) = (session.tenant_id, session.id, session.head_sequence);
    let first = store::event::after(conn, tenant, id, (0, head), &[Known::UserMessage.as_str().to_owned()], 1).await?;
    let last =
        store::event::before(conn, tenant, id, head + 1, &[Known::AgentMessage.as_str().to_owned()], PARTS_MAX).await?;
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

/// Returns the text of the last reply, with its parts joined. `events` are replies, oldest first.
fn last_reply(events: &[Event]) -> Option<String> {
    let begins = |event: &Event| !matches!(event.body(), Body::AgentMessage(message) if message.continues());
    let begin = events.iter().rposition(begins).unwrap_or(0);
    let texts: Vec<_> = events.get(begin..)?.iter().map(|event| text_of(&event.content)).collect();
    if texts.is_empty() { None } else { Some(texts.concat()) }
}
