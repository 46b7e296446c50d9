//! P-62: what pages show of an ended session is covered by its log, and `verify` names differences.

use chrono::TimeDelta;
use domain::{id::SessionId, session::Status};
use ledger::{
    InstanceKey,
    event::NewEvent,
    failure, retention,
    session::{self, Completion, Failure},
    thread::{self, Message, NewThread},
    verify::{self, Verified},
};
use testkit::{Engine, Fixture, INSTANCE_KEY, Raw, on_both_engines, text};

on_both_engines!(
    a_changed_row_of_a_final_session_is_named,
    a_changed_row_of_a_session_that_waits_is_named,
    privacy_that_was_changed_is_named_whatever_the_status,
    a_new_title_of_a_conversation_is_bound,
    a_row_with_another_status_than_its_log_is_named,
    a_row_that_no_session_can_have_is_named,
    an_erased_row_still_verifies_and_a_change_of_it_is_named,
    an_erased_event_that_is_changed_is_named,
    sessions_that_ended_before_rows_were_bound_are_counted,
    sessions_that_were_created_before_creations_were_bound_are_counted_until_they_end,
    an_unknown_value_is_located,
    a_changed_failure_is_named_and_its_advice_follows_from_its_code,
);

pub fn key() -> InstanceKey {
    InstanceKey::parse(INSTANCE_KEY).unwrap()
}

pub async fn verified(f: &Fixture) -> Verified {
    verify::all(&f.ledger, &[key()], |_| {}).await.unwrap()
}

/// Opens a database connection without triggers.
pub async fn intruder(f: &Fixture) -> Raw {
    let mut raw = f.engine.raw().await;
    match f.engine {
        Engine::Sqlite(_) => {
            for trigger in [
                "sessions_final_stays",
                "session_events_no_update",
                "erasures_stay",
                "session_failures_kept",
                "session_failures_no_delete",
            ] {
                raw.execute(&format!("DROP TRIGGER {trigger}")).await.unwrap();
            }
        }
        Engine::Postgres { .. } => {
            raw.execute("SET session_replication_role = replica").await.unwrap();
        }
    }
    raw
}

