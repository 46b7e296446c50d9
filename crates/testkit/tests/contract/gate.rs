//! Gates: what waits for a person's decision, and that each decision has its effect once.

use crate::entity::{acme, company, values};
use chrono::TimeDelta;
use domain::{
    Scope,
    action::OutputType,
    criteria::Dimension,
    gate::{GateKind, GateState, PausedToolCall, Question, Verdict},
    id::{EntityId, GateId, SessionId},
    session::{EndReason, Status, YieldTo},
};
use ledger::{
    ActionRecord, EntityRecord, Error, SessionRecord,
    action::{self, NewAction, Trigger},
    criteria_set::{self, NewCriteriaSet},
    entity::{self, ListVersions},
    gate::{self, GateFilter, GateItem, ListGates, NewDecision, Reply},
    group::{self, NewGroup},
    session::{self, Claim, Completion, Parking},
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
    a_hard_block_fails_the_session_and_asks_nobody,
    an_edit_that_chooses_a_hard_block_is_refused_by_its_dimension,
    an_output_that_does_not_answer_a_blocking_dimension_is_blocked,
    a_denied_output_goes_back_with_its_reason_and_the_third_denial_fails_it,
    of_fifty_decisions_at_once_one_is_recorded,
    a_repeat_answers_with_the_recorded_decision_and_another_decision_conflicts,
    only_assigned_reviewers_decide,
    a_group_decides_for_whom_it_names_and_a_quorum_needs_that_many,
    nobody_approves_their_own_request_where_the_task_forbids_it,
    a_decision_is_bound_to_what_was_shown,
    a_paused_call_resumes_with_the_arguments_that_were_approved,
    a_question_is_answered_within_its_schema,
    what_nobody_decides_is_reminded_escalated_and_expires,
    a_cancelled_session_withdraws_its_gate,
    what_was_put_aside_comes_back,
    an_approval_that_cannot_be_written_any_more_waits_again,
    several_entities_are_approved_as_one,
    the_inbox_pages_by_deadline,
);

/// An action whose output changes `entity` and waits for approval, with more settings.
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

async fn claim(f: &Fixture) -> session::Claimed {
    let claim = Claim { agent_slugs: None, max: 1, lease_seconds: 3_600 };
    session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await.unwrap().pop().unwrap()
}

async fn complete(f: &Fixture, session: &SessionRecord, result: &Value) -> SessionRecord {
    let completion =
        Completion { attempt: session.attempt, result: Some(result.to_string()), usage: Some("{}".into()) };
    session::complete(&f.ledger, &f.worker, session.id, completion).await.unwrap()
}

/// A session of the action that waits with this output, and its gate.
pub async fn staged(f: &Fixture, of: &ActionRecord, result: &Value) -> (SessionRecord, GateItem) {
    action::trigger(&f.ledger, &f.member, of.id, Trigger::default()).await.unwrap();
    let claimed = claim(f).await.session;
    let waiting = complete(f, &claimed, result).await;
    let item = gate_of(f, waiting.id).await;
    (waiting, item)
}

async fn gate_of(f: &Fixture, id: SessionId) -> GateItem {
    let listed = open(f, &f.admin, true).await;
    listed.into_iter().find(|item| item.gate.session_id == id).unwrap()
}

async fn open(f: &Fixture, scope: &Scope, all: bool) -> Vec<GateItem> {
    let wanted = ListGates { filter: GateFilter::In(GateState::Open), kind: None, all, limit: 0, cursor: None };
    gate::list(&f.ledger, scope, wanted).await.unwrap().items
}

pub fn says(verdict: Verdict) -> NewDecision {
    let note = (verdict == Verdict::Deny).then(|| "not yet".to_owned());
    NewDecision { verdict, value: None, note, digest: None }
}

fn edits(value: &Value) -> NewDecision {
    NewDecision { value: Some(value.to_string()), ..says(Verdict::Edit) }
}

