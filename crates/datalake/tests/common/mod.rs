//! Records for the tests.

#![allow(dead_code, reason = "each test binary uses a part")]

use chrono::{DateTime, TimeDelta};
use datalake::{Feedback, FeedbackRecord, InteractionRecord, Message, Role, Source};
use domain::{Timestamp, outcome::CONFIDENT_MIN};

/// Returns a time that is `seconds` after a Thursday morning in 2026.
pub fn at(seconds: i64) -> Timestamp {
    DateTime::from_timestamp(1_772_100_000, 0).unwrap() + TimeDelta::seconds(seconds)
}

pub fn record(id: &str, seconds: i64, prompt: &str, response: &str) -> InteractionRecord {
    InteractionRecord {
        id: id.to_owned(),
        timestamp: at(seconds),
        tenant_id: "tenant".to_owned(),
        session_id: format!("session-of-{id}"),
        action_id: None,
        agent: Some("helper".to_owned()),
        user_id: None,
        prompt: vec![Message::new(Role::User, prompt)],
        tools: None,
        response: response.to_owned(),
        tool_call_id: None,
        user_feedback: None,
        was_edited: false,
        edited: None,
        feedback_source: None,
        feedback_at: None,
        feedback_confidence: None,
    }
}

pub fn mark(id: &str, seconds: i64, feedback: Feedback, source: Source) -> FeedbackRecord {
    let (was_edited, edited) = (false, None);
    let (record_id, tenant_id) = (id.to_owned(), None);
    let confidence = (source == Source::OutcomeTracker).then_some(CONFIDENT_MIN);
    FeedbackRecord { record_id, tenant_id, feedback, was_edited, edited, timestamp: at(seconds), source, confidence }
}

pub fn edit(id: &str, seconds: i64, edited: &str) -> FeedbackRecord {
    let edited = Some(edited.to_owned());
    FeedbackRecord { was_edited: true, edited, ..mark(id, seconds, Feedback::Positive, Source::Reviewer) }
}
