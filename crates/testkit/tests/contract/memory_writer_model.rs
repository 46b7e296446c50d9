//! A model of the writer pass: random triggers, models that fail, servers that die, and runs that come too late.

use crate::{
    memory_writer::{AGENT, asked, changes, fail, finish, line, proposals, take, talk, tenant, version},
    thread::{ENDING, turn},
};
use chrono::TimeDelta;
use domain::{
    Scope,
    gate::Task,
    id::SessionId,
    memory_write::{plan::Policy, turn::KINDS},
};
use ledger::{
    ListPage, memory,
    memory_write::{self, Finished, RunState, RunWindow, WriterTerms},
    session,
    thread::{self, Message},
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use testkit::{Fixture, on_both_engines};

on_both_engines!(whatever_happens_every_turn_is_covered_by_one_successful_run);

/// A reproducible source of choices.
struct Choices(u64);

impl Choices {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Random triggers, models that fail, servers that die in the middle of a run, and runs that come too late.
async fn whatever_happens_every_turn_is_covered_by_one_successful_run(f: Fixture) {
    let mut choices = Choices(20_261_125);
    let terms = WriterTerms { turn_threshold: 6, ..WriterTerms::default() };
    assert!(take(&f, terms).await.is_none());
    let mut talks: Vec<SessionId> = Vec::new();
    let mut lost: Vec<RunWindow> = Vec::new();
    for step in 0..120 {
        f.clock.advance(TimeDelta::seconds(1));
        match choices.below(10) {
            0..3 => talks.push(talk(&f, &format!("Number {step}"), "Good").await.id),
            3..5 => {
                let Some(id) = talks.get(choices.below(talks.len().max(1) as u64) as usize) else { continue };
                let said = Message { text: format!("More {step}"), id: None };
                if thread::send_message(&f.ledger, &f.member, *id, said).await.is_ok() {
                    turn(&f, "Good").await;
                }
            }
            5 => {
                let Some(id) = talks.get(choices.below(talks.len().max(1) as u64) as usize) else { continue };
                thread::end(&f.ledger, &f.member, *id, ENDING).await.unwrap();
            }
            6 => f.clock.advance(TimeDelta::hours(1)),
            7 => {
                memory_write::flush(&f.ledger, &f.operator, AGENT, None).await.unwrap();
            }
            _ => {
                let Some(run) = take(&f, terms).await else { continue };
                match choices.below(3) {
                    0 => drop(fail(&f, run).await),
                    // The server dies: nothing is released, and what it had is written too late.
                    1 => lost.push(run),
                    _ => {
                        let ops = match own(&run) {
                            true => json!([line(&run, &format!("Said number {step}"))]),
                            false => json!([]),
                        };
                        let changes = changes(&run, ops, Value::Null);
                        let policy = if choices.below(2) == 0 { Policy::Auto } else { Policy::Review };
                        finish(&f, run, changes, policy).await.unwrap();
                    }
                }
            }
        }
    }
    f.clock.advance(TimeDelta::hours(2));
    memory_write::flush(&f.ledger, &f.operator, AGENT, None).await.unwrap();
    while let Some(run) = take(&f, WriterTerms { idle_seconds: 0, ..terms }).await {
        finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    }
    let late = lost.len();
    for run in lost {
        let finished = Finished { run, changes: Vec::new(), policy: Policy::Review, asked: asked() };
        assert!(memory_write::finish(&f.ledger, tenant(&f), AGENT, finished).await.is_err(), "a late run");
    }
    assert!(late > 0 && talks.len() > 3, "the seed tries everything");
    assert_covered(&f, &f.admin, &talks).await;
    f.assert_verified().await;
    f.done().await;
}

fn own(run: &RunWindow) -> bool {
    !run.window.people.is_empty() && run.window.turns.iter().any(|turn| turn.speaker.is_some())
}

/// Checks that the successful runs cover the log of each session once and without a gap, and that the origin of every
/// version exists.
async fn assert_covered(f: &Fixture, scope: &Scope, talks: &[SessionId]) {
    let runs = memory_write::runs(&f.ledger, scope, AGENT).await.unwrap();
    let mut covered: BTreeMap<SessionId, Vec<(u64, u64)>> = BTreeMap::new();
    for run in runs.iter().rev().filter(|run| run.state == RunState::Succeeded) {
        let ranges: Vec<Value> = serde_json::from_str(&run.window).unwrap();
        for range in ranges {
            let session = range["session"].as_str().unwrap().parse().unwrap();
            let ends = (range["after"].as_u64().unwrap(), range["upto"].as_u64().unwrap());
            covered.entry(session).or_default().push(ends);
        }
    }
    for id in talks {
        let session = session::get(&f.ledger, scope, *id).await.unwrap();
        let turns = |event: &&domain::event::Event| KINDS.contains(&event.kind.as_str());
        let log = f.log(*id).await;
        for event in log.iter().filter(turns) {
            let by = covered.get(id).into_iter().flatten();
            let times = by.filter(|(after, upto)| (*after + 1..=*upto).contains(&event.sequence)).count();
            assert_eq!(times, 1, "turn {} of {}", event.sequence, session.id);
        }
    }
    assert_resolves(f, scope, &covered).await;
}

/// Checks that what the writer wrote and proposes has an origin, that the origin is a turn in the log of its session,
/// and that a successful run has read that turn.
async fn assert_resolves(f: &Fixture, scope: &Scope, covered: &BTreeMap<SessionId, Vec<(u64, u64)>>) {
    let mut origins: BTreeSet<(SessionId, u64)> = BTreeSet::new();
    let audit = memory::audit(&f.ledger, scope, AGENT, ListPage::default()).await.unwrap().items;
    assert!(!audit.is_empty(), "the seed writes documents");
    for listed in audit.iter().filter(|version| version.source.as_str() == "memory_writer") {
        let written = version(f, &listed.path, listed.version).await;
        assert!(!written.evidence.is_empty());
        origins.extend(written.evidence.iter().map(|one| (one.session, one.sequence)));
    }
    let waiting = proposals(f).await;
    assert!(!waiting.is_empty(), "the seed proposes changes");
    for item in waiting {
        let Task::Memory(proposal) = &item.gate.task else { panic!("{:?}", item.gate.task) };
        assert!(!proposal.evidence.is_empty() && !proposal.turns.is_empty());
        origins.extend(proposal.evidence.iter().map(|one| (one.session, one.sequence)));
        origins.extend(proposal.turns.iter().map(|one| (one.session, one.sequence)));
    }
    for (session, sequence) in origins {
        let log = f.log(session).await;
        let event = log.iter().find(|event| event.sequence == sequence).expect("the event exists");
        assert!(KINDS.contains(&event.kind.as_str()), "{session} {sequence} is a {}", event.kind);
        let read = covered[&session].iter().any(|(after, upto)| (*after + 1..=*upto).contains(&sequence));
        assert!(read, "no run has read {session} {sequence}");
    }
}
