//! The file of ratings can be locked, damaged or read-only. Then only ratings fail, and they work again without
//! a restart.

use crate::thread::{ENDING, rested};
use domain::{
    insight::Ratings,
    session::Session,
    session_feedback::{Label, Surface},
};
use ledger::{
    Error,
    feedback::{self, Undone},
    insight::{self, RatingsMissing},
    retention,
    session::{self, Completion},
    thread::{self, Ending},
};
use std::{
    os::unix::fs::FileExt as _,
    path::PathBuf,
    time::{Duration, Instant},
};
use testkit::{Engine, Fixture, Raw, on_both_engines};

on_both_engines!(
    ratings_are_read_while_another_process_writes,
    a_locked_database_of_ratings_does_not_hold_up_the_end_of_a_conversation,
    ratings_behind_a_lock_are_answered_and_written_in_their_order,
    insights_are_shown_without_ratings_that_cannot_be_read,
);

/// Bound of the end of a conversation whose rating waits: the ending itself, and 1 s for the rating. A write to a
/// locked file waits up to 5 s.
const END_MAX: Duration = Duration::from_secs(3);
const HELPED: Ending = Ending { feedback: Some(Label::Positive), source: Surface::CliEnd, ..ENDING };

/// Opens a connection that holds the write lock, as another process would.
async fn writer(f: &Fixture) -> Raw {
    let mut raw = f.engine.raw_feedback().await;
    let begin = match &f.engine {
        Engine::Sqlite(_) => "BEGIN IMMEDIATE",
        Engine::Postgres { .. } => "BEGIN; LOCK TABLE session_feedback.session_feedback IN EXCLUSIVE MODE",
    };
    raw.execute(begin).await.unwrap();
    raw
}

async fn rate(f: &Fixture) -> Session {
    let session = rested(f).await;
    thread::end(&f.ledger, &f.member, session.id, HELPED).await.unwrap();
    session
}

async fn ratings_are_read_while_another_process_writes(f: Fixture) {
    let (l, m) = (&f.ledger, &f.member);
    let session = rate(&f).await;
    let mut other = writer(&f).await;
    assert_eq!(feedback::of_session(l, m, session.id).await.unwrap().unwrap().label, Label::Positive);
    assert_eq!(feedback::status(l, m, Some(session.id)).await.unwrap().session_feedback_count, Some(1));
    let record = insight::read_window(l, m, 1).await.unwrap();
    assert_eq!((record.insights.total.ratings.positive, record.ratings_missing), (1, None));
    other.execute("ROLLBACK").await.unwrap();
    f.done().await;
}

async fn a_locked_database_of_ratings_does_not_hold_up_the_end_of_a_conversation(f: Fixture) {
    let l = &f.ledger;
    // The file is open, and the table exists.
    rate(&f).await;
    let mut other = writer(&f).await;
    let session = rested(&f).await;
    let started = Instant::now();
    let ended = thread::end(l, &f.member, session.id, HELPED).await.unwrap();
    assert!(ended.session.status().is_final());
    let waited = started.elapsed();
    assert!(waited < END_MAX, "the end waited for {waited:?}");
    assert_eq!(feedback::count_by_operator(l).await.unwrap(), 1, "the other one still has the lock");
    other.execute("ROLLBACK").await.unwrap();
    while feedback::count_by_operator(l).await.unwrap() < 2 {
        assert_eq!(feedback::failures(l), 0, "the rating was given up");
        tokio::task::yield_now().await;
    }
    assert_eq!(feedback::list_by_operator(l, session.id).await.unwrap()[0].label, Label::Positive);
    f.done().await;
}

/// Ratings that wait at once. Written one after the other, each would wait for the lock timeouts of those before it.
const QUEUED: usize = 10;

