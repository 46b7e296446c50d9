//! Output contracts: which results are valid, and what they write to entities, once.

use crate::entity::{acme, company};
use domain::{
    action::OutputType,
    id::{ActionId, EntityId},
    session::{EndReason, Session, Status, Type},
};
use ledger::{
    EntityRecord, EntityVersionRecord, Error, action,
    entity::{self, ListEntities},
    session::{self, Completion, NewSession},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_wrong_contract_is_refused_by_its_key,
    a_result_changes_the_entity_its_task_is_about_and_the_version_names_the_session,
    a_result_becomes_an_entity_where_the_task_is_about_none,
    a_result_makes_and_changes_several_entities_or_none,
    a_result_becomes_an_entity_that_leads_to_the_tasks_own,
    named_values_go_to_the_entity_where_there_is_one,
    a_wrong_result_is_returned_once_and_then_fails_the_session,
    a_repeat_of_the_first_wrong_result_is_refused_again_and_only_another_one_fails_the_session,
    a_new_attempt_has_its_own_warning,
    a_schema_binds_every_kind_of_result,
    what_a_criteria_set_names_stays_in_the_result,
    a_repeated_completion_writes_once,
    two_results_about_the_same_entities_are_both_kept,
    an_output_that_needs_approval_is_not_written,
);

