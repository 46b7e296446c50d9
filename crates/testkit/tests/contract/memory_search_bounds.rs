//! Search reads a bounded part of the index, and the same part on both engines.

use crate::memory::{AGENT, put};
use chrono::TimeDelta;
use domain::memory::terms;
use ledger::memory::{self, Change};
use store::{Access, Mode, Store, memory::SearchBounds};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_common_word_does_not_hide_a_rare_one,
    of_common_words_the_newest_documents_count,
    words_leave_the_index_with_their_document,
);

/// Paths that a search with small bounds finds, best first.
async fn found(f: &Fixture, query: &str, documents_of_term: u32, found: u32) -> Vec<String> {
    let (tenant_id, words) = (f.member.tenant_id, terms(query));
    let bounds = SearchBounds { documents_of_term, found };
    let store = Store::open(&f.engine.database(), Mode::Tool).await.unwrap();
    let read = store.read(Access::from(&f.member), move |conn| {
        Box::pin(async move { store::memory::search(conn, tenant_id, Some(AGENT), &words, bounds).await })
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
