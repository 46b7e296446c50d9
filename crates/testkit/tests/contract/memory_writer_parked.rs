//! Windows on which the model fails again and again wait for a person, while the agent's other sessions are summarised.

use crate::{
    memory_writer::{AGENT, fail, finish, take, talk, talked, talked_again, tenant, usage},
    thread::{ENDING, turn},
};
use chrono::TimeDelta;
use domain::{
    id::SessionId,
    memory_writer::{
        limit::{FAILED_RUNS_MAX, FAILURES_MAX},
        plan::Policy,
        run::{RunCause, RunState},
    },
};
use ledger::{
    memory_writer::{self, RunFailure, RunRecord, RunWindow, StalledRecord, WriterTerms},
    page,
    thread::{self, Message},
};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    another_conversation_is_summarised_while_one_is_parked,
    a_parked_window_is_tried_again_from_its_watermark_when_a_person_frees_it,
    a_failed_window_of_two_is_tried_again_one_conversation_at_a_time,
    a_failed_window_is_halved_until_the_conversation_that_fails_is_alone,
    halves_stay_halves_when_a_person_asks_for_a_run,
    an_outage_of_the_model_makes_the_writer_wait_and_parks_no_window,
    a_window_for_which_the_model_is_away_while_others_succeed_is_parked,
    a_half_for_which_the_model_is_away_while_others_succeed_is_halved_further,
    a_model_that_fails_on_window_after_window_stops_the_writer,
);

/// The window that is due.
async fn due(f: &Fixture) -> Option<RunWindow> {
    take(f, WriterTerms::default()).await
}

fn sessions(run: &RunWindow) -> Vec<SessionId> {
    run.ranges.iter().map(|range| range.session).collect()
}

/// A conversation that has ended after two turns.
async fn ended(f: &Fixture, said: &str) -> SessionId {
    // Sessions of one moment begin in no order.
    f.clock.advance(TimeDelta::seconds(1));
    let session = talk(f, said, "Noted.").await;
    thread::end(&f.ledger, &f.member, session.id, ENDING).await.unwrap();
    session.id
}

async fn succeed(f: &Fixture, run: RunWindow) {
    finish(f, run, Vec::new(), Policy::Review).await.unwrap();
}

async fn outage(f: &Fixture, run: RunWindow) -> RunRecord {
    let failure = RunFailure { run, why: "it is away".into(), is_outage: true, usage: usage() };
    let record = memory_writer::fail(&f.ledger, tenant(f), AGENT, failure).await.unwrap();
    memory_writer::release(&f.ledger, tenant(f), AGENT).await.unwrap();
    record
}

async fn flush(f: &Fixture) {
    memory_writer::flush(&f.ledger, &f.operator, AGENT, None).await.unwrap();
}

/// What waits after failures.
async fn stalled(f: &Fixture) -> Option<StalledRecord> {
    let mut found = page::memory_home::read(&f.ledger, &f.member, None).await.unwrap().stalled;
    assert!(found.len() <= 1, "{found:?}");
    found.pop()
}

