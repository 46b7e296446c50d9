//! Gates: sessions wait for a person's decision, and each decision takes effect once.

use crate::entity::{acme, company};
use chrono::TimeDelta;
use domain::{
    Scope,
    action::OutputType,
    criteria_set::Dimension,
    gate::{GateKind, GateState, Verdict},
    id::{EntityId, GateId, SessionId},
    session::{EndReason, Session, Status},
};
use ledger::{
    ActionRecord, CriteriaSetRecord, EntityRecord, Error,
    action::{self, NewAction, Trigger},
    criteria_set::{self, NewCriteriaSet},
    entity,
    gate::{self, GateFilter, GateItem, ListGates, NewDecision},
    session::{self, Claim, Completion},
};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    an_approved_output_is_written_once_when_it_cannot_be_undone_any_more,
    without_an_undo_window_decision_write_back_and_completion_are_one_transaction,
    an_undone_decision_has_no_effect_and_can_be_given_again,
    a_reviewers_edit_is_what_is_written,
    a_reviewer_cannot_add_what_was_not_staged_or_break_the_records_type,
    a_hard_block_fails_the_session_and_asks_no_one,
    each_of_several_criteria_sets_guards_the_output,
    an_edit_that_chooses_a_hard_block_is_refused_by_its_dimension,
    an_output_that_does_not_answer_a_blocking_dimension_is_blocked,
    a_denied_output_is_returned_with_its_reason_and_the_third_denial_fails_the_session,
    a_cancelled_session_withdraws_its_gate,
    an_approval_that_cannot_be_written_any_more_waits_again,
    several_entities_are_approved_as_one,
);

/// Creates an action whose output changes `entity` and waits for approval under these rules.
pub async fn gated(f: &Fixture, entity: Option<EntityId>, approval: Value, output_config: Value) -> ActionRecord {
    let mut metadata = json!({ "requiresApproval": true });
    if !approval.is_null() {
        metadata["approval"] = approval;
    }
    let new = NewAction {
        name: "Qualify".into(),
        agent_slug: Some("scout".into()),
        target_entity_id: entity,
        output_type: Some(OutputType::Entity),
        output_config: Some(output_config.to_string()),
        metadata: Some(metadata.to_string()),
        ..NewAction::default()
    };
    action::create(&f.ledger, &f.operator, new).await.unwrap()
}

pub async fn claim(f: &Fixture) -> session::Claimed {
    let claim = Claim { agent_slugs: None, max: 1, lease_seconds: 3_600 };
    session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await.unwrap().pop().unwrap()
}

pub async fn complete(f: &Fixture, session: &Session, result: &Value) -> Session {
    let completion =
        Completion { attempt: session.attempt, result: Some(result.to_string()), usage: Some("{}".into()) };
    session::complete(&f.ledger, &f.worker, session.id, completion).await.unwrap()
}

/// Returns a session of the action that waits with this output, and its gate.
pub async fn staged(f: &Fixture, of: &ActionRecord, result: &Value) -> (Session, GateItem) {
    action::trigger(&f.ledger, &f.member, of.id, Trigger::default()).await.unwrap();
    let claimed = claim(f).await.session;
    let waiting = complete(f, &claimed, result).await;
    let item = gate_of(f, waiting.id).await;
    (waiting, item)
}

pub async fn gate_of(f: &Fixture, id: SessionId) -> GateItem {
    let listed = open(f, &f.admin, true).await;
    listed.into_iter().find(|item| item.gate.session_id == id).unwrap()
}

pub async fn open(f: &Fixture, scope: &Scope, all: bool) -> Vec<GateItem> {
    let wanted = ListGates { filter: GateFilter::In(GateState::Open), kind: None, all, limit: 0, cursor: None };
    gate::list(&f.ledger, scope, wanted).await.unwrap().items
}

pub fn says(verdict: Verdict) -> NewDecision {
    let note = (verdict == Verdict::Deny).then(|| "not yet".to_owned());
    NewDecision { verdict, value: None, note, digest: None }
}

pub fn edits(value: &Value) -> NewDecision {
    NewDecision { value: Some(value.clone()), ..says(Verdict::Edit) }
}

pub async fn decide(f: &Fixture, by: &Scope, id: GateId, new: NewDecision) -> ledger::Result<GateItem> {
    gate::decide(&f.ledger, by, id, new).await
}

