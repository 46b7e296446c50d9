//! `cargo xtask bench [--quick]`: the release binary measured beside the bare engines.

use anyhow::{Context, Result};

use crate::postgres::{Postgres, URL_VARIABLE};
use crate::process::run;
use crate::workspace::{cargo, package_with_binary, shiftbook};

pub fn bench(arguments: &[String]) -> Result<()> {
    let package = package_with_binary("bench")?.context("no package has a binary `bench`")?;
    crate::build::build()?;
    let postgres = Postgres::start()?;
    let mut bench = cargo();
    bench
        .env(URL_VARIABLE, postgres.url())
        .args(["run", "--release", "--package", &package, "--bin", "bench", "--", "--server"])
        .arg(shiftbook())
        .args(arguments);
    run(&mut bench)
}