async fn ratings_behind_a_lock_are_answered_and_written_in_their_order(f: Fixture) {
    let (l, m) = (&f.ledger, &f.member);
    let mut sessions = Vec::new();
    for _ in 0..QUEUED {
        sessions.push(rate(&f).await);
    }
    let mut other = writer(&f).await;
    let requests = sessions.iter().map(|session| async {
        let given = feedback::record(l, m, session.id, Label::Negative, Surface::WebEnd).await.unwrap();
        assert!(given.is_late, "the other one has the lock");
        assert_eq!(
            feedback::of_session(l, m, session.id).await.unwrap(),
            Some(given.rating),
            "one reads what one wrote"
        );
    });
    futures_util::future::join_all(requests).await;
    // Each replaces a rating that is still to be written.
    assert_eq!(feedback::undo(l, m, sessions[0].id).await.unwrap(), Undone::Late);
    assert_eq!(feedback::of_session(l, m, sessions[0].id).await.unwrap(), None);
    assert!(feedback::record(l, m, sessions[1].id, Label::Skip, Surface::WebEnd).await.unwrap().is_late);
    assert_eq!(feedback::count_by_operator(l).await.unwrap(), QUEUED as u64, "nothing is written");
    other.execute("ROLLBACK").await.unwrap();
    let stored = async |session: &Session| {
        let of = feedback::list_by_operator(l, session.id).await.unwrap();
        of.first().map(|rating| rating.label)
    };
    for (at, session) in sessions.iter().enumerate() {
        let expected = [None, Some(Label::Skip)].get(at).copied().unwrap_or(Some(Label::Negative));
        while stored(session).await != expected {
            assert_eq!(feedback::failures(l), 0, "a rating was given up");
            tokio::task::yield_now().await;
        }
    }
    f.done().await;
}

async fn insights_are_shown_without_ratings_that_cannot_be_read(f: Fixture) {
    rate(&f).await;
    let running = f.running().await;
    let done = Completion { attempt: 1, result: None, usage: None };
    session::complete(&f.ledger, &f.worker, running.id, done).await.unwrap();
    let complete = insight::read_window(&f.ledger, &f.member, 1).await.unwrap();
    assert_eq!((complete.insights.total.sessions, complete.insights.total.unrated), (2, 1));
    let drop = format!("DROP TABLE {}", f.engine.feedback_table());
    f.engine.raw_feedback().await.execute(&drop).await.unwrap();
    let record = insight::read_window(&f.ledger, &f.member, 1).await.unwrap();
    assert_eq!(record.ratings_missing, Some(RatingsMissing::Unreadable));
    let total = record.insights.total;
    assert_eq!((total.sessions, total.completed), (2, 2), "the rest is shown");
    assert_eq!((total.ratings, total.unrated), (Ratings::default(), 0), "nobody knows whether they were rated");
    f.done().await;
}

