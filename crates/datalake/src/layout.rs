//! Where the streams lie.

use chrono::NaiveDate;
use domain::Timestamp;
use std::path::{Path, PathBuf};

/// Digits of a writer's id that its file names carry.
const ID_LENGTH: usize = 8;

/// The folder of the raw streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    raw: PathBuf,
}

impl Layout {
    /// Below the data directory of an installation.
    pub fn below(data: &Path) -> Layout {
        Layout { raw: data.join("datalake").join("01-raw") }
    }

    /// `interactions/`.
    pub fn interactions(&self) -> PathBuf {
        self.raw.join("interactions")
    }

    /// `feedback/`.
    pub fn feedback(&self) -> PathBuf {
        self.raw.join("feedback")
    }

    /// `outcomes/`.
    pub fn outcomes(&self) -> PathBuf {
        self.raw.join("outcomes")
    }

    /// The file of one day and one writer. Of the writer's id the first eight letters and digits are used.
    pub fn interactions_file(&self, at: Timestamp, writer: &str) -> PathBuf {
        let id: String = writer.chars().filter(char::is_ascii_alphanumeric).take(ID_LENGTH).collect();
        self.interactions().join(format!("interactions_{}_{id}.jsonl", day(at)))
    }

    /// The file of one day.
    pub fn feedback_file(&self, at: Timestamp) -> PathBuf {
        self.feedback().join(format!("{}_feedback.jsonl", day(at)))
    }

    /// The file of one day.
    pub fn outcomes_file(&self, at: Timestamp) -> PathBuf {
        self.outcomes().join(format!("{}_outcomes.jsonl", day(at)))
    }
}

/// The day in the name of a file of ours.
pub(crate) fn day_of(path: &Path) -> Option<NaiveDate> {
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    name.split('_').find_map(|part| part.parse().ok())
}

fn day(at: Timestamp) -> NaiveDate {
    at.date_naive()
}
