//! Makes rows from the streams by sorting: by record to match feedback with its interaction, by prompt to pair
//! answers, and by time to order the rows.

use super::{
    file::DataFiles,
    filter::Split,
    last::{LastAnswers, LastIds},
    manifest::{Counts, MANIFEST_FILE, Manifest},
    merge::merge_row,
    options::{Format, Options, SessionRating},
    pairs::{self, Group},
    row::Row,
};
use crate::{
    InvalidRule, Redactor,
    fold::{Fold, Folded},
    load::Warning,
    record::{Feedback, FeedbackRecord, InteractionRecord, Source},
    sort::Sorter,
};
use domain::clock::to_micros;
use std::{collections::BTreeMap, io, iter::Peekable, path::Path};

/// Memory of each sort, bytes. Two sorts run at a time.
const SORT_BYTES: usize = 64 * 1024 * 1024;
/// Most warnings that are kept. Further ones are only counted.
const WARNINGS_MAX: usize = 100;
/// Number of records after which progress is reported.
const TELL_EVERY: u64 = 1_000;
const SAMPLES: usize = 3;
/// Bytes of a key that are equal for answers that can be paired: the digest of the prompt, and the split.
const PAIRED_KEY_BYTES: usize = 32 + 1;

/// Returns the rating of an interaction's session, `None` without one, or the reason for which it cannot be
/// read.
pub type Rating<'a> = Box<dyn Fn(&InteractionRecord) -> Result<Option<Feedback>, String> + 'a>;

/// The inputs of an export.
pub struct Inputs<'a> {
    /// Interactions, which may be repeated.
    pub interactions: Box<dyn Iterator<Item = Result<InteractionRecord, Warning>> + 'a>,
    /// Feedback, in the order in which it was written.
    pub feedback: Box<dyn Iterator<Item = Result<FeedbackRecord, Warning>> + 'a>,
    /// Reads the rating of an interaction's session. A skipped rating counts as none.
    pub rating: Rating<'a>,
}

/// The progress of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Number of interactions that were read.
    Read(u64),
    /// Number of interactions that were matched with their feedback, and number of all interactions.
    Matched(u64, u64),
    /// Number of rows that were written, and number of all rows.
    Written(u64, u64),
}

/// The reason for which an export failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The rules that find secrets cannot be used.
    #[error(transparent)]
    Rules(#[from] InvalidRule),
    /// The caller cancelled the export.
    #[error("the export was cancelled")]
    Cancelled,
    /// Ratings of sessions were requested and none could be read. Holds the reason for the last one.
    #[error("no rating of a session can be read: {0}; fix that, or leave out the source session")]
    Ratings(String),
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Error {
        Error::Io(error.into())
    }
}

/// The description of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// Manifest. In a preview it lists no files.
    pub manifest: Manifest,
    /// First rows of the export, as examples.
    pub samples: Vec<Row>,
    /// First warnings about lines and files that were skipped.
    pub warnings: Vec<Warning>,
}

/// Writes training data and its manifest to `folder`, in which neither may exist. `tell` is called with the
/// progress and cancels the export by returning false.
///
/// # Errors
/// See [`Error`]. Then the folder has no data file under its final name and no manifest.
pub fn export(
    inputs: Inputs<'_>,
    options: &Options,
    folder: &Path,
    tell: &mut dyn FnMut(Progress) -> bool,
) -> Result<Preview, Error> {
    private::create_dir_all(folder)?;
    let manifest_file = folder.join(MANIFEST_FILE);
    if manifest_file.exists() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{MANIFEST_FILE} is there already")).into());
    }
    let mut files = DataFiles::create(folder, options)?;
    let run = match Run::new(inputs, options, folder, tell)?.rows(&mut |row, split| files.write(row, split)) {
        Ok(run) => run,
        Err(error) => {
            files.abandon();
            return Err(error);
        }
    };
    let preview = run.described(options, files.finish(folder)?);
    let mut text = serde_json::to_vec_pretty(&preview.manifest)?;
    text.push(b'\n');
    if let Err(error) = private::write(&manifest_file, &text) {
        // Data without a manifest cannot be verified, so data files and an incomplete manifest are removed.
        let _ = std::fs::remove_file(&manifest_file);
        for file in &preview.manifest.files {
            let _ = std::fs::remove_file(folder.join(&file.name));
        }
        return Err(error.into());
    }
    Ok(preview)
}

