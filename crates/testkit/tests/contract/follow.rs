//! P-7: followers of a log, and what they share.

use chrono::TimeDelta;
use domain::session::Session;
use futures_util::future::join_all;
use ledger::{
    Error, LeaseClock,
    event::{self as events, Delta, Follow, Following, Progress},
    session,
};
use std::sync::Arc;
use testkit::{Engine, Fixture, on_both_engines, text};

on_both_engines!(
    a_follower_sees_every_event_once_in_order_while_writers_append,
    a_follower_that_lags_reads_the_log_again_without_gaps_or_repeats,
    followers_of_a_session_share_the_batch_of_a_commit,
    progress_is_sent_to_followers_at_most_each_200_ms_and_not_stored,
    progress_reaches_the_followers_of_other_servers,
    pieces_of_an_answer_are_sent_to_followers_and_not_stored,
);

/// More commits than the feed of a session holds.
const COMMITS_OF_A_LAG: usize = 100;
const FOLLOWERS: usize = 20;

/// Begins followers after the head of the session that have read the log to its end. From then on events come from the
/// hub. A piece of an answer, which followers get only then, shows that it is so.
async fn up_to_date(f: &Fixture, session: &Session, followers: usize) -> Vec<Following> {
    let mut all = Vec::new();
    for _ in 0..followers {
        all.push(events::follow(&f.ledger, &f.member, session.id, session.head_sequence).await.unwrap());
    }
    let piece = Delta { attempt: 1, offset: 0, text: "x".to_owned() };
    events::send_delta(&f.ledger, &f.worker, session.id, piece).await.unwrap();
    for following in &mut all {
        while !matches!(following.next().await.unwrap(), Follow::Delta(_)) {}
    }
    all
}

/// Follows to the end of the session. Returns the sequences of the events.
async fn followed(mut following: Following) -> Vec<u64> {
    let mut seen = Vec::new();
    loop {
        match following.next().await.unwrap() {
            Follow::Events(batch) => seen.extend(batch.events().iter().map(|event| event.sequence)),
            other @ (Follow::Delta(_) | Follow::Progress(_) | Follow::Presence(_)) => panic!("no one sent {other:?}"),
            Follow::End(_) => return seen,
        }
    }
}

async fn a_follower_sees_every_event_once_in_order_while_writers_append(f: Fixture) {
    let session = f.running().await;
    let follower =
        async |after: u64| followed(events::follow(&f.ledger, &f.member, session.id, after).await.unwrap()).await;
    let writers = async {
        join_all((0..4).map(async |_| {
            for n in 0..50 {
                f.append(session.id, 1, vec![text(&n.to_string())]).await.unwrap();
            }
        }))
        .await;
        session::cancel(&f.ledger, &f.operator, session.id, None).await.unwrap();
    };
    let (from_start, from_two, ()) = tokio::join!(follower(0), follower(2), writers);
    let head = f.log(session.id).await.len() as u64;
    assert_eq!(from_start, (1..=head).collect::<Vec<_>>());
    assert_eq!(from_two, (3..=head).collect::<Vec<_>>());
    f.done().await;
}

async fn a_follower_that_lags_reads_the_log_again_without_gaps_or_repeats(f: Fixture) {
    let session = f.running().await;
    let following = up_to_date(&f, &session, 1).await.remove(0);
    for n in 0..COMMITS_OF_A_LAG {
        f.append(session.id, 1, vec![text(&n.to_string())]).await.unwrap();
    }
    session::cancel(&f.ledger, &f.operator, session.id, None).await.unwrap();
    let head = f.log(session.id).await.len() as u64;
    assert_eq!(followed(following).await, (session.head_sequence + 1..=head).collect::<Vec<_>>());
    f.done().await;
}

async fn followers_of_a_session_share_the_batch_of_a_commit(f: Fixture) {
    let session = f.running().await;
    let mut all = up_to_date(&f, &session, FOLLOWERS).await;
    f.append(session.id, 1, vec![text("both"), text("at once")]).await.unwrap();
    let mut batches = Vec::new();
    for following in &mut all {
        match following.next().await.unwrap() {
            Follow::Events(batch) => batches.push(batch),
            other => panic!("not events: {other:?}"),
        }
    }
    assert_eq!(batches[0].events().len(), 2);
    assert!(batches.iter().all(|batch| Arc::ptr_eq(batch, &batches[0])), "a rendering of one is not that of all");
    f.done().await;
}

