//! Retention in files: the lines of erased sessions are taken out. A file that has such lines is written anew beside itself,
//! put on the disk and takes the old one's place, so that a crash leaves one or the other, whole.
//!
//! Nobody else may write meanwhile. Feedback names no session, so the lines that say whose it is go last: a run that was
//! stopped anywhere is continued by the next.

use crate::{
    Layout, Lines, Warning,
    append::sync_folder,
    layout::day_of,
    load::{LINE_BYTES_MAX, list},
};
use chrono::NaiveDate;
use serde::Deserialize;
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, ErrorKind, Read, Write},
    path::{Path, PathBuf},
};

/// The ending of a file that is being written anew. What a crash leaves under such a name is removed.
const NEW: &str = "rewriting";

/// A session, by its workspace and itself, as lines name them.
pub type SessionKey = (String, String);

/// What becomes of the lines of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// They stay.
    Kept,
    /// They go.
    Erased,
    /// Nobody knows the session: they go from the files up to the day, and stay in later ones.
    Unknown,
}

/// What a run has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Erased {
    /// Lines that are gone.
    pub lines: u64,
    /// Files that were written anew, or removed because nothing was left in them.
    pub files: u64,
    /// Lines in files after the day that cannot be read, so that nobody can tell whose they are: they stay.
    pub unreadable: u64,
}

/// What a line of prompts and answers says of itself.
#[derive(Deserialize)]
struct Interaction {
    id: String,
    tenant_id: String,
    session_id: String,
}

#[derive(Deserialize)]
struct Outcome {
    record_id: String,
    session_id: String,
}

#[derive(Deserialize)]
struct Feedback {
    record_id: String,
}

/// The sessions that prompts and answers are of. Needs memory for each of them.
///
/// # Errors
/// If a file cannot be opened: what stands in it could not be erased.
pub fn sessions(layout: &Layout) -> io::Result<BTreeSet<SessionKey>> {
    let mut found = BTreeSet::new();
    read(layout, |line| {
        found.insert((line.tenant_id, line.session_id));
    })?;
    Ok(found)
}

/// Takes out every line of a session that `fate` gives up, and from files up to and including `last` whatever is about no
/// session that is kept. Needs memory for each record that goes, and for each that lines of files up to `last` are about.
///
/// # Errors
/// At the first file that cannot be read or written. What was written before stays; the next run does the rest.
pub fn erase(layout: &Layout, last: NaiveDate, fate: impl Fn(&SessionKey) -> Fate) -> io::Result<Erased> {
    for folder in [layout.interactions(), layout.feedback(), layout.outcomes()] {
        remove_leftovers(&folder)?;
    }
    let records = Records::read(layout, last, &fate)?;
    let mut erased = Erased::default();
    let mut through = |folder: PathBuf, stays: &dyn Fn(&[u8], bool) -> Option<bool>| -> io::Result<()> {
        for path in files(&folder)? {
            let is_old = is_old(&path, last);
            rewrite(&path, is_old, &|line| stays(line, is_old), &mut erased)?;
        }
        Ok(())
    };
    through(layout.feedback(), &|line: &[u8], is_old: bool| {
        let line: Feedback = serde_json::from_slice(line).ok()?;
        Some(records.stays(&line.record_id, is_old))
    })?;
    through(layout.outcomes(), &|line: &[u8], is_old: bool| {
        let line: Outcome = serde_json::from_slice(line).ok()?;
        Some(records.stays(&line.record_id, is_old) && !records.sessions.contains(&line.session_id))
    })?;
    through(layout.interactions(), &|line: &[u8], is_old: bool| {
        let line: Interaction = serde_json::from_slice(line).ok()?;
        Some(stays(fate(&(line.tenant_id, line.session_id)), is_old))
    })?;
    Ok(erased)
}

fn stays(fate: Fate, is_old: bool) -> bool {
    match fate {
        Fate::Kept => true,
        Fate::Erased => false,
        Fate::Unknown => !is_old,
    }
}

/// Which records go and which stay, as far as that matters for what is said about them.
#[derive(Default)]
struct Records {
    /// Whether a record stays: all that go, and those that old lines are about and that stay.
    known: HashMap<String, bool>,
    /// Sessions that are erased.
    sessions: HashSet<String>,
}

