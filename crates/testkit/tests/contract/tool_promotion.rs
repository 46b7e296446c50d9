//! Results of tools that a task writes to an entity: its safety rules and its approval apply as to the output of an
//! agent.

use crate::{
    entity::{acme, company},
    gate::{at_once, decide, gate_of, now, says, session_now},
    tool_run::{claim_one, complete, echo, published, run},
};
use domain::{
    action::OutputType,
    block_status::BlockStatus,
    gate::{GateKind, Verdict},
    id::{ActionId, EntityId},
    session::{Session, Status},
};
use ledger::{
    Error, ListPage,
    action::{self, NewAction},
    entity, page,
    tool_run::{self, PromoteRun},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_result_is_written_once_and_the_entity_shows_by_what,
    a_result_waits_for_approval_and_can_be_written_again_after_a_denial,
    a_result_that_cannot_be_written_is_refused_by_its_field,
);

/// A task that fills in fields of an entity.
pub(crate) async fn task(f: &Fixture, metadata: Value) -> ActionId {
    let new = NewAction {
        name: "Fill in".into(),
        output_type: Some(OutputType::Fields),
        output_config: Some(json!({ "fields": ["stage", "size"] }).to_string()),
        metadata: Some(metadata.to_string()),
        ..NewAction::default()
    };
    action::create(&f.ledger, &f.operator, new).await.unwrap().id
}

/// A completed run with this result.
async fn ran(f: &Fixture, result: Value) -> Session {
    run(f, &f.member, json!({})).await.unwrap();
    let claimed = claim_one(f).await;
    complete(f, &claimed, result).await
}

fn to(action_id: ActionId, entity_id: EntityId) -> PromoteRun {
    let fields = [("stage", "/found/stage"), ("size", "/found/employees")];
    let fields = fields.map(|(slug, pointer)| (slug.to_owned(), pointer.to_owned())).into();
    PromoteRun { action_id, entity_id: Some(entity_id), fields }
}

fn found() -> Value {
    json!({ "found": { "stage": "Won", "employees": 12 } })
}

async fn a_result_is_written_once_and_the_entity_shows_by_what(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let (by, done) = (task(&f, json!({})).await, ran(&f, found()).await);
    let promote = async || tool_run::promote(&f.ledger, &f.member, done.id, to(by, acme.id)).await.unwrap();
    let wrote = promote().await;
    let about = (wrote.status(), wrote.parent_id, wrote.entity_id);
    assert_eq!(about, (Status::Completed, Some(done.id), Some(acme.id)));
    assert_eq!(json!(now(&f, &acme).await.fields), json!({ "stage": "Won", "size": 12 }));
    assert_eq!(promote().await.id, wrote.id, "a repeat writes nothing");
    let versions = entity::list_versions(&f.ledger, &f.member, acme.id, ListPage::default()).await.unwrap();
    assert_eq!((versions.items.len(), versions.items[0].session_id), (2, Some(wrote.id)));
    let page = page::entity::read(&f.ledger, &f.member, acme.id, None).await.unwrap();
    let marks = entity::status_map(&page.marked_by).by_field_name;
    assert_eq!((marks["stage"], marks["size"]), (BlockStatus::Complete, BlockStatus::Complete));
    f.assert_verified().await;
    f.done().await;
}

async fn a_result_waits_for_approval_and_can_be_written_again_after_a_denial(f: Fixture) {
    at_once(&f).await;
    published(&f, echo(json!({}))).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let by = task(&f, json!({ "requiresApproval": true })).await;
    let done = ran(&f, found()).await;
    let promote = async || tool_run::promote(&f.ledger, &f.member, done.id, to(by, acme.id)).await.unwrap();
    let first = promote().await;
    assert_eq!((first.status(), promote().await.id), (Status::WaitingHuman, first.id));
    let gate = gate_of(&f, first.id).await;
    assert_eq!((gate.gate.kind, json!(gate.proposed)), (GateKind::Fields, json!({ "stage": "Won", "size": 12 })));
    decide(&f, &f.admin, gate.gate.id, says(Verdict::Deny)).await.unwrap();
    assert_eq!(session_now(&f, first.id).await.status(), Status::Completed);
    assert_eq!(now(&f, &acme).await.version, 1, "nothing is written");
    let second = promote().await;
    assert_ne!(second.id, first.id, "what was denied can be written again");
    decide(&f, &f.admin, gate_of(&f, second.id).await.gate.id, says(Verdict::Approve)).await.unwrap();
    assert_eq!(json!(now(&f, &acme).await.fields), json!({ "stage": "Won", "size": 12 }));
    assert_eq!(promote().await.id, second.id);
    f.assert_verified().await;
    f.done().await;
}

async fn a_result_that_cannot_be_written_is_refused_by_its_field(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let by = task(&f, json!({})).await;
    let fields_of = |refused: ledger::Result<Session>| match refused {
        Err(Error::Invalid(issues)) => issues.into_iter().map(|issue| issue.field).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let open = run(&f, &f.member, json!({})).await.unwrap();
    let refused = tool_run::promote(&f.ledger, &f.member, open.id, to(by, acme.id)).await;
    assert_eq!(fields_of(refused), ["id"]);
    let claimed = claim_one(&f).await;
    let done = complete(&f, &claimed, json!({ "found": { "stage": "Nowhere" } })).await;
    let promote = async |scope, to| tool_run::promote(&f.ledger, scope, done.id, to).await;
    assert_eq!(fields_of(promote(&f.member, to(by, acme.id)).await), ["fields.size"]);
    let stage = [("stage".to_owned(), "/found/stage".to_owned())].into();
    let only_stage = PromoteRun { fields: stage, ..to(by, acme.id) };
    assert_eq!(fields_of(promote(&f.member, only_stage).await), ["result.stage"]);
    let whole = PromoteRun { fields: [].into(), ..to(by, acme.id) };
    let refused = fields_of(promote(&f.member, whole).await);
    assert!(refused.iter().all(|field| field.starts_with("result")), "no field has this name: {refused:?}");
    let of_stranger = promote(&f.stranger, to(by, acme.id)).await;
    assert!(matches!(of_stranger, Err(Error::NotFound(_))), "{of_stranger:?}");
    assert_eq!(now(&f, &acme).await.version, 1);
    f.done().await;
}