pub async fn decide(f: &Fixture, by: &Scope, id: GateId, new: NewDecision) -> ledger::Result<GateItem> {
    gate::decide(&f.ledger, by, id, new).await
}

pub async fn sweep_after(f: &Fixture, seconds: i64) -> gate::Swept {
    f.clock.advance(TimeDelta::seconds(seconds));
    gate::sweep(&f.ledger).await.unwrap()
}

async fn session_now(f: &Fixture, id: SessionId) -> SessionRecord {
    session::get(&f.ledger, &f.admin, id).await.unwrap()
}

async fn now(f: &Fixture, of: &EntityRecord) -> EntityRecord {
    entity::get(&f.ledger, &f.admin, of.id).await.unwrap()
}

async fn at_once(f: &Fixture) {
    gate::set_undo_seconds(&f.ledger, &f.admin, 0).await.unwrap();
}

/// Kinds of the log's newest events, oldest first.
async fn newest_kinds(f: &Fixture, id: SessionId, count: usize) -> Vec<String> {
    let log = f.log(id).await;
    log[log.len() - count..].iter().map(|event| event.kind.clone()).collect()
}

async fn safety(f: &Fixture) -> Value {
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

async fn an_approved_output_is_written_once_when_it_cannot_be_undone_any_more(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 12 })).await;
    assert_eq!((waiting.status, waiting.lease_expires_at), (Status::WaitingHuman, None));
    assert_eq!((item.gate.kind, item.gate.entity_id), (GateKind::Output, Some(acme.id)));
    assert_eq!(json!(item.proposed), json!({ "stage": "Won", "size": 12 }));
    // A worker that never heard the answer asks again.
    assert_eq!(complete(&f, &waiting, &json!({ "stage": "Won", "size": 12 })).await.status, Status::WaitingHuman);

    let held = decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    assert_eq!((held.gate.state, held.gate.outcome), (GateState::Held, Some(Verdict::Approve)));
    assert_eq!(sweep_after(&f, 4).await, gate::Swept::default());
    assert_eq!((now(&f, &acme).await.version, session_now(&f, waiting.id).await.status), (1, Status::WaitingHuman));

    assert_eq!(sweep_after(&f, 2).await, gate::Swept { settled: 1, ..Default::default() });
    assert_eq!(sweep_after(&f, 60).await, gate::Swept::default());
    let won = now(&f, &acme).await;
    assert_eq!((won.version, json!(won.fields)), (2, json!({ "stage": "Won", "size": 12 })));
    assert_eq!(won.updated_by, f.operator.caller.to_string());
    let wanted = ListVersions { limit: 0, cursor: None };
    let versions = entity::list_versions(&f.ledger, &f.admin, acme.id, wanted).await.unwrap().items;
    assert_eq!(versions[0].session_id, Some(waiting.id));
    let done = session_now(&f, waiting.id).await;
    assert_eq!((done.status, done.end_reason), (Status::Completed, Some(EndReason::Done)));
    assert_eq!(serde_json::from_str::<Value>(&done.result.unwrap()).unwrap(), json!({ "stage": "Won", "size": 12 }));
    let told = newest_kinds(&f, waiting.id, 5).await;
    let expected = [
        "session.waiting_approval",
        "session.status_change",
        "user.output_approval",
        "session.completed",
        "session.status_change",
    ];
    assert_eq!(told, expected);
    f.assert_verified().await;
    f.done().await;
}

