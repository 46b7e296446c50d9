//! P-3, P-4, P-13, P-22 for servers that cache the heads of logs. With a cached head an append on PostgreSQL is
//! one statement. Changes that happened meanwhile, on this server or another, are still detected.

use domain::{
    Entropy as _,
    id::{EventId, SessionId},
    session::{Refusal, Session, Status},
};
use futures_util::future::join_all;
use ledger::{
    Error, LeaseClock, Ledger, event as events,
    event::{Append, Appended, NewEvent},
    session::{self, Claim, Completion},
};
use std::{sync::Arc, time::Duration};
use testkit::{Fixture, Raw, SeededEntropy, human, text};

async fn other_server(f: &Fixture) -> Ledger {
    f.server_with(&f.clock, LeaseClock::Process(Arc::new(f.clock.clone()))).await
}

async fn append(
    f: &Fixture,
    on: &Ledger,
    id: SessionId,
    attempt: u32,
    events: Vec<NewEvent>,
) -> ledger::Result<Appended> {
    events::append(on, &f.worker, Append { session_id: id, attempt: Some(attempt), events }).await
}

/// Returns the number of groups that took one statement, and the number of all groups.
fn groups(on: &Ledger) -> (u64, u64) {
    (on.stats().groups_at_known_heads, on.stats().groups_committed)
}

fn with_id(seed: u64, body: &str) -> NewEvent {
    let mut bytes = [0; 16];
    SeededEntropy::new(seed).fill(&mut bytes);
    NewEvent { id: Some(EventId(uuid::Builder::from_random_bytes(bytes).into_uuid())), ..text(body) }
}

async fn assert_whole(f: &Fixture, id: SessionId, messages: usize) {
    let log = f.log(id).await;
    let expected: Vec<u64> = (1..=log.len() as u64).collect();
    assert_eq!(log.iter().map(|e| e.sequence).collect::<Vec<_>>(), expected);
    assert_eq!(log.iter().filter(|e| e.kind == "agent.message").count(), messages);
    f.assert_verified().await;
}

const WAITING_FOR_LOCK: &str =
    "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/// Waits until this number of statements in this database wait for a lock.
pub(crate) async fn until_waiting(raw: &mut Raw, statements: i64) {
    while raw.number(WAITING_FOR_LOCK).await < statements {
        tokio::task::yield_now().await;
    }
}

