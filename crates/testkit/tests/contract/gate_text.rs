//! Text outputs that wait for approval: they are staged whole, edited as text, and become the session's result
//! only after approval.

use crate::gate::{at_once, claim, complete, decide, edits, gate_of, newest_kinds, safety, says, session_now};
use domain::{
    action::OutputType,
    event::Known,
    gate::{GateKind, Verdict},
    session::{EndReason, Session, Status},
};
use ledger::{
    ActionRecord,
    action::{self, NewAction, Trigger},
    gate::{self, GateItem},
    session::{self, Completion},
    thread::{self, NewThread},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_text_is_staged_whole_and_counts_when_it_is_approved,
    a_reviewer_edits_a_text_and_denies_it_with_a_reason,
    a_session_that_ends_without_a_word_waits_too,
    a_text_that_does_not_answer_a_blocking_dimension_is_blocked,
    a_conversation_does_not_wait_for_its_text,
);

async fn texts(f: &Fixture, output_config: Value) -> ActionRecord {
    let new = NewAction {
        name: "Write".into(),
        agent_slug: Some("scout".into()),
        output_type: Some(OutputType::Text),
        output_config: Some(output_config.to_string()),
        metadata: Some(json!({ "requiresApproval": true }).to_string()),
        ..NewAction::default()
    };
    action::create(&f.ledger, &f.operator, new).await.unwrap()
}

async fn waiting(f: &Fixture, of: &ActionRecord, result: &Value) -> (Session, GateItem) {
    action::trigger(&f.ledger, &f.member, of.id, Trigger::default()).await.unwrap();
    let claimed = claim(f).await.session;
    let waiting = complete(f, &claimed, result).await;
    assert_eq!((waiting.status(), waiting.result()), (Status::WaitingHuman, None));
    let item = gate_of(f, waiting.id).await;
    (waiting, item)
}

async fn result(f: &Fixture, of: &Session) -> Option<Value> {
    let session = session_now(f, of.id).await;
    assert_eq!((session.status(), session.end_reason()), (Status::Completed, Some(EndReason::Done)));
    session.result().map(|text| serde_json::from_str(text).unwrap())
}

async fn a_text_is_staged_whole_and_counts_when_it_is_approved(f: Fixture) {
    at_once(&f).await;
    let of = texts(&f, json!({})).await;
    let long = format!("{} end", "word ".repeat(2_000));
    for output in [json!(long), json!({ "text": long, "notes": 3 })] {
        let (session, item) = waiting(&f, &of, &output).await;
        let staged = if output.is_object() { output.clone() } else { json!({ "text": long }) };
        assert_eq!((item.gate.kind, item.gate.entity_id), (GateKind::Output, None));
        assert_eq!(json!(item.proposed), staged);
        // A worker that did not receive the response sends the request again.
        assert_eq!(complete(&f, &session, &output).await.status(), Status::WaitingHuman);
        decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
        assert_eq!(result(&f, &session).await, Some(output));
        let kinds = newest_kinds(&f, session.id, 3).await;
        assert_eq!(
            kinds,
            [Known::UserOutputApproval.as_str(), Known::SessionCompleted.as_str(), Known::SessionStatusChange.as_str()]
        );
    }
    f.assert_verified().await;
    f.done().await;
}

async fn a_reviewer_edits_a_text_and_denies_it_with_a_reason(f: Fixture) {
    at_once(&f).await;
    let of = texts(&f, json!({})).await;
    let (session, item) = waiting(&f, &of, &json!("Hello Ms Lee")).await;
    decide(&f, &f.operator, item.gate.id, says(Verdict::Deny)).await.unwrap();
    let again = claim(&f).await;
    let denials: Vec<_> = again.denials.iter().map(|denial| denial.note.as_deref()).collect();
    assert_eq!((again.session.id, denials), (session.id, vec![Some("not yet")]));
    complete(&f, &again.session, &json!("Hello Mr Lee")).await;
    let item = gate_of(&f, session.id).await;
    let edit = edits(&json!({ "text": "Hello Lee" }));
    for _ in 0..2 {
        decide(&f, &f.operator, item.gate.id, edit.clone()).await.unwrap();
    }
    assert_eq!(result(&f, &session).await, Some(json!("Hello Lee")));
    f.done().await;
}

async fn a_session_that_ends_without_a_word_waits_too(f: Fixture) {
    at_once(&f).await;
    let of = texts(&f, json!({})).await;
    action::trigger(&f.ledger, &f.member, of.id, Trigger::default()).await.unwrap();
    let claimed = claim(&f).await.session;
    let silent = Completion { attempt: claimed.attempt, result: None, usage: None };
    let waiting = session::complete(&f.ledger, &f.worker, claimed.id, silent).await.unwrap();
    assert_eq!(waiting.status(), Status::WaitingHuman);
    let item = gate_of(&f, waiting.id).await;
    decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    assert_eq!(result(&f, &waiting).await, None);
    f.done().await;
}

async fn a_text_that_does_not_answer_a_blocking_dimension_is_blocked(f: Fixture) {
    let of = texts(&f, safety(&f).await).await;
    action::trigger(&f.ledger, &f.member, of.id, Trigger::default()).await.unwrap();
    let claimed = claim(&f).await.session;
    let failed = complete(&f, &claimed, &json!("Buy now")).await;
    assert_eq!((failed.status(), failed.end_reason()), (Status::Failed, Some(EndReason::HardBlock)));
    let (_, item) = waiting(&f, &of, &json!({ "text": "Hello", "claim_safety": "soft" })).await;
    assert_eq!(item.gate.flags, ["claim_safety: soft"]);
    f.done().await;
}

async fn a_conversation_does_not_wait_for_its_text(f: Fixture) {
    let of = texts(&f, json!({})).await;
    let new = NewThread { agent: of.id.to_string(), message: Some("Hi".into()), ..NewThread::default() };
    thread::start(&f.ledger, &f.member, new).await.unwrap();
    let turn = claim(&f).await.session;
    assert_eq!(complete(&f, &turn, &json!("Bye")).await.status(), Status::Completed);
    assert!(gate::of_sessions(&f.ledger, &f.operator, vec![turn.id]).await.unwrap().is_empty());
    f.done().await;
}
