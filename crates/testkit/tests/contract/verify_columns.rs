//! P-62: each column of a session and of an event is changed, in every status. `verify` finds the change, or the docs
//! name the column with a reason.

use crate::{
    time_limit,
    verify::{completed, draft, intruder, key, rewrite_without, verified},
};
use chrono::TimeDelta;
use domain::{
    id::SessionId,
    session::{Status, YieldTo},
};
use ledger::{
    retention,
    session::{self, Failure, YieldRequest},
};
use std::collections::{BTreeMap, BTreeSet};
use testkit::{Engine, Fixture, Raw, on_both_engines, text};

on_both_engines!(
    a_changed_column_of_a_session_is_found_in_every_status_or_named_in_the_docs,
    a_changed_column_of_an_event_is_found,
    a_value_that_was_forged_before_the_end_is_found_after_it,
    usage_that_a_worker_of_an_earlier_version_reported_is_not_compared,
);

/// Columns of `sessions` that `verify` does not bind in every status. The table in docs/operations.md has the reasons.
const UNBOUND: [&str; 9] = [
    "attempts_max",
    "lease_seconds",
    "lease_expires_at",
    "waits_for",
    "awaited",
    "channel",
    "cost_micros",
    "idempotency_key",
    "idempotency_digest",
];
/// The other columns that are not bound once the content of a session is erased.
const UNBOUND_ERASED: [&str; 4] = ["updated_at", "time_limits", "dependency_count", "private_to"];
const ERASED: &str = "completed, erased";

const OPERATIONS: &str = include_str!("../../../../docs/operations.md");

