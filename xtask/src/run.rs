//! `cargo xtask run`: from a clone to a running dashboard.

use std::path::PathBuf;

use anyhow::Result;

use crate::build::{self, Build};
use crate::demo;
use crate::progress::say;
use crate::scripted_model::ScriptedModel;
use crate::served::Served;
use crate::workspace::root;

#[derive(clap::Args)]
pub struct Options {
    /// Address to serve on.
    #[arg(long, default_value = "127.0.0.1:4210")]
    listen: String,
    /// Where the data lives; a relative path counts from the root of the workspace.
    #[arg(long, default_value = "data")]
    data_dir: PathBuf,
    /// Start empty: the first visitor sets up the first user.
    #[arg(long)]
    no_demo: bool,
    /// Run the binary that ships, which takes twice as long to compile.
    #[arg(long)]
    release: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let build = if options.release {
        build::build()?;
        Build::Release
    } else {
        build::build_first()?;
        Build::First
    };
    let data_dir = root().join(&options.data_dir);
    let fresh = std::fs::read_dir(&data_dir).map_or(true, |mut entries| entries.next().is_none());
    std::fs::create_dir_all(&data_dir)?;

    let sign_in = if options.no_demo {
        None
    } else if fresh {
        Some(demo::SignIn::create(build, &data_dir)?)
    } else {
        demo::SignIn::read(&data_dir)
    };
    // Whoever names settings wants these, and the memory writers that they name.
    let settings = match &sign_in {
        Some(_) if std::env::var_os("SHIFTBOOK_CONFIG").is_none() => {
            Some(ScriptedModel::start()?.write_settings(demo::TENANT, &data_dir)?)
        }
        _ => None,
    };
    let mut server = Served::start_with(build, &data_dir, &options.listen, settings.as_deref())?;
    say("");
    say(&format!("    Shiftbook    {}", server.url));
    if let Some(sign_in) = &sign_in {
        say(&format!("    sign in as   {}", sign_in.email));
        say(&format!("    password     {}", sign_in.password));
    }
    say("    stop with Ctrl-C");
    say("");

    // The workers stay for as long as the server does, so that actions can be triggered in the browser.
    let _workers = match &sign_in {
        Some(sign_in) => demo::start_workers(&server, sign_in, &data_dir)?,
        None => Vec::new(),
    };
    if let (Some(sign_in), true) = (&sign_in, fresh) {
        demo::play(&server, sign_in)?;
    }
    server.wait()
}
