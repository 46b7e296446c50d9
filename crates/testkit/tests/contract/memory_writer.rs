//! The writer pass: from the turns of conversations over reviewed proposals to what the next conversation begins with.

use crate::{
    gate::{open, says},
    thread::{ENDING, turn},
};
use chrono::TimeDelta;
use domain::{
    gate::{GateKind, GateState, Task, Verdict},
    id::{SessionId, TenantId},
    memory_writer::{
        answer::parse,
        check::check,
        dedupe::dedupe,
        limit::FAILURES_MAX,
        plan::{Change, Policy, plan},
        run::{RunCause, RunState},
    },
    session::{Session, Status},
};
use ledger::{
    Error,
    gate::{self, GateItem, NewDecision},
    memory,
    memory_writer::{self, Finished, ModelUsage, RunFailure, RunRecord, RunWindow, WriterTerms},
    session::{self, Claim},
    thread::{self, Message, NewThread},
};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    what_a_conversation_taught_is_reviewed_and_begins_the_next_one,
    a_denied_line_is_not_proposed_again_and_a_waiting_one_not_twice,
    a_proposal_joins_a_document_that_moved_and_a_conflict_waits_again,
    additions_of_people_are_written_at_once_where_the_policy_allows_it,
    an_incognito_conversation_is_never_read,
    runs_of_an_agent_are_exclusive_and_a_late_one_writes_nothing,
    a_window_that_fails_is_tried_again_then_parked_and_a_flush_frees_it,
    what_starts_a_run_is_an_end_a_number_of_turns_silence_or_a_request,
    the_budget_of_a_day_ends_with_the_day,
    a_topic_that_a_long_conversation_names_last_is_shown,
    a_contradiction_waits_with_the_days_of_both_lines,
);

pub const AGENT: &str = "scout";

pub fn tenant(f: &Fixture) -> TenantId {
    f.admin.tenant_id
}

pub async fn take(f: &Fixture, terms: WriterTerms) -> Option<RunWindow> {
    memory_writer::take(&f.ledger, tenant(f), AGENT, &terms, None).await.unwrap()
}

/// The path of the member's document, as in the prompt.
pub fn own_path(run: &RunWindow) -> String {
    run.window.people.iter().next().unwrap().clone()
}

/// An answer of the model that makes the member's document, or adds to it, with one line of one turn.
pub fn line(run: &RunWindow, line: &str) -> Value {
    let path = own_path(run);
    let shown = &run.window.prompt_documents[&path];
    let turn = run.window.turns.iter().find(|turn| turn.speaker.is_some()).unwrap();
    let evidence = json!([{ "session": "s1", "sequence": turn.at.sequence }]);
    if shown.version == 0 {
        let body = format!("# Mia\n\n## Notes\n\n- {line}\n");
        return json!({ "op": "create", "path": path, "heading": [], "base_sha256": null, "body": body,
            "evidence": evidence, "reason": "She said so." });
    }
    json!({ "op": "append_section", "path": path, "heading": ["Notes"], "base_sha256": shown.sha256,
        "body": format!("- {line}"), "evidence": evidence, "reason": "She said so." })
}

pub fn changes(run: &RunWindow, ops: Value, summary: Value) -> Vec<Change> {
    let nothing = ops.as_array().is_some_and(Vec::is_empty) && summary.is_null();
    let answer = json!({ "schema": 1, "nothing": nothing, "summary": summary, "ops": ops });
    let answer = parse(&answer.to_string()).unwrap();
    let checked = check(answer, &run.window).unwrap();
    let (checked, _) = dedupe(checked, &run.window, &run.known);
    let (changes, impossible) = plan(&checked, &run.window);
    assert_eq!(impossible, []);
    changes
}

pub fn usage() -> ModelUsage {
    ModelUsage { model: "small".into(), input_tokens: 100, output_tokens: 20, ..ModelUsage::default() }
}

