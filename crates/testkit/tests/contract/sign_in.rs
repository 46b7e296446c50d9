//! Password guessing: which attempts are counted, and when they are blocked.

use chrono::TimeDelta;
use domain::{
    limit::{SIGN_IN_FAILURES_KEPT_MINUTES, SIGN_IN_FREE_FAILURES},
    role::Role,
};
use ledger::{Error, auth, member};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    of_parallel_guesses_only_those_are_checked_that_the_count_allows,
    a_block_is_never_shortened,
    a_right_password_beside_wrong_ones_signs_in_and_clears_the_count,
    old_attempts_are_forgotten,
    a_password_that_was_changed_meanwhile_signs_nobody_in,
);

const ADA: &str = "ada@acme.test";
const PASSWORD: &str = "correct horse battery";

async fn guess(f: &Fixture) -> Option<Error> {
    auth::sign_in(&f.ledger, ADA, "wrong", "").await.err()
}

/// Seconds until the next attempt is permitted.
async fn block(f: &Fixture) -> u64 {
    match guess(f).await {
        Some(Error::TooManyAttempts { retry_after_seconds }) => retry_after_seconds,
        other => panic!("not blocked: {other:?}"),
    }
}

async fn of_parallel_guesses_only_those_are_checked_that_the_count_allows(f: Fixture) {
    // A second server on the same data shares the count.
    let other = f.second_ledger(ledger::Mode::Tool).await;
    let guesses = (0..150).map(|n| {
        let ledger = if n % 2 == 0 { f.ledger.clone() } else { other.clone() };
        tokio::spawn(async move { auth::sign_in(&ledger, ADA, &format!("guess {n}"), "").await.err() })
    });
    let (mut checked, mut refused) = (0, 0);
    for guess in futures_util::future::join_all(guesses.collect::<Vec<_>>()).await {
        match guess.unwrap() {
            Some(Error::BadCredentials) => checked += 1,
            Some(Error::TooManyAttempts { retry_after_seconds: 2 } | Error::Busy { .. }) => refused += 1,
            answer => panic!("{answer:?}"),
        }
    }
    // The clock does not move, so no attempt is checked after the one that starts the block.
    assert_eq!((checked, refused), (SIGN_IN_FREE_FAILURES + 1, 150 - SIGN_IN_FREE_FAILURES - 1));
    assert_eq!(block(&f).await, 2);
    other.close().await;
    f.done().await;
}

async fn a_block_is_never_shortened(f: Fixture) {
    let mut expected = 0;
    for failures in 1..=SIGN_IN_FREE_FAILURES + 4 {
        assert!(matches!(guess(&f).await, Some(Error::BadCredentials)), "attempt {failures}");
        if failures > SIGN_IN_FREE_FAILURES {
            expected = 1 << (failures - SIGN_IN_FREE_FAILURES);
            assert_eq!(block(&f).await, expected);
            f.clock.advance(TimeDelta::seconds(i64::try_from(expected).unwrap()));
        }
    }
    assert!(matches!(guess(&f).await, Some(Error::BadCredentials)));
    let longest = block(&f).await;
    assert_eq!(longest, expected * 2);
    for _ in 0..20 {
        assert_eq!(block(&f).await, longest, "a refused attempt changes nothing");
    }
    let right = auth::sign_in(&f.ledger, ADA, PASSWORD, "").await.err();
    assert!(matches!(right, Some(Error::TooManyAttempts { .. })), "not even the right password is checked: {right:?}");
    f.done().await;
}

async fn a_right_password_beside_wrong_ones_signs_in_and_clears_the_count(f: Fixture) {
    for _ in 0..3 {
        let (wrong, right) = tokio::join!(guess(&f), auth::sign_in(&f.ledger, ADA, PASSWORD, ""));
        assert!(matches!(wrong, Some(Error::BadCredentials)), "{wrong:?}");
        right.unwrap();
    }
    auth::sign_in(&f.ledger, ADA, PASSWORD, "").await.unwrap();
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM sign_in_attempts").await, 0);
    f.done().await;
}

async fn old_attempts_are_forgotten(f: Fixture) {
    for n in 0..20 {
        auth::sign_in(&f.ledger, &format!("nobody-{n}@acme.test"), "wrong", "").await.err().unwrap();
    }
    for _ in 0..SIGN_IN_FREE_FAILURES {
        guess(&f).await.unwrap();
    }
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM sign_in_attempts").await, 21);
    f.clock.advance(TimeDelta::minutes(SIGN_IN_FAILURES_KEPT_MINUTES) + TimeDelta::seconds(1));
    assert!(matches!(guess(&f).await, Some(Error::BadCredentials)));
    assert_eq!(raw.number("SELECT COUNT(*) FROM sign_in_attempts").await, 1, "rows of other addresses are gone");
    assert_eq!(raw.number("SELECT failures FROM sign_in_attempts").await, 1, "the count begins again");
    f.done().await;
}

async fn a_password_that_was_changed_meanwhile_signs_nobody_in(f: Fixture) {
    // More than are hashed at once. An unknown address costs a full hash.
    const UNKNOWN: i64 = 8;
    const COUNT: &str = "SELECT COUNT(*) FROM sign_in_attempts";
    let other = f.second_ledger(ledger::Mode::Tool).await;
    let mut raw = f.engine.raw().await;
    let mut before = Vec::new();
    for n in 0..UNKNOWN {
        let ledger = f.ledger.clone();
        let email = format!("nobody{n}@acme.test");
        before.push(tokio::spawn(async move { auth::sign_in(&ledger, &email, PASSWORD, "").await.err() }));
    }
    while raw.number(COUNT).await < UNKNOWN {
        tokio::task::yield_now().await;
    }
    // This one reads the hash and waits in the queue.
    let ledger = f.ledger.clone();
    let signing_in = tokio::spawn(async move { auth::sign_in(&ledger, ADA, PASSWORD, "").await });
    while !signing_in.is_finished() && raw.number(COUNT).await <= UNKNOWN {
        tokio::task::yield_now().await;
    }
    member::add_by_operator(&other, "acme", ADA, Role::Admin, "another password").await.unwrap();
    match signing_in.await.unwrap() {
        Err(refused) => assert!(matches!(refused, Error::BadCredentials), "{refused:?}"),
        Ok(early) => assert!(auth::by_cookie(&f.ledger, &early.secret).await.unwrap().is_none(), "the change ends it"),
    }
    futures_util::future::join_all(before).await;
    auth::sign_in(&f.ledger, ADA, "another password", "").await.unwrap();
    other.close().await;
    f.done().await;
}
