//! Rules decide gates in the transaction that opens them, within their limits, and people suspend them by deciding
//! differently.

use crate::{
    entity::{acme, company},
    gate::{at_once, claim, complete, decide, gated, newest_kinds, now, safety, says, session_now, sweep_after},
    rule::{gate_at, made, paused, refund, request_refund, small_refunds, state_of},
    webhook::subscribed,
};
use chrono::TimeDelta;
use domain::{
    gate::{GateState, Verdict},
    id::GateId,
    role::Role,
    rule::{AmountLimit, Definition, Outcome, State, SuspendedWhy},
    session::{Session, Status},
};
use futures_util::future::join_all;
use ledger::{
    Error, ListPage, RuleRecord,
    action::{self, Trigger},
    gate, member, rule, thread,
    thread::NewThread,
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_rule_approves_as_a_person_does_and_the_call_goes_on,
    a_restart_between_the_decision_and_its_effect_changes_nothing,
    an_approved_output_is_written_in_the_name_of_the_rule,
    limits_of_a_day_hold_for_gates_that_open_at_once,
    a_back_test_equals_what_the_rule_did,
    what_no_rule_decides_waits_for_a_person,
    a_rule_of_someone_who_is_no_admin_any_more_decides_nothing,
    a_decision_that_differs_suspends_the_rules_that_cover_the_item,
    whoever_may_decide_undoes_the_decision_of_a_rule_and_suspends_it,
    an_expired_rule_asks_until_it_has_a_new_day,
);

fn is_by_rule(item: &gate::GateItem, record: &RuleRecord) -> bool {
    item.decisions.first().is_some_and(|decision| decision.actor == format!("rule:{}", record.id))
}

async fn decided_ids(f: &Fixture, record: &RuleRecord) -> Vec<GateId> {
    let page = ListPage { limit: 1_000, cursor: None };
    let listed = rule::decisions(&f.ledger, &f.member, record.id, page).await.unwrap();
    listed.items.into_iter().map(|item| item.gate_id).collect()
}

async fn a_rule_approves_as_a_person_does_and_the_call_goes_on(f: Fixture) {
    let record = made(&f, small_refunds(&f)).await;
    subscribed(&f, "http://127.0.0.1:9/".to_owned(), &["approval.requested", "approval.decided"]).await;
    let session = f.running().await;
    let waiting = paused(&f, &session, refund(&json!(50))).await;
    assert_eq!(waiting.status(), Status::AwaitingTool);
    let item = gate_at(&f, session.id).await;
    assert_eq!((item.gate.state.name(), item.gate.state.verdict()), (GateState::Held, Some(Verdict::Approve)));
    assert!(is_by_rule(&item, &record) && item.decisions.len() == 1 && item.decisions[0].user_id.is_none());
    let topics = "SELECT COUNT(*) FROM outbox WHERE topic = 'approval.requested'";
    assert_eq!(f.engine.raw().await.number(topics).await, 0, "no one is asked");
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM outbox").await, 1);
    let log = f.log(session.id).await;
    let event = log.last().unwrap();
    assert_eq!((event.kind.as_str(), event.actor.clone()), ("user.tool_confirmation", format!("rule:{}", record.id)));
    let metadata: Value = serde_json::from_str(&event.metadata).unwrap();
    let made_by = f.admin.user_id().unwrap();
    assert_eq!(metadata["rule"], json!({ "id": record.id, "version": 1, "madeBy": made_by }));
    assert_eq!(metadata["decision"], "approve");
    assert_eq!(sweep_after(&f, 4).await.settled, 0);
    assert_eq!(sweep_after(&f, 1).await.settled, 1);
    assert_eq!(session_now(&f, session.id).await.status(), Status::Pending);
    let above = request_refund(&f, 50.01).await;
    assert!(above.gate.state.is_open() && above.decisions.is_empty());
    let counted = rule::get(&f.ledger, &f.member, record.id).await.unwrap();
    assert_eq!((counted.decided_7d, counted.decided_90d), (1, 1));
    f.clock.advance(TimeDelta::days(8));
    let counted = rule::get(&f.ledger, &f.member, record.id).await.unwrap();
    assert_eq!((counted.decided_7d, counted.decided_90d), (0, 1));
    f.done().await;
}

