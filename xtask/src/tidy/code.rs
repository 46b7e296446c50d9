//! Rules over Rust code. They read tokens, so that comments and strings are not taken for code.

use super::token::{Token, is_string, tokens};
use super::{Finding, browser};

/// Paths that read the clock, the environment or randomness, by their ends.
const AMBIENT: [&[&str]; 13] = [
    &["Utc", "::", "now"],
    &["Local", "::", "now"],
    &["SystemTime", "::", "now"],
    &["env", "::", "var"],
    &["env", "::", "var_os"],
    &["env", "::", "vars"],
    &["env", "::", "vars_os"],
    &["Uuid", "::", "now_v7"],
    &["Uuid", "::", "new_v4"],
    &["getrandom", "::"],
    &["use", "getrandom"],
    &["rand", "::"],
    &["use", "rand"],
];
/// Folders of the crates at the edge of a process, where such values enter. Others take them as parameters.
const AMBIENT_FOLDERS: &[&str] = &["server/", "crates/testkit/", "crates/torture/", "crates/bench/", "xtask/"];
const SQL_FOLDERS: &[&str] = &["crates/store/", "crates/testkit/", "crates/bench/", "xtask/"];
/// The server sets status codes; the others are HTTP clients, which have to read them.
const STATUS_FOLDERS: &[&str] = &[
    "server/",
    "app/src/server_function/",
    "crates/client/",
    "crates/testkit/",
    "crates/torture/",
    "crates/bench/",
    "xtask/",
];
const UNFINISHED: [&str; 3] = ["todo", "unimplemented", "dbg"];

pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let tokens = match tokens(text) {
        Ok(tokens) => tokens,
        Err(line) => return vec![Finding::new(path, line, "syntax", "this is not Rust")],
    };
    let mut findings = Vec::new();
    let lives_in = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    // A build script reads its environment while it compiles, not at run time.
    if !lives_in(AMBIENT_FOLDERS) && !path.ends_with("/build.rs") {
        findings.extend(ambient(path, &tokens));
    }
    if !lives_in(SQL_FOLDERS) {
        findings.extend(sql(path, &tokens));
    }
    if !lives_in(STATUS_FOLDERS) {
        for token in tokens.iter().filter(|token| token.text == "StatusCode") {
            let what = "HTTP status codes are known to server alone; use a problem code of wire";
            findings.push(Finding::new(path, token.line, "status-code", what));
        }
    }
    findings.extend(unfinished(path, &tokens));
    findings.extend(browser::check(path, &tokens));
    findings
}

fn ambient(path: &str, tokens: &[Token]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for pattern in AMBIENT {
        for found in tokens.windows(pattern.len()) {
            if found.iter().zip(pattern).all(|(token, word)| token.text == *word) {
                let what = format!("{} below the edge: take it as a parameter", pattern.concat());
                findings.push(Finding::new(path, found[0].line, "ambient", what));
            }
        }
    }
    findings
}

fn sql(path: &str, tokens: &[Token]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        // A documentation comment arrives as `doc = "…"`.
        let is_doc = at >= 2 && tokens[at - 1].text == "=" && tokens[at - 2].text == "doc";
        if !is_doc && is_string(&token.text) && reads_as_sql(&token.text) {
            findings.push(Finding::new(path, token.line, "sql", "SQL belongs to crates/store and migrations"));
        }
    }
    findings
}

fn unfinished(path: &str, tokens: &[Token]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for pair in tokens.windows(2) {
        if UNFINISHED.contains(&pair[0].text.as_str()) && pair[1].text == "!" {
            findings.push(Finding::new(path, pair[0].line, "unfinished", format!("{}! stays out", pair[0].text)));
        }
    }
    for four in tokens.windows(4) {
        if four.iter().map(|token| token.text.as_str()).eq(["#", "[", "ignore", "]"]) {
            findings.push(Finding::new(path, four[0].line, "unfinished", "an ignored test says why"));
        }
    }
    findings
}

/// Finds upper-case keywords as whole words: prose says "select", SQL in this repository SELECT.
fn reads_as_sql(literal: &str) -> bool {
    let text = literal.replace("\\n", " ");
    let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let has = |first: &str, second: &str| words.windows(2).any(|pair| pair == [first, second]);
    let selects = words.iter().position(|word| *word == "SELECT").is_some_and(|at| at + 1 < words.len());
    let updates = words.windows(3).any(|three| three[0] == "UPDATE" && three[2] == "SET");
    selects || updates || has("INSERT", "INTO") || has("DELETE", "FROM")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn finds(path: &str, text: &str, expected: &[(usize, &str)]) {
        let found = check(path, text);
        let found: Vec<(usize, &str)> = found.iter().map(|finding| (finding.line, finding.rule)).collect();
        assert_eq!(found, expected, "{path}: {text}");
    }

    #[test]
    fn the_clock_the_environment_and_randomness_are_read_at_the_edge_only() {
        for code in [
            "chrono::Utc::now()",
            "SystemTime::now()",
            "std::env::var(\"A\")",
            "getrandom::fill(&mut bytes)",
            "rand::random()",
            "Uuid::now_v7()",
        ] {
            let text = format!("fn f() {{\n    {code};\n}}\n");
            finds("crates/ledger/src/session/cancel.rs", &text, &[(2, "ambient")]);
            finds("server/src/clock.rs", &text, &[]);
            finds("crates/torture/src/main.rs", &text, &[]);
        }
        finds("crates/store/src/lib.rs", "// not Utc::now()\nconst A: &str = \"Utc::now()\";\nfn now() {}\n", &[]);
    }

    #[test]
    fn sql_is_only_in_the_store() {
        for text in [
            "const A: &str = \"SELECT id FROM sessions\";",
            "const A: &str = r#\"INSERT INTO sessions (id) VALUES ($1)\"#;",
            "const A: &str = \"UPDATE sessions SET status = $1\";",
            "fn f() { run(concat!(\"DELETE FROM sessions\")) }",
            "const A: &str = \"\n  SELECT 1\n\";",
        ] {
            finds("crates/ledger/src/session.rs", text, &[(1, "sql")]);
            finds("crates/store/src/session.rs", text, &[]);
        }
        finds(
            "app/src/today/page.rs",
            "/// SELECT id FROM sessions\nconst A: &str = \"Select a session, UPDATED\";",
            &[],
        );
    }

    #[test]
    fn status_codes_are_known_to_the_server_only() {
        finds("crates/wire/src/problem.rs", "\nuse axum::http::StatusCode;", &[(2, "status-code")]);
        finds("server/src/problem.rs", "use axum::http::StatusCode;", &[]);
    }

    #[test]
    fn nothing_is_left_unfinished() {
        finds("server/src/main.rs", "fn f() { todo!() }", &[(1, "unfinished")]);
        finds("server/src/main.rs", "fn f() { unimplemented!(\"later\") }", &[(1, "unfinished")]);
        finds("server/src/main.rs", "fn f() { dbg!(1); }", &[(1, "unfinished")]);
        finds("server/src/main.rs", "#[test]\n#[ignore]\nfn f() {}", &[(2, "unfinished")]);
        finds("server/src/main.rs", "#[test]\n#[ignore = \"needs a loop device\"]\nfn f() { let todo = 1; }", &[]);
    }

    #[test]
    fn what_is_not_rust_is_said_to_be() {
        finds("server/src/main.rs", "fn f() {\n  \"open\n", &[(2, "syntax")]);
    }
}
