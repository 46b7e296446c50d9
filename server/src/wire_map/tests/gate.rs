//! Gates with their tasks, reviewers and decisions.

use super::pool::{Pool, pool, received};
use crate::wire_map;
use domain::{
    chain::Digest,
    gate::{Gate, ReviewerKind, State, Task, Verdict},
    id::{ActionId, EntityId, GateId, GroupId, SessionId, TenantId, UserId},
};
use ledger::{
    DecisionRecord, ReviewerRecord,
    gate::{GateItem, MayDecide},
};
use proptest::prelude::*;
use serde_json::{Map, Value};
use wire::approval::{Approval, Decision, Reviewer};

fn state(pool: &mut Pool) -> State {
    let (verdict, at) = (pool.one_of(&Verdict::ALL), pool.time());
    match pool.number() % 5 {
        0 => State::Open,
        1 => State::Held { verdict, until: at },
        2 => State::Settled { verdict, at },
        3 => State::Expired { verdict: pool.flag().then_some(verdict), at },
        _ => State::Withdrawn { verdict: pool.flag().then_some(verdict), at },
    }
}

fn gate(pool: &mut Pool) -> Gate {
    let task = pool.task();
    Gate {
        tenant_id: TenantId(pool.id()),
        id: GateId(pool.id()),
        session_id: SessionId(pool.id()),
        action_id: pool.maybe(|pool| ActionId(pool.id())),
        entity_id: pool.maybe(|pool| EntityId(pool.id())),
        agent_slug: pool.maybe(Pool::text),
        kind: task.kind(),
        state: state(pool),
        title: pool.text(),
        task,
        task_digest: pool.digest(),
        similar_key: pool.text(),
        criteria: pool.maybe(Pool::text),
        score: pool.maybe(Pool::fraction),
        flags: pool.two(Pool::text),
        attempt: pool.small(),
        quorum: pool.small(),
        self_approval: pool.flag(),
        requested_by: pool.text(),
        requester_id: pool.maybe(|pool| UserId(pool.id())),
        opened_at: pool.time(),
        order_at: pool.signed(),
        due_at: pool.maybe(Pool::time),
        remind_at: pool.maybe(Pool::time),
        reminded_at: pool.maybe(Pool::time),
        escalate_at: pool.maybe(Pool::time),
        escalate_to: None,
        escalated_at: pool.maybe(Pool::time),
        action_name: pool.maybe(Pool::text),
        entity_title: pool.maybe(Pool::text),
    }
}

fn decision(pool: &mut Pool) -> DecisionRecord {
    DecisionRecord {
        number: pool.small(),
        user_id: pool.maybe(|pool| UserId(pool.id())),
        actor: pool.text(),
        email: pool.text(),
        verdict: pool.maybe(|pool| pool.one_of(&Verdict::ALL)),
        undoes: pool.maybe(Pool::small),
        value: pool.maybe(|pool| format!("[ {}, 1.50 ]", pool.signed())),
        value_digest: pool.digest(),
        note: pool.maybe(Pool::text),
        at: pool.time(),
        entity_version: pool.maybe(Pool::number),
    }
}

/// The record of a decision as a client can tell it. Where no one's address is known, who decided is sent instead.
fn decision_of(sent: Decision, record: &DecisionRecord) -> DecisionRecord {
    let Decision { number, decision: verdict, undoes, user_id, email: by, value, note, at } = sent;
    let (email, actor) = if record.email.is_empty() { (String::new(), by) } else { (by, record.actor.clone()) };
    let value = value.map(|json| json.get().to_owned());
    DecisionRecord { number, user_id, actor, email, verdict, undoes, value, note, at, ..record.clone() }
}

fn reviewers(pool: &mut Pool) -> Vec<ReviewerRecord> {
    vec![
        ReviewerRecord::User { id: UserId(pool.id()), email: pool.text() },
        ReviewerRecord::Group { id: GroupId(pool.id()), name: pool.text() },
        ReviewerRecord::Anyone,
        ReviewerRecord::Admins,
    ]
}

fn reviewer_of(sent: Reviewer) -> ReviewerRecord {
    let Reviewer { kind, id, name } = sent;
    match (kind, id) {
        (ReviewerKind::User, Some(id)) => ReviewerRecord::User { id: UserId(id), email: name },
        (ReviewerKind::Group, Some(id)) => ReviewerRecord::Group { id: GroupId(id), name },
        (ReviewerKind::Anyone, None) => ReviewerRecord::Anyone,
        (ReviewerKind::Admins, None) => ReviewerRecord::Admins,
        other => panic!("{other:?}"),
    }
}

fn item(pool: &mut Pool) -> GateItem {
    let decided = decision(pool);
    GateItem {
        gate: gate(pool),
        reviewers: reviewers(pool),
        last: pool.flag().then_some(decided.number),
        decisions: vec![decided],
        approvals: pool.small(),
        proposed: pool.maybe(Pool::object),
        digest: pool.digest(),
        may_decide: pool.one_of(&[
            MayDecide::Yes,
            MayDecide::NotAPerson,
            MayDecide::NotAReviewer,
            MayDecide::OwnRequest,
            MayDecide::NotOpen,
        ]),
        is_approved_by_caller: pool.flag(),
        snoozed_until: pool.maybe(Pool::time),
        due_at: pool.maybe(Pool::time),
    }
}

proptest! {
    #[test]
    fn an_approval_says_what_its_gate_holds(mut pool in pool()) {
        let item = item(&mut pool);
        let Approval {
            id, kind, state, session_id, action_id, action_name, agent_slug, entity_id, entity_title, title, task,
            proposed, digest, score, flags, similar_key, reviewers, quorum, approvals, may_decide, approved_by_caller,
            may_not_decide_because, requested_by, opened_at, due_at, reminded_at, escalated_at, snoozed_until,
            held_until, settled_at, decision,
        } = received(&wire_map::approval(item.clone()));
        let gate = &item.gate;
        let read = Gate {
            id, kind, session_id, action_id, action_name, agent_slug, entity_id, entity_title, title, score, flags,
            similar_key, quorum, requested_by, opened_at, reminded_at, escalated_at,
            task: Task::parse(task.get()).unwrap(),
            ..gate.clone()
        };
        prop_assert_eq!(&read, gate);
        let of_state = (gate.state.name(), gate.state.held_until(), gate.state.settled_at());
        prop_assert_eq!((state, held_until, settled_at), of_state);
        let proposed: Option<Map<String, Value>> = proposed.map(|json| serde_json::from_str(json.get()).unwrap());
        prop_assert_eq!(&proposed, &item.proposed);
        prop_assert_eq!(Digest::parse(&digest), Some(item.digest));
        prop_assert_eq!(reviewers.into_iter().map(reviewer_of).collect::<Vec<_>>(), item.reviewers.clone());
        prop_assert_eq!((approvals, approved_by_caller), (item.approvals, item.is_approved_by_caller));
        prop_assert_eq!(may_decide, item.may_decide == MayDecide::Yes);
        prop_assert_eq!(may_not_decide_because.as_deref(), item.may_decide.reason());
        prop_assert_eq!((snoozed_until, due_at), (item.snoozed_until, item.due_at));
        let recorded = item.decision();
        let read = decision.map(|sent| decision_of(sent, &item.decisions[0]));
        prop_assert_eq!(read.as_ref(), recorded);
    }

    #[test]
    fn a_task_is_read_as_it_was_written(mut pool in pool()) {
        let task = pool.task();
        prop_assert_eq!(Task::parse(&task.to_json().to_string()).unwrap(), task);
    }
}
