//! `shiftbook hook install` and `uninstall`: shows the change of the agent's settings, asks, and keeps a copy of the
//! old file.

use super::{args::InstallArgs, settings};
use crate::{
    ambient::SystemClock,
    cli::common::{Failure, print_line},
};
use domain::{Clock as _, hook::Source};
use similar::TextDiff;
use std::{
    fs,
    io::{BufRead as _, ErrorKind, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
};

/// Adds the hooks to the agent's settings.
pub fn install(args: &InstallArgs) -> Result<(), Failure> {
    let program = std::env::current_exe().map_err(Failure::io("cannot tell where this program is"))?;
    let program = program.to_str().ok_or_else(|| Failure::Misused("this program's path is not UTF-8".into()))?;
    let program = quoted(program);
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
fn change(args: &InstallArgs, edit: impl Fn(&str) -> Result<String, String>) -> Result<bool, Failure> {
    let path = match &args.settings {
        Some(path) => path.clone(),
        None => default_settings(args.source)?,
    };
    // The target of a symbolic link is changed, so the link stays.
    let path = fs::canonicalize(&path).unwrap_or(path);
    let before = read(&path)?;
    let text = before.as_deref().unwrap_or_default();
    let after = edit(text).map_err(|why| Failure::Failed(format!("{}: {why}", path.display())))?;
    if after == text {
        print_line(&format!("{}: nothing to change", path.display()))?;
        return Ok(false);
    }
    let name = path.display().to_string();
    let diff = TextDiff::from_lines(text, after.as_str());
    print_line(diff.unified_diff().header(&name, &name).to_string().trim_end())?;
    if !args.yes && !confirm(&path)? {
        print_line("Nothing was changed.")?;
        return Ok(false);
    }
    if read(&path)? != before {
        return Err(Failure::Failed(format!(
            "{name} has changed in the meantime; nothing was written, run this again"
        )));
    }
    let kept = before.is_some().then(|| copy_of(&path)).transpose()?;
    write(&path, &after)?;
    match kept {
        Some(kept) => print_line(&format!("Written. The previous version of the file: {}", kept.display()))?,
        None => print_line("Written.")?,
    }
    Ok(true)
}

fn read(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::io(format!("cannot read {}", path.display()))(error)),
    }
}

fn confirm(path: &Path) -> Result<bool, Failure> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::Misused("cannot ask without a terminal; add --yes to write the change shown".into()));
    }
    let mut out = std::io::stdout().lock();
    let asked = write!(out, "Write this to {}? [y/N] ", path.display()).and_then(|()| out.flush());
    asked.map_err(Failure::io("cannot write to stdout"))?;
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer).map_err(Failure::io("cannot read the answer"))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Copies the file to one beside it, with the time in its name.
fn copy_of(path: &Path) -> Result<PathBuf, Failure> {
    let stamp = SystemClock.now().format("%Y%m%dT%H%M%S%3fZ");
    let copy = beside(path, &format!("before-shiftbook-{stamp}"));
    fs::copy(path, &copy).map_err(Failure::io(format!("cannot copy {}", path.display())))?;
    Ok(copy)
}

/// Replaces the file atomically.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let draft = beside(path, "shiftbook-draft");
    let attempt = || {
        if let Some(folder) = path.parent() {
            private::create_dir_all(folder)?;
        }
        let mut file = private::create(&draft)?;
        if let Ok(old) = fs::metadata(path) {
            file.set_permissions(old.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, path)
    };
    attempt().map_err(Failure::io(format!("cannot write {}", path.display())))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(suffix);
    path.with_file_name(name)
}

/// The settings file of the agent for this user.
fn default_settings(source: Source) -> Result<PathBuf, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let (own, folder, file) = match source {
        Source::ClaudeCode => (Some("CLAUDE_CONFIG_DIR"), ".claude", "settings.json"),
        Source::Codex => (Some("CODEX_HOME"), ".codex", "hooks.json"),
        Source::Gemini => (None, ".gemini", "settings.json"),
    };
    let folder = own.and_then(set).or_else(|| Some(set("HOME")?.join(folder)));
    folder.map(|folder| folder.join(file)).ok_or_else(|| Failure::Misused("HOME is not set; pass --settings".into()))
}

/// Quotes a path as one argument of a shell command.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_one_word() {
        assert_eq!(quoted("/usr/local/bin/shiftbook"), "/usr/local/bin/shiftbook");
        assert_eq!(quoted("/my tools/it's"), r"'/my tools/it'\''s'");
    }
}
