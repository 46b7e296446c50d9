//! `cargo xtask run`: from a clone to a running dashboard.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::build::{self, Build};
use crate::progress::say;
use crate::scripted_model::ScriptedModel;
use crate::served::Served;
use crate::workspace::{find_program, root};
use crate::{demo, demo_tools};

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

/// The server's log in the data folder. Each run begins it anew.
const LOG: &str = "server.log";
/// Begins the line of the server's log with the code that browsers on other machines need.
const SET_UP_CODE: &str = "shiftbook: no one has set this server up.";

/// Makes the data folder, which only its owner can use: it holds a key, and everyone's messages.
fn make_data_dir(data_dir: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(data_dir);
    made.with_context(|| format!("cannot make {}", data_dir.display()))
}

/// The path as a person in the workspace would write it.
fn from_root(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
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
    let fresh = fs::read_dir(&data_dir).map_or(true, |mut entries| entries.next().is_none());
    make_data_dir(&data_dir)?;

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
    let everything = settings.as_deref().zip(demo_tools::everything_command());
    if let Some((settings, command)) = &everything {
        demo_tools::allow_mcp_server(settings, demo::TENANT, demo_tools::EVERYTHING.0, command)?;
    }
    let log = data_dir.join(LOG);
    let mut server = Served::start_logged(build, &data_dir, &options.listen, settings.as_deref(), &log)?;
    say("");
    say(&format!("    Shiftbook    {}", server.url));
    if let Some(sign_in) = &sign_in {
        say(&format!("    sign in as   {}", sign_in.email));
        say(&format!("    password     {}", sign_in.password));
    }
    if let Some(code) = fs::read_to_string(&log)?.lines().find(|line| line.starts_with(SET_UP_CODE)) {
        say(&format!("    {code}"));
    }
    say(&format!("    log          {}", from_root(&log)));
    say("    stop with Ctrl-C");
    say("");

    // The workers stay for as long as the server does, so that actions can be triggered in the browser.
    let _workers = match &sign_in {
        Some(sign_in) => demo::start_workers(&server, sign_in, &data_dir)?,
        None => Vec::new(),
    };
    // Only our settings let tools call a service on this machine.
    let python = find_program("python3").filter(|_| settings.is_some());
    let service = python.map(|python| demo_tools::start_service(&python, &data_dir.join("demo-agents.log")));
    let service = service.transpose()?;
    if let (Some(sign_in), true) = (&sign_in, fresh) {
        demo::play(&server, sign_in)?;
        if service.is_some() {
            demo_tools::play(&server.client(&sign_in.operator_token))?;
        }
        if everything.is_some() {
            demo_tools::run_mcp_tool(&server.client(&sign_in.operator_token), demo_tools::EVERYTHING)?;
        }
    }
    server.wait()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_data_folder_is_made_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = dir.path().join("new/data");
        make_data_dir(&data_dir).unwrap();
        assert_eq!(fs::metadata(&data_dir).unwrap().permissions().mode() & 0o777, 0o700);
        make_data_dir(&data_dir).unwrap();
    }

    #[test]
    fn paths_in_the_workspace_are_short() {
        assert_eq!(from_root(&root().join("data/server.log")), "data/server.log");
        assert_eq!(from_root(Path::new("/srv/data/server.log")), "/srv/data/server.log");
    }
}
