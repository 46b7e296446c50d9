//! What people do with items beside deciding them: snoozing, handing over, and looking at the decided ones.

use crate::{
    entity::{acme, company},
    gate::{at_once, decide, edits, gated, open, says, staged},
};
use chrono::{Days, TimeDelta};
use domain::{
    Scope, Timestamp,
    gate::{GateOutcome, Principal, Verdict},
    id::{GateId, UserId},
    limit::REASON_CHARS_MAX,
};
use ledger::{
    Error,
    gate::{self, Handover},
    group::{self, NewGroup},
    page::{
        hand_over,
        inbox::{self, DecidedFilter, DecidedRequest},
    },
    session,
    work_queue::SnoozeChoice,
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_snoozed_item_returns_an_hour_before_it_expires_at_the_latest,
    a_snooze_ends_at_a_time_of_the_reader_and_only_for_them,
    an_item_is_handed_over_to_a_person_and_on_to_a_group,
    a_hand_over_that_is_sent_twice_is_recorded_once,
    an_item_is_handed_over_only_by_those_who_may_decide_it_and_to_those_who_may,
    forty_decided_items_are_filtered_and_paged,
);

fn id_of(scope: &Scope) -> UserId {
    scope.user_id().unwrap()
}

fn user(scope: &Scope) -> Principal {
    Principal::User(id_of(scope))
}

async fn waiting(f: &Fixture, scope: &Scope) -> u64 {
    gate::count(&f.ledger, scope, 100).await.unwrap()
}

/// Stages an output under these rules for approval; returns its gate.
async fn item(f: &Fixture, policy: Value) -> GateId {
    let acme = acme(f, &company(f).await, "Acme").await;
    let of = gated(f, Some(acme.id), policy, json!({})).await;
    staged(f, &of, &json!({ "stage": "Won" })).await.1.gate.id
}

fn fields_of<T: std::fmt::Debug>(refused: ledger::Result<T>) -> Vec<String> {
    match refused {
        Err(Error::Invalid(issues)) => issues.into_iter().map(|issue| issue.field).collect(),
        other => panic!("{other:?}"),
    }
}

async fn a_snoozed_item_returns_an_hour_before_it_expires_at_the_latest(f: Fixture) {
    let id = item(&f, json!({ "expiresAfterSeconds": 7_200 })).await;
    let due_at = open(&f, &f.operator, false).await[0].due_at.unwrap();
    let snooze = async |until: Timestamp| gate::snooze_until(&f.ledger, &f.operator, id, Some(until)).await;
    let tomorrow = f.ledger.now() + TimeDelta::days(1);
    let shown = snooze(tomorrow).await.unwrap().snoozed_until;
    assert_eq!(shown, Some(due_at - TimeDelta::hours(1)));
    assert_eq!((waiting(&f, &f.operator).await, waiting(&f, &f.admin).await), (0, 1), "others still have it");
    let seconds = gate::snooze(&f.ledger, &f.operator, id, Some(86_400)).await.unwrap();
    assert_eq!(seconds.snoozed_until, shown);
    f.clock.advance(TimeDelta::hours(1));
    assert_eq!(waiting(&f, &f.operator).await, 1);
    assert_eq!(fields_of(snooze(tomorrow).await), ["until"]);
    assert_eq!(fields_of(gate::snooze(&f.ledger, &f.operator, id, Some(86_400)).await), ["seconds"]);
    let soon = f.ledger.now() + TimeDelta::minutes(10);
    assert_eq!(snooze(soon).await.unwrap().snoozed_until, Some(soon), "it ends before the item expires");
    assert_eq!(waiting(&f, &f.operator).await, 0);
    gate::snooze_until(&f.ledger, &f.operator, id, None).await.unwrap();
    assert_eq!(waiting(&f, &f.operator).await, 1);
    f.done().await;
}