async fn a_restart_between_the_decision_and_its_effect_changes_nothing(mut f: Fixture) {
    for undo_seconds in [5, 0] {
        gate::set_undo_seconds(&f.ledger, &f.admin, undo_seconds).await.unwrap();
        let record = made(&f, small_refunds(&f)).await;
        let item = request_refund(&f, 5.0).await;
        assert!(is_by_rule(&item, &record), "the decision is in the transaction that opened the gate");
        f.restart().await;
        assert_eq!(gate_at(&f, item.gate.session_id).await.gate.state, item.gate.state);
        assert_eq!(decided_ids(&f, &record).await, [item.gate.id]);
        assert_eq!(sweep_after(&f, undo_seconds.into()).await.settled, 1);
        f.restart().await;
        let read = gate::get(&f.ledger, &f.member, item.gate.id).await.unwrap().item;
        assert_eq!((read.gate.state.name(), read.decisions.len()), (GateState::Settled, 1));
        assert_eq!(session_now(&f, item.gate.session_id).await.status(), Status::Pending);
        assert_eq!(sweep_after(&f, 60).await, gate::Swept::default());
        rule::delete(&f.ledger, &f.admin, record.id).await.unwrap();
    }
    f.done().await;
}

fn won(f: &Fixture) -> Definition {
    let definition = json!({
        "subject": { "agent": "scout", "kind": "output", "fields": ["size", "stage"] },
        "conditions": [{ "field": "stage", "oneOf": ["Won"] }],
        "limits": { "perDay": 9, "expiresAt": f.ledger.now() + TimeDelta::days(9), "canaryPercent": 0 },
    });
    serde_json::from_value(definition).unwrap()
}

async fn an_approved_output_is_written_in_the_name_of_the_rule(f: Fixture) {
    at_once(&f).await;
    let record = made(&f, won(&f)).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let completed = async |value: Value| {
        action::trigger(&f.ledger, &f.member, of.id, Trigger::default()).await.unwrap();
        let claimed = claim(&f).await.session;
        complete(&f, &claimed, &value).await
    };
    let waiting = completed(json!({ "stage": "Won", "size": 12 })).await;
    let item = gate_at(&f, waiting.id).await;
    assert!(is_by_rule(&item, &record));
    assert_eq!(sweep_after(&f, 0).await.settled, 1);
    assert_eq!(newest_kinds(&f, waiting.id, 2).await, ["session.completed", "session.status_change"]);
    let written = now(&f, &acme).await;
    assert_eq!(
        (json!(written.fields)["stage"].clone(), written.updated_by),
        (json!("Won"), format!("rule:{}", record.id))
    );
    let other = completed(json!({ "stage": "Lead", "size": 12 })).await;
    assert!(gate_at(&f, other.id).await.gate.state.is_open());

    // What a safety rule flags is for people.
    let flagged = gated(&f, Some(acme.id), Value::Null, safety(&f).await).await;
    let mut definition = won(&f);
    definition.subject.fields = vec!["claim_safety".into(), "stage".into()];
    let record = made(&f, definition).await;
    for (option, by_rule) in [("soft", false), ("pass", true)] {
        action::trigger(&f.ledger, &f.member, flagged.id, Trigger::default()).await.unwrap();
        let claimed = claim(&f).await.session;
        let waiting = complete(&f, &claimed, &json!({ "stage": "Won", "claim_safety": option })).await;
        assert_eq!(is_by_rule(&gate_at(&f, waiting.id).await, &record), by_rule, "{option}");
    }
    f.done().await;
}

/// Pauses this many sessions at once before refunds of this amount. Returns how many the rule approved.
async fn approved_at_once(f: &Fixture, count: u32, amount: &Value) -> usize {
    for _ in 0..count {
        f.pending().await;
    }
    let sessions: Vec<Session> = f.claim(count, 3_600).await;
    assert_eq!(sessions.len(), count as usize);
    join_all(sessions.iter().map(|session| paused(f, session, refund(amount)))).await;
    let ids = sessions.iter().map(|session| session.id).collect();
    let items = gate::of_sessions(&f.ledger, &f.admin, ids).await.unwrap();
    assert_eq!(items.len(), count as usize);
    items.iter().filter(|item| item.gate.state.name() == GateState::Held).count()
}

async fn limits_of_a_day_hold_for_gates_that_open_at_once(f: Fixture) {
    let mut definition = small_refunds(&f);
    definition.limits.per_day = 5;
    let record = made(&f, definition.clone()).await;
    for count in [1, 2, 7, 40] {
        f.clock.advance(TimeDelta::days(1));
        assert_eq!(approved_at_once(&f, count, &json!(3)).await, count.min(5) as usize);
        assert_eq!(approved_at_once(&f, 2, &json!(3)).await, 5_usize.saturating_sub(count as usize).min(2));
    }
    rule::delete(&f.ledger, &f.admin, record.id).await.unwrap();
    definition.limits.per_day = 100;
    definition.limits.amount = Some(AmountLimit { field: "amount".into(), per_day: 10.into() });
    definition.limits.expires_at = f.ledger.now() + TimeDelta::days(9);
    made(&f, definition).await;
    for count in [1, 2, 7, 40] {
        f.clock.advance(TimeDelta::days(1));
        assert_eq!(approved_at_once(&f, count, &json!(2.5)).await, count.min(4) as usize);
    }
    f.done().await;
}

