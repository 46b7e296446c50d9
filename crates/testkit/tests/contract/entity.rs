//! Entities: typed values, versions with their authors, titles in one query, sessions about them.

use domain::{
    entity::{FieldDef, FieldType, Values},
    id::EntityId,
    limit::{ENTITY_SESSIONS_MAX, ENTITY_TITLES_MAX},
    session::{Status, Type},
};
use ledger::{
    EntityRecord, EntityTypeRecord, Error, action,
    entity::{self, EntityChange, ListEntities, NewEntity, import},
    entity_type::{self, EntityTypeChange, NewEntityType},
    session::{self, NewSession},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    every_write_of_an_entity_is_a_version_with_its_author,
    an_erased_entity_is_a_tombstone_without_the_content_of_any_version,
    a_write_from_an_older_version_is_refused_and_changes_nothing,
    two_writers_of_one_version_make_one_new_version,
    wrong_values_are_refused_by_the_field,
    a_relation_leads_to_an_entity_of_its_type_in_the_same_workspace,
    another_workspace_finds_no_entity_type_entity_or_import,
    roles_bound_who_writes_entities_and_types,
    titles_of_many_entities_come_in_one_answer_without_repeats_or_strangers,
    entities_are_listed_by_type_and_title_page_by_page,
    a_type_changes_under_its_version_and_keeps_its_slug,
    entities_are_found_by_words_of_titles_and_values,
    an_action_leads_its_sessions_and_their_children_to_its_entity,
    the_dots_of_an_entity_follow_the_newest_session_of_each_field,
);

pub fn values(json: Value) -> Values {
    json.as_object().unwrap().clone()
}

pub fn field(slug: &str, kind: FieldType) -> FieldDef {
    FieldDef { slug: slug.into(), name: slug.into(), kind, required: false, options: Vec::new(), relation_type: None }
}

/// Creates the entity type `company`: stage (select), size (number), parent (company).
pub async fn company(f: &Fixture) -> EntityTypeRecord {
    let stage = FieldDef { options: vec!["Lead".into(), "Won".into()], ..field("stage", FieldType::Select) };
    let parent = FieldDef { relation_type: Some("company".into()), ..field("parent", FieldType::Relation) };
    let new = NewEntityType {
        name: "Company".into(),
        slug: None,
        fields: vec![stage, field("size", FieldType::Number), parent],
    };
    entity_type::create(&f.ledger, &f.operator, new).await.unwrap()
}

/// Creates the entity type `note`: a text, and the company it is about.
pub async fn note(f: &Fixture) -> EntityTypeRecord {
    let about = FieldDef { relation_type: Some("company".into()), ..field("about", FieldType::Relation) };
    let new = NewEntityType { name: "Note".into(), slug: None, fields: vec![field("text", FieldType::Text), about] };
    entity_type::create(&f.ledger, &f.operator, new).await.unwrap()
}

pub async fn acme(f: &Fixture, of: &EntityTypeRecord, title: &str) -> EntityRecord {
    let new = NewEntity { type_id: of.id, title: title.into(), fields: values(json!({ "stage": "Lead" })) };
    entity::create(&f.ledger, &f.member, new).await.unwrap()
}

fn fields_of<T: std::fmt::Debug>(refused: Result<T, Error>) -> Vec<String> {
    match refused {
        Err(Error::Invalid(fields)) => fields.into_iter().map(|e| e.field).collect(),
        other => panic!("{other:?}"),
    }
}

