//! Rules: admins make, change, suspend, resume and delete them, and they are suggested after many like decisions.

use crate::{
    at_once::one_is_over_the_limit,
    audit::Reading,
    gate::{at_once, decide, says},
};
use chrono::TimeDelta;
use domain::{
    Timestamp,
    audit::Kind,
    gate::{GateState, PausedToolCall, Verdict},
    id::{GateId, RuleId, SessionId},
    limit::RULES_ALIKE_MAX,
    role::Role,
    rule::{Definition, Outcome, State, SuspendedWhy, Why},
    session::{Session, YieldTo},
};
use ledger::{
    Error, ListPage, RuleRecord, auth,
    gate::{self, GateItem},
    rule::{self, RuleChange},
    session::{self, YieldRequest},
    token,
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    only_admins_who_are_signed_in_make_rules_and_everyone_reads_them,
    a_wrong_rule_is_refused_by_its_places,
    a_change_makes_a_version_and_an_older_version_is_refused,
    a_deleted_rule_stays_readable_and_changes_no_more,
    every_act_on_a_rule_is_in_the_audit_list_once,
    a_rule_is_suggested_after_many_like_approvals_and_not_after_a_denial,
    a_back_test_shows_where_people_decided_differently,
    rules_about_the_same_items_are_limited_also_when_two_are_made_at_once,
);

/// A rule of scout for refunds of at most 50 EUR.
pub fn small_refunds(f: &Fixture) -> Definition {
    let expires_at: Timestamp = f.ledger.now() + TimeDelta::days(90);
    serde_json::from_value(json!({
        "subject": { "agent": "scout", "kind": "tool", "tool": "refund", "fields": ["amount", "currency"] },
        "conditions": [{ "field": "amount", "atMost": 50 }, { "field": "currency", "oneOf": ["EUR"] }],
        "limits": { "perDay": 100, "expiresAt": expires_at, "canaryPercent": 0 },
    }))
    .unwrap()
}

pub async fn made(f: &Fixture, definition: Definition) -> RuleRecord {
    rule::create(&f.ledger, &f.admin, definition).await.unwrap()
}

pub fn refund(amount: &Value) -> PausedToolCall {
    let tool_input = json!({ "amount": amount, "currency": "EUR" }).as_object().cloned().unwrap();
    PausedToolCall { tool_call_id: "call-1".into(), tool_name: "refund".into(), tool_input }
}

/// Pauses a running session before a call.
pub async fn paused(f: &Fixture, session: &Session, call: PausedToolCall) -> Session {
    let pause =
        YieldRequest { paused_tool_call: Some(call), ..YieldRequest::at(session.attempt, YieldTo::AwaitingTool) };
    session::yield_to(&f.ledger, &f.worker, session.id, pause).await.unwrap()
}

/// The gate at which a session waits.
pub async fn gate_at(f: &Fixture, id: SessionId) -> GateItem {
    gate::of_sessions(&f.ledger, &f.admin, vec![id]).await.unwrap().pop().unwrap()
}

/// Returns the gate of a new session that wants to refund this amount.
pub async fn request_refund(f: &Fixture, amount: f64) -> GateItem {
    // Gates are compared in the order in which they opened.
    f.clock.advance(TimeDelta::milliseconds(1));
    let session = f.running().await;
    paused(f, &session, refund(&json!(amount))).await;
    gate_at(f, session.id).await
}

pub async fn state_of(f: &Fixture, id: RuleId) -> (State, Option<SuspendedWhy>, Option<GateId>) {
    let record = rule::get(&f.ledger, &f.member, id).await.unwrap().record;
    (record.state, record.suspended_why, record.suspended_gate)
}

fn forbidden<T: std::fmt::Debug>(result: &Result<T, Error>) {
    assert!(matches!(result, Err(Error::Forbidden(_))), "{result:?}");
}

async fn only_admins_who_are_signed_in_make_rules_and_everyone_reads_them(f: Fixture) {
    let l = &f.ledger;
    let (_, secret) = token::create(l, &f.admin, "admin's", Role::Admin, None).await.unwrap();
    let token = auth::by_token(l, &secret).await.unwrap().unwrap().scope;
    let record = made(&f, small_refunds(&f)).await;
    let change = || RuleChange { version: 1, conditions: Some(Vec::new()), limits: None };
    for who in [&f.operator, &f.member, &f.worker, &token] {
        forbidden(&rule::create(l, who, small_refunds(&f)).await);
        forbidden(&rule::update(l, who, record.id, change()).await);
        forbidden(&rule::resume(l, who, record.id).await);
    }
    for who in [&f.operator, &f.member, &f.worker] {
        forbidden(&rule::suspend(l, who, record.id).await);
        forbidden(&rule::delete(l, who, record.id).await);
        forbidden(&rule::back_test(l, who, small_refunds(&f)).await);
        forbidden(&rule::suggestions(l, who).await);
    }
    for who in [&f.admin, &f.operator, &f.member, &f.worker, &token] {
        assert_eq!(rule::get(l, who, record.id).await.unwrap().record, record);
        let listed = rule::list(l, who, ListPage::default()).await.unwrap();
        assert_eq!(listed.items.into_iter().map(|rule| rule.record).collect::<Vec<_>>(), std::slice::from_ref(&record));
        assert!(rule::decisions(l, who, record.id, ListPage::default()).await.unwrap().items.is_empty());
    }
    assert_eq!(rule::suspend(l, &token, record.id).await.unwrap().state, State::Suspended, "a program may stop a rule");
    for result in [rule::suspend(l, &f.stranger, record.id).await, rule::resume(l, &f.stranger, record.id).await] {
        assert!(matches!(result, Err(Error::NotFound("rule"))), "{result:?}");
    }
    assert!(matches!(rule::get(l, &f.stranger, record.id).await, Err(Error::NotFound("rule"))));
    assert!(rule::list(l, &f.stranger, ListPage::default()).await.unwrap().items.is_empty());
    f.done().await;
}

