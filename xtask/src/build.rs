//! `cargo xtask build`: the site, then one release binary with the site inside.

use anyhow::Result;

use crate::process::run;
use crate::progress::{announced, say};
use crate::workspace::cargo;

pub fn build() -> Result<()> {
    crate::site::build()?;
    announced("compile the server", || run(cargo().args(["build", "--release", "--package", "server"])))?;
    say("    target/release/shiftbook is ready");
    Ok(())
}
