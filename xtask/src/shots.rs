//! `cargo xtask shots`: takes the screenshots of README and docs, of the demo workspace on a server of its own.

use anyhow::Result;

use crate::build::{Build, build_first};
use crate::demo;
use crate::e2e;
use crate::process::run;
use crate::progress::announced;
use crate::served::Served;
use crate::workspace::{root, target};

/// Folder of the screenshots.
const FOLDER: &str = "docs/images";
/// Folder of those that are only looked at.
const LOOK_FOLDER: &str = "shots";
/// Folder of pictures of every page.
const ALL_FOLDER: &str = "shots/pages";
/// Width of the pages in README and docs, pixels.
const WIDTH: &str = "1280";
/// Widths at which pages are looked at, pixels.
const LOOK_WIDTHS: &str = "1280,360";
const LISTEN: &str = "127.0.0.1:0";

#[derive(clap::Args)]
pub struct Options {
    /// Leaves README and docs alone: writes the pages, on a phone too, to target/shots.
    #[arg(long)]
    look: bool,
    /// Leaves README and docs alone: runs the browser tests, and writes every page that they look at to
    /// target/shots/pages, at 1680, 1280 and 360 pixels, light and dark.
    #[arg(long, conflicts_with = "look")]
    all_pages: bool,
    /// Takes them of the server of the tests, which must have been compiled.
    #[arg(long)]
    tested: bool,
}

pub fn shots(options: &Options) -> Result<()> {
    crate::prerequisites::ensure()?;
    let build = if options.tested { Build::Tests } else { Build::First };
    if !options.tested {
        build_first()?;
    }
    if options.all_pages {
        return announced("take pictures of every page", || e2e::pictures(build, &target(ALL_FOLDER)));
    }
    let data = tempfile::tempdir()?;
    let sign_in = demo::SignIn::create(build, data.path())?;
    let server = Served::start(build, data.path(), LISTEN)?;
    let _workers = demo::start_workers(&server, &sign_in, data.path())?;
    let form = demo::play(&server, &sign_in)?;
    let (folder, widths) = if options.look { (target(LOOK_FOLDER), LOOK_WIDTHS) } else { (root().join(FOLDER), WIDTH) };
    announced("take the pictures", || {
        let mut playwright = e2e::tool(build, "playwright");
        playwright
            .env("SHIFTBOOK_SHOTS_URL", &server.url)
            .env("SHIFTBOOK_SHOTS_EMAIL", &sign_in.email)
            .env("SHIFTBOOK_SHOTS_PASSWORD", &sign_in.password)
            .env("SHIFTBOOK_SHOTS_FORM", &form)
            .env("SHIFTBOOK_SHOTS_WIDTHS", widths)
            .env("SHIFTBOOK_SHOTS_FOLDER", &folder)
            .args(["test", "--config", "shots.config.ts"]);
        run(&mut playwright)
    })
}
