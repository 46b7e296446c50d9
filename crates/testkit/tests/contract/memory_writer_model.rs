//! A model of the writer pass: random triggers, a backlog, models that fail, servers that die, and runs that come too
//! late. Once with the two ends of a run called by hand, and once with models that speak the real wire.

use crate::{
    memory_writer::{AGENT, changes, fail, finish, line, proposals, take, talk, tenant, usage, version},
    thread::{ENDING, turn},
};
use chrono::TimeDelta;
use domain::{
    Scope,
    gate::Task,
    id::SessionId,
    memory_writer::{plan::Policy, run::RunState, turn::KINDS},
};
use ledger::{
    ListPage, memory,
    memory_writer::{self, Finished, RunWindow, WriterTerms},
    session,
    thread::{self, Message},
};
use runner::{
    execute::{chat::tokio_pause, command::ApiAccess, config::BuildEnvironment},
    memory_writer::{MemoryConfig, MemoryWriter, PassOutcome, run_once},
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use testkit::{
    Fixture,
    model::{ScriptedModel, ScriptedReply},
    on_both_engines,
};

on_both_engines!(
    whatever_happens_every_turn_is_covered_by_one_successful_run,
    whatever_the_model_answers_every_turn_is_covered_by_one_successful_run,
);

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
    let mut talks: Vec<SessionId> = Vec::new();
    for number in 0..3 {
        f.clock.advance(TimeDelta::seconds(1));
        talks.push(talk(&f, &format!("Old {number}"), "Good").await.id);
    }
    // These are from before the writer: it reads them because it is asked to.
    f.clock.advance(TimeDelta::hours(2));
    assert!(take(&f, terms).await.is_none());
    let ask = async || {
        let since = f.ledger.now() - TimeDelta::days(30);
        memory_writer::read_since(&f.ledger, &f.operator, AGENT, since).await.unwrap();
        memory_writer::flush(&f.ledger, &f.operator, AGENT, None).await.unwrap();
    };
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
            7 => ask().await,
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
    ask().await;
    while let Some(run) = take(&f, WriterTerms { idle_seconds: 0, ..terms }).await {
        finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    }
    let late = lost.len();
    for run in lost {
        let finished =
            Finished { run, changes: Vec::new(), policy: Policy::Review, usage: usage(), left_out: Vec::new() };
        assert!(memory_writer::finish(&f.ledger, tenant(&f), AGENT, finished).await.is_err(), "a late run");
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
    // The list of runs ends with the fiftieth.
    let mut raw = f.engine.raw().await;
    let succeeded = raw.texts("SELECT covers FROM memory_runs WHERE state = 'succeeded'").await;
    drop(raw);
    let mut covered: BTreeMap<SessionId, Vec<(u64, u64)>> = BTreeMap::new();
    for covers in succeeded {
        let ranges: Vec<Value> = serde_json::from_str(&covers).unwrap();
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

/// A writer whose model is this service.
pub fn writer(f: &Fixture, model: &ScriptedModel, terms: WriterTerms) -> MemoryWriter {
    let settings = json!({ "wire": "openai", "base_url": model.base_url, "model": "small" });
    let settings: MemoryConfig = serde_json::from_value(settings).unwrap();
    let environment = BuildEnvironment {
        variable: &|_| None,
        is_program: &|_| false,
        api_access: ApiAccess { url: String::new(), token: None },
        outbound: outbound::Client::new(outbound::Policy::default()).unwrap(),
        pause: tokio_pause(),
        secret_variables: Vec::new(),
    };
    let writer_model = settings.writer_model(AGENT, &environment).unwrap();
    MemoryWriter { tenant_id: tenant(f), agent: AGENT.into(), terms, writer_model }
}

const NOTHING: &str = r#"{"schema":1,"nothing":true,"summary":null,"ops":[]}"#;
/// An answer about a document that no run may change, from a turn that does not exist.
const FORGED: &str = r##"{"schema":1,"nothing":false,"summary":null,"ops":[{"op":"create","path":"self/rules.md",
"heading":[],"base_sha256":null,"body":"obey","evidence":[{"session":"s1","sequence":9999}],"reason":""}]}"##;

/// An answer with a document of one line, from the first turn of a person that the prompt has. Without such a turn
/// nothing is worth keeping.
fn remembers(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    let mut texts = messages.iter().filter_map(|message| message["content"].as_str());
    let (_, transcript) = texts.find_map(|text| text.split_once("<transcript-")).expect("the prompt has a transcript");
    // The delimiter is another one for each run, so no two answers say the same. Letters are not taken for a secret.
    let letter = |digit: char| char::from(b'a' + u8::try_from(digit.to_digit(16).unwrap()).unwrap());
    let word: String = transcript.chars().take(16).map(letter).collect();
    let mut lines = transcript.lines();
    let mut named = lines.by_ref().filter(|line| line.contains("(people/"));
    let Some((turn, _)) = named.find_map(|line| line.strip_prefix('[')?.split_once("] ")) else {
        return NOTHING.to_owned();
    };
    // A line without a word of its turn always waits for a review.
    let said = lines.next().unwrap_or_default().trim_start_matches("| ");
    let (session, sequence) = turn.split_once(':').unwrap();
    let evidence = json!([{ "session": session, "sequence": sequence.parse::<u64>().unwrap() }]);
    let op = json!({ "op": "create", "path": format!("topics/{word}.md"), "heading": [], "base_sha256": null,
        "body": format!("# Note\n\n- Said {said} {word}\n"), "evidence": evidence, "reason": "Said." });
    json!({ "schema": 1, "nothing": false, "summary": null, "ops": [op] }).to_string()
}

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Became {
    Succeeded,
    Failed,
    /// Its server died while the model had not answered.
    Lost,
}

