//! Responses as a table: its columns, its filters, who a lead is, the scores of ratings, and the counts of lists.

use crate::response::{answers, form, submission};
use chrono::TimeDelta;
use domain::{
    Scope,
    criteria_set::SafetyGate,
    id::{EntityId, ViewId},
    limit::VIEW_LINK_NOTE_CHARS_MAX,
    response::ResponseStatus,
    role::{Role, TokenScope},
    view::{Gate, Publication, Responses},
};
use ledger::{
    Error, ResponseRecord, criteria_set, page,
    response::{self, DraftSave, ListResponses, Respondent},
    view::{self, NewView, ViewChange},
    view_link::{self, Entry, NewLead, NewViewLink},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_table_has_a_column_for_each_field_of_the_versions_answered,
    responses_are_filtered_by_version_and_time,
    only_reviewers_operators_and_admins_learn_who_a_lead_is,
    a_rating_is_scored_when_it_is_submitted,
    a_list_of_views_counts_their_responses,
    people_without_an_account_are_asked_for_no_reference_to_an_entity,
    a_link_has_a_note_and_knows_when_it_was_used,
);

fn many() -> Publication {
    Publication { responses: Responses::Many, ..Publication::default() }
}

pub(crate) async fn submit(f: &Fixture, view: ViewId, id: &str, given: Value) -> ResponseRecord {
    f.clock.advance(TimeDelta::milliseconds(1));
    let who = Respondent::member(&f.member).unwrap();
    response::submit(&f.ledger, &who, view, submission(id, given)).await.unwrap().response
}

async fn change(f: &Fixture, id: ViewId, fields: Value) {
    let before = view::get(&f.ledger, &f.operator, id).await.unwrap();
    let fields = Some(serde_json::from_value(fields).unwrap());
    let change = ViewChange { revision: before.revision, fields, ..ViewChange::default() };
    view::update(&f.ledger, &f.operator, id, change).await.unwrap();
    view::publish(&f.ledger, &f.operator, id, None).await.unwrap();
}

async fn columns(f: &Fixture, view: ViewId, query: ListResponses) -> Vec<String> {
    let columns = response::columns(&f.ledger, &f.member, view, &query).await.unwrap();
    columns.iter().map(domain::response_table::Column::path).collect()
}

async fn a_table_has_a_column_for_each_field_of_the_versions_answered(f: Fixture) {
    let view = form(&f, many()).await;
    assert!(columns(&f, view, ListResponses::default()).await.is_empty(), "no response, no column");
    submit(&f, view, "one", json!({ "name": "x" })).await;
    change(&f, view, json!([{ "key": "extra", "label": "More?", "type": "yes_no" }])).await;
    assert_eq!(columns(&f, view, ListResponses::default()).await, ["name", "mood", "why"]);
    submit(&f, view, "two", json!({ "extra": true })).await;
    assert_eq!(columns(&f, view, ListResponses::default()).await, ["extra", "name", "mood", "why"]);
    let of = |version| ListResponses { version: Some(version), ..ListResponses::default() };
    assert_eq!(columns(&f, view, of(2)).await, ["extra"]);
    assert!(columns(&f, view, of(3)).await.is_empty());
    let foreign = response::columns(&f.ledger, &f.stranger, view, &ListResponses::default()).await.unwrap();
    assert!(foreign.is_empty(), "another workspace has no column of it");
    f.done().await;
}

async fn responses_are_filtered_by_version_and_time(f: Fixture) {
    let view = form(&f, many()).await;
    let first = submit(&f, view, "one", json!({ "name": "x" })).await;
    f.clock.advance(TimeDelta::hours(1));
    let second = submit(&f, view, "two", json!({ "name": "y" })).await;
    change(&f, view, json!([{ "key": "extra", "label": "More?", "type": "yes_no" }])).await;
    let third = submit(&f, view, "three", json!({ "extra": true })).await;
    let ids = async |query: ListResponses| {
        let query = ListResponses { view_id: Some(view), ..query };
        let listed = response::list(&f.ledger, &f.member, query).await.unwrap();
        listed.items.into_iter().map(|item| item.session_id).collect::<Vec<_>>()
    };
    let none = ListResponses::default;
    assert_eq!(ids(ListResponses { version: Some(1), ..none() }).await, [second.session_id, first.session_id]);
    assert_eq!(ids(ListResponses { version: Some(2), ..none() }).await, [third.session_id]);
    let from = ListResponses { created_from: Some(second.created_at), ..none() };
    assert_eq!(ids(from).await, [third.session_id, second.session_id]);
    let before = ListResponses { created_before: Some(second.created_at), ..none() };
    assert_eq!(ids(before).await, [first.session_id]);
    let all = ListResponses {
        status: Some(ResponseStatus::Submitted),
        version: Some(1),
        created_from: Some(first.created_at),
        created_before: Some(second.created_at),
        ..none()
    };
    assert_eq!(ids(all).await, [first.session_id]);
    f.done().await;
}