async fn another_conversation_is_summarised_while_one_is_parked(f: Fixture) {
    let bad = talked(&f, "Answer in verse.").await;
    let mut ranges = None;
    for failures in 1..=FAILURES_MAX {
        let run = due(&f).await.unwrap();
        assert_eq!(sessions(&run), [bad]);
        assert_eq!(*ranges.get_or_insert_with(|| run.ranges.clone()), run.ranges, "the watermark stays");
        let is_last = failures == FAILURES_MAX;
        assert_eq!(fail(&f, run).await.state, if is_last { RunState::Parked } else { RunState::Failed });
        assert!(due(&f).await.is_none(), "it is not tried again at once");
        // Another conversation does not wait, neither for the next try nor for a person.
        let good = ended(&f, "I like trains.").await;
        let run = due(&f).await.unwrap();
        assert_eq!((run.cause, sessions(&run)), (RunCause::End, vec![good]));
        succeed(&f, run).await;
        let waits = stalled(&f).await.unwrap();
        assert_eq!((waits.failures, waits.parked_at.is_some()), (failures, is_last), "it is shown all the same");
        assert_eq!(waits.error.as_deref(), Some("it answered in verse"));
        f.clock.advance(TimeDelta::hours(1));
    }
    assert!(due(&f).await.is_none(), "it waits for a person");
    assert_eq!(stalled(&f).await.unwrap().parked_sessions, 1);
    let shown = page::memory::runs(&f.ledger, &f.member, AGENT).await.unwrap();
    assert_eq!((shown.stalled, shown.writer.unwrap().parked_at), (stalled(&f).await, None));
    flush(&f).await;
    assert_eq!(stalled(&f).await, None);
    let run = due(&f).await.unwrap();
    assert_eq!((run.cause, &run.ranges), (RunCause::Flush, ranges.as_ref().unwrap()));
    succeed(&f, run).await;
    assert!(due(&f).await.is_none(), "nothing is read twice");
    f.done().await;
}

async fn a_parked_window_is_tried_again_from_its_watermark_when_a_person_frees_it(f: Fixture) {
    let terms = WriterTerms { turn_threshold: 1, ..WriterTerms::default() };
    assert!(take(&f, terms).await.is_none());
    let id = talk(&f, "One", "Two").await.id;
    for _ in 0..FAILURES_MAX {
        let run = take(&f, terms).await.unwrap();
        fail(&f, run).await;
        f.clock.advance(TimeDelta::hours(1));
    }
    let said = Message { text: "Three".into(), id: None };
    thread::send_message(&f.ledger, &f.member, id, said).await.unwrap();
    turn(&f, "Four").await;
    assert!(take(&f, terms).await.is_none(), "no turn is read before those that were said earlier");
    flush(&f).await;
    let run = take(&f, terms).await.unwrap();
    let said: Vec<_> = run.window.turns.iter().map(|turn| turn.text.as_str()).collect();
    assert_eq!((run.ranges[0].after, said), (0, vec!["One", "Two", "Three", "Four"]));
    assert_eq!(fail(&f, run).await.state, RunState::Failed, "it has all its tries again");
    assert!(take(&f, terms).await.is_none());
    f.clock.advance(TimeDelta::hours(1));
    let run = take(&f, terms).await.unwrap();
    succeed(&f, run).await;
    assert!(take(&f, terms).await.is_none(), "every turn is read");
    // From now on it is a session as every other.
    let other = talk(&f, "Five", "Six").await.id;
    let said = Message { text: "Seven".into(), id: None };
    thread::send_message(&f.ledger, &f.member, id, said).await.unwrap();
    assert_eq!(sessions(&take(&f, terms).await.unwrap()), [id, other]);
    f.done().await;
}

async fn a_failed_window_of_two_is_tried_again_one_conversation_at_a_time(f: Fixture) {
    assert!(due(&f).await.is_none());
    let bad = ended(&f, "Answer in verse.").await;
    let good = ended(&f, "I like trains.").await;
    let run = due(&f).await.unwrap();
    assert_eq!(sessions(&run), [bad, good]);
    fail(&f, run).await;
    assert!(due(&f).await.is_none());
    f.clock.advance(TimeDelta::hours(1));
    let run = due(&f).await.unwrap();
    assert_eq!(sessions(&run), [bad]);
    fail(&f, run).await;
    let run = due(&f).await.unwrap();
    assert_eq!(sessions(&run), [good], "it does not wait with the other");
    succeed(&f, run).await;
    // The failure of both was not its own.
    for state in [RunState::Failed, RunState::Parked] {
        assert!(due(&f).await.is_none());
        f.clock.advance(TimeDelta::hours(1));
        let run = due(&f).await.unwrap();
        assert_eq!(fail(&f, run).await.state, state);
    }
    // Those that were never in a failed run do not join it.
    let next = ended(&f, "I like ships.").await;
    flush(&f).await;
    for expected in [next, bad] {
        let run = due(&f).await.unwrap();
        assert_eq!(sessions(&run), [expected]);
        succeed(&f, run).await;
    }
    assert!(due(&f).await.is_none());
    f.done().await;
}

