//! Tests of rules.

use super::{
    AmountLimit, Case, Condition, Day, Days, Definition, Judgement, Limits, Outcome, Past, Subject, Used, Why,
    back_test, day_of,
    fixture::{at, gate, number, refund, small_refunds},
    micros, suggest,
};
use crate::{
    gate::{Gate, GateKind, Task, Verdict},
    id::UserId,
};
use chrono::{NaiveDate, TimeDelta};
use proptest::prelude::*;
use serde_json::json;
use std::collections::HashMap;
use uuid::Uuid;

const ADMIN: UserId = UserId(Uuid::from_u128(9));

fn case(gate: &Gate) -> Case<'_> {
    Case { gate, is_private: false, made_by: ADMIN }
}

fn judged(definition: &Definition, gate: &Gate) -> Judgement {
    definition.judge(case(gate), Used::default())
}

#[test]
fn a_rule_approves_what_its_conditions_describe_and_nothing_else() {
    let rule = small_refunds();
    assert_eq!(judged(&rule, &refund(1, 0, 50.0)), Judgement::Approve { amount_micros: 0 });
    for outside in [
        json!({ "amount": 50.01, "currency": "EUR" }),
        json!({ "amount": "50", "currency": "EUR" }),
        json!({ "amount": null, "currency": "EUR" }),
        json!({ "amount": [5], "currency": "EUR" }),
        json!({ "amount": 5, "currency": "USD" }),
        json!({ "amount": 5, "currency": "eur" }),
    ] {
        assert_eq!(judged(&rule, &gate(1, 0, &outside)), Judgement::Ask(Why::Outside), "{outside}");
    }
    for other in [json!({ "amount": 5 }), json!({ "amount": 5, "currency": "EUR", "to": "x" }), json!({})] {
        assert_eq!(judged(&rule, &gate(1, 0, &other)), Judgement::Ask(Why::OtherSubject), "{other}");
    }
    let fine = refund(1, 0, 5.0);
    for other in [
        Gate { agent_slug: Some("scout".into()), ..fine.clone() },
        Gate { agent_slug: None, ..fine.clone() },
        Gate { similar_key: String::new(), ..fine.clone() },
        Gate { task: Task::erased(GateKind::Question, "gone"), kind: GateKind::Question, ..fine },
    ] {
        assert_eq!(judged(&rule, &other), Judgement::Ask(Why::OtherSubject));
    }
}

#[test]
fn some_gates_always_ask_a_person() {
    let rule = small_refunds();
    let fine = refund(1, 0, 5.0);
    for (gate, why) in [
        (Gate { flags: vec!["tone: sharp".into()], ..fine.clone() }, Why::Flagged),
        (Gate { quorum: 2, ..fine.clone() }, Why::SeveralApprovals),
        (Gate { self_approval: false, requester_id: Some(ADMIN), ..fine.clone() }, Why::OwnRequest),
        (Gate { opened_at: rule.limits.expires_at, ..fine.clone() }, Why::Expired),
    ] {
        assert_eq!(judged(&rule, &gate), Judgement::Ask(why));
    }
    let private = Case { is_private: true, ..case(&fine) };
    assert_eq!(rule.judge(private, Used::default()), Judgement::Ask(Why::Private));
    let others = Gate { self_approval: false, requester_id: Some(UserId(Uuid::from_u128(8))), ..fine };
    assert_eq!(judged(&rule, &others), Judgement::Approve { amount_micros: 0 });
}

#[test]
fn limits_of_a_day_count_and_add() {
    let mut rule = small_refunds();
    rule.limits.per_day = 3;
    rule.limits.amount = Some(AmountLimit { field: "amount".into(), per_day: number(60.5) });
    let amounts = [30.0, 30.25, 0.5, 0.25, 0.0, 1.0];
    let mut days = Days::default();
    let mut judge = |id: u128, minutes: i64, amount: f64| days.judge(&rule, case(&refund(id, minutes, amount)));
    let day: Vec<_> = (0..).zip(amounts).map(|(id, amount)| judge(id, 0, amount)).collect();
    let approve = |amount_micros| Judgement::Approve { amount_micros };
    let ask = Judgement::Ask;
    assert_eq!(
        day,
        [
            approve(30_000_000),
            approve(30_250_000),
            ask(Why::DayAmount),
            approve(250_000),
            ask(Why::DayCount),
            ask(Why::DayCount)
        ]
    );
    assert_eq!(judge(20, 24 * 60, 50.0), approve(50_000_000), "another day");
    assert_eq!(judged(&rule, &refund(1, 0, -1.0)), ask(Why::Outside), "it would make room for others");
}