async fn entities_are_found_by_words_of_titles_and_values(f: Fixture) {
    let of = company(&f).await;
    for (title, size) in [("Acme Refunds", 417), ("Zenith", 7), ("Refund office", 40)] {
        f.clock.advance(chrono::TimeDelta::seconds(1));
        let fields = values(json!({ "stage": "Lead", "size": size }));
        entity::create(&f.ledger, &f.member, NewEntity { type_id: of.id, title: title.into(), fields }).await.unwrap();
    }
    let list = async |line: &str| {
        let query = ListEntities { type_id: Some(of.id), line: Some(line.to_owned()), ..ListEntities::default() };
        entity::list(&f.ledger, &f.member, query).await
    };
    for (line, titles) in [
        ("", &["Refund office", "Zenith", "Acme Refunds"][..]),
        ("REFUND", &["Refund office", "Acme Refunds"]),
        ("refund 417", &["Acme Refunds"]),
        ("refund -title:acme", &["Refund office"]),
        ("title:zen", &["Zenith"]),
        ("\"acme refunds\"", &["Acme Refunds"]),
        ("zebra", &[]),
    ] {
        let found = list(line).await.unwrap().items;
        assert_eq!(found.iter().map(|entity| entity.title.as_str()).collect::<Vec<_>>(), titles, "{line}");
    }
    let refused = list("agent:scout").await;
    assert!(
        matches!(&refused, Err(Error::Invalid(issues)) if issues[0].message.contains("the fields are title")),
        "{refused:?}"
    );
    f.done().await;
}

async fn every_write_of_an_entity_is_a_version_with_its_author(f: Fixture) {
    let made = acme(&f, &company(&f).await, "Acme").await;
    f.clock.advance(chrono::TimeDelta::seconds(5));
    let won = EntityChange { version: 1, title: None, fields: values(json!({ "stage": "Won", "size": 12 })) };
    let changed = entity::update(&f.ledger, &f.other_member, made.id, won).await.unwrap();
    assert_eq!((changed.version, json!(changed.fields)), (2, json!({ "stage": "Won", "size": 12 })));
    let cleared = EntityChange { version: 2, title: Some("Acme Inc".into()), fields: values(json!({ "size": null })) };
    entity::update(&f.ledger, &f.member, made.id, cleared).await.unwrap();
    let same = EntityChange { version: 3, title: Some("Acme Inc".into()), fields: values(json!({ "stage": "Won" })) };
    let unchanged = entity::update(&f.ledger, &f.admin, made.id, same).await.unwrap();
    assert_eq!(unchanged.version, 3, "a change that changes nothing wrote a version");
    let read = entity::get(&f.ledger, &f.member, made.id).await.unwrap();
    assert_eq!(read, unchanged);

    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let query = ledger::ListPage { limit: 2, cursor };
        let page = entity::list_versions(&f.ledger, &f.member, made.id, query).await.unwrap();
        seen.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let versions: Vec<_> =
        seen.iter().map(|v| (v.version, v.title.as_str(), json!(v.fields), v.actor.clone())).collect();
    let (mia, max) = (f.member.caller.to_string(), f.other_member.caller.to_string());
    assert_eq!(
        versions,
        [
            (3, "Acme Inc", json!({ "stage": "Won" }), mia.clone()),
            (2, "Acme", json!({ "stage": "Won", "size": 12 }), max),
            (1, "Acme", json!({ "stage": "Lead" }), mia),
        ]
    );
    assert_eq!((seen[1].at - seen[2].at).num_seconds(), 5);
    let mut raw = f.engine.raw().await;
    assert!(raw.execute("UPDATE entity_versions SET title = 'forged'").await.is_err(), "a version was rewritten");
    assert!(raw.execute("DELETE FROM entity_versions").await.is_err(), "a version was deleted");
    f.done().await;
}

