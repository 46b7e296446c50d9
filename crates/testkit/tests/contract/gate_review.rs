//! The items of one group for the table in which they are decided together.

use crate::{
    entity::values,
    gate::{decide, gate_of, says},
};
use domain::{
    Scope,
    gate::{GateState, PausedToolCall, Question, Verdict},
    id::GateId,
    session::YieldTo,
};
use ledger::{
    Error,
    gate::{self, GateItem, NewDecision},
    inbox,
    page::inbox_review::{self, Group},
    session::{self, YieldRequest},
};
use serde_json::json;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_group_has_its_open_items_and_no_others,
    a_group_leaves_out_what_the_caller_snoozed_and_other_workspaces,
    items_are_read_by_their_ids_in_whatever_state_they_are,
    of_two_reviewers_the_second_learns_who_was_first,
);

/// A call of this tool with this amount that waits for approval.
async fn refund(f: &Fixture, tool: &str, amount: u32) -> GateItem {
    let session = f.running().await;
    let tool_input = values(json!({ "amount": amount }));
    let call = PausedToolCall { tool_call_id: "call-1".into(), tool_name: tool.into(), tool_input };
    let pause =
        YieldRequest { paused_tool_call: Some(call), ..YieldRequest::at(session.attempt, YieldTo::AwaitingTool) };
    session::yield_to(&f.ledger, &f.worker, session.id, pause).await.unwrap();
    gate_of(f, session.id).await
}

async fn ids_of(f: &Fixture, scope: &Scope, key: &str, everyone: bool) -> Vec<GateId> {
    let group = Group { key: key.to_owned(), everyone };
    let found = inbox_review::alike(&f.ledger, scope, group).await.unwrap();
    assert!(!found.has_more);
    let mut ids: Vec<_> = found.items.iter().map(|item| item.gate.id).collect();
    ids.sort();
    ids
}

async fn a_group_has_its_open_items_and_no_others(f: Fixture) {
    let mut expected = Vec::new();
    for amount in [5, 6, 7] {
        expected.push(refund(&f, "refund", amount).await);
    }
    refund(&f, "charge", 5).await;
    let key = expected[0].gate.similar_key.clone();
    decide(&f, &f.operator, expected[2].gate.id, says(Verdict::Approve)).await.unwrap();
    let mut ids: Vec<_> = expected[..2].iter().map(|item| item.gate.id).collect();
    ids.sort();
    for everyone in [true, false] {
        assert_eq!(ids_of(&f, &f.operator, &key, everyone).await, ids, "everyone: {everyone}");
    }
    assert!(ids_of(&f, &f.operator, "", true).await.is_empty());
    f.done().await;
}

async fn a_group_leaves_out_what_the_caller_snoozed_and_other_workspaces(f: Fixture) {
    let (first, second) = (refund(&f, "refund", 5).await, refund(&f, "refund", 6).await);
    let key = first.gate.similar_key.clone();
    gate::snooze(&f.ledger, &f.operator, second.gate.id, Some(600)).await.unwrap();
    assert_eq!(ids_of(&f, &f.operator, &key, false).await, [first.gate.id]);
    assert_eq!(ids_of(&f, &f.operator, &key, true).await.len(), 2, "the list of all reviewers has it");
    assert!(ids_of(&f, &f.member, &key, false).await.is_empty(), "a member decides nothing of others");
    assert!(ids_of(&f, &f.stranger, &key, true).await.is_empty());
    let named = vec![first.gate.id];
    assert!(inbox_review::by_ids(&f.ledger, &f.stranger, named).await.unwrap().items.is_empty());
    f.done().await;
}

async fn items_are_read_by_their_ids_in_whatever_state_they_are(f: Fixture) {
    let (first, second) = (refund(&f, "refund", 5).await, refund(&f, "refund", 6).await);
    let session = f.running().await;
    let question = Some(Question::new("When?".into(), None));
    let ask = YieldRequest { question, ..YieldRequest::at(session.attempt, YieldTo::WaitingHuman) };
    session::yield_to(&f.ledger, &f.worker, session.id, ask).await.unwrap();
    let asked = gate_of(&f, session.id).await;
    decide(&f, &f.operator, second.gate.id, says(Verdict::Deny)).await.unwrap();
    let ids = vec![second.gate.id, asked.gate.id, first.gate.id];
    let found = inbox_review::by_ids(&f.ledger, &f.operator, ids.clone()).await.unwrap();
    assert_eq!(found.items.iter().map(|item| item.gate.id).collect::<Vec<_>>(), ids, "in the order of the ids");
    assert_eq!(found.items[0].gate.state.name(), GateState::Held);
    assert!(inbox_review::by_ids(&f.ledger, &f.operator, Vec::new()).await.unwrap().items.is_empty());
    f.done().await;
}

async fn of_two_reviewers_the_second_learns_who_was_first(f: Fixture) {
    let (first, second) = (refund(&f, "refund", 5).await, refund(&f, "refund", 6).await);
    decide(&f, &f.operator, first.gate.id, says(Verdict::Deny)).await.unwrap();
    let approve = |item: &GateItem| {
        let digest = Some(item.digest.to_string());
        Ok::<_, Error>((item.gate.id, NewDecision { digest, ..says(Verdict::Approve) }))
    };
    let decided = inbox::decide_many(&f.ledger, &f.admin, vec![approve(&first), approve(&second)]).await;
    assert!(matches!(decided[0], Err(Error::AlreadyDecided(_))) && decided[1].is_ok(), "{decided:?}");
    let found = inbox_review::by_ids(&f.ledger, &f.admin, vec![first.gate.id, second.gate.id]).await.unwrap();
    let by: Vec<_> = found.items.iter().map(|item| item.decision().and_then(|decision| decision.user_id)).collect();
    assert_eq!(by, [f.operator.user_id(), f.admin.user_id()]);
    f.done().await;
}
