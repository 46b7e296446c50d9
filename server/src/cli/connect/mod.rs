//! `shiftbook connect`: connects a coding host with Shiftbook, so that its sessions are recorded, its agent gets its
//! memories, and rates them.
//!
//! [`files`] knows which files a host needs; [`json`] and [`codex`] edit those that belong to the host. [`check`] says
//! what works.

mod args;
mod check;
mod codex;
mod files;
mod json;

pub use args::ConnectArgs;

use super::{
    common::{Failure, print_line},
    settings_file::{Change, confirm},
};
use domain::hook::Source;
use std::{fs, path::Path};

/// Runs the command.
pub async fn run(args: ConnectArgs) -> Result<(), Failure> {
    match args.host {
        Some(host) if !args.check => connect(host, &args),
        host => check::check(host, &args.server).await,
    }
}

/// Writes or removes what connects a host, after it was shown.
fn connect(host: Source, args: &ConnectArgs) -> Result<(), Failure> {
    let mut changes = files::changes(host, !args.undo)?;
    changes.retain(|change| !change.is_done());
    if changes.is_empty() {
        return print_line(&format!("{}: nothing to change", host.label()));
    }
    for change in &changes {
        change.show()?;
    }
    if !args.yes && !confirm("Write this?")? {
        return print_line("Nothing was changed.");
    }
    for change in &changes {
        carry_out(change)?;
    }
    if args.undo { Ok(()) } else { next_steps(host, args.server.token().is_some()) }
}

fn carry_out(change: &Change) -> Result<(), Failure> {
    let kept = change.carry_out()?;
    let name = change.path().display();
    match kept {
        Some(kept) => print_line(&format!("{name}: written. The previous version: {}", kept.display()))?,
        None => print_line(&format!("{name}: written"))?,
    }
    // The folder of a plugin goes with its last file.
    if let Some(folder) = change.path().parent().filter(|folder| folder.ends_with(Path::new("shiftbook"))) {
        let _is_not_empty = fs::remove_dir(folder);
    }
    Ok(())
}

fn next_steps(host: Source, has_token: bool) -> Result<(), Failure> {
    if !has_token {
        print_line(
            "Set SHIFTBOOK_TOKEN (and SHIFTBOOK_URL) where the host starts; without a token nothing is recorded.",
        )?;
    }
    match host {
        Source::Codex => print_line("Codex runs new hooks only after you have reviewed them: type /hooks in Codex."),
        Source::OpenClaw => {
            print_line("OpenClaw shows the tool for ratings to its agent with `tools.toolSearch: false`.")
        }
        _ => Ok(()),
    }
}
