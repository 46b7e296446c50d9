//! Reads the streams. A line or a file that cannot be read is skipped with a warning that names its place.
//! Reading needs as much memory as the longest line.

use crate::Layout;
use crate::record::{FeedbackRecord, InteractionRecord, OutcomeRecord};
use serde::{Deserialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, File},
    io::{BufRead, BufReader, ErrorKind, Read},
    marker::PhantomData,
    path::{Path, PathBuf},
};

/// Longest line that is read, bytes. Shiftbook writes no longer lines.
pub(crate) const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;
const BUFFER_BYTES: usize = 256 * 1024;

/// A line, file or folder that was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Path of the file or folder.
    pub file: PathBuf,
    /// Number of the line, from 1; 0 if the file or folder itself cannot be read.
    pub line: u64,
    /// Reason for which it was skipped.
    pub reason: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.reason)
    }
}

/// The records of a stream. Files are read in the order of their names, which contain the day.
pub struct Lines<T> {
    files: std::vec::IntoIter<PathBuf>,
    open: Option<(PathBuf, BufReader<File>, u64)>,
    pending: Option<Warning>,
    buffer: Vec<u8>,
    records: PhantomData<T>,
}

/// Returns all interactions of the installation.
pub fn interactions(layout: &Layout) -> Lines<InteractionRecord> {
    Lines::of(&layout.interactions())
}

/// Returns the ids of the workspaces with interactions, each with its number of lines. Lines that cannot be
/// read are ignored.
pub fn workspaces(layout: &Layout) -> BTreeMap<String, u64> {
    #[derive(Deserialize)]
    struct Keyed {
        tenant_id: String,
    }
    let mut found = BTreeMap::new();
    // A line that cannot be read names no workspace. The reader of the records reports it.
    for line in Lines::<Keyed>::of(&layout.interactions()).flatten() {
        *found.entry(line.tenant_id).or_default() += 1;
    }
    found
}

/// Returns all feedback of the installation.
pub fn feedback(layout: &Layout) -> Lines<FeedbackRecord> {
    Lines::of(&layout.feedback())
}

/// Returns all inferred outcomes of the installation.
pub fn outcomes(layout: &Layout) -> Lines<OutcomeRecord> {
    Lines::of(&layout.outcomes())
}

impl<T: DeserializeOwned> Lines<T> {
    fn of(folder: &Path) -> Lines<T> {
        let (files, pending) = match list(folder) {
            Ok(files) => (files, None),
            Err(error) if error.kind() == ErrorKind::NotFound => (Vec::new(), None),
            Err(error) => (Vec::new(), Some(Warning { file: folder.to_owned(), line: 0, reason: error.to_string() })),
        };
        Lines { files: files.into_iter(), open: None, pending, buffer: Vec::new(), records: PhantomData }
    }

    /// Returns the records of one file.
    pub(crate) fn of_file(file: PathBuf) -> Lines<T> {
        Lines { files: vec![file].into_iter(), open: None, pending: None, buffer: Vec::new(), records: PhantomData }
    }

    /// Reads the next line of the open file; `None` at its end.
    fn line(&mut self) -> Option<Result<T, Warning>> {
        let (path, reader, number) = self.open.as_mut()?;
        self.buffer.clear();
        let read = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut self.buffer);
        *number += 1;
        let warning = |reason: String| Warning { file: path.clone(), line: *number, reason };
        match read {
            Ok(0) => None,
            Ok(_) if self.buffer.last() != Some(&b'\n') && self.buffer.len() as u64 == LINE_BYTES_MAX => {
                let skipped = reader.skip_until(b'\n');
                Some(Err(warning(match skipped {
                    Ok(_) => format!("longer than {LINE_BYTES_MAX} bytes"),
                    Err(error) => error.to_string(),
                })))
            }
            // A writer is still writing the line, or was killed while it wrote it.
            Ok(_) if self.buffer.last() != Some(&b'\n') => Some(Err(warning("torn: it does not end".to_owned()))),
            Ok(_) => Some(serde_json::from_slice(&self.buffer).map_err(|error| warning(error.to_string()))),
            Err(error) => {
                let warning = warning(error.to_string());
                self.open = None;
                Some(Err(warning))
            }
        }
    }
}

impl<T: DeserializeOwned> Iterator for Lines<T> {
    type Item = Result<T, Warning>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(warning) = self.pending.take() {
                return Some(Err(warning));
            }
            if let Some(line) = self.line() {
                return Some(line);
            }
            let path = self.files.next()?;
            match File::open(&path) {
                Ok(file) => self.open = Some((path, BufReader::with_capacity(BUFFER_BYTES, file), 0)),
                Err(error) => {
                    self.open = None;
                    self.pending = Some(Warning { file: path, line: 0, reason: error.to_string() });
                }
            }
        }
    }
}

pub(crate) fn list(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Feedback;

    const GOOD: &str =
        r#"{"record_id":"r","feedback":"positive","timestamp":"2026-02-26T10:00:00Z","source":"manual"}"#;

    fn read(folder: &Path) -> (Vec<Feedback>, Vec<String>) {
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for line in feedback(&Layout::below(folder)) {
            match line {
                Ok(record) => good.push(record.feedback),
                Err(warning) => bad.push(warning.to_string().replace(&folder.display().to_string(), "")),
            }
        }
        (good, bad)
    }

    #[test]
    fn nothing_there_is_nothing_to_read() {
        assert_eq!(read(tempfile::tempdir().unwrap().path()), (vec![], vec![]));
    }

    #[test]
    fn bad_lines_are_named_and_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let stream = Layout::below(folder.path()).feedback();
        fs::create_dir_all(&stream).unwrap();
        let strange = GOOD.replace("positive", "lovely");
        fs::write(stream.join("2026-02-26_feedback.jsonl"), format!("{GOOD}\n{{\"half\n{strange}\n{GOOD}\n{GOOD}"))
            .unwrap();
        fs::write(
            stream.join("2026-02-27_feedback.jsonl"),
            [b"\xff\xfe\n".to_vec(), format!("{GOOD}\n").into()].concat(),
        )
        .unwrap();
        fs::write(stream.join("notes.txt"), "not ours").unwrap();
        let (good, bad) = read(folder.path());
        assert_eq!(good.len(), 3);
        let starts = [
            "26_feedback.jsonl:2: control character",
            "26_feedback.jsonl:3: unknown variant `lovely`",
            "26_feedback.jsonl:5: torn",
            "27_feedback.jsonl:1: ",
        ];
        assert_eq!(bad.len(), starts.len(), "{bad:?}");
        for (warning, start) in bad.iter().zip(starts) {
            assert!(warning.starts_with(&format!("/datalake/01-raw/feedback/2026-02-{start}")), "{warning}");
        }
    }
}
