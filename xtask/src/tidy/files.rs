//! Rules over files as text: length, notes that must not stay, pairs of migrations.

use std::collections::BTreeSet;

use super::{Finding, Sources};

const LINES_MAX: usize = 500;
/// In two parts, so that this file does not break its own rule.
const NOTE: &str = concat!("FIX", "ME");
const ENGINES: [&str; 2] = ["sqlite", "postgres"];

pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = text.lines().count();
    // Prose is as long as its subject.
    if lines > LINES_MAX && !path.ends_with(".md") {
        let what = format!("{lines} lines, more than {LINES_MAX}: split it or give a reason in xtask/tidy-allow.txt");
        findings.push(Finding::new(path, LINES_MAX + 1, "length", what));
    }
    for (at, line) in text.lines().enumerate() {
        if line.contains(NOTE) {
            findings.push(Finding::new(path, at + 1, "note", format!("a {NOTE} is done or becomes an issue")));
        }
        let comment = line.trim_start().strip_prefix("//").unwrap_or_default().trim_start();
        if path.ends_with(".rs") && (comment.starts_with("#[ignore") || comment.starts_with("#[test")) {
            findings.push(Finding::new(path, at + 1, "note", "a test is not commented out"));
        }
    }
    findings
}

/// Checks that both engines have the same migrations, numbered from 0001 without gaps.
pub fn check_migrations(sources: &Sources) -> Vec<Finding> {
    let names = |engine: &str| -> BTreeSet<&str> {
        let folder = format!("migrations/{engine}/");
        sources.keys().filter_map(|path| path.strip_prefix(folder.as_str())).collect()
    };
    let mut findings = Vec::new();
    for (engine, other) in [(ENGINES[0], ENGINES[1]), (ENGINES[1], ENGINES[0])] {
        let (own, others) = (names(engine), names(other));
        for name in own.difference(&others) {
            let what = format!("migrations/{other}/ has no {name}");
            findings.push(Finding::new(&format!("migrations/{engine}/{name}"), 1, "migration-pair", what));
        }
        for (name, number) in own.iter().zip(1..) {
            if !name.starts_with(&format!("{number:04}_")) {
                let what = format!("the number here should be {number:04}");
                findings.push(Finding::new(&format!("migrations/{engine}/{name}"), 1, "migration-number", what));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_found() {
        assert_eq!(check("a.rs", &"//\n".repeat(500)), []);
        let found = check("a.css", &"\n".repeat(501));
        assert_eq!((found[0].line, found[0].rule), (501, "length"));
    }

    #[test]
    fn notes_and_commented_tests_are_found() {
        assert_eq!(check("a.css", &format!("a {{}}\n/* {NOTE} */\n"))[0].line, 2);
        assert_eq!(check("a.rs", "fn f() {}\n    // #[ignore]\n")[0].line, 2);
        assert_eq!(check("a.rs", "// see #[ignore] in the book\n"), []);
    }

    #[test]
    fn migrations_come_in_pairs_without_gaps() {
        let found = |paths: &[&str]| {
            let sources = paths.iter().map(|path| ((*path).to_owned(), String::new())).collect();
            check_migrations(&sources).into_iter().map(|finding| (finding.file, finding.rule)).collect::<Vec<_>>()
        };
        assert_eq!(found(&["migrations/sqlite/0001_log.sql", "migrations/postgres/0001_log.sql"]), []);
        assert_eq!(
            found(&["migrations/sqlite/0001_log.sql", "migrations/postgres/0001_logs.sql"]),
            [
                ("migrations/sqlite/0001_log.sql".to_owned(), "migration-pair"),
                ("migrations/postgres/0001_logs.sql".to_owned(), "migration-pair")
            ]
        );
        let gap = found(&["migrations/sqlite/0002_log.sql", "migrations/postgres/0002_log.sql"]);
        assert!(gap.iter().all(|(_, rule)| *rule == "migration-number") && gap.len() == 2, "{gap:?}");
    }
}
