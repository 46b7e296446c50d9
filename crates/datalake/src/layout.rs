//! The paths of the streams' files.

use chrono::NaiveDate;
use domain::Timestamp;
use std::path::{Path, PathBuf};

/// Number of characters of a writer's id in the names of its files.
const ID_LENGTH: usize = 8;

/// The folder of the three streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    raw: PathBuf,
}

impl Layout {
    /// Returns the layout below the data directory of an installation.
    pub fn below(data: &Path) -> Layout {
        Layout { raw: data.join("datalake").join("01-raw") }
    }

    /// The folder that holds those of the three streams.
    pub fn raw(&self) -> &Path {
        &self.raw
    }

    /// The folder `interactions/`.
    pub fn interactions(&self) -> PathBuf {
        self.raw.join("interactions")
    }

    /// The folder `feedback/`.
    pub fn feedback(&self) -> PathBuf {
        self.raw.join("feedback")
    }

    /// The folder `outcomes/`.
    pub fn outcomes(&self) -> PathBuf {
        self.raw.join("outcomes")
    }

    /// The file of interactions of one day (UTC) and one writer. Its name contains the first eight letters and
    /// digits of the writer's id.
    pub fn interactions_file(&self, at: Timestamp, writer: &str) -> PathBuf {
        let id: String = writer.chars().filter(char::is_ascii_alphanumeric).take(ID_LENGTH).collect();
        self.interactions().join(format!("interactions_{}_{id}.jsonl", day(at)))
    }

    /// The file of feedback of one day (UTC).
    pub fn feedback_file(&self, at: Timestamp) -> PathBuf {
        self.feedback().join(format!("{}_feedback.jsonl", day(at)))
    }

    /// The file of outcomes of one day (UTC).
    pub fn outcomes_file(&self, at: Timestamp) -> PathBuf {
        self.outcomes().join(format!("{}_outcomes.jsonl", day(at)))
    }
}

/// Returns the day in the name of a stream's file; `None` for other names.
pub(crate) fn day_of(path: &Path) -> Option<NaiveDate> {
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    name.split('_').find_map(|part| part.parse().ok())
}

fn day(at: Timestamp) -> NaiveDate {
    at.date_naive()
}
