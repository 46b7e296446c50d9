//! Saved searches: whose they are, who sees them, and who deletes them.

use crate::at_once::one_is_over_the_limit;
use domain::{
    Scope,
    id::SavedSearchId,
    limit::{SAVED_SEARCH_COUNT_MAX, SAVED_SEARCHES_OF_PERSON_MAX, SAVED_SEARCHES_SHARED_MAX},
};
use ledger::{
    Error, SavedSearchRecord,
    member::{self, Withdrawal},
    page::sessions::{self as page, Beside},
    search::{self, NewSavedSearch},
    session::ListSessions,
    thread::{self, NewThread},
};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_search_is_saved_in_canonical_form_and_a_repeat_changes_nothing,
    a_person_sees_their_own_searches_and_the_shared_ones,
    a_line_that_is_none_is_refused_with_its_place,
    operators_share_and_delete_shared_searches,
    a_person_has_a_bounded_number_of_searches_and_a_workspace_of_shared_ones,
    the_searches_of_a_removed_person_go_and_shared_ones_stay,
    tokens_that_act_for_nobody_save_nothing,
    a_search_is_renamed_by_its_person_and_a_shared_one_by_operators_too,
    the_first_searches_are_counted_within_a_bound,
);

fn named(name: &str, line: &str, shared: bool) -> NewSavedSearch {
    NewSavedSearch { name: name.into(), line: line.into(), shared }
}

async fn save(f: &Fixture, who: &Scope, new: NewSavedSearch) -> ledger::Result<SavedSearchRecord> {
    search::save(&f.ledger, who, new).await
}

async fn names(f: &Fixture, who: &Scope) -> Vec<String> {
    search::saved(&f.ledger, who).await.unwrap().into_iter().map(|search| search.name).collect()
}

async fn a_search_is_saved_in_canonical_form_and_a_repeat_changes_nothing(f: Fixture) {
    let saved = save(&f, &f.member, named("Broken", "boom STATUS:failed", false)).await.unwrap();
    assert_eq!((saved.line.as_str(), saved.shared), ("status:failed boom", false));
    assert_eq!(Some(saved.user_id), f.member.user_id());
    let again = save(&f, &f.member, named("Broken", "status:failed boom", false)).await.unwrap();
    assert_eq!(again, saved);
    let taken = save(&f, &f.member, named("Broken", "status:expired", false)).await;
    assert!(matches!(taken, Err(Error::NameTaken(_))), "{taken:?}");
    save(&f, &f.other_member, named("Broken", "status:expired", false)).await.unwrap();
    assert_eq!(search::saved(&f.ledger, &f.member).await.unwrap(), [saved]);
    f.done().await;
}

async fn a_person_sees_their_own_searches_and_the_shared_ones(f: Fixture) {
    for name in ["b", "C", "a"] {
        save(&f, &f.operator, named(name, "status:failed", name == "C")).await.unwrap();
    }
    save(&f, &f.member, named("d", "by:me", false)).await.unwrap();
    assert_eq!(names(&f, &f.operator).await, ["a", "b", "C"], "by name, whatever the case");
    assert_eq!(names(&f, &f.member).await, ["C", "d"]);
    assert!(names(&f, &f.stranger).await.is_empty(), "another workspace");
    f.done().await;
}

async fn a_line_that_is_none_is_refused_with_its_place(f: Fixture) {
    for (name, line, field) in [
        ("", "status:failed", "name"),
        ("a\u{202E}b", "status:failed", "name"),
        ("a", "", "q"),
        ("a", "  ", "q"),
        ("a", "stat:failed", "q"),
        ("a", "\"open", "q"),
    ] {
        let refused = save(&f, &f.member, named(name, line, false)).await;
        let Err(Error::Invalid(issues)) = &refused else { panic!("{name:?} {line:?}: {refused:?}") };
        assert_eq!(issues[0].field, field, "{line:?}");
    }
    assert!(names(&f, &f.member).await.is_empty());
    f.done().await;
}

async fn operators_share_and_delete_shared_searches(f: Fixture) {
    let refused = save(&f, &f.member, named("ours", "status:failed", true)).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let shared = save(&f, &f.operator, named("ours", "status:failed", true)).await.unwrap();
    let own = save(&f, &f.operator, named("mine", "status:failed", false)).await.unwrap();
    let delete = async |who: &Scope, id: SavedSearchId| search::delete_saved(&f.ledger, who, id).await;
    assert!(matches!(delete(&f.member, shared.id).await, Err(Error::Forbidden(_))));
    assert!(matches!(delete(&f.admin, own.id).await, Err(Error::NotFound(_))), "nobody else sees it");
    assert!(matches!(delete(&f.stranger, shared.id).await, Err(Error::NotFound(_))));
    delete(&f.admin, shared.id).await.unwrap();
    assert!(matches!(delete(&f.admin, shared.id).await, Err(Error::NotFound(_))));
    delete(&f.operator, own.id).await.unwrap();
    assert!(names(&f, &f.operator).await.is_empty());
    f.done().await;
}

