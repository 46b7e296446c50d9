//! Character cards: kept as they were uploaded, unpacked to documents below `self/`, refused by name.

use crate::memory::{AGENT, put};
use domain::{
    Scope,
    limit::MEMORY_CARD_BYTES_MAX,
    memory::{CardFormat, Folder, Source, digest},
};
use ledger::{
    Error,
    memory::{self, AppliedCard, CardChangeKind, CardPreview, Listing},
    memory_forget, memory_writer, page,
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_card_is_kept_as_it_was_and_its_fields_become_documents,
    another_card_makes_new_versions_and_deletes_fields_that_are_gone,
    the_card_that_was_given_last_is_in_use_after_the_clock_was_set_back,
    a_card_does_not_overwrite_what_people_wrote_unless_told_to,
    cards_that_cannot_be_kept_are_refused_and_change_nothing,
    a_preview_shows_what_a_card_would_change_and_changes_nothing,
    a_preview_is_over_after_an_hour_or_by_another,
    the_card_of_an_abandoned_preview_is_deleted,
    a_document_that_changes_after_the_preview_is_not_overwritten_unseen,
    a_refusal_says_what_is_not_allowed,
);

async fn a_refusal_says_what_is_not_allowed(f: Fixture) {
    let (l, s) = (&f.ledger, &f.member);
    let refused = |outcome: Option<Error>| match outcome {
        Some(Error::Forbidden(why)) => why,
        other => panic!("{other:?}"),
    };
    let card = card(json!({ "name": "Iris" }));
    let why = refused(memory::upload_card(l, s, AGENT, CardFormat::Json, card.clone()).await.err());
    assert!(why.contains("a character card"), "{why}");
    let why = refused(memory::preview_card(l, s, AGENT, CardFormat::Json, card).await.err());
    assert!(why.contains("a character card"), "{why}");
    let why = refused(memory_forget::erase(l, &f.operator, AGENT, memory::path("topics/a.md").unwrap()).await.err());
    assert!(why.contains("memory documents"), "{why}");
    let person = memory_forget::Forget { person: "discord-1".into(), ..memory_forget::Forget::default() };
    let why = refused(memory_forget::forget(l, &f.operator, person).await.err());
    assert!(why.contains("forget a person"), "{why}");
    let why = refused(memory_writer::flush(l, s, AGENT, None).await.err());
    assert!(why.contains("memory writer"), "{why}");
    f.done().await;
}

fn card(data: Value) -> Vec<u8> {
    json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": data }).to_string().into_bytes()
}

async fn documents(f: &Fixture) -> Vec<(String, u64, Source)> {
    let listing = Listing { folder: Some(Folder::Own), ..Listing::default() };
    let listed = memory::list(&f.ledger, &f.member, AGENT, listing).await.unwrap();
    listed.items.into_iter().map(|document| (document.path, document.version, document.source)).collect()
}

async fn a_card_is_kept_as_it_was_and_its_fields_become_documents(f: Fixture) {
    let (l, s) = (&f.ledger, &f.operator);
    assert!(memory::card(l, &f.member, AGENT).await.unwrap().is_none());
    assert!(matches!(memory::original_card(l, &f.member, AGENT).await, Err(Error::NotFound(_))));
    let bytes = card(json!({ "name": "Iris", "description": "A gardener.", "scenario": "" }));
    let uploaded = memory::upload_card(l, s, AGENT, CardFormat::Json, bytes.clone()).await.unwrap();
    assert!(uploaded.is_new);
    assert_eq!(uploaded.changed, ["self/name.md", "self/description.md"]);
    let made = Source::Card;
    let expected = [("self/description.md".to_owned(), 1, made), ("self/name.md".to_owned(), 1, made)];
    assert_eq!(documents(&f).await, expected);
    let (kept, original) = memory::original_card(l, &f.member, AGENT).await.unwrap();
    assert_eq!((original.as_slice(), kept.name.as_str(), kept.format), (&bytes[..], "Iris", CardFormat::Json));
    assert_eq!(kept.digest, digest(std::str::from_utf8(&bytes).unwrap()));
    let again = memory::upload_card(l, s, AGENT, CardFormat::Json, bytes).await.unwrap();
    assert!(!again.is_new && again.changed.is_empty());
    assert_eq!(documents(&f).await, expected);
    let mut raw = f.engine.raw().await;
    assert!(raw.execute("UPDATE memory_cards SET name = 'x'").await.is_err());
    assert!(raw.execute("DELETE FROM memory_cards").await.is_err());
    f.done().await;
}

