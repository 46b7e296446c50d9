//! `cargo xtask bench [--quick]`: the release binary measured beside the bare engines, training data beside the bare file, and the inbox in a real Chromium.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::postgres::{Postgres, URL_VARIABLE};
use crate::process::run;
use crate::workspace::{cargo, package_with_binary, shiftbook, target};

pub fn bench(arguments: &[String]) -> Result<()> {
    let package = package_with_binary("bench")?.context("no package has a binary `bench`")?;
    crate::build::build()?;
    // Before the rest: whoever asked for single goals did not ask for this one.
    let figures = if arguments.iter().any(|word| word.starts_with("--only")) { None } else { Some(inbox()?) };
    let mut renderer = cargo();
    renderer.args(["build", "--release", "--package", "app", "--features", "ssr", "--example", "render_page"]);
    run(&mut renderer)?;
    let mut lake_probe = cargo();
    lake_probe.args(["build", "--release", "--package", "datalake", "--bin", "datalake-probe"]);
    run(&mut lake_probe)?;
    let postgres = Postgres::start()?;
    let mut bench = cargo();
    bench
        .env(URL_VARIABLE, postgres.url())
        .args(["run", "--release", "--package", &package, "--bin", "bench", "--", "--server"])
        .arg(shiftbook())
        .arg("--renderer")
        .arg(target("release/examples/render_page"))
        .arg("--lake-probe")
        .arg(target("release/datalake-probe"))
        .args(arguments);
    if let Some(figures) = figures {
        bench.arg("--browser").arg(figures);
    }
    run(&mut bench)
}

/// Ten thousand items and a reviewer with a keyboard; the file of what was measured.
fn inbox() -> Result<PathBuf> {
    crate::prerequisites::ensure()?;
    let figures = target("bench/inbox.json");
    // Those of an earlier run must not be taken for this one's.
    let _ = std::fs::remove_file(&figures);
    let mut playwright = crate::e2e::tool("playwright");
    playwright.env("SHIFTBOOK_BENCH_FIGURES", &figures).args(["test", "--config", "bench.config.ts", "inbox.ts"]);
    run(&mut playwright)?;
    Ok(figures)
}