async fn a_person_has_a_bounded_number_of_searches_and_a_workspace_of_shared_ones(f: Fixture) {
    for (who, most) in [(&f.operator, SAVED_SEARCHES_OF_PERSON_MAX), (&f.admin, SAVED_SEARCHES_OF_PERSON_MAX)] {
        for number in 1..most {
            save(&f, who, named(&number.to_string(), "status:failed", true)).await.unwrap();
        }
        let [one, other] = ["one", "other"].map(|name| save(&f, who, named(name, "status:failed", true)));
        let (one, other) = tokio::join!(one, other);
        one_is_over_the_limit(one, other);
        let refused = save(&f, who, named("more", "status:failed", false)).await;
        assert!(matches!(&refused, Err(Error::LimitReached(why)) if why.contains("50")), "{refused:?}");
    }
    assert_eq!(names(&f, &f.member).await.len(), SAVED_SEARCHES_SHARED_MAX as usize);
    f.done().await;
}

async fn the_searches_of_a_removed_person_go_and_shared_ones_stay(f: Fixture) {
    save(&f, &f.operator, named("mine", "status:failed", false)).await.unwrap();
    save(&f, &f.operator, named("ours", "status:failed", true)).await.unwrap();
    let operator = f.operator.user_id().unwrap();
    member::withdraw(&f.ledger, &f.admin, operator, Withdrawal::Deactivate).await.unwrap();
    assert_eq!(count(&f).await, 2, "a person who comes back finds what they saved");
    member::withdraw(&f.ledger, &f.admin, operator, Withdrawal::Remove).await.unwrap();
    assert_eq!((count(&f).await, names(&f, &f.member).await), (1, vec!["ours".to_owned()]));
    f.done().await;
}

async fn count(f: &Fixture) -> i64 {
    f.engine.raw().await.number("SELECT COUNT(*) FROM saved_searches").await
}

async fn tokens_that_act_for_nobody_save_nothing(f: Fixture) {
    let refused = save(&f, &f.worker, named("a", "status:failed", false)).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    assert!(matches!(search::saved(&f.ledger, &f.worker).await, Err(Error::Forbidden(_))));
    f.done().await;
}

async fn a_search_is_renamed_by_its_person_and_a_shared_one_by_operators_too(f: Fixture) {
    let own = save(&f, &f.operator, named("mine", "status:failed", false)).await.unwrap();
    let shared = save(&f, &f.operator, named("ours", "status:expired", true)).await.unwrap();
    let rename = async |who: &Scope, id: SavedSearchId, name: &str| {
        search::rename_saved(&f.ledger, who, id, name.to_owned()).await
    };
    let renamed = rename(&f.operator, own.id, "broken").await.unwrap();
    assert_eq!(renamed, SavedSearchRecord { name: "broken".into(), ..own.clone() });
    assert_eq!(rename(&f.operator, own.id, "broken").await.unwrap(), renamed, "the same name again");
    let taken = rename(&f.operator, own.id, "ours").await;
    assert!(matches!(taken, Err(Error::NameTaken(_))), "{taken:?}");
    let refused = rename(&f.operator, own.id, " ").await;
    assert!(matches!(&refused, Err(Error::Invalid(issues)) if issues[0].field == "name"), "{refused:?}");
    assert_eq!(names(&f, &f.operator).await, ["broken", "ours"], "a refusal changes nothing");
    assert!(matches!(rename(&f.member, shared.id, "x").await, Err(Error::Forbidden(_))));
    for (who, id) in [(&f.admin, own.id), (&f.stranger, shared.id)] {
        assert!(matches!(rename(who, id, "x").await, Err(Error::NotFound(_))), "who does not see it");
    }
    assert_eq!(rename(&f.admin, shared.id, "everyone's").await.unwrap().user_id, shared.user_id);
    assert_eq!(names(&f, &f.member).await, ["everyone's"]);
    f.done().await;
}

async fn the_first_searches_are_counted_within_a_bound(f: Fixture) {
    for _ in 0..3 {
        f.pending().await;
    }
    let alone = NewThread { incognito: true, ..crate::thread::new(Some("alone")) };
    thread::start(&f.ledger, &f.admin, alone).await.unwrap();
    for (name, line) in [("b", "status:pending agent:scout"), ("c", "status:failed"), ("d", "zebra"), ("e", "by:zoe")] {
        save(&f, &f.member, named(name, line, false)).await.unwrap();
    }
    for name in ["a1", "a2", "a3", "a4"] {
        save(&f, &f.operator, named(name, "type:agent", true)).await.unwrap();
    }
    let beside = Beside { timezone: "UTC", people: false };
    let read = page::read(&f.ledger, &f.member, ListSessions::default(), beside).await.unwrap();
    let counts: Vec<_> = read
        .saved
        .iter()
        .map(|saved| (saved.search.name.as_str(), saved.count.map(|count| (count.number, count.has_more))))
        .collect();
    let three = Some((3, false));
    let own = [("b", three), ("c", Some((0, false))), ("d", None), ("e", None)];
    assert_eq!(counts[..4], own, "words, and a name that no member has, are not counted");
    assert_eq!(counts[4..], [("a1", three), ("a2", three), ("a3", three)], "without the conversation of the admin");
    assert_eq!(read.saved_total, 8);
    for _ in 0..SAVED_SEARCH_COUNT_MAX {
        f.pending().await;
    }
    let read = page::read(&f.ledger, &f.member, ListSessions::default(), beside).await.unwrap();
    let count = read.saved[0].count.unwrap();
    assert_eq!((count.number, count.has_more), (SAVED_SEARCH_COUNT_MAX as usize, true));
    f.done().await;
}