async fn without_an_undo_window_decision_write_back_and_completion_are_one_transaction(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let settled = decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    assert_eq!((settled.gate.state, settled.gate.held_until), (GateState::Settled, None));
    assert_eq!((now(&f, &acme).await.version, session_now(&f, waiting.id).await.status), (2, Status::Completed));
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
    assert_eq!((undone.gate.state, undone.gate.outcome, undone.last), (GateState::Open, None, None));
    assert_eq!(sweep_after(&f, 600).await, gate::Swept::default());
    assert_eq!(now(&f, &acme).await.version, 1);

    decide(&f, &f.operator, id, says(Verdict::Approve)).await.unwrap();
    f.clock.advance(TimeDelta::seconds(5));
    // The window is over although no sweep came by yet.
    let late = gate::undo(&f.ledger, &f.operator, id).await;
    assert!(matches!(late, Err(Error::GateClosed { .. })), "{late:?}");
    assert_eq!(sweep_after(&f, 0).await.settled, 1);
    assert_eq!(now(&f, &acme).await.version, 2);
    let told = newest_kinds(&f, waiting.id, 5).await;
    assert_eq!(told[..3], ["user.output_approval"; 3]);
    f.done().await;
}

async fn a_reviewers_edit_is_what_is_written(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 12, "title": "Acme Inc" })).await;
    let edited = decide(&f, &f.operator, item.gate.id, edits(&json!({ "size": 13 }))).await.unwrap();
    assert_eq!(edited.gate.outcome, Some(Verdict::Edit));
    let won = now(&f, &acme).await;
    assert_eq!((won.title.as_str(), json!(won.fields)), ("Acme Inc", json!({ "stage": "Won", "size": 13 })));
    let done = session_now(&f, waiting.id).await;
    let result: Value = serde_json::from_str(&done.result.unwrap()).unwrap();
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

async fn a_hard_block_fails_the_session_and_asks_nobody(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, safety(&f).await).await;
    action::trigger(&f.ledger, &f.member, of.id, Trigger::default()).await.unwrap();
    let claimed = claim(&f).await.session;
    let failed = complete(&f, &claimed, &json!({ "stage": "Won", "claim_safety": "fail" })).await;
    assert_eq!((failed.status, failed.end_reason), (Status::Failed, Some(EndReason::HardBlock)));
    assert_eq!(failed.error_code.as_deref(), Some("hard_block"));
    assert!(failed.error_message.unwrap().contains("claim_safety"));
    assert!(open(&f, &f.admin, true).await.is_empty());
    assert_eq!(now(&f, &acme).await.version, 1);
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
    assert_eq!(session_now(&f, waiting.id).await.status, Status::WaitingHuman);
    decide(&f, &f.operator, item.gate.id, edits(&json!({ "claim_safety": "pass" }))).await.unwrap();
    let won = now(&f, &acme).await;
    // The verdict stays with the session; the record has no such field.
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
        assert_eq!((failed.status, failed.end_reason), (Status::Failed, Some(EndReason::HardBlock)), "{output}");
    }
    f.done().await;
}

async fn a_denied_output_goes_back_with_its_reason_and_the_third_denial_fails_it(f: Fixture) {
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
            assert_eq!((after.status, after.end_reason), (Status::Failed, Some(EndReason::Rejected)));
            assert!(after.error_message.unwrap().contains("reason 3"));
            break;
        }
        assert_eq!(after.status, Status::Pending);
        let again = claim(&f).await;
        let told: Vec<_> = again.denials.iter().filter_map(|denied| denied.note.clone()).collect();
        assert_eq!(told, (1..=round).map(|n| format!("reason {n}")).collect::<Vec<_>>());
        assert_eq!(again.denials[0].by, "otto@acme.test");
        waiting = complete(&f, &again.session, &json!({ "stage": "Won" })).await;
        item = gate_of(&f, waiting.id).await;
        let detail = gate::get(&f.ledger, &f.operator, item.gate.id).await.unwrap();
        assert_eq!(detail.denials.len(), round);
    }
    assert_eq!(now(&f, &acme).await.version, 1);
    f.assert_verified().await;
    f.done().await;
}

