//! Names of event kinds, and members of their metadata, are written in `domain::event::kind` alone. Other code names
//! the type, so that the compiler finds each place.

use super::token::{Token, is_string, tokens};
use super::{Finding, Sources};

/// Where the known kinds are declared.
const KINDS: &str = "crates/domain/src/event/kind/mod.rs";
const HOME: &str = "crates/domain/src/event/kind/";
/// Programs that write what clients write, and the crate whose SQL names kinds.
const ELSEWHERE: [&str; 5] = ["crates/testkit/", "crates/torture/", "crates/bench/", "crates/store/", "xtask/"];

pub fn check(sources: &Sources) -> Vec<Finding> {
    let kinds = known(sources.get(KINDS).map_or("", String::as_str));
    let mut findings = Vec::new();
    for (path, text) in sources.iter().filter(|(path, _)| is_product(path)) {
        // A file that is not Rust is a finding of another rule.
        let tokens = tokens(text).unwrap_or_default();
        let code = before_tests(&tokens);
        findings.extend(literals(path, code, &kinds));
        findings.extend(members(path, code));
    }
    findings
}

/// The stored names in the declaration of the kinds: lines such as `SessionClaimed(Claimed) = "session.claimed", …;`.
fn known(declaration: &str) -> Vec<String> {
    let name = |line: &str| Some(line.split_once(") = ")?.1.split_once(',')?.0.to_owned());
    declaration.lines().filter_map(|line| name(line.trim())).filter(|name| name.starts_with('"')).collect()
}

fn is_product(path: &str) -> bool {
    let is_test = ["/tests.rs", "_tests.rs", "/fake.rs", "/fixture.rs"].iter().any(|end| path.ends_with(end))
        || path.contains("/tests/");
    path.ends_with(".rs")
        && path.contains("src/")
        && !is_test
        && !path.starts_with(HOME)
        && !ELSEWHERE.iter().any(|folder| path.starts_with(folder))
}

/// The code above the tests of a file, which are its end.
fn before_tests(tokens: &[Token]) -> &[Token] {
    let begins = |at: usize| {
        let words = tokens[at..].iter().map(|token| token.text.as_str());
        words.take(7).eq(["#", "[", "cfg", "(", "test", ")", "]"])
            && tokens.get(at + 7).is_some_and(|token| token.text == "mod")
    };
    let end = (0..tokens.len()).find(|at| begins(*at)).unwrap_or(tokens.len());
    &tokens[..end]
}

fn literals(path: &str, tokens: &[Token], kinds: &[String]) -> Vec<Finding> {
    let named = tokens.iter().filter(|token| kinds.contains(&token.text));
    named
        .map(|token| {
            let what = format!("{} is a kind: name it by domain::event::Known or its payload", token.text);
            Finding::new(path, token.line, "event-kind", what)
        })
        .collect()
}

fn members(path: &str, tokens: &[Token]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.text == "metadata") {
        let text = |ahead: usize| tokens.get(at + ahead).map_or("", |token| token.text.as_str());
        let by_index = text(1) == "[" && is_string(text(2));
        let by_get = text(1) == "." && text(2) == "get" && text(3) == "(" && is_string(text(4));
        if by_index || by_get {
            let what = "a member of metadata by its name: read it with domain::event::Body or a type of its own";
            findings.push(Finding::new(path, token.line, "event-metadata", what));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &str = "kinds! {\n    /// A worker took it.\n    SessionClaimed(Claimed) = \"session.claimed\", Server, System, State;\n}";

    #[track_caller]
    fn finds(path: &str, text: &str, expected: &[(usize, &str)]) {
        let sources = Sources::from([(KINDS.to_owned(), DECLARED.to_owned()), (path.to_owned(), text.to_owned())]);
        let found = check(&sources);
        let found: Vec<(usize, &str)> = found.iter().map(|finding| (finding.line, finding.rule)).collect();
        assert_eq!(found, expected, "{path}: {text}");
    }

    #[test]
    fn kinds_are_named_by_their_type() {
        let text = "fn f() {\n    write(\"session.claimed\");\n}\n";
        finds("crates/ledger/src/session/claim.rs", text, &[(2, "event-kind")]);
        finds("crates/store/src/session/claim.rs", text, &[]);
        finds("crates/ledger/src/session/tests.rs", text, &[]);
        finds("crates/ledger/src/session/claim.rs", "fn f() { write(\"session.renamed\"); }", &[]);
        let tested = format!("const A: u8 = 1;\n#[cfg(test)]\nmod tests {{\n{text}}}\n");
        finds("crates/ledger/src/session/claim.rs", &tested, &[]);
    }

    #[test]
    fn members_of_metadata_are_read_by_a_type() {
        for text in ["fn f() { metadata[\"line\"] = 1; }", "fn f() { let line = event.metadata.get(\"line\"); }"] {
            finds("server/src/web/session.rs", text, &[(1, "event-metadata")]);
        }
        finds("server/src/web/session.rs", "fn f() { metadata[KEY]; event.metadata.get(); }", &[]);
    }
}
