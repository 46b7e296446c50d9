//! Response sessions: one person's answers to one view, from the first change to the submission.

use crate::{
    clock::Timestamp,
    criteria_set::{SafetyGate, evaluate_safety_gate},
    limit::{DRAFT_EVENT_SECONDS, DRAFT_EVENTS_MAX, KEY_CHARS_MAX},
    names::names,
    view::{Answers, Field, Publication, display_text},
};
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt};

pub use crate::respondent::RespondentKind;

/// Results of the safety gate for the ratings of a response, by the key of the field.
pub type Scores = BTreeMap<String, SafetyGate>;

/// `source` of the sessions that forms create.
pub const SOURCE: &str = "response-form";
/// Slug of the entity type of leads. It is created when the first lead comes.
pub const LEAD_TYPE: &str = "lead";
/// Field of the entity type `lead` that holds the e-mail address.
pub const LEAD_EMAIL: &str = "email";
/// `source` of the sessions in which a task makes an entity from a response.
pub const PROMOTION_SOURCE: &str = "promotion";
/// `type` of the part of an event's content that holds the answers.
pub const ANSWERS_PART: &str = "form_answers";

/// What a response is to readers of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseStatus {
    /// It is being written.
    Draft,
    /// It was submitted.
    Submitted,
    /// It was submitted, and an entity was made from it.
    Promoted,
    /// It was left, cancelled or expired without being submitted.
    Abandoned,
}

names!(ResponseStatus { Draft = "draft", Submitted = "submitted", Promoted = "promoted", Abandoned = "abandoned" });

/// Why a form takes no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Closed {
    /// The view is a draft or was withdrawn.
    #[error("this form is not published")]
    NotPublished,
    /// It opens later.
    #[error("this form is not open yet")]
    NotYet,
    /// Its closing time has passed.
    #[error("this form is closed")]
    Over,
    /// It has all the responses that it takes.
    #[error("this form has all the responses that it takes")]
    Full,
    /// Its gate refuses this respondent.
    #[error("this form is not for this respondent")]
    WrongRespondent,
    /// The respondent has answered it, and it takes one response of each.
    #[error("this form was answered already")]
    Answered,
    /// It is a question of an agent whose session has ended.
    #[error("the session that asked has ended, so no answer is needed any more")]
    Cancelled,
}

/// Checks that a view takes an answer now. `submitted` is the number of responses that it has.
///
/// # Errors
/// [`Closed`] with the reason.
pub fn check_open(
    publication: &Publication,
    kind: RespondentKind,
    submitted: u64,
    now: Timestamp,
) -> Result<(), Closed> {
    if !kind.passes(publication.gate) {
        return Err(Closed::WrongRespondent);
    }
    match publication.availability(now) {
        crate::view::Availability::NotYet => Err(Closed::NotYet),
        crate::view::Availability::Closed => Err(Closed::Over),
        crate::view::Availability::Open if submitted >= u64::from(publication.most_responses()) => Err(Closed::Full),
        crate::view::Availability::Open => Ok(()),
    }
}

/// The part of a draft that decides whether a save is recorded as an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftEvents {
    /// Events recorded so far.
    pub count: u32,
    /// Time of the last one (UTC).
    pub last_at: Option<Timestamp>,
}

impl DraftEvents {
    /// Whether a save at `now` is recorded as `user.form_draft`. Saves within [`DRAFT_EVENT_SECONDS`] of the last event
    /// are not, unless the person leaves the form. A draft has at most [`DRAFT_EVENTS_MAX`] events.
    pub fn records(self, now: Timestamp, is_leaving: bool) -> bool {
        let is_due = self.last_at.is_none_or(|last| now - last >= TimeDelta::seconds(DRAFT_EVENT_SECONDS));
        self.count < DRAFT_EVENTS_MAX && (is_due || is_leaving)
    }
}

/// Drops the answers that the fields have no place for. A draft that was begun on an earlier version of the view
/// continues with what still fits.
pub fn fitting(fields: &[Field], mut answers: Answers) -> Answers {
    answers.retain(|key, _| fields.iter().any(|field| field.key == *key));
    answers
}

/// Whether a person has answered something: a text that is not blank, a number, a choice.
pub fn has_answer(answers: &Answers) -> bool {
    answers.values().any(|value| match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    })
}