pub async fn sweep_after(f: &Fixture, seconds: i64) -> gate::Swept {
    f.clock.advance(TimeDelta::seconds(seconds));
    gate::sweep(&f.ledger).await.unwrap()
}

pub async fn session_now(f: &Fixture, id: SessionId) -> Session {
    session::get(&f.ledger, &f.admin, id).await.unwrap()
}

pub async fn now(f: &Fixture, of: &EntityRecord) -> EntityRecord {
    entity::get(&f.ledger, &f.admin, of.id).await.unwrap()
}

pub async fn at_once(f: &Fixture) {
    gate::set_undo_seconds(&f.ledger, &f.admin, 0).await.unwrap();
}

/// Returns the kinds of the log's newest events, oldest first.
pub async fn newest_kinds(f: &Fixture, id: SessionId, count: usize) -> Vec<String> {
    let log = f.log(id).await;
    log[log.len() - count..].iter().map(|event| event.kind.clone()).collect()
}

pub async fn safety(f: &Fixture) -> Value {
    let dimensions: Vec<Dimension> = serde_json::from_value(json!([{
        "slug": "claim_safety", "name": "Claims", "type": "select", "options": [
            {"value": "pass", "score": 1.0}, {"value": "soft", "style": "caution", "score": 0.5},
            {"value": "fail", "style": "negative", "hardBlock": true}]
    }]))
    .unwrap();
    let new = NewCriteriaSet { name: "Safety".into(), dimensions, ..NewCriteriaSet::default() };
    let set = criteria_set::create(&f.ledger, &f.operator, new).await.unwrap();
    json!({ "criteria_set_ids": [set.id] })
}

/// A criteria set without a hard block.
async fn tone(f: &Fixture) -> CriteriaSetRecord {
    let dimensions: Vec<Dimension> = serde_json::from_value(json!([{
        "slug": "tone", "name": "Tone", "type": "select", "options": [
            {"value": "warm", "score": 1.0}, {"value": "cold", "style": "caution", "score": 0.5}]
    }]))
    .unwrap();
    let new = NewCriteriaSet { name: "Tone".into(), dimensions, ..NewCriteriaSet::default() };
    criteria_set::create(&f.ledger, &f.operator, new).await.unwrap()
}

async fn an_approved_output_is_written_once_when_it_cannot_be_undone_any_more(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 12 })).await;
    assert_eq!((waiting.status(), waiting.lease_expires_at()), (Status::WaitingHuman, None));
    assert_eq!((item.gate.kind, item.gate.entity_id), (GateKind::Output, Some(acme.id)));
    assert_eq!(json!(item.proposed), json!({ "stage": "Won", "size": 12 }));
    // A worker that did not receive the response sends the request again.
    assert_eq!(complete(&f, &waiting, &json!({ "stage": "Won", "size": 12 })).await.status(), Status::WaitingHuman);

    let held = decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    assert_eq!((held.gate.state.name(), held.gate.state.verdict()), (GateState::Held, Some(Verdict::Approve)));
    assert_eq!(sweep_after(&f, 4).await, gate::Swept::default());
    assert_eq!((now(&f, &acme).await.version, session_now(&f, waiting.id).await.status()), (1, Status::WaitingHuman));

    assert_eq!(sweep_after(&f, 2).await, gate::Swept { settled: 1, ..Default::default() });
    assert_eq!(sweep_after(&f, 60).await, gate::Swept::default());
    let won = now(&f, &acme).await;
    assert_eq!((won.version, json!(won.fields)), (2, json!({ "stage": "Won", "size": 12 })));
    assert_eq!(won.updated_by, f.operator.caller.to_string());
    let wanted = ledger::ListPage { limit: 0, cursor: None };
    let versions = entity::list_versions(&f.ledger, &f.admin, acme.id, wanted).await.unwrap().items;
    assert_eq!(versions[0].session_id, Some(waiting.id));
    let done = session_now(&f, waiting.id).await;
    assert_eq!((done.status(), done.end_reason()), (Status::Completed, Some(EndReason::Done)));
    assert_eq!(serde_json::from_str::<Value>(done.result().unwrap()).unwrap(), json!({ "stage": "Won", "size": 12 }));
    let kinds = newest_kinds(&f, waiting.id, 5).await;
    let expected = [
        "session.waiting_approval",
        "session.status_change",
        "user.output_approval",
        "session.completed",
        "session.status_change",
    ];
    assert_eq!(kinds, expected);
    f.assert_verified().await;
    f.done().await;
}