async fn of_fifty_decisions_at_once_one_is_recorded(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 1 })).await;
    let asked = (0..50).map(|n| {
        let new = match n % 3 {
            0 => says(Verdict::Approve),
            1 => says(Verdict::Deny),
            _ => edits(&json!({ "size": 2 })),
        };
        let by = if n % 2 == 0 { f.operator } else { f.admin };
        let (ledger, id) = (f.ledger.clone(), item.gate.id);
        tokio::spawn(async move { (new.verdict, gate::decide(&ledger, &by, id, new).await) })
    });
    let asked: Vec<_> = asked.collect();
    let (mut taken, mut refused) = (Vec::new(), 0);
    for answer in asked {
        match answer.await.unwrap() {
            (verdict, Ok(item)) => taken.push((verdict, item.last)),
            (_, Err(Error::AlreadyDecided(recorded))) => {
                refused += 1;
                assert_eq!(recorded.number, 1);
            }
            (_, Err(Error::Unavailable(_))) => {}
            (_, other) => panic!("{other:?}"),
        }
    }
    let first = taken[0].0;
    assert!(taken.iter().all(|(verdict, last)| *verdict == first && *last == Some(1)), "{taken:?}");
    assert!(refused > 0);
    let detail = gate::get(&f.ledger, &f.admin, item.gate.id).await.unwrap();
    assert_eq!(detail.item.decisions.len(), 1);
    let approvals = f.log(waiting.id).await.iter().filter(|event| event.kind == "user.output_approval").count();
    assert_eq!(approvals, 1);
    assert_eq!(now(&f, &acme).await.version, if first == Verdict::Deny { 1 } else { 2 });
    f.done().await;
}

async fn a_repeat_answers_with_the_recorded_decision_and_another_decision_conflicts(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let id = item.gate.id;
    decide(&f, &f.operator, id, says(Verdict::Approve)).await.unwrap();
    for _ in 0..2 {
        let again = decide(&f, &f.operator, id, says(Verdict::Approve)).await.unwrap();
        assert_eq!(again.decisions.len(), 1);
        let denied = decide(&f, &f.operator, id, says(Verdict::Deny)).await;
        assert!(matches!(denied, Err(Error::AlreadyDecided(_))), "{denied:?}");
        sweep_after(&f, 6).await;
    }
    assert_eq!(now(&f, &acme).await.version, 2);
    f.done().await;
}

async fn only_assigned_reviewers_decide(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let reviewer = format!("user:{}", f.other_member.user_id().unwrap());
    let of = gated(&f, Some(acme.id), json!({ "reviewers": [reviewer] }), json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let id = item.gate.id;
    for by in [f.operator, f.admin, f.member, f.worker] {
        let refused = decide(&f, &by, id, says(Verdict::Approve)).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
        assert!(open(&f, &by, false).await.is_empty() || by == f.worker);
    }
    let elsewhere = decide(&f, &f.stranger, id, says(Verdict::Approve)).await;
    assert!(matches!(elsewhere, Err(Error::NotFound(_))), "{elsewhere:?}");
    assert!(matches!(gate::get(&f.ledger, &f.stranger, id).await, Err(Error::NotFound(_))));
    assert_eq!(gate::count(&f.ledger, &f.other_member).await.unwrap(), 1);
    assert_eq!(gate::count(&f.ledger, &f.operator).await.unwrap(), 0);
    decide(&f, &f.other_member, id, says(Verdict::Approve)).await.unwrap();
    assert_eq!(now(&f, &acme).await.version, 2);
    f.done().await;
}

async fn a_group_decides_for_whom_it_names_and_a_quorum_needs_that_many(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let members = [f.member, f.other_member].iter().filter_map(Scope::user_id).collect();
    let new = NewGroup { name: "Legal".into(), slug: None, members };
    group::create(&f.ledger, &f.operator, new).await.unwrap();
    let policy = json!({ "reviewers": ["group:legal"], "quorum": 2 });
    let of = gated(&f, Some(acme.id), policy, json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 1 })).await;
    let id = item.gate.id;
    let outsider = decide(&f, &f.operator, id, says(Verdict::Approve)).await;
    assert!(matches!(outsider, Err(Error::Forbidden(_))), "{outsider:?}");
    let one = decide(&f, &f.member, id, says(Verdict::Approve)).await.unwrap();
    assert_eq!((one.gate.state, one.approvals), (GateState::Open, 1));
    let again = decide(&f, &f.member, id, says(Verdict::Approve)).await.unwrap();
    assert_eq!((again.gate.state, again.decisions.len()), (GateState::Open, 1));
    // An edit is a proposal of its own: what was approved before does not count for it.
    let edited = decide(&f, &f.other_member, id, edits(&json!({ "size": 2 }))).await.unwrap();
    assert_eq!((edited.gate.state, edited.approvals), (GateState::Open, 1));
    let agreed = NewDecision { digest: Some(edited.digest.to_string()), ..says(Verdict::Approve) };
    let done = decide(&f, &f.member, id, agreed).await.unwrap();
    assert_eq!(done.gate.state, GateState::Settled);
    assert_eq!(json!(now(&f, &acme).await.fields), json!({ "stage": "Won", "size": 2 }));
    f.done().await;
}

