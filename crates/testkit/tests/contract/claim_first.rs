//! P-12, P-15, P-22 for claims in one statement (the fast path: PostgreSQL, sessions that were never claimed).
//! Their result equals that of the general path, and the two paths never claim the same session.

use chrono::TimeDelta;
use domain::{
    id::SessionId,
    session::{Session, Status, Type},
};
use futures_util::future::join_all;
use ledger::{
    LeaseClock, Ledger, action,
    session::{self, Claim, Claimed, NewSession},
};
use std::{collections::HashSet, sync::Arc, time::Duration};
use testkit::{Fixture, human, on_both_engines};

on_both_engines!(
    the_short_way_and_the_long_way_leave_the_same_behind,
    a_session_with_more_to_it_is_claimed_in_its_turn,
    the_next_claim_has_the_context_of_a_person_who_started_to_work,
);

/// Returns the agents of a claim. One agent allows the fast path; a second one forces the general path.
fn agents(long: bool) -> Option<Vec<String>> {
    Some(if long { vec!["scout".into(), "nobody".into()] } else { vec!["scout".into()] })
}

async fn claim(f: &Fixture, on: &Ledger, agent_slugs: Option<Vec<String>>, max: u32) -> ledger::Result<Vec<Claimed>> {
    session::claim(on, &f.worker, Claim { agent_slugs, max, lease_seconds: 60 }, Duration::ZERO).await
}

/// Returns the session without the fields in which two sessions always differ.
fn alike(session: Session) -> Session {
    let id = SessionId(uuid::Uuid::nil());
    Session { id, head_digest: domain::chain::Digest::GENESIS, queued_at: None, ..session }
}

async fn the_short_way_and_the_long_way_leave_the_same_behind(f: Fixture) {
    let mut left = Vec::new();
    for agent_slugs in [agents(false), None, agents(true)] {
        let made = f.pending().await;
        let mut claimed = claim(&f, &f.ledger, agent_slugs, 3).await.unwrap();
        assert_eq!(claimed.len(), 1);
        let claimed = claimed.remove(0);
        assert_eq!(claimed.session.id, made.id);
        let read = session::get(&f.ledger, &f.admin, made.id).await.unwrap();
        assert_eq!(read, claimed.session, "the answer is what is stored");
        assert_eq!((read.status(), read.attempt, read.lease_seconds()), (Status::Running, 1, Some(60)));
        assert_eq!(read.lease_expires_at(), Some(f.ledger.now() + TimeDelta::seconds(60)));
        // The first event has a digest of its session, so it always differs.
        let log = f.log(made.id).await.into_iter().skip(1);
        let events: Vec<_> = log
            .map(|e| {
                (e.sequence, e.kind, e.role, e.content, e.metadata, e.attempt, e.actor, e.at, e.recorded_at, e.body)
            })
            .collect();
        assert_eq!(1 + events.len() as u64, read.head_sequence);
        left.push((alike(read), events));
    }
    assert_eq!(left[0], left[2]);
    assert_eq!(left[1], left[2]);
    f.assert_verified().await;
    f.done().await;
}

async fn a_session_with_more_to_it_is_claimed_in_its_turn(f: Fixture) {
    let metadata = r#"{"timeLimits":{"runningSeconds":20}}"#;
    let new = action::NewAction {
        name: "Look".into(),
        agent_slug: Some("scout".into()),
        metadata: Some(metadata.into()),
        ..Default::default()
    };
    let limited = action::create(&f.ledger, &f.operator, new).await.unwrap().id;
    let mut made = Vec::new();
    for n in 0..9 {
        // Claims take the oldest session first.
        f.clock.advance(TimeDelta::milliseconds(1));
        made.push(match n {
            4 => action::trigger(&f.ledger, &f.member, limited, Default::default()).await.unwrap().id,
            _ => f.pending().await.id,
        });
    }
    // A session that was claimed before returns to the end of the queue.
    let [first] = &claim(&f, &f.ledger, None, 1).await.unwrap()[..] else { panic!() };
    assert_eq!(first.session.id, made[0]);
    f.clock.advance(TimeDelta::milliseconds(1));
    session::release(&f.ledger, &f.worker, made[0], 1).await.unwrap();
    let mut claimed = Vec::new();
    for max in [2, 3, 2, 5] {
        claimed.extend(claim(&f, &f.ledger, agents(false), max).await.unwrap());
    }
    let order: Vec<SessionId> = made.iter().skip(1).chain(&made[..1]).copied().collect();
    assert_eq!(claimed.iter().map(|c| c.session.id).collect::<Vec<_>>(), order);
    for claimed in &claimed {
        let (id, at) = (claimed.session.id, claimed.session.updated_at);
        assert_eq!(claimed.session.attempt, 1 + u32::from(id == made[0]));
        let deadline = (id == made[4]).then(|| at + TimeDelta::seconds(20));
        assert_eq!(claimed.session.deadline_at(), deadline, "the limit counts from the claim");
    }
    f.assert_verified().await;
    f.done().await;
}

