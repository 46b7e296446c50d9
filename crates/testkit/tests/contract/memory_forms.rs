//! Search in memory finds other forms of a word: in the same order on both engines, in one agent's documents, and in a
//! bounded part of its words.

use crate::{
    memory::{AGENT, change, put},
    memory_block::{block_of, paths, talk},
};
use domain::{Scope, limit::MEMORY_VOCABULARY_MAX, memory::Prefixed};
use ledger::{
    memory::{self, FoundMemory, Write},
    memory_forget,
};
use store::{Access, Mode, Store, memory::VocabularyBounds};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    other_forms_of_a_word_are_found_behind_the_word_itself,
    forms_of_other_agents_and_workspaces_are_not_looked_for,
    words_of_changed_and_deleted_documents_are_no_forms,
    a_bounded_part_of_the_words_of_an_agent_is_read,
    of_a_long_text_words_in_other_forms_are_looked_for,
    an_agent_is_given_memories_in_other_forms_of_a_message,
);

async fn search(f: &Fixture, agent: &str, query: &str) -> Vec<FoundMemory> {
    memory::search(&f.ledger, &f.member, Some(agent), query, 0).await.unwrap()
}

async fn found(f: &Fixture, query: &str) -> Vec<String> {
    search(f, AGENT, query).await.into_iter().map(|one| one.document.path).collect()
}

/// The words of an agent that begin with these letters.
async fn vocabulary(f: &Fixture, (by, agent): (&Scope, Option<&str>), prefix: &str) -> Vec<String> {
    let (tenant_id, agent) = (by.tenant_id, agent.map(str::to_owned));
    let of = [Prefixed { word: "launches".into(), prefix: prefix.into() }];
    let store = Store::open(&f.engine.database(), Mode::Tool).await.unwrap();
    let read = store.read(Access::from(by), async move |conn| {
        let bounds = VocabularyBounds { words: MEMORY_VOCABULARY_MAX, holders: 2 };
        store::memory::vocabulary(conn, tenant_id, agent.as_deref(), &of, bounds).await
    });
    let words = read.await.unwrap();
    store.close().await;
    words
}

async fn other_forms_of_a_word_are_found_behind_the_word_itself(f: Fixture) {
    for (path, text) in [
        ("topics/a.md", "# Note\n\nTea at four.\n\nThe launch is near.\n"),
        ("topics/launch.md", "# Launch\n\nLaunch, launched, launching.\n"),
        ("topics/z.md", &format!("# Note\n\n{} launches\n", "filler ".repeat(300))),
        ("topics/laundry.md", "# Laundry\n\nOn Mondays.\n"),
        ("topics/haus.md", "# Haus\n\nEin Haus in einer Straße.\n"),
        ("topics/buch.md", "# Книга\n\nНовая книга.\n"),
    ] {
        put(&f, &f.operator, path, 0, text).await.unwrap();
    }
    assert_eq!(found(&f, "launches").await, ["topics/z.md", "topics/launch.md", "topics/a.md"]);
    assert_eq!(found(&f, "launch").await, ["topics/launch.md", "topics/a.md", "topics/z.md"]);
    assert_eq!(found(&f, "Häuser").await, ["topics/haus.md"]);
    assert_eq!(found(&f, "Straßen").await, ["topics/haus.md"]);
    assert_eq!(found(&f, "новую").await, ["topics/buch.md"]);
    assert_eq!(found(&f, "Monday").await, ["topics/laundry.md"]);
    let last = search(&f, AGENT, "launches").await.remove(2);
    assert_eq!((last.line, last.excerpt.as_str()), (5, "The launch is near."));
    // Over all agents too.
    let all = memory::search(&f.ledger, &f.member, None, "launching tea", 0).await.unwrap();
    assert_eq!(all.len(), 3);
    f.done().await;
}

async fn forms_of_other_agents_and_workspaces_are_not_looked_for(f: Fixture) {
    let note = |text: &str| Write { text: format!("# Note\n\n{text}\n"), ..Write::default() };
    let at = || memory::path("topics/note.md").unwrap();
    put(&f, &f.operator, "topics/own.md", 0, "# Own\n\nA launch in a Straße.\n").await.unwrap();
    memory::write(&f.ledger, &f.operator, "clerk", at(), note("They launched it in Straßen.")).await.unwrap();
    memory::write(&f.ledger, &f.stranger, AGENT, at(), note("We are launching it.")).await.unwrap();
    for (of, words) in [
        ((&f.member, Some(AGENT)), vec!["launch"]),
        ((&f.member, Some("clerk")), vec!["launched"]),
        ((&f.member, Some("nobody")), vec![]),
        ((&f.member, None), vec!["launch", "launched"]),
        ((&f.stranger, Some(AGENT)), vec!["launching"]),
        ((&f.stranger, None), vec!["launching"]),
    ] {
        assert_eq!(vocabulary(&f, of, "launc").await, words);
    }
    assert_eq!(vocabulary(&f, (&f.member, Some(AGENT)), "straß").await, ["straße"]);
    assert_eq!(vocabulary(&f, (&f.member, Some("clerk")), "stra").await, ["straßen"]);
    assert_eq!(found(&f, "launches").await, ["topics/own.md"]);
    f.done().await;
}

