//! The search over tasks, entities, questions and memory: what is found, in which order, and what never is.

use crate::{
    entity::{acme, company, values},
    feedback_request::{ask, request},
    human::task,
    memory::{AGENT, change, put},
    retention::key,
    search::{end, indexed, search_for, session_with},
    thread::new,
};
use chrono::TimeDelta;
use domain::{
    Scope,
    gate::Question,
    id::EntityId,
    limit::{SEARCH_RECORDS_LOOKED_MAX, SEARCH_RECORDS_MAX, SEARCH_RECORDS_OF_KIND_MAX},
    search::Kind,
    session::{Session, YieldTo},
};
use ledger::{
    Error,
    action::{self, NewAction},
    entity::{self, EntityChange, NewEntity},
    feedback_request::NewRequest,
    memory, retention,
    search::{FoundEvents, SearchEvents, events, rebuild_by_operator},
    session::{self, YieldRequest},
    thread::{self, NewThread},
};
use serde_json::json;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    records_come_before_events_by_name_then_text_then_time,
    a_search_for_a_kind_finds_that_kind_alone,
    questions_are_found_unless_they_are_incognito,
    what_is_erased_or_deleted_is_not_found,
    records_of_another_workspace_are_not_found,
    conditions_are_for_events_alone,
    a_search_shows_the_best_records_and_says_that_there_are_more,
    a_name_is_found_whatever_its_age_until_it_is_renamed_or_erased,
    names_are_found_again_after_the_index_was_made_anew,
);

async fn searched(f: &Fixture, who: &Scope, query: &str, kind: Option<Kind>) -> FoundEvents {
    events(&f.ledger, who, SearchEvents { kind, ..search_for(query) }).await.unwrap()
}

/// Kinds and names of the records that a search finds, in its order.
async fn records(f: &Fixture, query: &str, kind: Option<Kind>) -> Vec<(Kind, String)> {
    let found = searched(f, &f.member, query, kind).await;
    found.records.into_iter().map(|record| (record.kind, record.name)).collect()
}

async fn described(f: &Fixture, name: &str, description: &str) {
    f.clock.advance(TimeDelta::seconds(1));
    let new = NewAction { name: name.into(), description: Some(description.into()), ..NewAction::default() };
    action::create(&f.ledger, &f.operator, new).await.unwrap();
}

async fn write(f: &Fixture, path: &str, text: &str) {
    f.clock.advance(TimeDelta::seconds(1));
    put(f, &f.operator, path, 0, text).await.unwrap();
}

pub async fn question(f: &Fixture, session: &Session, text: &str) {
    let question = Some(Question::new(text.into(), None));
    let request = YieldRequest { question, ..YieldRequest::at(session.attempt, YieldTo::WaitingHuman) };
    session::yield_to(&f.ledger, &f.worker, session.id, request).await.unwrap();
}

async fn records_come_before_events_by_name_then_text_then_time(f: Fixture) {
    described(&f, "Weekly report", "Lists each refund of the week").await;
    described(&f, "Refunds", "").await;
    f.clock.advance(TimeDelta::seconds(1));
    acme(&f, &company(&f).await, "Refund office of Zenith").await;
    write(&f, "topics/money.md", "- A refund takes five days\n").await;
    described(&f, "Nothing of it", "").await;
    let (session, _) = session_with(&f, &["The customer was refunded"]).await;
    indexed(&f).await;
    let found = searched(&f, &f.member, "refund", None).await;
    let names: Vec<&str> = found.records.iter().map(|record| record.name.as_str()).collect();
    assert_eq!(names, ["Refunds", "Refund office of Zenith", "topics/money.md", "Weekly report"]);
    let shown: String = found.records[3].snippet.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(shown, "Lists each refund of the week");
    assert!(found.records[3].snippet.iter().any(|piece| piece.is_marked && piece.text == "refund"));
    assert_eq!(found.records[2].agent_slug.as_deref(), Some(AGENT));
    assert_eq!(found.sessions.iter().map(|found| found.session.id).collect::<Vec<_>>(), [session]);
    // All words must be in one record, and none that is excluded.
    assert_eq!(records(&f, "refund zenith", None).await, [(Kind::Entity, "Refund office of Zenith".to_owned())]);
    assert_eq!(records(&f, "report -week", None).await, []);
    assert_eq!(records(&f, "\"each refund\"", None).await, [(Kind::Task, "Weekly report".to_owned())]);
    f.done().await;
}

