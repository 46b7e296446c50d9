//! The records that the lines of the three streams contain. Fields are only ever added, and old lines lack the
//! newer ones.

use chrono::NaiveDateTime;
use domain::{Timestamp, outcome::Inferred};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;

pub use domain::{
    interaction::{Feedback, Source},
    message::{Message, Role},
};

/// Reads a time in RFC 3339. A time without an offset, as Python's `isoformat` writes it, is UTC.
fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).ok_or_else(|| D::Error::custom(format!("{text:?} is no time, such as 2026-02-26T10:00:00Z")))
}

fn optional_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let wrong = || D::Error::custom(format!("{text:?} is no time, such as 2026-02-26T10:00:00Z"));
    parse(&text).map(Some).ok_or_else(wrong)
}

fn parse(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    let local = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"].map(|form| NaiveDateTime::parse_from_str(text, form));
    local.into_iter().find_map(Result::ok).map(|local| local.and_utc())
}

/// A prompt and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionRecord {
    /// Id of the interaction. The same prompt and answer have the same id, however often they are captured.
    pub id: String,
    /// Time at which the answer was complete, RFC 3339 in UTC.
    #[serde(deserialize_with = "time")]
    pub timestamp: Timestamp,
    /// Id of the workspace.
    pub tenant_id: String,
    /// Session of the interaction, a UUIDv7.
    pub session_id: String,
    /// Id of the session's action, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_id: Option<String>,
    /// Slug of the agent that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Id of the person who asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Conversation up to the answer. The system prompt comes first, if it is known, and answers of tools come
    /// last, if the agent called any. Shiftbook never writes an empty prompt.
    pub prompt: Vec<Message>,
    /// Tools that the agent had, as function schemas. Absent if they are unknown, and in old lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Value>>,
    /// Text of the answer. If the answer is a call of a tool, the JSON object with `toolName` and `toolInput`.
    pub response: String,
    /// Id that the agent gave to the call, if the answer is a call of a tool. Old lines have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Feedback that was given before the record was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_feedback: Option<Feedback>,
    /// Whether someone changed the answer before it was used.
    #[serde(default)]
    pub was_edited: bool,
    /// The changed answer, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<String>,
    /// Source of the feedback in this record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback_source: Option<Source>,
    /// Time of the feedback in this record, RFC 3339 in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_time")]
    pub feedback_at: Option<Timestamp>,
    /// Confidence of inferred feedback, in thousandths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback_confidence: Option<u16>,
}

impl InteractionRecord {
    /// Creates a record with a prompt and an answer. All other fields are empty, and the time is the Unix
    /// epoch.
    pub fn new(prompt: Vec<Message>, response: String) -> InteractionRecord {
        InteractionRecord {
            id: String::new(),
            timestamp: Timestamp::default(),
            tenant_id: String::new(),
            session_id: String::new(),
            action_id: None,
            agent: None,
            user_id: None,
            prompt,
            tools: None,
            response,
            tool_call_id: None,
            user_feedback: None,
            was_edited: false,
            edited: None,
            feedback_source: None,
            feedback_at: None,
            feedback_confidence: None,
        }
    }

    /// Returns the feedback in the record itself, in the form of a line of feedback. It names no workspace,
    /// because the record does.
    pub fn own_feedback(&self) -> Option<FeedbackRecord> {
        Some(FeedbackRecord {
            record_id: self.id.clone(),
            tenant_id: None,
            feedback: self.user_feedback?,
            was_edited: self.was_edited,
            edited: self.edited.clone(),
            timestamp: self.feedback_at.unwrap_or(self.timestamp),
            source: self.feedback_source.unwrap_or(Source::Manual),
            confidence: self.feedback_confidence,
        })
    }
}

/// Feedback on a record that was written earlier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedbackRecord {
    /// Id of the interaction. Feedback on an interaction that does not exist is ignored.
    pub record_id: String,
    /// Id of the workspace. Old lines have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// Feedback on the answer.
    pub feedback: Feedback,
    /// Whether someone changed the answer before it was used.
    #[serde(default)]
    pub was_edited: bool,
    /// The changed answer, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<String>,
    /// Time of the feedback, RFC 3339 in UTC. The latest feedback counts; of two with the same time the one
    /// that was written later.
    #[serde(deserialize_with = "time")]
    pub timestamp: Timestamp,
    /// Source of the feedback.
    pub source: Source,
    /// Confidence of inferred feedback, in thousandths. Old lines have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<u16>,
}

impl FeedbackRecord {
    /// Whether the confidence is at least `least`, in thousandths. Feedback of people and reviewers always
    /// qualifies. Inferred feedback without a confidence counts as 0.
    pub fn is_as_sure_as(&self, least: u16) -> bool {
        self.source != Source::OutcomeTracker || self.confidence.unwrap_or(0) >= least
    }

    /// Whether the feedback can be about a record of this workspace: it names this workspace or none.
    pub fn may_be_of(&self, tenant_id: &str) -> bool {
        self.tenant_id.as_deref().is_none_or(|of| of == tenant_id)
    }
}

/// An inferred outcome of an interaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeRecord {
    /// Id of the interaction.
    pub record_id: String,
    /// Session of the interaction, a UUIDv7.
    pub session_id: String,
    /// Time of the inference, RFC 3339 in UTC.
    #[serde(deserialize_with = "time")]
    pub timestamp: Timestamp,
    /// Outcome with its evidence.
    #[serde(flatten)]
    pub inferred: Inferred,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_without_an_offset_is_utc() {
        let read = |timestamp: &str| {
            let line =
                format!(r#"{{"record_id":"r","feedback":"positive","timestamp":"{timestamp}","source":"manual"}}"#);
            serde_json::from_str::<FeedbackRecord>(&line).map(|mark| mark.timestamp)
        };
        for (written, utc) in [
            ("2026-02-26T10:00:00.123456", "2026-02-26T10:00:00.123456Z"),
            ("2026-02-26T10:00:00", "2026-02-26T10:00:00Z"),
            ("2026-02-26 10:00:00.5", "2026-02-26T10:00:00.5Z"),
            ("2026-02-26T10:00:00+02:00", "2026-02-26T08:00:00Z"),
            ("2026-02-26T10:00:00Z", "2026-02-26T10:00:00Z"),
        ] {
            assert_eq!(read(written).unwrap(), utc.parse::<Timestamp>().unwrap(), "{written}");
        }
        for wrong in ["yesterday", "2026-02-26", "2026-13-01T10:00:00"] {
            let refused = read(wrong).unwrap_err().to_string();
            assert!(refused.contains(wrong) && refused.contains("is no time"), "{refused}");
        }
        let own = r#"{"id":"r","timestamp":"2026-02-26T10:00:00","tenant_id":"t","session_id":"s",
            "prompt":[],"response":"","feedback_at":"2026-02-26T11:00:00.000001"}"#;
        let own: InteractionRecord = serde_json::from_str(own).unwrap();
        assert_eq!(own.feedback_at, Some("2026-02-26T11:00:00.000001Z".parse().unwrap()));
        assert_eq!(serde_json::to_value(&own).unwrap()["timestamp"], "2026-02-26T10:00:00Z");
    }
}
