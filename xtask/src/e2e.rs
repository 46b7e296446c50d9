//! `cargo xtask e2e`: runs Playwright with Chromium against the release binary.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::build::{Build, build_tests};
use crate::process::run;
use crate::progress::say;
use crate::steps::Count;
use crate::workspace::{command as program, root, target};

pub fn command(arguments: &[String]) -> Result<()> {
    crate::prerequisites::ensure()?;
    crate::build::build()?;
    e2e(Build::Release, arguments)
}

/// Type-checks the specs and runs them. See [`count`] for the number of passed tests, which is known also if some fail.
pub fn e2e(build: Build, arguments: &[String]) -> Result<()> {
    // Results of an earlier run must not be used.
    let _ = std::fs::remove_file(results());
    run(tool(build, "tsc").arg("--noEmit"))?;
    gallery()?;
    run(tool(build, "playwright").arg("test").args(arguments))
}

/// Runs the specs that look at pages with axe, and writes pictures of these pages to a new folder in place of the
/// checks.
pub fn pictures(build: Build, folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    gallery()?;
    let mut playwright = tool(build, "playwright");
    playwright.env("SHIFTBOOK_PICTURES", folder).args(["test", "--project", "js"]).args(specs_with_axe()?);
    run(&mut playwright)
}

/// Names of the specs that look at pages with axe.
fn specs_with_axe() -> Result<Vec<OsString>> {
    let mut specs = Vec::new();
    for entry in std::fs::read_dir(root().join("end2end/tests"))? {
        let entry = entry?;
        if std::fs::read_to_string(entry.path())?.contains("expectAccessible") {
            specs.push(entry.file_name());
        }
    }
    specs.sort();
    Ok(specs)
}

/// Writes the page of all components, which one spec checks. It is compiled together with the tests: alone it would get
/// other features of its dependencies, and cargo would compile `leptos` and `app` once more.
fn gallery() -> Result<()> {
    build_tests()?;
    run(program(target("debug/examples/gallery")).arg(gallery_folder()))
}

fn gallery_folder() -> PathBuf {
    target("e2e/gallery")
}

/// A program of the folder `end2end`, with the binary to test.
pub fn tool(build: Build, name: &str) -> Command {
    let folder = root().join("end2end");
    let mut tool = program(folder.join("node_modules/.bin").join(name));
    tool.current_dir(&folder)
        .env("SHIFTBOOK_BIN", build.shiftbook())
        .env("SHIFTBOOK_GALLERY", gallery_folder())
        .env("SHIFTBOOK_PYTHON", crate::prerequisites::example_python())
        .env("PLAYWRIGHT_JSON_OUTPUT_FILE", results());
    tool
}

fn results() -> PathBuf {
    target("e2e/results.json")
}

/// Counts of the last run. Tests that passed only at a second attempt, which CI makes, are named: each is a bug of the
/// product or of the test.
pub fn count() -> Result<Count> {
    let text = std::fs::read_to_string(results()).context("Playwright left no results")?;
    let results: Value = serde_json::from_str(&text)?;
    for name in retried(&results) {
        say(&format!("    passed only at a second attempt: {name}"));
    }
    let number = |name: &str| results.pointer(&format!("/stats/{name}")).and_then(Value::as_u64).unwrap_or(0);
    Ok(Count { passed: number("expected") + number("flaky"), failed: number("unexpected") })
}

/// The tests below a suite of Playwright's results that passed only at a second attempt: file and title.
fn retried(suite: &Value) -> Vec<String> {
    let list = |name: &str| suite[name].as_array().into_iter().flatten();
    let is_flaky = |spec: &&Value| spec["tests"].as_array().into_iter().flatten().any(|test| test["status"] == "flaky");
    let text = |of: &Value| of.as_str().unwrap_or_default().to_owned();
    let own = list("specs").filter(is_flaky).map(|spec| format!("{}: {}", text(&spec["file"]), text(&spec["title"])));
    own.chain(list("suites").flat_map(retried)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tests_that_passed_only_at_a_second_attempt_are_found_in_every_suite() {
        let spec =
            |title: &str, status: &str| json!({ "title": title, "file": "a.spec.ts", "tests": [{ "status": status }] });
        let inner = json!({ "specs": [spec("second", "flaky")] });
        let outer = json!({ "specs": [spec("first", "expected")], "suites": [inner] });
        assert_eq!(retried(&json!({ "suites": [outer] })), ["a.spec.ts: second"]);
    }
}
