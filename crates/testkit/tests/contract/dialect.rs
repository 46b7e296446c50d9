//! Each engine accepts every SQL text of the store that is meant for it.

use testkit::{Engine, Fixture, Raw, on_both_engines};

on_both_engines!(
    every_statement_prepares,
    the_responses_of_a_respondent_are_found_by_their_own_indexes,
    a_page_of_all_workspaces_begins_where_the_one_before_ended,
    a_page_of_closed_gates_begins_where_the_one_before_ended,
    the_engine_is_set_up_for_durability,
);

async fn every_statement_prepares(f: Fixture) {
    let postgres = matches!(f.engine, Engine::Postgres { .. });
    let statements = store::statements(postgres);
    assert!(statements.len() > 50, "the list has lost its entries: {}", statements.len());
    let mut raw = f.engine.raw().await;
    for (name, text) in statements {
        if let Err(error) = raw.prepare(&text).await {
            panic!("{name}: {error}\n{text}");
        }
    }
    f.done().await;
}

/// Without these indexes each answer of a browser would read all its earlier answers to the same form.
async fn the_responses_of_a_respondent_are_found_by_their_own_indexes(f: Fixture) {
    let mut raw = f.engine.raw().await;
    if let Raw::Sqlite(_) = raw {
        let statements = store::statements(false);
        for (name, index) in [
            ("response::DRAFT_OF_FORM", "responses_draft_unique"),
            ("response::DRAFT_OF_REQUEST", "responses_request_draft_unique"),
            ("response::SUBMITTED_OF_FORM", "responses_by_respondent"),
            ("response::SUBMITTED_OF_REQUEST", "responses_request_once_unique"),
        ] {
            let (_, text) = statements.iter().find(|(known, _)| *known == name).expect(name);
            let plan = raw.sqlite_plan(text).await.join("; ");
            assert!(plan.contains(&format!("USING INDEX {index} (")), "{name}: {plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{name}: {plan}");
        }
    }
    f.done().await;
}

/// Otherwise each page of a verification, of retention or of names that are due would read all rows before it again.
async fn a_page_of_all_workspaces_begins_where_the_one_before_ended(f: Fixture) {
    let mut raw = f.engine.raw().await;
    if let Raw::Sqlite(_) = raw {
        let statements = store::statements(false);
        for name in [
            "retention::DUE",
            "search::name::ENTITIES_DUE",
            "search::name::GATES_DUE",
            "search::name::REQUESTS_DUE",
            "search::name::TASKS_DUE",
            "verify::gates::AFTER",
            "verify::read::SESSIONS",
            "verify::roll::SESSIONS_AFTER",
        ] {
            let (_, text) = statements.iter().find(|(known, _)| *known == name).expect(name);
            let plan = raw.sqlite_plan(text).await.join("; ");
            assert!(plan.contains("((tenant_id,id)>(?,?))"), "{name}: {plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{name}: {plan}");
        }
    }
    f.done().await;
}

/// Otherwise each page would read all gates of a state, or sort them.
async fn a_page_of_closed_gates_begins_where_the_one_before_ended(f: Fixture) {
    let mut raw = f.engine.raw().await;
    if let Raw::Sqlite(_) = raw {
        let statements = store::statements(false);
        for name in ["gate::inbox::CLOSED", "gate::inbox::CLOSED_DECIDABLE"] {
            let (_, text) = statements.iter().find(|(known, _)| *known == name).expect(name);
            let plan = raw.sqlite_plan(text).await.join("; ");
            let walk = "gates_by_settled_at (tenant_id=? AND state=? AND (settled_at,id)<(?,?))";
            assert_eq!(plan.matches(walk).count(), 3, "{name}: {plan}");
        }
    }
    f.done().await;
}

async fn the_engine_is_set_up_for_durability(f: Fixture) {
    if let Some(file) = f.engine.file() {
        let header = std::fs::read(&file).unwrap();
        assert_eq!((header[18], header[19]), (2, 2), "the file is not in WAL mode");
        let second = ledger::Ledger::open(ledger::Options {
            database: f.engine.database(),
            mode: ledger::Mode::Server,
            clock: std::sync::Arc::new(f.clock.clone()),
            lease_clock: ledger::LeaseClock::Process(std::sync::Arc::new(f.clock.clone())),
            entropy: std::sync::Arc::new(testkit::SeededEntropy::new(1)),
            password_cost: ledger::PasswordCost::Least,
            settings: ledger::Settings::default(),
        });
        let refused = second.await.err().expect("a second server opened the same directory").to_string();
        assert!(refused.contains("another shiftbook serves"), "{refused}");
    }
    f.done().await;
}