/// A session, and the name of its status with what else matters.
type Case = (&'static str, SessionId);

/// One session of each status. Those that no one claims come last, because a claim takes the oldest.
async fn of_every_status(f: &Fixture) -> Vec<Case> {
    let mut all = vec![(ERASED, completed(f).await)];
    f.clock.advance(TimeDelta::days(40));
    let before = f.ledger.now() - TimeDelta::days(30);
    assert_eq!(retention::erase_by_operator(&f.ledger, &key(), before, |_| {}).await.unwrap().sessions, 1);
    let expired = time_limit::queued(f, time_limit::LIMITS).await.id;
    f.clock.advance(TimeDelta::seconds(11));
    assert_eq!(session::sweep(&f.ledger).await.unwrap().expired, 1);
    all.push(("expired", expired));
    for (name, to) in
        [("waiting_human", YieldTo::WaitingHuman), ("awaiting_tool", YieldTo::AwaitingTool), ("idle", YieldTo::Idle)]
    {
        // Nothing is reported by the one that waits for a tool.
        let usage = (name != "awaiting_tool").then(|| r#"{"inputTokens":7}"#.to_owned());
        all.push((name, yielded(f, to, usage).await));
    }
    all.push(("completed", completed(f).await));
    let failed = claimed(f).await;
    let failure = Failure { attempt: 1, message: "no".into(), code: Some("broken".into()), usage: None };
    session::fail(&f.ledger, &f.worker, failed, failure).await.unwrap();
    all.push(("failed", failed));
    all.push(("running", claimed(f).await));
    let abandoned = f.pending().await.id;
    session::cancel(&f.ledger, &f.operator, abandoned, Some("not needed".into())).await.unwrap();
    all.push(("abandoned", abandoned));
    all.push(("draft", draft(f).await));
    let released = claimed(f).await;
    f.clock.advance(TimeDelta::milliseconds(1));
    session::release(&f.ledger, &f.worker, released, 1).await.unwrap();
    all.push(("pending, released", released));
    f.clock.advance(TimeDelta::milliseconds(1));
    all.push(("pending", time_limit::queued(f, time_limit::LIMITS).await.id));
    for (name, id) in &all {
        let status = session::get(&f.ledger, &f.admin, *id).await.unwrap().status();
        assert_eq!(Some(status.as_str()), name.split(',').next());
    }
    let names: BTreeSet<_> = all.iter().filter_map(|(name, _)| name.split(',').next()).collect();
    assert_eq!(names, Status::ALL.iter().map(|status| status.as_str()).collect::<BTreeSet<_>>());
    all
}

/// A session that was created, claimed and then left at different times.
async fn claimed(f: &Fixture) -> SessionId {
    f.clock.advance(TimeDelta::milliseconds(1));
    f.pending().await;
    f.clock.advance(TimeDelta::milliseconds(1));
    f.claim(1, 3_600).await.pop().unwrap().id
}

async fn yielded(f: &Fixture, to: YieldTo, usage: Option<String>) -> SessionId {
    let id = claimed(f).await;
    f.clock.advance(TimeDelta::milliseconds(1));
    let request = YieldRequest { usage, ..YieldRequest::at(1, to) };
    session::yield_to(&f.ledger, &f.worker, id, request).await.unwrap();
    id
}

/// The columns of a table with their types, from the catalogue.
async fn columns(f: &Fixture, raw: &mut Raw, table: &str) -> Vec<(String, String)> {
    let query = match f.engine {
        Engine::Sqlite(_) => format!("SELECT name || ' ' || lower(type) FROM pragma_table_info('{table}')"),
        Engine::Postgres { .. } => format!(
            "SELECT column_name::text || ' ' || data_type::text FROM information_schema.columns \
             WHERE table_schema = 'public' AND table_name = '{table}'"
        ),
    };
    let all = raw.texts(&query).await;
    all.iter().filter_map(|one| one.split_once(' ')).map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect()
}

fn bytes(f: &Fixture, hex: &str, kind: &str) -> String {
    match f.engine {
        Engine::Sqlite(_) => format!("x'{hex}'"),
        Engine::Postgres { .. } if kind == "uuid" => format!("'{hex}'"),
        Engine::Postgres { .. } => format!("'\\x{hex}'"),
    }
}

/// An expression for another value of a column that is valid for its type and its constraints.
fn another(f: &Fixture, column: &str, kind: &str) -> String {
    let closed = match column {
        "status" => {
            "CASE status WHEN 'draft' THEN 'pending' WHEN 'pending' THEN 'idle' WHEN 'running' THEN 'pending' \
             WHEN 'idle' THEN 'waiting_human' WHEN 'waiting_human' THEN 'idle' WHEN 'awaiting_tool' THEN 'idle' \
             WHEN 'completed' THEN 'failed' ELSE 'completed' END"
        }
        "end_reason" => {
            "CASE end_reason WHEN 'done' THEN 'superseded' WHEN 'error' THEN 'rejected' \
             WHEN 'cancelled' THEN 'dependency_failed' ELSE 'done' END"
        }
        "session_type" => "CASE session_type WHEN 'agent' THEN 'tool' ELSE 'agent' END",
        "role" => "CASE role WHEN 'agent' THEN 'system' ELSE 'agent' END",
        "waits_for" => {
            "CASE WHEN waits_for IS NOT NULL THEN NULL WHEN status = 'draft' THEN 'dependencies' ELSE 'children' END"
        }
        "time_limits" => "'{\"runningSeconds\":9}'",
        "input" | "metadata" | "result" | "usage" => "'{\"forged\":1}'",
        "awaited" => "1 - awaited",
        "tags" => "'[\"forged\"]'",
        "assignee" => "'user:5a5a5a5a-5a5a-5a5a-5a5a-5a5a5a5a5a5a'",
        _ => "",
    };
    let is_id = column == "id" || column.ends_with("_id") || column == "retry_of";
    match kind {
        _ if !closed.is_empty() => closed.to_owned(),
        "text" => format!("COALESCE({column}, '') || ' x'"),
        "integer" | "bigint" => format!("COALESCE({column}, 0) + 1000"),
        "uuid" | "blob" if is_id => bytes(f, &"5a".repeat(16), "uuid"),
        "bytea" | "blob" => bytes(f, &"5a".repeat(32), kind),
        other => panic!("{column} has type {other}"),
    }
}

/// Changes a column of the row with this key, asks `verify`, and puts the value back. Returns whether it was found.
async fn is_found(
    f: &Fixture,
    raw: &mut Raw,
    (table, key): (&str, &[(&str, String)]),
    (column, kind): (&str, &str),
) -> bool {
    let value = another(f, column, kind);
    let row = |is_forged: bool| {
        let parts = key.iter().map(|(name, literal)| match is_forged && *name == column {
            true if kind == "uuid" || kind == "blob" => format!("{name} = {value}"),
            true => format!("{name} = {literal} + 1000"),
            false => format!("{name} = {literal}"),
        });
        parts.collect::<Vec<_>>().join(" AND ")
    };
    raw.execute(&format!("DROP TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT * FROM {table} WHERE {}", row(false)))
        .await
        .unwrap();
    let forge = format!("UPDATE {table} SET {column} = {value} WHERE {} AND ", row(false));
    let differs = match f.engine {
        Engine::Sqlite(_) => format!("{column} IS NOT ({value})"),
        Engine::Postgres { .. } => format!("{column} IS DISTINCT FROM ({value})"),
    };
    assert_eq!(raw.execute(&(forge + &differs)).await.unwrap(), 1, "{table}.{column}");
    let checked = verified(f).await;
    let back = format!("UPDATE {table} SET {column} = (SELECT kept.{column} FROM kept) WHERE {}", row(true));
    assert_eq!(raw.execute(&back).await.unwrap(), 1, "{table}.{column}");
    checked.bad.is_some() || !checked.problems.is_empty()
}

async fn assert_clean(f: &Fixture) {
    let checked = verified(f).await;
    assert_eq!((checked.bad, checked.problems), (None, Vec::new()));
}

/// The first cells of the rows of the table that follows this line of docs/operations.md.
fn documented(line: &str) -> Vec<&'static str> {
    let table = OPERATIONS.split_once(line).unwrap().1.trim_start().lines().take_while(|line| line.starts_with('|'));
    table.skip(2).filter_map(|row| row.split('`').nth(1)).collect()
}

async fn a_changed_column_of_a_session_is_found_in_every_status_or_named_in_the_docs(f: Fixture) {
    assert_eq!(documented("- A change of these columns of `sessions`:\n"), UNBOUND);
    let named = format!("- Of a session whose content was erased, also a change of `{}`.", UNBOUND_ERASED.join("`, `"));
    assert!(OPERATIONS.contains(&named), "{named}");
    let sessions = of_every_status(&f).await;
    assert_clean(&f).await;
    let mut raw = outside(&f).await;
    let columns = columns(&f, &mut raw, "sessions").await;
    assert!(columns.len() > 30, "{columns:?}");
    let mut passed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (column, kind) in &columns {
        for (name, id) in &sessions {
            let key = [("id", bytes(&f, &id.0.simple().to_string(), "uuid"))];
            if !is_found(&f, &mut raw, ("sessions", &key[..]), (column.as_str(), kind.as_str())).await {
                passed.entry(column.as_str()).or_default().push(name);
            }
        }
    }
    // A column that is found in every status has no place in the docs.
    let erased_alone = |names: &Vec<&str>| names.as_slice() == [ERASED];
    let of_erased = passed.iter().filter(|(_, names)| erased_alone(names)).map(|(column, _)| *column);
    assert_eq!(of_erased.collect::<BTreeSet<_>>(), BTreeSet::from(UNBOUND_ERASED), "{passed:#?}");
    passed.retain(|_, names| !erased_alone(names));
    assert_eq!(passed.keys().copied().collect::<BTreeSet<_>>(), BTreeSet::from(UNBOUND), "{passed:#?}");
    raw.execute("DROP TABLE kept").await.unwrap();
    assert_clean(&f).await;
    f.done().await;
}

/// A connection that neither triggers nor foreign keys stop.
async fn outside(f: &Fixture) -> Raw {
    let mut raw = intruder(f).await;
    if let Engine::Sqlite(_) = f.engine {
        raw.execute("PRAGMA foreign_keys = OFF").await.unwrap();
    }
    raw
}

async fn a_changed_column_of_an_event_is_found(f: Fixture) {
    let waiting = yielded(&f, YieldTo::WaitingHuman, Some("{}".into())).await;
    let running = claimed(&f).await;
    f.append(running, 1, vec![text("working")]).await.unwrap();
    assert_clean(&f).await;
    let mut raw = outside(&f).await;
    let columns = columns(&f, &mut raw, "session_events").await;
    assert!(columns.len() > 12, "{columns:?}");
    for id in [waiting, running] {
        let last = f.log(id).await.last().unwrap().sequence;
        for sequence in [2, last] {
            let id = bytes(&f, &id.0.simple().to_string(), "uuid");
            let key = [("session_id", id), ("sequence", sequence.to_string())];
            for (column, kind) in &columns {
                let found =
                    is_found(&f, &mut raw, ("session_events", &key[..]), (column.as_str(), kind.as_str())).await;
                assert!(found, "another {column} of event {sequence} passed");
            }
        }
    }
    raw.execute("DROP TABLE kept").await.unwrap();
    assert_clean(&f).await;
    f.done().await;
}

async fn a_value_that_was_forged_before_the_end_is_found_after_it(f: Fixture) {
    let forgeries = [
        ("usage", "'{\"inputTokens\":1}'"),
        ("queued_at", "queued_at - 1000"),
        ("started_at", "started_at + 1000"),
        ("attempt", "attempt + 1"),
    ];
    let mut sessions = Vec::new();
    for forgery in forgeries {
        sessions.push((yielded(&f, YieldTo::Idle, Some(r#"{"inputTokens":7}"#.into())).await, forgery));
    }
    let mut raw = outside(&f).await;
    // The check stops at the first session that is wrong, so the newest one is changed first.
    for (id, (column, value)) in sessions.into_iter().rev() {
        let row = bytes(&f, &id.0.simple().to_string(), "uuid");
        raw.execute(&format!("UPDATE sessions SET {column} = {value} WHERE id = {row}")).await.unwrap();
        session::cancel(&f.ledger, &f.operator, id, None).await.unwrap();
        let (bad, _, problem) = verified(&f).await.bad.unwrap_or_else(|| panic!("another {column} passed"));
        assert_eq!((bad, problem), (id, format!("its {column} does not follow from its log")));
    }
    f.done().await;
}

async fn usage_that_a_worker_of_an_earlier_version_reported_is_not_compared(f: Fixture) {
    let id = yielded(&f, YieldTo::Idle, Some(r#"{"inputTokens":7}"#.into())).await;
    rewrite_without(&f, id, "usageDigest").await;
    assert_clean(&f).await;
    session::cancel(&f.ledger, &f.operator, id, None).await.unwrap();
    assert_clean(&f).await;
    f.done().await;
}