async fn nobody_approves_their_own_request_where_the_task_forbids_it(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let both: Vec<_> =
        [f.member, f.other_member].iter().filter_map(Scope::user_id).map(|id| format!("user:{id}")).collect();
    let of = gated(&f, Some(acme.id), json!({ "reviewers": both, "selfApproval": false }), json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let own = decide(&f, &f.member, item.gate.id, says(Verdict::Approve)).await;
    assert!(matches!(own, Err(Error::Forbidden(_))), "{own:?}");
    decide(&f, &f.other_member, item.gate.id, says(Verdict::Approve)).await.unwrap();
    f.done().await;
}

async fn a_decision_is_bound_to_what_was_shown(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), json!({ "quorum": 2 }), json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 1 })).await;
    let (id, shown) = (item.gate.id, item.digest.to_string());
    let garbled = NewDecision { digest: Some("abc".into()), ..says(Verdict::Approve) };
    assert!(matches!(decide(&f, &f.admin, id, garbled).await, Err(Error::Invalid(_))));
    decide(&f, &f.operator, id, edits(&json!({ "size": 2 }))).await.unwrap();
    let stale = NewDecision { digest: Some(shown), ..says(Verdict::Approve) };
    let refused = decide(&f, &f.admin, id, stale).await;
    assert!(matches!(refused, Err(Error::StaleDecision { .. })), "{refused:?}");
    assert_eq!(gate::get(&f.ledger, &f.admin, id).await.unwrap().item.decisions.len(), 1);
    f.done().await;
}

async fn a_paused_call_resumes_with_the_arguments_that_were_approved(f: Fixture) {
    at_once(&f).await;
    let call = || PausedToolCall {
        tool_call_id: "call-1".into(),
        tool_name: "send_mail".into(),
        tool_input: values(json!({ "to": "ada@acme.test", "subject": "Hello" })),
    };
    for (new, expected) in [
        (says(Verdict::Approve), Some(json!({ "to": "ada@acme.test", "subject": "Hello" }))),
        (edits(&json!({ "subject": "Hi" })), Some(json!({ "to": "ada@acme.test", "subject": "Hi" }))),
        (says(Verdict::Deny), None),
    ] {
        let session = f.running().await;
        let parking = Parking { paused_tool_call: Some(call()), ..Parking::at(session.attempt, YieldTo::AwaitingTool) };
        let parked = session::yield_to(&f.ledger, &f.worker, session.id, parking).await.unwrap();
        assert_eq!(parked.status, Status::AwaitingTool);
        let item = gate_of(&f, session.id).await;
        assert_eq!((item.gate.kind, item.gate.title.as_str()), (GateKind::Tool, "send_mail"));
        decide(&f, &f.operator, item.gate.id, new.clone()).await.unwrap();
        let resumed = claim(&f).await;
        assert_eq!((resumed.session.id, resumed.session.attempt), (session.id, session.attempt + 1));
        let resume = resumed.resume.unwrap();
        assert_eq!((resume.decision, resume.tool_call_id.as_deref()), (new.verdict, Some("call-1")));
        assert_eq!(resume.tool_input.map(Value::Object), expected);
        assert_eq!(resume.note, new.note);
        complete(&f, &resumed.session, &json!("done")).await;
    }
    let session = f.running().await;
    let wrong = Parking { paused_tool_call: Some(call()), ..Parking::at(session.attempt, YieldTo::WaitingHuman) };
    let refused = session::yield_to(&f.ledger, &f.worker, session.id, wrong).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    f.done().await;
}