/// Returns the description of an export without writing it. `scratch` is a folder for temporary files.
///
/// # Errors
/// See [`Error`].
pub fn preview(
    inputs: Inputs<'_>,
    options: &Options,
    scratch: &Path,
    tell: &mut dyn FnMut(Progress) -> bool,
) -> Result<Preview, Error> {
    Ok(Run::new(inputs, options, scratch, tell)?.rows(&mut |_, _| Ok(()))?.described(options, Vec::new()))
}

struct Run<'a, 'o> {
    inputs: Inputs<'a>,
    options: &'o Options,
    scratch: &'o Path,
    tell: &'o mut dyn FnMut(Progress) -> bool,
    redactor: Redactor,
    counts: Counts,
    by_source: BTreeMap<Source, u64>,
    /// Last answers of sessions, if ratings apply only to these.
    last: Option<LastIds>,
    /// Number of ratings that could be read.
    ratings_read: u64,
    unreadable: Option<String>,
    warnings: Vec<Warning>,
    samples: Vec<Row>,
}

impl<'a, 'o> Run<'a, 'o> {
    fn new(
        inputs: Inputs<'a>,
        options: &'o Options,
        scratch: &'o Path,
        tell: &'o mut dyn FnMut(Progress) -> bool,
    ) -> Result<Self, Error> {
        let redactor = Redactor::built_in(options.personal)?;
        let by_source = options.sources.iter().map(|source| (*source, 0)).collect();
        let (counts, warnings, samples) = (Counts::default(), Vec::new(), Vec::new());
        let (ratings_read, unreadable) = (0, None);
        Ok(Run {
            inputs,
            options,
            scratch,
            tell,
            redactor,
            counts,
            by_source,
            last: None,
            ratings_read,
            unreadable,
            warnings,
            samples,
        })
    }

    /// Passes every row to `write`, in order.
    fn rows(mut self, write: &mut dyn FnMut(Row, Split) -> io::Result<()>) -> Result<Self, Error> {
        let (records, feedback) = self.read()?;
        let rows = self.matched(records, feedback)?;
        let total = self.counts.rows;
        self.counts.rows = 0;
        for pair in rows.finish()? {
            let (is_validation, row): (bool, Row) = serde_json::from_slice(&pair?.1)?;
            let mut row = row.redacted(&mut self.redactor)?;
            self.counts.merged_rows += u64::from(self.options.merge_roles && merge_row(&mut row));
            if self.samples.len() < SAMPLES {
                self.samples.push(row.clone());
            }
            write(row, if is_validation { Split::Validation } else { Split::Train })?;
            self.counts.rows += 1;
            self.report(self.counts.rows, Progress::Written(self.counts.rows, total))?;
        }
        Ok(self)
    }

    /// Reads both streams: interactions and their feedback, each in the order of record ids.
    fn read(&mut self) -> Result<(Sorter, Folded), Error> {
        let mut records = Sorter::new(self.scratch, SORT_BYTES);
        let mut fold = Fold::new(self.scratch, SORT_BYTES);
        let is_last_asked = self.options.asks_sessions() && self.options.session_rating == SessionRating::Last;
        let mut last = is_last_asked.then(|| LastAnswers::new(self.scratch));
        let mut position: u64 = 0;
        let nothing = || Box::new(std::iter::empty());
        for line in std::mem::replace(&mut self.inputs.interactions, nothing()) {
            let record = match line {
                Ok(record) => record,
                Err(warning) => {
                    self.skipped(warning);
                    self.report(self.counts.skipped_lines, Progress::Read(position))?;
                    continue;
                }
            };
            position += 1;
            if let Some(own) = record.own_feedback().filter(|own| self.believes(own)) {
                fold.push(&own)?;
            }
            if let Some(last) = &mut last {
                last.push(&record)?;
            }
            let key = [record.id.as_bytes(), &[0], &position.to_be_bytes()].concat();
            records.push(&key, &serde_json::to_vec(&record)?)?;
            self.report(position, Progress::Read(position))?;
        }
        let feedback = std::mem::replace(&mut self.inputs.feedback, Box::new(std::iter::empty()));
        for (done, line) in (1_u64..).zip(feedback) {
            match line {
                Ok(record) if self.believes(&record) => fold.push(&record)?,
                Ok(_) => {}
                Err(warning) => self.skipped(warning),
            }
            self.report(done, Progress::Read(position))?;
        }
        self.counts.interactions = position;
        self.last = last.map(|last| last.finish(self.scratch)).transpose()?;
        Ok((records, fold.finish()?))
    }