async fn another_card_makes_new_versions_and_deletes_fields_that_are_gone(f: Fixture) {
    let (l, s) = (&f.ledger, &f.operator);
    let first = card(json!({ "name": "Iris", "description": "A gardener.", "personality": "calm" }));
    memory::upload_card(l, s, AGENT, CardFormat::Json, first).await.unwrap();
    put(&f, s, "self/rules.md", 0, "People wrote this.\n").await.unwrap();
    f.clock.advance(chrono::TimeDelta::seconds(1));
    let second = card(json!({ "name": "Iris", "description": "A cook." }));
    let uploaded = memory::upload_card(l, s, AGENT, CardFormat::Json, second).await.unwrap();
    assert_eq!(uploaded.changed, ["self/description.md", "self/personality.md"]);
    let shown: Vec<_> = documents(&f).await.into_iter().map(|(path, version, _)| (path, version)).collect();
    let expected = [("self/description.md", 2), ("self/name.md", 1), ("self/rules.md", 1)];
    assert_eq!(shown, expected.map(|(path, version)| (path.to_owned(), version)));
    let at = memory::path("self/description.md").unwrap();
    assert_eq!(memory::read(l, s, AGENT, at).await.unwrap().text, "A cook.\n");
    assert_eq!(page::memory_home::read(l, s, None).await.unwrap().agents[0].documents, 3);
    f.done().await;
}

async fn the_card_that_was_given_last_is_in_use_after_the_clock_was_set_back(f: Fixture) {
    let (l, s) = (&f.ledger, &f.operator);
    let named = |name: &str| card(json!({ "name": name }));
    memory::upload_card(l, s, AGENT, CardFormat::Json, named("Iris")).await.unwrap();
    f.clock.advance(-chrono::TimeDelta::hours(1));
    let given = memory::upload_card(l, s, AGENT, CardFormat::Json, named("Rose")).await.unwrap();
    assert!(given.is_new && given.changed == ["self/name.md"], "{given:?}");
    let (used, original) = memory::original_card(l, s, AGENT).await.unwrap();
    assert_eq!((used.id, used.name.as_str(), original), (given.card.id, "Rose", named("Rose")));
    let again = memory::upload_card(l, s, AGENT, CardFormat::Json, named("Rose")).await.unwrap();
    assert!(!again.is_new && again.changed.is_empty(), "{again:?}");
    f.done().await;
}

async fn a_card_does_not_overwrite_what_people_wrote_unless_told_to(f: Fixture) {
    let (l, s) = (&f.ledger, &f.operator);
    let first = card(json!({ "name": "Iris", "description": "A gardener." }));
    memory::upload_card(l, s, AGENT, CardFormat::Json, first).await.unwrap();
    put(&f, s, "self/description.md", 1, "A patient gardener.\n").await.unwrap();
    let before = documents(&f).await;
    let second = |description: &str| card(json!({ "name": "Iris Rose", "description": description }));
    let refused = memory::upload_card(l, s, AGENT, CardFormat::Json, second("A cook.")).await;
    assert!(matches!(&refused, Err(Error::CardOverwrites(paths)) if paths == &["self/description.md"]), "{refused:?}");
    assert_eq!(documents(&f).await, before, "a refused card wrote a document");
    assert_eq!(memory::card(l, s, AGENT).await.unwrap().unwrap().name, "Iris");
    // The same text as that of people overwrites nothing.
    f.clock.advance(chrono::TimeDelta::seconds(1));
    let same = memory::upload_card(l, s, AGENT, CardFormat::Json, second("A patient gardener.")).await.unwrap();
    assert_eq!(same.changed, ["self/name.md"]);
    f.clock.advance(chrono::TimeDelta::seconds(1));
    let overwritten = memory::overwrite_card(l, s, AGENT, CardFormat::Json, second("A cook.")).await.unwrap();
    assert_eq!(overwritten.changed, ["self/description.md"]);
    f.done().await;
}

