//! What to export.

use super::filter::Filter;
use crate::{
    record::{Feedback, Source},
    redact::Personal,
};
use domain::outcome::CONFIDENT_MIN;
use serde::Serialize;
use std::collections::BTreeSet;

/// For which kind of training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Supervised fine-tuning: `messages`.
    Sft,
    /// Preference pairs: `prompt`, `chosen`, `rejected`.
    Dpo,
    /// Single judgements: `prompt`, `completion`, `label`.
    Kto,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 3] = [Format::Sft, Format::Dpo, Format::Kto];

    /// The name in files, addresses and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Sft => "sft",
            Format::Dpo => "dpo",
            Format::Kto => "kto",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// The columns, in order, with their types.
    pub fn columns(self) -> &'static [(&'static str, &'static str)] {
        // A message is an object whose calls have arguments of any shape, and so is a tool: no struct describes them.
        const MESSAGES: &str = "list<json>";
        const TOOLS: (&str, &str) = ("tools", "list<json>");
        match self {
            Format::Sft => &[("messages", MESSAGES), TOOLS],
            Format::Dpo => &[("prompt", MESSAGES), ("chosen", MESSAGES), ("rejected", MESSAGES), TOOLS],
            Format::Kto => &[("prompt", MESSAGES), ("completion", MESSAGES), ("label", "bool"), TOOLS],
        }
    }
}

/// How files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFormat {
    /// A JSON object per line.
    Jsonl,
    /// Apache Parquet, compressed with Snappy.
    Parquet,
}

impl FileFormat {
    /// All of them.
    pub const ALL: [FileFormat; 2] = [FileFormat::Jsonl, FileFormat::Parquet];

    /// The name, which is the ending of files too.
    pub fn as_str(self) -> &'static str {
        match self {
            FileFormat::Jsonl => "jsonl",
            FileFormat::Parquet => "parquet",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<FileFormat> {
        FileFormat::ALL.into_iter().find(|format| format.as_str() == name)
    }
}

/// The least feedback with which an answer is exported. Ordered: unknown, negative, neutral, positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MinFeedback {
    /// Everything, also what nobody has an opinion about.
    None,
    /// Whatever somebody or something has an opinion about.
    Negative,
    /// Neutral and better.
    Neutral,
    /// What helped.
    Positive,
}

impl MinFeedback {
    /// All of them.
    pub const ALL: [MinFeedback; 4] =
        [MinFeedback::None, MinFeedback::Negative, MinFeedback::Neutral, MinFeedback::Positive];

    /// The name in files, addresses and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            MinFeedback::None => "none",
            MinFeedback::Negative => "negative",
            MinFeedback::Neutral => "neutral",
            MinFeedback::Positive => "positive",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<MinFeedback> {
        MinFeedback::ALL.into_iter().find(|least| least.as_str() == name)
    }

    /// What makes sense for a format where nobody chose: good examples to imitate, both sides to compare.
    pub fn default_for(format: Format) -> MinFeedback {
        match format {
            Format::Sft => MinFeedback::Positive,
            Format::Dpo | Format::Kto => MinFeedback::Negative,
        }
    }

    /// Whether feedback is enough. Unknown is enough for nothing but `none`: it is not negative.
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

/// Which answers of a session its rating counts for, where nothing else is known of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionRating {
    /// The last one: a rating is given at the end, and says little about earlier answers.
    Last,
    /// All of them.
    All,
    /// None.
    None,
}

impl SessionRating {
    /// All of them.
    pub const ALL: [SessionRating; 3] = [SessionRating::Last, SessionRating::All, SessionRating::None];

    /// The name in files, addresses and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            SessionRating::Last => "last",
            SessionRating::All => "all",
            SessionRating::None => "none",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<SessionRating> {
        SessionRating::ALL.into_iter().find(|rating| rating.as_str() == name)
    }
}

/// The greatest confidence, in thousandths.
pub const CONFIDENCE_MAX: u16 = 1_000;

/// What to export, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// For which kind of training.
    pub format: Format,
    /// How the file is written.
    pub file_format: FileFormat,
    /// The least feedback.
    pub min_feedback: MinFeedback,
    /// Feedback of other sources is as if it had never been given.
    pub sources: BTreeSet<Source>,
    /// Inferred feedback of less confidence, in thousandths, is as if it had never been given.
    pub min_confidence: u16,
    /// Which answers a session's rating counts for.
    pub session_rating: SessionRating,
    /// Which interactions are exported.
    pub filter: Filter,
    /// The share of sessions whose rows go into a file for validation, in thousandths; 0 for no such file.
    pub validation_share: u16,
    /// What is taken out beside secrets.
    pub personal: Personal,
}

impl Options {
    /// Whether sessions are asked for their ratings.
    pub(super) fn asks_sessions(&self) -> bool {
        self.sources.contains(&Source::Session) && self.session_rating != SessionRating::None
    }

    /// The usual options of a format: all sources, of what was inferred the confident part, a session's rating for its
    /// last answer.
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
        }
    }
}
