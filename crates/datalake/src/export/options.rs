//! The options of an export.

use super::filter::Filter;
use crate::{
    Personal,
    record::{Feedback, Source},
};
use domain::outcome::CONFIDENT_MIN;
use serde::Serialize;
use std::collections::BTreeSet;

/// The kind of training that an export is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Supervised fine-tuning: `messages`.
    Sft,
    /// Preference pairs: `prompt`, `chosen`, `rejected`.
    Dpo,
    /// Answers with a label each: `prompt`, `completion`, `label`.
    Kto,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 3] = [Format::Sft, Format::Dpo, Format::Kto];

    /// Name in files, in URLs and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Sft => "sft",
            Format::Dpo => "dpo",
            Format::Kto => "kto",
        }
    }

    /// Returns the format with this name.
    pub fn parse(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// Returns the columns in order, each with its type.
    pub fn columns(self) -> &'static [(&'static str, &'static str)] {
        // The arguments of a message's calls, and the schemas of tools, have any shape, so the type is JSON and
        // not a struct.
        const MESSAGES: &str = "list<json>";
        const TOOLS: (&str, &str) = ("tools", "list<json>");
        match self {
            Format::Sft => &[("messages", MESSAGES), TOOLS],
            Format::Dpo => &[("prompt", MESSAGES), ("chosen", MESSAGES), ("rejected", MESSAGES), TOOLS],
            Format::Kto => &[("prompt", MESSAGES), ("completion", MESSAGES), ("label", "bool"), TOOLS],
        }
    }
}

/// The file format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFormat {
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet, compressed with Snappy.
    Parquet,
}

impl FileFormat {
    /// All file formats.
    pub const ALL: [FileFormat; 2] = [FileFormat::Jsonl, FileFormat::Parquet];

    /// Name in URLs and on the command line. It is also the extension of files.
    pub fn as_str(self) -> &'static str {
        match self {
            FileFormat::Jsonl => "jsonl",
            FileFormat::Parquet => "parquet",
        }
    }

    /// Returns the file format with this name.
    pub fn parse(name: &str) -> Option<FileFormat> {
        FileFormat::ALL.into_iter().find(|format| format.as_str() == name)
    }
}

/// The least feedback with which an answer is exported. The order is: no feedback, negative, neutral, positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MinFeedback {
    /// Every answer, including those without feedback.
    None,
    /// Every answer with feedback.
    Negative,
    /// Answers with neutral or positive feedback.
    Neutral,
    /// Answers with positive feedback.
    Positive,
}

impl MinFeedback {
    /// All values.
    pub const ALL: [MinFeedback; 4] =
        [MinFeedback::None, MinFeedback::Negative, MinFeedback::Neutral, MinFeedback::Positive];

    /// Name in files, in URLs and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            MinFeedback::None => "none",
            MinFeedback::Negative => "negative",
            MinFeedback::Neutral => "neutral",
            MinFeedback::Positive => "positive",
        }
    }

    /// Returns the value with this name.
    pub fn parse(name: &str) -> Option<MinFeedback> {
        MinFeedback::ALL.into_iter().find(|least| least.as_str() == name)
    }

    /// Returns the default for a format: positive answers for SFT, which imitates them; all answers with
    /// feedback for DPO and KTO, which compare.
    pub fn default_for(format: Format) -> MinFeedback {
        match format {
            Format::Sft => MinFeedback::Positive,
            Format::Dpo | Format::Kto => MinFeedback::Negative,
        }
    }

    /// Whether an answer with this feedback is exported. No feedback is not negative: it is enough for `none`
    /// only.
    pub fn admits(self, feedback: Option<Feedback>) -> bool {
        let least = match self {
            MinFeedback::None => return true,
            MinFeedback::Negative => Feedback::Negative,
            MinFeedback::Neutral => Feedback::Neutral,
            MinFeedback::Positive => Feedback::Positive,
        };
        feedback.is_some_and(|feedback| feedback >= least)
    }
}

/// The answers of a session to which its rating applies, if they have no other feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionRating {
    /// The last answer. A rating is given at the end and says little about earlier answers.
    Last,
    /// All answers.
    All,
    /// No answer.
    None,
}

impl SessionRating {
    /// All values.
    pub const ALL: [SessionRating; 3] = [SessionRating::Last, SessionRating::All, SessionRating::None];

    /// Name in files, in URLs and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            SessionRating::Last => "last",
            SessionRating::All => "all",
            SessionRating::None => "none",
        }
    }

    /// Returns the value with this name.
    pub fn parse(name: &str) -> Option<SessionRating> {
        SessionRating::ALL.into_iter().find(|rating| rating.as_str() == name)
    }
}

/// Largest confidence, in thousandths.
pub const CONFIDENCE_MAX: u16 = 1_000;

/// The options of an export.
#[derive(Debug, Clone)]
pub struct Options {
    /// Kind of training.
    pub format: Format,
    /// Format of the rows' files: JSON lines or Parquet.
    pub file_format: FileFormat,
    /// Least feedback of exported answers.
    pub min_feedback: MinFeedback,
    /// Sources whose feedback is used. Other feedback is ignored.
    pub sources: BTreeSet<Source>,
    /// Least confidence of inferred feedback, in thousandths. Feedback below it is ignored.
    pub min_confidence: u16,
    /// Answers of a session to which its rating applies.
    pub session_rating: SessionRating,
    /// Filter of the interactions.
    pub filter: Filter,
    /// Share of sessions whose rows go into a file for validation, in thousandths. With 0 there is no such
    /// file.
    pub validation_share: u16,
    /// Personal data that is replaced in addition to secrets.
    pub personal: Personal,
    /// Whether neighbouring messages of one role become one message.
    pub merge_roles: bool,
}

impl Options {
    /// Whether ratings of sessions are read.
    pub(super) fn asks_sessions(&self) -> bool {
        self.sources.contains(&Source::Session) && self.session_rating != SessionRating::None
    }

    /// Returns the default options of a format: all sources, inferred feedback from [`CONFIDENT_MIN`], and a
    /// session's rating for its last answer. Roles are merged for SFT and KTO, which apply a chat template to a
    /// conversation as it was captured. DPO pairs answers to equal prompts.
    pub fn new(format: Format, file_format: FileFormat) -> Options {
        Options {
            format,
            file_format,
            min_feedback: MinFeedback::default_for(format),
            sources: Source::ALL.into(),
            min_confidence: CONFIDENT_MIN,
            session_rating: SessionRating::Last,
            filter: Filter::default(),
            validation_share: 0,
            personal: Personal::default(),
            merge_roles: matches!(format, Format::Sft | Format::Kto),
        }
    }
}