async fn a_snooze_ends_at_a_time_of_the_reader_and_only_for_them(f: Fixture) {
    let id = item(&f, Value::Null).await;
    for zone in ["Europe/Berlin", "America/Los_Angeles", "Pacific/Auckland", "UTC"] {
        let now = f.ledger.now();
        for choice in [SnoozeChoice::Later, SnoozeChoice::Tomorrow, SnoozeChoice::Monday] {
            let until = choice.until(zone, now).unwrap();
            let snoozed = gate::snooze_until(&f.ledger, &f.operator, id, Some(until)).await.unwrap();
            assert_eq!(snoozed.snoozed_until, Some(until), "{zone} {choice:?}");
            let seen = gate::get(&f.ledger, &f.admin, id).await.unwrap().item.snoozed_until;
            assert_eq!((waiting(&f, &f.operator).await, seen), (0, None), "{zone} {choice:?}");
        }
    }
    let now = f.ledger.now();
    for wrong in [now, now - TimeDelta::days(1), now + TimeDelta::days(91)] {
        assert_eq!(fields_of(gate::snooze_until(&f.ledger, &f.operator, id, Some(wrong)).await), ["until"]);
    }
    // A decision on a snoozed item, and its undo, are as on any other.
    decide(&f, &f.operator, id, says(Verdict::Approve)).await.unwrap();
    gate::undo(&f.ledger, &f.operator, id).await.unwrap();
    assert_eq!(waiting(&f, &f.operator).await, 0, "it is still snoozed");
    f.clock.advance(TimeDelta::days(8));
    assert_eq!(waiting(&f, &f.operator).await, 1);
    f.done().await;
}

async fn an_item_is_handed_over_to_a_person_and_on_to_a_group(f: Fixture) {
    let id = item(&f, json!({ "reviewers": [user(&f.operator).to_string()] })).await;
    assert_eq!((waiting(&f, &f.operator).await, waiting(&f, &f.other_member).await), (1, 0));
    let note = Some("Is this right?".to_owned());
    let handed = gate::hand_over(&f.ledger, &f.operator, id, user(&f.other_member), note.clone()).await.unwrap();
    assert_eq!(handed.snoozed_until, Some(f.ledger.now() + TimeDelta::days(7)));
    assert_eq!((waiting(&f, &f.operator).await, waiting(&f, &f.other_member).await), (0, 1));

    let members = vec![id_of(&f.member), id_of(&f.operator)];
    let new = NewGroup { name: "Legal".into(), slug: None, members };
    group::create(&f.ledger, &f.operator, new).await.unwrap();
    let legal = Principal::Group("legal".into());
    f.clock.advance(TimeDelta::seconds(1));
    gate::hand_over(&f.ledger, &f.other_member, id, legal, None).await.unwrap();
    assert_eq!((waiting(&f, &f.member).await, waiting(&f, &f.other_member).await), (1, 0));
    assert_eq!(waiting(&f, &f.operator).await, 1, "a member of the group has it again");

    let detail = gate::get(&f.ledger, &f.admin, id).await.unwrap();
    let [first, second] = detail.handovers.as_slice() else { panic!("{:?}", detail.handovers) };
    assert!(first.by.contains('@') && first.to.contains('@') && first.by != first.to, "{first:?}");
    assert_eq!((&first.note, &second.by, second.to.as_str()), (&note, &first.to, "Legal"));
    assert_eq!(second, &Handover { at: f.ledger.now(), note: None, ..second.clone() });
    let log = f.log(detail.item.gate.session_id).await;
    let event = log.iter().find(|event| event.metadata.contains("handedTo")).unwrap();
    let metadata: Value = serde_json::from_str(&event.metadata).unwrap();
    let to = user(&f.other_member).to_string();
    assert_eq!(metadata, json!({ "gateId": id, "handedTo": to, "note": "Is this right?" }));
    assert_eq!((event.kind.as_str(), &event.actor), ("session.waiting_approval", &f.operator.caller.to_string()));

    decide(&f, &f.member, id, says(Verdict::Approve)).await.unwrap();
    let closed = gate::hand_over(&f.ledger, &f.operator, id, user(&f.admin), None).await;
    assert!(matches!(closed, Err(Error::GateClosed { .. })), "{closed:?}");
    f.done().await;
}