pub async fn finish(f: &Fixture, run: RunWindow, changes: Vec<Change>, policy: Policy) -> ledger::Result<RunRecord> {
    let finished = Finished { run, changes, policy, usage: usage(), left_out: Vec::new() };
    let record = memory_writer::finish(&f.ledger, tenant(f), AGENT, finished).await;
    memory_writer::release(&f.ledger, tenant(f), AGENT).await.unwrap();
    record
}

pub async fn fail(f: &Fixture, run: RunWindow) -> RunRecord {
    let failure = RunFailure { run, why: "it answered in verse".into(), is_outage: false, usage: usage() };
    let record = memory_writer::fail(&f.ledger, tenant(f), AGENT, failure).await.unwrap();
    memory_writer::release(&f.ledger, tenant(f), AGENT).await.unwrap();
    record
}

/// A conversation of the member with one turn.
pub async fn talk(f: &Fixture, said: &str, reply: &str) -> Session {
    let new = NewThread { agent: AGENT.into(), message: Some(said.into()), ..NewThread::default() };
    thread::start(&f.ledger, &f.member, new).await.unwrap();
    turn(f, reply).await
}

pub async fn talked(f: &Fixture, said: &str) -> SessionId {
    // The writer begins with sessions that start after it was set up.
    assert_eq!(take(f, WriterTerms::default()).await.map(|run| run.ranges), None);
    let session = talk(f, said, "Noted.").await;
    thread::end(&f.ledger, &f.member, session.id, ENDING).await.unwrap();
    session.id
}

pub async fn proposals(f: &Fixture) -> Vec<GateItem> {
    let mut open = open(f, &f.admin, true).await;
    open.retain(|item| item.gate.kind == GateKind::Memory);
    open.sort_by_key(|item| item.gate.title.clone());
    open
}

pub async fn settle(f: &Fixture) -> gate::Swept {
    f.clock.advance(TimeDelta::minutes(5));
    gate::sweep(&f.ledger).await.unwrap()
}

fn path(text: &str) -> domain::memory::MemoryPath {
    domain::memory::MemoryPath::parse(text).unwrap()
}

async fn read(f: &Fixture, at: &str) -> ledger::Result<memory::MemoryText> {
    memory::read(&f.ledger, &f.member, AGENT, path(at)).await
}

pub async fn version(f: &Fixture, at: &str, version: u64) -> ledger::MemoryVersionRecord {
    memory::read_version(&f.ledger, &f.member, AGENT, path(at), version).await.unwrap().version
}

async fn a_topic_that_a_long_conversation_names_last_is_shown(f: Fixture) {
    let write = memory::Write { text: "# Launch\n\n- Planned\n".into(), ..memory::Write::default() };
    memory::write(&f.ledger, &f.operator, AGENT, path("topics/launch.md"), write).await.unwrap();
    let filler: String = (100..500).map(|number| format!("word{number} ")).collect();
    talked(&f, &format!("{filler}launch")).await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert!(run.window.prompt_documents.contains_key("topics/launch.md"), "{:?}", run.window.prompt_documents.keys());
    f.done().await;
}

