//! The cost of capture for workers: none if there is nothing to capture, and capture never fails a turn.

use crate::{
    entity::{acme, company},
    gate::{at_once, claim, decide, gated, says, staged},
    interaction::{answered, due, keep, lines_of},
};
use domain::{
    gate::Verdict,
    session::{Session, Status},
};
use ledger::{
    interaction::Stream,
    session::{self, Completion, Failure},
};
use runner::capture::{TurnCapture, run};
use serde_json::{Value, json};
use std::sync::Arc;
use testkit::{Fixture, on_both_engines, text};
use tokio_util::sync::CancellationToken;

on_both_engines!(
    where_nothing_was_said_nothing_is_noted,
    what_reviewers_decided_is_captured_of_work_that_failed_too,
    turns_that_were_taken_together_are_kept_together_and_once,
    capture_gets_its_turn_while_others_write,
);

async fn completed(f: &Fixture, session: &Session, result: Option<&Value>) {
    let result = result.map(ToString::to_string);
    let completion = Completion { attempt: session.attempt, result, usage: None };
    session::complete(&f.ledger, &f.worker, session.id, completion).await.unwrap();
}

async fn failed(f: &Fixture, session: &Session) {
    let failure = Failure { attempt: session.attempt, message: "No way.".into(), code: None, usage: None };
    let failed = session::fail(&f.ledger, &f.worker, session.id, failure).await.unwrap();
    assert_eq!(failed.status(), Status::Failed);
}

async fn where_nothing_was_said_nothing_is_noted(f: Fixture) {
    // A session without a message and without a result.
    completed(&f, &f.running().await, None).await;
    assert!(due(&f).await.is_empty());
    // Messages of a session that failed or was cancelled are no answer.
    let broken = f.running().await;
    f.append(broken.id, broken.attempt, vec![text("I look it up.")]).await.unwrap();
    failed(&f, &broken).await;
    let stopped = f.running().await;
    f.append(stopped.id, stopped.attempt, vec![text("I look it up.")]).await.unwrap();
    session::cancel(&f.ledger, &f.operator, stopped.id, None).await.unwrap();
    assert!(due(&f).await.is_empty());
    // A message or a result is an answer.
    let spoken = f.running().await;
    f.append(spoken.id, spoken.attempt, vec![text("5432")]).await.unwrap();
    completed(&f, &spoken, None).await;
    completed(&f, &f.running().await, Some(&json!("3306"))).await;
    let taken = due(&f).await;
    let mut answers: Vec<_> = taken.iter().flat_map(|due| &due.turns).map(|turn| turn.answer.as_str()).collect();
    answers.sort_unstable();
    assert_eq!((taken.len(), answers.as_slice()), (2, &["3306", "5432"][..]));
    f.done().await;
}

async fn what_reviewers_decided_is_captured_of_work_that_failed_too(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 12 })).await;
    decide(&f, &f.operator, item.gate.id, says(Verdict::Deny)).await.unwrap();
    assert!(due(&f).await.is_empty(), "the agent works on");
    failed(&f, &claim(&f).await.session).await;
    let taken = due(&f).await;
    let [only] = taken.as_slice() else { panic!("one session: {taken:?}") };
    let [turn] = only.turns.as_slice() else { panic!("what was staged: {only:?}") };
    assert!(!turn.judgement.as_ref().unwrap().approved);
    f.done().await;
}

async fn turns_that_were_taken_together_are_kept_together_and_once(f: Fixture) {
    for number in 0..5 {
        answered(&f, "Next?", &json!(number.to_string())).await;
    }
    let taken = due(&f).await;
    assert_eq!(taken.len(), 5);
    keep(&f, &taken[1]).await;
    // One of them is recorded already. It must not be recorded twice, and the others must not be lost.
    crate::interaction::keep_all(&f, &taken).await;
    crate::interaction::keep_all(&f, &taken).await;
    let mut answers = lines_of(&f, Stream::Interactions).await;
    answers.sort_unstable();
    assert_eq!(answers, ["0", "1", "2", "3", "4"].map(|number| json!(number).to_string()));
    f.clock.advance(chrono::TimeDelta::hours(1));
    assert!(due(&f).await.is_empty());
    f.done().await;
}

/// More turns than one batch holds, so that the job pauses between two batches.
const TURNS: usize = 70;

async fn capture_gets_its_turn_while_others_write(f: Fixture) {
    for number in 0..TURNS {
        answered(&f, "Next?", &json!(number.to_string())).await;
    }
    let turn_capture = Arc::new(TurnCapture::default());
    let stop = CancellationToken::new();
    let captures = tokio::spawn(run(f.ledger.clone(), turn_capture.clone(), stop.clone()));
    while turn_capture.captured() < TURNS as u64 {
        let busy = f.running().await;
        f.append(busy.id, busy.attempt, vec![text("I am at it.")]).await.unwrap();
    }
    stop.cancel();
    captures.await.unwrap();
    assert_eq!((turn_capture.captured(), turn_capture.failures()), (TURNS as u64, 0));
    assert!(due(&f).await.is_empty());
    f.done().await;
}
