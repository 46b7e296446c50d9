//! What a stranger typed before a form is erased: with the entity, by retention, and with a person who is forgotten.

use crate::{
    entity::company,
    feedback_request::request,
    gate::{at_once, decide, gate_of, says},
    promotion::{submitted, task},
    response::submission,
    response_table::{answered_lead, answered_lead_with},
    retention::{columns_with, key},
    search::indexed,
    view_link_request::stranger,
};
use chrono::TimeDelta;
use domain::{
    gate::Verdict,
    id::{EntityId, EntityTypeId},
    view::Gate,
};
use ledger::{
    Error, ResponseRecord,
    entity::{self, EntityChange},
    feedback_request::NewRequest,
    memory_forget::{self, Forget, Forgetting},
    response::{self, Promote, PromoteTo, Submission},
    retention::{self, Erased},
    session, view_link,
};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use testkit::{Engine, Fixture, on_both_engines};

on_both_engines!(
    the_name_and_the_address_of_an_erased_lead_are_in_no_row,
    retention_erases_a_lead_with_the_last_response,
    retention_keeps_a_lead_that_a_member_has_changed_and_one_who_never_answered_lately,
    forgetting_a_person_erases_the_leads_with_their_name_or_address_and_what_they_answered,
    forgetting_a_person_names_the_entities_that_were_made_from_what_they_answered,
    forgetting_a_person_erases_the_tasks_that_were_given_what_they_answered,
);

/// Columns in which the name or the address of a lead is.
const COLUMNS: [&str; 5] = [
    "entities.fields",
    "entities.title",
    "entity_versions.fields",
    "entity_versions.title",
    "request_answers.respondent_label",
];

/// The columns that have the name or the address.
async fn left(f: &Fixture) -> Vec<&'static str> {
    let found = [columns_with(f, "Zoe", &COLUMNS).await, columns_with(f, "zoe@example.org", &COLUMNS).await].concat();
    BTreeSet::from_iter(found).into_iter().collect()
}

/// Rows of all tables that have the name, or the words that the search makes of it. Of PostgreSQL only the latter.
async fn rows_with_name(f: &Fixture) -> Vec<String> {
    let mut raw = f.engine.raw().await;
    let rows = match f.engine {
        Engine::Sqlite(_) => raw.everything_but(&["search_events"], &[]).await,
        Engine::Postgres { .. } => raw.texts("SELECT 'search_names: ' || word FROM search_names").await,
    };
    rows.into_iter().filter(|row| row.to_lowercase().contains("zoe")).collect()
}

async fn lead(f: &Fixture, response: &ResponseRecord) -> (String, Option<String>) {
    let mut leads = response::leads(&f.ledger, &f.admin, std::slice::from_ref(response)).await.unwrap();
    let lead = leads.remove(&response.lead_entity_id.unwrap()).unwrap();
    (lead.name, lead.email)
}

/// A lead who answered a question of an agent.
async fn answered_question(f: &Fixture) -> ResponseRecord {
    let session = f.running().await;
    let new = NewRequest { access: Some(Gate::Lead), ..request(&session, "k", false) };
    let (asked, secret) = view_link::ask(&f.ledger, &f.worker, session.id, new).await.unwrap();
    let who = stranger(f, &secret.unwrap()).await;
    let request_id = Some(asked.request.id.0);
    let given = Submission { request_id, ..submission("one", json!({ "region": "EU", "seats": 3 })) };
    response::submit(&f.ledger, &who, asked.request.view_id, given).await.unwrap().response
}

async fn erase(f: &Fixture, days_old: i64) -> Erased {
    let older_than = f.ledger.now() - TimeDelta::days(days_old);
    let preview = retention::preview_by_operator(&f.ledger, older_than).await.unwrap();
    let erased = retention::erase_by_operator(&f.ledger, &key(), older_than, |_| {}).await.unwrap();
    assert_eq!((preview.sessions, preview.leads), (erased.sessions, erased.leads));
    erased
}