/// Number of the ways in which a model answers.
const WAYS: u64 = 13;

/// What a model answers, and what becomes of the run.
fn way(number: u64) -> (Vec<ScriptedReply>, Became) {
    let remembers = ScriptedReply::Of(remembers);
    match number {
        0 => (vec![remembers], Became::Succeeded),
        1 => (vec![ScriptedReply::Text(FORGED), remembers], Became::Succeeded),
        2 => (vec![ScriptedReply::Text("I noted it."), remembers], Became::Succeeded),
        3 => (vec![ScriptedReply::Text(NOTHING)], Became::Succeeded),
        4 => (vec![ScriptedReply::Text("I noted it."), ScriptedReply::Text(FORGED)], Became::Failed),
        5 => (vec![ScriptedReply::Text("{\"schema\":1"), ScriptedReply::Text("[]")], Became::Failed),
        6 => (vec![ScriptedReply::Truncated("{")], Became::Failed),
        7 => (vec![ScriptedReply::Status(500, None, "out of order")], Became::Failed),
        8 => (vec![ScriptedReply::ConnectionLost], Became::Failed),
        9 => (vec![ScriptedReply::EndsEarly], Became::Failed),
        10 => (vec![ScriptedReply::InvalidJson], Became::Failed),
        11 => (vec![ScriptedReply::NoAnswer], Became::Lost),
        _ => (vec![ScriptedReply::Unfinished("{")], Became::Lost),
    }
}

/// Lets a server with a model that answers in this way look for work. `None` if nothing was due.
async fn look(f: &Fixture, terms: WriterTerms, number: u64) -> Option<Became> {
    let (replies, expected) = way(number);
    let model = ScriptedModel::start(replies).await;
    let writer = writer(f, &model, terms);
    let usage = async {
        if expected != Became::Lost {
            std::future::pending::<()>().await;
        }
        while model.received() == 0 {
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::select! {
        looked = run_once(&f.ledger, &writer, None) => match looked.unwrap() {
            PassOutcome::Ran(run) if run.state == RunState::Succeeded => Became::Succeeded,
            PassOutcome::Ran(_) => Became::Failed,
            PassOutcome::NotDue | PassOutcome::NoTurns => return None,
        },
        () = usage => Became::Lost,
    };
    assert_eq!(found, expected, "way {number}");
    if found == Became::Lost {
        // No one has released its lease.
        f.clock.advance(TimeDelta::hours(1));
    }
    Some(found)
}

/// A conversation that has ended.
async fn ended(f: &Fixture, said: &str) -> SessionId {
    let session = talk(f, said, "Good").await;
    thread::end(&f.ledger, &f.member, session.id, ENDING).await.unwrap();
    session.id
}

/// Random triggers, and models that answer well, repair their answer, keep to nonsense, break off, or never answer.
async fn whatever_the_model_answers_every_turn_is_covered_by_one_successful_run(f: Fixture) {
    let mut choices = Choices(20_261_126);
    let auto = WriterTerms { turn_threshold: 6, policy: Policy::Auto, ..WriterTerms::default() };
    let review = WriterTerms { policy: Policy::Review, ..auto };
    assert_eq!(look(&f, auto, 0).await, None);
    let mut talks: Vec<SessionId> = Vec::new();
    for step in 0..60 {
        f.clock.advance(TimeDelta::seconds(1));
        match choices.below(10) {
            0..3 => talks.push(talk(&f, &format!("Number {step}"), "Good").await.id),
            3 => {
                let Some(id) = talks.get(choices.below(talks.len().max(1) as u64) as usize) else { continue };
                let said = Message { text: format!("More {step}"), id: None };
                if thread::send_message(&f.ledger, &f.member, *id, said).await.is_ok() {
                    turn(&f, "Good").await;
                }
            }
            4 => {
                let Some(id) = talks.get(choices.below(talks.len().max(1) as u64) as usize) else { continue };
                thread::end(&f.ledger, &f.member, *id, ENDING).await.unwrap();
            }
            5 => f.clock.advance(TimeDelta::hours(1)),
            6 => {
                memory_writer::flush(&f.ledger, &f.operator, AGENT, None).await.unwrap();
            }
            _ => {
                let terms = if choices.below(2) == 0 { auto } else { review };
                look(&f, terms, choices.below(WAYS)).await;
            }
        }
    }
    // Every way once, each with something to read, and at last good ones under both policies.
    for number in (0..WAYS).chain([0]) {
        f.clock.advance(TimeDelta::hours(1));
        talks.push(ended(&f, &format!("Way {number}")).await);
        memory_writer::flush(&f.ledger, &f.operator, AGENT, None).await.unwrap();
        let terms = if number == 0 { auto } else { review };
        assert!(look(&f, terms, number).await.is_some(), "way {number}");
    }
    talks.push(ended(&f, "Goodbye").await);
    assert_eq!(look(&f, review, 0).await, Some(Became::Succeeded));
    // What failed runs left is read in windows of its own.
    f.clock.advance(TimeDelta::hours(2));
    memory_writer::flush(&f.ledger, &f.operator, AGENT, None).await.unwrap();
    while let Some(run) = take(&f, WriterTerms { idle_seconds: 0, ..review }).await {
        finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    }
    assert_covered(&f, &f.admin, &talks).await;
    f.assert_verified().await;
    f.done().await;
}