async fn the_next_claim_has_the_context_of_a_person_who_started_to_work(f: Fixture) {
    let queue = async || {
        let new = NewSession { agent_slug: Some("scout".into()), ..NewSession::of_type(Type::Agent) };
        session::create(&f.ledger, &f.member, new).await.unwrap()
    };
    queue().await;
    assert_eq!(claim(&f, &f.ledger, agents(false), 1).await.unwrap()[0].context, None);
    let task = crate::human::task(&f, "Review").await;
    let working = ledger::human::start(&f.ledger, &f.member, task).await.unwrap().session.id;
    let did = vec![human("human.marker", "numbers look odd")];
    let append = ledger::event::Append { session_id: working, attempt: None, events: did };
    ledger::event::append(&f.ledger, &f.member, append).await.unwrap();
    queue().await;
    let claimed = claim(&f, &f.ledger, agents(false), 1).await.unwrap().remove(0);
    assert!(claimed.context.is_some_and(|context| context.contains("numbers look odd")));
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_common_claim_is_the_statement_and_no_other_is() {
    let f = Fixture::postgres().await;
    for _ in 0..2 {
        f.pending().await;
    }
    f.engine.raw().await.execute("ALTER FUNCTION shiftbook_claim RENAME TO shiftbook_claim_gone").await.unwrap();
    for agent_slugs in [agents(false), None] {
        assert!(claim(&f, &f.ledger, agent_slugs, 1).await.is_err());
    }
    assert_eq!(claim(&f, &f.ledger, agents(true), 2).await.unwrap().len(), 2);
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_was_given_memories_is_not_tried_on_the_fast_path() {
    let f = Fixture::postgres().await;
    let queue = async |title: &str| {
        let title = Some(title.to_owned());
        let new = NewSession { agent_slug: Some("scout".into()), title, ..NewSession::of_type(Type::Agent) };
        session::create(&f.ledger, &f.member, new).await.unwrap();
    };
    crate::memory::put(&f, &f.operator, "topics/launch.md", 0, "# Launch\n\n- On Friday\n").await.unwrap();
    // Two sessions of one claim are both given memories.
    for title in ["Plan the launch", "Plan the launch of another day"] {
        queue(title).await;
    }
    for claimed in claim(&f, &f.ledger, agents(false), 2).await.unwrap() {
        assert!(claimed.context.unwrap().contains("On Friday"));
    }
    f.engine.raw().await.execute("ALTER FUNCTION shiftbook_claim RENAME TO shiftbook_claim_gone").await.unwrap();
    queue("Plan the launch again").await;
    let given = claim(&f, &f.ledger, agents(false), 1).await.unwrap().remove(0).context.unwrap();
    assert!(given.contains("On Friday"));
    // The claim after one without memories is tried there again, and so is the claim after an empty one.
    queue("Water the flowers").await;
    assert_eq!(claim(&f, &f.ledger, agents(false), 1).await.unwrap().remove(0).context, None);
    assert!(claim(&f, &f.ledger, agents(false), 1).await.is_err());
    f.engine.raw().await.execute("ALTER FUNCTION shiftbook_claim_gone RENAME TO shiftbook_claim").await.unwrap();
    queue("Plan the launch").await;
    assert!(claim(&f, &f.ledger, agents(false), 1).await.unwrap().remove(0).context.is_some());
    assert_eq!(claim(&f, &f.ledger, agents(false), 1).await.unwrap().len(), 0);
    f.engine.raw().await.execute("ALTER FUNCTION shiftbook_claim RENAME TO shiftbook_claim_gone").await.unwrap();
    assert!(claim(&f, &f.ledger, agents(false), 1).await.is_err());
    f.assert_verified().await;
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claimers_of_two_servers_on_both_ways_never_take_the_same_session() {
    let f = Fixture::postgres().await;
    let other = f.server_with(&f.clock, LeaseClock::Process(Arc::new(f.clock.clone()))).await;
    for _ in 0..120 {
        f.pending().await;
    }
    let claimer = async |n: u32| {
        let server = if n.is_multiple_of(2) { &f.ledger } else { &other };
        let mut held = Vec::new();
        loop {
            let claimed = claim(&f, server, agents(n.is_multiple_of(3)), 1 + n % 4).await.unwrap();
            if claimed.is_empty() {
                return held;
            }
            held.extend(claimed.into_iter().map(|claimed| claimed.session.id));
        }
    };
    let held: Vec<SessionId> = join_all((0..16).map(claimer)).await.concat();
    assert_eq!(held.iter().collect::<HashSet<_>>().len(), held.len(), "a session was handed out twice");
    // Claimers that found every session locked have returned. The remaining sessions are claimed now.
    let left = claim(&f, &f.ledger, None, 100).await.unwrap().len();
    assert_eq!(held.len() + left, 120);
    f.assert_verified().await;
    other.close().await;
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_statement_finds_nothing_of_another_workspace_and_has_no_rights_of_its_own() {
    let f = Fixture::postgres().await;
    f.pending().await;
    let call = |workspace: uuid::Uuid| {
        format!(
            "SELECT COUNT(*) FROM shiftbook_claim('{workspace}', NULL, NULL, 1, 0, 'running', 1, 60, NULL, 1, 'x', ''::bytea, \
             ARRAY[gen_random_uuid(), gen_random_uuid()], '{{a,b}}', '{{system,system}}', '{{[],[]}}', ARRAY['{{}}', '{{}}'], \
             ARRAY[''::bytea, ''::bytea], ARRAY[''::bytea, ''::bytea])"
        )
    };
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number(&call(f.stranger.tenant_id.0)).await, 0);
    let sql = "SELECT COUNT(*) FROM sessions WHERE status = 'pending'";
    assert_eq!(raw.number(sql).await, 1, "it was left alone");
    // When a superuser calls the function, it still acts as the role to which row-level security applies.
    raw.execute("REVOKE UPDATE ON sessions FROM shiftbook_app").await.unwrap();
    let refused = raw.execute(&call(f.worker.tenant_id.0)).await.unwrap_err().to_string();
    assert!(refused.contains("permission denied"), "{refused}");
    raw.execute("GRANT UPDATE ON sessions TO shiftbook_app").await.unwrap();
    assert_eq!(raw.number(&call(f.worker.tenant_id.0)).await, 1, "the call itself is right");
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_that_wait_together_share_what_there_is_in_their_order() {
    let f = Fixture::postgres().await;
    let mut made = Vec::new();
    for _ in 0..5 {
        f.clock.advance(TimeDelta::milliseconds(1));
        made.push(f.pending().await.id);
    }
    let (mut holder, mut watcher) = (f.engine.raw().await, f.engine.raw().await);
    holder.execute("BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let queued = async |claims: u64| {
        while f.ledger.stats().queue_items < claims {
            tokio::task::yield_now().await;
        }
    };
    let rest = async {
        crate::append_known::until_waiting(&mut watcher, 1).await;
        // The client disconnects before its turn, so no session is claimed for it.
        tokio::select! {
            gone = claim(&f, &f.ledger, None, 2) => panic!("{gone:?}"),
            () = queued(1) => {}
        }
        let release = async {
            queued(4).await;
            holder.execute("COMMIT").await.unwrap();
        };
        let claims = join_all([2, 1, 2].map(|max| claim(&f, &f.ledger, None, max)));
        tokio::join!(claims, release).0
    };
    let (first, rest) = tokio::join!(claim(&f, &f.ledger, None, 1), rest);
    let ids = |claimed: ledger::Result<Vec<Claimed>>| -> Vec<SessionId> {
        claimed.unwrap().into_iter().map(|claimed| claimed.session.id).collect()
    };
    assert_eq!(ids(first), made[..1]);
    let rest: Vec<_> = rest.into_iter().map(ids).collect();
    assert_eq!(rest, [&made[1..3], &made[3..4], &made[4..]]);
    f.assert_verified().await;
    f.done().await;
}
