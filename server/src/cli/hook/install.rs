//! `shiftbook hook install` and `uninstall`: shows the change of the agent's settings, asks, and keeps a copy of the
//! old file.

use super::{args::InstallArgs, settings};
use crate::cli::{
    common::{Failure, print_line},
    settings_file::{Change, confirm, quoted, this_program},
};
use domain::hook::Source;
use std::path::PathBuf;

/// Adds the hooks to the agent's settings.
pub fn install(args: &InstallArgs) -> Result<(), Failure> {
    let program = quoted(&this_program()?);
    if !change(args, |text| settings::install(text, args.source, &program))? {
        return Ok(());
    }
    if std::env::var_os("SHIFTBOOK_TOKEN").is_none() {
        print_line(
            "Set SHIFTBOOK_TOKEN (and SHIFTBOOK_URL) where the agent starts; without a token nothing is recorded.",
        )?;
    }
    if args.source == Source::Codex {
        print_line("Codex runs new hooks only after you have reviewed them: type /hooks in Codex.")?;
    }
    Ok(())
}

/// Removes the hooks from the agent's settings.
pub fn uninstall(args: &InstallArgs) -> Result<(), Failure> {
    change(args, |text| settings::uninstall(text, args.source)).map(|_| ())
}

/// Changes the settings file. Returns whether it was changed.
fn change(args: &InstallArgs, edit: impl FnOnce(&str) -> Result<String, String>) -> Result<bool, Failure> {
    let path = match &args.settings {
        Some(path) => path.clone(),
        None => settings_file(args.source)?,
    };
    let change = Change::edited(&path, edit)?;
    let name = change.path().display();
    if change.is_done() {
        print_line(&format!("{name}: nothing to change"))?;
        return Ok(false);
    }
    change.show()?;
    if !args.yes && !confirm(&format!("Write this to {name}?"))? {
        print_line("Nothing was changed.")?;
        return Ok(false);
    }
    match change.carry_out()? {
        Some(kept) => print_line(&format!("Written. The previous version of the file: {}", kept.display()))?,
        None => print_line("Written.")?,
    }
    Ok(true)
}

/// The file with the hooks of an agent for this user.
///
/// # Errors
/// If neither HOME nor the agent's own variable is set, or the agent has no such file.
pub fn settings_file(source: Source) -> Result<PathBuf, Failure> {
    let (own, folder, file) = match source {
        Source::ClaudeCode => (Some("CLAUDE_CONFIG_DIR"), ".claude", "settings.json"),
        Source::Codex => (Some("CODEX_HOME"), ".codex", "hooks.json"),
        Source::Gemini => (None, ".gemini", "settings.json"),
        Source::OpenCode | Source::Pi | Source::OpenClaw => {
            return Err(Failure::Misused(format!("{} has no hooks; use `shiftbook connect`", source.label())));
        }
    };
    let folder = own.and_then(folder_in).or_else(|| Some(folder_in("HOME")?.join(folder)));
    folder.map(|folder| folder.join(file)).ok_or_else(|| Failure::Misused("HOME is not set; pass --settings".into()))
}

/// The folder that an environment variable names; `None` if it is not set or empty.
pub fn folder_in(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}
