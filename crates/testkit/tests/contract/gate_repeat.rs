//! Decisions that are sent again: the same person with the same values gets the recorded decision.

use crate::{
    entity::{acme, company},
    gate::{decide, edits, gated, now, says, staged, sweep_after},
};
use domain::{
    Scope,
    gate::{GateKind, GateState, Verdict},
    id::GateId,
};
use ledger::{
    Error,
    action::{self, Trigger},
    gate::{self, NewDecision},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    an_edit_that_is_sent_again_answers_with_the_recorded_one,
    an_edit_that_waits_for_further_approvals_can_be_sent_again,
    a_decision_about_other_values_is_refused,
    a_part_of_an_edit_of_someone_else_is_no_approval_of_it,
    an_action_names_the_approval_that_was_decided_last,
);

/// Returns an edit as a form sends it, with the digest of the proposal that the page showed.
fn edits_shown(value: &Value, shown: &str) -> NewDecision {
    NewDecision { digest: Some(shown.to_owned()), ..edits(value) }
}

async fn repeated(f: &Fixture, by: &Scope, id: GateId, new: &NewDecision, number: u32) {
    let again = decide(f, by, id, new.clone()).await.unwrap();
    assert_eq!(again.decisions.len(), usize::try_from(number).unwrap(), "{new:?}");
    assert_eq!(again.last, Some(number), "{new:?}");
}

async fn an_edit_that_is_sent_again_answers_with_the_recorded_one(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 12 })).await;
    let (id, shown) = (item.gate.id, item.digest.to_string());
    let edit = edits_shown(&json!({ "size": 13 }), &shown);
    decide(&f, &f.operator, id, edit.clone()).await.unwrap();
    for state in [GateState::Held, GateState::Settled] {
        assert_eq!(gate::get(&f.ledger, &f.admin, id).await.unwrap().item.gate.state.name(), state);
        repeated(&f, &f.operator, id, &edit, 1).await;
        repeated(&f, &f.operator, id, &edits(&json!({ "size": 13 })), 1).await;
        // The whole output with the same change counts as the same edit.
        repeated(&f, &f.operator, id, &edits_shown(&json!({ "size": 13, "stage": "Won" }), &shown), 1).await;
        sweep_after(&f, 6).await;
    }
    let won = now(&f, &acme).await;
    assert_eq!((won.version, json!(won.fields)), (2, json!({ "stage": "Won", "size": 13 })));
    f.done().await;
}

async fn an_edit_that_waits_for_further_approvals_can_be_sent_again(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), json!({ "quorum": 2 }), json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 1 })).await;
    let (id, shown) = (item.gate.id, item.digest.to_string());
    let first = edits_shown(&json!({ "stage": "Lead" }), &shown);
    let one = decide(&f, &f.operator, id, first.clone()).await.unwrap();
    repeated(&f, &f.operator, id, &first, 1).await;
    // An edit after another edit contains only its own change.
    let second = edits_shown(&json!({ "size": 2 }), &one.digest.to_string());
    let two = decide(&f, &f.admin, id, second.clone()).await.unwrap();
    assert_eq!((two.gate.state.name(), two.approvals), (GateState::Open, 1));
    repeated(&f, &f.admin, id, &second, 2).await;
    let agreed = NewDecision { digest: Some(two.digest.to_string()), ..says(Verdict::Approve) };
    decide(&f, &f.operator, id, agreed.clone()).await.unwrap();
    repeated(&f, &f.operator, id, &agreed, 3).await;
    repeated(&f, &f.admin, id, &second, 3).await;
    f.done().await;
}

async fn a_decision_about_other_values_is_refused(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 1 })).await;
    let (id, shown) = (item.gate.id, item.digest.to_string());
    decide(&f, &f.operator, id, edits_shown(&json!({ "size": 2 }), &shown)).await.unwrap();
    let as_staged = NewDecision { digest: Some(shown.clone()), ..says(Verdict::Approve) };
    for other in [
        as_staged,
        says(Verdict::Approve),
        says(Verdict::Deny),
        edits_shown(&json!({ "size": 3 }), &shown),
        edits_shown(&json!({ "size": 1 }), &shown),
        edits_shown(&json!({ "stage": "Lead", "size": 2 }), &shown),
    ] {
        let refused = decide(&f, &f.operator, id, other.clone()).await;
        assert!(matches!(refused, Err(Error::AlreadyDecided(_))), "{other:?}: {refused:?}");
    }
    f.done().await;
}

async fn a_part_of_an_edit_of_someone_else_is_no_approval_of_it(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), json!({ "quorum": 2 }), json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 1 })).await;
    let (id, shown) = (item.gate.id, item.digest.to_string());
    decide(&f, &f.operator, id, edits(&json!({ "stage": "Lead", "size": 2 }))).await.unwrap();
    let part = decide(&f, &f.admin, id, edits_shown(&json!({ "size": 2 }), &shown)).await;
    assert!(matches!(part, Err(Error::StaleDecision { .. })), "{part:?}");
    f.done().await;
}

async fn an_action_names_the_approval_that_was_decided_last(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let named = async |kind| gate::of_action(&f.ledger, &f.operator, of.id.0, kind).await;
    assert!(matches!(named(None).await, Err(Error::NotFound(_))));
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let expected = (item.gate.id, GateKind::Output);
    assert_eq!(named(None).await.unwrap(), expected);
    assert_eq!(named(Some(GateKind::Output)).await.unwrap(), expected);
    assert!(matches!(named(Some(GateKind::Tool)).await, Err(Error::Invalid(_))));
    decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    for seconds in [0, 6] {
        sweep_after(&f, seconds).await;
        assert_eq!(named(None).await.unwrap(), expected);
    }
    // A decision that is meant for a newer session must not get the decision of an older one.
    action::trigger(&f.ledger, &f.member, of.id, Trigger::default()).await.unwrap();
    assert!(matches!(named(None).await, Err(Error::NotFound(_))));
    f.done().await;
}