    /// Whether feedback is used: its source is selected, and its confidence is high enough.
    fn believes(&mut self, feedback: &FeedbackRecord) -> bool {
        let is_believed = self.options.sources.contains(&feedback.source);
        let is_sure = feedback.is_as_sure_as(self.options.min_confidence);
        self.counts.doubtful += u64::from(is_believed && !is_sure);
        is_believed && is_sure
    }

    /// Matches feedback with its interaction, and makes rows that are sorted by time and id.
    fn matched(&mut self, records: Sorter, feedback: Folded) -> Result<Sorter, Error> {
        let mut rows = Sorter::new(self.scratch, SORT_BYTES);
        let mut comparable = Sorter::new(self.scratch, SORT_BYTES);
        let mut feedback = feedback.peekable();
        let (read, mut last, mut done) = (self.counts.interactions, None, 0);
        for pair in records.finish()? {
            let record: InteractionRecord = serde_json::from_slice(&pair?.1)?;
            done += 1;
            let progress = Progress::Matched(done, read);
            self.report(done, progress)?;
            if last.as_ref() == Some(&record.id) {
                self.counts.repeated += 1;
                self.counts.interactions -= 1;
                continue;
            }
            last = Some(record.id.clone());
            let said = self.feedback_on(&record, &mut feedback, progress)?;
            if !self.options.filter.admits(&record) {
                self.counts.outside += 1;
                self.counts.interactions -= 1;
                continue;
            }
            let given = match said {
                Some(said) => Some(said),
                None => self.rating_of(&record)?,
            };
            self.made(record, given, &mut rows, &mut comparable)?;
        }
        for orphan in feedback {
            orphan?;
            self.orphaned(Progress::Matched(done, read))?;
        }
        // Some unreadable ratings are counted as gaps. If no rating can be read, the export fails.
        if let Some(why) = self.unreadable.take().filter(|_| self.ratings_read == 0) {
            return Err(Error::Ratings(why));
        }
        if self.options.format == Format::Dpo {
            self.compare(comparable, &mut rows, Progress::Matched(done, read))?;
        }
        Ok(rows)
    }

    /// Counts feedback that has no interaction.
    fn orphaned(&mut self, progress: Progress) -> Result<(), Error> {
        self.counts.orphans += 1;
        self.report(self.counts.orphans, progress)
    }

    /// Returns the feedback on an interaction. Feedback with smaller ids has no interaction and is counted as
    /// orphaned.
    fn feedback_on(
        &mut self,
        record: &InteractionRecord,
        feedback: &mut Peekable<Folded>,
        progress: Progress,
    ) -> Result<Option<FeedbackRecord>, Error> {
        while let Some(next) = feedback.next_if(|next| next.as_ref().map_or(true, |next| next.record_id <= record.id)) {
            let next = next?;
            if next.record_id == record.id {
                return Ok(Some(next));
            }
            self.orphaned(progress)?;
        }
        Ok(None)
    }

    /// Returns the rating of an interaction's session as feedback, if it applies to this interaction.
    fn rating_of(&mut self, record: &InteractionRecord) -> Result<Option<FeedbackRecord>, Error> {
        let is_asked = match &mut self.last {
            Some(last) => last.contains(&record.id)?,
            None => self.options.asks_sessions(),
        };
        let rated = if is_asked { self.rated(record) } else { None };
        Ok(rated.map(|feedback| FeedbackRecord {
            record_id: record.id.clone(),
            tenant_id: None,
            feedback,
            was_edited: false,
            edited: None,
            timestamp: record.timestamp,
            source: Source::Session,
            confidence: None,
        }))
    }

    /// Reads the rating of the session. A rating that cannot be read is counted, because it is not the same as
    /// no rating.
    fn rated(&mut self, record: &InteractionRecord) -> Option<Feedback> {
        match (self.inputs.rating)(record) {
            Ok(rated) => {
                self.ratings_read += 1;
                rated
            }
            Err(why) => {
                self.counts.unreadable_ratings += 1;
                self.unreadable = Some(why);
                None
            }
        }
    }