async fn an_erased_entity_is_a_tombstone_without_the_content_of_any_version(f: Fixture) {
    let of = company(&f).await;
    let (made, other) = (acme(&f, &of, "Acme").await, acme(&f, &of, "Beta").await);
    let won = EntityChange { version: 1, title: Some("Acme Inc".into()), fields: values(json!({ "stage": "Won" })) };
    entity::update(&f.ledger, &f.other_member, made.id, won.clone()).await.unwrap();
    for who in [&f.operator, &f.member] {
        assert!(matches!(entity::erase(&f.ledger, who, made.id).await, Err(Error::Forbidden(_))));
    }
    f.clock.advance(chrono::TimeDelta::seconds(5));
    let tombstone = entity::erase(&f.ledger, &f.admin, made.id).await.unwrap();
    let (by, at) = (f.admin.caller.to_string(), f.ledger.now());
    assert_eq!((tombstone.title.as_str(), tombstone.fields.len(), tombstone.version), ("(erased)", 0, 2));
    assert_eq!((&tombstone.updated_by, tombstone.updated_at, tombstone.erased_at), (&by, at, Some(at)));
    let versions = entity::list_versions(&f.ledger, &f.member, made.id, Default::default()).await.unwrap().items;
    let shown: Vec<_> = versions.iter().map(|one| (one.title.as_str(), one.fields.len(), &one.actor)).collect();
    let (mia, max) = (f.member.caller.to_string(), f.other_member.caller.to_string());
    assert_eq!(shown, [("(erased)", 0, &max), ("(erased)", 0, &mia)]);
    let columns = ["entities.title", "entities.fields", "entity_versions.title", "entity_versions.fields"];
    assert_eq!(crate::retention::columns_with(&f, "Acme", &columns).await, Vec::<&str>::new());
    assert_eq!(crate::retention::columns_with(&f, "Won", &columns).await, Vec::<&str>::new());

    f.clock.advance(chrono::TimeDelta::seconds(5));
    assert_eq!(entity::erase(&f.ledger, &f.admin, made.id).await.unwrap(), tombstone, "a repeat changes nothing");
    for version in [1, 2] {
        let late = EntityChange { version, ..won.clone() };
        let refused = entity::update(&f.ledger, &f.member, made.id, late).await;
        assert!(matches!(refused, Err(Error::EntityErased)), "{refused:?}");
    }
    let listed = entity::list(&f.ledger, &f.member, ListEntities::default()).await.unwrap().items;
    assert_eq!(listed.iter().map(|one| one.id).collect::<Vec<_>>(), [other.id], "a tombstone is in no list");
    let mut raw = f.engine.raw().await;
    for forged in [
        "UPDATE entities SET title = 'forged' WHERE erased_at IS NOT NULL",
        "UPDATE entities SET erased_at = NULL WHERE erased_at IS NOT NULL",
        "UPDATE entities SET erased_at = 1 WHERE erased_at IS NULL",
        "UPDATE entity_versions SET title = '(erased)', fields = '{}' WHERE title = 'Beta'",
        "UPDATE entity_versions SET title = 'forged' WHERE title = '(erased)'",
    ] {
        assert!(raw.execute(forged).await.is_err(), "{forged}");
    }
    let nobody = entity::erase(&f.ledger, &f.admin, EntityId(uuid::Uuid::nil())).await;
    assert!(matches!(nobody, Err(Error::NotFound("entity"))), "{nobody:?}");
    f.done().await;
}

async fn a_write_from_an_older_version_is_refused_and_changes_nothing(f: Fixture) {
    let made = acme(&f, &company(&f).await, "Acme").await;
    let change = |title: &str| EntityChange { version: 1, title: Some(title.into()), fields: Values::new() };
    entity::update(&f.ledger, &f.member, made.id, change("First")).await.unwrap();
    for version in [1, 3] {
        let stale = EntityChange { version, ..change("Second") };
        let refused = entity::update(&f.ledger, &f.other_member, made.id, stale).await;
        assert!(matches!(refused, Err(Error::StaleVersion { current: 2, .. })), "{refused:?}");
    }
    assert_eq!(entity::get(&f.ledger, &f.member, made.id).await.unwrap().title, "First");
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM entity_versions").await, 2);
    f.done().await;
}

async fn two_writers_of_one_version_make_one_new_version(f: Fixture) {
    let made = acme(&f, &company(&f).await, "Acme").await;
    let write = |n: u32| {
        let change = EntityChange { version: 1, title: Some(format!("By {n}")), fields: Values::new() };
        entity::update(&f.ledger, &f.member, made.id, change)
    };
    let all = futures_util::future::join_all((0..8).map(write)).await;
    let (won, lost): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 7));
    assert!(lost.iter().all(|r| matches!(r, Err(Error::StaleVersion { given: 1, current: 2 }))), "{lost:?}");
    f.done().await;
}