async fn cards_that_cannot_be_kept_are_refused_and_change_nothing(f: Fixture) {
    let (l, s) = (&f.ledger, &f.operator);
    let long = "x".repeat(200_000);
    for (format, bytes, reason) in [
        (CardFormat::Json, b"{".to_vec(), "not valid JSON"),
        (CardFormat::Json, b"\xff".to_vec(), "not UTF-8"),
        (CardFormat::Json, b"{\"name\":\"x\"}".to_vec(), "`spec`"),
        (CardFormat::Json, card(json!({ "name": 1 })), "`data.name`"),
        (CardFormat::Json, card(json!({ "name": "x", "scenario": "a\u{202e}b" })), "self/scenario.md"),
        (CardFormat::Json, card(json!({ "name": "x", "description": long })), "self/description.md"),
        (CardFormat::Png, b"not an image".to_vec(), "PNG"),
    ] {
        let refused = memory::upload_card(l, s, AGENT, format, bytes).await;
        let Err(Error::Invalid(issues)) = refused else { panic!("{reason}: {refused:?}") };
        assert!(issues[0].field == "card" && issues[0].message.contains(reason), "{issues:?}");
    }
    let large = memory::upload_card(l, s, AGENT, CardFormat::Json, vec![b' '; MEMORY_CARD_BYTES_MAX + 1]).await;
    assert!(matches!(large, Err(Error::TooLarge(_))), "{large:?}");
    let by_member = memory::upload_card(l, &f.member, AGENT, CardFormat::Json, card(json!({ "name": "x" }))).await;
    assert!(matches!(by_member, Err(Error::Forbidden(_))));
    assert!(documents(&f).await.is_empty() && memory::card(l, s, AGENT).await.unwrap().is_none());
    f.done().await;
}

async fn apply(f: &Fixture, by: &Scope, shown: &CardPreview) -> ledger::Result<AppliedCard> {
    let (digest, base) = (shown.digest.to_string(), shown.base.to_string());
    memory::apply_card(&f.ledger, by, AGENT, &digest, &base).await
}