async fn a_hand_over_that_is_sent_twice_is_recorded_once(f: Fixture) {
    let id = item(&f, json!({ "reviewers": [user(&f.operator).to_string()] })).await;
    let hand_over = async |by: &Scope, to: Principal, note: Option<&str>| {
        gate::hand_over(&f.ledger, by, id, to, note.map(str::to_owned)).await.unwrap()
    };
    let recorded = async || gate::get(&f.ledger, &f.admin, id).await.unwrap().handovers.len();
    let other = || user(&f.other_member);
    let first = hand_over(&f.operator, other(), Some("Please look.")).await;
    f.clock.advance(TimeDelta::days(1));
    gate::snooze(&f.ledger, &f.other_member, id, Some(3_600)).await.unwrap();
    let again = hand_over(&f.operator, other(), Some("Please look.")).await;
    assert_eq!((recorded().await, again.snoozed_until), (1, first.snoozed_until));
    assert_eq!(waiting(&f, &f.other_member).await, 0, "a repeat does not end their snooze");

    let new = NewGroup { name: "Legal".into(), slug: None, members: vec![id_of(&f.member), id_of(&f.operator)] };
    group::create(&f.ledger, &f.operator, new).await.unwrap();
    hand_over(&f.operator, other(), None).await;
    assert_eq!(recorded().await, 2, "another note is another message");
    hand_over(&f.other_member, user(&f.member), None).await;
    hand_over(&f.operator, other(), None).await;
    assert_eq!(recorded().await, 3, "what others do in between makes no difference");
    hand_over(&f.member, Principal::Group("legal".into()), None).await;
    hand_over(&f.operator, other(), None).await;
    assert_eq!(recorded().await, 5, "it had come back through the group");
    f.clock.advance(TimeDelta::days(7));
    hand_over(&f.operator, other(), None).await;
    assert_eq!(recorded().await, 6, "after a week it is a reminder");
    at_once(&f).await;
    decide(&f, &f.other_member, id, says(Verdict::Approve)).await.unwrap();
    hand_over(&f.operator, other(), None).await;
    assert_eq!(recorded().await, 6, "the answer to a repeat is the item, also after the decision");
    f.done().await;
}

async fn an_item_is_handed_over_only_by_those_who_may_decide_it_and_to_those_who_may(f: Fixture) {
    // The member starts the session, and the task forbids that they decide.
    let reviewers = [user(&f.operator).to_string()];
    let id = item(&f, json!({ "reviewers": reviewers, "selfApproval": false })).await;
    let empty = NewGroup { name: "Empty".into(), slug: None, members: Vec::new() };
    let own = NewGroup { name: "Own".into(), slug: None, members: vec![id_of(&f.member), id_of(&f.operator)] };
    for new in [empty, own] {
        group::create(&f.ledger, &f.operator, new).await.unwrap();
    }
    let group = |slug: &str| Principal::Group(slug.into());
    let to_no_one = [
        user(&f.operator),
        user(&f.member),
        user(&f.stranger),
        group("empty"),
        group("own"),
        group("unknown"),
        Principal::Anyone,
    ];
    for to in to_no_one {
        assert_eq!(fields_of(gate::hand_over(&f.ledger, &f.operator, id, to, None).await), ["to"]);
    }
    let long = Some("x".repeat(REASON_CHARS_MAX + 1));
    assert_eq!(fields_of(gate::hand_over(&f.ledger, &f.operator, id, user(&f.admin), long).await), ["note"]);
    for who in [&f.member, &f.other_member, &f.worker] {
        let refused = gate::hand_over(&f.ledger, who, id, user(&f.admin), None).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
        assert!(hand_over::read(&f.ledger, who, id).await.is_err());
    }
    let hidden = gate::hand_over(&f.ledger, &f.stranger, id, user(&f.stranger), None).await;
    assert!(matches!(hidden, Err(Error::NotFound(_))), "{hidden:?}");
    assert_eq!(waiting(&f, &f.operator).await, 1, "what is refused hides nothing");
    let offered = hand_over::read(&f.ledger, &f.operator, id).await.unwrap();
    let people: Vec<UserId> = offered.people.iter().map(|member| member.user_id).collect();
    assert!(people.contains(&id_of(&f.admin)) && people.contains(&id_of(&f.other_member)), "{people:?}");
    assert!(!people.contains(&id_of(&f.operator)) && !people.contains(&id_of(&f.member)), "{people:?}");
    f.done().await;
}