async fn without_an_undo_window_decision_write_back_and_completion_are_one_transaction(f: Fixture) {
    assert_eq!(gate::undo_seconds(&f.ledger, &f.member).await.unwrap(), 5);
    at_once(&f).await;
    assert_eq!(gate::undo_seconds(&f.ledger, &f.member).await.unwrap(), 0);
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let settled = decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    assert_eq!((settled.gate.state.name(), settled.gate.state.held_until()), (GateState::Settled, None));
    assert_eq!((now(&f, &acme).await.version, session_now(&f, waiting.id).await.status()), (2, Status::Completed));
    f.done().await;
}

async fn an_undone_decision_has_no_effect_and_can_be_given_again(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let id = item.gate.id;
    let nothing_yet = gate::undo(&f.ledger, &f.operator, id).await;
    assert!(matches!(nothing_yet, Err(Error::GateClosed { .. })), "{nothing_yet:?}");
    decide(&f, &f.operator, id, says(Verdict::Approve)).await.unwrap();
    let not_theirs = gate::undo(&f.ledger, &f.admin, id).await;
    assert!(matches!(not_theirs, Err(Error::Forbidden(_))), "{not_theirs:?}");
    let undone = gate::undo(&f.ledger, &f.operator, id).await.unwrap();
    assert_eq!((undone.gate.state.name(), undone.gate.state.verdict(), undone.last), (GateState::Open, None, None));
    assert_eq!(sweep_after(&f, 600).await, gate::Swept::default());
    assert_eq!(now(&f, &acme).await.version, 1);

    decide(&f, &f.operator, id, says(Verdict::Approve)).await.unwrap();
    f.clock.advance(TimeDelta::seconds(5));
    // The time for undoing is over, although no sweep has run since.
    let late = gate::undo(&f.ledger, &f.operator, id).await;
    assert!(matches!(late, Err(Error::GateClosed { .. })), "{late:?}");
    assert_eq!(sweep_after(&f, 0).await.settled, 1);
    assert_eq!(now(&f, &acme).await.version, 2);
    let kinds = newest_kinds(&f, waiting.id, 5).await;
    assert_eq!(kinds[..3], ["user.output_approval"; 3]);
    f.done().await;
}

async fn a_reviewers_edit_is_what_is_written(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 12, "title": "Acme Inc" })).await;
    let edited = decide(&f, &f.operator, item.gate.id, edits(&json!({ "size": 13 }))).await.unwrap();
    assert_eq!(edited.gate.state.verdict(), Some(Verdict::Edit));
    let won = now(&f, &acme).await;
    assert_eq!((won.title.as_str(), json!(won.fields)), ("Acme Inc", json!({ "stage": "Won", "size": 13 })));
    let done = session_now(&f, waiting.id).await;
    let result: Value = serde_json::from_str(done.result().unwrap()).unwrap();
    assert_eq!(result, json!({ "stage": "Won", "size": 13, "title": "Acme Inc" }));
    f.done().await;
}

async fn a_reviewer_cannot_add_what_was_not_staged_or_break_the_records_type(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    for (edit, field) in [
        (json!({ "size": 1 }), "value.size"),
        (json!({ "stage": "Won", "title": "Mine" }), "value.title"),
        (json!({ "stage": 7 }), "value.stage"),
        (json!({ "stage": "Lost" }), "stage"),
        (json!(["Won"]), "value"),
        (json!({}), "value"),
    ] {
        match decide(&f, &f.operator, item.gate.id, edits(&edit)).await {
            Err(Error::Invalid(errors)) => {
                assert!(errors.iter().any(|e| e.field.ends_with(field)), "{edit}: {errors:?}");
            }
            other => panic!("{edit}: {other:?}"),
        }
    }
    assert_eq!(now(&f, &acme).await.version, 1);
    assert_eq!(gate::get(&f.ledger, &f.operator, item.gate.id).await.unwrap().item.decisions, []);
    f.done().await;
}