async fn progress_is_sent_to_followers_at_most_each_200_ms_and_not_stored(f: Fixture) {
    let session = f.running().await;
    let before = f.log(session.id).await.len();
    let mut following = events::follow(&f.ledger, &f.member, session.id, before as u64).await.unwrap();
    let send = async |attempt: u32, done: u64, note: &str| {
        let progress = Progress { attempt, done, total: Some(9), note: Some(note.to_owned()) };
        events::send_progress(&f.ledger, &f.worker, session.id, progress).await
    };
    for (done, pause) in [(1, 0), (2, 199), (3, 1), (9, 0)] {
        f.clock.advance(TimeDelta::milliseconds(pause));
        send(1, done, "reading").await.unwrap();
    }
    for expected in [1, 3, 9] {
        match following.next().await.unwrap() {
            Follow::Progress(progress) => assert_eq!((progress.done, progress.total), (expected, Some(9))),
            other => panic!("no progress: {other:?}"),
        }
    }
    assert!(matches!(send(2, 1, "x").await, Err(Error::Refused(_))), "an attempt that holds nothing");
    for (done, note, field) in [(10, "x", "done"), (1, "two\nlines", "note")] {
        let refused = send(1, done, note).await;
        assert!(matches!(&refused, Err(Error::Invalid(errors)) if errors[0].field == field), "{refused:?}");
    }
    assert_eq!(f.log(session.id).await.len(), before);
    f.done().await;
}

async fn progress_reaches_the_followers_of_other_servers(f: Fixture) {
    // SQLite has one server.
    if matches!(f.engine, Engine::Sqlite(_)) {
        return f.done().await;
    }
    let session = f.running().await;
    let before = f.log(session.id).await.len();
    let mut following = events::follow(&f.ledger, &f.member, session.id, before as u64).await.unwrap();
    let other = f.server_with(&f.clock, LeaseClock::Process(Arc::new(f.clock.clone()))).await;
    for done in 1..=9 {
        let progress = Progress { attempt: 1, done, total: Some(9), note: Some("reading".to_owned()) };
        events::send_progress(&other, &f.worker, session.id, progress).await.unwrap();
    }
    // The newest report arrives; of those before it some may be left out.
    loop {
        match following.next().await.unwrap() {
            Follow::Progress(progress) if progress.done == 9 => break,
            Follow::Progress(progress) => assert_eq!(progress.note.as_deref(), Some("reading")),
            _ => {}
        }
    }
    let shown = ledger::live::progress(&f.ledger, &f.member, session.id).unwrap();
    assert_eq!((shown.done, shown.total), (9, Some(9)));
    assert_eq!(f.log(session.id).await.len(), before, "progress is not stored");
    other.close().await;
    f.done().await;
}

async fn pieces_of_an_answer_are_sent_to_followers_and_not_stored(f: Fixture) {
    let session = f.running().await;
    let before = f.log(session.id).await.len();
    let mut following = events::follow(&f.ledger, &f.member, session.id, before as u64).await.unwrap();
    let piece = |attempt, offset, text: &str| Delta { attempt, offset, text: text.to_owned() };
    let send_piece = async |delta: Delta| events::send_delta(&f.ledger, &f.worker, session.id, delta).await;
    send_piece(piece(1, 0, "Hel")).await.unwrap();
    send_piece(piece(1, 3, "lo")).await.unwrap();
    for (offset, text) in [(0, "Hel"), (3, "lo")] {
        match following.next().await.unwrap() {
            Follow::Delta(delta) => assert_eq!(*delta, piece(1, offset, text)),
            other => panic!("not a piece: {other:?}"),
        }
    }
    assert!(matches!(send_piece(piece(2, 0, "x")).await, Err(Error::Refused(_))), "an attempt that holds nothing");
    for wrong in [String::new(), "x".repeat(domain::limit::DELTA_BYTES_MAX + 1)] {
        assert!(matches!(send_piece(piece(1, 0, &wrong)).await, Err(Error::Invalid(_))));
    }
    let by_member = events::send_delta(&f.ledger, &f.member, session.id, piece(1, 0, "x")).await;
    assert!(matches!(by_member, Err(Error::Forbidden(_))), "{by_member:?}");
    let elsewhere = events::send_delta(&f.ledger, &f.stranger, session.id, piece(1, 0, "x")).await;
    assert!(matches!(elsewhere, Err(Error::NotFound(_))), "{elsewhere:?}");
    assert_eq!(f.log(session.id).await.len(), before);
    session::cancel(&f.ledger, &f.operator, session.id, None).await.unwrap();
    assert!(matches!(send_piece(piece(1, 5, "!")).await, Err(Error::Refused(_))), "it has ended");
    f.done().await;
}
