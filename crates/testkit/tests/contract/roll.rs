//! P-64: a session that was removed from the database is named.

use domain::id::SessionId;
use futures_util::future::join_all;
use ledger::{
    InstanceKey, Ledger,
    session::{self, RollPosition},
    verify::{self, Verified},
};
use testkit::{Engine, Fixture, INSTANCE_KEY, Raw, on_both_engines};

on_both_engines!(
    a_removed_session_is_named,
    a_roll_that_was_changed_or_cut_is_found,
    servers_that_sweep_at_once_enter_each_session_once,
    sessions_from_before_rolls_were_kept_are_entered_by_the_sweep,
    a_sweep_passes_rows_that_cannot_be_entered_a_step_at_a_time,
    a_session_that_is_in_no_roll_is_named,
    a_creator_is_bound_before_the_session_ends,
);

/// Sweeps once from the beginning of the queue. Returns the number of sessions entered.
async fn rolled(ledger: &Ledger) -> u64 {
    session::roll(ledger, &mut RollPosition::default()).await.unwrap()
}

async fn verified(f: &Fixture) -> Verified {
    let key = InstanceKey::parse(INSTANCE_KEY).unwrap();
    verify::all(&f.ledger, std::slice::from_ref(&key), |_| {}).await.unwrap()
}

fn literal(f: &Fixture, id: uuid::Uuid) -> String {
    match f.engine {
        Engine::Sqlite(_) => format!("x'{}'", id.simple()),
        Engine::Postgres { .. } => format!("'{id}'"),
    }
}

/// Opens a database connection without triggers and foreign keys.
async fn intruder(f: &Fixture) -> Raw {
    let mut raw = f.engine.raw().await;
    match f.engine {
        Engine::Sqlite(_) => {
            raw.execute("PRAGMA foreign_keys = OFF").await.unwrap();
            for trigger in [
                "sessions_no_delete",
                "session_events_no_delete",
                "session_roll_no_update",
                "session_roll_no_delete",
                "session_roll_heads_grow",
                "session_roll_heads_no_delete",
            ] {
                raw.execute(&format!("DROP TRIGGER IF EXISTS {trigger}")).await.unwrap();
            }
        }
        Engine::Postgres { .. } => {
            raw.execute("SET session_replication_role = replica").await.unwrap();
        }
    }
    raw
}

async fn take_out(f: &Fixture, raw: &mut Raw, id: SessionId) {
    let one = literal(f, id.0);
    for sql in [
        format!("DELETE FROM session_events WHERE session_id = {one}"),
        format!("DELETE FROM sessions WHERE id = {one}"),
    ] {
        assert!(raw.execute(&sql).await.unwrap() > 0, "{sql}");
    }
}

async fn a_removed_session_is_named(f: Fixture) {
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(f.pending().await.id);
    }
    // Sessions that one sweep enters are ordered by id.
    made.sort_unstable_by_key(|id| id.0);
    assert_eq!(rolled(&f.ledger).await, 5);
    let late = f.pending().await.id;
    let found = verified(&f).await;
    assert_eq!((found.problems, found.bad, found.rolled), (vec![], None, 5));
    let mut raw = intruder(&f).await;
    take_out(&f, &mut raw, made[2]).await;
    // A session that no sweep has entered yet is named too.
    take_out(&f, &mut raw, late).await;
    let problems = verified(&f).await.problems;
    let words = [
        format!("session {} (place 3 of its roll) is missing", made[2]),
        format!("session {late} was created and is missing"),
    ];
    assert_eq!(problems.len(), 2, "{problems:?}");
    for words in words {
        assert!(problems.iter().any(|problem| problem.contains(&words)), "{words} in {problems:?}");
    }
    // The missing session does not stop later sessions from being entered.
    f.pending().await;
    assert_eq!(rolled(&f.ledger).await, 1);
    f.done().await;
}

async fn a_roll_that_was_changed_or_cut_is_found(f: Fixture) {
    for _ in 0..4 {
        f.pending().await;
    }
    rolled(&f.ledger).await;
    let mut raw = f.engine.raw().await;
    for attack in [
        "DELETE FROM session_roll",
        "UPDATE session_roll SET ordinal = ordinal + 9",
        "DELETE FROM session_roll_heads",
        "UPDATE session_roll_heads SET sessions = 1",
    ] {
        let refused = raw.execute(attack).await.err().unwrap_or_else(|| panic!("{attack} was let through"));
        assert!(refused.to_string().contains("append-only"), "{attack}: {refused}");
    }
    let mut raw = intruder(&f).await;
    raw.execute("CREATE TABLE kept AS SELECT * FROM session_roll").await.unwrap();
    for (attack, words) in [
        ("DELETE FROM session_roll WHERE ordinal = 4", "ends at place 3, and should at place 4"),
        ("DELETE FROM session_roll WHERE ordinal = 2", "place 2 of its roll is missing"),
        ("UPDATE session_roll SET session_id = tenant_id WHERE ordinal = 2", "place 2 of its roll was changed"),
        ("DELETE FROM session_roll", "ends at place 0, and should at place 4"),
    ] {
        raw.execute(attack).await.unwrap();
        let problems = verified(&f).await.problems;
        assert!(problems.iter().any(|problem| problem.contains(words)), "{attack}: {problems:?}");
        raw.execute("DELETE FROM session_roll").await.unwrap();
        raw.execute("INSERT INTO session_roll SELECT * FROM kept").await.unwrap();
        assert_eq!(verified(&f).await.problems, Vec::<String>::new());
    }
    raw.execute("UPDATE session_roll_heads SET sessions = 3").await.unwrap();
    let problems = verified(&f).await.problems;
    assert!(problems.iter().any(|problem| problem.contains("ends at place 4, and should at place 3")), "{problems:?}");
    f.done().await;
}