async fn a_search_for_a_kind_finds_that_kind_alone(f: Fixture) {
    task(&f, "Café tea").await;
    let of = company(&f).await;
    let new =
        NewEntity { type_id: of.id, title: "Acme".into(), fields: values(json!({ "stage": "Lead", "size": 417 })) };
    entity::create(&f.ledger, &f.member, new).await.unwrap();
    write(&f, "topics/tea.md", "- Tea at four\n").await;
    session_with(&f, &["tea"]).await;
    indexed(&f).await;
    for (kind, query, names) in [
        (Kind::Task, "tea", &["Café tea"][..]),
        (Kind::Task, "cafe", &["Café tea"]),
        (Kind::Task, "te*", &["Café tea"]),
        (Kind::Entity, "tea", &[]),
        (Kind::Entity, "417", &["Acme"]),
        (Kind::Entity, "lead", &["Acme"]),
        // The name of a field is no value.
        (Kind::Entity, "stage", &[]),
        (Kind::Memory, "tea", &["topics/tea.md"]),
        (Kind::Question, "tea", &[]),
        (Kind::Event, "tea", &[]),
    ] {
        let found = searched(&f, &f.member, query, Some(kind)).await;
        assert_eq!(
            found.records.iter().map(|record| record.name.as_str()).collect::<Vec<_>>(),
            names,
            "{kind} {query}"
        );
        assert!(found.records.iter().all(|record| record.kind == kind), "{kind} {query}");
        assert_eq!(found.sessions.len(), usize::from(kind == Kind::Event), "{kind} {query}");
    }
    f.done().await;
}

async fn questions_are_found_unless_they_are_incognito(f: Fixture) {
    let open = f.running().await;
    question(&f, &open, "Which quetzal is it?").await;
    let waiting = f.running().await;
    let message = "Where is the quetzal?".to_owned();
    let asked = ask(&f, &waiting, NewRequest { message, ..request(&waiting, "k", false) }).await.request;
    f.clock.advance(TimeDelta::seconds(1));
    let secret = NewThread { incognito: true, ..new(Some("A secret")) };
    thread::start(&f.ledger, &f.member, secret).await.unwrap();
    let turn = f.claim(1, 60).await.pop().expect("a turn is queued");
    question(&f, &turn, "Is the quetzal a secret?").await;
    for who in [&f.member, &f.admin, &f.worker] {
        let found = searched(&f, who, "quetzal", Some(Kind::Question)).await.records;
        let mut names: Vec<&str> = found.iter().map(|record| record.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["Where is the quetzal?", "Which quetzal is it?"], "{:?}", who.caller);
        assert!(found.iter().any(|record| record.id == asked.id.0), "a request without a gate leads to itself");
    }
    f.done().await;
}

async fn what_is_erased_or_deleted_is_not_found(f: Fixture) {
    let asking = f.running().await;
    question(&f, &asking, "Is the quetzal blue?").await;
    let company = acme(&f, &company(&f).await, "Quetzal Ltd").await;
    write(&f, "topics/quetzal.md", "- A bird\n").await;
    let kinds = |found: Vec<(Kind, String)>| found.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
    let mut before = kinds(records(&f, "quetzal", None).await);
    before.sort_unstable();
    assert_eq!(before, [Kind::Entity, Kind::Question, Kind::Memory]);
    entity::erase(&f.ledger, &f.admin, company.id).await.unwrap();
    let path = memory::path("topics/quetzal.md").unwrap();
    memory::delete(&f.ledger, &f.operator, AGENT, path, change(1)).await.unwrap();
    session::cancel(&f.ledger, &f.operator, asking.id, None).await.unwrap();
    f.clock.advance(TimeDelta::days(40));
    let older_than = f.ledger.now() - TimeDelta::days(30);
    assert_eq!(retention::erase_by_operator(&f.ledger, &key(), older_than, |_| {}).await.unwrap().sessions, 1);
    assert_eq!(records(&f, "quetzal", None).await, []);
    // The text that replaces an erased question is not found either.
    assert_eq!(records(&f, "erased", Some(Kind::Question)).await, []);
    f.done().await;
}

