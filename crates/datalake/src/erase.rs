//! Retention in files: removes the lines of erased sessions. A file with such lines is rewritten under another
//! name, synced to disk and renamed to the old name, so that a crash leaves either the old or the new file
//! complete.
//!
//! No other process may write during a run. Feedback names no session, only an interaction. Interactions are
//! therefore removed last, so that the next run can continue a run that was stopped at any point.

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

/// Extension of a file that is being rewritten. The next run removes such files, which a crash has left.
const NEW: &str = "rewriting";

/// The ids of a workspace and of a session, as lines contain them.
pub type SessionKey = (String, String);

/// What happens to the lines of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The lines are kept.
    Kept,
    /// The lines are removed.
    Erased,
    /// The session is unknown. The lines are removed from files up to the given day and kept in later files.
    Unknown,
}

/// Counters of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Erased {
    /// Lines that were removed.
    pub lines: u64,
    /// Files that were rewritten, or removed because no line was left.
    pub files: u64,
    /// Lines in files after the day that cannot be parsed, so that their session is unknown. They are kept.
    pub unreadable: u64,
}

/// The fields of an interaction's line that erasing needs.
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

/// Returns the sessions of all interactions. It needs memory for each session.
///
/// # Errors
/// If a file cannot be opened, because its lines could not be erased.
pub fn sessions(layout: &Layout) -> io::Result<BTreeSet<SessionKey>> {
    let mut found = BTreeSet::new();
    read(layout, |line| {
        found.insert((line.tenant_id, line.session_id));
    })?;
    Ok(found)
}

/// Removes every line of a session whose `fate` is [`Fate::Erased`], and from files up to and including the day
/// `last` every line that belongs to no kept session. It needs memory for each removed interaction, and for
/// each interaction that lines in files up to `last` are about.
///
/// # Errors
/// The error of the first file that cannot be read or written. Files that were rewritten before stay so; the
/// next run continues.
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

/// Which interactions are removed and which are kept, as far as lines about them need it.
#[derive(Default)]
struct Records {
    /// Whether an interaction is kept. The map has all removed interactions, and those kept ones that lines in
    /// old files are about.
    known: HashMap<String, bool>,
    /// Ids of the sessions that are erased.
    sessions: HashSet<String>,
}

impl Records {
    fn read(layout: &Layout, last: NaiveDate, fate: &impl Fn(&SessionKey) -> Fate) -> io::Result<Self> {
        // An interaction can be captured late. Then lines about it are in the file of an earlier day.
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
                    // An interaction can be written twice, on two days. If one line is removed, all lines about
                    // it are.
                    records.known.entry(line.id).or_insert(true);
                }
                if fate == Fate::Erased {
                    records.sessions.insert(key.1);
                }
            })?;
        }
        Ok(records)
    }

    /// Whether a line about this interaction is kept. In an old file only lines about interactions that still
    /// exist are.
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

fn read(layout: &Layout, mut on_record: impl FnMut(Interaction)) -> io::Result<()> {
    files(&layout.interactions())?.iter().try_for_each(|path| read_file(path, &mut on_record))
}

fn read_file<T: serde::de::DeserializeOwned>(path: &Path, mut on_record: impl FnMut(T)) -> io::Result<()> {
    for line in Lines::of_file(path.to_owned()) {
        match line {
            Ok(line) => on_record(line),
            // Line 0 means that the file itself cannot be read.
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

/// Rewrites a file without the removed lines. `stays` returns `None` for a line that it cannot parse. Such a
/// line is removed from an old file and kept in a later one.
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
        // The new file gets the permissions of the old one, which an operator may have changed.
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

/// Calls `on_record` with every line of a file, including its newline. The last line may have none.
fn each_line(path: &Path, mut on_record: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line that is too long is passed in parts, none of which can be parsed.
        if reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        on_record(&line)?;
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

    /// Writes files, given by name, with their lines.
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

    fn line_of(id: &str, session: &str, text: &str) -> String {
        let line = json!({ "id": id, "timestamp": "2026-02-26T00:00:00Z", "tenant_id": "t", "session_id": session, "prompt": [], "response": text });
        format!("{line}\n")
    }

    fn mark(record: &str, text: &str) -> String {
        format!("{}\n", json!({ "record_id": record, "feedback": "positive", "edited": text }))
    }

    fn outcome(record: &str, session: &str) -> String {
        format!("{}\n", json!({ "record_id": record, "session_id": session, "outcome": "accepted" }))
    }

    /// Returns all lines that are left, with their files.
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
                ("interactions_2026-02-26_aa.jsonl", &[line_of("g1", "gone", "pie"), line_of("h1", "here", "tea")]),
                (
                    "interactions_2026-02-27_aa.jsonl",
                    &[line_of("h2", "here", "tea"), line_of("g2", "gone", "pie"), "{torn\n".into()],
                ),
                (
                    "interactions_2026-02-25_bb.jsonl",
                    &[line_of("g0", "gone", "pie"), "{torn\n".into(), line_of("u0", "nobody", "pie")],
                ),
                ("interactions_2026-02-28_bb.jsonl", &[line_of("u1", "nobody", "who")]),
                // The last interaction was captured a day late.
                (
                    "2026-02-26_feedback.jsonl",
                    &[mark("g1", "pie"), mark("h1", "tea"), mark("lost", "pie"), mark("h2", "tea")],
                ),
                // Lines in later files about old interactions.
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
            ("interactions_2026-02-26_aa.jsonl", line_of("h1", "here", "tea")),
            ("interactions_2026-02-27_aa.jsonl", format!("{}{{torn\n", line_of("h2", "here", "tea"))),
            ("interactions_2026-02-28_bb.jsonl", line_of("u1", "nobody", "who")),
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
        // Stop the run at each call of `fate` in turn, which includes the middle of a file.
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
        // An incomplete file that a crash left is not read.
        let half = layout.feedback().join("2026-02-28_feedback").with_extension(NEW);
        fs::write(&half, "half of a line of pie").unwrap();
        erase(&layout, day(LAST), fate).unwrap();
        assert_eq!(left(&layout), expected);
    }
}