fn file(f: &Fixture) -> PathBuf {
    f.ledger.data_dir().unwrap().join("session_feedback.sqlite3")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_file_works_again_as_soon_as_it_is_replaced() {
    let mut f = Fixture::sqlite().await;
    let session = rate(&f).await;
    f.ledger.close().await;
    let good = std::fs::read(file(&f)).unwrap();
    std::fs::write(file(&f), "this was a database").unwrap();
    f.restart().await;
    let (l, m) = (&f.ledger, &f.member);
    assert!(matches!(feedback::check(l).await, Err(Error::Unusable(_))));
    assert_eq!(insight::read_window(l, m, 1).await.unwrap().ratings_missing, Some(RatingsMissing::Unreadable));
    let refused = feedback::of_session(l, m, session.id).await;
    assert!(matches!(&refused, Err(Error::Unavailable(why)) if why.contains("cannot be used")), "{refused:?}");
    let refused = feedback::record(l, m, session.id, Label::Negative, Surface::WebEnd).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    assert!(matches!(feedback::undo(l, m, session.id).await, Err(Error::Unavailable(_))));
    let status = feedback::status(l, m, Some(session.id)).await.unwrap();
    assert_eq!((status.session_feedback_count, status.own_feedback_count), (None, None));
    assert_eq!(status.ratings_missing, Some(RatingsMissing::Unreadable));
    let shown = status.session.unwrap();
    assert!(shown.event_count > 0 && shown.turn_count > 0, "the rest is read: {shown:?}");
    assert_eq!(feedback::status(l, m, None).await.unwrap().ratings_missing, Some(RatingsMissing::Unreadable));
    std::fs::write(file(&f), good).unwrap();
    assert_eq!(feedback::of_session(l, m, session.id).await.unwrap().unwrap().label, Label::Positive);
    feedback::record(l, m, session.id, Label::Negative, Surface::WebEnd).await.unwrap();
    f.done().await;
}

/// Offset of the byte of an SQLite file that holds its write version. With a value above 2 the file is
/// read-only, even for root.
const WRITE_VERSION: u64 = 18;

/// Changes one byte in place: a server that tries to write meanwhile must not find half a file.
fn set_write_version(f: &Fixture, version: u8) {
    let file = std::fs::OpenOptions::new().write(true).open(file(f)).unwrap();
    file.write_all_at(&[version], WRITE_VERSION).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_only_file_is_reported_at_start_and_works_when_it_is_writable() {
    let mut f = Fixture::sqlite().await;
    let session = rate(&f).await;
    f.ledger.close().await;
    set_write_version(&f, 3);
    f.restart().await;
    let (l, m) = (&f.ledger, &f.member);
    let refused = feedback::check(l).await;
    assert!(matches!(&refused, Err(Error::Unavailable(why)) if why.contains("read-only")), "{refused:?}");
    let refused = feedback::record(l, m, session.id, Label::Negative, Surface::WebEnd).await;
    assert!(matches!(&refused, Err(Error::Unavailable(why)) if why.contains("read-only")), "{refused:?}");
    assert_eq!(feedback::of_session(l, m, session.id).await.unwrap().unwrap().label, Label::Positive);
    set_write_version(&f, 2);
    feedback::check(l).await.unwrap();
    let changed = feedback::record(l, m, session.id, Label::Negative, Surface::WebEnd).await.unwrap();
    assert_eq!(changed.rating.label, Label::Negative);
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rating_that_is_taken_back_before_it_is_written_does_not_reappear() {
    let mut f = Fixture::sqlite().await;
    rate(&f).await;
    f.ledger.close().await;
    set_write_version(&f, 3);
    f.restart().await;
    let session = rested(&f).await;
    // The write fails, and is tried again each second.
    thread::end(&f.ledger, &f.member, session.id, HELPED).await.unwrap();
    set_write_version(&f, 2);
    feedback::undo(&f.ledger, &f.member, session.id).await.unwrap();
    // Closing waits for ratings that are still to be written.
    f.ledger.close().await;
    f.restart().await;
    assert!(feedback::list_by_operator(&f.ledger, session.id).await.unwrap().is_empty());
    assert_eq!(feedback::count_by_operator(&f.ledger).await.unwrap(), 1, "the first one was not taken back");
    f.done().await;
}

/// Whether any file of the ratings contains this text.
fn can_be_read(f: &Fixture, text: &str) -> bool {
    let dir = f.ledger.data_dir().unwrap();
    let of_ratings = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).filter(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("session_feedback.sqlite3"))
    });
    of_ratings
        .map(|path| std::fs::read(path).unwrap())
        .any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ratings_that_were_removed_are_in_no_file() {
    let f = Fixture::sqlite().await;
    let (l, m) = (&f.ledger, &f.member);
    let (taken_back, purged) = (rate(&f).await, rate(&f).await);
    let names = [&taken_back, &purged].map(|session| feedback::opaque_id(l, session.id).unwrap());
    assert!(names.iter().all(|name| can_be_read(&f, name)));
    assert_eq!(feedback::undo(l, m, taken_back.id).await.unwrap(), Undone::Removed);
    assert!(!can_be_read(&f, &names[0]) && can_be_read(&f, &names[1]));
    f.clock.advance(chrono::TimeDelta::seconds(1));
    assert_eq!(feedback::purge_by_operator(l, l.now()).await.unwrap(), 1);
    assert!(!can_be_read(&f, &names[1]));
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erasure_says_so_when_another_process_keeps_the_old_pages() {
    let f = Fixture::sqlite().await;
    let key = ledger::InstanceKey::parse(testkit::INSTANCE_KEY).unwrap();
    rate(&f).await;
    f.clock.advance(chrono::TimeDelta::days(40));
    let mut reader = f.engine.raw().await;
    reader.execute("BEGIN").await.unwrap();
    reader.number("SELECT COUNT(*) FROM sessions").await;
    let older_than = f.ledger.now() - chrono::TimeDelta::days(30);
    let erased = retention::erase_by_operator(&f.ledger, &key, older_than, |_| {}).await;
    assert!(matches!(&erased, Err(Error::Unavailable(why)) if why.contains("write-ahead log")), "{erased:?}");
    reader.execute("ROLLBACK").await.unwrap();
    retention::erase_by_operator(&f.ledger, &key, older_than, |_| {}).await.unwrap();
    f.done().await;
}