async fn records_of_another_workspace_are_not_found(f: Fixture) {
    described(&f, "Quetzal", "").await;
    acme(&f, &company(&f).await, "Quetzal").await;
    write(&f, "topics/quetzal.md", "- A bird\n").await;
    let asking = f.running().await;
    question(&f, &asking, "Is the quetzal blue?").await;
    assert_eq!(records(&f, "quetzal", None).await.len(), 4);
    assert_eq!(searched(&f, &f.stranger, "quetzal", None).await.records, []);
    for kind in Kind::RECORDS {
        assert_eq!(searched(&f, &f.stranger, "quetzal", Some(kind)).await.records, [], "{kind}");
    }
    f.done().await;
}

async fn conditions_are_for_events_alone(f: Fixture) {
    described(&f, "Tea", "").await;
    let (session, _) = session_with(&f, &["tea"]).await;
    end(&f, session).await;
    indexed(&f).await;
    let found = searched(&f, &f.member, "tea status:completed", None).await;
    assert_eq!((found.records.len(), found.sessions.len()), (0, 1));
    for search in [
        search_for("tea status:completed"),
        SearchEvents { agent_slug: Some("scout".into()), ..search_for("tea") },
        SearchEvents { after: Some(f.ledger.now()), ..search_for("tea") },
    ] {
        let answer = events(&f.ledger, &f.member, SearchEvents { kind: Some(Kind::Task), ..search }).await;
        assert!(matches!(&answer, Err(Error::Invalid(issues)) if issues[0].field == "kind"), "{answer:?}");
    }
    f.done().await;
}

async fn a_search_shows_the_best_records_and_says_that_there_are_more(f: Fixture) {
    let mut made = 0;
    for count in [1, 2, 7, 40, SEARCH_RECORDS_OF_KIND_MAX + 1] {
        while made < count {
            described(&f, &format!("Tea {made}"), "").await;
            made += 1;
        }
        for (kind, most) in [(None, SEARCH_RECORDS_MAX), (Some(Kind::Task), SEARCH_RECORDS_OF_KIND_MAX)] {
            let found = searched(&f, &f.member, "tea", kind).await;
            assert_eq!((found.records.len(), found.has_more_records), (count.min(most), count > most), "{kind:?}");
        }
    }
    described(&f, "Tea", "").await;
    let all = searched(&f, &f.member, "tea", None).await;
    assert_eq!((all.records.len(), all.has_more_records), (SEARCH_RECORDS_MAX, true));
    // The whole name first, then the newest.
    assert_eq!(all.records[0].name, "Tea");
    assert_eq!(all.records[1].name, format!("Tea {SEARCH_RECORDS_OF_KIND_MAX}"));
    let tasks = searched(&f, &f.member, "tea", Some(Kind::Task)).await;
    assert_eq!((tasks.records.len(), tasks.has_more_records), (SEARCH_RECORDS_OF_KIND_MAX, true));
    let one = searched(&f, &f.member, "\"tea 7\"", Some(Kind::Task)).await;
    assert_eq!((one.records.len(), one.has_more_records), (1, false));
    f.done().await;
}

