//! Tests of the collector: what it captures, where it writes it, and what happens when it cannot write.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{at, edit, mark, record};
use datalake::{Collector, Feedback, InteractionRecord, Layout, OutcomeRecord, Source};
use domain::outcome::{Languages, infer};
use std::{fs, path::Path};

fn collector(folder: &Path) -> Collector {
    Collector::new(Layout::below(folder), "abc12345-and-more")
}

fn stored(folder: &Path) -> Vec<InteractionRecord> {
    datalake::interactions(&Layout::below(folder)).map(Result::unwrap).collect()
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join("datalake/01-raw").join(file)).unwrap_or_default()
}

#[test]
fn a_record_is_on_the_disk_when_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut collector = collector(folder.path());
    collector.write_through(&[record("one", 0, "Why?", "Because.")], &[], &[], at(1)).unwrap();
    assert_eq!(stored(folder.path()), [record("one", 0, "Why?", "Because.")]);
    assert_eq!(read(folder.path(), "interactions/interactions_2026-02-26_abc12345.jsonl").lines().count(), 1);
}

#[test]
fn feedback_goes_beside_the_record() {
    let folder = tempfile::tempdir().unwrap();
    let mut collector = collector(folder.path());
    collector.write_through(&[record("one", 0, "Why?", "Because.")], &[], &[], at(0)).unwrap();
    let interactions = read(folder.path(), "interactions/interactions_2026-02-26_abc12345.jsonl");
    collector.mark_feedback(&edit("one", 5, "Since.")).unwrap();
    collector.mark_feedback(&mark("nobody", 86_400, Feedback::Neutral, Source::Manual)).unwrap();
    assert_eq!(
        read(folder.path(), "feedback/2026-02-26_feedback.jsonl"),
        concat!(
            r#"{"record_id":"one","feedback":"positive","was_edited":true,"edited":"Since.","#,
            r#""timestamp":"2026-02-26T10:00:05Z","source":"reviewer"}"#,
            "\n"
        )
    );
    assert_eq!(read(folder.path(), "feedback/2026-02-27_feedback.jsonl").lines().count(), 1);
    assert_eq!(read(folder.path(), "interactions/interactions_2026-02-26_abc12345.jsonl"), interactions);
}

#[test]
fn outcomes_are_kept_with_their_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let inferred = infer(Languages::built_in(), "Which port?", "5432", "That's wrong.");
    let outcome =
        OutcomeRecord { record_id: "one".to_owned(), session_id: "session".to_owned(), timestamp: at(0), inferred };
    collector(folder.path()).write_through(&[], &[], std::slice::from_ref(&outcome), at(0)).unwrap();
    let stored: Vec<OutcomeRecord> = datalake::outcomes(&Layout::below(folder.path())).map(Result::unwrap).collect();
    assert_eq!(stored, [outcome]);
    let line = read(folder.path(), "outcomes/2026-02-26_outcomes.jsonl");
    assert!(line.contains(r#""outcome":"rejected""#) && line.contains(r#""rule":"correction""#), "{line}");
}

#[test]
fn what_cannot_be_written_is_told_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    // A file has the name of the folder, so no file can be created below it.
    fs::write(folder.path().join("datalake"), "").unwrap();
    let mut collector = collector(folder.path());
    let records = [record("one", 0, "Why?", "Because.")];
    assert!(collector.write_through(&records, &[], &[], at(0)).is_err());
    let mark = mark("one", 1, Feedback::Positive, Source::Manual);
    assert!(collector.mark_feedback(&mark).is_err());
    let counts = collector.counts();
    assert_eq!((counts.written, counts.marked, counts.failed_writes), (0, 0, 2));

    fs::remove_file(folder.path().join("datalake")).unwrap();
    collector.write_through(&records, &[], &[], at(0)).unwrap();
    collector.mark_feedback(&mark).unwrap();
    let counts = collector.counts();
    assert_eq!((counts.written, counts.marked, counts.failed_writes), (1, 1, 2));
    assert_eq!(stored(folder.path()).len(), 1);
}