async fn what_a_conversation_taught_is_reviewed_and_begins_the_next_one(f: Fixture) {
    let id = talked(&f, "Remember that I moved to Oslo. My key is sk-ant-api03-abcdefghij.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert_eq!((run.cause, run.window.turns.len()), (RunCause::End, 2));
    assert_eq!(run.window.turns[0].speaker.as_ref().unwrap().name, "mia@acme.test");
    let own = own_path(&run);
    let evidence = json!([{ "session": "s1", "sequence": run.window.turns[0].at.sequence }]);
    let summary = json!({ "title": "A move", "body": "Mia moved.", "evidence": evidence });
    let topic = json!({ "op": "create", "path": "topics/oslo.md", "heading": [], "base_sha256": null,
        "body": "# Oslo\n\n- Mia lives in Oslo since November\n", "evidence": evidence, "reason": "" });
    let changes = changes(&run, json!([line(&run, "Moved to Oslo"), topic]), summary);
    let record = finish(&f, run, changes, Policy::Review).await.unwrap();
    assert_eq!((record.state, record.turns, record.proposals, record.written), (RunState::Succeeded, 2, 3, 0));
    assert_eq!(take(&f, WriterTerms::default()).await.map(|run| run.ranges), None, "nothing is read twice");

    let items = proposals(&f).await;
    let titles: Vec<_> = items.iter().map(|item| item.gate.title.as_str()).collect();
    assert_eq!(titles.len(), 3, "{titles:?}");
    let Task::Memory(proposal) = &items[0].gate.task else { panic!("{:?}", items[0].gate.task) };
    assert_eq!(proposal.path, own);
    assert!(proposal.evidence.iter().all(|one| one.session == id && one.sequence == 2));
    // Two are approved, one is edited.
    let edit = json!({ "body": "# A move\r\n\r\nMia moved to Oslo.\r\n" });
    for (item, decision) in items.iter().zip([
        says(Verdict::Approve),
        NewDecision { value: Some(edit), ..says(Verdict::Edit) },
        says(Verdict::Approve),
    ]) {
        gate::decide(&f.ledger, &f.operator, item.gate.id, decision).await.unwrap();
    }
    assert!(matches!(read(&f, &own).await, Err(Error::NotFound(_))), "it can still be undone");
    assert_eq!(settle(&f).await.settled, 3);
    assert!(read(&f, &own).await.unwrap().text.contains("- Moved to Oslo"));
    let summary = items[1].gate.title.strip_prefix("Memory: ").unwrap();
    assert_eq!(read(&f, summary).await.unwrap().text, "# A move\n\nMia moved to Oslo.\n");
    let written = version(&f, &own, 1).await;
    assert_eq!(written.source.as_str(), "memory_writer");
    assert!(written.author.starts_with("user:") && !written.evidence.is_empty());
    for item in &items {
        let session = session::get(&f.ledger, &f.admin, item.gate.session_id).await.unwrap();
        assert_eq!(session.status(), Status::Completed);
    }

    let new = NewThread { agent: AGENT.into(), message: Some("Where do I live?".into()), ..NewThread::default() };
    let next = thread::start(&f.ledger, &f.member, new).await.unwrap().session;
    let claim = Claim { agent_slugs: None, max: 1, lease_seconds: 60 };
    let claimed = session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await.unwrap().remove(0);
    let context = claimed.context.unwrap();
    assert!(context.starts_with("<memory untrusted=\"true\">") && context.contains("- Moved to Oslo"), "{context}");
    let log = f.log(next.id).await;
    let injected = log.iter().find(|event| event.kind == "session.context_injected").unwrap();
    let metadata: Value = serde_json::from_str(&injected.metadata).unwrap();
    assert_eq!((&metadata["context"], &metadata["ranker"]), (&json!("memory"), &json!("formula-1")));
    let first = &metadata["candidates"][0];
    assert_eq!((&first["samePerson"], &first["slot"], &first["rank"]), (&json!(true), &json!(1), &json!(1)));
    assert!(context.contains(first["id"].as_str().unwrap()));
    // What the agent was given is nothing new, whatever it repeats of it.
    turn_of(&f, &claimed.session, "You moved to Oslo.").await;
    thread::end(&f.ledger, &f.member, next.id, ENDING).await.unwrap();
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert!(run.known.injected.contains("moved to oslo"), "{:?}", run.known.injected);
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    f.assert_verified().await;
    f.done().await;
}

/// Ends a claimed turn with a reply.
pub async fn turn_of(f: &Fixture, session: &Session, reply: &str) {
    f.append(session.id, session.attempt, vec![testkit::text(reply)]).await.unwrap();
    let rest = session::YieldRequest::at(session.attempt, domain::session::YieldTo::Idle);
    session::yield_to(&f.ledger, &f.worker, session.id, rest).await.unwrap();
}

async fn a_denied_line_is_not_proposed_again_and_a_waiting_one_not_twice(f: Fixture) {
    talked(&f, "I like trains.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let first = changes(&run, json!([line(&run, "Likes trains")]), Value::Null);
    finish(&f, run, first, Policy::Review).await.unwrap();

    talked_again(&f, "I really like trains.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert_eq!(changes(&run, json!([line(&run, "likes trains!")]), Value::Null), [], "it waits already");
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();

    let item = proposals(&f).await.remove(0);
    let bare = NewDecision { note: None, ..says(Verdict::Deny) };
    let refused = gate::decide(&f.ledger, &f.operator, item.gate.id, bare).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    gate::decide(&f.ledger, &f.operator, item.gate.id, says(Verdict::Deny)).await.unwrap();
    settle(&f).await;
    let session = session::get(&f.ledger, &f.admin, item.gate.session_id).await.unwrap();
    assert_eq!(session.status(), Status::Completed, "a denial is no failure");

    talked_again(&f, "Trains!").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert_eq!(changes(&run, json!([line(&run, "Likes trains")]), Value::Null), [], "it was denied");
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    f.assert_verified().await;
    f.done().await;
}

pub async fn talked_again(f: &Fixture, said: &str) {
    let session = talk(f, said, "Good.").await;
    thread::end(&f.ledger, &f.member, session.id, ENDING).await.unwrap();
}

/// Makes the member's document through a reviewed proposal. Returns its path.
async fn remembered(f: &Fixture) -> String {
    talked(f, "I like trains.").await;
    let run = take(f, WriterTerms::default()).await.unwrap();
    let own = own_path(&run);
    let first = changes(&run, json!([line(&run, "Likes trains")]), Value::Null);
    finish(f, run, first, Policy::Review).await.unwrap();
    let item = proposals(f).await.remove(0);
    gate::decide(&f.ledger, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    settle(f).await;
    own
}

async fn write(f: &Fixture, at: &str, base_version: u64, text: &str) {
    let write = memory::Write { base_version, text: text.into(), reason: "by hand".into(), ..memory::Write::default() };
    memory::write(&f.ledger, &f.operator, AGENT, path(at), write).await.unwrap();
}

async fn a_proposal_joins_a_document_that_moved_and_a_conflict_waits_again(f: Fixture) {
    let own = remembered(&f).await;
    talked_again(&f, "I play chess.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let more = changes(&run, json!([line(&run, "Plays chess")]), Value::Null);
    finish(&f, run, more, Policy::Review).await.unwrap();
    let item = proposals(&f).await.remove(0);
    let by_hand = "---\nk: v\n---\n# Mia Smith\n\n## Notes\n\n- Likes trains\n";
    write(&f, &own, 1, by_hand).await;
    gate::decide(&f.ledger, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    assert_eq!(settle(&f).await.settled, 1);
    assert_eq!(read(&f, &own).await.unwrap().text, format!("{by_hand}- Plays chess\n"));
    let joined = version(&f, &own, 3).await;
    assert_eq!(joined.evidence.iter().map(|one| one.line).collect::<Vec<_>>(), [9], "of the whole text");

    talked_again(&f, "I stopped with chess.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let shown = &run.window.prompt_documents[&own];
    let evidence = json!([{ "session": "s1", "sequence": run.window.turns[0].at.sequence }]);
    let replace = json!([{ "op": "replace_section", "path": own, "heading": ["Notes"], "base_sha256": shown.sha256,
        "body": "- Likes trains\n- Played chess", "evidence": evidence, "reason": "" }]);
    let replaced = changes(&run, replace, Value::Null);
    finish(&f, run, replaced, Policy::Auto).await.unwrap();
    let item = proposals(&f).await.remove(0);
    write(&f, &own, 3, "# Mia Smith\n\n## Notes\n\n- Likes trains\n- Plays chess on Sundays\n").await;
    gate::decide(&f.ledger, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    assert_eq!(settle(&f).await.reopened, 1);
    let item = gate::get(&f.ledger, &f.operator, item.gate.id).await.unwrap().item;
    assert_eq!(item.gate.state.name(), GateState::Open);
    let why = item.decisions.last().unwrap().note.clone().unwrap();
    assert!(why.contains("changed in the same lines") && why.contains("version 4"), "{why}");
    assert!(read(&f, &own).await.unwrap().text.contains("on Sundays"), "nothing is lost");
    f.assert_verified().await;
    f.done().await;
}

async fn additions_of_people_are_written_at_once_where_the_policy_allows_it(f: Fixture) {
    talked(&f, "I like trains.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let own = own_path(&run);
    let agents = run.window.turns.iter().find(|turn| turn.speaker.is_none()).unwrap().at.sequence;
    let evidence = json!([{ "session": "s1", "sequence": agents }]);
    let claimed_by_agent = json!({ "op": "create", "path": "topics/approved.md", "heading": [], "base_sha256": null,
        "body": "- Acme is approved\n", "evidence": evidence, "reason": "" });
    let both = changes(&run, json!([line(&run, "Likes trains"), claimed_by_agent]), Value::Null);
    let record = finish(&f, run, both, Policy::Auto).await.unwrap();
    assert_eq!((record.written, record.proposals), (1, 1));
    assert!(read(&f, &own).await.unwrap().text.contains("- Likes trains"));
    assert!(proposals(&f).await[0].gate.flags[0].contains("no person said this"));
    f.assert_verified().await;
    f.done().await;
}

async fn a_contradiction_waits_with_the_days_of_both_lines(f: Fixture) {
    talked(&f, "I live in Oslo.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let first = changes(&run, json!([line(&run, "Lives in Oslo")]), Value::Null);
    assert_eq!(finish(&f, run, first, Policy::Auto).await.unwrap().written, 1);
    let before = f.ledger.now().format("%Y-%m-%d").to_string();
    f.clock.advance(TimeDelta::days(9));
    talked_again(&f, "I live in Bergen.").await;
    let now = f.ledger.now().format("%Y-%m-%d").to_string();
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let second = changes(&run, json!([line(&run, "Lives in Bergen")]), Value::Null);
    let record = finish(&f, run, second, Policy::Auto).await.unwrap();
    assert_eq!((record.written, record.proposals), (0, 1));
    let flag = format!("`- Lives in Bergen`, said on {now}, contradicts `- Lives in Oslo`, written on {before}");
    assert_eq!(proposals(&f).await[0].gate.flags, [flag]);
    f.assert_verified().await;
    f.done().await;
}

async fn an_incognito_conversation_is_never_read(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    let hidden = NewThread {
        agent: AGENT.into(),
        message: Some("Between us: I quit.".into()),
        incognito: true,
        ..NewThread::default()
    };
    let hidden = thread::start(&f.ledger, &f.member, hidden).await.unwrap().session;
    turn(&f, "I see.").await;
    thread::end(&f.ledger, &f.member, hidden.id, ENDING).await.unwrap();
    assert!(take(&f, WriterTerms::default()).await.is_none());
    talked_again(&f, "In the open.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert!(run.ranges.iter().all(|range| range.session != hidden.id));
    assert!(run.window.turns.iter().all(|turn| !turn.text.contains("quit")));
    f.done().await;
}

async fn runs_of_an_agent_are_exclusive_and_a_late_one_writes_nothing(f: Fixture) {
    talked(&f, "I like trains.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let late = changes(&run, json!([line(&run, "Likes trains")]), Value::Null);
    let other = f.second_ledger(ledger::Mode::Tool).await;
    let terms = WriterTerms::default();
    assert!(memory_writer::take(&other, tenant(&f), AGENT, &terms, None).await.unwrap().is_none());
    // The first server hangs until its lease has run out. The second one does the work.
    f.clock.advance(TimeDelta::hours(1));
    let again = memory_writer::take(&other, tenant(&f), AGENT, &terms, None).await.unwrap().unwrap();
    assert_eq!(again.ranges, run.ranges);
    let finished =
        Finished { run: again, changes: Vec::new(), policy: Policy::Review, usage: usage(), left_out: Vec::new() };
    memory_writer::finish(&other, tenant(&f), AGENT, finished).await.unwrap();
    let refused = finish(&f, run, late, Policy::Review).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    assert!(proposals(&f).await.is_empty());
    assert_eq!(memory_writer::runs(&f.ledger, &f.member, AGENT).await.unwrap().len(), 1);
    other.close().await;
    f.done().await;
}

async fn a_window_that_fails_is_tried_again_then_parked_and_a_flush_frees_it(f: Fixture) {
    talked(&f, "I like trains.").await;
    let mut ranges = None;
    for failures in 1..=FAILURES_MAX {
        let run = take(&f, WriterTerms::default()).await.unwrap();
        let before = ranges.get_or_insert_with(|| run.ranges.clone());
        assert_eq!(*before, run.ranges, "the watermark stays");
        let record = fail(&f, run).await;
        let is_last = failures == FAILURES_MAX;
        assert_eq!(record.state, if is_last { RunState::Parked } else { RunState::Failed });
        assert!(take(&f, WriterTerms::default()).await.is_none(), "it is not tried again at once");
        f.clock.advance(TimeDelta::hours(1));
    }
    assert!(take(&f, WriterTerms::default()).await.is_none(), "it waits for a person");
    memory_writer::flush(&f.ledger, &f.operator, AGENT, None).await.unwrap();
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert_eq!(run.cause, RunCause::Flush);
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    let states: Vec<_> = memory_writer::runs(&f.ledger, &f.member, AGENT).await.unwrap();
    let states: Vec<_> = states.iter().map(|run| run.state).collect();
    assert_eq!(states, [RunState::Succeeded, RunState::Parked, RunState::Failed, RunState::Failed]);
    let counted = f.ledger.counted().writer_runs;
    assert_eq!(counted, [(RunState::Succeeded, 1), (RunState::Failed, 2), (RunState::Parked, 1)]);
    f.done().await;
}

async fn what_starts_a_run_is_an_end_a_number_of_turns_silence_or_a_request(f: Fixture) {
    let terms = WriterTerms { turn_threshold: 4, ..WriterTerms::default() };
    assert!(take(&f, terms).await.is_none());
    let session = talk(&f, "One", "Two").await;
    assert!(take(&f, terms).await.is_none(), "two turns, and nobody is silent for long");
    let said = Message { text: "Three".into(), id: None };
    thread::send_message(&f.ledger, &f.member, session.id, said).await.unwrap();
    turn(&f, "Four").await;
    let run = take(&f, terms).await.unwrap();
    assert_eq!((run.cause, run.window.turns.len()), (RunCause::Turns, 4));
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    let said = Message { text: "Five".into(), id: None };
    thread::send_message(&f.ledger, &f.member, session.id, said).await.unwrap();
    turn(&f, "Six").await;
    assert!(take(&f, terms).await.is_none());
    f.clock.advance(TimeDelta::seconds(1_800));
    let run = take(&f, terms).await.unwrap();
    assert_eq!((run.cause, run.window.turns.len()), (RunCause::Idle, 2));
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    // A server that starts or stops summarises what is open.
    let said = Message { text: "Seven".into(), id: None };
    thread::send_message(&f.ledger, &f.member, session.id, said).await.unwrap();
    turn(&f, "Eight").await;
    assert!(take(&f, terms).await.is_none());
    let now = f.ledger.now();
    let left = async |before| memory_writer::take(&f.ledger, tenant(&f), AGENT, &terms, Some(before)).await.unwrap();
    assert!(left(now - TimeDelta::seconds(1)).await.is_none(), "a server that started before waits for silence");
    assert_eq!(left(now).await.map(|run| run.window.turns.len()), Some(2));
    f.done().await;
}

async fn the_budget_of_a_day_ends_with_the_day(f: Fixture) {
    let terms = WriterTerms { runs_per_day: 1, ..WriterTerms::default() };
    talked(&f, "One").await;
    let run = take(&f, terms).await.unwrap();
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    talked_again(&f, "Two").await;
    assert!(take(&f, terms).await.is_none());
    let tokens = WriterTerms { tokens_per_day: 120, ..WriterTerms::default() };
    assert!(take(&f, tokens).await.is_none());
    f.clock.advance(TimeDelta::days(1));
    assert!(take(&f, terms).await.is_some());
    f.done().await;
}