pub(crate) async fn answered_lead(f: &Fixture) -> (ViewId, ResponseRecord) {
    answered_lead_with(f, "x").await
}

/// The same with this answer.
pub(crate) async fn answered_lead_with(f: &Fixture, name: &str) -> (ViewId, ResponseRecord) {
    let view = form(f, Publication { gate: Gate::Lead, ..Publication::default() }).await;
    let (link, secret) = view_link::create(&f.ledger, &f.operator, view, 30).await.unwrap();
    let entered = view_link::enter(&f.ledger, &secret, None).await.unwrap();
    let entry = Entry { browser: Some(&entered.browser), clearance: Some(&entered.clearance), ..Entry::default() };
    let new = NewLead { name: "Zoe".into(), email: "zoe@example.org".into() };
    let cookie = view_link::capture_lead(&f.ledger, link.id, entry, new).await.unwrap();
    let entry = Entry { lead: Some(&cookie), ..entry };
    let who = view_link::respondent(&f.ledger, link.id, entry).await.unwrap().respondent;
    let sent = response::submit(&f.ledger, &who, view, submission("x", json!({ "name": name }))).await.unwrap();
    (view, sent.response)
}

/// The entity, the name and the address of the lead, as a caller reads them.
async fn lead_of(f: &Fixture, who: &Scope, view: ViewId) -> (Option<EntityId>, Option<(String, Option<String>)>) {
    let query = ListResponses { view_id: Some(view), ..ListResponses::default() };
    let listed = response::list(&f.ledger, who, query).await.unwrap().items;
    let one = response::get(&f.ledger, who, listed[0].session_id).await.unwrap();
    assert_eq!(one, listed[0]);
    let mut leads = response::leads(&f.ledger, who, &listed).await.unwrap();
    let lead = one.lead_entity_id.and_then(|id| leads.remove(&id));
    (one.lead_entity_id, lead.map(|lead| (lead.name, lead.email)))
}

async fn only_reviewers_operators_and_admins_learn_who_a_lead_is(f: Fixture) {
    let (view, sent) = answered_lead(&f).await;
    let known = (sent.lead_entity_id, Some(("Zoe".to_owned(), Some("zoe@example.org".to_owned()))));
    let reviewer = Scope { role: Role::Reviewer, ..f.member };
    for who in [&f.admin, &f.operator, &reviewer] {
        assert_eq!(lead_of(&f, who, view).await, known, "{:?}", who.role);
    }
    let worker_of_admin = Scope { token_scope: Some(TokenScope::Worker), ..f.admin };
    for who in [&f.member, &f.worker, &worker_of_admin] {
        assert_eq!(lead_of(&f, who, view).await, (None, None), "{:?}", who.role);
    }
    // Someone who knows the entity's id learns no more from the use case.
    assert!(response::leads(&f.ledger, &f.member, std::slice::from_ref(&sent)).await.unwrap().is_empty());
    assert!(response::leads(&f.ledger, &f.stranger, &[sent]).await.unwrap().is_empty());
    f.done().await;
}

/// Publishes a form with a rating by the criteria set `tone`, and a text.
pub(crate) async fn rating(f: &Fixture) -> ViewId {
    let dimensions = json!([
        { "slug": "tone", "name": "Tone", "type": "select", "options": ["warm", "cold", "rude"], "optionStyles": {
            "warm": { "style": "positive", "score": 1 }, "cold": { "style": "negative", "score": 0.25 },
            "rude": { "style": "negative", "hardBlock": true } } },
    ]);
    let new = criteria_set::NewCriteriaSet {
        name: "Tone".into(),
        slug: Some("tone".into()),
        description: String::new(),
        dimensions: serde_json::from_value(dimensions).unwrap(),
    };
    criteria_set::create(&f.ledger, &f.operator, new).await.unwrap();
    let view = form(f, many()).await;
    let rate = json!({ "key": "rate", "label": "Rate it", "type": "rating", "criteriaSet": "tone" });
    change(f, view, json!([rate, { "key": "name", "label": "?", "type": "short_text" }])).await;
    view
}

async fn a_rating_is_scored_when_it_is_submitted(f: Fixture) {
    let view = rating(&f).await;
    let cold = submit(&f, view, "cold", json!({ "rate": { "tone": "cold" } })).await;
    let passed = SafetyGate::Passed { score: Some(0.25), flags: vec!["tone: cold".into()] };
    assert_eq!(cold.scores.get("rate"), Some(&passed));
    let read = response::get(&f.ledger, &f.member, cold.session_id).await.unwrap();
    assert_eq!(read.scores, cold.scores, "the row keeps it");
    let session = ledger::session::get(&f.ledger, &f.member, cold.session_id).await.unwrap();
    let result: Value = serde_json::from_str(session.result().unwrap()).unwrap();
    assert_eq!(result["scores"]["rate"]["score"], json!(0.25), "{result}");
    let rude = submit(&f, view, "rude", json!({ "rate": { "tone": "rude" } })).await;
    assert!(matches!(rude.scores.get("rate"), Some(SafetyGate::Blocked { .. })), "{:?}", rude.scores);
    let without = submit(&f, view, "none", json!({ "name": "x" })).await;
    assert!(without.scores.is_empty());
    let who = Respondent::member(&f.member).unwrap();
    let odd = submission("odd", json!({ "rate": { "tone": "loud" } }));
    let refused = response::submit(&f.ledger, &who, view, odd).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    f.done().await;
}

