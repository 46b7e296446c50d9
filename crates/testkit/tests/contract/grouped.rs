//! Completions and new sessions that share statements (PostgreSQL). Their result equals that of the general path, and
//! whatever they cannot do is left to it.

use domain::{
    id::SessionId,
    session::{Session, Status, Type},
};
use futures_util::future::join_all;
use ledger::{
    action,
    event::{self, Append},
    session::{self, Completion, NewSession},
};
use testkit::{Fixture, on_both_engines, text};

on_both_engines!(
    a_completion_leaves_the_same_behind_whichever_path_it_took,
    a_completion_after_appends_and_heartbeats_ends_their_log,
    a_result_that_the_action_does_not_accept_is_refused,
);

fn done(session: &Session) -> Completion {
    Completion { attempt: session.attempt, result: Some(r#"{"supplier":2}"#.into()), usage: Some("{}".into()) }
}

async fn complete(f: &Fixture, session: &Session) -> ledger::Result<Session> {
    session::complete(&f.ledger, &f.worker, session.id, done(session)).await
}

/// Returns the session without the fields in which two sessions always differ.
fn alike(session: Session) -> Session {
    let id = SessionId(uuid::Uuid::nil());
    Session { id, head_digest: domain::chain::Digest::GENESIS, ..session }
}

async fn a_completion_leaves_the_same_behind_whichever_path_it_took(f: Fixture) {
    let mut left = Vec::new();
    for has_webhook in [false, true] {
        if has_webhook {
            // It has to be sent a message in the same transaction, which only the general path does.
            crate::webhook::subscribed(&f, "https://example.org/hook".into(), &["session.failed"]).await;
        }
        let running = f.running().await;
        let completed = complete(&f, &running).await.unwrap();
        let read = session::get(&f.ledger, &f.admin, running.id).await.unwrap();
        assert_eq!(read, completed, "the answer is what is stored");
        assert_eq!((read.status(), read.result()), (Status::Completed, Some(r#"{"supplier":2}"#)));
        assert_eq!(complete(&f, &running).await.unwrap(), read, "a repeat is answered with what is recorded");
        let events: Vec<_> = f.log(running.id).await.into_iter().skip(running.head_sequence as usize).collect();
        let events: Vec<_> = events
            .into_iter()
            // The digest of the row is different for every session.
            .map(|e| (e.sequence, e.kind, e.role, e.content, e.attempt, e.actor, e.at, e.recorded_at))
            .collect();
        assert_eq!(running.head_sequence + events.len() as u64, read.head_sequence);
        left.push((alike(read), events));
    }
    assert_eq!(left[0], left[1]);
    f.assert_verified().await;
    f.done().await;
}

async fn a_completion_after_appends_and_heartbeats_ends_their_log(f: Fixture) {
    let running = f.running().await;
    f.append(running.id, running.attempt, vec![text("half of it")]).await.unwrap();
    session::heartbeat(&f.ledger, &f.worker, running.id, running.attempt).await.unwrap();
    let completed = complete(&f, &running).await.unwrap();
    let log = f.log(running.id).await;
    assert_eq!(log.len() as u64, completed.head_sequence);
    assert_eq!(
        log.iter().map(|event| event.sequence).collect::<Vec<_>>(),
        (1..=completed.head_sequence).collect::<Vec<_>>()
    );
    let late = Append { session_id: running.id, attempt: Some(running.attempt), events: vec![text("too late")] };
    assert!(event::append(&f.ledger, &f.worker, late).await.is_err());
    f.assert_verified().await;
    f.done().await;
}

async fn a_result_that_the_action_does_not_accept_is_refused(f: Fixture) {
    let new = action::NewAction { name: "Write".into(), agent_slug: Some("scout".into()), ..Default::default() };
    let id = action::create(&f.ledger, &f.operator, new).await.unwrap().id;
    for (result, fits) in [(r#""words""#, true), ("7", false)] {
        action::trigger(&f.ledger, &f.member, id, Default::default()).await.unwrap();
        let running = f.claim(1, 60).await.remove(0);
        let report = Completion { result: Some(result.into()), ..done(&running) };
        let completed = session::complete(&f.ledger, &f.worker, running.id, report).await;
        assert_eq!(completed.is_ok(), fits, "{completed:?}");
        let status = session::get(&f.ledger, &f.admin, running.id).await.unwrap().status();
        assert_eq!(status == Status::Completed, fits);
        if !fits {
            session::cancel(&f.ledger, &f.admin, running.id, None).await.unwrap();
        }
    }
    f.assert_verified().await;
    f.done().await;
}

/// Waits until this many writes wait in the lanes.
async fn until_queued(f: &Fixture, writes: u64) {
    while f.ledger.stats().queue_items < writes {
        tokio::task::yield_now().await;
    }
}

/// How many transactions last changed the sessions with this status.
fn transactions(status: &str) -> String {
    format!("SELECT COUNT(DISTINCT xmin::text) FROM sessions WHERE status = '{status}'")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn completions_that_wait_together_are_one_transaction() {
    let f = Fixture::postgres().await;
    let mut running = Vec::new();
    for _ in 0..5 {
        running.push(f.running().await);
    }
    let (mut holder, mut watcher) = (f.engine.raw().await, f.engine.raw().await);
    holder.execute("BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let rest = async {
        crate::append_known::until_waiting(&mut watcher, 1).await;
        let release = async {
            until_queued(&f, 4).await;
            holder.execute("COMMIT").await.unwrap();
        };
        tokio::join!(join_all(running[1..].iter().map(|session| complete(&f, session))), release).0
    };
    let (first, rest) = tokio::join!(complete(&f, &running[0]), rest);
    for completed in rest.into_iter().chain([first]) {
        assert_eq!(completed.unwrap().status(), Status::Completed);
    }
    assert_eq!(watcher.number(&transactions("completed")).await, 2, "the first one alone, then the others");
    f.assert_verified().await;
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_that_are_created_together_are_one_transaction() {
    let f = Fixture::postgres().await;
    let create = |title: &str| {
        let new = NewSession {
            agent_slug: Some("scout".into()),
            title: Some(title.to_owned()),
            ..NewSession::of_type(Type::Agent)
        };
        session::create(&f.ledger, &f.member, new)
    };
    let (mut holder, mut watcher) = (f.engine.raw().await, f.engine.raw().await);
    holder.execute("BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let rest = async {
        crate::append_known::until_waiting(&mut watcher, 1).await;
        let release = async {
            until_queued(&f, 3).await;
            holder.execute("COMMIT").await.unwrap();
        };
        tokio::join!(join_all(["b", "c", "d"].map(create)), release).0
    };
    let (first, rest) = tokio::join!(create("a"), rest);
    let created: Vec<Session> = rest.into_iter().chain([first]).map(Result::unwrap).collect();
    assert_eq!(created.iter().map(|session| session.title.as_str()).collect::<Vec<_>>(), ["b", "c", "d", "a"]);
    for session in &created {
        assert_eq!(session::get(&f.ledger, &f.admin, session.id).await.unwrap(), *session);
    }
    assert_eq!(watcher.number(&transactions("pending")).await, 2, "the first one alone, then the others");
    f.assert_verified().await;
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_shared_statements_cannot_do_is_done_alone() {
    let f = Fixture::postgres().await;
    let running = f.running().await;
    let mut raw = f.engine.raw().await;
    for function in ["shiftbook_complete", "shiftbook_create"] {
        raw.execute(&format!("ALTER FUNCTION {function} RENAME TO {function}_gone")).await.unwrap();
    }
    assert_eq!(complete(&f, &running).await.unwrap().status(), Status::Completed);
    f.pending().await;
    f.assert_verified().await;
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_statements_see_nothing_of_another_workspace_and_write_no_row_that_has_changed() {
    let f = Fixture::postgres().await;
    let running = f.running().await;
    let mut raw = f.engine.raw().await;
    let seen = |workspace: uuid::Uuid| {
        format!("SELECT COUNT(*) FROM shiftbook_seen('{workspace}', NULL, ARRAY['{}'::uuid])", running.id.0)
    };
    assert_eq!(raw.number(&seen(f.stranger.tenant_id.0)).await, 0);
    assert_eq!(raw.number(&seen(f.worker.tenant_id.0)).await, 1);
    let written = |workspace: uuid::Uuid, version: &str| {
        format!(
            "SELECT COALESCE(CARDINALITY(shiftbook_complete('{workspace}', NULL, 'running', 'completed', 'done', \
             ARRAY['{}'::uuid], ARRAY[{version}], ARRAY[NULL::text], ARRAY[NULL::text], ARRAY[NULL::bigint], \
             ARRAY[9::bigint], ARRAY[''::bytea], ARRAY[1::bigint], ARRAY[1::bigint], ARRAY[false], '{{}}', '{{}}', \
             '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', \
             '{{}}')), 0)::bigint",
            running.id.0
        )
    };
    assert_eq!(raw.number(&written(f.worker.tenant_id.0, "'1'")).await, 0, "the row has another version");
    let version = format!("(SELECT xmin::text FROM sessions WHERE id = '{}')", running.id.0);
    assert_eq!(raw.number(&written(f.stranger.tenant_id.0, &version)).await, 0, "it is of another workspace");
    let kept = session::get(&f.ledger, &f.admin, running.id).await.unwrap();
    assert_eq!(kept, running);
    f.done().await;
}
