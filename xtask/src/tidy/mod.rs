//! `cargo xtask tidy`: checks the rules of this repository that compilers do not know. A finding is one line,
//! `file:line: rule: what`.
//!
//! The rules are pure functions over texts; each is tested with a fixture that breaks it.

mod allowed;
mod browser;
mod budget;
mod code;
mod dependencies;
mod events;
mod figures;
mod files;
mod folders;
mod gallery;
mod handlers;
mod limits;
mod map;
mod modules;
mod pictures;
mod prose;
mod texts;
mod token;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::process::capture;
use crate::progress::say;
use crate::workspace::{cargo, files_below, root};

/// A place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub file: String,
    pub line: usize,
    pub rule: &'static str,
    pub what: String,
}

impl Finding {
    pub fn new(file: &str, line: usize, rule: &'static str, what: impl Into<String>) -> Finding {
        Finding { file: file.to_owned(), line, rule, what: what.into() }
    }
}

/// Texts of files by their path from the root, with forward slashes.
pub type Sources = BTreeMap<String, String>;

const ALLOWED: &str = "xtask/tidy-allow.txt";
const BUDGETS: &str = "xtask/tidy-budget.txt";

#[derive(Default, clap::Args)]
pub struct Options {
    /// Write the map of imports (docs/imports.md) and the figures of the browser code (docs/pages.md) anew, and remove
    /// circles that are gone from xtask/tidy-circles.txt.
    #[arg(long)]
    map: bool,
    /// Lower the numbers in xtask/tidy-budget.txt to what is found.
    #[arg(long)]
    lower: bool,
}

pub fn command(options: &Options) -> Result<()> {
    let mut sources = read(&root())?;
    if options.map {
        let rewritten = map::rewritten(&sources);
        let (document, circles) = rewritten.with_context(|| format!("{} has no place for the map", map::FILE))?;
        write(&mut sources, map::FILE, document)?;
        write(&mut sources, map::CIRCLES, circles)?;
        let document = figures::rewritten(&sources);
        let document = document.with_context(|| format!("{} has no place for the figures", figures::FILE))?;
        write(&mut sources, figures::FILE, document)?;
    }
    if options.lower {
        let findings = check(&sources);
        let list = budget::lowered(sources.get(BUDGETS).map_or("", String::as_str), &findings);
        write(&mut sources, BUDGETS, list)?;
    }
    check_all(&sources)
}

fn write(sources: &mut Sources, path: &str, text: String) -> Result<()> {
    std::fs::write(root().join(path), &text).with_context(|| format!("cannot write {path}"))?;
    sources.insert(path.to_owned(), text);
    Ok(())
}

/// Checks everything and shows what is found.
fn check_all(sources: &Sources) -> Result<()> {
    let mut findings = check(sources);
    let metadata = capture(cargo().args(["metadata", "--format-version", "1"]))?;
    findings.extend(dependencies::forbidden_below_pure_crates(&serde_json::from_str(&metadata)?));
    let allowed = sources.get(ALLOWED).map_or("", String::as_str);
    let findings = allowed::apply(ALLOWED, allowed, findings);
    let budgets = sources.get(BUDGETS).map_or("", String::as_str);
    let findings = budget::apply(BUDGETS, budgets, findings);
    for Finding { file, line, rule, what } in &findings {
        say(&format!("{file}:{line}: {rule}: {what}"));
    }
    if !findings.is_empty() {
        bail!("tidy has {} findings", findings.len());
    }
    say(&format!("    tidy: {} files in order", sources.len()));
    Ok(())
}

fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in sources {
        if path.ends_with(".rs") {
            findings.extend(code::check(path, text));
            findings.extend(texts::check(path, text));
            findings.extend(handlers::check(path, text));
        }
        if path.ends_with(".js") {
            findings.extend(browser::check_script(path, text));
        }
        findings.extend(files::check(path, text));
        if path.ends_with("Cargo.toml") {
            findings.extend(dependencies::check(path, text));
        }
    }
    findings.extend(files::check_migrations(sources));
    findings.extend(prose::check(sources));
    findings.extend(events::check(sources));
    findings.extend(map::check(sources));
    findings.extend(figures::check(sources));
    findings.extend(pictures::check(sources));
    findings.extend(gallery::check(sources));
    findings.extend(limits::check(sources));
    findings.sort();
    findings
}

/// Reads the files that people write, and the names of pictures; other files are not text or are generated.
fn read(root: &Path) -> Result<Sources> {
    const WRITTEN: [&str; 11] =
        [".rs", ".md", ".css", ".ts", ".sql", ".py", ".sh", "Cargo.toml", ".txt", ".mjs", ".js"];
    let mut sources = Sources::new();
    for file in files_below(root)? {
        let path = file.strip_prefix(root)?.to_string_lossy().replace('\\', "/");
        if WRITTEN.iter().any(|ending| path.ends_with(ending)) {
            let text = std::fs::read_to_string(&file).with_context(|| format!("{path} is not UTF-8"))?;
            sources.insert(path, text);
        } else if path.starts_with(pictures::FOLDER) {
            // Only its name is checked.
            sources.insert(path, String::new());
        }
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_of_all_rules_come_together_in_order() {
        let sources = Sources::from([
            ("app/Cargo.toml".to_owned(), "[dependencies]\nstore = { workspace = true }\n".to_owned()),
            ("crates/domain/src/lib.rs".to_owned(), "fn now() { chrono::Utc::now(); }\n".to_owned()),
            ("migrations/sqlite/0001_log.sql".to_owned(), String::new()),
        ]);
        let rules: Vec<&str> = check(&sources).iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, ["crate-direction", "ambient", "map", "figures", "migration-pair"]);
    }

    #[test]
    fn this_repository_can_be_read() {
        let sources = read(&root()).unwrap();
        assert!(sources.contains_key("xtask/src/tidy/mod.rs") && sources.contains_key("Cargo.toml"));
        assert!(!sources.keys().any(|path| path.starts_with("target/")));
    }
}