#[test]
fn the_share_that_still_asks_is_near_its_percentage_and_always_the_same() {
    let mut rule = small_refunds();
    let asks = |rule: &Definition| -> Vec<u128> {
        (0..2_000).filter(|id| judged(rule, &refund(*id, 0, 5.0)) == Judgement::Ask(Why::Canary)).collect()
    };
    for (percent, range) in [(0, 0..=0), (10, 140..=260), (100, 2_000..=2_000)] {
        rule.limits.canary_percent = percent;
        let once = asks(&rule);
        assert!(range.contains(&once.len()), "{percent}: {}", once.len());
        assert_eq!(once, asks(&rule));
    }
}

#[test]
fn problems_of_a_definition_are_named_by_their_place() {
    let now = at(0);
    assert!(small_refunds().check(now).is_empty());
    let mut wrong = small_refunds();
    wrong.subject = Subject { agent: "No Slug".into(), kind: GateKind::Question, ..wrong.subject };
    wrong.conditions = serde_json::from_value(json!([
        { "field": "amount", "atLeast": 2, "atMost": 1 },
        { "field": "amount", "oneOf": [1], "atMost": 1 },
        { "field": "other", "oneOf": [null, "x"] },
        { "field": "currency" },
    ]))
    .unwrap();
    wrong.limits.per_day = 0;
    wrong.limits.canary_percent = 101;
    wrong.limits.expires_at = now + TimeDelta::days(181);
    wrong.limits.amount = Some(AmountLimit { field: "sum".into(), per_day: number(0.0) });
    let named: Vec<_> = wrong.check(now).into_iter().map(|issue| issue.field).collect();
    assert_eq!(
        named,
        [
            "subject.agent",
            "subject.kind",
            "conditions[0].atMost",
            "conditions[1].field",
            "conditions[1]",
            "conditions[2].field",
            "conditions[2].oneOf[0]",
            "conditions[3]",
            "limits.perDay",
            "limits.canaryPercent",
            "limits.expiresAt",
            "limits.amount.field",
            "limits.amount.perDay",
            "conditions",
        ]
    );
    let mut of_output = small_refunds();
    of_output.subject.kind = GateKind::Output;
    assert_eq!(of_output.check(now)[0].field, "subject.tool");
    of_output.limits.expires_at = now;
    assert_eq!(of_output.check(now)[1].field, "limits.expiresAt");
}

#[test]
fn a_rule_reads_as_a_sentence() {
    let mut rule = small_refunds();
    assert_eq!(
        rule.sentence(),
        "Approve refund calls of refund-bot if amount is at most 50 and currency is EUR. At most 1,000 decisions a day, \
         until 28 Feb 2027."
    );
    rule.limits.amount = serde_json::from_value(json!({ "field": "amount", "perDay": 500 })).unwrap();
    rule.limits.canary_percent = 10;
    rule.limits.per_day = 1;
    rule.conditions = vec![Condition::one_of("amount".into(), vec![json!(1), json!(" "), json!(true)])];
    assert_eq!(
        rule.sentence(),
        "Approve refund calls of refund-bot if amount is 1 or \" \" or true. At most 1 decision a day, and 500 amount a \
         day, until 28 Feb 2027. 10 % still ask."
    );
}

#[test]
fn a_suggested_rule_covers_what_was_approved() {
    let gates: Vec<Gate> = (0..24_u32)
        .map(|n| {
            let input = json!({
                "amount": 5 + n, "currency": "EUR", "reason": format!("case {n}"), "express": n % 2 == 0, "note": null
            });
            gate(n.into(), i64::from(n) * 120, &input)
        })
        .collect();
    let approved: Vec<&Gate> = gates.iter().collect();
    let subject = Subject::of(&gates[0]).unwrap();
    let rule = suggest(subject, &approved, at(0));
    assert!(rule.check(at(0)).is_empty());
    let conditions = serde_json::to_value(&rule.conditions).unwrap();
    assert_eq!(
        conditions,
        json!([
            { "field": "amount", "atLeast": 5, "atMost": 28 }, { "field": "currency", "oneOf": ["EUR"] },
            { "field": "express", "oneOf": [true, false] },
        ])
    );
    assert!(gates.iter().all(|gate| rule.covers(gate).is_ok()));
    assert_eq!((rule.limits.per_day, rule.limits.canary_percent), (12, 10));
}