async fn words_of_changed_and_deleted_documents_are_no_forms(f: Fixture) {
    let of = (&f.member, Some(AGENT));
    put(&f, &f.operator, "topics/a.md", 0, "# Note\n\nA launch.\n").await.unwrap();
    put(&f, &f.operator, "topics/b.md", 0, "# Note\n\nThey launched.\n").await.unwrap();
    assert_eq!(vocabulary(&f, of, "launc").await, ["launch", "launched"]);
    put(&f, &f.operator, "topics/b.md", 1, "# Note\n\nThey are launching.\n").await.unwrap();
    assert_eq!(vocabulary(&f, of, "launc").await, ["launch", "launching"]);
    memory::delete(&f.ledger, &f.operator, AGENT, memory::path("topics/b.md").unwrap(), change(2)).await.unwrap();
    assert_eq!(vocabulary(&f, of, "launc").await, ["launch"]);
    memory_forget::erase(&f.ledger, &f.admin, AGENT, memory::path("topics/a.md").unwrap()).await.unwrap();
    assert_eq!(vocabulary(&f, of, "launc").await, Vec::<String>::new());
    assert_eq!(found(&f, "launches").await, Vec::<String>::new());
    f.done().await;
}

async fn a_bounded_part_of_the_words_of_an_agent_is_read(f: Fixture) {
    let words: Vec<String> = (0..10_000).map(|number| format!("launch{}", letters(number))).collect();
    for (number, part) in words.chunks(5_000).enumerate() {
        let text = format!("# Many\n\n{}\n", part.join(" "));
        put(&f, &f.operator, &format!("topics/many-{number}.md"), 0, &text).await.unwrap();
    }
    put(&f, &f.operator, "topics/own.md", 0, "# Own\n\nA launch, and launchaß.\n").await.unwrap();
    let read = vocabulary(&f, (&f.member, Some(AGENT)), "launch").await;
    let mut first: Vec<String> = words.into_iter().chain(["launch".to_owned(), "launchaß".to_owned()]).collect();
    first.sort_unstable();
    first.truncate(MEMORY_VOCABULARY_MAX as usize);
    assert_eq!(read, first);
    assert!(found(&f, "launches").await.contains(&"topics/own.md".to_owned()));
    // Nothing is read for a word that many documents have; here they are two.
    for name in ["a", "b"] {
        put(&f, &f.operator, &format!("topics/{name}.md"), 0, "# Note\n\nIt launches.\n").await.unwrap();
    }
    assert_eq!(vocabulary(&f, (&f.member, Some(AGENT)), "launch").await, Vec::<String>::new());
    f.done().await;
}

/// Four letters for each number below 10,000.
fn letters(number: usize) -> String {
    [1_000, 100, 10, 1].map(|place| char::from(b"abcdefghij"[number / place % 10])).iter().collect()
}

async fn of_a_long_text_words_in_other_forms_are_looked_for(f: Fixture) {
    let common: String = (100..160).map(|number| format!("commonplace{number} ")).collect();
    put(&f, &f.operator, "topics/common.md", 0, &format!("# Note\n\n{common}\n")).await.unwrap();
    put(&f, &f.operator, "topics/own.md", 0, "# Own\n\nA launch.\n").await.unwrap();
    let found = found(&f, &format!("{common}launches")).await;
    assert!(found.contains(&"topics/own.md".to_owned()), "{found:?}");
    f.done().await;
}

async fn an_agent_is_given_memories_in_other_forms_of_a_message(f: Fixture) {
    put(&f, &f.operator, "topics/plan.md", 0, "# Plan\n\n- The launch is on Friday\n\n## Tea\n\n- Green\n")
        .await
        .unwrap();
    put(&f, &f.operator, "topics/other.md", 0, "# Other\n\n- Nothing of it\n").await.unwrap();
    let metadata = block_of(&f, talk(None, "Has it launched?")).await.unwrap();
    assert_eq!(paths(&metadata), ["topics/plan.md"]);
    assert_eq!(block_of(&f, talk(None, "Did they lunch?")).await, None);
    f.assert_verified().await;
    f.done().await;
}