async fn servers_that_sweep_at_once_enter_each_session_once(f: Fixture) {
    for _ in 0..30 {
        f.pending().await;
    }
    let other = f.workspace("third").await;
    let new = session::NewSession::of_type(domain::session::Type::Agent);
    session::create(&f.ledger, &other, session::NewSession { agent_slug: Some("scout".into()), ..new }).await.unwrap();
    let second = f.second_ledger(ledger::Mode::Tool).await;
    let entered = join_all([&f.ledger, &second, &f.ledger, &second].map(rolled)).await;
    let mut entered: u64 = entered.into_iter().sum();
    // A sweep that runs while another one does enters nothing, so a last one enters the rest.
    entered += rolled(&f.ledger).await;
    assert_eq!(entered, 31);
    let found = verified(&f).await;
    assert_eq!((found.problems, found.bad, found.rolled), (vec![], None, 31));
    second.close().await;
    f.done().await;
}

/// Brings the database to its state after the migration that adds rolls, with existing sessions.
async fn as_before_rolls(f: &Fixture) {
    let mut raw = intruder(f).await;
    for sql in [
        "DELETE FROM session_unrolled",
        "DELETE FROM session_roll",
        "DELETE FROM session_roll_heads",
        "UPDATE session_roll_fill SET is_done = 0, tenant_id = NULL, session_id = NULL",
    ] {
        raw.execute(sql).await.unwrap();
    }
}

async fn sessions_from_before_rolls_were_kept_are_entered_by_the_sweep(f: Fixture) {
    // More sessions than one step enters.
    for _ in 0..230 {
        f.pending().await;
    }
    as_before_rolls(&f).await;
    let new = f.pending().await.id;
    let found = verified(&f).await;
    assert_eq!((found.problems, found.bad, found.rolled, found.sessions), (vec![], None, 0, 231));
    assert_eq!(rolled(&f.ledger).await, 231);
    assert_eq!(rolled(&f.ledger).await, 0, "nothing is entered twice");
    let found = verified(&f).await;
    assert_eq!((found.problems, found.bad, found.rolled), (vec![], None, 231));
    let mut raw = intruder(&f).await;
    take_out(&f, &mut raw, new).await;
    assert!(verified(&f).await.problems[0].contains(&new.to_string()));
    f.done().await;
}

async fn a_sweep_passes_rows_that_cannot_be_entered_a_step_at_a_time(f: Fixture) {
    // More rows without a session than one sweep reads, all ordered before the session that can be entered.
    let id = f.pending().await.id;
    let mut raw = intruder(&f).await;
    let tenant = literal(&f, f.operator.tenant_id.0);
    for first in (1..=4_001_u128).step_by(500) {
        let rows = (first..(first + 500).min(4_002))
            .map(|number| format!("({tenant}, {})", literal(&f, uuid::Uuid::from_u128(number))))
            .collect::<Vec<_>>()
            .join(", ");
        raw.execute(&format!("INSERT INTO session_unrolled (tenant_id, session_id) VALUES {rows}")).await.unwrap();
    }
    let mut position = RollPosition::default();
    assert_eq!(session::roll(&f.ledger, &mut position).await.unwrap(), 0, "one sweep reads at most 4,000 rows");
    assert_eq!(session::roll(&f.ledger, &mut position).await.unwrap(), 1, "the next sweep goes on after them");
    assert_eq!(position, RollPosition::default(), "at the end of the queue the next sweep begins again");
    assert!(verified(&f).await.problems.iter().all(|problem| !problem.contains(&id.to_string())));
    f.done().await;
}

async fn a_session_that_is_in_no_roll_is_named(f: Fixture) {
    f.pending().await;
    let id = f.pending().await.id;
    rolled(&f.ledger).await;
    let mut raw = intruder(&f).await;
    // A session that is inserted without the triggers of the product.
    if let Engine::Sqlite(_) = f.engine {
        raw.execute("DROP TRIGGER sessions_are_rolled").await.unwrap();
    }
    let forged = SessionId(uuid::Uuid::from_u128(7));
    for sql in [
        format!("CREATE TABLE forged AS SELECT * FROM sessions WHERE id = {}", literal(&f, id.0)),
        format!("UPDATE forged SET id = {}", literal(&f, forged.0)),
        "INSERT INTO sessions SELECT * FROM forged".to_owned(),
    ] {
        raw.execute(&sql).await.unwrap();
    }
    let (bad, _, problem) = verified(&f).await.bad.unwrap();
    assert!(bad == forged && problem.contains("in no roll"), "{bad}: {problem}");
    f.done().await;
}

async fn a_creator_is_bound_before_the_session_ends(f: Fixture) {
    let id = f.running().await.id;
    rolled(&f.ledger).await;
    let mut raw = intruder(&f).await;
    raw.execute("UPDATE sessions SET created_by = 'user:somebody-else'").await.unwrap();
    let problems = verified(&f).await.problems;
    assert!(
        problems.iter().any(|p| p.contains(&id.to_string()) && p.contains("differs from what was created")),
        "{problems:?}"
    );
    f.done().await;
}