#[test]
fn a_back_test_compares_with_what_people_decided() {
    let mut rule = small_refunds();
    rule.limits.per_day = 4;
    let verdicts = [Some(Verdict::Approve), Some(Verdict::Deny), Some(Verdict::Edit), None, Some(Verdict::Approve)];
    let gates: Vec<_> = (0..).zip(verdicts).map(|(id, verdict)| (refund(id, 0, 5.0), verdict)).collect();
    let past = gates.iter().map(|(gate, verdict)| Past { case: case(gate), verdict: *verdict });
    let tested = back_test(&rule, past);
    let outcomes: Vec<_> = tested.tested.iter().map(|tested| tested.outcome).collect();
    assert_eq!(outcomes, [Outcome::Agreed, Outcome::Differed, Outcome::Differed, Outcome::Undecided, Outcome::Asked]);
    assert_eq!(tested.tested[4].why, Some(Why::DayCount));
    assert_eq!(Outcome::ALL.map(|outcome| tested.count(outcome)), [2, 1, 1, 1]);
}

/// A gate of the past, whether its session is private, and what a person decided.
type Request = (Gate, bool, Option<Verdict>);

fn past((gate, is_private, verdict): &Request) -> Past<'_> {
    Past { case: Case { is_private: *is_private, ..case(gate) }, verdict: *verdict }
}

/// Rules with each limit. Many expire while gates still open.
fn any_rule() -> impl Strategy<Value = Definition> {
    let limits = (1..6_u32, prop::option::of(1..200_u32), 0..40_u32, 0..8_000_i64);
    (limits, 1..120_i64).prop_map(|((per_day, amount, canary, until), most)| {
        let mut rule = small_refunds();
        rule.conditions[0].at_most = Some(most.into());
        rule.limits.per_day = per_day;
        rule.limits.canary_percent = canary;
        rule.limits.expires_at = at(until);
        rule.limits.amount = amount.map(|most| AmountLimit { field: "amount".into(), per_day: most.into() });
        rule
    })
}

/// Requests of some days in the order in which they came. Amounts are quarters, whose sums are exact.
fn any_requests() -> impl Strategy<Value = Vec<Request>> {
    let decided = [Verdict::Approve, Verdict::Edit, Verdict::Deny, Verdict::Respond].map(Some);
    let verdict = prop::sample::select([decided.to_vec(), vec![None]].concat());
    let one = (any::<u64>(), 0..600_i64, -5..130_i32, 0..20_u32, verdict);
    prop::collection::vec(one, 0..40).prop_map(|mut requests| {
        requests.sort_by_key(|(_, minutes, ..)| *minutes);
        let request = |(id, minutes, amount, kind, verdict): (u64, i64, i32, u32, Option<Verdict>)| {
            let (minutes, amount) = (minutes * 10, f64::from(amount) / 4.0);
            let plain = refund(id.into(), minutes, amount);
            let of_kind = match kind {
                0 => Gate { flags: vec!["tone: sharp".to_owned()], ..plain },
                1 => Gate { quorum: 2, ..plain },
                2 => Gate { self_approval: false, requester_id: Some(ADMIN), ..plain },
                3 => Gate { agent_slug: Some("scout".into()), ..plain },
                4 => gate(id.into(), minutes, &json!({ "amount": amount, "currency": "USD" })),
                _ => plain,
            };
            (of_kind, kind == 5, verdict)
        };
        requests.into_iter().map(request).collect()
    })
}