async fn wrong_values_are_refused_by_the_field(f: Fixture) {
    let of = company(&f).await;
    let new = NewEntity {
        type_id: of.id,
        title: "two\nlines".into(),
        fields: values(json!({ "stage": "Maybe", "size": "big", "nope": 1, "parent": "acme" })),
    };
    let refused = fields_of(entity::create(&f.ledger, &f.member, new).await);
    assert_eq!(refused, ["title", "fields.nope", "fields.stage", "fields.size", "fields.parent"]);
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM entities").await, 0);
    f.done().await;
}

async fn a_relation_leads_to_an_entity_of_its_type_in_the_same_workspace(f: Fixture) {
    let of = company(&f).await;
    let parent = acme(&f, &of, "Parent").await;
    let person = NewEntityType { name: "Person".into(), ..Default::default() };
    let person = entity_type::create(&f.ledger, &f.admin, person).await.unwrap();
    let new = NewEntity { type_id: person.id, title: "Pia".into(), fields: Values::new() };
    let pia = entity::create(&f.ledger, &f.member, new).await.unwrap();
    let child = acme(&f, &of, "Child").await;
    let nowhere = EntityId(uuid::Uuid::from_u128(7));
    for wrong in [pia.id, nowhere] {
        let change = EntityChange { version: 1, title: None, fields: values(json!({ "parent": wrong })) };
        assert_eq!(fields_of(entity::update(&f.ledger, &f.member, child.id, change).await), ["fields.parent"]);
    }
    let change = EntityChange { version: 1, title: None, fields: values(json!({ "parent": parent.id })) };
    entity::update(&f.ledger, &f.member, child.id, change).await.unwrap();
    let to_nothing = FieldDef { relation_type: Some("planet".into()), ..field("home", FieldType::Relation) };
    let new = NewEntityType { name: "Pet".into(), slug: None, fields: vec![to_nothing] };
    assert_eq!(fields_of(entity_type::create(&f.ledger, &f.admin, new).await), ["fields[0].relationType"]);
    f.done().await;
}

async fn another_workspace_finds_no_entity_type_entity_or_import(f: Fixture) {
    let of = company(&f).await;
    let made = acme(&f, &of, "Acme").await;
    let file = || import::NewImport { source: "Name\nBeta\n".into(), mapping: None };
    let started = import::begin(&f.ledger, &f.member, of.id, file()).await.unwrap();
    let (l, s) = (&f.ledger, &f.stranger);
    let change = EntityChange { version: 1, ..Default::default() };
    let type_change = EntityTypeChange { version: 1, ..Default::default() };
    let new = NewEntity { type_id: of.id, title: "x".into(), fields: Values::new() };
    let not_found = |what: &str, refused: Option<Error>| {
        assert!(matches!(refused, Some(Error::NotFound(_))), "{what}: {refused:?}")
    };
    not_found("get", entity::get(l, s, made.id).await.err());
    not_found("update", entity::update(l, s, made.id, change).await.err());
    not_found("versions", entity::list_versions(l, s, made.id, ledger::ListPage::default()).await.err());
    not_found("sessions", entity::list_sessions(l, s, made.id, None, false).await.err());
    not_found("create", entity::create(l, s, new).await.err());
    not_found("type", entity_type::get(l, s, of.id).await.err());
    not_found("type by slug", entity_type::get_by_slug(l, s, "company").await.err());
    not_found("update type", entity_type::update(l, s, of.id, type_change).await.err());
    not_found("preview", import::preview(l, s, of.id, file()).await.err());
    not_found("begin import", import::begin(l, s, of.id, file()).await.err());
    not_found("import", import::get(l, s, started.id).await.err());
    assert!(entity::list(l, s, ListEntities::default()).await.unwrap().items.is_empty());
    let of_type = ListEntities { type_id: Some(of.id), ..Default::default() };
    assert!(entity::list(l, s, of_type).await.unwrap().items.is_empty());
    assert!(entity_type::list(l, s, Default::default()).await.unwrap().items.is_empty());
    assert!(entity::titles(l, s, &[made.id]).await.unwrap().is_empty());
    // An action of the other workspace cannot target the entity either.
    let new = action::NewAction { name: "x".into(), target_entity_id: Some(made.id), ..Default::default() };
    assert_eq!(fields_of(action::create(l, s, new).await), ["targetEntityId"]);
    let theirs = action::create(l, s, action::NewAction { name: "y".into(), ..Default::default() }).await.unwrap();
    let change = action::ActionChange { target_entity_id: Some(Some(made.id)), ..Default::default() };
    assert_eq!(fields_of(action::update(l, s, theirs.id, change).await), ["targetEntityId"]);
    // The slug is free in the other workspace.
    entity_type::create(l, s, NewEntityType { name: "Company".into(), ..Default::default() }).await.unwrap();
    assert_eq!(entity::get(l, &f.admin, made.id).await.unwrap(), made);
    f.done().await;
}

