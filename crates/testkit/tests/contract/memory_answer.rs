//! Answers to the agent's questions: they are turns of the people who gave them.

use crate::{
    feedback_request::{answer, ask, request, says},
    gate::{claim, decide, gate_of, sweep_after},
    memory::put,
    memory_people::open_window,
    memory_writer::{AGENT, changes, finish, take},
    response::submission,
    view_link_request::stranger,
};
use chrono::TimeDelta;
use domain::{
    event::NewEvent,
    gate::{Question, Verdict},
    id::{GateId, SessionId},
    memory_writer::{
        plan::Policy,
        turn::{Taint, own_path},
    },
    session::YieldTo,
    view::Gate,
};
use ledger::{
    feedback_request::NewRequest,
    gate::{self, NewDecision, Reply},
    history,
    memory_writer::WriterTerms,
    response::{self, Submission},
    session::{self, YieldRequest},
    thread::{self, NewThread},
    view_link,
};
use serde_json::{Value, json, value::RawValue};
use testkit::{Fixture, event, on_both_engines, text};

on_both_engines!(
    an_answer_in_a_conversation_is_what_its_person_said,
    an_answer_is_the_persons_who_gave_it_and_one_by_a_link_is_from_outside,
    an_answer_that_can_still_be_undone_is_left_to_the_next_run,
    an_answer_that_was_undone_is_no_turn,
    an_answer_that_was_undone_or_can_be_is_in_no_history_and_finds_no_memories,
);

/// The result of the call with which an agent of the server has asked, as it records it.
fn result(answer: &str) -> NewEvent {
    let raw = |json: Value| Some(RawValue::from_string(json.to_string()).unwrap());
    let part = json!([{ "type": "tool-result", "toolCallId": "c", "toolName": "ask_person",
        "output": { "type": "text", "value": answer } }]);
    NewEvent { content: raw(part), metadata: raw(json!({ "gateId": "g" })), ..event("agent.tool_result") }
}

async fn an_answer_in_a_conversation_is_what_its_person_said(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    put(&f, &f.operator, "topics/trams.md", 0, "# Trams\n\n- Run in Oslo\n").await.unwrap();
    let new = NewThread { agent: AGENT.into(), message: Some("Good morning".into()), ..NewThread::default() };
    let id = thread::start(&f.ledger, &f.member, new).await.unwrap().session.id;
    let session = claim(&f).await.session;
    let question = Some(Question::new("Where do you live?".into(), None));
    let asks = YieldRequest { question, ..YieldRequest::at(session.attempt, YieldTo::WaitingHuman) };
    session::yield_to(&f.ledger, &f.worker, id, asks).await.unwrap();
    gate::reply(&f.ledger, &f.member, id, Reply::Accept("I live in Oslo".into())).await.unwrap();

    let session = claim(&f).await.session;
    let log = f.log(id).await;
    let given = log.iter().rfind(|event| event.kind == "session.context_injected");
    assert!(given.is_some_and(|event| event.content.contains("Run in Oslo")), "the claim looks for the answer's words");
    f.append(id, session.attempt, vec![result("I live in Oslo"), text("Noted.")]).await.unwrap();
    session::yield_to(&f.ledger, &f.worker, id, YieldRequest::at(session.attempt, YieldTo::Idle)).await.unwrap();

    let run = open_window(&f).await;
    let turns: Vec<_> = run.window.turns.iter().map(|turn| (turn.taint, turn.text.as_str())).collect();
    let person = Taint::Person;
    assert_eq!(turns, [(person, "Good morning"), (person, "I live in Oslo"), (Taint::Agent, "Noted.")]);
    let own = own_path(f.member.user_id().unwrap());
    let answered = &run.window.turns[1];
    assert_eq!(answered.speaker, run.window.turns[0].speaker, "by name too");
    assert_eq!(answered.speaker.as_ref().unwrap().path, own);
    let evidence = json!([{ "session": "s1", "sequence": answered.at.sequence }]);
    let create = json!([{ "op": "create", "path": own, "heading": [], "base_sha256": null,
        "body": "# Mia\n\n- Lives in Oslo\n", "evidence": evidence, "reason": "" }]);
    let planned = changes(&run, create, Value::Null);
    assert!(planned[0].is_plain && planned[0].flags.is_empty(), "{planned:?}");
    assert_eq!(finish(&f, run, planned, Policy::Auto).await.unwrap().written, 1);
    f.assert_verified().await;
    f.done().await;
}

