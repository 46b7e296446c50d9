//! Changes of files of other programs: shown as a diff, written only after a yes, each in one step.

use super::common::{Failure, print_line};
use crate::ambient::SystemClock;
use domain::Clock as _;
use similar::TextDiff;
use std::{
    fs,
    io::{BufRead as _, ErrorKind, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
};

/// Whether the previous version of a file is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Previous {
    /// A copy is kept beside the file, with the time in its name.
    Kept,
    /// Nothing is kept: the file is one that Shiftbook wrote.
    Dropped,
}

/// A change of one file.
#[derive(Debug)]
pub struct Change {
    path: PathBuf,
    /// The present text; `None` if there is no file.
    before: Option<String>,
    /// The new text; `None` removes the file.
    after: Option<String>,
    previous: Previous,
}

impl Change {
    /// Edits the text of a file. An absent file has an empty text. The target of a symbolic link is changed, so the
    /// link stays.
    ///
    /// # Errors
    /// The reason for which `edit` refuses, or that the file cannot be read.
    pub fn edited(path: &Path, edit: impl FnOnce(&str) -> Result<String, String>) -> Result<Self, Failure> {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let before = read(&path)?;
        let text = before.as_deref().unwrap_or_default();
        let after = edit(text).map_err(|why| Failure::Failed(format!("{}: {why}", path.display())))?;
        let after = if before.is_none() && after.is_empty() { None } else { Some(after) };
        Ok(Self { path, before, after, previous: Previous::Kept })
    }

    /// Replaces a whole file, or removes it if `after` is `None`. `previous` is decided by the present text.
    ///
    /// # Errors
    /// The reason for which `previous` refuses, or that the file cannot be read.
    pub fn whole(
        path: &Path,
        after: Option<String>,
        previous: impl FnOnce(&str) -> Result<Previous, String>,
    ) -> Result<Self, Failure> {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let before = read(&path)?;
        let previous = before.as_deref().map_or(Ok(Previous::Dropped), previous);
        let previous = previous.map_err(|why| Failure::Failed(format!("{}: {why}", path.display())))?;
        Ok(Self { path, before, after, previous })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file is as it should be.
    pub fn is_done(&self) -> bool {
        self.before == self.after
    }

    /// Prints the change.
    pub fn show(&self) -> Result<(), Failure> {
        let name = self.path.display().to_string();
        let texts = [&self.before, &self.after].map(|text| text.as_deref().unwrap_or_default());
        let diff = TextDiff::from_lines(texts[0], texts[1]);
        print_line(diff.unified_diff().header(&name, &name).to_string().trim_end())
    }

    /// Writes the change. Returns the copy of the previous version, if one is kept.
    ///
    /// # Errors
    /// If the file has changed since it was read, or cannot be written.
    pub fn carry_out(&self) -> Result<Option<PathBuf>, Failure> {
        let name = self.path.display();
        if read(&self.path)? != self.before {
            return Err(Failure::Failed(format!(
                "{name} has changed in the meantime; it was not written, run this again"
            )));
        }
        let keeps = self.before.is_some() && self.previous == Previous::Kept;
        let kept = keeps.then(|| copy_of(&self.path)).transpose()?;
        match &self.after {
            Some(text) => write(&self.path, text)?,
            None => fs::remove_file(&self.path).map_err(Failure::io(format!("cannot remove {name}")))?,
        }
        Ok(kept)
    }
}

/// Asks for a yes on the terminal.
///
/// # Errors
/// If there is no terminal.
pub fn confirm(question: &str) -> Result<bool, Failure> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::Misused("cannot ask without a terminal; add --yes to write the change shown".into()));
    }
    let mut out = std::io::stdout().lock();
    let asked = write!(out, "{question} [y/N] ").and_then(|()| out.flush());
    asked.map_err(Failure::io("cannot write to stdout"))?;
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer).map_err(Failure::io("cannot read the answer"))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Path of this program.
///
/// # Errors
/// If the system does not know it, or it is not UTF-8.
pub fn this_program() -> Result<String, Failure> {
    let program = std::env::current_exe().map_err(Failure::io("cannot tell where this program is"))?;
    let program = program.to_str().ok_or_else(|| Failure::Misused("this program's path is not UTF-8".into()))?;
    Ok(program.to_owned())
}

/// Quotes a path as one argument of a shell command.
pub fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

fn read(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::io(format!("cannot read {}", path.display()))(error)),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_one_word() {
        assert_eq!(quoted("/usr/local/bin/shiftbook"), "/usr/local/bin/shiftbook");
        assert_eq!(quoted("/my tools/it's"), r"'/my tools/it'\''s'");
    }

    #[test]
    fn a_file_that_changed_since_it_was_read_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        fs::write(&path, "one").unwrap();
        let change = Change::edited(&path, |text| Ok(format!("{text} two"))).unwrap();
        fs::write(&path, "another").unwrap();
        assert!(change.carry_out().unwrap_err().to_string().contains("has changed in the meantime"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "another");
        let change = Change::edited(&path, |text| Ok(format!("{text} two"))).unwrap();
        let kept = change.carry_out().unwrap().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "another two");
        assert_eq!(fs::read_to_string(kept).unwrap(), "another");
    }

    #[test]
    fn a_file_of_shiftbook_is_replaced_and_removed_without_a_copy() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/shiftbook.ts");
        for after in [Some("one"), Some("two"), None] {
            let change = Change::whole(&path, after.map(str::to_owned), |_| Ok(Previous::Dropped)).unwrap();
            assert!(!change.is_done());
            assert_eq!(change.carry_out().unwrap(), None);
            assert_eq!(read(&path).unwrap().as_deref(), after);
        }
        assert_eq!(fs::read_dir(dir.path().join("new")).unwrap().count(), 0);
        assert!(Change::whole(&path, None, |_| Ok(Previous::Dropped)).unwrap().is_done());
    }
}