    fn made(
        &mut self,
        record: InteractionRecord,
        given: Option<FeedbackRecord>,
        rows: &mut Sorter,
        comparable: &mut Sorter,
    ) -> Result<(), Error> {
        match given.as_ref().map(|given| given.feedback) {
            Some(Feedback::Positive) => self.counts.positive += 1,
            Some(Feedback::Negative) => self.counts.negative += 1,
            Some(Feedback::Neutral) => self.counts.neutral += 1,
            None => self.counts.unknown += 1,
        }
        if let Some(given) = &given {
            *self.by_source.entry(given.source).or_default() += 1;
            self.counts.edited += u64::from(given.was_edited);
        }
        let is_enough = self.options.min_feedback.admits(given.as_ref().map(|given| given.feedback));
        if !is_enough || record.prompt.is_empty() {
            self.counts.left_out += 1;
            return Ok(());
        }
        let made = pairs::make(self.options.format, &record, given.as_ref());
        if made.rows.is_empty() && made.comparable.is_none() {
            self.counts.left_out += 1;
        }
        for (at, row) in made.rows.iter().enumerate() {
            self.push_row(rows, &record, at, row)?;
        }
        if let Some(is_better) = made.comparable {
            let digest = pairs::prompt_digest(&record)?;
            // Answers of different splits are not paired, because data for validation must not be used for
            // training.
            let key = [&digest[..], &[u8::from(self.is_validation(&record))], &order(&record, 0)].concat();
            comparable.push(&key, &serde_json::to_vec(&(is_better, &record))?)?;
        }
        Ok(())
    }

    /// Makes pairs of answers to the same prompt.
    fn compare(&mut self, comparable: Sorter, rows: &mut Sorter, progress: Progress) -> Result<(), Error> {
        let mut prompt = Vec::new();
        let mut group = Group::default();
        for (done, pair) in (1_u64..).zip(comparable.finish()?) {
            self.report(done, progress)?;
            let (key, value) = pair?;
            let digest = key.get(..PAIRED_KEY_BYTES).unwrap_or_default();
            if digest != prompt {
                self.end_group(&std::mem::take(&mut group), rows)?;
                prompt = digest.to_vec();
            }
            let (is_better, record): (bool, InteractionRecord) = serde_json::from_slice(&value)?;
            group.push(record, is_better);
        }
        self.end_group(&group, rows)
    }

    fn end_group(&mut self, group: &Group, rows: &mut Sorter) -> Result<(), Error> {
        for (at, (record, row)) in group.pairs().enumerate() {
            self.push_row(rows, record, at, &row)?;
        }
        Ok(())
    }

    fn push_row(&mut self, rows: &mut Sorter, of: &InteractionRecord, at: usize, row: &Row) -> Result<(), Error> {
        self.counts.rows += 1;
        Ok(rows.push(&order(of, at), &serde_json::to_vec(&(self.is_validation(of), row))?)?)
    }

    fn is_validation(&self, record: &InteractionRecord) -> bool {
        Split::of(&record.session_id, self.options.validation_share) == Split::Validation
    }

    fn skipped(&mut self, warning: Warning) {
        tracing::warn!("skipped {warning}");
        self.counts.skipped_lines += 1;
        if self.warnings.len() < WARNINGS_MAX {
            self.warnings.push(warning);
        }
    }

    /// Reports the progress after every [`TELL_EVERY`] of what is done.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the caller cancelled the export.
    fn report(&mut self, done: u64, progress: Progress) -> Result<(), Error> {
        let goes_on = !done.is_multiple_of(TELL_EVERY) || (self.tell)(progress);
        if goes_on { Ok(()) } else { Err(Error::Cancelled) }
    }

    fn described(self, options: &Options, files: Vec<super::manifest::File>) -> Preview {
        let manifest = Manifest::new(options, self.counts, &self.by_source, self.redactor.counts(), files);
        Preview { manifest, samples: self.samples, warnings: self.warnings }
    }
}

/// Returns the sort key of a row: time, id, and the number of the row among those of its interaction.
fn order(record: &InteractionRecord, at: usize) -> Vec<u8> {
    let time = (to_micros(record.timestamp) as u64 ^ (1 << 63)).to_be_bytes();
    [&time[..], record.id.as_bytes(), &[0], &(at as u64).to_be_bytes()].concat()
}