/// Waits until an append waits for a lock in the database, or was set aside because of one.
async fn until_held_up(f: &Fixture, raw: &mut Raw) {
    while raw.number(WAITING_FOR_LOCK).await + f.ledger.stats().queue_items.cast_signed() < 1 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn appends_that_follow_one_another_are_one_statement_each() {
    let f = Fixture::postgres().await;
    let session = f.running().await;
    for n in 1..=5 {
        f.append(session.id, 1, vec![text("a"), text("b")]).await.unwrap();
        assert_eq!(groups(&f.ledger), (n, n), "not even the first one has to ask: it was claimed here");
    }
    // A refusal is decided by the database, not by the cache.
    let refused = f.append(session.id, 2, vec![text("c")]).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::StaleAttempt { .. }))), "{refused:?}");
    assert_eq!(groups(&f.ledger), (5, 6));
    assert_whole(&f, session.id, 10).await;
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_that_append_in_turns_write_one_log() {
    let f = Fixture::postgres().await;
    let (session, other) = (f.running().await, other_server(&f).await);
    for turn in 1..=4 {
        // The first server claimed the session.
        for (server, known) in [(&f.ledger, turn), (&other, turn - 1)] {
            for n in 0..2 {
                let done = append(&f, server, session.id, 1, vec![text("x")]).await.unwrap();
                assert_eq!(done.head_sequence, done.events[0].1);
                assert_eq!(groups(server), (known + n, 2 * turn - 1 + n), "once it knows, it need not ask");
            }
        }
    }
    let writer = async |n: usize| {
        let (server, mut last) = (if n.is_multiple_of(2) { &f.ledger } else { &other }, 0);
        for _ in 0..10 {
            let done = append(&f, server, session.id, 1, vec![text("y"), text("z")]).await.unwrap();
            assert_eq!(done.events[1].1, done.events[0].1 + 1, "a batch is contiguous");
            assert!(done.events[0].1 > last, "an append that began after another ended comes after it");
            last = done.head_sequence;
        }
    };
    join_all((0..8).map(writer)).await;
    assert_whole(&f, session.id, 16 + 160).await;
    other.close().await;
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_on_any_server_is_answered_with_what_is_recorded() {
    let f = Fixture::postgres().await;
    let (session, other) = (f.running().await, other_server(&f).await);
    let id = session.id;
    let mut recorded = Vec::new();
    for (n, server) in [&f.ledger, &f.ledger, &other, &other, &f.ledger].into_iter().enumerate() {
        recorded.push(append(&f, server, id, 1, vec![with_id(n as u64, "a")]).await.unwrap().events);
    }
    // One of the servers has a stale head in its cache, the other has the present one.
    for (n, events) in recorded.iter().enumerate() {
        for server in [&other, &f.ledger] {
            let again = append(&f, server, id, 1, vec![with_id(n as u64, "a")]).await.unwrap();
            assert_eq!(&again.events, events);
            let forged = append(&f, server, id, 1, vec![with_id(n as u64, "b")]).await;
            assert!(matches!(forged, Err(Error::IdConflict { .. })), "{forged:?}");
        }
    }
    let mixed = append(&f, &f.ledger, id, 1, vec![with_id(9, "new"), with_id(0, "a")]).await.unwrap();
    assert_eq!(mixed.events[1], recorded[0][0]);
    let named = || NewEvent { external_event_id: Some("call-1".into()), ..text("named") };
    let first = append(&f, &f.ledger, id, 1, vec![named()]).await.unwrap();
    for server in [&f.ledger, &other] {
        assert_eq!(append(&f, server, id, 1, vec![named()]).await.unwrap().events, first.events);
    }
    // Both servers append the same events at the same time.
    let at_once = async |n: usize| {
        let server = if n.is_multiple_of(2) { &f.ledger } else { &other };
        append(&f, server, id, 1, vec![with_id(20, "once")]).await.unwrap().events
    };
    let answers = join_all((0..8).map(at_once)).await;
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
    assert_whole(&f, id, 5 + 1 + 1 + 1).await;
    other.close().await;
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_lost_its_session_elsewhere_is_refused_where_it_is_remembered() {
    let f = Fixture::postgres().await;
    let (session, other) = (f.running().await, other_server(&f).await);
    let id = session.id;
    for _ in 0..2 {
        f.append(id, 1, vec![text("a")]).await.unwrap();
    }
    session::release(&other, &f.worker, id, 1).await.unwrap();
    let refused = f.append(id, 1, vec![text("late")]).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::WrongStatus { status: Status::Pending }))), "{refused:?}");
    let claim = Claim { agent_slugs: None, max: 1, lease_seconds: 60 };
    let claimed = session::claim(&other, &f.worker, claim, Duration::ZERO).await.unwrap();
    assert_eq!(claimed[0].session.attempt, 2);
    let refused = f.append(id, 1, vec![text("late")]).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::StaleAttempt { given: 1, current: 2 }))), "{refused:?}");
    for server in [&f.ledger, &other, &f.ledger] {
        append(&f, server, id, 2, vec![text("b")]).await.unwrap();
    }
    let completion = Completion { attempt: 2, result: None, usage: None };
    session::complete(&other, &f.worker, id, completion).await.unwrap();
    let refused = f.append(id, 2, vec![text("late")]).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::AlreadyFinal { .. }))), "{refused:?}");
    assert_whole(&f, id, 5).await;
    other.close().await;
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_is_lost_while_the_statement_waits_refuses_it() {
    let f = Fixture::postgres().await;
    // Neither change alters the head, so each has to be checked separately.
    for (change, back) in
        [("attempt = attempt + 1", "attempt = attempt - 1"), ("status = 'pending'", "status = 'running'")]
    {
        let id = f.running().await.id;
        for _ in 0..2 {
            f.append(id, 1, vec![text("a")]).await.unwrap();
        }
        let (mut holder, mut watcher) = (f.engine.raw().await, f.engine.raw().await);
        holder.execute("BEGIN").await.unwrap();
        let taken = holder.execute(&format!("UPDATE sessions SET {change} WHERE id = '{}'", id.0)).await;
        assert_eq!(taken.unwrap(), 1);
        let late = f.append(id, 1, vec![text("late")]);
        let taking = async {
            until_held_up(&f, &mut watcher).await;
            holder.execute("COMMIT").await.unwrap();
        };
        let (refused, ()) = tokio::join!(late, taking);
        assert!(matches!(refused, Err(Error::Refused(_))), "{change}: {refused:?}");
        // The log has no event of the change, and verification compares the log with the row.
        watcher.execute(&format!("UPDATE sessions SET {back} WHERE id = '{}'", id.0)).await.unwrap();
        assert_whole(&f, id, f.log(id).await.iter().filter(|e| e.kind == "agent.message").count()).await;
        assert_eq!(f.log(id).await.iter().filter(|e| e.kind == "agent.message").count(), 2);
    }
    f.done().await;
}

