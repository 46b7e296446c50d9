//! What people learn of a memory writer that waits: after failures, and when they ask it to run. Reasons for a run
//! that come together start one run, and what began while it was off comes after what is new.

use crate::{
    memory_window::read_next,
    memory_writer::{AGENT, fail, finish, take, talk, talked},
    thread::ENDING,
};
use chrono::TimeDelta;
use domain::{
    Scope,
    id::SessionId,
    memory_writer::{limit::FAILURES_MAX, plan::Policy, run::RunCause},
};
use futures_util::future::join_all;
use ledger::{
    Error,
    memory_writer::{self, FlushWait, Flushed, StalledRecord, WriterTerms},
    page::{self, memory::Selection},
    thread,
    work_queue::QueueScope,
};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_writer_that_waits_is_listed_until_it_is_asked_again,
    the_pages_of_an_agent_show_its_writer_however_many_others_wait,
    only_operators_ask_for_a_run_and_are_told_whether_a_server_will_do_it,
    a_request_names_the_budget_that_is_used_up,
    reasons_for_a_run_that_come_together_start_one,
    what_began_while_a_writer_was_off_is_read_after_what_is_new,
    what_is_new_is_read_first_when_an_operator_asks_for_the_time_of_a_pause,
);

async fn stalled(f: &Fixture) -> Vec<StalledRecord> {
    page::memory_home::read(&f.ledger, &f.member, None).await.unwrap().stalled
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
    assert_eq!(page::memory_home::read(&f.ledger, &f.stranger, None).await.unwrap().stalled, []);

    // Today has it for those who can do something.
    let today = async |scope: &Scope| {
        let page = page::today::read(&f.ledger, scope, QueueScope::Mine, "UTC").await.unwrap();
        page.stalled.len()
    };
    assert_eq!((today(&f.operator).await, today(&f.member).await), (1, 0));
    assert_eq!(page::insight::read(&f.ledger, &f.member, 7).await.unwrap().stalled.len(), 1);
    assert_eq!(page::memory::memory(&f.ledger, &f.member, AGENT, Selection::Recent).await.unwrap().stalled.len(), 1);
    assert_eq!(page::memory::agent(&f.ledger, &f.member, "other").await.unwrap().stalled.len(), 0);
    memory_writer::flush(&f.ledger, &f.operator, AGENT, None).await.unwrap();
    assert_eq!(stalled(&f).await, []);
    f.done().await;
}

async fn the_pages_of_an_agent_show_its_writer_however_many_others_wait(f: Fixture) {
    talked(&f, "Answer in verse.").await;
    for _ in 0..FAILURES_MAX {
        let run = take(&f, WriterTerms::default()).await.unwrap();
        fail(&f, run).await;
        f.clock.advance(TimeDelta::hours(1));
    }
    // As many as a list has, all before this agent.
    let mut raw = f.engine.raw().await;
    for number in 10..60 {
        let parked = format!(
            "INSERT INTO memory_writers (tenant_id, agent, tracked_until, failures, parked_at, day, runs, tokens) \
             SELECT tenant_id, 'agent-{number}', tracked_until, 3, 1, day, runs, tokens FROM memory_writers \
             WHERE agent = '{AGENT}'"
        );
        raw.execute(&parked).await.unwrap();
    }
    drop(raw);
    let listed = stalled(&f).await;
    assert!(listed.len() == 50 && listed.iter().all(|writer| writer.agent != AGENT), "{listed:?}");
    let waits = page::memory::runs(&f.ledger, &f.member, AGENT).await.unwrap().stalled.expect("its session is parked");
    assert_eq!((waits.agent.as_str(), waits.parked_sessions, waits.failures), (AGENT, 1, FAILURES_MAX));
    assert_eq!(
        page::memory::memory(&f.ledger, &f.member, AGENT, Selection::Recent).await.unwrap().stalled,
        std::slice::from_ref(&waits)
    );
    assert_eq!(page::memory::agent(&f.ledger, &f.member, AGENT).await.unwrap().stalled, [waits]);
    assert!(page::memory::runs(&f.ledger, &f.stranger, AGENT).await.unwrap().stalled.is_none());
    f.done().await;
}

