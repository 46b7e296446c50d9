//! Criteria sets, of which every version is kept, and groups of people.

use crate::at_once::one_is_over_the_limit;
use domain::{
    criteria_set::{ChoiceStyle, Dimension, evaluate_safety_gate},
    id::UserId,
    limit::{GROUP_MEMBERS_MAX, GROUPS_MAX},
};
use ledger::{
    CriteriaSetRecord, Error, GroupRecord, ListPage,
    criteria_set::{self, CriteriaSetChange, NewCriteriaSet},
    group::{self, GroupChange, NewGroup},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    every_version_of_a_criteria_set_stays_readable,
    a_change_of_an_older_version_is_refused,
    two_changes_of_one_version_make_one_new_version,
    wrong_dimensions_are_refused_by_their_path,
    another_workspace_finds_no_criteria_set_or_group,
    operators_change_criteria_sets_and_groups_and_everyone_reads_them,
    criteria_sets_are_listed_page_by_page,
    people_come_to_a_group_and_go_one_by_one,
    a_group_accepts_only_members_and_a_limited_number_of_them,
);

fn dimensions(json: Value) -> Vec<Dimension> {
    serde_json::from_value(json).unwrap()
}

fn safety() -> Vec<Dimension> {
    dimensions(json!([{ "slug": "phi_safety", "type": "select", "options": ["pass", "fail"],
        "optionStyles": { "fail": { "style": "negative", "score": 0.1, "hardBlock": true }, "pass": { "score": 1 } } }]))
}

/// Creates the criteria set `brand-safety`: one select with a hard block.
pub async fn brand_safety(f: &Fixture) -> CriteriaSetRecord {
    let new = NewCriteriaSet { name: "Brand safety".into(), dimensions: safety(), ..Default::default() };
    criteria_set::create(&f.ledger, &f.operator, new).await.unwrap()
}

/// Creates the group `compliance` with the member.
pub async fn compliance(f: &Fixture) -> GroupRecord {
    let new = NewGroup { name: "Compliance".into(), slug: None, members: vec![f.member.user_id().unwrap()] };
    group::create(&f.ledger, &f.operator, new).await.unwrap()
}

pub fn fields_of<T: std::fmt::Debug>(refused: Result<T, Error>) -> Vec<String> {
    match refused {
        Err(Error::Invalid(fields)) => fields.into_iter().map(|e| e.field).collect(),
        other => panic!("{other:?}"),
    }
}

async fn every_version_of_a_criteria_set_stays_readable(f: Fixture) {
    let first = brand_safety(&f).await;
    assert_eq!((first.slug.as_str(), first.version, first.newest_version), ("brand-safety", 1, 1));
    f.clock.advance(chrono::TimeDelta::seconds(5));
    let tone = dimensions(json!([{ "slug": "tone", "name": "Tone", "type": "scale", "min": 1, "max": 5 }]));
    let change = CriteriaSetChange { version: 1, dimensions: Some(tone.clone()), ..Default::default() };
    let second = criteria_set::update(&f.ledger, &f.admin, first.id, change).await.unwrap();
    let again = CriteriaSetChange { version: 2, dimensions: Some(tone), ..Default::default() };
    let unchanged = criteria_set::update(&f.ledger, &f.operator, first.id, again).await.unwrap();
    assert_eq!(unchanged, second, "a change that changes nothing wrote a version");
    assert_eq!(criteria_set::get(&f.ledger, &f.member, first.id, None).await.unwrap(), second);
    assert_eq!((second.version, second.updated_by.clone()), (2, f.admin.caller.to_string()));
    assert_eq!((second.updated_at - first.updated_at).num_seconds(), 5);

    // The first version is unchanged, including its hard block.
    let read = criteria_set::get(&f.ledger, &f.member, first.id, Some(1)).await.unwrap();
    assert_eq!(read, CriteriaSetRecord { newest_version: 2, ..first.clone() });
    let fail = &read.dimensions[0].options[1];
    assert_eq!((fail.style, fail.score, fail.hard_block), (ChoiceStyle::Negative, Some(0.1), true));
    let staged = json!({ "phi_safety": "fail" });
    assert!(evaluate_safety_gate(staged.as_object().unwrap(), &read.dimensions).refusal().is_some());
    let missing = criteria_set::get(&f.ledger, &f.member, first.id, Some(3)).await;
    assert!(matches!(missing, Err(Error::NotFound(_))), "{missing:?}");

    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let query = ListPage { limit: 1, cursor };
        let page = criteria_set::list_versions(&f.ledger, &f.member, first.id, query).await.unwrap();
        seen.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, [second, read]);
    let mut raw = f.engine.raw().await;
    assert!(
        raw.execute("UPDATE criteria_set_versions SET dimensions = '[]'").await.is_err(),
        "a version was rewritten"
    );
    assert!(raw.execute("DELETE FROM criteria_set_versions").await.is_err(), "a version was deleted");
    f.done().await;
}