async fn a_preview_shows_what_a_card_would_change_and_changes_nothing(f: Fixture) {
    let (l, s) = (&f.ledger, &f.operator);
    let first = card(json!({ "name": "Iris", "description": "A gardener.", "personality": "calm" }));
    memory::upload_card(l, s, AGENT, CardFormat::Json, first.clone()).await.unwrap();
    let same = memory::preview_card(l, s, AGENT, CardFormat::Json, first).await.unwrap();
    assert!(same.is_same && same.changes.is_empty());
    let second = card(json!({ "name": "Iris", "description": "A cook.", "scenario": "A kitchen." }));
    let preview = memory::preview_card(l, s, AGENT, CardFormat::of(&second), second.clone()).await.unwrap();
    let kinds: Vec<_> = preview.changes.iter().map(|change| (change.path.as_str(), change.kind)).collect();
    let expected = [
        ("self/description.md", CardChangeKind::Changed),
        ("self/personality.md", CardChangeKind::Deleted),
        ("self/scenario.md", CardChangeKind::Made),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(documents(&f).await.len(), 3);
    // Another person has not seen it.
    let unseen = apply(&f, &f.admin, &preview).await;
    assert!(matches!(unseen, Err(Error::Invalid(_))), "{unseen:?}");
    let AppliedCard::Applied(given) = apply(&f, s, &preview).await.unwrap() else { panic!("nothing has moved") };
    assert_eq!(given.changed, ["self/description.md", "self/scenario.md", "self/personality.md"]);
    assert_eq!(memory::original_card(l, s, AGENT).await.unwrap().1, second);
    assert!(apply(&f, s, &preview).await.is_err(), "it is used up");
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM memory_card_drafts").await, 0);
    f.done().await;
}

async fn a_preview_is_over_after_an_hour_or_by_another(f: Fixture) {
    let (l, s) = (&f.ledger, &f.operator);
    let named = |name: &str| card(json!({ "name": name }));
    let first = memory::preview_card(l, s, AGENT, CardFormat::Json, named("A")).await.unwrap();
    let second = memory::preview_card(l, s, AGENT, CardFormat::Json, named("B")).await.unwrap();
    let replaced = apply(&f, s, &first).await;
    assert!(matches!(replaced, Err(Error::Invalid(_))), "{replaced:?}");
    f.clock.advance(chrono::TimeDelta::minutes(61));
    let late = apply(&f, s, &second).await;
    assert!(matches!(late, Err(Error::Invalid(_))), "{late:?}");
    // The next preview of anyone removes what is over.
    memory::preview_card(l, &f.admin, "other", CardFormat::Json, named("C")).await.unwrap();
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM memory_card_drafts").await, 1);
    let by_member = memory::preview_card(l, &f.member, AGENT, CardFormat::Json, named("D")).await;
    assert!(matches!(by_member, Err(Error::Forbidden(_))));
    f.done().await;
}

async fn the_card_of_an_abandoned_preview_is_deleted(f: Fixture) {
    let iris = card(json!({ "name": "Iris" }));
    let shown = memory::preview_card(&f.ledger, &f.operator, AGENT, CardFormat::Json, iris).await.unwrap();
    f.clock.advance(chrono::TimeDelta::minutes(59));
    f.ledger.maintain().await.unwrap();
    assert!(matches!(apply(&f, &f.operator, &shown).await, Ok(AppliedCard::Applied(_))), "it is kept for an hour");
    let other = card(json!({ "name": "Rose" }));
    memory::preview_card(&f.ledger, &f.operator, AGENT, CardFormat::Json, other).await.unwrap();
    let drafts = "SELECT COUNT(*) FROM memory_card_drafts";
    assert_eq!(f.engine.raw().await.number(drafts).await, 1);
    f.clock.advance(chrono::TimeDelta::hours(2));
    f.ledger.maintain().await.unwrap();
    assert_eq!(f.engine.raw().await.number(drafts).await, 0);
    f.done().await;
}

async fn a_document_that_changes_after_the_preview_is_not_overwritten_unseen(f: Fixture) {
    let (l, s) = (&f.ledger, &f.operator);
    let first = card(json!({ "name": "Iris", "description": "A gardener.", "personality": "calm" }));
    memory::upload_card(l, s, AGENT, CardFormat::Json, first).await.unwrap();
    let second = card(json!({ "name": "Iris", "description": "A cook.", "scenario": "A kitchen." }));
    let mut shown = memory::preview_card(l, s, AGENT, CardFormat::Json, second).await.unwrap();
    // One document that the card changes, one that it deletes, and one that it creates.
    for (path, base, text) in [
        ("self/description.md", 1, "A patient gardener.\n"),
        ("self/personality.md", 1, "very calm\n"),
        ("self/scenario.md", 0, "A garden.\n"),
    ] {
        f.clock.advance(chrono::TimeDelta::seconds(1));
        put(&f, &f.admin, path, base, text).await.unwrap();
        let AppliedCard::Moved(moved) = apply(&f, s, &shown).await.unwrap() else { panic!("{path} is overwritten") };
        assert_eq!(memory::read(l, s, AGENT, memory::path(path).unwrap()).await.unwrap().text, text);
        assert_ne!(memory::card(l, s, AGENT).await.unwrap().unwrap().digest, shown.digest, "the card is not given");
        assert_ne!(moved.base, shown.base, "{path}");
        shown = moved;
    }
    // A document of people that the card does not touch moves nothing.
    put(&f, &f.admin, "self/rules.md", 0, "Be kind.\n").await.unwrap();
    f.clock.advance(chrono::TimeDelta::seconds(1));
    let given = apply(&f, s, &shown).await.unwrap();
    let AppliedCard::Applied(given) = given else { panic!("{given:?}") };
    assert_eq!(given.changed, ["self/description.md", "self/scenario.md"]);
    f.done().await;
}
