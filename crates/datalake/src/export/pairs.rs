//! Which rows an interaction and its feedback make.

use super::{options::Format, row::Row};
use crate::record::{Feedback, FeedbackRecord, InteractionRecord};
use sha2::{Digest, Sha256};

/// Preference pairs that one prompt gives at most: a prompt that is sent every minute must not become the whole data set.
const PAIRS_PER_PROMPT_MAX: usize = 16;

/// What an interaction makes by itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Made {
    pub rows: Vec<Row>,
    /// The answer may make a pair with another answer to the same prompt: whether it is the better one.
    pub comparable: Option<bool>,
}

/// The rows of one interaction. Neutral and unknown are no judgement and make no row that has one.
pub(super) fn make(format: Format, record: &InteractionRecord, feedback: Option<&FeedbackRecord>) -> Made {
    let was_edited = feedback.is_some_and(|feedback| feedback.was_edited);
    let edited = feedback.and_then(|feedback| feedback.edited.as_deref()).filter(|text| *text != record.response);
    let judged = match feedback.map(|feedback| feedback.feedback) {
        Some(Feedback::Positive) => Some(true),
        Some(Feedback::Negative) => Some(false),
        Some(Feedback::Neutral) | None => None,
    };
    // An answer that was changed into something unknown is neither good nor bad as it stands.
    if was_edited && edited.is_none() {
        return Made::default();
    }
    let rows = |rows| Made { rows, comparable: None };
    match (format, edited) {
        (Format::Sft, edited) => rows(vec![Row::sft(record, edited.unwrap_or(&record.response))]),
        (Format::Dpo, Some(edited)) => rows(vec![Row::dpo((record, edited), (record, &record.response))]),
        (Format::Dpo, None) => Made { rows: Vec::new(), comparable: judged },
        (Format::Kto, Some(edited)) if judged == Some(true) => {
            rows(vec![Row::kto(record, edited, true), Row::kto(record, &record.response, false)])
        }
        (Format::Kto, _) => rows(judged.map(|label| Row::kto(record, &record.response, label)).into_iter().collect()),
    }
}

/// Tells prompts apart, and what tools their agents had. Ids of calls are made anew each time and tell nothing apart.
pub(super) fn prompt_digest(record: &InteractionRecord) -> serde_json::Result<[u8; 32]> {
    let mut prompt = record.prompt.clone();
    for message in &mut prompt {
        message.tool_call_id = None;
        message.tool_calls.iter_mut().for_each(|call| call.id.clear());
    }
    Ok(Sha256::digest(serde_json::to_vec(&(prompt, &record.tools))?).into())
}

/// Answers to one prompt, in order. Each better one makes a pair with the worse one of the same rank.
#[derive(Default)]
pub(super) struct Group {
    better: Vec<InteractionRecord>,
    worse: Vec<InteractionRecord>,
}

impl Group {
    /// Takes an answer, unless there are enough.
    pub fn push(&mut self, record: InteractionRecord, is_better: bool) {
        let side = if is_better { &mut self.better } else { &mut self.worse };
        if side.len() < PAIRS_PER_PROMPT_MAX && side.iter().all(|other| other.response != record.response) {
            side.push(record);
        }
    }

    /// The pairs, each with the better answer's record.
    pub fn pairs(&self) -> impl Iterator<Item = (&InteractionRecord, Row)> {
        let both = self.better.iter().zip(&self.worse).filter(|(better, worse)| better.response != worse.response);
        both.map(|(better, worse)| (better, Row::dpo((better, &better.response), (worse, &worse.response))))
    }
}