fn wrong_fields<T: std::fmt::Debug>(refused: Result<T, Error>) -> Vec<String> {
    match refused {
        Err(Error::Invalid(errors) | Error::OutputInvalid { errors, .. }) => {
            errors.into_iter().map(|e| e.field).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn new_action(output_type: OutputType, config: &Value, target: Option<&EntityRecord>) -> action::NewAction {
    action::NewAction {
        name: "Qualify".into(),
        agent_slug: Some("scout".into()),
        target_entity_id: target.map(|entity| entity.id),
        output_type: Some(output_type),
        output_config: Some(config.to_string()),
        ..Default::default()
    }
}

async fn task(f: &Fixture, output_type: OutputType, config: Value, target: Option<&EntityRecord>) -> ActionId {
    let new = new_action(output_type, &config, target);
    action::create(&f.ledger, &f.operator, new).await.unwrap().id
}

/// Starts a session of the task and claims it.
async fn run(f: &Fixture, task: ActionId) -> Session {
    action::trigger(&f.ledger, &f.member, task, Default::default()).await.unwrap();
    f.claim(1, 3_600).await.pop().unwrap()
}

async fn complete(f: &Fixture, session: &Session, result: &Value) -> ledger::Result<Session> {
    let completion = Completion { attempt: session.attempt, result: Some(result.to_string()), usage: None };
    session::complete(&f.ledger, &f.worker, session.id, completion).await
}

async fn versions(f: &Fixture, id: EntityId) -> Vec<EntityVersionRecord> {
    entity::list_versions(&f.ledger, &f.member, id, ledger::ListPage::default()).await.unwrap().items
}

async fn all_entities(f: &Fixture) -> Vec<EntityRecord> {
    entity::list(&f.ledger, &f.member, ListEntities::default()).await.unwrap().items
}

/// Returns the metadata of the newest event of this kind.
async fn metadata_of(f: &Fixture, session: &Session, kind: &str) -> Value {
    let log = f.log(session.id).await;
    let event = log.into_iter().rfind(|event| event.kind == kind).unwrap();
    serde_json::from_str(&event.metadata).unwrap()
}

async fn a_wrong_contract_is_refused_by_its_key(f: Fixture) {
    let of = company(&f).await;
    let about = acme(&f, &of, "Acme").await;
    let note = crate::entity::note(&f).await;
    let noted = ledger::entity::NewEntity {
        type_id: note.id,
        title: "Call".into(),
        fields: crate::entity::values(json!({ "about": about.id })),
    };
    let noted = entity::create(&f.ledger, &f.member, noted).await.unwrap();
    let relation = |field: &str| json!({ "entityType": "note", "relationField": field });
    for (output_type, config, target, wrong) in [
        (OutputType::Text, json!({ "schema": { "type": "strin" } }), None, "outputConfig.schema"),
        (OutputType::Fields, json!({ "entityType": "company" }), None, "outputConfig.entityType"),
        (OutputType::Entity, json!({}), None, "outputConfig.entityType"),
        (OutputType::Entity, json!({ "entityType": "nothing" }), None, "outputConfig.entityType"),
        (OutputType::Entity, json!({ "entityType": "note" }), Some(&about), "outputConfig.entityType"),
        (OutputType::RelationEntity, relation("text"), Some(&about), "outputConfig.relationField"),
        (OutputType::RelationEntity, relation("none"), None, "outputConfig.relationField"),
        (OutputType::RelationEntity, relation("about"), Some(&noted), "outputConfig.relationField"),
    ] {
        let made = action::create(&f.ledger, &f.operator, new_action(output_type, &config, target)).await;
        assert_eq!(wrong_fields(made), [wrong], "{config}");
    }
    // Entity types of other workspaces are unknown. A change of an action is checked like a new one.
    let elsewhere = new_action(OutputType::Entities, &json!({ "entityType": "company" }), None);
    let made = action::create(&f.ledger, &f.stranger, elsewhere).await;
    assert_eq!(wrong_fields(made), ["outputConfig.entityType"]);
    let fine = task(&f, OutputType::Entity, json!({}), Some(&about)).await;
    let loose = action::ActionChange { target_entity_id: Some(None), ..Default::default() };
    let changed = action::update(&f.ledger, &f.operator, fine, loose).await;
    assert_eq!(wrong_fields(changed), ["outputConfig.entityType"]);
    f.done().await;
}

async fn a_result_changes_the_entity_its_task_is_about_and_the_version_names_the_session(f: Fixture) {
    let about = acme(&f, &company(&f).await, "Acme").await;
    let config = json!({ "schema": { "type": "object", "properties": { "confidence": { "type": "number" } } } });
    let task = task(&f, OutputType::Entity, config, Some(&about)).await;
    let session = run(&f, task).await;
    let result = json!({ "stage": "Won", "title": "Acme Inc", "confidence": 0.9 });
    let done = complete(&f, &session, &result).await.unwrap();
    assert_eq!((done.status(), done.end_reason()), (Status::Completed, Some(EndReason::Done)));
    // A field that only the contract declares is in the result, and not in the entity.
    assert_eq!(serde_json::from_str::<Value>(done.result().unwrap()).unwrap(), result);
    let read = entity::get(&f.ledger, &f.member, about.id).await.unwrap();
    assert_eq!((read.title.as_str(), json!(read.fields)), ("Acme Inc", json!({ "stage": "Won" })));
    let newest = &versions(&f, about.id).await[0];
    assert_eq!((newest.version, newest.session_id), (2, Some(session.id)));
    assert_eq!(newest.actor, f.worker.caller.to_string());
    let written = json!([{ "entityId": about.id, "entityType": "company", "version": 2, "effect": "updated" }]);
    assert_eq!(metadata_of(&f, &session, "session.completed").await["written"], written);
    // The same result again changes nothing, and the event says so.
    let again = run(&f, task).await;
    complete(&f, &again, &result).await.unwrap();
    assert_eq!(metadata_of(&f, &again, "session.completed").await["written"][0]["effect"], "unchanged");
    assert_eq!(versions(&f, about.id).await.len(), 2);
    f.assert_verified().await;
    f.done().await;
}

async fn a_result_becomes_an_entity_where_the_task_is_about_none(f: Fixture) {
    company(&f).await;
    let task = task(&f, OutputType::Entity, json!({ "entityType": "company" }), None).await;
    let session = run(&f, task).await;
    complete(&f, &session, &json!({ "stage": "Lead" })).await.unwrap();
    let made = all_entities(&f).await.pop().unwrap();
    // Without a title in the result, the entity gets the title of the session.
    assert_eq!((made.title.as_str(), json!(made.fields), made.version), ("Qualify", json!({ "stage": "Lead" }), 1));
    assert_eq!(versions(&f, made.id).await[0].session_id, Some(session.id));
    // A child session about an entity of another type creates an entity of its own contract's type.
    let note = crate::entity::note(&f).await;
    let about = acme(&f, &company_by_slug(&f).await, "Acme").await;
    let parent = self::task(&f, OutputType::Text, json!({}), Some(&about)).await;
    let parent = run(&f, parent).await;
    let noting = new_action(OutputType::Entity, &json!({ "entityType": "note" }), None);
    let noting = action::create(&f.ledger, &f.operator, noting).await.unwrap();
    let child =
        NewSession { action_id: Some(noting.id), parent_id: Some(parent.id), ..NewSession::of_type(Type::Agent) };
    session::create(&f.ledger, &f.member, child).await.unwrap();
    let child = f.claim(1, 60).await.pop().unwrap();
    assert_eq!(child.entity_id, Some(about.id));
    complete(&f, &child, &json!({ "text": "Called", "title": "Call" })).await.unwrap();
    let query = ListEntities { type_id: Some(note.id), ..Default::default() };
    let notes = entity::list(&f.ledger, &f.member, query).await.unwrap().items;
    assert_eq!(notes.iter().map(|note| note.title.as_str()).collect::<Vec<_>>(), ["Call"]);
    f.done().await;
}

async fn company_by_slug(f: &Fixture) -> ledger::EntityTypeRecord {
    ledger::entity_type::get_by_slug(&f.ledger, &f.member, "company").await.unwrap()
}

async fn a_result_makes_and_changes_several_entities_or_none(f: Fixture) {
    let of = company(&f).await;
    let (a, b) = (acme(&f, &of, "A").await, acme(&f, &of, "B").await);
    let note = crate::entity::note(&f).await;
    let task = task(&f, OutputType::Entities, json!({ "entityType": "company" }), None).await;
    let session = run(&f, task).await;
    let stray = EntityId(uuid::Uuid::from_u128(7));
    let wrong = json!({ "entities": [
        { "id": b.id, "stage": "Won" }, { "id": b.id }, { "id": stray }, { "stage": "Maybe" }, { "colour": "red" },
    ] });
    let named =
        ["result.entities[1].id", "result.entities[2].id", "result.entities[3].stage", "result.entities[4].colour"];
    assert_eq!(wrong_fields(complete(&f, &session, &wrong).await), named);
    assert_eq!(all_entities(&f).await.len(), 2, "part of a wrong result was written");
    let good = json!({ "entities": [
        { "id": b.id, "stage": "Won" }, { "title": "C", "size": 3 }, { "id": a.id, "size": 1 }, { "stage": "Lead" },
    ] });
    complete(&f, &session, &good).await.unwrap();
    let mut read: Vec<_> =
        all_entities(&f).await.into_iter().map(|e| (e.title, Value::from(e.fields), e.version)).collect();
    read.sort_by(|x, y| x.0.cmp(&y.0));
    let expected = [
        ("A", json!({ "stage": "Lead", "size": 1 }), 2),
        ("B", json!({ "stage": "Won" }), 2),
        ("C", json!({ "size": 3 }), 1),
        ("Qualify", json!({ "stage": "Lead" }), 1),
    ];
    assert_eq!(read, expected.map(|(title, fields, version)| (title.to_owned(), fields, version)));
    assert_eq!(metadata_of(&f, &session, "session.completed").await["written"].as_array().unwrap().len(), 4);
    // The result may not change an entity of another type than the contract's.
    let noted = ledger::entity::NewEntity { type_id: note.id, title: "N".into(), fields: Default::default() };
    let noted = entity::create(&f.ledger, &f.member, noted).await.unwrap();
    let session = run(&f, task).await;
    let refused = complete(&f, &session, &json!({ "entities": [{ "id": noted.id, "text": "x" }] })).await;
    assert_eq!(wrong_fields(refused), ["result.entities[0].id"]);
    f.done().await;
}

async fn a_result_becomes_an_entity_that_leads_to_the_tasks_own(f: Fixture) {
    let about = acme(&f, &company(&f).await, "Acme").await;
    let note = crate::entity::note(&f).await;
    let config = json!({ "entityType": "note", "relationField": "about" });
    let lost = task(&f, OutputType::RelationEntity, config.clone(), None).await;
    let task = task(&f, OutputType::RelationEntity, config, Some(&about)).await;
    let session = run(&f, task).await;
    let elsewhere = json!({ "title": "Call", "about": note.id });
    assert_eq!(wrong_fields(complete(&f, &session, &elsewhere).await), ["result.about"]);
    complete(&f, &session, &json!({ "title": "Call", "text": "They will buy." })).await.unwrap();
    let query = ListEntities { type_id: Some(note.id), ..Default::default() };
    let made = entity::list(&f.ledger, &f.member, query).await.unwrap().items.pop().unwrap();
    assert_eq!(json!(made.fields), json!({ "text": "They will buy.", "about": about.id }));
    assert_eq!(entity::get(&f.ledger, &f.member, about.id).await.unwrap().version, 1);
    // Without a target entity there is nothing for the relation to point to.
    let session = run(&f, lost).await;
    assert_eq!(wrong_fields(complete(&f, &session, &json!({ "text": "x" })).await), ["result"]);
    f.done().await;
}

async fn named_values_go_to_the_entity_where_there_is_one(f: Fixture) {
    let about = acme(&f, &company(&f).await, "Acme").await;
    let free = task(&f, OutputType::Fields, json!({}), None).await;
    let bound = task(&f, OutputType::Fields, json!({}), Some(&about)).await;
    let session = run(&f, free).await;
    complete(&f, &session, &json!({ "words": 2, "any": ["x"] })).await.unwrap();
    assert_eq!(metadata_of(&f, &session, "session.completed").await["written"], json!([]));
    let session = run(&f, bound).await;
    assert_eq!(wrong_fields(complete(&f, &session, &json!({ "words": 2 })).await), ["result.words"]);
    complete(&f, &session, &json!({ "size": 7 })).await.unwrap();
    let read = entity::get(&f.ledger, &f.member, about.id).await.unwrap();
    assert_eq!(json!(read.fields), json!({ "stage": "Lead", "size": 7 }));
    f.done().await;
}

async fn a_wrong_result_is_returned_once_and_then_fails_the_session(f: Fixture) {
    let about = acme(&f, &company(&f).await, "Acme").await;
    let task = task(&f, OutputType::Entity, json!({}), Some(&about)).await;
    let session = run(&f, task).await;
    let wrong = json!({ "stage": "Maybe", "colour": "red" });
    let first = complete(&f, &session, &wrong).await;
    assert!(matches!(first, Err(Error::OutputInvalid { failed: false, .. })), "{first:?}");
    assert_eq!(wrong_fields(first), ["result.colour", "result.stage"]);
    let read = session::get(&f.ledger, &f.member, session.id).await.unwrap();
    assert_eq!((read.status(), read.result(), read.attempt), (Status::Running, None, 1));
    let first_error = metadata_of(&f, &session, "session.error").await;
    assert_eq!((&first_error["code"], &first_error["result"]), (&json!("output_invalid"), &wrong));
    assert_eq!(first_error["errors"][1], json!({ "field": "result.stage", "message": "one of: Lead, Won" }));
    let second = complete(&f, &session, &json!("no object at all")).await;
    assert!(matches!(second, Err(Error::OutputInvalid { failed: true, .. })), "{second:?}");
    let read = session::get(&f.ledger, &f.member, session.id).await.unwrap();
    assert_eq!((read.status(), read.end_reason()), (Status::Failed, Some(EndReason::Error)));
    assert_eq!(read.error_code(), Some("output_invalid"));
    assert_eq!(
        read.error_message().unwrap(),
        "the result breaks its output contract: result: an object of named values"
    );
    let third = complete(&f, &session, &json!({ "stage": "Won" })).await;
    assert!(matches!(third, Err(Error::Refused(_))), "{third:?}");
    assert_eq!(entity::get(&f.ledger, &f.member, about.id).await.unwrap().version, 1);
    let errors = f.log(session.id).await.into_iter().filter(|event| event.kind == "session.error").count();
    assert_eq!(errors, 2);
    f.assert_verified().await;
    f.done().await;
}

async fn a_repeat_of_the_first_wrong_result_is_refused_again_and_only_another_one_fails_the_session(f: Fixture) {
    let task = task(&f, OutputType::Fields, json!({}), None).await;
    let session = run(&f, task).await;
    let errors = async || f.log(session.id).await.into_iter().filter(|event| event.kind == "session.error").count();
    for _ in 0..3 {
        let refused = complete(&f, &session, &json!(1)).await;
        assert!(matches!(refused, Err(Error::OutputInvalid { failed: false, .. })), "{refused:?}");
        assert_eq!(wrong_fields(refused), ["result"]);
        let read = session::get(&f.ledger, &f.member, session.id).await.unwrap();
        assert_eq!((read.status(), errors().await), (Status::Running, 1));
    }
    let refused = complete(&f, &session, &json!(2)).await;
    assert!(matches!(refused, Err(Error::OutputInvalid { failed: true, .. })), "{refused:?}");
    let read = session::get(&f.ledger, &f.member, session.id).await.unwrap();
    assert_eq!((read.status(), read.error_code(), errors().await), (Status::Failed, Some("output_invalid"), 2));
    f.assert_verified().await;
    f.done().await;
}

async fn a_new_attempt_has_its_own_warning(f: Fixture) {
    let task = task(&f, OutputType::Fields, json!({}), None).await;
    let mut session = run(&f, task).await;
    for attempt in 1..=2 {
        assert_eq!(session.attempt, attempt);
        let refused = complete(&f, &session, &json!(1)).await;
        assert!(matches!(refused, Err(Error::OutputInvalid { failed: false, .. })), "{refused:?}");
        session::release(&f.ledger, &f.worker, session.id, attempt).await.unwrap();
        session = f.claim(1, 60).await.pop().unwrap();
    }
    complete(&f, &session, &json!({ "n": 1 })).await.unwrap();
    f.done().await;
}

async fn a_schema_binds_every_kind_of_result(f: Fixture) {
    let words =
        json!({ "schema": { "type": "object", "required": ["text"], "properties": { "text": { "minLength": 3 } } } });
    let text = task(&f, OutputType::Text, words, None).await;
    let session = run(&f, text).await;
    assert_eq!(wrong_fields(complete(&f, &session, &json!({ "text": "x" })).await), ["result.text"]);
    complete(&f, &session, &json!({ "text": "enough" })).await.unwrap();
    let silent = run(&f, text).await;
    let nothing = Completion { attempt: 1, result: None, usage: None };
    assert_eq!(wrong_fields(session::complete(&f.ledger, &f.worker, silent.id, nothing).await), ["result"]);
    // The refusal names all errors at once: those of the schema and those of the entity.
    let about = acme(&f, &company(&f).await, "Acme").await;
    let size = json!({ "schema": { "properties": { "size": { "maximum": 10 } } } });
    let bound = task(&f, OutputType::Entity, size, Some(&about)).await;
    let session = run(&f, bound).await;
    let refused = complete(&f, &session, &json!({ "size": 11, "stage": "Maybe" })).await;
    assert_eq!(wrong_fields(refused), ["result.size", "result.stage"]);
    f.done().await;
}

async fn what_a_criteria_set_names_stays_in_the_result(f: Fixture) {
    let about = acme(&f, &company(&f).await, "Acme").await;
    let criteria = crate::criteria_set::brand_safety(&f).await;
    let scored = criteria.dimensions[0].slug.clone();
    let config = json!({ "criteria_set_ids": [criteria.id] });
    let foreign = action::create(&f.ledger, &f.stranger, new_action(OutputType::Text, &config, None)).await;
    assert_eq!(wrong_fields(foreign), ["outputConfig.criteria_set_ids"]);
    let task = task(&f, OutputType::Entity, config, Some(&about)).await;
    let session = run(&f, task).await;
    let stray = json!({ "stage": "Won", scored.as_str(): "pass", "colour": "red" });
    assert_eq!(wrong_fields(complete(&f, &session, &stray).await), ["result.colour"]);
    complete(&f, &session, &json!({ "stage": "Won", scored.as_str(): "pass" })).await.unwrap();
    let read = entity::get(&f.ledger, &f.member, about.id).await.unwrap();
    assert_eq!(json!(read.fields), json!({ "stage": "Won" }));
    f.done().await;
}

async fn a_repeated_completion_writes_once(f: Fixture) {
    let of = company(&f).await;
    let task = task(&f, OutputType::Entities, json!({ "entityType": "company" }), None).await;
    let session = run(&f, task).await;
    let result = json!({ "entities": [{ "title": "New" }] });
    let repeats = futures_util::future::join_all((0..8).map(|_| complete(&f, &session, &result))).await;
    assert!(
        repeats.iter().all(|done| done.as_ref().is_ok_and(|done| done.status() == Status::Completed)),
        "{repeats:?}"
    );
    let query = ListEntities { type_id: Some(of.id), ..Default::default() };
    assert_eq!(entity::list(&f.ledger, &f.member, query).await.unwrap().items.len(), 1);
    f.done().await;
}

async fn two_results_about_the_same_entities_are_both_kept(f: Fixture) {
    let of = company(&f).await;
    let (a, b) = (acme(&f, &of, "A").await, acme(&f, &of, "B").await);
    let task = task(&f, OutputType::Entities, json!({ "entityType": "company" }), None).await;
    let mut sessions = Vec::new();
    for _ in 0..6 {
        sessions.push(run(&f, task).await);
    }
    // Each result changes both entities, every second one in the opposite order.
    let results: Vec<Value> = (0..6)
        .map(|n| {
            let mut both = vec![json!({ "id": a.id, "size": n }), json!({ "id": b.id, "size": n })];
            if n % 2 == 0 {
                both.reverse();
            }
            json!({ "entities": both })
        })
        .collect();
    let done = sessions.iter().zip(&results).map(|(session, result)| complete(&f, session, result));
    for (n, done) in futures_util::future::join_all(done).await.into_iter().enumerate() {
        // A caller that waited too long for locks is asked to try again.
        if !matches!(done, Err(Error::Unavailable(_))) {
            done.unwrap();
        } else if let Err(error) = complete(&f, &sessions[n], &results[n]).await {
            panic!("{error:?}");
        }
    }
    for id in [a.id, b.id] {
        let seen = versions(&f, id).await;
        assert_eq!(seen.iter().map(|v| v.version).collect::<Vec<_>>(), [7, 6, 5, 4, 3, 2, 1]);
        let mut by: Vec<_> = seen.iter().filter_map(|v| v.session_id).collect();
        by.sort();
        by.dedup();
        assert_eq!(by.len(), 6, "a session's write is missing");
    }
    f.done().await;
}

async fn an_output_that_needs_approval_is_not_written(f: Fixture) {
    let about = acme(&f, &company(&f).await, "Acme").await;
    let new = |output_type, target| action::NewAction {
        metadata: Some(r#"{"requiresApproval":true}"#.into()),
        ..new_action(output_type, &json!({}), target)
    };
    for output_type in [OutputType::Entity, OutputType::Fields] {
        let task = action::create(&f.ledger, &f.operator, new(output_type, Some(&about))).await.unwrap();
        let session = run(&f, task.id).await;
        complete(&f, &session, &json!({ "stage": "Won" })).await.unwrap();
        let staged = &metadata_of(&f, &session, "session.waiting_approval").await["task"]["stagedOutput"];
        assert_eq!(*staged, json!({ "stage": "Won" }));
    }
    assert_eq!(entity::get(&f.ledger, &f.member, about.id).await.unwrap().version, 1);
    // Results that write nothing wait too: the action requires a decision, and a result is effective only after it.
    for (output_type, result) in [(OutputType::Fields, json!({ "n": 1 })), (OutputType::Text, json!("Done."))] {
        let task = action::create(&f.ledger, &f.operator, new(output_type, None)).await.unwrap();
        let session = run(&f, task.id).await;
        let waiting = complete(&f, &session, &result).await.unwrap();
        assert_eq!((waiting.status(), waiting.result()), (Status::WaitingHuman, None));
    }
    f.done().await;
}
