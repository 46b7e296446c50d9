//! `cargo xtask bench [--quick]`: measures the release binary beside the bare engines and the products it is compared
//! with, training data beside a plain file, and the inbox, the start of pages and the recorder in Chromium.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::build::Build;
use crate::postgres::{Postgres, URL_VARIABLE};
use crate::process::run;
use crate::progress::announced;
use crate::workspace::{cargo, package_with_binary, root, target};

/// Goals whose references are npm packages.
const IN_NODE: [&str; 3] = ["G8", "G9", "G13"];
/// Goals whose reference is UmaDB.
const UMADB: [&str; 2] = ["G2", "G4"];

pub fn bench(arguments: &[String]) -> Result<()> {
    let package = package_with_binary("bench")?.context("no package has a binary `bench`")?;
    crate::build::build()?;
    let is_whole = !arguments.iter().any(|word| word.starts_with("--only"));
    // Measured first, and only if no single goals are selected.
    let figures = if is_whole { Some(in_browser()?) } else { None };
    let references =
        if is_whole || names(arguments, &IN_NODE) { Some(crate::prerequisites::bench_references()?) } else { None };
    let umadb = if is_whole || names(arguments, &UMADB) { Some(umadb()?) } else { None };
    let mut renderer = cargo();
    renderer.args(["build", "--release", "--package", "app", "--features", "ssr", "--example", "render_page"]);
    run(&mut renderer)?;
    let mut datalake_probe = cargo();
    datalake_probe.args(["build", "--release", "--package", "datalake", "--bin", "datalake-probe"]);
    run(&mut datalake_probe)?;
    let mut ranker_probe = cargo();
    ranker_probe.args(["build", "--release", "--package", "ranker", "--example", "ranker_probe"]);
    run(&mut ranker_probe)?;
    let postgres = Postgres::start()?;
    let mut bench = cargo();
    bench
        .env(URL_VARIABLE, postgres.url())
        .args(["run", "--release", "--package", &package, "--bin", "bench", "--", "--server"])
        .arg(Build::Release.shiftbook())
        .arg("--renderer")
        .arg(target("release/examples/render_page"))
        .arg("--datalake-probe")
        .arg(target("release/datalake-probe"))
        .arg("--ranker-probe")
        .arg(target("release/examples/ranker_probe"))
        .args(arguments);
    if let Some(folder) = references {
        bench.arg("--reference-dir").arg(folder);
    }
    if let Some(program) = umadb {
        bench.arg("--umadb").arg(program);
    }
    if let Some(figures) = figures {
        bench.arg("--browser").arg(figures);
    }
    run(&mut bench)
}

/// Compiles the program that runs UmaDB and appends to it.
fn umadb() -> Result<PathBuf> {
    crate::prerequisites::protoc()?;
    let folder = target("umadb");
    announced("compile UmaDB, to compare with", || {
        let manifest = root().join("crates/bench/reference/umadb/Cargo.toml");
        let mut compiler = cargo();
        compiler.args(["build", "--release", "--locked", "--manifest-path"]).arg(manifest);
        run(compiler.arg("--target-dir").arg(&folder))
    })?;
    Ok(folder.join("release/umadb-append"))
}

/// Whether one of these goals is named, as in `--only G8,G13` or `--only=G8`.
fn names(arguments: &[String], goals: &[&str]) -> bool {
    let mut words = arguments.iter().flat_map(|word| word.split([',', '=']));
    words.any(|word| goals.iter().any(|goal| word.trim().eq_ignore_ascii_case(goal)))
}

/// The benchmarks in a browser: the inbox with 10,000 items, pages until they are interactive, and the recorder.
const IN_BROWSER: [&str; 3] = ["inbox.ts", "interactive.ts", "recorder.ts"];

/// Measures in a browser and returns the file with the figures. Each benchmark has a server of its own, because the
/// others would read the inbox of the first.
fn in_browser() -> Result<PathBuf> {
    crate::prerequisites::ensure()?;
    let figures = target("bench/inbox.json");
    // Figures of an earlier run must not be used.
    let _ = std::fs::remove_file(&figures);
    for file in IN_BROWSER {
        let mut playwright = crate::e2e::tool(Build::Release, "playwright");
        playwright.env("SHIFTBOOK_BENCH_FIGURES", &figures).args(["test", "--config", "bench.config.ts", file]);
        run(&mut playwright)?;
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_found_however_they_are_asked_for() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for arguments in ["--only G13", "--quick --only=g8", "--only G1,G8"] {
            assert!(names(&words(arguments), &IN_NODE), "{arguments}");
        }
        assert!(!names(&words("--quick --only G1,G18,G80"), &IN_NODE));
    }
}
