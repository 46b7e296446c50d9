//! Where the streams lie.

use chrono::NaiveDate;
use domain::Timestamp;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

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

/// Removes every file of the streams up to and including a day; how many. Lines are never taken out of a file.
///
/// # Errors
/// If a file cannot be removed. Others may be gone then.
pub fn remove_until(layout: &Layout, last: NaiveDate) -> io::Result<u64> {
    let mut removed = 0;
    for folder in [layout.interactions(), layout.feedback(), layout.outcomes()] {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            if day_of(&path).is_some_and(|day| day <= last) {
                fs::remove_file(&path)?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

/// The day in the name of a file of ours.
fn day_of(path: &Path) -> Option<NaiveDate> {
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    name.split('_').find_map(|part| part.parse().ok())
}

fn day(at: Timestamp) -> NaiveDate {
    at.date_naive()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_days_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::below(folder.path());
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        assert_eq!(remove_until(&layout, day("2026-02-26")).unwrap(), 0);
        let at = |text: &str| day(text).and_time(chrono::NaiveTime::MIN).and_utc();
        let (old, last, new) = (at("2026-02-25"), at("2026-02-26"), at("2026-02-27"));
        let old_files = [layout.interactions_file(old, "abcd"), layout.feedback_file(last), layout.outcomes_file(last)];
        let new_files =
            [layout.interactions_file(new, "abcd"), layout.feedback_file(new), layout.feedback().join("notes_x.jsonl")];
        for file in old_files.iter().chain(&new_files) {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "{}\n").unwrap();
        }
        assert_eq!(remove_until(&layout, day("2026-02-26")).unwrap(), 3);
        assert!(old_files.iter().all(|file| !file.exists()) && new_files.iter().all(|file| file.exists()));
    }
}