async fn a_change_of_an_older_version_is_refused(f: Fixture) {
    let made = brand_safety(&f).await;
    let change = |version, name: &str| CriteriaSetChange { version, name: Some(name.into()), ..Default::default() };
    criteria_set::update(&f.ledger, &f.operator, made.id, change(1, "First")).await.unwrap();
    for version in [0, 1, 3] {
        let refused = criteria_set::update(&f.ledger, &f.admin, made.id, change(version, "Second")).await;
        assert!(matches!(refused, Err(Error::StaleVersion { current: 2, .. })), "{refused:?}");
    }
    assert_eq!(criteria_set::get(&f.ledger, &f.member, made.id, None).await.unwrap().name, "First");
    f.done().await;
}

async fn two_changes_of_one_version_make_one_new_version(f: Fixture) {
    let made = brand_safety(&f).await;
    let write = |n: u32| {
        let change = CriteriaSetChange { version: 1, name: Some(format!("By {n}")), ..Default::default() };
        criteria_set::update(&f.ledger, &f.operator, made.id, change)
    };
    let all = futures_util::future::join_all((0..8).map(write)).await;
    let (won, lost): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 7));
    assert!(lost.iter().all(|r| matches!(r, Err(Error::StaleVersion { given: 1, current: 2 }))), "{lost:?}");
    f.done().await;
}

async fn wrong_dimensions_are_refused_by_their_path(f: Fixture) {
    let wrong = dimensions(json!([
        { "slug": "a", "type": "select" },
        { "slug": "a", "name": " ", "type": "scale", "min": 5, "max": 1 },
    ]));
    let new = NewCriteriaSet { name: "x\ny".into(), slug: Some("X".into()), dimensions: wrong, ..Default::default() };
    let refused = fields_of(criteria_set::create(&f.ledger, &f.operator, new).await);
    let paths =
        ["name", "slug", "dimensions[0].options", "dimensions[1].slug", "dimensions[1].name", "dimensions[1].max"];
    assert_eq!(refused, paths);
    let empty = NewCriteriaSet { name: "Empty".into(), ..Default::default() };
    assert_eq!(fields_of(criteria_set::create(&f.ledger, &f.operator, empty).await), ["dimensions"]);
    let nameless = NewCriteriaSet { name: "日本".into(), dimensions: safety(), ..Default::default() };
    assert_eq!(fields_of(criteria_set::create(&f.ledger, &f.operator, nameless).await), ["slug"]);
    let made = brand_safety(&f).await;
    let change = CriteriaSetChange { version: 1, dimensions: Some(Vec::new()), ..Default::default() };
    assert_eq!(fields_of(criteria_set::update(&f.ledger, &f.operator, made.id, change).await), ["dimensions"]);
    let taken = NewCriteriaSet { name: "Brand Safety".into(), dimensions: safety(), ..Default::default() };
    let taken = criteria_set::create(&f.ledger, &f.operator, taken).await;
    assert!(matches!(taken, Err(Error::NameTaken(_))), "{taken:?}");
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM criteria_set_versions").await, 1);
    f.done().await;
}

