//! A row of `gates` is one of the states of a gate, with the data of that state, or it is refused.

use crate::{
    entity::{acme, company},
    gate::{decide, gated, says, staged, sweep_after},
};
use domain::{
    gate::{GateState, Verdict},
    id::GateId,
};
use ledger::{Error, gate, session, verify};
use serde_json::{Value, json};
use testkit::{Engine, Fixture, Raw, on_both_engines};
use uuid::Uuid;

on_both_engines!(
    a_row_that_no_gate_can_have_is_refused,
    verify_names_a_gate_that_cannot_be_read,
    verify_names_a_gate_that_waits_although_its_session_has_ended,
);

/// A database connection for which no trigger keeps a closed gate, or what a gate shows, as it is.
async fn intruder(f: &Fixture) -> Raw {
    let mut raw = f.engine.raw().await;
    let statements: &[&str] = match f.engine {
        Engine::Sqlite(_) => &["DROP TRIGGER gates_closed_stays", "DROP TRIGGER gates_task_stays"],
        Engine::Postgres { .. } => &["SET session_replication_role = replica"],
    };
    for sql in statements {
        raw.execute(sql).await.unwrap();
    }
    raw
}

async fn state_now(f: &Fixture, id: GateId) -> GateState {
    gate::get(&f.ledger, &f.operator, id).await.unwrap().item.gate.state.name()
}

/// Changes a column of a gate, reads the gate and verifies, and puts the column back.
async fn assert_refused(f: &Fixture, raw: &mut Raw, id: GateId, column: &str, value: &str) {
    let before = state_now(f, id).await;
    let one = match f.engine {
        Engine::Sqlite(_) => format!("id = x'{}'", id.0.simple()),
        Engine::Postgres { .. } => format!("id = '{}'", id.0),
    };
    raw.execute("CREATE TABLE kept AS SELECT * FROM gates").await.unwrap();
    let changed = raw.execute(&format!("UPDATE gates SET {column} = {value} WHERE {one}")).await.unwrap();
    assert_eq!(changed, 1);
    match gate::get(&f.ledger, &f.operator, id).await {
        Err(Error::Internal(detail)) => {
            assert!(detail.contains("gates.state is") && detail.contains("which other columns contradict"), "{detail}");
        }
        other => panic!("a gate that is {before} is read with {column} = {value}: {other:?}"),
    }
    let problems = verify::all(&f.ledger, &[], |_| {}).await.unwrap().problems;
    let (place, contradiction) = (format!("id {}): gates.state is", id.0), "which other columns contradict");
    assert!(
        problems.iter().any(|problem| problem.contains(&place) && problem.contains(contradiction)),
        "{column} = {value}: {problems:?}"
    );
    let old = format!("(SELECT k.{column} FROM kept k WHERE k.id = gates.id)");
    raw.execute(&format!("UPDATE gates SET {column} = {old}")).await.unwrap();
    raw.execute("DROP TABLE kept").await.unwrap();
    assert_eq!(state_now(f, id).await, before);
}

async fn a_row_that_no_gate_can_have_is_refused(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let mut raw = intruder(&f).await;

    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let id = item.gate.id;
    assert_eq!(state_now(&f, id).await, GateState::Open);
    for (column, value) in [
        ("outcome", "'approve'"),
        ("held_until", "1"),
        ("settled_at", "1"),
        ("state", "'held'"),
        ("state", "'settled'"),
    ] {
        assert_refused(&f, &mut raw, id, column, value).await;
    }
    decide(&f, &f.operator, id, says(Verdict::Approve)).await.unwrap();
    assert_eq!(state_now(&f, id).await, GateState::Held);
    for (column, value) in
        [("outcome", "NULL"), ("held_until", "NULL"), ("settled_at", "1"), ("state", "'open'"), ("state", "'expired'")]
    {
        assert_refused(&f, &mut raw, id, column, value).await;
    }
    sweep_after(&f, 6).await;
    assert_eq!(state_now(&f, id).await, GateState::Settled);
    for (column, value) in
        [("outcome", "NULL"), ("held_until", "1"), ("settled_at", "NULL"), ("state", "'open'"), ("state", "'held'")]
    {
        assert_refused(&f, &mut raw, id, column, value).await;
    }

    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Lead" })).await;
    session::cancel(&f.ledger, &f.operator, waiting.id, None).await.unwrap();
    let id = item.gate.id;
    assert_eq!(state_now(&f, id).await, GateState::Withdrawn);
    for (column, value) in [("held_until", "1"), ("settled_at", "NULL"), ("state", "'open'"), ("state", "'settled'")] {
        assert_refused(&f, &mut raw, id, column, value).await;
    }
    f.done().await;
}

/// Changes a column of a gate and returns what `verify` says.
async fn problems_with(f: &Fixture, raw: &mut Raw, table: &str, id: Uuid, set: &str) -> Vec<String> {
    let one = match f.engine {
        Engine::Sqlite(_) => format!("id = x'{}'", id.simple()),
        Engine::Postgres { .. } => format!("id = '{id}'"),
    };
    assert_eq!(raw.execute(&format!("UPDATE {table} SET {set} WHERE {one}")).await.unwrap(), 1);
    verify::all(&f.ledger, &[], |_| {}).await.unwrap().problems
}

async fn verify_names_a_gate_that_cannot_be_read(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let mut raw = intruder(&f).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let id = item.gate.id.0;
    assert!(verify::all(&f.ledger, &[], |_| {}).await.unwrap().problems.is_empty());
    let problems = problems_with(&f, &mut raw, "gates", id, "task = '{\"a\":1}'").await;
    assert!(problems.iter().any(|one| one.contains(&format!("id {id}): gates.task is"))), "{problems:?}");
    f.done().await;
}

async fn verify_names_a_gate_that_waits_although_its_session_has_ended(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let mut raw = intruder(&f).await;
    let (session, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    session::cancel(&f.ledger, &f.operator, session.id, None).await.unwrap();
    let id = item.gate.id.0;
    let problems = problems_with(&f, &mut raw, "gates", id, "state = 'open', settled_at = NULL").await;
    let expected = format!("id {id}): it waits for a decision, but its session {} has ended", session.id);
    assert!(problems.iter().any(|one| one.contains(&expected)), "{problems:?}");
    f.done().await;
}