async fn a_back_test_equals_what_the_rule_did(f: Fixture) {
    let mut definition = small_refunds(&f);
    definition.conditions[0].at_most = Some(30.into());
    definition.limits.per_day = 6;
    definition.limits.canary_percent = 25;
    definition.limits.amount = Some(AmountLimit { field: "amount".into(), per_day: 60.into() });
    let record = made(&f, definition.clone()).await;
    let (mut approved, mut open) = (Vec::new(), Vec::new());
    for step in 0..60_u32 {
        f.clock.advance(TimeDelta::minutes(90));
        let item = request_refund(&f, f64::from(step * 7 % 40)).await;
        if is_by_rule(&item, &record) { approved.push(item.gate.id) } else { open.push(item.gate.id) }
    }
    assert!(approved.len() > 5 && open.len() > 5, "{} {}", approved.len(), open.len());
    definition.limits.expires_at = f.ledger.now() + TimeDelta::days(9);
    let tested = rule::back_test(&f.ledger, &f.admin, definition).await.unwrap();
    let of = |asked: bool| {
        let gates = tested.gates.iter().filter(|of| (of.tested.outcome == Outcome::Asked) == asked);
        let mut ids: Vec<GateId> = gates.map(|of| of.gate_id).collect();
        ids.sort_unstable();
        ids
    };
    approved.sort_unstable();
    open.sort_unstable();
    assert_eq!((of(false), of(true)), (approved, open));
    f.done().await;
}

async fn what_no_rule_decides_waits_for_a_person(f: Fixture) {
    let mut definition = small_refunds(&f);
    let record = made(&f, definition.clone()).await;
    let mut longer = refund(&json!(5));
    longer.tool_input.insert("to".into(), "x".into());
    let renamed = domain::gate::PausedToolCall { tool_name: "refund_all".into(), ..refund(&json!(5)) };
    let calls = [refund(&json!("5")), refund(&Value::Null), refund(&json!(51)), longer, renamed];
    for call in calls {
        let session = f.running().await;
        paused(&f, &session, call.clone()).await;
        assert!(gate_at(&f, session.id).await.gate.state.is_open(), "{call:?}");
    }
    let private = NewThread { incognito: true, ..crate::thread::new(Some("A secret")) };
    let id = thread::start(&f.ledger, &f.member, private).await.unwrap().session.id;
    let claimed = f.claim(1, 60).await.pop().unwrap();
    assert_eq!(claimed.id, id);
    paused(&f, &claimed, refund(&json!(5))).await;
    assert!(gate_at(&f, id).await.gate.state.is_open(), "an incognito conversation");
    definition.limits.expires_at = f.ledger.now() + TimeDelta::days(9);
    let tested = rule::back_test(&f.ledger, &f.admin, definition).await.unwrap();
    assert!(tested.gates.iter().all(|of| of.session_id != id), "no one else learns of it");
    assert!(decided_ids(&f, &record).await.is_empty());
    f.done().await;
}

async fn a_rule_of_someone_who_is_no_admin_any_more_decides_nothing(f: Fixture) {
    let record = made(&f, small_refunds(&f)).await;
    let other = f.operator.user_id().unwrap();
    member::set_role(&f.ledger, &f.admin, other, Role::Admin).await.unwrap();
    let promoted = domain::Scope { role: Role::Admin, ..f.operator };
    member::set_role(&f.ledger, &promoted, f.admin.user_id().unwrap(), Role::Reviewer).await.unwrap();
    assert!(request_refund(&f, 5.0).await.gate.state.is_open());
    // A version of an admin decides again.
    let conditions = Some(record.definition.conditions[1..].to_vec());
    let limits = Some(record.definition.limits);
    let change = rule::RuleChange { version: 1, conditions, limits };
    let changed = rule::update(&f.ledger, &promoted, record.id, change).await.unwrap();
    assert_eq!((changed.version, changed.made_by), (2, other));
    assert_eq!(request_refund(&f, 5.0).await.gate.state.name(), GateState::Held);
    f.done().await;
}

