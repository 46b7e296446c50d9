//! Failures: one record for each session that ended badly. It never changes, and it is acknowledged once.

use chrono::TimeDelta;
use domain::{
    failure::{FailureState, remediation},
    id::SessionId,
    session::Status,
};
use ledger::{
    Error, FailureRecord,
    failure::{self, ListFailures},
    session::{self, Failure},
};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    every_bad_end_is_recorded_with_what_helps,
    completed_and_cancelled_sessions_are_no_failures,
    a_failure_is_acknowledged_once_by_whom_it_concerns,
    failures_are_listed_newest_first_page_by_page,
    another_workspace_knows_of_no_failure,
);

/// Creates a session that its worker reports as failed.
pub async fn failed(f: &Fixture, code: Option<&str>) -> SessionId {
    let running = f.running().await;
    let failure = Failure { attempt: 1, message: "no luck".into(), code: code.map(str::to_owned), usage: None };
    session::fail(&f.ledger, &f.worker, running.id, failure).await.unwrap();
    running.id
}

async fn failure_of(f: &Fixture, id: SessionId) -> Option<FailureRecord> {
    failure::of_sessions(&f.ledger, &f.member, &[id]).await.unwrap().pop()
}

async fn every_bad_end_is_recorded_with_what_helps(f: Fixture) {
    for code in [Some("exit_3"), None] {
        let id = failed(&f, code).await;
        let record = failure_of(&f, id).await.unwrap();
        let expected = code.unwrap_or("error");
        assert_eq!((record.code.as_str(), record.message.as_str()), (expected, "no luck"));
        assert_eq!(record.remediation, remediation(expected));
        assert_eq!((record.status, record.acknowledged_at), (Status::Failed, None));
        // The record has the id and the time of the event that ended the session.
        let log = f.log(id).await;
        let end = log.last().unwrap();
        assert_eq!((end.kind.as_str(), end.id, end.at), ("session.status_change", record.id, record.at));
    }
    // A worker loses its lease three times.
    f.pending().await;
    let mut lost = None;
    for _ in 0..3 {
        lost = f.claim(1, 5).await.pop();
        f.clock.advance(TimeDelta::seconds(6));
        session::sweep(&f.ledger).await.unwrap();
    }
    let record = failure_of(&f, lost.unwrap().id).await.unwrap();
    assert_eq!((record.code.as_str(), record.message.as_str()), ("lease_exhausted", "the last of 3 attempts was lost"));
    assert_eq!(record.remediation, remediation("lease_exhausted"));
    let mut raw = f.engine.raw().await;
    assert!(raw.execute("UPDATE session_failures SET message = 'forged'").await.is_err(), "a failure was rewritten");
    assert!(raw.execute("DELETE FROM session_failures").await.is_err(), "a failure was deleted");
    f.done().await;
}

async fn completed_and_cancelled_sessions_are_no_failures(f: Fixture) {
    let done = f.running().await;
    let completion = session::Completion { attempt: 1, result: None, usage: None };
    session::complete(&f.ledger, &f.worker, done.id, completion).await.unwrap();
    let cancelled = f.pending().await;
    session::cancel(&f.ledger, &f.operator, cancelled.id, None).await.unwrap();
    assert!(failure::list(&f.ledger, &f.member, ListFailures::default()).await.unwrap().items.is_empty());
    let none = failure::acknowledge(&f.ledger, &f.operator, done.id).await;
    assert!(matches!(none, Err(Error::NotFound(_))), "{none:?}");
    f.done().await;
}

async fn a_failure_is_acknowledged_once_by_whom_it_concerns(f: Fixture) {
    let id = failed(&f, None).await;
    let stranger_here = failure::acknowledge(&f.ledger, &f.member, id).await;
    assert!(matches!(stranger_here, Err(Error::Forbidden(_))), "{stranger_here:?}");
    f.clock.advance(TimeDelta::seconds(3));
    let first = failure::acknowledge(&f.ledger, &f.operator, id).await.unwrap();
    assert_eq!(first.acknowledged_by, Some(f.operator.caller.to_string()));
    assert_eq!((first.acknowledged_at.unwrap() - first.at).num_seconds(), 3);
    f.clock.advance(TimeDelta::seconds(3));
    let second = failure::acknowledge(&f.ledger, &f.admin, id).await.unwrap();
    assert_eq!(second, first, "a second acknowledgement replaced the first");
    f.done().await;
}

async fn failures_are_listed_newest_first_page_by_page(f: Fixture) {
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(failed(&f, None).await);
        f.clock.advance(TimeDelta::milliseconds(2));
    }
    for id in &ids[..2] {
        failure::acknowledge(&f.ledger, &f.operator, *id).await.unwrap();
    }
    ids.reverse();
    for (state, expected) in
        [(None, &ids[..]), (Some(FailureState::Open), &ids[..3]), (Some(FailureState::Acknowledged), &ids[3..])]
    {
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let query = ListFailures { state, limit: 2, cursor };
            let page = failure::list(&f.ledger, &f.member, query).await.unwrap();
            assert!(page.items.len() <= 2);
            seen.extend(page.items.into_iter().map(|failure| failure.session_id));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, expected, "{state:?}");
    }
    f.done().await;
}

async fn another_workspace_knows_of_no_failure(f: Fixture) {
    let id = failed(&f, None).await;
    assert!(failure::list(&f.ledger, &f.stranger, ListFailures::default()).await.unwrap().items.is_empty());
    assert!(failure::of_sessions(&f.ledger, &f.stranger, &[id]).await.unwrap().is_empty());
    let taken = failure::acknowledge(&f.ledger, &f.stranger, id).await;
    assert!(matches!(taken, Err(Error::NotFound(_))), "{taken:?}");
    assert_eq!(failure_of(&f, id).await.unwrap().acknowledged_at, None);
    f.done().await;
}