impl Records {
    fn read(layout: &Layout, last: NaiveDate, fate: &impl Fn(&SessionKey) -> Fate) -> io::Result<Self> {
        // What is said of a record may stand in the file of an earlier day than the record: it may be captured late.
        let mut mentioned = HashSet::new();
        for folder in [layout.feedback(), layout.outcomes()] {
            for path in files(&folder)?.iter().filter(|path| is_old(path, last)) {
                read_file(path, |line: Feedback| {
                    mentioned.insert(line.record_id);
                })?;
            }
        }
        let mut records = Self::default();
        for path in files(&layout.interactions())? {
            let is_old = is_old(&path, last);
            read_file(&path, |line: Interaction| {
                let key = (line.tenant_id, line.session_id);
                let fate = fate(&key);
                if !stays(fate, is_old) {
                    records.known.insert(line.id, false);
                } else if mentioned.contains(&line.id) {
                    // Written twice, under two days: where one goes, all that is said about it goes.
                    records.known.entry(line.id).or_insert(true);
                }
                if fate == Fate::Erased {
                    records.sessions.insert(key.1);
                }
            })?;
        }
        Ok(records)
    }

    /// Whether a line about this record stays. Of old lines only those about something that is still there.
    fn stays(&self, record_id: &str, is_old: bool) -> bool {
        self.known.get(record_id).copied().unwrap_or(!is_old)
    }
}

fn is_old(path: &Path, last: NaiveDate) -> bool {
    day_of(path).is_some_and(|day| day <= last)
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match list(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        files => files,
    }
}

fn read(layout: &Layout, mut hear: impl FnMut(Interaction)) -> io::Result<()> {
    files(&layout.interactions())?.iter().try_for_each(|path| read_file(path, &mut hear))
}

fn read_file<T: serde::de::DeserializeOwned>(path: &Path, mut hear: impl FnMut(T)) -> io::Result<()> {
    for line in Lines::of_file(path.to_owned()) {
        match line {
            Ok(line) => hear(line),
            // Line 0 is the file itself.
            Err(Warning { line: 0, reason, .. }) => {
                return Err(io::Error::other(format!("{}: {reason}", path.display())));
            }
            Err(_) => {}
        }
    }
    Ok(())
}

fn remove_leftovers(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == NEW) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Writes a file without the lines that do not stay. `stays` says nothing of a line that it cannot read: of an old file it
/// goes, of a later one it stays.
fn rewrite(path: &Path, is_old: bool, stays: &dyn Fn(&[u8]) -> Option<bool>, erased: &mut Erased) -> io::Result<()> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let (mut lines, mut gone, mut unreadable) = (0_u64, 0_u64, 0_u64);
    each_line(path, |line| {
        let keep = stays(line).unwrap_or_else(|| {
            unreadable += u64::from(!is_old);
            !is_old
        });
        lines += 1;
        gone += u64::from(!keep);
        Ok(())
    })
    .map_err(named)?;
    erased.unreadable += unreadable;
    if gone == 0 && !(is_old && lines == 0) {
        return Ok(());
    }
    let folder = path.parent().ok_or(ErrorKind::InvalidInput)?;
    if gone == lines {
        fs::remove_file(path).map_err(named)?;
    } else {
        let beside = path.with_extension(NEW);
        let mut file = BufWriter::new(private::create(&beside).map_err(named)?);
        // An operator may have let others read the file.
        let permissions = fs::metadata(path).map_err(named)?.permissions();
        file.get_ref().set_permissions(permissions).map_err(named)?;
        each_line(path, |line| if stays(line).unwrap_or(!is_old) { file.write_all(line) } else { Ok(()) })
            .map_err(named)?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error).map_err(named)?;
        file.sync_all().and_then(|()| fs::rename(&beside, path)).map_err(named)?;
    }
    sync_folder(folder)?;
    erased.lines += gone;
    erased.files += 1;
    Ok(())
}

