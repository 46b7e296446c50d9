//! The lines of the three streams. Fields are only ever added, and what was added may be missing in old lines.

use chrono::NaiveDateTime;
use domain::{Timestamp, outcome::Inferred};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;

pub use domain::{
    interaction::{Feedback, Source},
    message::{Message, Role},
};

/// A time as RFC 3339. One without an offset, as Python's `isoformat` writes it, is UTC.
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
    /// Id; the same prompt and answer have the same id, however often they are captured.
    pub id: String,
    /// When the answer was complete, RFC 3339 in UTC.
    #[serde(deserialize_with = "time")]
    pub timestamp: Timestamp,
    /// The workspace.
    pub tenant_id: String,
    /// The session it is part of.
    pub session_id: String,
    /// The action that was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_id: Option<String>,
    /// The agent that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The person who asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The conversation up to the answer: the system prompt first, where it is known, and what tools answered last, where
    /// the agent called any. Never empty.
    pub prompt: Vec<Message>,
    /// The tools that the agent had, as function schemas. Absent where they are not known, and from old lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Value>>,
    /// The answer. Of a call of a tool the JSON object of `toolName` and `toolInput`.
    pub response: String,
    /// The agent's id of the call, where the answer is a call of a tool. Old lines have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Feedback that came before the record was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_feedback: Option<Feedback>,
    /// Somebody changed the answer before it was used.
    #[serde(default)]
    pub was_edited: bool,
    /// What they changed it to, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<String>,
    /// Where the feedback came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback_source: Option<Source>,
    /// When it came.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_time")]
    pub feedback_at: Option<Timestamp>,
    /// How sure it is, where it was inferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback_confidence: Option<u16>,
}

impl InteractionRecord {
    /// A prompt and its answer, of nobody and no time yet.
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

    /// The feedback that the record itself carries, as a line of the sidecar would. The record names the workspace.
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

/// Feedback on a record that was written before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedbackRecord {
    /// The record it is about. There need be none: such feedback is ignored.
    pub record_id: String,
    /// The workspace. Lines that were written before it was noted have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// What is thought of it.
    pub feedback: Feedback,
    /// Somebody changed the answer before it was used.
    #[serde(default)]
    pub was_edited: bool,
    /// What they changed it to, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<String>,
    /// When, RFC 3339 in UTC. The latest counts; of two at the same instant the one that was written later.
    #[serde(deserialize_with = "time")]
    pub timestamp: Timestamp,
    /// Where it comes from.
    pub source: Source,
    /// How sure it is, in thousandths, where it was inferred. Lines that were written before it was noted have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<u16>,
}

impl FeedbackRecord {
    /// Whether it is at least this sure. What people and reviewers say is sure; what was inferred without a confidence
    /// is not.
    pub fn is_as_sure_as(&self, least: u16) -> bool {
        self.source != Source::OutcomeTracker || self.confidence.unwrap_or(0) >= least
    }

    /// Whether it may be about a record of this workspace: it says so, or it says nothing.
    pub fn may_be_of(&self, tenant_id: &str) -> bool {
        self.tenant_id.as_deref().is_none_or(|of| of == tenant_id)
    }
}

/// What was inferred about a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeRecord {
    /// The record it is about.
    pub record_id: String,
    /// The session it is part of.
    pub session_id: String,
    /// When it was inferred, RFC 3339 in UTC.
    #[serde(deserialize_with = "time")]
    pub timestamp: Timestamp,
    /// What, and why.
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
