//! Finds the latest feedback of each record in bounded memory, whatever the number of lines is. The results
//! name no workspace, because ids of records are unique across workspaces.

use crate::{
    load::Warning,
    record::{Feedback, FeedbackRecord, Source},
    sort::{Pair, Sorted, Sorter},
};
use domain::clock::{from_micros, to_micros};
use std::{io, path::Path};

/// Bytes after the id in a key: a zero, the time, and the position.
const KEY_TAIL: usize = 1 + 8 + 8;
/// Encodes the absence of a confidence. Confidences are at most 1,000.
const NO_CONFIDENCE: u16 = u16::MAX;

/// Sorts feedback by record, time and position.
pub struct Fold {
    sorter: Sorter,
    position: u64,
}

impl Fold {
    /// Creates a fold that uses about `budget` bytes of memory at most, and temporary files in `folder`.
    pub fn new(folder: &Path, budget: usize) -> Fold {
        Fold { sorter: Sorter::new(folder, budget), position: 0 }
    }

    /// Adds one line of feedback. Of two lines with the same time the one that was added later wins.
    ///
    /// # Errors
    /// If a temporary file cannot be written.
    pub fn push(&mut self, record: &FeedbackRecord) -> io::Result<()> {
        self.position += 1;
        let mut key = Vec::with_capacity(record.record_id.len() + KEY_TAIL);
        key.extend_from_slice(record.record_id.as_bytes());
        key.push(0);
        // The sign bit is inverted, so that the order of the bytes is the order of time.
        key.extend_from_slice(&(to_micros(record.timestamp) as u64 ^ (1 << 63)).to_be_bytes());
        key.extend_from_slice(&self.position.to_be_bytes());
        self.sorter.push(&key, &encode(record))
    }

    /// Adds every line that can be read and for which `keep` returns true. Lines that cannot be read are passed
    /// to `skipped`.
    ///
    /// # Errors
    /// If a temporary file cannot be written.
    pub fn extend(
        &mut self,
        lines: impl IntoIterator<Item = Result<FeedbackRecord, Warning>>,
        mut keep: impl FnMut(&FeedbackRecord) -> bool,
        mut skipped: impl FnMut(Warning),
    ) -> io::Result<()> {
        for line in lines {
            match line {
                Ok(record) if keep(&record) => self.push(&record)?,
                Ok(_) => {}
                Err(warning) => skipped(warning),
            }
        }
        Ok(())
    }

    /// Returns the latest feedback of each record, in the order of the record ids.
    ///
    /// # Errors
    /// If a temporary file cannot be written or read.
    pub fn finish(self) -> io::Result<Folded> {
        Ok(Folded { sorted: self.sorter.finish()?, ahead: None })
    }
}

/// The latest feedback of each record; see [`Fold::finish`].
pub struct Folded {
    sorted: Sorted,
    ahead: Option<Pair>,
}

impl Iterator for Folded {
    type Item = io::Result<FeedbackRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut latest = match self.ahead.take() {
            Some(pair) => pair,
            None => match self.sorted.next()? {
                Ok(pair) => pair,
                Err(error) => return Some(Err(error)),
            },
        };
        for next in self.sorted.by_ref() {
            match next {
                Ok(pair) if id(&pair.0) == id(&latest.0) => latest = pair,
                Ok(pair) => {
                    self.ahead = Some(pair);
                    break;
                }
                Err(error) => return Some(Err(error)),
            }
        }
        Some(decode(&latest))
    }
}

fn id(key: &[u8]) -> &[u8] {
    &key[..key.len().saturating_sub(KEY_TAIL)]
}

fn encode(record: &FeedbackRecord) -> Vec<u8> {
    let source = Source::ALL.iter().position(|source| *source == record.source).unwrap_or_default() as u8;
    let mut value = vec![record.feedback as u8, source, u8::from(record.was_edited), u8::from(record.edited.is_some())];
    value.extend_from_slice(&record.confidence.unwrap_or(NO_CONFIDENCE).to_be_bytes());
    value.extend_from_slice(record.edited.as_deref().unwrap_or_default().as_bytes());
    value
}

