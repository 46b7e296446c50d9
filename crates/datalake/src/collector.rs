//! Writing the three streams of one process. Nothing waits in memory here: what is captured waits in the database
//! until its lines are on the disk, so a record that can be marked has been written already.

use crate::{
    Layout, append,
    record::{FeedbackRecord, InteractionRecord, OutcomeRecord},
};
use domain::Timestamp;
use serde::Serialize;
use std::{io, path::Path};

/// What a collector has done since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records on the disk.
    pub written: u64,
    /// Lines of feedback on the disk.
    pub marked: u64,
    /// Writes that failed. Nothing of them is kept: the caller has the lines and tries again.
    pub failed_writes: u64,
}

/// Writes records, feedback and outcomes of one process. What cannot be written is logged and counted.
pub struct Collector {
    layout: Layout,
    writer: String,
    counts: Counts,
}

impl Collector {
    /// A collector that writes below `layout`. `writer` tells its files from those of others: something random.
    pub fn new(layout: Layout, writer: &str) -> Collector {
        Collector { layout, writer: writer.to_owned(), counts: Counts::default() }
    }

    /// Appends feedback to the sidecar file of its day, beside the record, which is never rewritten. When this
    /// returns, the line survives a loss of power.
    ///
    /// # Errors
    /// If it cannot be written. The caller has the line and tries again: repeated feedback changes nothing.
    pub fn mark_feedback(&mut self, mark: &FeedbackRecord) -> io::Result<()> {
        self.write_through(&[], std::slice::from_ref(mark), &[], mark.timestamp)
    }

    /// Writes lines at once, and keeps none of those that cannot be written: the caller has them, and tries again. When
    /// this returns, they survive a loss of power.
    ///
    /// # Errors
    /// At the first file that cannot be written; what was written before stays, and is written again by the next try.
    /// Readers tell repeated interactions by their ids, and repeated feedback changes nothing.
    pub fn write_through(
        &mut self,
        records: &[InteractionRecord],
        marks: &[FeedbackRecord],
        outcomes: &[OutcomeRecord],
        now: Timestamp,
    ) -> io::Result<()> {
        if !records.is_empty() {
            let file = self.layout.interactions_file(now, &self.writer);
            self.counted(&file, lines(records))?;
            self.counts.written += records.len() as u64;
        }
        for of_a_day in marks.chunk_by(|a, b| a.timestamp.date_naive() == b.timestamp.date_naive()) {
            let Some(first) = of_a_day.first() else { continue };
            let file = self.layout.feedback_file(first.timestamp);
            self.counted(&file, lines(of_a_day))?;
            self.counts.marked += of_a_day.len() as u64;
        }
        for of_a_day in outcomes.chunk_by(|a, b| a.timestamp.date_naive() == b.timestamp.date_naive()) {
            let Some(first) = of_a_day.first() else { continue };
            let file = self.layout.outcomes_file(first.timestamp);
            self.counted(&file, lines(of_a_day))?;
        }
        Ok(())
    }

    /// What this collector has done.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Where it writes.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn counted(&mut self, file: &Path, lines: Result<Vec<u8>, serde_json::Error>) -> io::Result<()> {
        let written = lines.map_err(io::Error::from).and_then(|lines| append(file, &lines));
        if let Err(error) = &written {
            self.counts.failed_writes += 1;
            tracing::warn!(file = %file.display(), %error, "training data cannot be written; the conversation goes on");
        }
        written
    }
}

fn lines<T: Serialize>(records: impl IntoIterator<Item = T>) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = Vec::new();
    for record in records {
        serde_json::to_writer(&mut text, &record)?;
        text.push(b'\n');
    }
    Ok(text)
}
