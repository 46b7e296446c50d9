//! Makes rows from an interaction and its feedback.

use super::{options::Format, row::Row};
use crate::record::{Feedback, FeedbackRecord, InteractionRecord};
use sha2::{Digest, Sha256};

/// Most preference pairs from one prompt, so that a prompt that is sent very often does not dominate the data.
const PAIRS_PER_PROMPT_MAX: usize = 16;

/// The result for one interaction.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Made {
    pub rows: Vec<Row>,
    /// If the answer can be paired with another answer to the same prompt: whether it is the better one.
    pub comparable: Option<bool>,
}

/// Returns the rows of one interaction. Neutral feedback and no feedback make no row with a label.
pub(super) fn make(format: Format, record: &InteractionRecord, feedback: Option<&FeedbackRecord>) -> Made {
    let was_edited = feedback.is_some_and(|feedback| feedback.was_edited);
    let edited = feedback.and_then(|feedback| feedback.edited.as_deref());
    let judged = match feedback.map(|feedback| feedback.feedback) {
        Some(Feedback::Positive) => Some(true),
        Some(Feedback::Negative) => Some(false),
        Some(Feedback::Neutral) | None => None,
    };
    // If an answer was edited and the edited text is unknown, the original answer is neither good nor bad.
    if was_edited && edited.is_none() {
        return Made::default();
    }
    // An edit to the same text leaves the answer as it is.
    let edited = edited.filter(|text| *text != record.response);
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

/// Returns a digest of the prompt and of the agent's tools. Ids of calls are left out, because they differ each
/// time.
pub(super) fn prompt_digest(record: &InteractionRecord) -> serde_json::Result<[u8; 32]> {
    let mut prompt = record.prompt.clone();
    for message in &mut prompt {
        message.tool_call_id = None;
        message.tool_calls.iter_mut().for_each(|call| call.id.clear());
    }
    Ok(Sha256::digest(serde_json::to_vec(&(prompt, &record.tools))?).into())
}

/// The answers to one prompt, in order. Each better answer is paired with the worse answer at the same index.
#[derive(Default)]
pub(super) struct Group {
    better: Vec<InteractionRecord>,
    worse: Vec<InteractionRecord>,
}

impl Group {
    /// Adds an answer. It is ignored if its side has [`PAIRS_PER_PROMPT_MAX`] answers already, or one with the
    /// same text.
    pub fn push(&mut self, record: InteractionRecord, is_better: bool) {
        let side = if is_better { &mut self.better } else { &mut self.worse };
        if side.len() < PAIRS_PER_PROMPT_MAX && side.iter().all(|other| other.response != record.response) {
            side.push(record);
        }
    }

    /// Returns the pairs, each with the record of the better answer.
    pub fn pairs(&self) -> impl Iterator<Item = (&InteractionRecord, Row)> {
        let both = self.better.iter().zip(&self.worse).filter(|(better, worse)| better.response != worse.response);
        both.map(|(better, worse)| (better, Row::dpo((better, &better.response), (worse, &worse.response))))
    }
}
