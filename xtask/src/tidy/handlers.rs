//! Rules over the handlers of pages, of the API and of protocols: a handler authenticates, calls use cases and maps, so
//! it is short.

use super::Finding;
use super::modules::without_tests;
use super::prose::after_group;
use super::token::{Token, tokens};

const FOLDERS: [&str; 3] = ["server/src/api/", "server/src/protocol/", "server/src/web/"];
/// Most lines between the braces of an async function.
const LINES_MAX: usize = 10;
const RULE: &str = "handler-length";

pub fn check(path: &str, text: &str) -> Vec<Finding> {
    if !FOLDERS.iter().any(|folder| path.starts_with(folder)) {
        return Vec::new();
    }
    // That a file is not Rust is a finding of `code`.
    let tokens = tokens(text).map(without_tests).unwrap_or_default();
    let functions = (0..tokens.len()).filter_map(|at| async_function(&tokens, at));
    let long = functions.filter(|(_, lines)| *lines > LINES_MAX);
    let finding = |(name, lines): (&Token, usize)| {
        let what = format!(
            "{} has {lines} lines, more than {LINES_MAX}: move what it does to ledger, and what it converts to a \
             function without input or output",
            name.text
        );
        Finding::new(path, name.line, RULE, what)
    };
    long.map(finding).collect()
}

/// The name of the async function that begins at this token, and the number of lines of its body.
fn async_function(tokens: &[Token], at: usize) -> Option<(&Token, usize)> {
    let is = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.text == word);
    if !is(at, "async") || !is(at + 1, "fn") {
        return None;
    }
    let name = tokens.get(at + 2)?;
    let mut open = at + 3;
    // Parameters and types can have brackets of their own.
    while !is(open, "{") {
        open = match tokens.get(open)?.text.as_str() {
            ";" => return None,
            "(" | "[" => after_group(tokens, open)?,
            _ => open + 1,
        };
    }
    let close = tokens.get(after_group(tokens, open)? - 1)?;
    Some((name, close.line.saturating_sub(tokens[open].line + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(lines: usize) -> String {
        let body = "    work();\n".repeat(lines);
        format!("async fn show(\n    Asked {{ id, .. }}: &Asked,\n    key: [u8; 2],\n) -> [u8; 2] {{\n{body}}}\n")
    }

    #[test]
    fn long_async_functions_of_handlers_are_found() {
        let long = function(LINES_MAX + 1);
        let found = check("server/src/web/inbox.rs", &format!("fn f() {{}}\n\n{long}"));
        assert_eq!(found.iter().map(|found| (found.line, found.rule)).collect::<Vec<_>>(), [(3, RULE)]);
        assert!(found[0].what.starts_with("show has 11 lines"), "{}", found[0].what);
        let method = format!("impl Page for Inbox {{\n{long}}}\n");
        assert_eq!(check("server/src/api/me.rs", &method).len(), 1);
    }

    #[test]
    fn other_functions_are_as_long_as_they_need() {
        let (short, long) = (function(LINES_MAX), function(LINES_MAX + 1));
        assert_eq!(check("server/src/web/inbox.rs", &short), []);
        assert_eq!(check("server/src/web/inbox.rs", &long.replace("async ", "")), []);
        assert_eq!(check("server/src/web/inbox.rs", &format!("#[cfg(test)]\nmod tests {{\n{long}}}\n")), []);
        assert_eq!(check("server/src/sse.rs", &long), []);
    }
}