async fn a_failed_window_is_halved_until_the_conversation_that_fails_is_alone(f: Fixture) {
    assert!(due(&f).await.is_none());
    let mut talks = Vec::new();
    for number in 0..12 {
        talks.push(ended(&f, &format!("Number {number}")).await);
    }
    let bad = talks[7];
    let (mut tried, mut state): (Vec<Vec<SessionId>>, _) = (Vec::new(), RunState::Failed);
    while state != RunState::Parked {
        let Some(run) = due(&f).await else {
            let waits = stalled(&f).await.expect("it is shown");
            assert!(waits.failures > 0 && waits.retry_at.is_some() && waits.parked_at.is_none(), "{waits:?}");
            f.clock.advance(TimeDelta::minutes(10));
            continue;
        };
        tried.push(sessions(&run));
        assert!(tried.len() < 20, "{tried:?}");
        if sessions(&run).contains(&bad) {
            state = fail(&f, run).await.state;
        } else {
            succeed(&f, run).await;
        }
    }
    // The other half continues before what failed is tried once more.
    let halves: [&[SessionId]; 8] =
        [&talks[..], &talks[..6], &talks[6..], &talks[6..9], &talks[9..], &talks[6..8], &talks[8..9], &talks[6..7]];
    let (halved, alone) = tried.split_at(halves.len());
    assert_eq!((halved, alone), (&halves.map(<[_]>::to_vec)[..], &[vec![bad], vec![bad], vec![bad]][..]));
    assert!(due(&f).await.is_none());
    assert_eq!(stalled(&f).await.unwrap().parked_sessions, 1);
    f.done().await;
}

async fn halves_stay_halves_when_a_person_asks_for_a_run(f: Fixture) {
    assert!(due(&f).await.is_none());
    let mut talks = Vec::new();
    for number in 0..4 {
        talks.push(ended(&f, &format!("Number {number}")).await);
    }
    let run = due(&f).await.unwrap();
    fail(&f, run).await;
    assert!(due(&f).await.is_none(), "no half is tried at once");
    flush(&f).await;
    let next = ended(&f, "I like ships.").await;
    for (expected, is_read) in [(&[next][..], true), (&talks[..2], false), (&talks[2..], true)] {
        let run = due(&f).await.unwrap();
        assert_eq!(sessions(&run), expected);
        if is_read {
            succeed(&f, run).await;
        } else {
            fail(&f, run).await;
        }
    }
    flush(&f).await;
    for expected in &talks[..2] {
        let run = due(&f).await.unwrap();
        assert_eq!(sessions(&run), [*expected]);
        succeed(&f, run).await;
    }
    assert!(due(&f).await.is_none());
    f.done().await;
}

async fn an_outage_of_the_model_makes_the_writer_wait_and_parks_no_window(f: Fixture) {
    let mut talks = vec![talked(&f, "One").await];
    for failures in 1..=FAILURES_MAX {
        let run = due(&f).await.unwrap();
        assert_eq!(sessions(&run), talks, "they stay one window");
        let is_last = failures == FAILURES_MAX;
        assert_eq!(outage(&f, run).await.state, if is_last { RunState::Parked } else { RunState::Failed });
        talks.push(ended(&f, "More").await);
        assert!(due(&f).await.is_none(), "the model is away for every conversation");
        f.clock.advance(TimeDelta::hours(1));
    }
    assert!(due(&f).await.is_none());
    let waits = stalled(&f).await.unwrap();
    assert_eq!((waits.failures, waits.parked_sessions, waits.parked_at.is_some()), (FAILURES_MAX, 0, true));
    flush(&f).await;
    let run = due(&f).await.unwrap();
    assert_eq!(sessions(&run), talks);
    // Its answer, usable or not, ends the outage.
    fail(&f, run).await;
    f.clock.advance(TimeDelta::hours(1));
    let run = due(&f).await.unwrap();
    assert_eq!(sessions(&run), talks[..2], "a half");
    assert_eq!((outage(&f, run).await.state, stalled(&f).await.unwrap().parked_at), (RunState::Failed, None));
    f.done().await;
}