/// Every line of a file with its end, also one that has none.
fn each_line(path: &Path, mut hear: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A longer line is heard in parts, none of which can be read.
        if reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        hear(&line)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::{
        cell::Cell,
        panic::{AssertUnwindSafe, catch_unwind},
    };

    const LAST: &str = "2026-02-26";

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    /// Files by their names, each with its lines.
    fn write(layout: &Layout, files: &[(&str, &[String])]) {
        for (name, lines) in files {
            let folder = match *name {
                name if name.starts_with("interactions") => layout.interactions(),
                name if name.ends_with("_feedback.jsonl") => layout.feedback(),
                _ => layout.outcomes(),
            };
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(name), lines.concat()).unwrap();
        }
    }

    fn said(id: &str, session: &str, text: &str) -> String {
        let line = json!({ "id": id, "timestamp": "2026-02-26T00:00:00Z", "tenant_id": "t", "session_id": session, "prompt": [], "response": text });
        format!("{line}\n")
    }

    fn mark(record: &str, text: &str) -> String {
        format!("{}\n", json!({ "record_id": record, "feedback": "positive", "edited": text }))
    }

    fn outcome(record: &str, session: &str) -> String {
        format!("{}\n", json!({ "record_id": record, "session_id": session, "outcome": "accepted" }))
    }

    /// Everything that is left, by file.
    fn left(layout: &Layout) -> Vec<(String, String)> {
        let mut left = Vec::new();
        for folder in [layout.interactions(), layout.feedback(), layout.outcomes()] {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                left.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
        left.sort();
        left
    }

    fn fate(key: &SessionKey) -> Fate {
        match key.1.as_str() {
            "gone" => Fate::Erased,
            "here" => Fate::Kept,
            _ => Fate::Unknown,
        }
    }

    fn sample(layout: &Layout) {
        write(
            layout,
            &[
                ("interactions_2026-02-26_aa.jsonl", &[said("g1", "gone", "pie"), said("h1", "here", "tea")]),
                (
                    "interactions_2026-02-27_aa.jsonl",
                    &[said("h2", "here", "tea"), said("g2", "gone", "pie"), "{torn\n".into()],
                ),
                (
                    "interactions_2026-02-25_bb.jsonl",
                    &[said("g0", "gone", "pie"), "{torn\n".into(), said("u0", "nobody", "pie")],
                ),
                ("interactions_2026-02-28_bb.jsonl", &[said("u1", "nobody", "who")]),
                // The last was captured a day late.
                (
                    "2026-02-26_feedback.jsonl",
                    &[mark("g1", "pie"), mark("h1", "tea"), mark("lost", "pie"), mark("h2", "tea")],
                ),
                // What was said later of what is old.
                (
                    "2026-02-28_feedback.jsonl",
                    &[mark("h2", "tea"), mark("g1", "pie"), mark("g2", "pie"), mark("u1", "who")],
                ),
                ("2026-02-28_outcomes.jsonl", &[outcome("g1", "gone"), outcome("h1", "here")]),
                ("2026-02-24_outcomes.jsonl", &[outcome("g0", "gone")]),
            ],
        );
    }

    #[test]
    fn what_erased_sessions_said_is_gone_from_every_day_and_the_rest_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::below(folder.path());
        assert_eq!(erase(&layout, day(LAST), fate).unwrap(), Erased::default(), "nothing there is nothing to do");
        sample(&layout);
        let keys: Vec<_> = sessions(&layout).unwrap().into_iter().map(|(_, session)| session).collect();
        assert_eq!(keys, ["gone", "here", "nobody"]);
        let erased = erase(&layout, day(LAST), fate).unwrap();
        assert_eq!(erased, Erased { lines: 11, files: 7, unreadable: 1 });
        let expected = [
            ("2026-02-26_feedback.jsonl", [mark("h1", "tea"), mark("h2", "tea")].concat()),
            ("2026-02-28_feedback.jsonl", [mark("h2", "tea"), mark("u1", "who")].concat()),
            ("2026-02-28_outcomes.jsonl", outcome("h1", "here")),
            ("interactions_2026-02-26_aa.jsonl", said("h1", "here", "tea")),
            ("interactions_2026-02-27_aa.jsonl", format!("{}{{torn\n", said("h2", "here", "tea"))),
            ("interactions_2026-02-28_bb.jsonl", said("u1", "nobody", "who")),
        ]
        .map(|(name, text)| (name.to_owned(), text));
        assert_eq!(left(&layout), expected);
        assert_eq!(erase(&layout, day(LAST), fate).unwrap(), Erased { unreadable: 1, ..Erased::default() });
    }

    #[test]
    fn a_run_that_stopped_anywhere_is_continued_and_leaves_no_half_file() {
        let whole = tempfile::tempdir().unwrap();
        let layout = Layout::below(whole.path());
        sample(&layout);
        erase(&layout, day(LAST), fate).unwrap();
        let expected = left(&layout);
        // Stopped at each look at a session in turn, also in the middle of a file.
        for stop in 0..28 {
            let folder = tempfile::tempdir().unwrap();
            let layout = Layout::below(folder.path());
            sample(&layout);
            let looks = Cell::new(0);
            let stopping = |key: &SessionKey| {
                assert!(looks.replace(looks.get() + 1) < stop, "the power is gone");
                fate(key)
            };
            let ended = catch_unwind(AssertUnwindSafe(|| erase(&layout, day(LAST), stopping)));
            assert_eq!(ended.is_err(), looks.get() > stop, "{stop}");
            erase(&layout, day(LAST), fate).unwrap();
            assert_eq!(left(&layout), expected, "{stop}");
        }
        // What a crash left half written is no file of ours.
        let half = layout.feedback().join("2026-02-28_feedback").with_extension(NEW);
        fs::write(&half, "half of a line of pie").unwrap();
        erase(&layout, day(LAST), fate).unwrap();
        assert_eq!(left(&layout), expected);
    }
}
