//! What a process has captured and not yet written, within bounds.

use crate::{
    Layout, append,
    record::{FeedbackRecord, InteractionRecord, OutcomeRecord},
};
use domain::Timestamp;
use serde::Serialize;
use std::{collections::VecDeque, io, path::Path};

/// So many records are written without being told to.
const FLUSH_RECORDS: usize = 64;
/// So many records wait when nothing can be written; then the oldest are given up.
pub const WAITING_RECORDS_MAX: usize = 1_024;

/// What became of feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    /// The record was still in memory, and has it.
    InBuffer,
    /// It is on the disk, beside the record.
    Written,
    /// It could not be written. The reason is in the log, and the loss is counted.
    Lost,
}

/// What a collector has done since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records taken.
    pub captured: u64,
    /// Records on the disk.
    pub written: u64,
    /// Feedback taken.
    pub marked: u64,
    /// Writes that failed; records stay in memory then, feedback and outcomes are lost.
    pub failed_writes: u64,
    /// Records given up because too many waited.
    pub dropped: u64,
    /// Lines of feedback and outcomes that are lost.
    pub lost: u64,
}

/// Takes records, feedback and outcomes of one process. Nothing here fails for the caller: what cannot be written is
/// logged and counted, and the conversation goes on.
pub struct Collector {
    layout: Layout,
    writer: String,
    waiting: VecDeque<InteractionRecord>,
    counts: Counts,
}

impl Collector {
    /// A collector that writes below `layout`. `writer` tells its files from those of others: something random.
    pub fn new(layout: Layout, writer: &str) -> Collector {
        Collector { layout, writer: writer.to_owned(), waiting: VecDeque::new(), counts: Counts::default() }
    }

    /// Takes a record and gives its id back. It is on the disk after the next [`Collector::flush`] that succeeds, not before.
    pub fn capture(&mut self, record: InteractionRecord, now: Timestamp) -> String {
        let id = record.id.clone();
        self.counts.captured += 1;
        self.waiting.push_back(record);
        if self.waiting.len().is_multiple_of(FLUSH_RECORDS) {
            // Counted and logged; the record waits for the next try.
            let _ = self.flush(now);
        }
        while self.waiting.len() > WAITING_RECORDS_MAX {
            self.waiting.pop_front();
            self.counts.dropped += 1;
        }
        id
    }

    /// Writes what waits; how many records. When this returns, they survive a loss of power.
    ///
    /// # Errors
    /// If they cannot be written. They go on waiting, and the failure is logged and counted already.
    pub fn flush(&mut self, now: Timestamp) -> io::Result<usize> {
        if self.waiting.is_empty() {
            return Ok(0);
        }
        let file = self.layout.interactions_file(now, &self.writer);
        let lines = lines(self.waiting.iter());
        self.counted(&file, lines)?;
        let written = self.waiting.len();
        self.waiting.clear();
        self.counts.written += written as u64;
        Ok(written)
    }

    /// Notes feedback: in the record, if that is still in memory, else beside it. Feedback that is older than what the
    /// record has changes nothing.
    pub fn mark_feedback(&mut self, mark: FeedbackRecord) -> Marked {
        self.counts.marked += 1;
        if let Some(record) = self.waiting.iter_mut().rev().find(|record| record.id == mark.record_id) {
            if record.feedback_at.is_none_or(|before| before <= mark.timestamp) {
                record.user_feedback = Some(mark.feedback);
                record.was_edited = mark.was_edited;
                record.edited = mark.edited;
                record.feedback_source = Some(mark.source);
                record.feedback_at = Some(mark.timestamp);
            }
            return Marked::InBuffer;
        }
        let file = self.layout.feedback_file(mark.timestamp);
        match self.counted(&file, lines([&mark])) {
            Ok(()) => Marked::Written,
            Err(_) => {
                self.counts.lost += 1;
                Marked::Lost
            }
        }
    }

    /// Notes an inferred outcome. Whether it is on the disk.
    pub fn note_outcome(&mut self, outcome: &OutcomeRecord) -> bool {
        let file = self.layout.outcomes_file(outcome.timestamp);
        let written = self.counted(&file, lines([outcome])).is_ok();
        self.counts.lost += u64::from(!written);
        written
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
            self.counts.captured += records.len() as u64;
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
