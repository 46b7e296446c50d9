//! How many questions find their document among the first ten, on both engines: in the words of the document, in other
//! forms of them, and in other words.

use crate::memory::{AGENT, put};
use ledger::memory;
use testkit::{Fixture, on_both_engines};

on_both_engines!(questions_in_the_words_of_a_document_and_in_other_forms_of_them_find_it,);

/// Documents with a question in other forms of their words.
const FORMS: [&str; 2] = [
    include_str!("../../../domain/tests/memory_forms/seen.tsv"),
    include_str!("../../../domain/tests/memory_forms/unseen.tsv"),
];
/// Some of the documents with a question in their words, and one in others.
const ASKED: &str = include_str!("../../../domain/tests/memory_forms/asked.tsv");
/// Documents of an answer.
const FIRST: u32 = 10;
/// Fewest questions of a kind.
const QUESTIONS_MIN: usize = 60;
/// Smallest share of the questions that find their document: in the same words, and in other forms.
const SHARES_MIN: [f64; 2] = [0.98, 0.9];

fn rows(text: &'static str) -> Vec<Vec<&'static str>> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect()
}

async fn questions_in_the_words_of_a_document_and_in_other_forms_of_them_find_it(f: Fixture) {
    let of_forms: Vec<Vec<&str>> = FORMS.into_iter().flat_map(rows).filter(|row| row[0] != "ru").collect();
    let asked = rows(ASKED);
    let path = |document: &str| {
        let at = of_forms.iter().position(|row| row[1] == document);
        format!("topics/note-{}.md", at.unwrap_or_else(|| panic!("no document: {document}")))
    };
    for row in &of_forms {
        put(&f, &f.operator, &path(row[1]), 0, &format!("# Note\n\n- {}\n", row[1])).await.unwrap();
    }
    // As many of the subjects again, which are not the answer.
    for (at, row) in asked.iter().enumerate() {
        let text = format!("# Aside\n\n- {} {at}\n", row[2].split(' ').next().unwrap_or_default());
        put(&f, &f.operator, &format!("topics/aside-{at}.md"), 0, &text).await.unwrap();
    }
    let question = |kind: usize| asked.iter().map(move |row| (row[1], row[kind]));
    let forms = of_forms.iter().map(|row| (row[1], row[2]));
    let kinds: [Vec<(&str, &str)>; 3] = [question(2).collect(), forms.collect(), question(3).collect()];
    let mut shares = Vec::new();
    for questions in kinds {
        assert!(questions.len() >= QUESTIONS_MIN);
        let mut right = 0;
        for (document, query) in &questions {
            let found = memory::search(&f.ledger, &f.member, Some(AGENT), query, FIRST).await.unwrap();
            right += usize::from(found.iter().any(|one| one.document.path == path(document)));
        }
        shares.push(right as f64 / questions.len() as f64);
    }
    println!("recall@{FIRST}: same words {:.2}, other forms {:.2}, other words {:.2}", shares[0], shares[1], shares[2]);
    assert!(shares[0] >= SHARES_MIN[0] && shares[1] >= SHARES_MIN[1], "{shares:?}");
    f.done().await;
}
