//! What people learn of a memory writer that waits: after failures, and when they ask it to run.

use crate::memory_writer::{AGENT, fail, take, talked};
use chrono::TimeDelta;
use domain::{Scope, memory_write::limit::FAILURES_MAX};
use ledger::{
    memory_write::{self, StalledRecord, WriterTerms},
    page,
    work_queue::Whose,
};
use testkit::{Fixture, on_both_engines};

on_both_engines!(a_writer_that_waits_is_listed_until_it_is_asked_again);

async fn stalled(f: &Fixture) -> Vec<StalledRecord> {
    memory_write::stalled(&f.ledger, &f.member).await.unwrap()
}

async fn a_writer_that_waits_is_listed_until_it_is_asked_again(f: Fixture) {
    talked(&f, "I like trains.").await;
    assert_eq!(stalled(&f).await, []);
    let run = take(&f, WriterTerms::default()).await.unwrap();
    fail(&f, run).await;
    let found = stalled(&f).await;
    let [waits] = found.as_slice() else { panic!("a failed run is not listed") };
    assert_eq!((waits.agent.as_str(), waits.failures, waits.parked_at), (AGENT, 1, None));
    assert_eq!(waits.error.as_deref(), Some("it answered in verse"));
    assert!(waits.retry_at.unwrap() > f.ledger.now());
    f.clock.advance(TimeDelta::hours(1));
    let found = stalled(&f).await;
    let [due] = found.as_slice() else { panic!("a run that is due again is not listed") };
    assert_eq!(due.retry_at, None, "a time that has passed is not shown");
    for _ in 1..FAILURES_MAX {
        let run = take(&f, WriterTerms::default()).await.unwrap();
        fail(&f, run).await;
        f.clock.advance(TimeDelta::hours(1));
    }
    let found = stalled(&f).await;
    let [parked] = found.as_slice() else { panic!("a parked writer is not listed") };
    assert!(parked.parked_at.is_some() && parked.failures == FAILURES_MAX, "{parked:?}");
    assert_eq!(memory_write::stalled(&f.ledger, &f.stranger).await.unwrap(), []);

    // Today has it for those who can do something.
    let today = async |scope: &Scope| {
        let page = page::today::read(&f.ledger, scope, Whose::Mine, "UTC").await.unwrap();
        page.stalled.len()
    };
    assert_eq!((today(&f.operator).await, today(&f.member).await), (1, 0));
    assert_eq!(page::insight::read(&f.ledger, &f.member, 7).await.unwrap().stalled.len(), 1);
    assert_eq!(page::memory::memory(&f.ledger, &f.member, AGENT).await.unwrap().stalled.len(), 1);
    assert_eq!(page::memory::agent(&f.ledger, &f.member, "other").await.unwrap().stalled.len(), 0);
    memory_write::flush(&f.ledger, &f.operator, AGENT).await.unwrap();
    assert_eq!(stalled(&f).await, []);
    f.done().await;
}
