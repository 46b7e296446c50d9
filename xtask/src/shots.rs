//! `cargo xtask shots`: takes the screenshots of README and docs, of the demo workspace on a server of its own.

use anyhow::Result;

use crate::build::{self, Build};
use crate::demo;
use crate::e2e;
use crate::process::run;
use crate::progress::announced;
use crate::served::Served;
use crate::workspace::root;

/// Folder of the screenshots.
const FOLDER: &str = "docs/images";
const LISTEN: &str = "127.0.0.1:0";

pub fn shots() -> Result<()> {
    crate::prerequisites::ensure()?;
    build::build_first()?;
    let data = tempfile::tempdir()?;
    let sign_in = demo::SignIn::create(Build::First, data.path())?;
    let server = Served::start(Build::First, data.path(), LISTEN)?;
    let _workers = demo::start_workers(&server, &sign_in, data.path())?;
    demo::play(&server, &sign_in)?;
    announced("take the pictures", || {
        let mut playwright = e2e::tool(Build::First, "playwright");
        playwright
            .env("SHIFTBOOK_SHOTS_URL", &server.url)
            .env("SHIFTBOOK_SHOTS_EMAIL", &sign_in.email)
            .env("SHIFTBOOK_SHOTS_PASSWORD", &sign_in.password)
            .env("SHIFTBOOK_SHOTS_FOLDER", root().join(FOLDER))
            .args(["test", "--config", "shots.config.ts"]);
        run(&mut playwright)
    })
}