/// Locks a session in a transaction of another connection.
async fn hold(raw: &mut Raw, id: SessionId) {
    raw.execute("BEGIN").await.unwrap();
    raw.execute(&format!("SELECT 1 FROM sessions WHERE id = '{}' FOR UPDATE", id.0)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_group_only_the_sessions_that_are_not_as_they_were_are_judged_again() {
    let f = Fixture::postgres().await;
    let other = other_server(&f).await;
    let [held, known, moved] = [f.running().await.id, f.running().await.id, f.running().await.id];
    for id in [held, known, moved] {
        f.append(id, 1, vec![text("a")]).await.unwrap();
    }
    let (mut holder, mut watcher) = (f.engine.raw().await, f.engine.raw().await);
    // While a statement for the first session waits, the appends to the other two form one group, unless the
    // test was slower than the lock timeout.
    let mut is_seen = false;
    for _ in 0..50 {
        append(&f, &other, moved, 1, vec![text("b")]).await.unwrap();
        let before = groups(&f.ledger);
        hold(&mut holder, held).await;
        let rest = async {
            until_held_up(&f, &mut watcher).await;
            let both = [known, moved].map(|id| f.append(id, 1, vec![text("c")]));
            let release = async {
                while f.ledger.stats().queue_items < 2 && watcher.number(WAITING_FOR_LOCK).await > 0 {
                    tokio::task::yield_now().await;
                }
                holder.execute("COMMIT").await.unwrap();
            };
            tokio::join!(join_all(both), release).0
        };
        let (first, rest) = tokio::join!(f.append(held, 1, vec![text("c")]), rest);
        assert!(first.is_ok() && rest.iter().all(Result::is_ok), "{first:?} {rest:?}");
        let after = groups(&f.ledger);
        is_seen = (after.0 - before.0, after.1 - before.1) == (2, 3);
        if is_seen {
            break;
        }
    }
    assert!(is_seen, "never were two parts of a group settled apart");
    for id in [held, known, moved] {
        assert_whole(&f, id, f.log(id).await.iter().filter(|e| e.kind == "agent.message").count()).await;
    }
    other.close().await;
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_session_does_not_delay_other_sessions() {
    let f = Fixture::postgres().await;
    // This server has claimed nothing, so its cache is empty.
    let server = other_server(&f).await;
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(f.running().await.id);
    }
    // Some heads are cached and some are not. Of each kind the middle session is locked.
    for id in &ids[..3] {
        append(&f, &server, *id, 1, vec![text("a")]).await.unwrap();
    }
    let mut holder = f.engine.raw().await;
    for held in [ids[4], ids[1]] {
        hold(&mut holder, held).await;
        let before = f.log(held).await.len();
        let meanwhile = async {
            for _ in 0..3 {
                let others = ids.iter().filter(|id| **id != held);
                let others = others.map(|id| append(&f, &server, *id, 1, vec![text("b")]));
                for done in join_all(others).await {
                    done.unwrap();
                }
            }
            // No session is locked because another one in its group waits.
            for id in ids.iter().filter(|id| **id != held) {
                session::heartbeat(&server, &f.worker, *id, 1).await.unwrap();
            }
            assert_eq!(f.log(held).await.len(), before, "nobody else could write to it");
            holder.execute("COMMIT").await.unwrap();
        };
        let late = join_all((0..3).map(|n| append(&f, &server, held, 1, vec![text(&format!("late {n}"))])));
        // If the late append had delayed the others, it would have been given up before they were answered.
        let (late, ()) = tokio::join!(late, meanwhile);
        assert!(late.iter().all(Result::is_ok), "{late:?}");
    }
    for (at, id) in ids.iter().enumerate() {
        let remembered = usize::from(at < 3);
        assert_whole(&f, *id, remembered + 6).await;
    }
    server.close().await;
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_to_a_session_that_is_locked_for_too_long_fails_and_writes_nothing() {
    let f = Fixture::postgres().await;
    let [held, free] = [f.running().await.id, f.running().await.id];
    let mut holder = f.engine.raw().await;
    hold(&mut holder, held).await;
    let (refused, done) = tokio::join!(f.append(held, 1, vec![text("lost")]), f.append(free, 1, vec![text("a")]));
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    assert!(done.is_ok(), "{done:?}");
    holder.execute("COMMIT").await.unwrap();
    f.append(held, 1, vec![text("again")]).await.unwrap();
    assert_eq!(f.ledger.stats().queue_items, 0, "what was given up is queued no more");
    for id in [held, free] {
        assert_whole(&f, id, 1).await;
    }
    f.done().await;
}

/// Returns a call of the database function, as anyone with a connection to the database could send it.
fn call(workspace: uuid::Uuid, session: &Session, event_tenant: uuid::Uuid, kind: &str) -> String {
    let (id, sequence, digest) = (session.id.0, session.head_sequence, session.head_digest);
    let (status, attempt, next) = (session.status(), session.attempt, sequence + 1);
    let event_id = uuid::Uuid::from_u128(fastrand::u128(..));
    format!(
        "SELECT cardinality(shiftbook_append('{workspace}', NULL, '{{{id}}}', '{{{status}}}', '{{{attempt}}}', '{{{sequence}}}', \
         ARRAY[decode('{digest}', 'hex')], '{{{next}}}', ARRAY[decode('{digest}', 'hex')], '{{1}}', '{{{event_tenant}}}', \
         '{{{id}}}', '{{{next}}}', '{{{event_id}}}', '{{{kind}}}', '{{system}}', '{{[]}}', ARRAY['{{}}'], ARRAY[NULL], \
         ARRAY[NULL], '{{{attempt}}}', '{{x}}', '{{1}}', '{{1}}', ARRAY[decode('{digest}', 'hex')], \
         ARRAY[decode('{digest}', 'hex')]))::bigint"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_statement_writes_under_row_level_security_whoever_calls_it() {
    let f = Fixture::postgres().await;
    let (own_tenant, other_tenant) = (f.worker.tenant_id.0, f.stranger.tenant_id.0);
    let session = f.running().await;
    let task = crate::human::task(&f, "Mine").await;
    let task = ledger::human::start(&f.ledger, &f.member, task).await.unwrap().session;
    let mut raw = f.engine.raw().await;
    assert_eq!(
        raw.number(&call(other_tenant, &session, own_tenant, "agent.message")).await,
        0,
        "another workspace found it"
    );
    for (what, sql) in [
        ("an event of another workspace", call(own_tenant, &session, other_tenant, "agent.message")),
        ("what somebody did, by somebody else", call(own_tenant, &task, own_tenant, "human.marker")),
    ] {
        let refused = raw.execute(&sql).await.expect_err(what).to_string();
        assert!(refused.contains("row-level security"), "{what}: {refused}");
    }
    assert_eq!(
        raw.number(&call(own_tenant, &session, own_tenant, "agent.message")).await,
        1,
        "the call itself is right"
    );
    // The role and the workspace are reset after the statement.
    let unset =
        "SELECT COUNT(*) WHERE current_user = session_user AND coalesce(current_setting('app.tenant', true), '') = ''";
    assert_eq!(raw.number(unset).await, 1);
    let own = Append { session_id: task.id, attempt: None, events: vec![human("human.marker", "mine")] };
    for _ in 0..2 {
        let events = own.events.clone();
        events::append(&f.ledger, &f.member, Append { events, ..own.clone() }).await.unwrap();
        let others = Append { events: vec![human("human.marker", "not mine")], ..own.clone() };
        let refused = events::append(&f.ledger, &f.other_member, others).await;
        assert!(matches!(refused, Err(Error::WriteRefused { .. })), "{refused:?}");
    }
    f.done().await;
}