async fn a_wrong_rule_is_refused_by_its_places(f: Fixture) {
    let mut wrong = small_refunds(&f);
    wrong.conditions[1].one_of = vec![json!("EUR"), json!("USD")];
    wrong.limits.per_day = 0;
    wrong.limits.expires_at = f.ledger.now();
    let refused = rule::create(&f.ledger, &f.admin, wrong.clone()).await;
    let Err(Error::Invalid(issues)) = refused else { panic!("{refused:?}") };
    let places: Vec<_> = issues.iter().map(|issue| issue.field.as_str()).collect();
    assert_eq!(places, ["limits.perDay", "limits.expiresAt", "conditions"]);
    assert!(matches!(rule::back_test(&f.ledger, &f.admin, wrong).await, Err(Error::Invalid(_))));
    let mut unsorted = small_refunds(&f);
    unsorted.subject.fields.reverse();
    assert_eq!(made(&f, unsorted).await.definition, small_refunds(&f), "names are kept in their order");
    f.done().await;
}

async fn a_change_makes_a_version_and_an_older_version_is_refused(f: Fixture) {
    let l = &f.ledger;
    let record = made(&f, small_refunds(&f)).await;
    let mut limits = record.definition.limits.clone();
    limits.per_day = 7;
    let change = |version| RuleChange { version, conditions: None, limits: Some(limits.clone()) };
    let changed = rule::update(l, &f.admin, record.id, change(1)).await.unwrap();
    assert_eq!((changed.version, changed.definition.limits.per_day), (2, 7));
    assert_eq!(changed.definition.conditions, record.definition.conditions);
    let same = rule::update(l, &f.admin, record.id, change(2)).await.unwrap();
    assert_eq!(same, changed, "nothing differs");
    let stale = rule::update(l, &f.admin, record.id, change(1)).await;
    assert!(matches!(stale, Err(Error::StaleVersion { given: 1, current: 2 })), "{stale:?}");
    let item = request_refund(&f, 5.0).await;
    let uses = rule::decisions(l, &f.member, record.id, ListPage::default()).await.unwrap().items;
    assert_eq!((uses[0].gate_id, uses[0].version, uses[0].state), (item.gate.id, 2, GateState::Held));
    f.done().await;
}

async fn a_deleted_rule_stays_readable_and_changes_no_more(f: Fixture) {
    let l = &f.ledger;
    let record = made(&f, small_refunds(&f)).await;
    rule::delete(l, &f.admin, record.id).await.unwrap();
    rule::delete(l, &f.admin, record.id).await.unwrap();
    assert_eq!(state_of(&f, record.id).await.0, State::Deleted);
    assert!(rule::list(l, &f.member, ListPage::default()).await.unwrap().items.is_empty());
    let change = RuleChange { version: 1, conditions: Some(Vec::new()), limits: None };
    for result in [
        rule::update(l, &f.admin, record.id, change).await,
        rule::suspend(l, &f.admin, record.id).await,
        rule::resume(l, &f.admin, record.id).await,
    ] {
        assert!(matches!(result, Err(Error::NotNow("the rule is deleted"))), "{result:?}");
    }
    assert!(request_refund(&f, 5.0).await.gate.state.is_open());
    f.done().await;
}

async fn every_act_on_a_rule_is_in_the_audit_list_once(f: Fixture) {
    let l = &f.ledger;
    let mut reading = Reading::begin(&f).await;
    let record = made(&f, small_refunds(&f)).await;
    reading.expect(&f, &[Kind::RuleCreated]).await;
    let change = RuleChange { version: 1, conditions: Some(Vec::new()), limits: None };
    let open = RuleChange { version: 2, limits: None, conditions: Some(record.definition.conditions.clone()) };
    let refused = rule::update(l, &f.admin, record.id, change).await;
    assert!(refused.is_ok(), "amounts are not compared any more: {refused:?}");
    rule::update(l, &f.admin, record.id, open).await.unwrap();
    reading.expect(&f, &[Kind::RuleChanged, Kind::RuleChanged]).await;
    for _ in 0..2 {
        rule::suspend(l, &f.admin, record.id).await.unwrap();
    }
    reading.expect(&f, &[Kind::RuleSuspended]).await;
    for _ in 0..2 {
        rule::resume(l, &f.admin, record.id).await.unwrap();
    }
    reading.expect(&f, &[Kind::RuleResumed]).await;
    for _ in 0..2 {
        rule::delete(l, &f.admin, record.id).await.unwrap();
    }
    reading.expect(&f, &[Kind::RuleDeleted]).await;
    f.done().await;
}