async fn a_list_of_views_counts_their_responses(f: Fixture) {
    let one = form(&f, many()).await;
    f.clock.advance(TimeDelta::milliseconds(1));
    let two = form(&f, many()).await;
    for id in ["a", "b"] {
        submit(&f, one, id, json!({ "name": "x" })).await;
    }
    let save = DraftSave { answers: answers(json!({ "name": "y" })), ..DraftSave::default() };
    response::save_draft(&f.ledger, &Respondent::member(&f.other_member).unwrap(), one, save).await.unwrap();
    let new = NewView { title: "Never published".into(), ..NewView::default() };
    view::create(&f.ledger, &f.operator, new).await.unwrap();
    let listed = page::view::list(&f.ledger, &f.member, None, None).await.unwrap();
    let counts: Vec<_> = listed.items.iter().map(|(view, counts)| (view.id, counts.submitted, counts.drafts)).collect();
    assert_eq!(counts[0].1 + counts[0].2, 0, "the draft of a view has no responses");
    assert_eq!(counts[1..], [(two, 0, 0), (one, 2, 1)]);
    f.done().await;
}

async fn people_without_an_account_are_asked_for_no_reference_to_an_entity(f: Fixture) {
    crate::entity::company(&f).await;
    let entity = json!([{ "key": "who", "label": "Which company?", "type": "entity", "entityType": "company" }]);
    let hidden = json!([
        { "key": "who", "label": "Which?", "type": "entity", "entityType": "company", "hidden": true, "prefill": true },
        { "key": "why", "label": "Why?", "type": "short_text" },
    ]);
    for (gate, fields, is_refused) in [
        (Gate::None, &entity, true),
        (Gate::Lead, &entity, true),
        (Gate::Member, &entity, false),
        (Gate::None, &hidden, false),
    ] {
        let publication = Publication { gate, ..Publication::default() };
        let (fields, slug) = (serde_json::from_value(fields.clone()).unwrap(), format!("who-{}", fastrand::u64(..)));
        let new = NewView { title: "Who".into(), slug: Some(slug), fields, publication, ..NewView::default() };
        let made = view::create(&f.ledger, &f.operator, new).await.unwrap();
        match view::publish(&f.ledger, &f.operator, made.id, None).await {
            Ok(_) => assert!(!is_refused, "{gate}"),
            Err(Error::Invalid(issues)) => {
                assert!(is_refused && issues.len() == 1, "{gate}: {issues:?}");
                assert_eq!(issues[0].field, "fields[0].type");
            }
            Err(error) => panic!("{gate}: {error:?}"),
        }
    }
    f.done().await;
}

async fn a_link_has_a_note_and_knows_when_it_was_used(f: Fixture) {
    let view = form(&f, Publication { gate: Gate::None, ..Publication::default() }).await;
    let new = |note: &str| NewViewLink { days: 7, note: note.to_owned(), ..NewViewLink::default() };
    for wrong in ["two\nlines".to_owned(), "x".repeat(VIEW_LINK_NOTE_CHARS_MAX + 1)] {
        let refused = view_link::create_noted(&f.ledger, &f.operator, view, new(&wrong)).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
    let (made, secret) = view_link::create_noted(&f.ledger, &f.operator, view, new(" Newsletter ")).await.unwrap();
    assert_eq!((made.note.as_str(), made.last_used_at), ("Newsletter", None));
    f.clock.advance(TimeDelta::minutes(5));
    view_link::enter(&f.ledger, &secret, None).await.unwrap();
    let slug = view::get(&f.ledger, &f.operator, view).await.unwrap().slug;
    let shown = page::view::read(&f.ledger, &f.operator, slug.clone()).await.unwrap().links;
    let used = Some(made.created_at + TimeDelta::minutes(5));
    assert_eq!((shown.len(), shown[0].uses, shown[0].last_used_at), (1, 1, used));
    view_link::revoke(&f.ledger, &f.operator, made.id).await.unwrap();
    let shown = page::view::read(&f.ledger, &f.operator, slug.clone()).await.unwrap().links;
    assert!(shown[0].revoked_at.is_some(), "the page shows what was revoked");
    let hidden = page::view::read(&f.ledger, &f.member, slug).await.unwrap().links;
    assert!(hidden.is_empty(), "members see no links");
    f.done().await;
}
