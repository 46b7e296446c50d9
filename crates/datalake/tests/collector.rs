//! What is captured, where it goes, and what happens when it cannot go there.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{at, edit, mark, record};
use datalake::{Collector, Feedback, InteractionRecord, Layout, Marked, OutcomeRecord, Source, WAITING_RECORDS_MAX};
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
fn a_record_is_on_the_disk_after_a_flush_and_not_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut collector = collector(folder.path());
    assert_eq!(collector.capture(record("one", 0, "Why?", "Because."), at(0)), "one");
    assert_eq!(stored(folder.path()), []);
    assert_eq!(collector.flush(at(1)).unwrap(), 1);
    assert_eq!(collector.flush(at(2)).unwrap(), 0);
    assert_eq!(stored(folder.path()), [record("one", 0, "Why?", "Because.")]);
    assert_eq!(read(folder.path(), "interactions/interactions_2026-02-26_abc12345.jsonl").lines().count(), 1);
}

#[test]
fn feedback_on_a_record_in_memory_goes_into_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut collector = collector(folder.path());
    collector.capture(record("one", 0, "Why?", "Because."), at(0));
    assert_eq!(collector.mark_feedback(mark("one", 9, Feedback::Negative, Source::OutcomeTracker)), Marked::InBuffer);
    assert_eq!(collector.mark_feedback(edit("one", 5, "older")), Marked::InBuffer);
    collector.flush(at(10)).unwrap();
    let [stored] = &stored(folder.path())[..] else { panic!("one record") };
    let own = stored.own_feedback().unwrap();
    assert_eq!(own, mark("one", 9, Feedback::Negative, Source::OutcomeTracker));
    assert_eq!(read(folder.path(), "feedback/2026-02-26_feedback.jsonl"), "");
}

#[test]
fn feedback_on_a_record_on_the_disk_goes_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut collector = collector(folder.path());
    collector.capture(record("one", 0, "Why?", "Because."), at(0));
    collector.flush(at(0)).unwrap();
    let interactions = read(folder.path(), "interactions/interactions_2026-02-26_abc12345.jsonl");
    assert_eq!(collector.mark_feedback(edit("one", 5, "Since.")), Marked::Written);
    assert_eq!(collector.mark_feedback(mark("nobody", 86_400, Feedback::Neutral, Source::Manual)), Marked::Written);
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
    assert!(collector(folder.path()).note_outcome(&outcome));
    let stored: Vec<OutcomeRecord> = datalake::outcomes(&Layout::below(folder.path())).map(Result::unwrap).collect();
    assert_eq!(stored, [outcome]);
    let line = read(folder.path(), "outcomes/2026-02-26_outcomes.jsonl");
    assert!(line.contains(r#""outcome":"rejected""#) && line.contains(r#""rule":"correction""#), "{line}");
}

#[test]
fn what_cannot_be_written_waits_and_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    // A file stands where the folder should be: nothing can be written below it.
    fs::write(folder.path().join("datalake"), "").unwrap();
    let mut collector = collector(folder.path());
    let many = WAITING_RECORDS_MAX + 100;
    for number in 0..many {
        collector.capture(record(&format!("{number:05}"), 0, "Why?", "Because."), at(0));
    }
    assert!(collector.flush(at(0)).is_err());
    assert_eq!(collector.mark_feedback(mark("00001", 1, Feedback::Positive, Source::Manual)), Marked::Lost);
    let counts = collector.counts();
    assert_eq!((counts.captured, counts.written, counts.dropped, counts.lost), (many as u64, 0, 100, 1));
    assert!(counts.failed_writes > 2, "{counts:?}");

    fs::remove_file(folder.path().join("datalake")).unwrap();
    assert_eq!(collector.flush(at(0)).unwrap(), WAITING_RECORDS_MAX);
    assert_eq!(stored(folder.path()).first().unwrap().id, "00100");
}

#[test]
fn records_are_written_before_there_are_many() {
    let folder = tempfile::tempdir().unwrap();
    let mut collector = collector(folder.path());
    for number in 0..200 {
        collector.capture(record(&number.to_string(), 0, "Why?", "Because."), at(0));
    }
    let written = stored(folder.path()).len();
    assert!((100..200).contains(&written), "{written} of 200 are written without being told to");
    assert_eq!(collector.counts().written, written as u64);
}