async fn a_question_is_answered_within_its_schema(f: Fixture) {
    let schema = json!({ "type": "object", "required": ["when"], "properties": { "when": { "type": "string" } } });
    let question = Question { message: "When?".into(), schema: Some(schema) };
    let session = f.running().await;
    let parking = Parking { question: Some(question), ..Parking::at(session.attempt, YieldTo::WaitingHuman) };
    session::yield_to(&f.ledger, &f.worker, session.id, parking).await.unwrap();
    let item = gate_of(&f, session.id).await;
    assert_eq!((item.gate.kind, item.gate.title.as_str()), (GateKind::Question, "When?"));
    let approved = decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await;
    assert!(matches!(approved, Err(Error::Invalid(_))), "{approved:?}");
    for by in [f.other_member, f.stranger] {
        let refused = gate::reply(&f.ledger, &by, session.id, Reply::Accept(json!({"when": "now"}).to_string())).await;
        assert!(matches!(refused, Err(Error::Forbidden(_) | Error::NotFound(_))), "{refused:?}");
    }
    let wrong = gate::reply(&f.ledger, &f.operator, session.id, Reply::Accept(json!({"when": 7}).to_string())).await;
    assert!(matches!(wrong, Err(Error::Invalid(_))), "{wrong:?}");
    let answer = Reply::Accept(json!({ "when": "now" }).to_string());
    let queued = gate::reply(&f.ledger, &f.operator, session.id, answer.clone()).await.unwrap();
    assert_eq!(queued.status, Status::Pending);
    let twice = gate::reply(&f.ledger, &f.operator, session.id, answer).await;
    assert!(matches!(twice, Err(Error::Refused(_))), "{twice:?}");
    let resume = claim(&f).await.resume.unwrap();
    assert_eq!(resume.answer.as_deref().map(|text| serde_json::from_str(text).unwrap()), Some(json!({"when": "now"})));
    f.done().await;
}

