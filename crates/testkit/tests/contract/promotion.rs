//! Promotion of a response by a task: its safety rules and its approval apply as to the output of an agent.

use crate::{
    entity::{acme, company},
    gate::{at_once, decide, gate_of, gated, now, safety, says, session_now},
    incognito::opens_without_events,
    page::one_snapshot,
};
use domain::{
    Scope,
    action::{ActionStatus, OutputType},
    criteria_set::Dimension,
    gate::{GateKind, Verdict},
    id::{ActionId, EntityId, SessionId, ViewId},
    session::Status,
    view::{Field, Publication, Responses},
};
use ledger::{
    Error, ListPage, ResponseRecord,
    action::{self, ActionChange, NewAction},
    criteria_set::{self, NewCriteriaSet},
    entity,
    page::{self, PromotionState, session::LogWindow},
    response::{self, DraftSave, Promote, PromoteTo, Respondent, Submission},
    session::{self, Claim, ListSessions},
    view::{self, NewView},
};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_task_without_approval_writes_the_entity_at_once,
    a_promotion_waits_for_approval_and_each_page_names_the_other,
    a_denied_promotion_ends_and_can_be_made_again,
    a_reviewer_may_change_what_is_promoted,
    safety_rules_block_a_promotion_and_leave_nothing,
    every_answer_counts_for_the_safety_rules,
    the_gate_of_a_promotion_has_the_score_of_its_safety_rules,
    a_promotion_that_the_task_cannot_take_is_refused,
    of_promotions_at_once_one_is_made,
    what_a_private_response_is_promoted_by_is_as_private,
    reviewers_open_the_promotion_of_a_private_response_without_its_log,
    the_page_of_a_response_offers_what_the_reader_can_make_of_it,
);

fn questions() -> Vec<Field> {
    serde_json::from_value(json!([
        { "key": "name", "label": "Company?", "type": "short_text", "required": true },
        { "key": "size", "label": "Size?", "type": "integer" },
        { "key": "stage", "label": "Stage?", "type": "single_choice", "options": ["Lead", "Won", "Lost"] },
    ]))
    .unwrap()
}

/// Publishes a form and submits these answers as a member.
pub async fn submitted(f: &Fixture, given: Value) -> ResponseRecord {
    let publication = Publication { responses: Responses::Many, ..Publication::default() };
    let slug = Some(format!("lead-{}", fastrand::u64(..)));
    let new = NewView { title: "Lead".into(), slug, fields: questions(), publication, ..NewView::default() };
    let made: ViewId = view::create(&f.ledger, &f.operator, new).await.unwrap().id;
    view::publish(&f.ledger, &f.operator, made, None).await.unwrap();
    let answers = given.as_object().unwrap().clone();
    let submission_id = format!("s{}", fastrand::u64(..));
    let new = Submission { request_id: None, version: None, rev: None, submission_id, answers };
    let member = Respondent::member(&f.member).unwrap();
    response::submit(&f.ledger, &member, made, new).await.unwrap().response
}

pub async fn promote(f: &Fixture, response: SessionId, by: ActionId) -> ledger::Result<ResponseRecord> {
    let to = Promote { to: PromoteTo::Action(by), title: None, fields: [].into() };
    response::promote(&f.ledger, &f.operator, response, to).await
}

/// A task that makes a company.
pub async fn task(f: &Fixture, metadata: Value, config: Value) -> ActionId {
    let mut config = config;
    config["entityType"] = "company".into();
    let new = NewAction {
        name: "Take over".into(),
        output_type: Some(OutputType::Entity),
        output_config: Some(config.to_string()),
        metadata: Some(metadata.to_string()),
        ..NewAction::default()
    };
    action::create(&f.ledger, &f.operator, new).await.unwrap().id
}

fn made(response: &ResponseRecord) -> EntityId {
    response.promotion.as_ref().unwrap().entity_id
}