async fn a_decision_that_differs_suspends_the_rules_that_cover_the_item(f: Fixture) {
    let l = &f.ledger;
    let mut definition = small_refunds(&f);
    definition.limits.canary_percent = 100;
    let asks = made(&f, definition.clone()).await;
    definition.conditions[0].at_most = Some(2.into());
    let smaller = made(&f, definition).await;
    subscribed(&f, "http://127.0.0.1:9/".to_owned(), &["rule.suspended"]).await;
    let above = request_refund(&f, 51.0).await.gate.id;
    decide(&f, &f.operator, above, says(Verdict::Deny)).await.unwrap();
    let approved = request_refund(&f, 5.0).await.gate.id;
    decide(&f, &f.operator, approved, says(Verdict::Approve)).await.unwrap();
    assert_eq!(state_of(&f, asks.id).await.0, State::Active, "neither differs from the rule");
    for verdict in [Verdict::Deny, Verdict::Respond] {
        let item = request_refund(&f, 5.0).await.gate.id;
        let new = gate::NewDecision { note: Some("no".into()), ..says(verdict) };
        decide(&f, &f.operator, item, new).await.unwrap();
        let expected = (State::Suspended, Some(SuspendedWhy::Differed), Some(item));
        assert_eq!(state_of(&f, asks.id).await, expected, "{verdict}");
        assert_eq!(state_of(&f, smaller.id).await.0, State::Active, "its condition does not hold");
        rule::resume(l, &f.admin, asks.id).await.unwrap();
    }
    let edited = request_refund(&f, 5.0).await.gate.id;
    let values = Some(json!({ "amount": 4.0 }));
    // An approval with other values is an edit.
    let new = gate::NewDecision { value: values, ..says(Verdict::Approve) };
    decide(&f, &f.operator, edited, new).await.unwrap();
    assert_eq!(state_of(&f, asks.id).await, (State::Suspended, Some(SuspendedWhy::Differed), Some(edited)));
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM outbox WHERE topic = 'rule.suspended'").await, 3);
    f.done().await;
}

async fn whoever_may_decide_undoes_the_decision_of_a_rule_and_suspends_it(f: Fixture) {
    let l = &f.ledger;
    let record = made(&f, small_refunds(&f)).await;
    let item = request_refund(&f, 5.0).await;
    let id = item.gate.id;
    for who in [&f.member, &f.worker] {
        let refused = gate::undo(l, who, id).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    }
    assert!(matches!(gate::undo(l, &f.stranger, id).await, Err(Error::NotFound(_))));
    let conflict = decide(&f, &f.operator, id, says(Verdict::Deny)).await;
    assert!(matches!(conflict, Err(Error::AlreadyDecided(_))), "{conflict:?}");
    let undone = gate::undo(l, &f.operator, id).await.unwrap();
    assert!(undone.gate.state.is_open());
    assert_eq!(state_of(&f, record.id).await, (State::Suspended, Some(SuspendedWhy::Undone), Some(id)));
    assert_eq!(sweep_after(&f, 60).await.settled, 0);
    assert!(request_refund(&f, 5.0).await.gate.state.is_open(), "it decides nothing until it is resumed");
    decide(&f, &f.operator, id, says(Verdict::Approve)).await.unwrap();
    let refused = gate::undo(l, &f.admin, id).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "that decision is a person's own: {refused:?}");
    rule::resume(l, &f.admin, record.id).await.unwrap();
    let late = request_refund(&f, 5.0).await.gate.id;
    f.clock.advance(TimeDelta::seconds(5));
    assert!(matches!(gate::undo(l, &f.operator, late).await, Err(Error::GateClosed { .. })));
    assert_eq!(state_of(&f, record.id).await.0, State::Active);
    f.done().await;
}

async fn an_expired_rule_asks_until_it_has_a_new_day(f: Fixture) {
    let l = &f.ledger;
    let mut definition = small_refunds(&f);
    definition.limits.expires_at = f.ledger.now() + TimeDelta::hours(1);
    let record = made(&f, definition).await;
    assert_eq!(request_refund(&f, 5.0).await.gate.state.name(), GateState::Held);
    f.clock.advance(TimeDelta::hours(1));
    assert!(request_refund(&f, 5.0).await.gate.state.is_open());
    rule::suspend(l, &f.admin, record.id).await.unwrap();
    let refused = rule::resume(l, &f.admin, record.id).await;
    assert!(matches!(refused, Err(Error::NotNow(_))), "{refused:?}");
    let limits = domain::rule::Limits { expires_at: l.now() + TimeDelta::days(1), ..record.definition.limits };
    let change = rule::RuleChange { version: 1, conditions: None, limits: Some(limits) };
    rule::update(l, &f.admin, record.id, change).await.unwrap();
    rule::resume(l, &f.admin, record.id).await.unwrap();
    assert_eq!(request_refund(&f, 5.0).await.gate.state.name(), GateState::Held);
    f.done().await;
}