async fn a_hard_block_fails_the_session_and_asks_no_one(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, safety(&f).await).await;
    action::trigger(&f.ledger, &f.member, of.id, Trigger::default()).await.unwrap();
    let claimed = claim(&f).await.session;
    let failed = complete(&f, &claimed, &json!({ "stage": "Won", "claim_safety": "fail" })).await;
    assert_eq!((failed.status(), failed.end_reason()), (Status::Failed, Some(EndReason::HardBlock)));
    assert_eq!(failed.error_code(), Some("hard_block"));
    assert!(failed.error_message().unwrap().contains("claim_safety"));
    assert!(open(&f, &f.admin, true).await.is_empty());
    assert_eq!(now(&f, &acme).await.version, 1);
    f.done().await;
}

async fn each_of_several_criteria_sets_guards_the_output(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let mut config = safety(&f).await;
    let safety_set = config["criteria_set_ids"][0].take();
    let neutral_set = tone(&f).await;
    config["criteria_set_ids"] = json!([neutral_set.id, safety_set]);
    let of = gated(&f, Some(acme.id), Value::Null, config).await;
    let blocked =
        [json!({ "stage": "Won", "tone": "warm", "claim_safety": "fail" }), json!({ "stage": "Won", "tone": "warm" })];
    for output in blocked {
        action::trigger(&f.ledger, &f.member, of.id, Trigger::default()).await.unwrap();
        let claimed = claim(&f).await.session;
        let failed = complete(&f, &claimed, &output).await;
        assert_eq!((failed.status(), failed.end_reason()), (Status::Failed, Some(EndReason::HardBlock)), "{output}");
        assert!(failed.error_message().unwrap().contains("claim_safety"), "{output}");
    }
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won", "tone": "cold", "claim_safety": "pass" })).await;
    assert_eq!((item.gate.score, item.gate.flags.as_slice()), (Some(0.75), &["tone: cold".to_owned()][..]));
    let kept: Value = serde_json::from_str(item.gate.criteria.as_deref().unwrap()).unwrap();
    assert_eq!((&kept["setId"], &kept["others"][0]["setId"]), (&json!(neutral_set.id), &safety_set));
    let slugs: Vec<_> = kept["dimensions"].as_array().unwrap().iter().map(|dimension| &dimension["slug"]).collect();
    assert_eq!(slugs, ["tone", "claim_safety"]);
    let refused = decide(&f, &f.operator, item.gate.id, edits(&json!({ "claim_safety": "fail" }))).await;
    assert!(matches!(refused, Err(Error::HardBlock(_))), "{refused:?}");
    f.done().await;
}

async fn an_edit_that_chooses_a_hard_block_is_refused_by_its_dimension(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, safety(&f).await).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won", "claim_safety": "soft" })).await;
    assert_eq!((item.gate.score, item.gate.flags.as_slice()), (Some(0.5), &["claim_safety: soft".to_owned()][..]));
    match decide(&f, &f.operator, item.gate.id, edits(&json!({ "claim_safety": "fail" }))).await {
        Err(Error::HardBlock(error)) => {
            assert_eq!(error.field, "claim_safety");
            assert!(error.message.contains("fail"), "{}", error.message);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(session_now(&f, waiting.id).await.status(), Status::WaitingHuman);
    decide(&f, &f.operator, item.gate.id, edits(&json!({ "claim_safety": "pass" }))).await.unwrap();
    let won = now(&f, &acme).await;
    // The values of the criteria stay with the session. The entity has no such fields.
    assert_eq!(json!(won.fields), json!({ "stage": "Won" }));
    f.done().await;
}

async fn an_output_that_does_not_answer_a_blocking_dimension_is_blocked(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, safety(&f).await).await;
    for output in [json!({ "stage": "Won" }), json!({ "stage": "Won", "claim_safety": null })] {
        action::trigger(&f.ledger, &f.member, of.id, Trigger::default()).await.unwrap();
        let claimed = claim(&f).await.session;
        let failed = complete(&f, &claimed, &output).await;
        assert_eq!((failed.status(), failed.end_reason()), (Status::Failed, Some(EndReason::HardBlock)), "{output}");
    }
    f.done().await;
}

