//! Results of tools that a task writes to an entity: its safety rules and its approval apply as to the output of an
//! agent.

use crate::{
    criteria_set::fields_of,
    entity::{acme, company, field},
    gate::{at_once, decide, gate_of, now, says, session_now},
    tool_run::{claim_one, complete, echo, published, run},
};
use domain::{
    action::OutputType,
    block_status::BlockStatus,
    entity::{FieldDef, FieldType},
    gate::{GateKind, Verdict},
    id::{ActionId, EntityId},
    session::{Session, Status},
};
use ledger::{
    Error, ListPage,
    action::{self, NewAction},
    entity,
    entity_type::{self, NewEntityType},
    member::{self, Withdrawal},
    page, session,
    tool_run::{self, PromoteRun, RunTool},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_result_is_written_once_and_the_entity_shows_by_what,
    a_result_waits_for_approval_and_can_be_written_again_after_a_denial,
    a_result_that_cannot_be_written_is_refused_by_its_field,
    a_result_is_written_when_its_run_completes,
    a_result_of_a_run_waits_for_approval,
    why_a_result_was_not_written_is_kept,
    a_wrong_output_is_refused_with_the_run,
    an_output_that_results_can_never_fill_is_refused_with_the_run,
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

/// Begins a run whose result is written to an entity when it completes.
async fn begin(f: &Fixture, to: PromoteRun) -> ledger::Result<Session> {
    let run = RunTool { input: Some("{}".to_owned()), output: Some(to), ..RunTool::default() };
    tool_run::run(&f.ledger, &f.member, "echo", run).await
}

async fn a_result_is_written_when_its_run_completes(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let by = task(&f, json!({})).await;
    let begun = begin(&f, to(by, acme.id)).await.unwrap();
    let asked = tool_run::output(&f.ledger, &f.member, begun.id).await.unwrap().unwrap();
    assert_eq!((asked.action_id, asked.written_session_id, asked.refused), (by, None, None));
    let claimed = claim_one(&f).await;
    complete(&f, &claimed, found()).await;
    assert_eq!(json!(now(&f, &acme).await.fields), json!({ "stage": "Won", "size": 12 }));
    let written = tool_run::output(&f.ledger, &f.member, begun.id).await.unwrap().unwrap();
    let session = session_now(&f, written.written_session_id.unwrap()).await;
    assert_eq!((session.parent_id, session.entity_id), (Some(begun.id), Some(acme.id)));
    assert_eq!(session.created_by, f.member.caller.to_string(), "with the rights of who asked for it");
    // By hand it is the same session.
    let again = tool_run::promote(&f.ledger, &f.member, begun.id, to(by, acme.id)).await.unwrap();
    assert_eq!(again.id, session.id);
    f.assert_verified().await;
    f.done().await;
}

async fn a_result_of_a_run_waits_for_approval(f: Fixture) {
    at_once(&f).await;
    published(&f, echo(json!({}))).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let by = task(&f, json!({ "requiresApproval": true })).await;
    let begun = begin(&f, to(by, acme.id)).await.unwrap();
    let claimed = claim_one(&f).await;
    complete(&f, &claimed, found()).await;
    let written = tool_run::output(&f.ledger, &f.member, begun.id).await.unwrap().unwrap();
    let gate = gate_of(&f, written.written_session_id.unwrap()).await;
    assert_eq!(gate.gate.kind, GateKind::Fields);
    assert_eq!(now(&f, &acme).await.version, 1, "nothing is written before the decision");
    decide(&f, &f.admin, gate.gate.id, says(Verdict::Approve)).await.unwrap();
    assert_eq!(json!(now(&f, &acme).await.fields), json!({ "stage": "Won", "size": 12 }));
    f.assert_verified().await;
    f.done().await;
}

async fn why_a_result_was_not_written_is_kept(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let by = task(&f, json!({})).await;
    let refused = async |id| tool_run::output(&f.ledger, &f.member, id).await.unwrap().unwrap().refused.unwrap();
    let wrong = begin(&f, to(by, acme.id)).await.unwrap();
    let claimed = claim_one(&f).await;
    let done = complete(&f, &claimed, json!({ "found": { "stage": "Nowhere" } })).await;
    assert_eq!(done.status(), Status::Completed, "the run itself has completed");
    assert!(refused(wrong.id).await.contains("fields.size"));
    let cancelled = begin(&f, to(by, acme.id)).await.unwrap();
    session::cancel(&f.ledger, &f.member, cancelled.id, None).await.unwrap();
    assert_eq!(refused(cancelled.id).await, "the run has no result");
    let left = begin(&f, to(by, acme.id)).await.unwrap();
    let claimed = claim_one(&f).await;
    let mia = f.member.user_id().unwrap();
    member::withdraw(&f.ledger, &f.admin, mia, Withdrawal::Remove).await.unwrap();
    complete(&f, &claimed, found()).await;
    let kept = tool_run::output(&f.ledger, &f.admin, left.id).await.unwrap().unwrap();
    assert!(kept.refused.unwrap().contains("no rights"));
    assert_eq!(now(&f, &acme).await.version, 1);
    f.assert_verified().await;
    f.done().await;
}

async fn a_wrong_output_is_refused_with_the_run(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let by = task(&f, json!({})).await;
    let unknown = PromoteRun { action_id: ActionId(acme.id.0), ..to(by, acme.id) };
    assert_eq!(fields_of(begin(&f, unknown).await), ["output.actionId"]);
    let nowhere = PromoteRun { entity_id: Some(EntityId(by.0)), ..to(by, acme.id) };
    assert_eq!(fields_of(begin(&f, nowhere).await), ["output.entityId"]);
    let run = RunTool { input: Some("{}".to_owned()), output: Some(to(by, acme.id)), ..RunTool::default() };
    assert_eq!(fields_of(tool_run::test(&f.ledger, &f.admin, "echo", run).await), ["output"]);
    f.done().await;
}

async fn an_output_that_results_can_never_fill_is_refused_with_the_run(f: Fixture) {
    let schema = json!({ "type": "object", "properties": { "found": { "type": "object", "additionalProperties": false,
        "properties": { "stage": { "type": "string" }, "employees": { "type": ["string", "null"] } } } } });
    published(&f, echo(json!({ "outputSchema": schema }))).await;
    let of_type = company(&f).await;
    let acme = acme(&f, &of_type, "Acme").await;
    let by = task(&f, json!({})).await;
    let of = |fields: &[(&str, &str)]| {
        let fields = fields.iter().map(|(slug, pointer)| ((*slug).to_owned(), (*pointer).to_owned())).collect();
        PromoteRun { fields, ..to(by, acme.id) }
    };
    for (part, refused) in [
        (("stage", "/found/phase"), "output.fields.stage"),
        (("stage", "/found/stage/0"), "output.fields.stage"),
        // A field of numbers takes no text. `null` would empty it, so what can be `null` is possible.
        (("size", "/found/stage"), "output.fields.size"),
        (("colour", "/found/stage"), "output.fields.colour"),
    ] {
        assert_eq!(fields_of(begin(&f, of(&[part])).await), [refused], "{part:?}");
    }
    let nowhere = PromoteRun { entity_id: None, ..of(&[("stage", "/found/stage")]) };
    assert_eq!(fields_of(begin(&f, nowhere).await), ["output.entityId"]);
    begin(&f, of(&[("stage", "/found/stage"), ("size", "/found/employees")])).await.unwrap();
    // A new entity needs the fields that its type requires.
    let name = FieldDef { required: true, ..field("name", FieldType::Text) };
    let of_person = NewEntityType { name: "Person".into(), slug: None, fields: vec![name] };
    entity_type::create(&f.ledger, &f.operator, of_person).await.unwrap();
    let new = NewAction {
        name: "Make a person".into(),
        output_type: Some(OutputType::Entity),
        output_config: Some(json!({ "entityType": "person" }).to_string()),
        ..NewAction::default()
    };
    let make = action::create(&f.ledger, &f.operator, new).await.unwrap().id;
    let person = |fields: &[(&str, &str)]| PromoteRun { action_id: make, entity_id: None, ..of(fields) };
    assert_eq!(fields_of(begin(&f, person(&[("title", "/found/stage")])).await), ["output.fields.name"]);
    begin(&f, person(&[("name", "/found/stage")])).await.unwrap();
    begin(&f, person(&[])).await.unwrap();
    f.done().await;
}