async fn another_workspace_finds_no_criteria_set_or_group(f: Fixture) {
    let (set, team) = (brand_safety(&f).await, compliance(&f).await);
    let (l, s) = (&f.ledger, &f.stranger);
    let not_found = |what: &str, refused: Option<Error>| {
        assert!(matches!(refused, Some(Error::NotFound(_))), "{what}: {refused:?}")
    };
    let change = CriteriaSetChange { version: 1, name: Some("Stolen".into()), ..Default::default() };
    let rename = GroupChange { name: Some("Stolen".into()), ..Default::default() };
    not_found("get", criteria_set::get(l, s, set.id, None).await.err());
    not_found("get version", criteria_set::get(l, s, set.id, Some(1)).await.err());
    not_found("versions", criteria_set::list_versions(l, s, set.id, ListPage::default()).await.err());
    not_found("update", criteria_set::update(l, s, set.id, change).await.err());
    not_found("group", group::get(l, s, team.id).await.err());
    not_found("update group", group::update(l, s, team.id, rename).await.err());
    assert!(criteria_set::list(l, s, ListPage::default()).await.unwrap().items.is_empty());
    assert!(group::list(l, s).await.unwrap().is_empty());
    // The slugs are free in the other workspace, and what it creates is not visible in this one.
    let new = NewCriteriaSet { name: "Brand safety".into(), dimensions: safety(), ..Default::default() };
    criteria_set::create(l, s, new).await.unwrap();
    let new = NewGroup { name: "Compliance".into(), slug: None, members: vec![s.user_id().unwrap()] };
    group::create(l, s, new).await.unwrap();
    assert_eq!(criteria_set::get(l, &f.member, set.id, None).await.unwrap(), set);
    assert_eq!(group::list(l, &f.member).await.unwrap(), [team]);
    f.done().await;
}

async fn operators_change_criteria_sets_and_groups_and_everyone_reads_them(f: Fixture) {
    let (set, team) = (brand_safety(&f).await, compliance(&f).await);
    let me = f.member.user_id().unwrap();
    for low in [f.member, f.worker] {
        let new = NewCriteriaSet { name: "x".into(), dimensions: safety(), ..Default::default() };
        assert!(matches!(criteria_set::create(&f.ledger, &low, new).await, Err(Error::Forbidden(_))));
        let change = CriteriaSetChange { version: 1, ..Default::default() };
        assert!(matches!(criteria_set::update(&f.ledger, &low, set.id, change).await, Err(Error::Forbidden(_))));
        let new = NewGroup { name: "x".into(), ..Default::default() };
        assert!(matches!(group::create(&f.ledger, &low, new).await, Err(Error::Forbidden(_))));
        let join = GroupChange { add_members: vec![me], ..Default::default() };
        assert!(matches!(group::update(&f.ledger, &low, team.id, join).await, Err(Error::Forbidden(_))));
        assert_eq!(criteria_set::get(&f.ledger, &low, set.id, None).await.unwrap(), set);
        assert_eq!(group::get(&f.ledger, &low, team.id).await.unwrap(), team);
    }
    f.done().await;
}

async fn criteria_sets_are_listed_page_by_page(f: Fixture) {
    let mut made = Vec::new();
    for n in 0..5 {
        f.clock.advance(chrono::TimeDelta::seconds(1));
        let new = NewCriteriaSet { name: format!("Set {n}"), dimensions: safety(), ..Default::default() };
        made.push(criteria_set::create(&f.ledger, &f.operator, new).await.unwrap().slug);
    }
    made.reverse();
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let query = ListPage { limit: 2, cursor };
        let page = criteria_set::list(&f.ledger, &f.member, query).await.unwrap();
        assert!(page.items.len() <= 2);
        seen.extend(page.items.into_iter().map(|set| set.slug));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, made);
    let query = ListPage { limit: 0, cursor: Some("nonsense".into()) };
    assert!(matches!(criteria_set::list(&f.ledger, &f.member, query).await, Err(Error::InvalidCursor)));
    f.done().await;
}