async fn a_task_without_approval_writes_the_entity_at_once(f: Fixture) {
    company(&f).await;
    let response = submitted(&f, json!({ "name": "Acme", "size": 3, "stage": "Lead" })).await;
    let by = task(&f, json!({}), json!({})).await;
    let promoted = promote(&f, response.session_id, by).await.unwrap();
    let written = entity::get(&f.ledger, &f.member, made(&promoted)).await.unwrap();
    assert_eq!((written.title.as_str(), json!(written.fields)), ("Acme", json!({ "stage": "Lead", "size": 3 })));
    let session = session_now(&f, promoted.promotion_session_id.unwrap()).await;
    assert_eq!((session.status(), session.parent_id), (Status::Completed, Some(response.session_id)));
    assert_eq!(promote(&f, response.session_id, by).await.unwrap(), promoted, "a repeat makes nothing");
    f.assert_verified().await;
    f.done().await;
}

/// A submitted response that is private to the operator.
async fn private_response(f: &Fixture) -> ResponseRecord {
    let response = submitted(f, json!({ "name": "Acme", "size": 3, "stage": "Lead" })).await;
    let hide = format!("UPDATE sessions SET private_to = '{}' WHERE session_type = 'response'", f.operator.caller);
    f.engine.raw().await.execute(&hide).await.unwrap();
    response
}

async fn reviewers_open_the_promotion_of_a_private_response_without_its_log(f: Fixture) {
    company(&f).await;
    let response = private_response(&f).await;
    let by = task(&f, json!({ "requiresApproval": true }), json!({})).await;
    let promoted = promote(&f, response.session_id, by).await.unwrap().promotion_session_id.unwrap();
    opens_without_events(&f, &[&f.admin], gate_of(&f, promoted).await.gate.id).await;
    f.done().await;
}

async fn what_a_private_response_is_promoted_by_is_as_private(f: Fixture) {
    company(&f).await;
    let response = private_response(&f).await;
    let owner = f.operator.caller.to_string();
    let page = page::session::read(&f.ledger, &f.operator, response.session_id, LogWindow::Fitting, |_| Vec::new());
    assert!(page.await.unwrap().around.promotion.offer.unwrap().is_private, "the form says so");
    let by = task(&f, json!({}), json!({})).await;
    let promoted = promote(&f, response.session_id, by).await.unwrap();
    let id = promoted.promotion_session_id.unwrap();
    assert_eq!(session::get(&f.ledger, &f.operator, id).await.unwrap().private_to, Some(owner));
    for other in [&f.member, &f.admin] {
        let found = session::get(&f.ledger, other, id).await;
        assert!(matches!(found, Err(Error::NotFound("session"))), "its input has the answers: {found:?}");
    }
    f.done().await;
}

async fn a_promotion_waits_for_approval_and_each_page_names_the_other(f: Fixture) {
    at_once(&f).await;
    company(&f).await;
    let response = submitted(&f, json!({ "name": "Acme", "stage": "Won" })).await;
    let id = response.session_id;
    let by = task(&f, json!({ "requiresApproval": true }), json!({})).await;
    let waiting = promote(&f, id, by).await.unwrap();
    let session = waiting.promotion_session_id.unwrap();
    assert_eq!((waiting.promotion.as_ref(), session_now(&f, session).await.status()), (None, Status::WaitingHuman));
    assert_eq!(promote(&f, id, by).await.unwrap(), waiting, "a repeat opens no second gate");
    let any = Claim { agent_slugs: None, max: 1, lease_seconds: 60 };
    assert!(session::claim(&f.ledger, &f.worker, any, Duration::ZERO).await.unwrap().is_empty(), "no worker gets it");

    let gate = gate_of(&f, session).await;
    assert_eq!((gate.gate.kind, json!(gate.proposed)), (GateKind::Output, json!({ "title": "Acme", "stage": "Won" })));
    decide(&f, &f.admin, gate.gate.id, says(Verdict::Approve)).await.unwrap();
    let promoted = response::get(&f.ledger, &f.member, id).await.unwrap();
    let entity_id = made(&promoted);
    assert_eq!(promoted.promotion.as_ref().unwrap().by, f.admin.caller.to_string());
    assert_eq!(session_now(&f, session).await.status(), Status::Completed);

    let versions = entity::list_versions(&f.ledger, &f.member, entity_id, ListPage::default()).await.unwrap();
    assert_eq!(versions.items[0].session_id, Some(session));
    let of_entity = page::entity::read(&f.ledger, &f.member, entity_id, None).await.unwrap();
    assert_eq!(of_entity.responses, [promoted]);
    let of_response = page::session::around(&f.ledger, &f.member, id).await.unwrap();
    assert_eq!(of_response.promotion.entity, Some((entity_id, "Acme".to_owned())));
    assert_eq!(of_response.children.iter().map(|child| child.id).collect::<Vec<_>>(), [session]);
    f.assert_verified().await;
    f.done().await;
}