async fn only_operators_ask_for_a_run_and_are_told_whether_a_server_will_do_it(f: Fixture) {
    let ask = async |scope: &Scope, agent: &str| memory_writer::flush(&f.ledger, scope, agent, None).await;
    assert!(matches!(ask(&f.member, AGENT).await, Err(Error::Forbidden(_))));
    assert!(matches!(ask(&f.worker, AGENT).await, Err(Error::Forbidden(_))));
    assert!(matches!(ask(&f.operator, "No Slug").await, Err(Error::NotFound(_))));
    let waits = Flushed { has_writer: false, waits: Some(FlushWait::Writer) };
    assert_eq!(ask(&f.stranger, AGENT).await.unwrap(), waits, "no server has a writer for it");
    assert!(FlushWait::Writer.to_string().contains("[memory] of the settings file"));
    assert!(take(&f, WriterTerms::default()).await.is_none());
    assert_eq!(ask(&f.operator, AGENT).await.unwrap(), Flushed { has_writer: true, waits: None });
    f.clock.advance(TimeDelta::hours(1));
    assert_eq!(ask(&f.operator, AGENT).await.unwrap(), waits, "its server is gone");
    f.done().await;
}

async fn a_request_names_the_budget_that_is_used_up(f: Fixture) {
    let terms = WriterTerms { runs_per_day: 1, ..WriterTerms::default() };
    let ask = async |terms: WriterTerms| {
        memory_writer::flush(&f.ledger, &f.operator, AGENT, Some(terms)).await.unwrap().waits
    };
    talked(&f, "One").await;
    assert_eq!(ask(terms).await, None);
    let run = take(&f, terms).await.unwrap();
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    let Some(FlushWait::Runs { most: 1, until }) = ask(terms).await else { panic!("the runs of the day are used up") };
    assert!(until > f.ledger.now() && until.timestamp() % 86_400 == 0, "{until}");
    let tokens = WriterTerms { tokens_per_day: 100, ..WriterTerms::default() };
    let waits = ask(tokens).await.unwrap();
    assert_eq!(waits, FlushWait::Tokens { spent: 120, most: 100, until });
    assert!(waits.to_string().contains("120 tokens are used, and tokens_per_day is 100"), "{waits}");
    f.clock.advance(TimeDelta::days(1));
    assert_eq!(ask(terms).await, None);
    f.done().await;
}

async fn reasons_for_a_run_that_come_together_start_one(f: Fixture) {
    // The conversation has ended, has as many turns as start a run and is silent, and two people ask for a run.
    let terms = WriterTerms { turn_threshold: 2, ..WriterTerms::default() };
    talked(&f, "I like trains.").await;
    f.clock.advance(TimeDelta::hours(1));
    for scope in [&f.operator, &f.admin] {
        memory_writer::flush(&f.ledger, scope, AGENT, Some(terms)).await.unwrap();
    }
    let mut taken: Vec<_> = join_all((0..8).map(|_| take(&f, terms))).await.into_iter().flatten().collect();
    assert_eq!(taken.len(), 1, "one of several that look at the same time");
    let run = taken.remove(0);
    assert_eq!((run.cause, run.window.turns.len()), (RunCause::Flush, 2));
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    assert!(take(&f, terms).await.is_none(), "no reason is left");
    assert_eq!(memory_writer::runs(&f.ledger, &f.member, AGENT).await.unwrap().len(), 1);
    // Both requests are fulfilled: the next conversation needs a reason of its own.
    talk(&f, "I like ships.", "Noted.").await;
    assert!(take(&f, WriterTerms::default()).await.is_none());
    f.done().await;
}

/// Conversations that began while the writer was off for a month, the first one first, and one that has just ended.
async fn after_a_pause(f: &Fixture) -> (Vec<SessionId>, SessionId) {
    assert_eq!(read_next(f).await, []);
    let mut old = Vec::new();
    for number in 0..60 {
        f.clock.advance(TimeDelta::hours(12));
        old.push(talk(f, &format!("Old {number}"), "Noted.").await.id);
    }
    f.clock.advance(TimeDelta::hours(12));
    let new = talk(f, "I like trains.", "Noted.").await.id;
    thread::end(&f.ledger, &f.member, new, ENDING).await.unwrap();
    (old, new)
}

async fn what_began_while_a_writer_was_off_is_read_after_what_is_new(f: Fixture) {
    let (old, new) = after_a_pause(&f).await;
    for expected in [&[new][..], &old[..50], &old[50..], &[]] {
        assert_eq!(read_next(&f).await, expected);
    }
    f.done().await;
}

async fn what_is_new_is_read_first_when_an_operator_asks_for_the_time_of_a_pause(f: Fixture) {
    let (old, new) = after_a_pause(&f).await;
    let since = f.ledger.now() - TimeDelta::days(40);
    assert_eq!(memory_writer::read_since(&f.ledger, &f.operator, AGENT, since).await.unwrap(), 61);
    for expected in [&[new][..], &old[..50], &old[50..], &[]] {
        assert_eq!(read_next(&f).await, expected);
    }
    f.done().await;
}
