//! Finds the last answer of every session in bounded memory.

use crate::{
    record::InteractionRecord,
    sort::{Sorted, Sorter},
};
use domain::clock::to_micros;
use std::{io, iter::Peekable, path::Path};

/// Memory of each of the two sorts, which run one after the other, bytes.
const SORT_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of the time in a key, between the ids of session and record.
const TIME_BYTES: usize = 8;

/// Collects answers in any order.
pub(super) struct LastAnswers {
    sorter: Sorter,
}

impl LastAnswers {
    /// Creates a collection that uses temporary files in `folder`.
    pub fn new(folder: &Path) -> LastAnswers {
        LastAnswers { sorter: Sorter::new(folder, SORT_BYTES) }
    }

    pub fn push(&mut self, record: &InteractionRecord) -> io::Result<()> {
        // The sign bit is inverted, so that the order of the bytes is the order of time.
        let time = (to_micros(record.timestamp) as u64 ^ (1 << 63)).to_be_bytes();
        let key = [record.session_id.as_bytes(), &[0], &time, record.id.as_bytes()].concat();
        self.sorter.push(&key, record.id.as_bytes())
    }

    /// Returns the ids of the last answers, in the order of their bytes.
    pub fn finish(self, folder: &Path) -> io::Result<LastIds> {
        let mut ids = Sorter::new(folder, SORT_BYTES);
        let mut last: Option<(Vec<u8>, Vec<u8>)> = None;
        for pair in self.sorter.finish()? {
            let (mut session, id) = pair?;
            session.truncate(session.len().saturating_sub(id.len() + TIME_BYTES));
            if let Some((_, id)) = last.take().filter(|(before, _)| *before != session) {
                ids.push(&id, &[])?;
            }
            last = Some((session, id));
        }
        if let Some((_, id)) = last {
            ids.push(&id, &[])?;
        }
        Ok(LastIds { ids: ids.finish()?.peekable() })
    }
}

/// Says whether records are last answers. It must be asked in the order of the records' ids.
pub(super) struct LastIds {
    ids: Peekable<Sorted>,
}

impl LastIds {
    pub fn contains(&mut self, id: &str) -> io::Result<bool> {
        let is_before =
            |next: &io::Result<_>| next.as_ref().is_ok_and(|(key, _): &(Vec<u8>, _)| key[..] < *id.as_bytes());
        while self.ids.next_if(is_before).is_some() {}
        match self.ids.next_if(Result::is_err) {
            Some(error) => error.map(|_| false),
            None => Ok(self.ids.peek().is_some_and(|next| next.as_ref().is_ok_and(|(key, _)| key == id.as_bytes()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Message, Role};
    use chrono::{DateTime, TimeDelta};

    fn answer(id: &str, session: &str, seconds: i64) -> InteractionRecord {
        let prompt = vec![Message::new(Role::User, "?")];
        let timestamp = DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds);
        let (id, session_id) = (id.to_owned(), session.to_owned());
        InteractionRecord { id, session_id, timestamp, ..InteractionRecord::new(prompt, "!".to_owned()) }
    }

    #[test]
    fn the_latest_answer_of_each_session_is_the_last() {
        let folder = tempfile::tempdir().unwrap();
        let mut answers = LastAnswers::new(folder.path());
        for (id, session, at) in [("d", "one", -9), ("a", "one", 5), ("c", "two", 1), ("b", "one", 3), ("c", "two", 1)]
        {
            answers.push(&answer(id, session, at)).unwrap();
        }
        let mut ids = answers.finish(folder.path()).unwrap();
        let last: Vec<bool> = ["a", "b", "c", "d", "e"].iter().map(|id| ids.contains(id).unwrap()).collect();
        assert_eq!(last, [true, false, true, false, false]);
    }
}