async fn the_page_of_a_response_offers_what_the_reader_can_make_of_it(f: Fixture) {
    at_once(&f).await;
    let company = company(&f).await;
    let response = submitted(&f, json!({ "name": "Acme" })).await;
    let (id, nothing) = (response.session_id, PromotionState::default());
    let by = task(&f, json!({ "requiresApproval": true }), json!({})).await;
    let other = |name: &str, output| NewAction { name: name.into(), output_type: output, ..NewAction::default() };
    for (name, output) in [("Say", None), ("Fill in nothing", Some(OutputType::Fields))] {
        action::create(&f.ledger, &f.operator, other(name, output)).await.unwrap();
    }
    let old = task(&f, json!({}), json!({})).await;
    let archive = ActionChange { status: Some(ActionStatus::Archived), ..ActionChange::default() };
    action::update(&f.ledger, &f.operator, old, archive).await.unwrap();
    let promotion = async |who: &Scope, id: SessionId| {
        let read = page::session::read(&f.ledger, who, id, LogWindow::Fitting, |_| Vec::new());
        one_snapshot(&f, read).await.around.promotion
    };

    let state = promotion(&f.member, id).await;
    assert_eq!((state.entity, state.waits), (None, None));
    let offer = state.offer.unwrap();
    assert!(offer.types.contains(&(company.id, "Company".to_owned())), "{offer:?}");
    assert_eq!((offer.tasks, offer.has_more, offer.is_private), (vec![(by, "Take over".to_owned())], false, false));
    let refreshed = page::session::around(&f.ledger, &f.member, id).await.unwrap();
    assert_eq!(refreshed.promotion, nothing, "a refresh does not show the form");
    assert_eq!(promotion(&f.worker, id).await, nothing, "it may not write entities");
    let save = DraftSave { answers: json!({ "name": "x" }).as_object().unwrap().clone(), ..DraftSave::default() };
    let respondent = Respondent::member(&f.other_member).unwrap();
    let draft = response::save_draft(&f.ledger, &respondent, response.view_id, save).await.unwrap();
    assert_eq!(promotion(&f.other_member, draft.session_id).await, nothing, "a draft becomes nothing");

    let session = promote(&f, id, by).await.unwrap().promotion_session_id.unwrap();
    let gate = gate_of(&f, session).await.gate.id;
    let waits = PromotionState { waits: Some((session, Some(gate))), ..PromotionState::default() };
    assert_eq!(promotion(&f.member, id).await, waits);
    assert_eq!(promotion(&f.member, session).await, nothing, "the session of the task is no response");
    decide(&f, &f.admin, gate, says(Verdict::Deny)).await.unwrap();
    assert!(promotion(&f.member, id).await.offer.is_some(), "what was denied can be made again");
    let to = Promote { to: PromoteTo::Type(company.id), title: None, fields: [].into() };
    let promoted = response::promote(&f.ledger, &f.member, id, to).await.unwrap();
    let became = PromotionState { entity: Some((made(&promoted), "Acme".to_owned())), ..PromotionState::default() };
    assert_eq!(promotion(&f.member, id).await, became);
    f.done().await;
}