async fn the_name_and_the_address_of_an_erased_lead_are_in_no_row(f: Fixture) {
    let sent = answered_question(&f).await;
    let id = sent.lead_entity_id.unwrap();
    indexed(&f).await;
    assert_eq!(left(&f).await, COLUMNS, "the test would find it");
    assert!(rows_with_name(&f).await.iter().any(|row| row.starts_with("search_names: ")), "its words are not searched");
    let refused = entity::erase(&f.ledger, &f.operator, id).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    assert!(matches!(entity::erase(&f.ledger, &f.stranger, id).await, Err(Error::Forbidden(_) | Error::NotFound(_))));
    let tombstone = entity::erase(&f.ledger, &f.admin, id).await.unwrap();
    assert_eq!(left(&f).await, Vec::<&str>::new());
    assert_eq!(lead(&f, &sent).await, ("(erased)".to_owned(), None));
    assert_eq!((tombstone.version, tombstone.erased_at), (1, Some(f.ledger.now())));
    indexed(&f).await;
    assert_eq!(rows_with_name(&f).await, Vec::<String>::new());
    // Its answers are not erased with the name, and a repeat of the submission names no one.
    assert!(!response::get(&f.ledger, &f.admin, sent.session_id).await.unwrap().answers.is_empty());
    f.assert_verified().await;
    f.done().await;
}

async fn retention_erases_a_lead_with_the_last_response(f: Fixture) {
    let (_, sent) = answered_lead(&f).await;
    f.clock.advance(TimeDelta::days(20));
    assert_eq!(erase(&f, 30).await.leads, 0);
    assert_eq!(lead(&f, &sent).await.0, "Zoe");
    f.clock.advance(TimeDelta::days(20));
    let erased = erase(&f, 30).await;
    assert_eq!((erased.sessions, erased.leads), (1, 1));
    assert_eq!(lead(&f, &sent).await, ("(erased)".to_owned(), None));
    assert_eq!(left(&f).await, Vec::<&str>::new());
    assert_eq!(erase(&f, 30).await, Erased::default(), "a second run finds nothing");
    f.assert_verified().await;
    f.done().await;
}

async fn retention_keeps_a_lead_that_a_member_has_changed_and_one_who_never_answered_lately(f: Fixture) {
    let (_, sent) = answered_lead(&f).await;
    let id = sent.lead_entity_id.unwrap();
    let change = EntityChange { version: 1, title: Some("Zoe, Northwind".into()), ..EntityChange::default() };
    entity::update(&f.ledger, &f.member, id, change).await.unwrap();
    f.clock.advance(TimeDelta::days(40));
    // Someone gave a name lately and has not answered.
    let session = f.running().await;
    let new = NewRequest { access: Some(Gate::Lead), ..request(&session, "k", false) };
    let (asked, secret) = view_link::ask(&f.ledger, &f.worker, session.id, new).await.unwrap();
    stranger(&f, &secret.unwrap()).await;
    let erased = erase(&f, 30).await;
    assert_eq!((erased.sessions, erased.leads), (1, 0));
    assert_eq!(lead(&f, &sent).await.0, "Zoe, Northwind", "a record that people work with is theirs");
    // Months later it is erased too, without any response.
    session::cancel(&f.ledger, &f.operator, asked.session.id, None).await.unwrap();
    f.clock.advance(TimeDelta::days(40));
    assert_eq!(erase(&f, 30).await.leads, 1);
    assert!(entity::erase(&f.ledger, &f.admin, id).await.unwrap().erased_at.is_some(), "an admin can erase it");
    assert_eq!(left(&f).await, Vec::<&str>::new());
    f.done().await;
}

async fn forgetting_a_person_erases_the_leads_with_their_name_or_address_and_what_they_answered(f: Fixture) {
    let (_, by_form) = answered_lead(&f).await;
    let by_question = answered_question(&f).await;
    let of = |name: &str| Forget { person: "web-zoe".into(), names: Some(vec![name.into()]) };
    for near in ["Zo", "zoe@example.com", "Zoe Smith"] {
        let found = memory_forget::preview(&f.ledger, &f.admin, of(near)).await.unwrap();
        assert_eq!(found.leads, [], "{near}: names are compared whole");
    }
    let found = memory_forget::preview(&f.ledger, &f.admin, of("ZOE@example.org")).await.unwrap();
    let shown: Vec<_> = found.leads.iter().map(|lead| (lead.name.as_str(), lead.responses)).collect();
    assert_eq!(shown, [("Zoe", 1), ("Zoe", 1)]);
    assert_eq!(left(&f).await, COLUMNS, "a preview erases nothing");
    let done = memory_forget::forget(&f.ledger, &f.admin, of("zoe")).await.unwrap();
    assert_eq!((done.is_done, done.leads.len()), (true, 2));
    assert_eq!(left(&f).await, Vec::<&str>::new());
    for sent in [by_form, by_question] {
        assert_eq!(lead(&f, &sent).await, ("(erased)".to_owned(), None));
        assert!(response::get(&f.ledger, &f.admin, sent.session_id).await.unwrap().answers.is_empty());
    }
    assert_eq!(memory_forget::preview(&f.ledger, &f.admin, of("zoe")).await.unwrap().leads, []);
    f.assert_verified().await;
    f.done().await;
}