/// Copies an entity until there are more, newer ones than a search looks at.
async fn bury(f: &Fixture, of: EntityId) {
    let (newer, id) = if f.engine.file().is_some() {
        ("unhex(printf('ff%030x', i))", format!("x'{}'", of.0.simple()))
    } else {
        ("CAST('ff' || lpad(to_hex(i), 30, '0') AS uuid)", format!("'{}'", of.0))
    };
    let columns = "tenant_id, type_id, fields, version, created_by, updated_by, created_at, updated_at";
    let copies = format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {SEARCH_RECORDS_LOOKED_MAX}) \
         INSERT INTO entities (id, title, {columns}) SELECT {newer}, 'Hay', {columns} FROM entities, n WHERE id = {id}"
    );
    f.engine.raw().await.execute(&copies).await.unwrap();
}

async fn a_name_is_found_whatever_its_age_until_it_is_renamed_or_erased(f: Fixture) {
    let of = company(&f).await;
    let old = acme(&f, &of, "Café Quetzal").await;
    let (kind, titles) = (Some(Kind::Entity), |found: FoundEvents| {
        found.records.into_iter().map(|record| record.name).collect::<Vec<_>>()
    });
    let before = searched(&f, &f.member, "quetzal", kind).await;
    assert!(!before.has_older_records && titles(before) == ["Café Quetzal"]);
    bury(&f, old.id).await;
    indexed(&f).await;
    for (query, is_found) in [
        ("quetzal", true),
        ("cafe quetzal", true),
        ("quet*", true),
        ("\"quetzal cafe\"", false),
        ("quetzal hay", false),
    ] {
        let found = searched(&f, &f.member, query, kind).await;
        assert!(found.has_older_records, "{query}");
        assert_eq!(!titles(found).is_empty(), is_found, "{query}");
    }
    assert_eq!(titles(searched(&f, &f.stranger, "quetzal", kind).await), Vec::<String>::new());
    let renamed = EntityChange { version: 1, title: Some("Parrot".into()), fields: values(json!({})) };
    entity::update(&f.ledger, &f.member, old.id, renamed).await.unwrap();
    assert_eq!(titles(searched(&f, &f.member, "quetzal", kind).await), Vec::<String>::new());
    indexed(&f).await;
    assert_eq!(titles(searched(&f, &f.member, "parrot", kind).await), ["Parrot"]);
    entity::erase(&f.ledger, &f.admin, old.id).await.unwrap();
    assert_eq!(words_of(&f, "parrot").await, 0, "an erasure takes the words out in its own transaction");
    indexed(&f).await;
    assert_eq!(titles(searched(&f, &f.member, "parrot", kind).await), Vec::<String>::new());
    f.done().await;
}

/// How many rows of the index of names have this word.
async fn words_of(f: &Fixture, word: &str) -> i64 {
    f.engine.raw().await.number(&format!("SELECT COUNT(*) FROM search_names WHERE word = '{word}'")).await
}

async fn names_are_found_again_after_the_index_was_made_anew(f: Fixture) {
    described(&f, "Quetzal report", "").await;
    acme(&f, &company(&f).await, "Quetzal Ltd").await;
    let asking = f.running().await;
    question(&f, &asking, "Which quetzal is it?").await;
    f.clock.advance(TimeDelta::seconds(1));
    let secret = NewThread { incognito: true, ..new(Some("A secret")) };
    thread::start(&f.ledger, &f.member, secret).await.unwrap();
    let turn = f.claim(1, 60).await.pop().expect("a turn is queued");
    question(&f, &turn, "Is the quetzal a secret?").await;
    indexed(&f).await;
    assert_eq!(words_of(&f, "quetzal").await, 3);
    assert_eq!(words_of(&f, "secret").await, 0, "an incognito conversation is in no index");
    // As another rule would have made them.
    f.engine.raw().await.execute("UPDATE search_names SET word = 'parrot' WHERE word = 'quetzal'").await.unwrap();
    rebuild_by_operator(&f.ledger, |_| {}).await.unwrap();
    assert_eq!((words_of(&f, "quetzal").await, words_of(&f, "parrot").await), (3, 0));
    let due = f.engine.raw().await.number("SELECT COUNT(*) FROM search_names_due").await;
    assert_eq!((due, words_of(&f, "secret").await), (0, 0));
    f.done().await;
}
