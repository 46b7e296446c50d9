//! A run whose model takes longer to answer than the lease of its writer lasts. The runtime has one thread, because the
//! test moves its time.

use crate::{
    memory_writer::{AGENT, proposals, take, talked, tenant, usage},
    memory_writer_model::writer,
};
use chrono::TimeDelta;
use domain::{
    Timestamp,
    memory_writer::{
        limit::{HOLD_EVERY_SECONDS, LEASE_SECONDS},
        plan::Policy,
        run::RunState,
    },
};
use ledger::{
    Error, Mode,
    memory_writer::{self, Finished, WriterTerms},
};
use runner::memory_writer::{PassOutcome, run_once};
use std::{sync::Arc, time::Duration};
use testkit::{
    Fixture,
    model::{ScriptedModel, ScriptedReply},
};
use tokio::{
    sync::Notify,
    task::{JoinHandle, yield_now},
    time,
};

/// An answer with one new topic.
const GOOD: &str = r##"{"schema":1,"nothing":false,"summary":null,"ops":[{"op":"create","path":"topics/launch.md",
"heading":[],"base_sha256":null,"body":"# Launch\n\n- It is on Friday\n",
"evidence":[{"session":"s1","sequence":2}],"reason":"Said."}]}"##;

/// A run that waits for its model, and what makes the model answer.
struct Waiting {
    run: JoinHandle<ledger::Result<PassOutcome>>,
    answer: Arc<Notify>,
    model: ScriptedModel,
}

/// Starts a run about a conversation, and waits until its model is asked.
async fn waiting(f: &Fixture) -> Waiting {
    talked(f, "The launch is on Friday.").await;
    let answer = Arc::new(Notify::new());
    let model = ScriptedModel::start([ScriptedReply::Held(GOOD, answer.clone())]).await;
    let (ledger, writer) = (f.ledger.clone(), writer(f, &model, WriterTerms::default()));
    let run = tokio::spawn(async move { run_once(&ledger, &writer, None).await });
    while model.received() == 0 {
        yield_now().await;
    }
    Waiting { run, answer, model }
}

/// End of the lease.
async fn lease(f: &Fixture) -> Timestamp {
    memory_writer::status(&f.ledger, &f.member, AGENT).await.unwrap().lease.expect("a run goes on").until
}

/// Moves the clock of the ledger and the time of the runtime. The runtime's time is stopped only for the jump:
/// otherwise it would run ahead to the next timeout while the database works.
async fn pass(f: &Fixture, seconds: u32) {
    f.clock.advance(TimeDelta::seconds(seconds.into()));
    time::pause();
    time::advance(Duration::from_secs(seconds.into())).await;
    time::resume();
}

async fn a_slow_model_keeps_its_lease_until_it_answers(f: Fixture) {
    let Waiting { run, answer, model } = waiting(&f).await;
    let other = f.second_ledger(Mode::Tool).await;
    // Longer than a lease, in steps after which it is extended.
    for _ in 0..=LEASE_SECONDS / HOLD_EVERY_SECONDS {
        let before = lease(&f).await;
        pass(&f, HOLD_EVERY_SECONDS).await;
        while lease(&f).await <= before {
            yield_now().await;
        }
        let taken = memory_writer::take(&other, tenant(&f), AGENT, &WriterTerms::default(), None).await.unwrap();
        assert!(taken.is_none(), "another server takes the agent while its writer waits");
    }
    answer.notify_one();
    let PassOutcome::Ran(run) = run.await.unwrap().unwrap() else { panic!("no run") };
    assert_eq!((run.state, run.turns, run.proposals), (RunState::Succeeded, 2, 1));
    assert_eq!((proposals(&f).await.len(), model.received()), (1, 1));
    assert_eq!(memory_writer::status(&f.ledger, &f.member, AGENT).await.unwrap().lease, None);
    other.close().await;
    f.assert_verified().await;
    f.done().await;
}

async fn a_run_that_lost_its_lease_stops_waiting_and_writes_nothing(f: Fixture) {
    let Waiting { run, answer, model } = waiting(&f).await;
    let other = f.second_ledger(Mode::Tool).await;
    let terms = WriterTerms::default();
    // The server hangs: its lease runs out, and another server takes the agent.
    let again = loop {
        f.clock.advance(TimeDelta::hours(1));
        if let Some(again) = memory_writer::take(&other, tenant(&f), AGENT, &terms, None).await.unwrap() {
            break again;
        }
    };
    pass(&f, HOLD_EVERY_SECONDS).await;
    let lost = run.await.unwrap();
    assert!(matches!(lost, Err(Error::Unavailable(_))), "{lost:?}");
    assert!(proposals(&f).await.is_empty());
    assert_eq!(memory_writer::runs(&f.ledger, &f.member, AGENT).await.unwrap(), []);
    // The late answer reaches no one. The lease of the other server is untouched.
    answer.notify_one();
    assert!(lease(&f).await > again.began);
    let finished =
        Finished { run: again, changes: Vec::new(), policy: Policy::Review, usage: usage(), left_out: Vec::new() };
    memory_writer::finish(&other, tenant(&f), AGENT, finished).await.unwrap();
    memory_writer::release(&other, tenant(&f), AGENT).await.unwrap();
    assert!(take(&f, terms).await.is_none(), "every turn is read");
    assert_eq!(model.received(), 1);
    other.close().await;
    f.assert_verified().await;
    f.done().await;
}

#[tokio::test]
async fn a_slow_model_keeps_its_lease_until_it_answers_on_sqlite() {
    a_slow_model_keeps_its_lease_until_it_answers(Fixture::sqlite().await).await;
}

#[tokio::test]
async fn a_slow_model_keeps_its_lease_until_it_answers_on_postgresql() {
    a_slow_model_keeps_its_lease_until_it_answers(Fixture::postgres().await).await;
}

#[tokio::test]
async fn a_run_that_lost_its_lease_stops_waiting_and_writes_nothing_on_sqlite() {
    a_run_that_lost_its_lease_stops_waiting_and_writes_nothing(Fixture::sqlite().await).await;
}

#[tokio::test]
async fn a_run_that_lost_its_lease_stops_waiting_and_writes_nothing_on_postgresql() {
    a_run_that_lost_its_lease_stops_waiting_and_writes_nothing(Fixture::postgres().await).await;
}