async fn a_denied_promotion_ends_and_can_be_made_again(f: Fixture) {
    at_once(&f).await;
    company(&f).await;
    let response = submitted(&f, json!({ "name": "Acme" })).await;
    let by = task(&f, json!({ "requiresApproval": true }), json!({})).await;
    let first = promote(&f, response.session_id, by).await.unwrap().promotion_session_id.unwrap();
    decide(&f, &f.admin, gate_of(&f, first).await.gate.id, says(Verdict::Deny)).await.unwrap();
    assert_eq!(session_now(&f, first).await.status(), Status::Completed);
    let denied = response::get(&f.ledger, &f.member, response.session_id).await.unwrap();
    assert_eq!(denied.promotion, None);
    let again = session::retry(&f.ledger, &f.operator, first).await;
    assert!(again.is_err(), "no agent gets it by a retry");

    let second = promote(&f, response.session_id, by).await.unwrap().promotion_session_id.unwrap();
    assert_ne!(first, second);
    decide(&f, &f.admin, gate_of(&f, second).await.gate.id, says(Verdict::Approve)).await.unwrap();
    made(&response::get(&f.ledger, &f.member, response.session_id).await.unwrap());
    f.assert_verified().await;
    f.done().await;
}

async fn a_reviewer_may_change_what_is_promoted(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let response = submitted(&f, json!({ "name": "Acme Inc.", "size": 3 })).await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let session = promote(&f, response.session_id, of.id).await.unwrap().promotion_session_id.unwrap();
    let gate = gate_of(&f, session).await.gate.id;
    decide(&f, &f.admin, gate, crate::gate::edits(&json!({ "size": 4 }))).await.unwrap();
    let written = now(&f, &acme).await;
    assert_eq!((written.title.as_str(), &written.fields["size"]), ("Acme Inc.", &json!(4)));
    assert_eq!(made(&response::get(&f.ledger, &f.member, response.session_id).await.unwrap()), acme.id);
    f.done().await;
}

async fn safety_rules_block_a_promotion_and_leave_nothing(f: Fixture) {
    company(&f).await;
    let response = submitted(&f, json!({ "name": "Acme" })).await;
    let config = safety(&f).await;
    for metadata in [json!({}), json!({ "requiresApproval": true })] {
        let by = task(&f, metadata, config.clone()).await;
        let blocked = promote(&f, response.session_id, by).await;
        assert!(matches!(blocked, Err(Error::HardBlock(_))), "{blocked:?}");
    }
    let wanted = ListSessions { parent_id: Some(response.session_id), ..ListSessions::default() };
    assert!(session::list(&f.ledger, &f.member, wanted).await.unwrap().items.is_empty());
    let same = response::get(&f.ledger, &f.member, response.session_id).await.unwrap();
    assert_eq!((same.promotion, same.promotion_session_id), (None, None));
    f.done().await;
}

/// Submits these answers to a form with a question for the dimension and two ratings of it.
async fn judged(f: &Fixture, answers: Value) -> ResponseRecord {
    let fields: Vec<Field> = serde_json::from_value(json!([
        { "key": "name", "label": "Company?", "type": "short_text", "required": true },
        { "key": "claim_safety", "label": "Safe?", "type": "single_choice", "options": ["pass", "fail"] },
        { "key": "other", "label": "Other?", "type": "short_text" },
        { "key": "first", "label": "First?", "type": "rating", "criteriaSet": "safety" },
        { "key": "second", "label": "Second?", "type": "rating", "criteriaSet": "safety" },
    ]))
    .unwrap();
    let slug = Some(format!("judged-{}", fastrand::u64(..)));
    let publication = Publication { responses: Responses::Many, ..Publication::default() };
    let new = NewView { title: "Judged".into(), slug, fields, publication, ..NewView::default() };
    let made: ViewId = view::create(&f.ledger, &f.operator, new).await.unwrap().id;
    view::publish(&f.ledger, &f.operator, made, None).await.unwrap();
    let (answers, submission_id) = (answers.as_object().unwrap().clone(), format!("s{}", fastrand::u64(..)));
    let new = Submission { request_id: None, version: None, rev: None, submission_id, answers };
    let member = Respondent::member(&f.member).unwrap();
    response::submit(&f.ledger, &member, made, new).await.unwrap().response
}