/// Whether `text` is a submission id: 1 to [`KEY_CHARS_MAX`] visible ASCII characters.
pub fn is_submission_id(text: &str) -> bool {
    (1..=KEY_CHARS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns the content of an event with answers, a JSON array: a text that people can read, and the answers for
/// programs. The texts are untrusted.
pub fn event_content(fields: &[Field], answers: &Answers) -> String {
    let lines = fields.iter().filter_map(|field| {
        let value = answers.get(&field.key)?;
        let colon = if field.label.ends_with(char::is_alphanumeric) { ":" } else { "" };
        Some(format!("{}{colon} {}", field.label, display_text(field, value)))
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    json!([{ "type": "text", "text": text }, { "type": ANSWERS_PART, "answers": answers }]).to_string()
}

/// Evaluates the ratings in checked answers by the dimensions of their criteria sets. A field without an answer has no
/// score.
pub fn scores(fields: &[Field], answers: &Answers) -> Scores {
    let rated = fields.iter().filter_map(|field| {
        let dimensions = field.kind.dimensions()?;
        let rating = answers.get(&field.key)?.as_object()?;
        Some((field.key.clone(), evaluate_safety_gate(rating, dimensions)))
    });
    rated.collect()
}

/// Returns the mean of the scores of a response's ratings. `None` if none has a score or one is blocked.
pub fn mean_score(scores: &Scores) -> Option<f64> {
    let mut given = Vec::new();
    for score in scores.values() {
        match score {
            SafetyGate::Blocked { .. } => return None,
            SafetyGate::Passed { score, .. } => given.extend(*score),
        }
    }
    let count = u32::try_from(given.len()).unwrap_or(u32::MAX);
    (count > 0).then(|| given.iter().sum::<f64>() / f64::from(count))
}

/// An entity that an answer names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedEntity<'a> {
    /// Key of the field.
    pub key: &'a str,
    /// Slug of the type that the entity must have.
    pub type_slug: &'a str,
    /// Id, as it was sent.
    pub id: &'a str,
}

/// Returns the entities that the answers name.
pub fn named_entities<'a>(fields: &'a [Field], answers: &'a Answers) -> Vec<NamedEntity<'a>> {
    let named = fields.iter().filter_map(|field| {
        let (type_slug, id) = (field.kind.entity_type()?, answers.get(&field.key)?.as_str()?);
        Some(NamedEntity { key: &field.key, type_slug, id })
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    fn fields() -> Vec<Field> {
        serde_json::from_value(json!([
            { "key": "name", "label": "Your name?", "type": "short_text" },
            { "key": "ok", "label": "OK?", "type": "yes_no" },
            { "key": "company", "label": "Company?", "type": "entity", "entityType": "company" },
        ]))
        .unwrap()
    }

    #[test]
    fn a_form_is_open_between_its_times_until_it_is_full() {
        let config = json!({ "gate": "none", "maxResponses": 2, "opensAt": at(0), "closesAt": at(10) });
        let publication: Publication = serde_json::from_value(config).unwrap();
        let check = |seconds, submitted, kind| check_open(&publication, kind, submitted, at(seconds));
        assert_eq!(check(-1, 0, RespondentKind::User), Err(Closed::NotYet));
        assert_eq!(check(0, 1, RespondentKind::Browser), Ok(()));
        assert_eq!(check(9, 2, RespondentKind::Browser), Err(Closed::Full));
        assert_eq!(check(10, 0, RespondentKind::User), Err(Closed::Over));
        let member_only = Publication::default();
        let refused = check_open(&member_only, RespondentKind::Lead, 0, at(0));
        assert_eq!(refused, Err(Closed::WrongRespondent));
    }

    #[test]
    fn saves_are_recorded_each_ten_seconds_and_on_leaving_up_to_a_bound() {
        let first = DraftEvents { count: 0, last_at: None };
        assert!(first.records(at(0), false));
        let later = DraftEvents { count: 1, last_at: Some(at(0)) };
        assert!(!later.records(at(9), false) && later.records(at(9), true) && later.records(at(10), false));
        let full = DraftEvents { count: DRAFT_EVENTS_MAX, last_at: Some(at(0)) };
        assert!(!full.records(at(100), true));
    }

    #[test]
    fn an_event_has_a_text_for_people_and_the_answers_as_they_are() {
        let answers = json!({ "name": "</script>\u{202e}", "ok": true });
        let content = event_content(&fields(), answers.as_object().unwrap());
        let content: Value = serde_json::from_str(&content).unwrap();
        assert_eq!(content[0]["text"], "Your name? </script>\u{202e}\nOK? Yes");
        assert_eq!(content[1], json!({ "type": "form_answers", "answers": answers }));
    }

    #[test]
    fn answers_without_a_field_are_dropped_and_entities_are_named() {
        let answers = json!({ "name": "Ada", "gone": 1, "company": "c" }).as_object().unwrap().clone();
        let kept = fitting(&fields(), answers);
        assert_eq!(Value::from(kept.clone()), json!({ "name": "Ada", "company": "c" }));
        let company = NamedEntity { key: "company", type_slug: "company", id: "c" };
        assert_eq!(named_entities(&fields(), &kept), [company]);
    }

    #[test]
    fn a_submission_id_is_short_and_visible() {
        assert!(is_submission_id("018f-x_1") && !is_submission_id("") && !is_submission_id("a b"));
        assert!(!is_submission_id("é") && !is_submission_id(&"x".repeat(KEY_CHARS_MAX + 1)));
    }
}
