//! Search reads a bounded part of the index, and the same part on both engines.

use crate::memory::{AGENT, put};
use chrono::TimeDelta;
use domain::{
    Scope,
    memory::{SearchWord, terms},
};
use ledger::memory::{self, Change, Write};
use store::{Access, Mode, Store, memory::SearchBounds};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_common_word_does_not_hide_a_rare_one,
    of_common_words_the_newest_documents_count,
    a_common_word_is_looked_for_in_as_many_documents_as_are_returned,
    words_leave_the_index_with_their_document,
    a_word_of_any_letters_belongs_to_one_agent,
);

/// Paths that a search with small bounds finds, best first.
async fn found(f: &Fixture, query: &str, documents_of_term: u32, found: u32) -> Vec<String> {
    found_of(f, (&f.member, AGENT), query, SearchBounds { documents_of_term, found }).await
}

/// Paths that a person finds in the memory of an agent, best first.
async fn found_of(f: &Fixture, (by, agent): (&Scope, &str), query: &str, bounds: SearchBounds) -> Vec<String> {
    let (tenant_id, agent) = (by.tenant_id, agent.to_owned());
    let words: Vec<SearchWord> = terms(query).iter().map(|word| word.as_str().into()).collect();
    let store = Store::open(&f.engine.database(), Mode::Tool).await.unwrap();
    let read = store.read(Access::from(by), async move |conn| {
        store::memory::search(conn, tenant_id, Some(agent.as_str()), &words, bounds).await
    });
    let found = read.await.unwrap();
    store.close().await;
    found.into_iter().map(|found| found.record.path).collect()
}

/// 19 documents, one second after another.
async fn filled(f: &Fixture) {
    for number in 0..19 {
        f.clock.advance(TimeDelta::seconds(1));
        let (name, text) =
            if number == 9 { ("old".to_owned(), "heron came") } else { (format!("t{number}"), "weather was fine") };
        put(f, &f.operator, &format!("topics/{name}.md"), 0, &format!("# Note\n\nThe {text}.\n")).await.unwrap();
    }
}

async fn a_common_word_does_not_hide_a_rare_one(f: Fixture) {
    filled(&f).await;
    // All 19 documents have `the`, of which four are read; one has `heron`.
    assert_eq!(found(&f, "the heron", 4, 1).await, ["topics/old.md"]);
    assert_eq!(found(&f, "the fine heron", 4, 3).await[0], "topics/old.md");
    f.done().await;
}

async fn of_common_words_the_newest_documents_count(f: Fixture) {
    filled(&f).await;
    assert_eq!(found(&f, "the", 3, 9).await, ["topics/t18.md", "topics/t17.md", "topics/t16.md"]);
    assert_eq!(found(&f, "the weather", 3, 2).await, ["topics/t18.md", "topics/t17.md"]);
    f.done().await;
}

async fn a_common_word_is_looked_for_in_as_many_documents_as_are_returned(f: Fixture) {
    let texts = ["The heron and the weather.", "A heron alone.", "Weather one.", "Weather two.", "Weather three."];
    for (number, text) in texts.iter().enumerate() {
        f.clock.advance(TimeDelta::seconds(1));
        put(&f, &f.operator, &format!("topics/t{number}.md"), 0, &format!("# Note\n\n{text}\n")).await.unwrap();
    }
    // Five are read of each word. `weather` has four, so it counts wherever it is.
    assert_eq!(found(&f, "heron weather", 5, 3).await, ["topics/t0.md", "topics/t1.md", "topics/t4.md"]);
    // Four are read, so it is common and counts in the newest three: the two with `heron` are equal.
    assert_eq!(found(&f, "heron weather", 4, 3).await, ["topics/t1.md", "topics/t0.md", "topics/t4.md"]);
    f.done().await;
}

async fn words_leave_the_index_with_their_document(f: Fixture) {
    filled(&f).await;
    put(&f, &f.operator, "topics/old.md", 1, "# Note\n\nThe egret came.\n").await.unwrap();
    assert_eq!(found(&f, "heron", 9, 9).await, Vec::<String>::new());
    assert_eq!(found(&f, "egret", 9, 9).await, ["topics/old.md"]);
    let change = Change { base_version: 2, ..Change::default() };
    memory::delete(&f.ledger, &f.operator, AGENT, memory::path("topics/old.md").unwrap(), change).await.unwrap();
    assert_eq!(found(&f, "egret", 9, 9).await, Vec::<String>::new());
    f.done().await;
}

async fn a_word_of_any_letters_belongs_to_one_agent(f: Fixture) {
    // Letters to Unicode that separate words to FTS5: symbols, and a letter that was none in older tables.
    const LETTERS: [&str; 3] = ["\u{1f150}", "\u{1f170}", "\u{1cf2}"];
    let own = || Write { text: "# Own\n\nA refund.\n".into(), ..Write::default() };
    let at = || memory::path("topics/own.md").unwrap();
    memory::write(&f.ledger, &f.operator, "clerk", at(), own()).await.unwrap();
    memory::write(&f.ledger, &f.stranger, AGENT, at(), own()).await.unwrap();
    for (number, letter) in LETTERS.iter().enumerate() {
        f.clock.advance(TimeDelta::seconds(1));
        // On SQLite agents have numbers, and these words name every agent of this test.
        let words: String = (1..=9).map(|agent| format!("{letter}{agent}xrefund\n")).collect();
        put(&f, &f.operator, &format!("topics/letter-{number}.md"), 0, &format!("# Note\n\n{words}")).await.unwrap();
    }
    // One document of each word is read, so a newer one of another agent would take its place.
    let bounds = SearchBounds { documents_of_term: 1, found: 9 };
    for of in [(&f.member, "clerk"), (&f.stranger, AGENT)] {
        assert_eq!(found_of(&f, of, "refund", bounds).await, ["topics/own.md"]);
    }
    for (number, letter) in LETTERS.iter().enumerate() {
        let query = format!("{letter}2xrefund");
        assert!(found(&f, &query, 9, 9).await.contains(&format!("topics/letter-{number}.md")), "{query}");
        for of in [(&f.member, "clerk"), (&f.stranger, AGENT)] {
            assert_eq!(found_of(&f, of, &query, bounds).await, Vec::<String>::new(), "{query}");
        }
    }
    f.done().await;
}