async fn every_answer_counts_for_the_safety_rules(f: Fixture) {
    company(&f).await;
    let config = safety(&f).await;
    for (answers, blocked) in [
        // A plain answer to the question of the dimension counts, although the entity has no such field.
        (json!({ "name": "Acme", "claim_safety": "pass" }), false),
        (json!({ "name": "Acme", "claim_safety": "fail" }), true),
        (json!({ "name": "Acme", "first": { "claim_safety": "pass" } }), false),
        // A second rating is not hidden by the first, and an answer not by a rating.
        (json!({ "name": "Acme", "first": { "claim_safety": "pass" }, "second": { "claim_safety": "fail" } }), true),
        (json!({ "name": "Acme", "claim_safety": "fail", "first": { "claim_safety": "pass" } }), true),
        (json!({ "name": "Acme" }), true),
    ] {
        let response = judged(&f, answers.clone()).await;
        let by = task(&f, json!({}), config.clone()).await;
        match promote(&f, response.session_id, by).await {
            Ok(promoted) => assert!(!blocked && promoted.promotion.is_some(), "{answers}"),
            Err(Error::HardBlock(_)) => assert!(blocked, "{answers}"),
            other => panic!("{answers}: {other:?}"),
        }
    }
    f.assert_verified().await;
    f.done().await;
}

async fn the_gate_of_a_promotion_has_the_score_of_its_safety_rules(f: Fixture) {
    company(&f).await;
    let response = submitted(&f, json!({ "name": "Acme", "stage": "Lead" })).await;
    let dimensions: Vec<Dimension> = serde_json::from_value(json!([{
        "slug": "stage", "name": "Stage", "type": "select", "options": [
            {"value": "Won", "score": 1.0}, {"value": "Lead", "style": "caution", "score": 0.5}]
    }]))
    .unwrap();
    let new = NewCriteriaSet { name: "Stages".into(), dimensions, ..NewCriteriaSet::default() };
    let set = criteria_set::create(&f.ledger, &f.operator, new).await.unwrap();
    let config = json!({ "criteria_set_ids": [set.id] });
    let by = task(&f, json!({ "requiresApproval": true }), config).await;
    let session = promote(&f, response.session_id, by).await.unwrap().promotion_session_id.unwrap();
    let gate = gate_of(&f, session).await.gate;
    assert_eq!((gate.score, gate.flags), (Some(0.5), vec!["stage: Lead".to_owned()]));
    f.done().await;
}

async fn a_promotion_that_the_task_cannot_take_is_refused(f: Fixture) {
    company(&f).await;
    let response = submitted(&f, json!({ "name": "Acme", "stage": "Lost" })).await;
    let by = task(&f, json!({}), json!({})).await;
    let wrong = promote(&f, response.session_id, by).await;
    assert!(matches!(wrong, Err(Error::Invalid(_))), "the type has no such option: {wrong:?}");
    let text = NewAction { name: "Say".into(), ..NewAction::default() };
    let text = action::create(&f.ledger, &f.operator, text).await.unwrap().id;
    let wrong = promote(&f, response.session_id, text).await;
    assert!(matches!(wrong, Err(Error::Invalid(_))), "{wrong:?}");
    let to = || Promote { to: PromoteTo::Action(by), title: None, fields: [].into() };
    let theirs = response::promote(&f.ledger, &f.stranger, response.session_id, to()).await;
    assert!(matches!(theirs, Err(Error::NotFound(_))), "{theirs:?}");
    let worker = response::promote(&f.ledger, &f.worker, response.session_id, to()).await;
    assert!(matches!(worker, Err(Error::Forbidden(_))), "{worker:?}");
    f.done().await;
}

async fn of_promotions_at_once_one_is_made(f: Fixture) {
    company(&f).await;
    let response = submitted(&f, json!({ "name": "Acme" })).await;
    let by = task(&f, json!({}), json!({})).await;
    let all = (0..8).map(|_| promote(&f, response.session_id, by));
    let all = futures_util::future::join_all(all).await;
    let made: Vec<EntityId> = all.iter().filter_map(|done| done.as_ref().ok()).map(made).collect();
    assert!(!made.is_empty() && made.iter().all(|id| *id == made[0]), "{made:?}");
    let wanted = ListSessions { parent_id: Some(response.session_id), ..ListSessions::default() };
    assert_eq!(session::list(&f.ledger, &f.member, wanted).await.unwrap().items.len(), 1);
    f.done().await;
}