/// Reads the decided items in pages of seven.
async fn decided(f: &Fixture, everyone: bool, filter: DecidedFilter) -> Vec<GateId> {
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let wanted = DecidedRequest { filter: filter.clone(), everyone, line: None, limit: 7, cursor };
        let page = inbox::list_decided(&f.ledger, &f.operator, wanted).await.unwrap();
        assert!(page.items.len() == 7 || page.next_cursor.is_none(), "a page is full");
        seen.extend(page.items.iter().map(|item| item.gate.id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return seen;
        }
    }
}

async fn forty_decided_items_are_filtered_and_paged(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let first_day = f.ledger.now().date_naive();
    let mut expected: Vec<(GateId, GateOutcome, Option<UserId>)> = Vec::new();
    for n in 0..40 {
        if n == 20 {
            f.clock.advance(TimeDelta::days(1));
        }
        f.clock.advance(TimeDelta::milliseconds(10));
        let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
        let id = item.gate.id;
        let (outcome, by, new) = match n % 5 {
            0 | 1 => (GateOutcome::Approved, Some(&f.operator), says(Verdict::Approve)),
            2 => (GateOutcome::Edited, Some(&f.admin), edits(&json!({ "stage": "Lead" }))),
            3 => (GateOutcome::Denied, Some(&f.admin), says(Verdict::Deny)),
            _ => (GateOutcome::Withdrawn, None, says(Verdict::Deny)),
        };
        if let Some(by) = by {
            decide(&f, by, id, new).await.unwrap();
        }
        if matches!(outcome, GateOutcome::Denied | GateOutcome::Withdrawn) {
            session::cancel(&f.ledger, &f.operator, waiting.id, None).await.unwrap();
        }
        expected.insert(0, (id, outcome, by.map(id_of)));
    }
    let none = DecidedFilter::default();
    let ids = |of: &dyn Fn(usize, GateOutcome, Option<UserId>) -> bool| -> Vec<GateId> {
        let kept = expected.iter().enumerate().filter(|(at, (_, outcome, by))| of(*at, *outcome, *by));
        kept.map(|(_, (id, ..))| *id).collect()
    };
    for everyone in [true, false] {
        assert_eq!(decided(&f, everyone, none.clone()).await, ids(&|_, _, _| true), "everyone: {everyone}");
        for outcome in GateOutcome::ALL {
            let filter = DecidedFilter { outcome: Some(outcome), ..none.clone() };
            assert_eq!(decided(&f, everyone, filter).await, ids(&|_, of, _| of == outcome), "{outcome}");
        }
        for who in [&f.operator, &f.admin, &f.member] {
            let filter = DecidedFilter { decided_by: Some(id_of(who)), ..none.clone() };
            assert_eq!(decided(&f, everyone, filter).await, ids(&|_, _, by| by == who.user_id()));
        }
    }
    let (outcome, decided_by) = (Some(GateOutcome::Denied), Some(id_of(&f.admin)));
    let filter = DecidedFilter { outcome, decided_by, agent: Some("scout".into()), ..none.clone() };
    assert_eq!(decided(&f, true, filter).await, ids(&|_, of, _| of == GateOutcome::Denied));
    let agent = Some("another".to_owned());
    assert!(decided(&f, true, DecidedFilter { agent, ..none.clone() }).await.is_empty());
    let next_day = first_day.checked_add_days(Days::new(1));
    let since = DecidedFilter { since: next_day, ..none.clone() };
    assert_eq!(decided(&f, true, since).await, ids(&|at, _, _| at < 20), "the newest are first");
    let until = DecidedFilter { until: Some(first_day), timezone: Some("UTC".into()), ..none.clone() };
    assert_eq!(decided(&f, true, until).await, ids(&|at, _, _| at >= 20));
    let timezone = Some("Europe/Nowhere".to_owned());
    let filter = DecidedFilter { timezone, ..none };
    let wanted = DecidedRequest { filter, everyone: true, line: None, limit: 7, cursor: None };
    assert_eq!(fields_of(inbox::list_decided(&f.ledger, &f.operator, wanted).await), ["timezone"]);
    f.done().await;
}