async fn a_denied_output_is_returned_with_its_reason_and_the_third_denial_fails_the_session(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (mut waiting, mut item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let wordless = NewDecision { note: Some(" ".into()), ..says(Verdict::Deny) };
    let refused = decide(&f, &f.operator, item.gate.id, wordless).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    for round in 1..=3_usize {
        let why = NewDecision { note: Some(format!("reason {round}")), ..says(Verdict::Deny) };
        decide(&f, &f.operator, item.gate.id, why).await.unwrap();
        let after = session_now(&f, waiting.id).await;
        if round == 3 {
            assert_eq!((after.status(), after.end_reason()), (Status::Failed, Some(EndReason::Rejected)));
            assert!(after.error_message().unwrap().contains("reason 3"));
            break;
        }
        assert_eq!(after.status(), Status::Pending);
        let again = claim(&f).await;
        let notes: Vec<_> = again.denials.iter().filter_map(|denied| denied.note.clone()).collect();
        assert_eq!(notes, (1..=round).map(|n| format!("reason {n}")).collect::<Vec<_>>());
        assert_eq!(again.denials[0].by, "otto@acme.test");
        assert!(again.resume.is_none(), "a denial is told once: {:?}", again.resume);
        waiting = complete(&f, &again.session, &json!({ "stage": "Won" })).await;
        item = gate_of(&f, waiting.id).await;
        let detail = gate::get(&f.ledger, &f.operator, item.gate.id).await.unwrap();
        assert_eq!(detail.denials.len(), round);
    }
    assert_eq!(now(&f, &acme).await.version, 1);
    f.assert_verified().await;
    f.done().await;
}

async fn a_cancelled_session_withdraws_its_gate(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    session::cancel(&f.ledger, &f.operator, waiting.id, None).await.unwrap();
    assert_eq!(sweep_after(&f, 60).await, gate::Swept::default());
    let detail = gate::get(&f.ledger, &f.operator, item.gate.id).await.unwrap();
    assert_eq!(detail.item.gate.state.name(), GateState::Withdrawn);
    assert_eq!(now(&f, &acme).await.version, 1);
    f.done().await;
}

async fn an_approval_that_cannot_be_written_any_more_waits_again(f: Fixture) {
    let of_type = company(&f).await;
    let beta = acme(&f, &of_type, "Beta").await;
    let acme = acme(&f, &of_type, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won", "parent": beta.id })).await;
    decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    // Meanwhile the type's options change, so that the approved value is no longer valid.
    let mut fields = of_type.fields.clone();
    fields[0].options = vec!["Lead".into(), "Closed".into()];
    let change = ledger::entity_type::EntityTypeChange { version: 1, name: None, fields: Some(fields) };
    ledger::entity_type::update(&f.ledger, &f.operator, of_type.id, change).await.unwrap();
    assert_eq!(sweep_after(&f, 5).await, gate::Swept { reopened: 1, ..Default::default() });
    let detail = gate::get(&f.ledger, &f.operator, item.gate.id).await.unwrap();
    assert_eq!(detail.item.gate.state.name(), GateState::Open);
    assert!(detail.item.decisions[1].note.as_deref().unwrap().contains("stage"));
    let again = decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await;
    assert!(matches!(again, Err(Error::Invalid(_))), "it is refused before it is recorded: {again:?}");
    assert_eq!((now(&f, &acme).await.version, session_now(&f, waiting.id).await.status()), (1, Status::WaitingHuman));
    f.assert_verified().await;
    f.done().await;
}

async fn several_entities_are_approved_as_one(f: Fixture) {
    at_once(&f).await;
    let of_type = company(&f).await;
    let acme = acme(&f, &of_type, "Acme").await;
    let new = NewAction {
        name: "Sort".into(),
        agent_slug: Some("scout".into()),
        output_type: Some(OutputType::Entities),
        output_config: Some(json!({ "entityType": "company" }).to_string()),
        metadata: Some(json!({ "requiresApproval": true }).to_string()),
        ..NewAction::default()
    };
    let of = action::create(&f.ledger, &f.operator, new).await.unwrap();
    let output = json!({ "entities": [{ "id": acme.id, "stage": "Won" }, { "title": "New", "stage": "Lead" }] });
    let (waiting, item) = staged(&f, &of, &output).await;
    let edit = json!({ "entities": [{}, { "title": "Newer" }] });
    decide(&f, &f.operator, item.gate.id, edits(&edit)).await.unwrap();
    assert_eq!(session_now(&f, waiting.id).await.status(), Status::Completed);
    assert_eq!(now(&f, &acme).await.version, 2);
    let wanted = entity::ListEntities::default();
    let mut titles: Vec<_> =
        entity::list(&f.ledger, &f.admin, wanted).await.unwrap().items.into_iter().map(|e| e.title).collect();
    titles.sort();
    assert_eq!(titles, ["Acme", "Newer"]);
    f.done().await;
}
