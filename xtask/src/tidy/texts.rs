//! Rules over what people and agents read: texts in the code of the product, and documentation that becomes a text of
//! the API document or of the command line's help.

use super::Finding;
use super::modules::without_tests;
use super::token::{is_string, tokens};

pub const RULE: &str = "text-word";

/// Words for a person who is not named, and what the glossary says instead.
const UNNAMED: [(&str, &str); 4] =
    [("somebody", "someone"), ("nobody", "no one"), ("everybody", "everyone"), ("anybody", "anyone")];
/// Folder of the pages.
const PAGES: &str = "app/src/";
/// Names of the code in labels of pages, and the words of the interface.
const LABELS: [(&str, &str); 7] = [
    ("Action", "Task"),
    ("Actions", "Tasks"),
    ("Trigger", "Run"),
    ("Retry", "Run again"),
    ("Abort", "Cancel"),
    ("Gate", "Item"),
    ("Gates", "Items"),
];
/// The same in sentences of pages.
const PHRASES: [(&str, &str); 5] = [
    ("an action", "a task"),
    ("the action", "the task"),
    ("this action", "this task"),
    ("a gate", "an item"),
    ("the gate", "the item"),
];
/// Folders of the code whose texts are read.
const PRODUCT: [&str; 11] = [
    "app/src/",
    "server/src/",
    "crates/client/src/",
    "crates/datalake/src/",
    "crates/domain/src/",
    "crates/ledger/src/",
    "crates/outbound/src/",
    "crates/redact/src/",
    "crates/runner/src/",
    "crates/store/src/",
    "crates/wire/src/",
];
/// Folders whose documentation is read too.
const DOCUMENTED: [&str; 3] = ["crates/wire/src/", "server/src/api/", "server/src/cli/"];

/// Words in texts outside of tests that the glossary replaces by others. A text without a space is a code or a slug.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let is_below = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    let is_test = path.ends_with("tests.rs") || path.contains("/bin/");
    let Ok(tokens) = tokens(text) else { return Vec::new() };
    if is_test || !is_below(&PRODUCT) {
        return Vec::new();
    }
    let tokens = without_tests(tokens);
    let mut findings = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| is_string(&token.text)) {
        // A documentation comment arrives as `doc = "…"`.
        let is_doc = at >= 2 && tokens[at - 1].text == "=" && tokens[at - 2].text == "doc";
        let is_read = token.text.contains(' ') && (!is_doc || is_below(&DOCUMENTED));
        let has = |word: &str| is_read && words(&token.text).any(|found| found.eq_ignore_ascii_case(word));
        let found = UNNAMED.iter().filter(|(word, _)| has(word));
        findings.extend(found.map(|(word, instead)| {
            Finding::new(path, token.line, RULE, format!("\"{word}\" in a text: use {instead}"))
        }));
        if path.starts_with(PAGES) && !is_doc {
            let text = token.text.trim_matches('"');
            let words: Vec<&str> = words(text).filter(|word| !word.is_empty()).collect();
            let sentence = format!(" {} ", words.join(" ").to_lowercase());
            let has = |phrase: &str| text.contains(' ') && sentence.contains(&format!(" {phrase} "));
            let labels = LABELS.iter().filter(|(word, _)| *word == text);
            let found = labels.chain(PHRASES.iter().filter(|(phrase, _)| has(phrase)));
            findings.extend(found.map(|(word, instead)| {
                Finding::new(path, token.line, RULE, format!("\"{word}\" on a page: use {instead}"))
            }));
        }
    }
    findings
}

/// The words of a text. A code such as `nobody_answered` is one word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(path, text).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn words_for_a_person_who_is_not_named_are_found_in_texts() {
        let text =
            "// Nobody.\nconst A: &str = \"Nobody decided.\";\nfn nobody() { log!(\"ask somebody else's agent\") }\n";
        assert_eq!(lines("crates/ledger/src/gate.rs", text), [2, 3]);
        assert_eq!(lines("crates/bench/src/gate.rs", text), [0; 0]);
        assert_eq!(lines("crates/ledger/src/gate_tests.rs", text), [0; 0]);
        let test = format!("fn f() {{}}\n#[cfg(test)]\nmod tests {{\n{text}}}\n");
        assert_eq!(lines("crates/ledger/src/gate.rs", &test), [0; 0]);
    }

    #[test]
    fn names_of_the_code_are_found_in_texts_of_pages() {
        let text = "/// The action.\nconst A: [&str; 3] = [\n\"Actions\",\n\"actions\",\n\"No slug of an action.\"];\n";
        assert_eq!(lines("app/src/export/form.rs", text), [3, 5]);
        assert_eq!(lines("server/src/api/action.rs", text), [0; 0]);
        let other = "const A: &str = \"an actionable form-action\";";
        assert_eq!(lines("app/src/export/form.rs", other), [0; 0]);
    }

    #[test]
    fn codes_and_slugs_are_no_texts() {
        let text = "const A: &str = \"nobody_answered\";\nconst B: &str = \"the code is nobody_answered\";\nconst C: &str = \"nobody\";\n";
        assert_eq!(lines("crates/wire/src/problem.rs", text), [0; 0]);
    }

    #[test]
    fn documentation_is_a_text_where_people_get_to_see_it() {
        let text = "/// What somebody must do.\nstruct Access;\n";
        assert_eq!(lines("crates/wire/src/access.rs", text), [1]);
        assert_eq!(lines("crates/store/src/access.rs", text), [0; 0]);
    }
}
