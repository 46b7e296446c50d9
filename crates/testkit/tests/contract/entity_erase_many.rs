//! Erasing several entities: the preview, what happens to each, repeats, and who may do it.

use crate::entity::{acme, company, values};
use chrono::TimeDelta;
use domain::{Scope, id::EntityId, limit::BULK_ENTITIES_MAX};
use ledger::{
    EntityRecord, Error, action,
    entity::{self, EntityChange, EraseMany, Erasing, ListEntities, ShownEntity},
};
use serde_json::json;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    each_of_1_2_7_and_40_entities_is_erased_once_however_often_it_is_sent,
    what_changed_since_it_was_shown_is_left_and_the_others_are_erased,
    only_admins_erase_several_entities_and_only_those_of_their_workspace,
    the_preview_counts_versions_values_and_sessions_of_each_entity,
);

/// Creates entities of the type `company`, a second apart.
async fn companies(f: &Fixture, count: usize) -> Vec<EntityRecord> {
    let of = company(f).await;
    let mut made = Vec::new();
    for number in 0..count {
        f.clock.advance(TimeDelta::seconds(1));
        made.push(acme(f, &of, &format!("Acme {number}")).await);
    }
    made
}

fn with_versions(entities: &[EntityRecord]) -> Vec<ShownEntity> {
    entities.iter().map(|one| ShownEntity { id: one.id, version: one.version }).collect()
}

fn ids(entities: &[EntityRecord]) -> Vec<EntityId> {
    entities.iter().map(|one| one.id).collect()
}

async fn erase(f: &Fixture, who: &Scope, entities: &[EntityRecord]) -> EraseMany {
    entity::erase_many(&f.ledger, who, &with_versions(entities)).await.unwrap()
}

async fn listed(f: &Fixture) -> Vec<EntityId> {
    let query = ListEntities { limit: 1_000, ..ListEntities::default() };
    entity::list(&f.ledger, &f.member, query).await.unwrap().items.into_iter().map(|one| one.id).collect()
}

async fn each_of_1_2_7_and_40_entities_is_erased_once_however_often_it_is_sent(f: Fixture) {
    let made = companies(&f, 51).await;
    let (mut rest, mut acts) = (made.as_slice(), 0);
    for count in [1, 2, 7, 40] {
        let (these, others) = rest.split_at(count);
        rest = others;
        // An entity that is named twice is one.
        let twice = [ids(these), ids(these)].concat();
        let preview = entity::erasing(&f.ledger, &f.admin, &twice).await.unwrap();
        assert_eq!(preview.entities.iter().map(|one| one.id).collect::<Vec<_>>(), ids(these));
        assert_eq!(preview.left_out, 0);
        assert_eq!(listed(&f).await.len(), 51 - acts, "a preview erased something");

        let done = erase(&f, &f.admin, these).await;
        assert_eq!(done, EraseMany { erased: count as u64, ..EraseMany::default() });
        let repeat = erase(&f, &f.admin, these).await;
        assert_eq!(repeat, EraseMany { already: count as u64, ..EraseMany::default() });
        let again = entity::erasing(&f.ledger, &f.admin, &ids(these)).await.unwrap();
        assert_eq!(again, Erasing { entities: Vec::new(), left_out: count as u64 });
        acts += count;
        let recorded =
            f.engine.raw().await.number("SELECT COUNT(*) FROM audit_entries WHERE kind = 'entity.erased'").await;
        assert_eq!(recorded, i64::try_from(acts).unwrap(), "each erasure is one act");
    }
    let mut left = ids(rest);
    left.reverse();
    assert_eq!(listed(&f).await, left);
    f.done().await;
}

async fn what_changed_since_it_was_shown_is_left_and_the_others_are_erased(f: Fixture) {
    let made = companies(&f, 3).await;
    let change = EntityChange { version: 1, title: Some("Acme Inc".into()), ..EntityChange::default() };
    entity::update(&f.ledger, &f.member, made[1].id, change).await.unwrap();
    let mut all = with_versions(&made);
    all.insert(0, ShownEntity { id: EntityId(uuid::Uuid::nil()), version: 1 });
    let done = entity::erase_many(&f.ledger, &f.admin, &all).await.unwrap();
    assert_eq!(done, EraseMany { erased: 2, already: 0, refused: 2 });
    assert_eq!(listed(&f).await, [made[1].id]);
    let kept = entity::get(&f.ledger, &f.member, made[1].id).await.unwrap();
    assert_eq!((kept.title.as_str(), kept.erased_at), ("Acme Inc", None));
    f.done().await;
}

async fn only_admins_erase_several_entities_and_only_those_of_their_workspace(f: Fixture) {
    let made = companies(&f, 2).await;
    for who in [&f.operator, &f.member, &f.worker] {
        let erased = entity::erase_many(&f.ledger, who, &with_versions(&made)).await;
        assert!(matches!(erased, Err(Error::Forbidden(_))), "{erased:?}");
        let preview = entity::erasing(&f.ledger, who, &ids(&made)).await;
        assert!(matches!(preview, Err(Error::Forbidden(_))), "{preview:?}");
    }
    let elsewhere = f.workspace("elsewhere").await;
    let preview = entity::erasing(&f.ledger, &elsewhere, &ids(&made)).await.unwrap();
    assert_eq!(preview, Erasing { entities: Vec::new(), left_out: 2 });
    assert_eq!(erase(&f, &elsewhere, &made).await, EraseMany { refused: 2, ..EraseMany::default() });
    assert_eq!(listed(&f).await.len(), 2);
    let too_many = vec![ShownEntity { id: made[0].id, version: 1 }; BULK_ENTITIES_MAX + 1];
    assert!(matches!(entity::erase_many(&f.ledger, &f.admin, &too_many).await, Err(Error::Invalid(_))));
    assert_eq!(listed(&f).await.len(), 2, "a refused request erases nothing");
    f.done().await;
}

async fn the_preview_counts_versions_values_and_sessions_of_each_entity(f: Fixture) {
    let made = companies(&f, 2).await;
    let fields = values(json!({ "size": 7 }));
    let change = EntityChange { version: 1, fields, ..EntityChange::default() };
    entity::update(&f.ledger, &f.member, made[0].id, change).await.unwrap();
    let about = action::NewAction { name: "x".into(), target_entity_id: Some(made[0].id), ..Default::default() };
    let task = action::create(&f.ledger, &f.operator, about).await.unwrap();
    for _ in 0..2 {
        action::trigger(&f.ledger, &f.member, task.id, Default::default()).await.unwrap();
    }
    let preview = entity::erasing(&f.ledger, &f.admin, &ids(&made)).await.unwrap();
    let counts = preview.entities.iter().map(|one| (one.title.as_str(), one.version, one.values, one.sessions));
    assert_eq!(counts.collect::<Vec<_>>(), [("Acme 0", 2, 2, 2), ("Acme 1", 1, 1, 0)]);
    assert!(preview.entities.iter().all(|one| one.type_name == "Company"), "{preview:?}");
    f.done().await;
}