/// Makes a company from a response.
async fn promoted(f: &Fixture, response: &ResponseRecord, type_id: EntityTypeId, title: &str) -> EntityId {
    let new = Promote { to: PromoteTo::Type(type_id), title: Some(title.into()), fields: BTreeMap::new() };
    let made = response::promote(&f.ledger, &f.operator, response.session_id, new).await.unwrap();
    made.promotion.unwrap().entity_id
}

async fn forgetting_a_person_names_the_entities_that_were_made_from_what_they_answered(f: Fixture) {
    let type_id = company(&f).await.id;
    let (_, by_form) = answered_lead(&f).await;
    let by_question = answered_question(&f).await;
    let by_member = submitted(&f, json!({ "name": "Acme" })).await;
    let northwind = promoted(&f, &by_form, type_id, "Zoe, Northwind").await;
    let erased = promoted(&f, &by_question, type_id, "Zoe, again").await;
    entity::erase(&f.ledger, &f.admin, erased).await.unwrap();
    let acme = promoted(&f, &by_member, type_id, "Acme of Mia").await;

    let names = |found: &Forgetting| found.promoted.iter().map(|one| one.entity_id).collect::<Vec<_>>();
    let sentence = |found: &Forgetting| found.kept.iter().find(|text| text.contains("/erase")).cloned();
    let of = |name: &str| Forget { person: "web-zoe".into(), names: Some(vec![name.into()]) };
    let other = memory_forget::preview(&f.ledger, &f.admin, of("Nobody")).await.unwrap();
    assert_eq!((names(&other), sentence(&other)), (Vec::new(), None));
    let found = memory_forget::preview(&f.ledger, &f.admin, of("Zoe")).await.unwrap();
    assert_eq!(names(&found), [northwind], "an erased one holds nothing");
    let text = sentence(&found).expect("they are kept");
    assert!(text.contains("Zoe, Northwind") && text.contains(&northwind.to_string()), "{text}");
    let done = memory_forget::forget(&f.ledger, &f.admin, of("Zoe")).await.unwrap();
    assert_eq!((names(&done), sentence(&done)), (vec![northwind], Some(text)));
    assert_eq!(entity::get(&f.ledger, &f.admin, northwind).await.unwrap().title, "Zoe, Northwind", "it is kept");

    // A member's own responses are found by their account.
    let person = format!("shiftbook-{}", f.member.user_id().unwrap());
    let mine = memory_forget::preview(&f.ledger, &f.admin, Forget { person, names: None }).await.unwrap();
    assert_eq!(names(&mine), [acme]);
    f.done().await;
}

/// Columns in which the answers of a response are, and those of a task that was given them.
const ANSWERS: [&str; 8] = [
    "responses.answers",
    "sessions.input",
    "sessions.result",
    "session_events.content",
    "session_events.metadata",
    "gates.task",
    "entities.title",
    "entity_versions.title",
];

async fn forgetting_a_person_erases_the_tasks_that_were_given_what_they_answered(f: Fixture) {
    at_once(&f).await;
    company(&f).await;
    let (_, response) = answered_lead_with(&f, "Northwind of Zoe").await;
    let by = task(&f, json!({ "requiresApproval": true }), json!({})).await;
    let given = async || {
        let title = Some("Northwind of Zoe".to_owned());
        let new = Promote { to: PromoteTo::Action(by), title, fields: BTreeMap::new() };
        let begun = response::promote(&f.ledger, &f.operator, response.session_id, new).await.unwrap();
        begun.promotion_session_id.unwrap()
    };
    let denied = given().await;
    decide(&f, &f.admin, gate_of(&f, denied).await.gate.id, says(Verdict::Deny)).await.unwrap();
    let waiting = given().await;
    assert_ne!(waiting, denied);
    let found = columns_with(&f, "Northwind of", &ANSWERS).await;
    assert!(found.contains(&"sessions.input") && found.contains(&"gates.task"), "the test would find it: {found:?}");
    let of = Forget { person: "web-zoe".into(), names: Some(vec!["Zoe".into()]) };
    assert!(memory_forget::forget(&f.ledger, &f.admin, of).await.unwrap().is_done);
    assert_eq!(columns_with(&f, "Northwind of", &ANSWERS).await, Vec::<&str>::new());
    for id in [denied, waiting] {
        let session = session::get(&f.ledger, &f.admin, id).await.unwrap();
        assert!(session.status().is_final() && session.input.is_none(), "{session:?}");
    }
    f.assert_verified().await;
    f.done().await;
}