/// Why a rule asks, request by request, as docs/rules.md describes it: one reason after another, with the decisions of
/// each day as a list of amounts. Only the share that still asks is that of the rule itself.
fn documented(rule: &Definition, requests: &[Request]) -> Vec<Option<Why>> {
    let number = |number: &serde_json::Number| number.as_f64().unwrap();
    let most = rule.conditions[0].at_most.as_ref().map(number).unwrap();
    let share = Limits { canary_percent: rule.limits.canary_percent, ..small_refunds().limits };
    let share = Definition { limits: share, conditions: Vec::new(), ..small_refunds() };
    let mut decided: HashMap<NaiveDate, Vec<f64>> = HashMap::new();
    let reasons = requests.iter().map(|(gate, is_private, _)| {
        let values = gate.task.editable().unwrap();
        let amount = values["amount"].as_f64().unwrap();
        let of_day = decided.entry(gate.opened_at.date_naive()).or_default();
        let limit = rule.limits.amount.as_ref().map(|limit| number(&limit.per_day));
        let reasons = [
            (gate.agent_slug.as_deref() != Some("refund-bot"), Why::OtherSubject),
            (amount > most || values["currency"] != "EUR", Why::Outside),
            (*is_private, Why::Private),
            (!gate.flags.is_empty(), Why::Flagged),
            (gate.quorum > 1, Why::SeveralApprovals),
            (gate.requester_id == Some(ADMIN), Why::OwnRequest),
            (gate.opened_at >= rule.limits.expires_at, Why::Expired),
            (judged(&share, gate) == Judgement::Ask(Why::Canary), Why::Canary),
            (of_day.len() >= rule.limits.per_day as usize, Why::DayCount),
            (limit.is_some() && amount < 0.0, Why::Outside),
            (limit.is_some_and(|limit| of_day.iter().sum::<f64>() + amount > limit), Why::DayAmount),
        ];
        let why = reasons.into_iter().find_map(|(holds, why)| holds.then_some(why));
        if why.is_none() {
            of_day.push(amount);
        }
        why
    });
    reasons.collect()
}

proptest! {
    #[test]
    fn a_back_test_is_what_the_rule_would_have_done(rule in any_rule(), requests in any_requests()) {
        // As the live path does it: the decisions of a day are rows, which are counted and added for each gate.
        let mut rows: Vec<(i64, i64)> = Vec::new();
        let mut live = Vec::new();
        for request in &requests {
            let case = past(request).case;
            let Day { number: day, begin, end } = day_of(case.gate.opened_at);
            prop_assert!(begin <= case.gate.opened_at && case.gate.opened_at < end);
            let of_day = rows.iter().filter(|(of, _)| *of == day);
            let used = Used { count: of_day.clone().count() as u64, amount_micros: of_day.map(|(_, amount)| amount).sum() };
            let judgement = rule.judge(case, used);
            if let Judgement::Approve { amount_micros } = judgement {
                rows.push((day, amount_micros));
            }
            live.push(judgement);
        }
        let tested = back_test(&rule, requests.iter().map(past));
        let would: Vec<_> = tested.tested.iter().map(|tested| tested.why).collect();
        let did: Vec<_> = live.iter().map(|judgement| match judgement {
            Judgement::Approve { .. } => None,
            Judgement::Ask(why) => Some(*why),
        }).collect();
        prop_assert_eq!(would, did);
    }

    #[test]
    fn a_back_test_asks_for_the_documented_reasons(rule in any_rule(), requests in any_requests()) {
        let tested = back_test(&rule, requests.iter().map(past)).tested;
        let why: Vec<_> = tested.iter().map(|tested| tested.why).collect();
        prop_assert_eq!(why, documented(&rule, &requests));
        for (tested, (.., verdict)) in tested.iter().zip(&requests) {
            let outcome = match (tested.why, verdict) {
                (Some(_), _) => Outcome::Asked,
                (None, None) => Outcome::Undecided,
                (None, Some(Verdict::Approve)) => Outcome::Agreed,
                (None, Some(Verdict::Edit | Verdict::Deny | Verdict::Respond)) => Outcome::Differed,
            };
            prop_assert_eq!(tested.outcome, outcome);
        }
    }

    #[test]
    fn no_day_has_more_than_its_limits(rule in any_rule(), requests in any_requests()) {
        let mut days = Days::default();
        let mut used: HashMap<i64, Used> = HashMap::new();
        for request in &requests {
            let case = past(request).case;
            if let Judgement::Approve { amount_micros } = days.judge(&rule, case) {
                prop_assert!(case.gate.flags.is_empty() && rule.covers(case.gate).is_ok());
                let of_day = used.entry(day_of(case.gate.opened_at).number).or_default();
                of_day.count += 1;
                of_day.amount_micros += amount_micros;
            }
        }
        let most = rule.limits.amount.map(|limit| micros(&json!(limit.per_day)).unwrap());
        for of_day in used.values() {
            prop_assert!(of_day.count <= u64::from(rule.limits.per_day));
            prop_assert!(most.is_none_or(|most| of_day.amount_micros <= most));
        }
    }
}