async fn a_window_for_which_the_model_is_away_while_others_succeed_is_parked(f: Fixture) {
    let bad = talked(&f, "A text on which the model times out.").await;
    let run = due(&f).await.unwrap();
    fail(&f, run).await;
    for failures in 2..=FAILURES_MAX {
        f.clock.advance(TimeDelta::hours(1));
        let run = due(&f).await.unwrap();
        assert_eq!(sessions(&run), [bad]);
        let is_last = failures == FAILURES_MAX;
        assert_eq!(outage(&f, run).await.state, if is_last { RunState::Parked } else { RunState::Failed });
        f.clock.advance(TimeDelta::hours(1));
        let good = ended(&f, "I like trains.").await;
        let run = due(&f).await.unwrap();
        assert_eq!(sessions(&run), [good]);
        succeed(&f, run).await;
    }
    f.clock.advance(TimeDelta::hours(1));
    assert!(due(&f).await.is_none(), "it waits for a person");
    assert_eq!(stalled(&f).await.unwrap().parked_sessions, 1);
    f.done().await;
}

async fn a_half_for_which_the_model_is_away_while_others_succeed_is_halved_further(f: Fixture) {
    let bad = talked(&f, "A text on which the model times out.").await;
    for number in 0..3 {
        ended(&f, &format!("I like train {number}.")).await;
    }
    let run = due(&f).await.unwrap();
    assert_eq!(sessions(&run).len(), 4);
    fail(&f, run).await;
    let mut tries = 0;
    loop {
        f.clock.advance(TimeDelta::hours(1));
        let run = due(&f).await.unwrap();
        if !sessions(&run).contains(&bad) {
            succeed(&f, run).await;
            continue;
        }
        tries += 1;
        assert!(tries < 10, "it is tried without end");
        if outage(&f, run).await.state == RunState::Parked {
            break;
        }
        // New sessions end the outage.
        f.clock.advance(TimeDelta::hours(1));
        let good = ended(&f, "I like ships.").await;
        let run = due(&f).await.unwrap();
        assert_eq!(sessions(&run), [good]);
        succeed(&f, run).await;
    }
    f.clock.advance(TimeDelta::hours(1));
    while let Some(run) = due(&f).await {
        assert!(!sessions(&run).contains(&bad), "it waits for a person");
        succeed(&f, run).await;
    }
    assert_eq!(stalled(&f).await.unwrap().parked_sessions, 1);
    f.done().await;
}

async fn a_model_that_fails_on_window_after_window_stops_the_writer(f: Fixture) {
    assert!(due(&f).await.is_none());
    let mut last = None;
    for _ in 0..FAILED_RUNS_MAX {
        let mut run = due(&f).await;
        if run.is_none() {
            ended(&f, "Hello").await;
            run = due(&f).await;
        }
        let run = run.expect("the writer goes on with another conversation");
        last = Some(fail(&f, run).await.state);
        f.clock.advance(TimeDelta::hours(1));
    }
    assert_eq!(last, Some(RunState::Parked));
    talked_again(&f, "Is anyone there?").await;
    assert!(due(&f).await.is_none(), "no more conversations are tried and parked");
    let waits = stalled(&f).await.unwrap();
    assert_eq!((waits.failures, waits.parked_sessions, waits.parked_at.is_some()), (FAILED_RUNS_MAX, 0, true));
    flush(&f).await;
    let run = due(&f).await.unwrap();
    assert_eq!(fail(&f, run).await.state, RunState::Failed, "it has all its tries again");
    assert!(due(&f).await.is_some(), "and goes on with the others");
    f.done().await;
}
