//! What the map of imports and the search for circles share: modules of files, and their code outside of tests.

use std::collections::{BTreeMap, BTreeSet};

use super::prose::after_group;
use super::token::Token;

/// Who uses whom, by name.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// The modules that lead to a file: `session/mod.rs` is `session`, `lib.rs` is the root. `None` for other files and for
/// files of tests.
pub fn module_path(path: &str) -> Option<Vec<&str>> {
    let mut parts: Vec<&str> = path.strip_suffix(".rs")?.split('/').collect();
    let last = *parts.last()?;
    if last == "tests" || last.ends_with("_tests") || parts.contains(&"bin") || parts.contains(&"tests") {
        return None;
    }
    if last == "mod" || (parts.len() == 1 && matches!(last, "lib" | "main")) {
        parts.pop();
    }
    Some(parts)
}

/// The code without items under `#[cfg(test)]` and `#[cfg(all(test, …))]`.
pub(super) fn without_tests(tokens: Vec<Token>) -> Vec<Token> {
    let begins = |at: usize, words: &[&str]| {
        words.iter().enumerate().all(|(n, word)| tokens.get(at + n).is_some_and(|token| token.text == *word))
    };
    let is_test = |at: usize| {
        begins(at, &["#", "[", "cfg", "(", "test", ")"]) || begins(at, &["#", "[", "cfg", "(", "all", "(", "test"])
    };
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !is_test(at) {
            at += 1;
            continue;
        }
        let mut end = at;
        while end < tokens.len() && tokens[end].text != "]" {
            end += 1;
        }
        while end < tokens.len() && tokens[end].text != "{" && tokens[end].text != ";" {
            end += 1;
        }
        let is_block = tokens.get(end).is_some_and(|token| token.text == "{");
        end = if is_block { after_group(&tokens, end).unwrap_or(tokens.len()) } else { end + 1 };
        ranges.push(at..end);
        at = end;
    }
    let kept = tokens.into_iter().enumerate().filter(|(at, _)| !ranges.iter().any(|range| range.contains(at)));
    kept.map(|(_, token)| token).collect()
}
