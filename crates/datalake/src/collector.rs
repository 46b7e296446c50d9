//! Writes the three streams of one process. Nothing is buffered in memory: captures wait in the database until
//! their lines are on disk. So a record that can be marked is already written.

use crate::{
    Layout, append,
    record::{FeedbackRecord, InteractionRecord, OutcomeRecord},
};
use domain::Timestamp;
use serde::Serialize;
use std::{io, path::Path};

/// Counters of a collector since its creation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Interactions that were written to disk.
    pub written: u64,
    /// Lines of feedback that were written to disk.
    pub marked: u64,
    /// Writes that failed. The collector keeps none of their lines; the caller has them and tries again.
    pub failed_writes: u64,
}

/// Writes interactions, feedback and outcomes of one process. A failed write is logged and counted.
pub struct Collector {
    layout: Layout,
    writer: String,
    counts: Counts,
}

impl Collector {
    /// Creates a collector that writes to the files of `layout`. `writer` is a random text that distinguishes
    /// its files of interactions from those of other writers.
    pub fn new(layout: Layout, writer: &str) -> Collector {
        Collector { layout, writer: writer.to_owned(), counts: Counts::default() }
    }

    /// Appends feedback to the feedback file of its day. The record itself is never rewritten. After this
    /// returns, the line survives a loss of power.
    ///
    /// # Errors
    /// The error of the file system. The caller tries again with the same line; repeated feedback has no
    /// effect.
    pub fn mark_feedback(&mut self, mark: &FeedbackRecord) -> io::Result<()> {
        self.write_through(&[], std::slice::from_ref(mark), &[], mark.timestamp)
    }

    /// Writes lines immediately. After this returns, they survive a loss of power. Lines that cannot be written
    /// are not kept; the caller tries again with the same lines.
    ///
    /// # Errors
    /// The error of the first file that cannot be written. Lines that were written before it stay, and the next
    /// try writes them again. Readers recognise repeated interactions by their ids, and repeated feedback has
    /// no effect.
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

    /// Returns the counters of this collector.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the layout of the files that it writes.
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