pub async fn completed(f: &Fixture) -> SessionId {
    let running = f.running().await;
    f.append(running.id, 1, vec![text("working")]).await.unwrap();
    let (result, usage) = (Some(r#"{"answer":42}"#.into()), Some(r#"{"tokens":7}"#.into()));
    session::complete(&f.ledger, &f.worker, running.id, Completion { attempt: 1, result, usage }).await.unwrap();
    running.id
}

/// Creates one session of each final status.
async fn ended(f: &Fixture) -> Vec<(Status, SessionId)> {
    let completed = completed(f).await;
    // Sessions are checked in the order in which they began. Those of one moment have no order.
    f.clock.advance(TimeDelta::milliseconds(1));
    let failed = f.running().await.id;
    let failure = Failure { attempt: 1, message: "no".into(), code: Some("broken".into()), usage: None };
    session::fail(&f.ledger, &f.worker, failed, failure).await.unwrap();
    let abandoned = f.pending().await.id;
    session::cancel(&f.ledger, &f.operator, abandoned, Some("not needed".into())).await.unwrap();
    vec![(Status::Completed, completed), (Status::Failed, failed), (Status::Abandoned, abandoned)]
}

/// Changes a column of a session, asserts that `verify` names it, and restores the column.
async fn assert_named(f: &Fixture, raw: &mut Raw, id: SessionId, column: &str, value: &str, words: &str) {
    let one = match f.engine {
        Engine::Sqlite(_) => format!("id = x'{}'", id.0.simple()),
        Engine::Postgres { .. } => format!("id = '{}'", id.0),
    };
    raw.execute("CREATE TABLE kept AS SELECT * FROM sessions").await.unwrap();
    let changed = raw.execute(&format!("UPDATE sessions SET {column} = {value} WHERE {one}")).await.unwrap();
    assert_eq!(changed, 1);
    let (bad, _, problem) = verified(f).await.bad.unwrap_or_else(|| panic!("another {column} passed"));
    assert!(bad == id && problem.contains(words), "{column}: {bad}: {problem}");
    let old = format!("(SELECT k.{column} FROM kept k WHERE k.id = sessions.id)");
    raw.execute(&format!("UPDATE sessions SET {column} = {old}")).await.unwrap();
    raw.execute("DROP TABLE kept").await.unwrap();
    assert_eq!(verified(f).await.bad, None);
}

async fn a_changed_row_of_a_final_session_is_named(f: Fixture) {
    let ended = ended(&f).await;
    let found = verified(&f).await;
    assert_eq!((found.bad, found.unbound), (None, 0));
    let mut raw = intruder(&f).await;
    for (column, value) in [
        ("result", "'{\"answer\":43}'"),
        ("created_by", "'user:somebody-else'"),
        ("title", "'Another'"),
        ("input", "'{}'"),
        ("metadata", "'{\"a\":1}'"),
        ("usage", "NULL"),
        ("error_message", "'other'"),
        ("error_code", "'other'"),
        ("session_type", "'tool'"),
        ("agent_slug", "'other'"),
        ("source", "'elsewhere'"),
        ("attempt", "attempt + 1"),
        ("created_at", "created_at - 1"),
        ("completed_at", "completed_at + 1"),
    ] {
        for (_, id) in &ended {
            if column == "usage" && *id != ended[0].1 {
                continue;
            }
            assert_named(&f, &mut raw, *id, column, value, "its row was changed after it ended").await;
        }
    }
    for ((_, id), reason) in ended.iter().zip(["'superseded'", "'hard_block'", "'dependency_failed'"]) {
        assert_named(&f, &mut raw, *id, "end_reason", reason, "its row was changed after it ended").await;
    }
    f.done().await;
}

/// Columns that a session gets when it is created, each with another value.
const CREATED_WITH: [(&str, &str); 13] = [
    ("title", "'Another'"),
    ("input", "'{\"task\":\"forged\"}'"),
    ("metadata", "'{\"a\":1}'"),
    ("private_to", "'user:somebody-else'"),
    ("session_type", "'tool'"),
    ("action_slug", "'other'"),
    ("agent_slug", "'other'"),
    ("source", "'elsewhere'"),
    ("created_by", "'user:somebody-else'"),
    ("created_at", "created_at - 1"),
    ("time_limits", "'{\"runningSeconds\":9}'"),
    ("dependency_count", "7"),
    ("user_id", "NULL"),
];

async fn a_changed_row_of_a_session_that_waits_is_named(f: Fixture) {
    let draft = draft(&f).await;
    f.clock.advance(TimeDelta::milliseconds(1));
    let running = f.running().await.id;
    f.clock.advance(TimeDelta::milliseconds(1));
    let pending = f.pending().await.id;
    assert_eq!(verified(&f).await.bad, None);
    let mut raw = intruder(&f).await;
    for (column, value) in CREATED_WITH {
        for id in [draft, running, pending] {
            assert_named(&f, &mut raw, id, column, value, "changed after it was created").await;
        }
    }
    f.done().await;
}

async fn privacy_that_was_changed_is_named_whatever_the_status(f: Fixture) {
    let ended = ended(&f).await;
    let mut raw = intruder(&f).await;
    for (_, id) in ended {
        assert_named(&f, &mut raw, id, "private_to", "'user:x'", "privacy or origin was changed").await;
    }
    f.done().await;
}

async fn a_new_title_of_a_conversation_is_bound(f: Fixture) {
    let started = thread::start(&f.ledger, &f.member, NewThread { agent: "scout".into(), ..NewThread::default() });
    let id = started.await.unwrap().session.id;
    let before = session::get(&f.ledger, &f.member, id).await.unwrap().title;
    let message = Message { text: "Why does the import fail?".into(), id: None };
    thread::send_message(&f.ledger, &f.member, id, message).await.unwrap();
    let after = session::get(&f.ledger, &f.member, id).await.unwrap().title;
    assert_ne!(before, after, "the first message names the conversation");
    assert_eq!(verified(&f).await.bad, None);
    let mut raw = intruder(&f).await;
    assert_named(&f, &mut raw, id, "title", &format!("'{before}'"), "changed after it was created").await;
    f.done().await;
}

async fn a_row_that_no_session_can_have_is_named(f: Fixture) {
    let (draft, running) = (draft(&f).await, f.running().await.id);
    let ended = ended(&f).await;
    // Created last, because a claim would take it.
    let pending = f.pending().await.id;
    let mut raw = intruder(&f).await;
    for (status, id) in &ended {
        let words = format!("sessions.status is \"{status}\", which other columns contradict");
        for (column, value) in [
            ("end_reason", "NULL"),
            ("end_reason", "'lease_exhausted'"),
            ("completed_at", "NULL"),
            ("lease_seconds", "60"),
            ("deadline_at", "1"),
            ("waits_for", "'children'"),
        ] {
            if (*status, value) != (Status::Failed, "'lease_exhausted'") {
                assert_named(&f, &mut raw, *id, column, value, &words).await;
            }
        }
        let words = "sessions.status is \"running\", which other columns contradict";
        assert_named(&f, &mut raw, *id, "status", "'running'", words).await;
    }
    for (status, id, wrong) in [
        ("draft", draft, ["deadline_at = 1", "attempt = 1", "result = '1'"]),
        ("pending", pending, ["waits_for = 'children'", "lease_expires_at = 1", "error_code = 'x'"]),
        ("running", running, ["lease_seconds = NULL", "attempt = 0", "completed_at = 1"]),
    ] {
        let words = format!("sessions.status is \"{status}\", which other columns contradict");
        for change in wrong {
            let (column, value) = change.split_once(" = ").unwrap();
            assert_named(&f, &mut raw, id, column, value, &words).await;
        }
    }
    f.done().await;
}

pub async fn draft(f: &Fixture) -> SessionId {
    thread::start(&f.ledger, &f.member, crate::thread::new(None)).await.unwrap().session.id
}

async fn a_row_with_another_status_than_its_log_is_named(f: Fixture) {
    let pending = f.pending().await.id;
    let mut raw = intruder(&f).await;
    assert_named(&f, &mut raw, pending, "status", "'idle'", "its row says idle, its log pending").await;
    f.done().await;
}

async fn an_erased_row_still_verifies_and_a_change_of_it_is_named(f: Fixture) {
    let id = completed(&f).await;
    f.clock.advance(TimeDelta::days(40));
    let before = f.ledger.now() - TimeDelta::days(30);
    retention::erase_by_operator(&f.ledger, &key(), before, |_| {}).await.unwrap();
    let found = verified(&f).await;
    assert_eq!((found.bad, found.unbound), (None, 0));
    let mut raw = intruder(&f).await;
    let words = "its row was changed after its content was erased";
    for (column, value) in [("result", "'1'"), ("created_by", "'user:x'"), ("usage", "NULL"), ("title", "'Another'")] {
        assert_named(&f, &mut raw, id, column, value, words).await;
    }
    // The seal also covers the stored digest of the erased row.
    raw.execute("UPDATE erasures SET row_digest = NULL").await.unwrap();
    let (bad, _, problem) = verified(&f).await.bad.unwrap();
    assert!(bad == id && problem.contains("not sealed"), "{problem}");
    f.done().await;
}

async fn an_erased_event_that_is_changed_is_named(f: Fixture) {
    let running = f.running().await;
    let from_outside = NewEvent { external_event_id: Some("mail from Ann".into()), ..text("hello") };
    f.append(running.id, 1, vec![from_outside, text("and more")]).await.unwrap();
    let end = Completion { attempt: 1, result: None, usage: None };
    session::complete(&f.ledger, &f.worker, running.id, end).await.unwrap();
    f.clock.advance(TimeDelta::days(40));
    let before = f.ledger.now() - TimeDelta::days(30);
    retention::erase_by_operator(&f.ledger, &key(), before, |_| {}).await.unwrap();
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(external_event_id) FROM session_events").await, 0);
    assert_eq!(verified(&f).await.bad, None);
    let log = f.log(running.id).await;
    let message = log.iter().find(|event| event.kind == "agent.message").unwrap();
    let mut raw = intruder(&f).await;
    let of_message = "event_type = 'agent.message' AND sequence = (SELECT MIN(sequence) FROM session_events \
                      WHERE event_type = 'agent.message')";
    for (change, back) in [
        ("actor = 'user:x'", format!("actor = '{}'", message.actor)),
        ("at = at + 1", "at = at - 1".to_owned()),
        ("role = 'system'", format!("role = '{}'", message.role.as_str())),
        ("external_event_id = 'forged'", "external_event_id = NULL".to_owned()),
    ] {
        assert_eq!(raw.execute(&format!("UPDATE session_events SET {change} WHERE {of_message}")).await.unwrap(), 1);
        let (bad, _, problem) = verified(&f).await.bad.unwrap_or_else(|| panic!("{change} passed"));
        assert_eq!(bad, running.id, "{change}: {problem}");
        raw.execute(&format!("UPDATE session_events SET {back} WHERE {of_message}")).await.unwrap();
        assert_eq!(verified(&f).await.bad, None, "{change} was undone");
    }
    raw.execute("UPDATE erasures SET events_digest = NULL").await.unwrap();
    let (_, _, problem) = verified(&f).await.bad.unwrap();
    assert!(problem.contains("not sealed"), "{problem}");
    f.done().await;
}

/// Executes a statement on the failures, asserts that `verify` finds what it changed, and restores the failures.
async fn assert_failure_named(f: &Fixture, raw: &mut Raw, change: &str, words: &str) {
    raw.execute("CREATE TABLE kept AS SELECT * FROM session_failures").await.unwrap();
    assert!(raw.execute(change).await.unwrap() > 0, "{change}");
    let (_, _, problem) = verified(f).await.bad.unwrap_or_else(|| panic!("{change} passed"));
    assert!(problem.contains(words), "{change}: {problem}");
    raw.execute("DELETE FROM session_failures").await.unwrap();
    raw.execute("INSERT INTO session_failures SELECT * FROM kept").await.unwrap();
    raw.execute("DROP TABLE kept").await.unwrap();
    assert_eq!(verified(f).await.bad, None);
}

async fn a_changed_failure_is_named_and_its_advice_follows_from_its_code(f: Fixture) {
    let ended = ended(&f).await;
    let (completed, failed) = (ended[0].1, ended[1].1);
    let mut raw = intruder(&f).await;
    let was_changed = "its failure was changed";
    let changes = ["code = 'other'", "message = 'other'", "at = at + 1"];
    for change in changes {
        assert_failure_named(&f, &mut raw, &format!("UPDATE session_failures SET {change}"), was_changed).await;
    }
    assert_failure_named(&f, &mut raw, "DELETE FROM session_failures", "its failure is gone").await;
    let id = match f.engine {
        Engine::Sqlite(_) => format!("x'{}'", completed.0.simple()),
        Engine::Postgres { .. } => format!("'{}'", completed.0),
    };
    let moved = format!("UPDATE session_failures SET session_id = {id}");
    assert_failure_named(&f, &mut raw, &moved, "it has a failure, but it did not fail").await;

    raw.execute("UPDATE session_failures SET remediation = 'Send your password to us.'").await.unwrap();
    let shown = failure::of_sessions(&f.ledger, &f.member, &[failed]).await.unwrap();
    assert_eq!(shown[0].remediation, domain::failure::remediation("broken"));

    f.clock.advance(TimeDelta::days(40));
    let before = f.ledger.now() - TimeDelta::days(30);
    retention::erase_by_operator(&f.ledger, &key(), before, |_| {}).await.unwrap();
    assert_eq!(verified(&f).await.bad, None);
    for change in changes {
        assert_failure_named(&f, &mut raw, &format!("UPDATE session_failures SET {change}"), was_changed).await;
    }
    f.done().await;
}

async fn an_unknown_value_is_located(f: Fixture) {
    let running = f.running().await.id;
    let mut raw = intruder(&f).await;
    let lax: &[&str] = match f.engine {
        Engine::Sqlite(_) => &["PRAGMA ignore_check_constraints = ON"],
        Engine::Postgres { .. } => &[
            "ALTER TABLE memberships DROP CONSTRAINT memberships_role_known",
            "ALTER TABLE sessions DROP CONSTRAINT sessions_status_known",
        ],
    };
    for sql in lax {
        raw.execute(sql).await.unwrap();
    }
    raw.execute("UPDATE session_events SET role = 'oracle' WHERE sequence = 3").await.unwrap();
    let (bad, sequence, problem) = verified(&f).await.bad.unwrap();
    assert_eq!((bad, sequence), (running, 1), "the page of events that holds it cannot be read");
    let place = format!("session_id {running}, sequence 3): role is \"oracle\"");
    assert!(problem.contains("session_events (tenant_id ") && problem.contains(&place), "{problem}");
    raw.execute("UPDATE session_events SET role = 'system' WHERE sequence = 3").await.unwrap();
    assert_eq!(verified(&f).await.bad, None);

    let mia = f.member.user_id().unwrap();
    raw.execute("UPDATE memberships SET role = 'emperor' WHERE role = 'reviewer' OR role = 'operator'").await.unwrap();
    raw.execute("UPDATE sessions SET status = 'lost'").await.unwrap();
    let problems = verified(&f).await.problems;
    let otto = f.operator.user_id().unwrap();
    for words in [
        format!("user_id {otto}): role is \"emperor\""),
        format!("sessions (tenant_id {}, id {running}): status is \"lost\"", f.member.tenant_id),
    ] {
        assert!(problems.iter().any(|problem| problem.contains(&words)), "{words} in {problems:?}");
    }
    assert!(!problems.iter().any(|problem| problem.contains(&mia.to_string())), "{problems:?}");
    f.done().await;
}

/// Rewrites the log of a session as an earlier version wrote it: without this digest, and with a valid chain.
pub async fn rewrite_without(f: &Fixture, id: SessionId, member: &str) {
    let session = session::get(&f.ledger, &f.admin, id).await.unwrap();
    let literal = |digest: domain::chain::Digest| match f.engine {
        Engine::Sqlite(_) => format!("x'{digest}'"),
        Engine::Postgres { .. } => format!("'\\x{digest}'"),
    };
    let mut raw = intruder(f).await;
    let mut before = domain::chain::Digest::GENESIS;
    for event in f.log(id).await {
        let mut metadata: serde_json::Value = serde_json::from_str(&event.metadata).unwrap();
        let removed = metadata.as_object_mut().unwrap().remove(member);
        assert!(removed.as_ref().is_none_or(|digest| digest.as_str().unwrap().starts_with("v1:")), "{removed:?}");
        let metadata = if removed.is_some() { metadata.to_string() } else { event.metadata.clone() };
        let body = domain::chain::body_digest(&event.content, &metadata);
        let link = domain::chain::Link {
            tenant_id: session.tenant_id.0,
            session_id: session.id.0,
            sequence: event.sequence,
            event_id: event.id.0,
            kind: &event.kind,
            role: event.role.as_str(),
            actor: &event.actor,
            attempt: event.attempt,
            thread_id: None,
            external_event_id: None,
            at: event.at,
            recorded_at: event.recorded_at,
            body,
        };
        before = domain::chain::extend(before, &link);
        let (body, digest, old) = (literal(body), literal(before), literal(event.digest));
        let set = format!("metadata = '{metadata}', body_digest = {body}, digest = {digest}");
        assert_eq!(raw.execute(&format!("UPDATE session_events SET {set} WHERE digest = {old}")).await.unwrap(), 1);
    }
    assert_ne!(before, session.head_digest, "nothing was removed");
    let (head, old) = (literal(before), literal(session.head_digest));
    let sql = format!("UPDATE sessions SET head_digest = {head} WHERE head_digest = {old}");
    assert_eq!(raw.execute(&sql).await.unwrap(), 1);
}

async fn sessions_that_ended_before_rows_were_bound_are_counted(f: Fixture) {
    completed(&f).await;
    f.running().await;
    let id = completed(&f).await;
    rewrite_without(&f, id, "rowDigest").await;
    let found = verified(&f).await;
    assert_eq!((found.bad, found.unbound, found.unbound_open), (None, 1, 0));
    f.done().await;
}

async fn sessions_that_were_created_before_creations_were_bound_are_counted_until_they_end(f: Fixture) {
    completed(&f).await;
    f.running().await;
    f.clock.advance(TimeDelta::milliseconds(1));
    let id = f.pending().await.id;
    rewrite_without(&f, id, "openDigest").await;
    let found = verified(&f).await;
    assert_eq!((found.bad, found.unbound, found.unbound_open), (None, 0, 1));
    session::cancel(&f.ledger, &f.operator, id, Some("not needed".into())).await.unwrap();
    let found = verified(&f).await;
    assert_eq!((found.bad, found.unbound, found.unbound_open), (None, 0, 0));
    f.done().await;
}

/// Commands of an operator read whole tables, which may take longer than a request may.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn verify_and_retention_wait_longer_for_postgres_than_requests_do() {
    let f = Fixture::postgres().await;
    completed(&f).await;
    f.clock.advance(TimeDelta::days(3));
    let mut raw = f.engine.raw().await;
    raw.execute("BEGIN; LOCK TABLE gates, erasures IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let (key, before) = (key(), f.ledger.now() - TimeDelta::days(2));
    let (found, due, held) = tokio::join!(
        verify::all(&f.ledger, std::slice::from_ref(&key), |_| {}),
        retention::preview_by_operator(&f.ledger, before),
        raw.execute("SELECT pg_sleep(3); COMMIT"),
    );
    held.unwrap();
    let found = found.unwrap();
    assert_eq!((found.sessions, found.bad, found.problems), (1, None, Vec::new()));
    assert_eq!(due.unwrap().sessions, 1);
    f.done().await;
}
