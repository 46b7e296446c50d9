//! A decision is shown with the entity's values at the time of the decision, even if they change later.

use crate::{
    entity::{acme, company, values},
    gate::{decide, gated, now, says, staged, sweep_after},
};
use domain::{gate::Verdict, id::GateId};
use ledger::{
    EntityRecord,
    entity::{self, EntityChange},
    gate,
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    an_approval_keeps_what_the_record_was_when_it_was_given,
    a_denial_and_a_decision_that_is_given_again_keep_it_too,
);

async fn set(f: &Fixture, of: &EntityRecord, fields: Value) {
    let version = now(f, of).await.version;
    let change = EntityChange { version, title: None, fields: values(fields) };
    entity::update(&f.ledger, &f.other_member, of.id, change).await.unwrap();
}

/// Returns the version and the values of the entity at the decision.
async fn then(f: &Fixture, id: GateId) -> Option<(u64, Value)> {
    let detail = gate::get(&f.ledger, &f.admin, id).await.unwrap();
    detail.entity_then.map(|then| (then.version, json!(then.fields)))
}

async fn an_approval_keeps_what_the_record_was_when_it_was_given(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let id = item.gate.id;
    set(&f, &acme, json!({ "size": 5 })).await;
    assert_eq!(then(&f, id).await, None, "it still waits");
    decide(&f, &f.operator, id, says(Verdict::Approve)).await.unwrap();
    let expected = Some((2, json!({ "stage": "Lead", "size": 5 })));
    assert_eq!(then(&f, id).await, expected);
    // Someone changes the entity before the decision takes effect, and after it.
    set(&f, &acme, json!({ "size": 6 })).await;
    sweep_after(&f, 6).await;
    set(&f, &acme, json!({ "stage": "Lead", "size": 7 })).await;
    assert_eq!(then(&f, id).await, expected);
    let detail = gate::get(&f.ledger, &f.admin, id).await.unwrap();
    assert_eq!(detail.entity.unwrap().version, 5);
    f.done().await;
}

async fn a_denial_and_a_decision_that_is_given_again_keep_it_too(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    // An output that creates an entity has no earlier values to compare with.
    let makes = gated(&f, None, Value::Null, json!({ "entityType": "company" })).await;
    let (_, item) = staged(&f, &makes, &json!({ "title": "Beta" })).await;
    decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    assert_eq!(then(&f, item.gate.id).await, None);
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let id = item.gate.id;
    decide(&f, &f.operator, id, says(Verdict::Approve)).await.unwrap();
    gate::undo(&f.ledger, &f.operator, id).await.unwrap();
    assert_eq!(then(&f, id).await, None, "it waits again");
    set(&f, &acme, json!({ "size": 5 })).await;
    decide(&f, &f.operator, id, says(Verdict::Deny)).await.unwrap();
    sweep_after(&f, 6).await;
    set(&f, &acme, json!({ "stage": "Won" })).await;
    assert_eq!(then(&f, id).await, Some((2, json!({ "stage": "Lead", "size": 5 }))));
    f.done().await;
}