/// Has people decide refunds of 1, 2, 3… EUR at once.
async fn decided(f: &Fixture, verdicts: &[Verdict]) -> Vec<GateId> {
    let mut ids = Vec::new();
    for (amount, verdict) in (1_u32..).zip(verdicts) {
        let item = request_refund(f, f64::from(amount)).await;
        decide(f, &f.operator, item.gate.id, says(*verdict)).await.unwrap();
        ids.push(item.gate.id);
    }
    ids
}

async fn a_rule_is_suggested_after_many_like_approvals_and_not_after_a_denial(f: Fixture) {
    let l = &f.ledger;
    at_once(&f).await;
    let ids = decided(&f, &[Verdict::Approve; 19]).await;
    assert!(rule::suggestions(l, &f.admin).await.unwrap().is_empty(), "19 are too few");
    let last = decided(&f, &[Verdict::Approve]).await[0];
    let suggested = rule::suggestions(l, &f.admin).await.unwrap();
    assert_eq!(suggested.iter().map(|of| (of.gate_id, of.approvals)).collect::<Vec<_>>(), [(last, 20)]);
    assert!(rule::suggestions(l, &f.stranger).await.unwrap().is_empty());
    let hidden = rule::draft(l, &f.stranger, last).await;
    assert!(matches!(hidden, Err(Error::NotFound("approval"))), "{hidden:?}");
    let draft = rule::draft(l, &f.admin, ids[0]).await.unwrap();
    let conditions = serde_json::to_value(&draft.conditions).unwrap();
    let range = json!({ "field": "amount", "atLeast": 1.0, "atMost": 19.0 });
    assert_eq!(conditions, json!([range, { "field": "currency", "oneOf": ["EUR"] }]));
    let record = made(&f, draft.clone()).await;
    assert!(rule::suggestions(l, &f.admin).await.unwrap().is_empty(), "a rule is about them");
    rule::delete(l, &f.admin, record.id).await.unwrap();
    assert_eq!(rule::suggestions(l, &f.admin).await.unwrap().len(), 1);
    decided(&f, &[Verdict::Deny]).await;
    assert!(rule::suggestions(l, &f.admin).await.unwrap().is_empty(), "people did not always approve");
    f.clock.advance(TimeDelta::days(91));
    assert!(rule::draft(l, &f.admin, ids[0]).await.unwrap().conditions.is_empty(), "nothing of the last 90 days");
    f.done().await;
}

async fn a_back_test_shows_where_people_decided_differently(f: Fixture) {
    let l = &f.ledger;
    at_once(&f).await;
    let verdicts = [Verdict::Approve, Verdict::Deny, Verdict::Approve, Verdict::Approve];
    let ids = decided(&f, &verdicts).await;
    let waiting = request_refund(&f, 2.5).await.gate.id;
    let mut definition = small_refunds(&f);
    definition.conditions[0].at_most = Some(3.into());
    definition.limits.per_day = 3;
    let tested = rule::back_test(l, &f.admin, definition.clone()).await.unwrap();
    assert_eq!((tested.differed, tested.agreed, tested.undecided, tested.asked), (1, 2, 0, 2));
    let gates: Vec<_> =
        tested.gates.iter().map(|of| (of.gate_id, of.tested.outcome, of.verdict, of.tested.why)).collect();
    assert_eq!(
        gates,
        [
            (ids[1], Outcome::Differed, Some(Verdict::Deny), None),
            (ids[2], Outcome::Agreed, Some(Verdict::Approve), None),
            (ids[0], Outcome::Agreed, Some(Verdict::Approve), None),
            (waiting, Outcome::Asked, None, Some(Why::DayCount)),
            (ids[3], Outcome::Asked, Some(Verdict::Approve), Some(Why::Outside)),
        ]
    );
    definition.limits.per_day = 4;
    assert_eq!(rule::back_test(l, &f.admin, definition).await.unwrap().undecided, 1);
    assert!(rule::list(l, &f.admin, ListPage::default()).await.unwrap().items.is_empty(), "nothing is written");
    let elsewhere = rule::back_test(l, &f.stranger, small_refunds(&f)).await.unwrap();
    assert!(elsewhere.gates.is_empty());
    f.done().await;
}

async fn rules_about_the_same_items_are_limited_also_when_two_are_made_at_once(f: Fixture) {
    for _ in 1..RULES_ALIKE_MAX {
        made(&f, small_refunds(&f)).await;
    }
    let [one, other] = [(); 2].map(|()| rule::create(&f.ledger, &f.admin, small_refunds(&f)));
    let (one, other) = tokio::join!(one, other);
    one_is_over_the_limit(one, other);
    f.done().await;
}