async fn roles_bound_who_writes_entities_and_types(f: Fixture) {
    let of = company(&f).await;
    let made = acme(&f, &of, "Acme").await;
    for low in [f.member, f.worker] {
        let new = NewEntityType { name: "x".into(), ..Default::default() };
        assert!(matches!(entity_type::create(&f.ledger, &low, new).await, Err(Error::Forbidden(_))));
        let change = EntityTypeChange { version: 1, ..Default::default() };
        assert!(matches!(entity_type::update(&f.ledger, &low, of.id, change).await, Err(Error::Forbidden(_))));
    }
    let new = NewEntity { type_id: of.id, title: "x".into(), fields: Values::new() };
    assert!(matches!(entity::create(&f.ledger, &f.worker, new).await, Err(Error::Forbidden(_))));
    let change = EntityChange { version: 1, ..Default::default() };
    assert!(matches!(entity::update(&f.ledger, &f.worker, made.id, change).await, Err(Error::Forbidden(_))));
    let file = import::NewImport { source: "Name\nx\n".into(), mapping: None };
    assert!(matches!(import::begin(&f.ledger, &f.worker, of.id, file).await, Err(Error::Forbidden(_))));
    assert_eq!(entity::get(&f.ledger, &f.worker, made.id).await.unwrap(), made);
    f.done().await;
}

async fn titles_of_many_entities_come_in_one_answer_without_repeats_or_strangers(f: Fixture) {
    let of = company(&f).await;
    let (a, b) = (acme(&f, &of, "Acme").await, acme(&f, &of, "Beta 日本").await);
    let nowhere = EntityId(uuid::Uuid::from_u128(7));
    let titles = entity::titles(&f.ledger, &f.member, &[b.id, a.id, b.id, nowhere, a.id]).await.unwrap();
    let title = |of: &EntityRecord| (of.id, of.title.clone(), "company".to_owned());
    let mut expected = vec![title(&a), title(&b)];
    expected.sort();
    let titles: Vec<_> = titles.into_iter().map(|found| (found.id, found.title, found.type_slug)).collect();
    assert_eq!(titles, expected);
    assert!(entity::titles(&f.ledger, &f.member, &[]).await.unwrap().is_empty());
    // Repeated ids count once. Ids beyond the limit are left out.
    let mut many = vec![a.id; ENTITY_TITLES_MAX * 2];
    many.push(b.id);
    assert_eq!(entity::titles(&f.ledger, &f.member, &many).await.unwrap().len(), 2);
    let mut many: Vec<EntityId> = (0..ENTITY_TITLES_MAX as u128).map(|n| EntityId(uuid::Uuid::from_u128(n))).collect();
    many.push(a.id);
    assert!(entity::titles(&f.ledger, &f.member, &many).await.unwrap().is_empty());
    f.done().await;
}