async fn what_nobody_decides_is_reminded_escalated_and_expires(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let person = |scope: &Scope| format!("user:{}", scope.user_id().unwrap());
    let policy = json!({
        "reviewers": [person(&f.operator)], "remindAfterSeconds": 60, "escalateAfterSeconds": 120,
        "escalateTo": person(&f.other_member), "expiresAfterSeconds": 180,
    });
    let of = gated(&f, Some(acme.id), policy, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    assert_eq!(sweep_after(&f, 59).await, gate::Swept::default());
    assert_eq!(sweep_after(&f, 1).await, gate::Swept { reminded: 1, ..Default::default() });
    assert_eq!(gate::count(&f.ledger, &f.other_member).await.unwrap(), 0);
    assert_eq!(sweep_after(&f, 60).await, gate::Swept { escalated: 1, ..Default::default() });
    assert_eq!(gate::count(&f.ledger, &f.other_member).await.unwrap(), 1);
    assert_eq!(sweep_after(&f, 60).await, gate::Swept { expired: 1, ..Default::default() });
    assert_eq!(sweep_after(&f, 600).await, gate::Swept::default());
    let ended = session_now(&f, waiting.id).await;
    assert_eq!((ended.status, ended.end_reason), (Status::Expired, Some(EndReason::TimedOut)));
    let closed = decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await;
    assert!(matches!(closed, Err(Error::GateClosed { state: GateState::Expired })), "{closed:?}");
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
    assert_eq!(detail.item.gate.state, GateState::Withdrawn);
    assert_eq!(now(&f, &acme).await.version, 1);
    f.done().await;
}

async fn what_was_put_aside_comes_back(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let id = item.gate.id;
    gate::snooze(&f.ledger, &f.operator, id, Some(60)).await.unwrap();
    assert_eq!(gate::count(&f.ledger, &f.operator).await.unwrap(), 0);
    assert!(open(&f, &f.operator, false).await.is_empty());
    // For others it is where it was.
    assert_eq!(gate::count(&f.ledger, &f.admin).await.unwrap(), 1);
    let wanted = ListGates { filter: GateFilter::Snoozed, kind: None, all: false, limit: 0, cursor: None };
    assert_eq!(gate::list(&f.ledger, &f.operator, wanted).await.unwrap().items.len(), 1);
    f.clock.advance(TimeDelta::seconds(60));
    assert_eq!(gate::count(&f.ledger, &f.operator).await.unwrap(), 1);
    gate::snooze(&f.ledger, &f.operator, id, Some(60)).await.unwrap();
    gate::snooze(&f.ledger, &f.operator, id, None).await.unwrap();
    assert_eq!(gate::count(&f.ledger, &f.operator).await.unwrap(), 1);
    f.done().await;
}

async fn an_approval_that_cannot_be_written_any_more_waits_again(f: Fixture) {
    let of_type = company(&f).await;
    let beta = acme(&f, &of_type, "Beta").await;
    let acme = acme(&f, &of_type, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won", "parent": beta.id })).await;
    decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    // Meanwhile the type's options change, so that what was approved does not fit any more.
    let mut fields = of_type.fields.clone();
    fields[0].options = vec!["Lead".into(), "Closed".into()];
    let change = ledger::entity_type::EntityTypeChange { version: 1, name: None, fields: Some(fields) };
    ledger::entity_type::update(&f.ledger, &f.operator, of_type.id, change).await.unwrap();
    assert_eq!(sweep_after(&f, 6).await, gate::Swept { reopened: 1, ..Default::default() });
    let detail = gate::get(&f.ledger, &f.operator, item.gate.id).await.unwrap();
    assert_eq!(detail.item.gate.state, GateState::Open);
    assert!(detail.item.decisions[1].note.as_deref().unwrap().contains("stage"));
    assert_eq!((now(&f, &acme).await.version, session_now(&f, waiting.id).await.status), (1, Status::WaitingHuman));
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
    assert_eq!(session_now(&f, waiting.id).await.status, Status::Completed);
    assert_eq!(now(&f, &acme).await.version, 2);
    let wanted = entity::ListEntities::default();
    let mut titles: Vec<_> =
        entity::list(&f.ledger, &f.admin, wanted).await.unwrap().items.into_iter().map(|e| e.title).collect();
    titles.sort();
    assert_eq!(titles, ["Acme", "Newer"]);
    f.done().await;
}

async fn the_inbox_pages_by_deadline(f: Fixture) {
    let of_type = company(&f).await;
    let acme = acme(&f, &of_type, "Acme").await;
    let mut expected = Vec::new();
    for deadline in [Some(300), None, Some(100), Some(200), None] {
        let policy = deadline.map_or(Value::Null, |seconds| json!({ "expiresAfterSeconds": seconds }));
        let of = gated(&f, Some(acme.id), policy, json!({})).await;
        let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
        expected.push((deadline.unwrap_or(i64::MAX), item.gate.id, waiting.id));
        f.clock.advance(TimeDelta::milliseconds(10));
    }
    expected.sort();
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let wanted = ListGates {
            filter: GateFilter::In(GateState::Open),
            kind: Some(GateKind::Output),
            all: false,
            limit: 2,
            cursor: cursor.take(),
        };
        let page = gate::list(&f.ledger, &f.operator, wanted).await.unwrap();
        seen.extend(page.items.iter().map(|item| item.gate.id));
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, expected.iter().map(|(_, id, _)| *id).collect::<Vec<_>>());
    f.done().await;
}