fn decode((key, value): &Pair) -> io::Result<FeedbackRecord> {
    let broken = || io::Error::new(io::ErrorKind::InvalidData, "a temporary file was changed");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| broken());
    let [feedback, source, was_edited, has_edited, high, low, edited @ ..] = value.as_slice() else {
        return Err(broken());
    };
    let feedbacks = [Feedback::Negative, Feedback::Neutral, Feedback::Positive];
    let time = key.get(key.len().saturating_sub(16)..key.len().saturating_sub(8)).ok_or_else(broken)?;
    let micros = u64::from_be_bytes(time.try_into().map_err(|_| broken())?) ^ (1 << 63);
    Ok(FeedbackRecord {
        record_id: text(id(key))?,
        tenant_id: None,
        feedback: *feedbacks.get(usize::from(*feedback)).ok_or_else(broken)?,
        was_edited: *was_edited == 1,
        edited: if *has_edited == 1 { Some(text(edited)?) } else { None },
        timestamp: from_micros(micros as i64),
        source: *Source::ALL.get(usize::from(*source)).ok_or_else(broken)?,
        confidence: Some(u16::from_be_bytes([*high, *low])).filter(|confidence| *confidence != NO_CONFIDENCE),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{DateTime, TimeDelta};
    use std::collections::BTreeMap;

    fn mark(id: u32, seconds: i64, feedback: Feedback, edited: Option<&str>) -> FeedbackRecord {
        FeedbackRecord {
            record_id: format!("record-{id:03}"),
            tenant_id: None,
            feedback,
            was_edited: edited.is_some(),
            edited: edited.map(str::to_owned),
            timestamp: DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds),
            source: Source::Reviewer,
            confidence: (seconds % 2 == 0).then_some(950),
        }
    }

    #[test]
    fn the_latest_wins_and_of_two_at_once_the_one_written_later() {
        let folder = tempfile::tempdir().unwrap();
        let mut fold = Fold::new(folder.path(), 100);
        let latest = mark(1, 20, Feedback::Positive, Some("better"));
        let later = mark(2, -5, Feedback::Neutral, None);
        for line in [&mark(1, 30, Feedback::Negative, None), &mark(2, -5, Feedback::Negative, None), &later] {
            fold.push(line).unwrap();
        }
        fold.push(&FeedbackRecord { timestamp: latest.timestamp + TimeDelta::seconds(60), ..latest.clone() }).unwrap();
        fold.push(&latest).unwrap();
        let folded: Vec<FeedbackRecord> = fold.finish().unwrap().collect::<io::Result<_>>().unwrap();
        let expected = FeedbackRecord { timestamp: latest.timestamp + TimeDelta::seconds(60), ..latest };
        assert_eq!(folded, [expected, later]);
    }

    #[test]
    fn it_agrees_with_a_map_that_holds_everything() {
        let mut random = fastrand::Rng::with_seed(11);
        let folder = tempfile::tempdir().unwrap();
        let mut fold = Fold::new(folder.path(), 4_000);
        let mut map: BTreeMap<String, FeedbackRecord> = BTreeMap::new();
        for _ in 0..5_000 {
            let feedback = [Feedback::Negative, Feedback::Positive][random.usize(..2)];
            let line = mark(random.u32(..200), random.i64(-50..50), feedback, random.bool().then_some("text"));
            fold.push(&line).unwrap();
            if map.get(&line.record_id).is_none_or(|before| before.timestamp <= line.timestamp) {
                map.insert(line.record_id.clone(), line);
            }
        }
        let folded: Vec<FeedbackRecord> = fold.finish().unwrap().collect::<io::Result<_>>().unwrap();
        assert!(folded.iter().eq(map.values()));
    }
}