async fn entities_are_listed_by_type_and_title_page_by_page(f: Fixture) {
    let of = company(&f).await;
    for n in 0..5 {
        f.clock.advance(chrono::TimeDelta::milliseconds(2));
        acme(&f, &of, &format!("Acme {n}")).await;
    }
    acme(&f, &of, "100% of_it").await;
    let other = NewEntityType { name: "Person".into(), ..Default::default() };
    let other = entity_type::create(&f.ledger, &f.admin, other).await.unwrap();
    let listed = |query: ListEntities| {
        let ledger = &f.ledger;
        async move { entity::list(ledger, &f.member, query).await.unwrap() }
    };
    let mut titles = Vec::new();
    let mut cursor = None;
    loop {
        let query =
            ListEntities { type_id: Some(of.id), title_contains: Some("aCME".into()), line: None, limit: 2, cursor };
        let page = listed(query).await;
        titles.extend(page.items.into_iter().map(|e| e.title));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(titles, ["Acme 4", "Acme 3", "Acme 2", "Acme 1", "Acme 0"]);
    let literal = ListEntities { title_contains: Some("% of_".into()), ..Default::default() };
    assert_eq!(listed(literal).await.items.len(), 1);
    assert_eq!(listed(ListEntities::default()).await.items.len(), 6);
    acme(&f, &of, "Отчёт Über").await;
    for text in ["Отчёт Über", "отчёт über", "ОТЧЁТ ÜBER"] {
        let query = ListEntities { title_contains: Some(text.into()), ..Default::default() };
        assert_eq!(listed(query).await.items.len(), 1, "{text}");
    }
    let none = ListEntities { type_id: Some(other.id), ..Default::default() };
    assert!(listed(none).await.items.is_empty());
    f.done().await;
}

async fn a_type_changes_under_its_version_and_keeps_its_slug(f: Fixture) {
    let of = company(&f).await;
    let made = acme(&f, &of, "Acme").await;
    let taken = NewEntityType { name: "Company!".into(), slug: Some("company".into()), fields: Vec::new() };
    assert!(matches!(entity_type::create(&f.ledger, &f.admin, taken).await, Err(Error::NameTaken(_))));
    let fields = vec![FieldDef { required: true, ..field("owner", FieldType::Text) }];
    let change = EntityTypeChange { version: 1, name: Some("Account".into()), fields: Some(fields) };
    let changed = entity_type::update(&f.ledger, &f.admin, of.id, change.clone()).await.unwrap();
    assert_eq!((changed.version, changed.slug.as_str(), changed.name.as_str()), (2, "company", "Account"));
    let stale = entity_type::update(&f.ledger, &f.admin, of.id, change).await;
    assert!(matches!(stale, Err(Error::StaleVersion { given: 1, current: 2 })), "{stale:?}");
    // Existing values stay until they are written. Then they have to be valid.
    assert_eq!(json!(entity::get(&f.ledger, &f.member, made.id).await.unwrap().fields), json!({ "stage": "Lead" }));
    let rename = EntityChange { version: 1, title: Some("A".into()), fields: Values::new() };
    assert_eq!(fields_of(entity::update(&f.ledger, &f.member, made.id, rename.clone()).await), ["fields.owner"]);
    let with_owner = EntityChange { fields: values(json!({ "owner": "Mia" })), ..rename };
    let written = entity::update(&f.ledger, &f.member, made.id, with_owner).await.unwrap();
    assert_eq!(json!(written.fields), json!({ "owner": "Mia" }));
    f.done().await;
}

async fn an_action_leads_its_sessions_and_their_children_to_its_entity(f: Fixture) {
    let of = company(&f).await;
    let (about, elsewhere) = (acme(&f, &of, "Acme").await, acme(&f, &of, "Beta").await);
    let new = action::NewAction {
        name: "Qualify".into(),
        agent_slug: Some("scout".into()),
        target_entity_id: Some(about.id),
        output_config: Some(r#"{"fields":["stage"]}"#.into()),
        ..Default::default()
    };
    let task = action::create(&f.ledger, &f.operator, new).await.unwrap();
    let query = action::ListActions { target_entity_id: Some(about.id), ..Default::default() };
    let tasks = action::list(&f.ledger, &f.member, query).await.unwrap().items;
    assert_eq!(tasks.iter().map(|a| a.id).collect::<Vec<_>>(), [task.id]);
    let run = action::trigger(&f.ledger, &f.member, task.id, Default::default()).await.unwrap();
    assert_eq!(run.entity_id, Some(about.id));
    f.clock.advance(chrono::TimeDelta::milliseconds(2));
    let child = NewSession { parent_id: Some(run.id), ..NewSession::of_type(Type::Tool) };
    let child = session::create(&f.ledger, &f.member, child).await.unwrap();
    assert_eq!(child.entity_id, Some(about.id), "a step of work on an entity is work on it");
    // The task gets another target. Its earlier sessions keep their entity.
    let turn = action::ActionChange { target_entity_id: Some(Some(elsewhere.id)), ..Default::default() };
    action::update(&f.ledger, &f.operator, task.id, turn).await.unwrap();
    assert_eq!(session::get(&f.ledger, &f.member, run.id).await.unwrap().entity_id, Some(about.id));
    f.clock.advance(chrono::TimeDelta::seconds(1));
    f.claim(10, 60).await;
    f.clock.advance(chrono::TimeDelta::milliseconds(1_500));
    let failure = session::Failure { attempt: 1, message: "no luck".into(), code: None, usage: None };
    session::fail(&f.ledger, &f.worker, run.id, failure).await.unwrap();

    let listed = |parents_only| entity::list_sessions(&f.ledger, &f.member, about.id, None, parents_only);
    let parents = listed(true).await.unwrap();
    assert_eq!(parents.len(), 1);
    let parent = &parents[0];
    assert_eq!((parent.id, parent.child_count, parent.status), (run.id, 1, Status::Failed));
    assert_eq!((parent.action_slug.as_deref(), parent.action_name.as_deref()), (Some("qualify"), Some("Qualify")));
    assert_eq!(parent.error_message.as_deref(), Some("no luck"));
    assert_eq!((parent.completed_at.unwrap() - parent.started_at.unwrap()).num_milliseconds(), 1_500);
    let all = listed(false).await.unwrap();
    assert_eq!(all.iter().map(|s| (s.id, s.parent_id)).collect::<Vec<_>>(), [(child.id, Some(run.id)), (run.id, None)]);
    assert!(entity::list_sessions(&f.ledger, &f.member, elsewhere.id, None, false).await.unwrap().is_empty());
    f.done().await;
}

async fn the_dots_of_an_entity_follow_the_newest_session_of_each_field(f: Fixture) {
    let about = acme(&f, &company(&f).await, "Acme").await;
    let new = |fields: &str| action::NewAction {
        name: "Fill".into(),
        agent_slug: Some("scout".into()),
        target_entity_id: Some(about.id),
        output_config: Some(format!(r#"{{"fields":[{fields}],"blocks":["history"]}}"#)),
        ..Default::default()
    };
    let both = action::create(&f.ledger, &f.operator, new(r#""stage","size""#)).await.unwrap();
    let one = action::create(&f.ledger, &f.operator, new(r#""stage""#)).await.unwrap();
    action::trigger(&f.ledger, &f.member, both.id, Default::default()).await.unwrap();
    let running = f.claim(1, 60).await.pop().unwrap();
    session::complete(&f.ledger, &f.worker, running.id, session::Completion { attempt: 1, result: None, usage: None })
        .await
        .unwrap();
    f.clock.advance(chrono::TimeDelta::seconds(1));
    for _ in 0..ENTITY_SESSIONS_MAX + 1 {
        action::trigger(&f.ledger, &f.member, one.id, Default::default()).await.unwrap();
    }
    let limited = entity::list_sessions(&f.ledger, &f.member, about.id, Some(5_000), true).await.unwrap();
    assert_eq!(limited.len(), ENTITY_SESSIONS_MAX as usize);
    let read = entity::list_sessions(&f.ledger, &f.member, about.id, None, true).await.unwrap();
    assert_eq!(read.len(), 20);
    let map = entity::status_map(&read);
    assert_eq!(json!(map.by_field_name), json!({ "stage": "pending" }));
    assert_eq!(json!(map.by_block_id), json!({ "history": "pending" }));
    f.done().await;
}