async fn an_answer_is_the_persons_who_gave_it_and_one_by_a_link_is_from_outside(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    let session = f.running().await;
    let asked = ask(&f, &session, request(&session, "k", true)).await;
    let answers = || json!({ "region": "EU", "seats": 3 });
    answer(&f, &f.operator, asked.request.id, says(answers())).await.unwrap();
    let session = claim(&f).await.session;
    let new = NewRequest { access: Some(Gate::None), ..request(&session, "k2", false) };
    let (asked, secret) = view_link::ask(&f.ledger, &f.worker, session.id, new).await.unwrap();
    let who = stranger(&f, &secret.unwrap()).await;
    let given = Submission { request_id: Some(asked.request.id.0), ..submission("one", answers()) };
    response::submit(&f.ledger, &who, asked.request.view_id, given).await.unwrap();

    let run = open_window(&f).await;
    let own = own_path(f.operator.user_id().unwrap());
    let said = "region: EU\nseats: 3";
    let turns: Vec<_> = run.window.turns.iter().map(|turn| (turn.taint, turn.text.as_str())).collect();
    assert_eq!(turns, [(Taint::Person, said), (Taint::Web, said)]);
    let speakers: Vec<_> = run.window.turns.iter().map(|turn| turn.speaker.as_ref()).collect();
    assert!(speakers[0].is_some_and(|one| one.path == own && !one.name.is_empty()) && speakers[1].is_none());
    assert_eq!(run.window.people.iter().collect::<Vec<_>>(), [&own]);
    f.done().await;
}

/// A question that an operator has answered in the inbox, where it can be undone for a while.
async fn answered(f: &Fixture, text: &str) -> (GateId, SessionId) {
    assert!(take(f, WriterTerms::default()).await.is_none());
    let session = f.running().await;
    let question = Some(Question::new("Where do you live?".into(), None));
    let asks = YieldRequest { question, ..YieldRequest::at(session.attempt, YieldTo::WaitingHuman) };
    session::yield_to(&f.ledger, &f.worker, session.id, asks).await.unwrap();
    let id = gate_of(f, session.id).await.gate.id;
    decide(f, &f.operator, id, respond(text)).await.unwrap();
    (id, session.id)
}

fn respond(text: &str) -> NewDecision {
    NewDecision { verdict: Verdict::Respond, value: Some(text.into()), note: None, digest: None }
}

async fn an_answer_that_can_still_be_undone_is_left_to_the_next_run(f: Fixture) {
    let (_, session) = answered(&f, "In Oslo").await;
    let run = open_window(&f).await;
    assert_eq!(run.window.turns, []);
    let answer = f.log(session).await.iter().rfind(|event| event.kind == "user.form_submit").unwrap().sequence;
    assert!(run.ranges.iter().all(|range| range.upto < answer), "{:?}", run.ranges);
    f.done().await;
}

async fn an_answer_that_was_undone_is_no_turn(f: Fixture) {
    let (id, _) = answered(&f, "In Oslo").await;
    gate::undo(&f.ledger, &f.operator, id).await.unwrap();
    decide(&f, &f.operator, id, respond("In Bergen")).await.unwrap();
    f.clock.advance(TimeDelta::minutes(10));
    let run = open_window(&f).await;
    let turns: Vec<_> = run.window.turns.iter().map(|turn| turn.text.as_str()).collect();
    assert_eq!(turns, ["In Bergen"]);
    f.done().await;
}

async fn an_answer_that_was_undone_or_can_be_is_in_no_history_and_finds_no_memories(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    put(&f, &f.operator, "topics/trams.md", 0, "# Trams\n\n- Run in Oslo\n").await.unwrap();
    put(&f, &f.operator, "topics/ships.md", 0, "# Ships\n\n- Sail to Bergen\n").await.unwrap();
    let new = NewThread { agent: AGENT.into(), message: Some("Good morning".into()), ..NewThread::default() };
    let id = thread::start(&f.ledger, &f.operator, new).await.unwrap().session.id;
    let session = claim(&f).await.session;
    let question = Some(Question::new("Where do you live?".into(), None));
    let asks = YieldRequest { question, ..YieldRequest::at(session.attempt, YieldTo::WaitingHuman) };
    session::yield_to(&f.ledger, &f.worker, id, asks).await.unwrap();
    // Sessions are tracked when the writer looks for work.
    assert_eq!(open_window(&f).await.window.turns.len(), 1);
    let said = async || {
        let at = ("shiftbook".to_owned(), f.operator.user_id().unwrap().to_string());
        let recent = history::recent(&f.ledger, &f.member, AGENT, at, 0).await.unwrap();
        let since = history::since_watermark(&f.ledger, &f.member, AGENT, 0).await.unwrap();
        [recent, since].map(|found| found.turns.into_iter().map(|turn| turn.text).collect::<Vec<_>>())
    };

    let gate = gate_of(&f, id).await.gate.id;
    decide(&f, &f.operator, gate, respond("I live in Oslo")).await.unwrap();
    assert_eq!(said().await, [["Good morning"], ["Good morning"]], "it can still be undone");
    gate::undo(&f.ledger, &f.operator, gate).await.unwrap();
    f.clock.advance(TimeDelta::minutes(10));
    assert_eq!(said().await, [["Good morning"], ["Good morning"]], "it was undone");
    decide(&f, &f.operator, gate, respond("I live in Bergen")).await.unwrap();
    assert_eq!(sweep_after(&f, 600).await.settled, 1);
    let all = ["Good morning", "I live in Bergen"];
    assert_eq!(said().await, [all, all]);

    claim(&f).await;
    let log = f.log(id).await;
    let given = log.iter().rfind(|event| event.kind == "session.context_injected").unwrap();
    assert!(given.content.contains("Sail to Bergen") && !given.content.contains("Run in Oslo"), "{}", given.content);
    f.done().await;
}
