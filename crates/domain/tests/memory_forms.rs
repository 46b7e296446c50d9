//! How many questions in other forms of the words find their document, and how many unrelated words are taken for forms
//! of each other. `cargo test -p domain --test memory_forms -- --nocapture` prints the figures.

use domain::{
    limit::MEMORY_FORMS_DOCUMENTS,
    memory::{Forms, query_words, rank, terms},
};
use std::collections::{BTreeMap, BTreeSet};

/// Documents about nothing that is asked for, which have the words of the documents.
const DISTRACTORS: usize = 400;
/// Words of such a document.
const DISTRACTOR_WORDS: usize = 25;
/// Documents of an answer.
const FIRST: usize = 10;

/// A document and a question, or two words, of one language.
struct Row {
    language: &'static str,
    first: &'static str,
    second: &'static str,
}

fn rows(text: &'static str) -> Vec<Row> {
    let rows = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.splitn(3, '\t'));
    rows.filter_map(|mut row| Some(Row { language: row.next()?, first: row.next()?, second: row.next()? })).collect()
}

/// Texts of `count` words of a list, the same in each run.
fn mixed(words: &[&str], count: usize) -> Vec<String> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        words[usize::try_from(state >> 33).unwrap_or_default() % words.len()]
    };
    (0..count).map(|_| (0..DISTRACTOR_WORDS).map(|_| next()).collect::<Vec<_>>().join(" ")).collect()
}

/// Share of the questions of each language whose document is among the first [`FIRST`], as numerator and denominator.
fn recall(rows: &[Row], with_forms: bool) -> BTreeMap<&'static str, (u32, u32)> {
    let words: Vec<&str> = rows.iter().flat_map(|row| row.first.split(' ')).collect();
    let distractors = mixed(&words, DISTRACTORS);
    let all = rows.iter().map(|row| row.first).chain(distractors.iter().map(String::as_str));
    let documents: Vec<(String, &str)> = all.enumerate().map(|(at, text)| (format!("topics/{at}.md"), text)).collect();
    let candidates: Vec<(&str, &str)> = documents.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let mut held: BTreeMap<String, u32> = BTreeMap::new();
    for (_, text) in &candidates {
        terms(text)
            .into_iter()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .for_each(|word| *held.entry(word).or_default() += 1);
    }
    let mut found: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        let forms = Forms::of_text(row.second);
        let asked = query_words(row.second);
        let mut prefixes = forms.prefixes(&asked);
        prefixes.retain(|one| held.get(&one.word).is_none_or(|held| *held < MEMORY_FORMS_DOCUMENTS));
        let near = |word: &&String| with_forms && prefixes.iter().any(|one| word.starts_with(&one.prefix));
        let vocabulary: Vec<String> = held.keys().filter(near).cloned().collect();
        let ranked = rank(&forms.group(asked, &vocabulary), &candidates);
        let is_found = ranked.iter().take(FIRST).any(|one| one.at == at);
        let (right, all) = found.entry(row.language).or_default();
        *right += u32::from(is_found);
        *all += 1;
        if with_forms && !is_found {
            println!("not found: {} for {}", row.first, row.second);
        }
    }
    found
}

fn share(found: &BTreeMap<&str, (u32, u32)>) -> f64 {
    let (right, all) = found.values().fold((0, 0), |(right, all), one| (right + one.0, all + one.1));
    f64::from(right) / f64::from(all)
}

#[test]
fn questions_in_other_forms_find_their_document() {
    for (name, text) in [
        ("looked at while the rules were tuned", include_str!("memory_forms/seen.tsv")),
        ("not looked at", include_str!("memory_forms/unseen.tsv")),
    ] {
        let rows = rows(text);
        let (with, without) = (recall(&rows, true), recall(&rows, false));
        println!("{name}: {:.2} {with:?}; without forms {:.2} {without:?}", share(&with), share(&without));
        assert!(share(&with) >= 0.9, "{name}: {with:?}");
    }
}

#[test]
fn unrelated_words_are_seldom_taken_for_forms() {
    let rows = rows(include_str!("memory_forms/unlike.tsv"));
    let sentence = |row: &Row| match row.language {
        "de" => "das ist nicht der",
        "es" => "esto es para el",
        "fr" => "il est dans une",
        _ => "this is what they have",
    };
    let word = |text: &str| terms(text).remove(0);
    let taken = |forms: &dyn Fn(&Row) -> Forms| {
        let taken = rows.iter().filter(|row| forms(row).are_forms(&word(row.first), &word(row.second)));
        taken.map(|row| format!("{}: {}, {}", row.language, row.first, row.second)).collect::<Vec<_>>()
    };
    let alone = taken(&|_| Forms::of_text(""));
    let within = taken(&|row| Forms::of_text(sentence(row)));
    println!("of {} pairs, alone {}: {alone:#?}", rows.len(), alone.len());
    println!("in a sentence of their language {}: {within:#?}", within.len());
    assert!(2 * alone.len() <= rows.len() && 3 * within.len() <= rows.len());
}