fn emails(group: &GroupRecord) -> Vec<&str> {
    group.members.iter().map(|(_, email)| email.as_str()).collect()
}

async fn people_come_to_a_group_and_go_one_by_one(f: Fixture) {
    let team = compliance(&f).await;
    assert_eq!(emails(&team), ["mia@acme.test"]);
    let (mia, max, ada) = (f.member.user_id().unwrap(), f.other_member.user_id().unwrap(), f.admin.user_id().unwrap());
    // Two people change the group concurrently, and neither change is lost.
    let add = |id| GroupChange { add_members: vec![id], ..Default::default() };
    let (one, two) = futures_util::future::join(
        group::update(&f.ledger, &f.admin, team.id, add(max)),
        group::update(&f.ledger, &f.operator, team.id, add(ada)),
    )
    .await;
    one.unwrap();
    two.unwrap();
    let all = group::get(&f.ledger, &f.member, team.id).await.unwrap();
    assert_eq!(emails(&all), ["ada@acme.test", "max@acme.test", "mia@acme.test"]);
    let change =
        GroupChange { name: Some("Legal".into()), add_members: vec![max, max], remove_members: vec![mia, ada, ada] };
    let after = group::update(&f.ledger, &f.operator, team.id, change).await.unwrap();
    assert_eq!((after.name.as_str(), after.slug.as_str()), ("Legal", "compliance"));
    assert_eq!(emails(&after), ["max@acme.test"]);
    assert_eq!(group::list(&f.ledger, &f.member).await.unwrap(), [after]);
    let both = GroupChange { add_members: vec![mia], remove_members: vec![mia], ..Default::default() };
    assert_eq!(fields_of(group::update(&f.ledger, &f.operator, team.id, both).await), ["removeMembers"]);
    f.done().await;
}

async fn a_group_accepts_only_members_and_a_limited_number_of_them(f: Fixture) {
    let (sam, nobody) = (f.stranger.user_id().unwrap(), UserId(uuid::Uuid::from_u128(7)));
    let new = NewGroup { name: "Odd".into(), slug: None, members: vec![f.admin.user_id().unwrap(), sam, nobody] };
    assert_eq!(fields_of(group::create(&f.ledger, &f.admin, new).await), ["members[1]", "members[2]"]);
    let team = compliance(&f).await;
    let change = GroupChange { add_members: vec![sam], ..Default::default() };
    assert_eq!(fields_of(group::update(&f.ledger, &f.admin, team.id, change).await), ["addMembers[0]"]);
    let many = vec![f.admin.user_id().unwrap(); GROUP_MEMBERS_MAX + 1];
    let change = GroupChange { add_members: many, ..Default::default() };
    assert_eq!(fields_of(group::update(&f.ledger, &f.admin, team.id, change).await), ["addMembers"]);
    let taken = NewGroup { name: "Compliance".into(), ..Default::default() };
    assert!(matches!(group::create(&f.ledger, &f.admin, taken).await, Err(Error::NameTaken(_))));
    let new = |name: String| group::create(&f.ledger, &f.operator, NewGroup { name, ..Default::default() });
    for n in 2..GROUPS_MAX {
        new(format!("Group {n}")).await.unwrap();
    }
    let (one, other) = tokio::join!(new("One".into()), new("Other".into()));
    one_is_over_the_limit(one, other);
    assert_eq!(group::list(&f.ledger, &f.member).await.unwrap().len(), GROUPS_MAX as usize);
    f.done().await;
}
