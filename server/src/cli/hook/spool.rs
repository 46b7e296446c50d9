//! Stores hooks while the server cannot be reached: one file per hook, named so that they sort by the time of the call.
//!
//! Each server and token has a folder of its own, so that hooks never reach another workspace.

use super::limit;
use crate::ambient::SystemClock;
use domain::{Clock as _, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::Write as _,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};
use tokio::time::{Instant, timeout_at};

const SUFFIX: &str = ".json";
/// Name of the file whose size is the number of prompts that went on without context.
const MISSED: &str = "missed";

/// A stored hook.
#[derive(Debug, Serialize, Deserialize)]
pub struct Entry {
    /// A UUIDv7: sorts by the time of the call, and lets the server recognise a repeat.
    pub id: String,
    /// Time of the agent's call, RFC 3339.
    pub at: String,
    /// Name of the agent's kind, such as `claude-code`.
    pub source: String,
    /// The hook's JSON as the agent sent it, with long texts truncated.
    pub payload: Box<RawValue>,
}

impl Entry {
    /// Whether it is older than [`limit::FAILING_HOURS_MAX`].
    pub fn is_old(&self) -> bool {
        let at = self.at.parse::<Timestamp>();
        at.is_ok_and(|at| (SystemClock.now() - at).num_hours() >= limit::FAILING_HOURS_MAX)
    }
}

/// The folder of one server and token.
#[derive(Debug)]
pub struct Spool(PathBuf);

impl Spool {
    /// The spool for this server and token; `None` on a system without a home directory.
    pub fn find(state_dir: Option<&Path>, url: &str, token: &str) -> Option<Self> {
        let base = state_dir.map(Path::to_owned).or_else(default_state_dir)?;
        let digest = Sha256::digest(format!("{url}\n{token}").as_bytes());
        let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Some(Self(base.join("hooks").join(name)))
    }

    /// Whether the spool is empty.
    pub fn is_empty(&self) -> bool {
        self.names().is_empty()
    }

    /// Names of the stored hooks, oldest first.
    pub fn names(&self) -> Vec<String> {
        let Ok(files) = fs::read_dir(&self.0) else { return Vec::new() };
        let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
        let mut names: Vec<_> = names.filter(|name| name.ends_with(SUFFIX)).collect();
        names.sort_unstable();
        names
    }

    /// Adds a hook at the end.
    ///
    /// # Errors
    /// If the spool is full or cannot be written.
    pub fn add(&self, entry: &Entry) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("a hook could not be kept in {}: {error}", self.0.display());
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0).map_err(failed)?;
        let text = serde_json::to_string(entry).map_err(|error| error.to_string())?;
        let (files, bytes) = self.size();
        if files >= limit::SPOOL_FILES_MAX || bytes + text.len() as u64 > limit::SPOOL_BYTES_MAX {
            return Err(format!("{files} hooks are already waiting for the server; this one is not recorded"));
        }
        self.write(&entry.id, &text).map_err(failed)
    }

    /// Counts a prompt that went on without context, because the server gave none in time.
    ///
    /// # Errors
    /// If the count cannot be written.
    pub fn count_missed(&self) -> std::io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        if self.missed() >= limit::MISSED_MAX {
            return Ok(());
        }
        // Each call adds one byte, so that calls at the same time are all counted.
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(self.path(MISSED))?;
        file.write_all(b".")
    }

    /// Number of prompts that went on without context.
    pub fn missed(&self) -> u64 {
        fs::metadata(self.path(MISSED)).map_or(0, |file| file.len())
    }

    /// Replaces a stored hook with one that has the same id and a smaller payload.
    pub fn shorten(&self, entry: &Entry) {
        if let Ok(text) = serde_json::to_string(entry) {
            // A hook that cannot be replaced stays as it is, and is shortened after its next attempt.
            let _error = self.write(&entry.id, &text);
        }
    }

    /// Writes a hook's file. The file gets its name when it is complete, so that a reader never sees a part of it.
    fn write(&self, id: &str, text: &str) -> std::io::Result<()> {
        let draft = self.0.join(format!("{id}.draft"));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(text.as_bytes())?;
        fs::rename(&draft, self.path(&format!("{id}{SUFFIX}")))
    }

    /// Reads a stored hook. One that cannot be read is removed, because it would block all others.
    pub fn read(&self, name: &str) -> Option<Entry> {
        let text = fs::read_to_string(self.path(name)).ok()?;
        match serde_json::from_str(&text) {
            Ok(entry) => Some(entry),
            Err(_) => {
                self.remove(name);
                None
            }
        }
    }

    /// Removes a hook that was sent.
    pub fn remove(&self, name: &str) {
        // A hook that cannot be removed is sent again and recognised as a repeat.
        let _error = fs::remove_file(self.path(name));
    }

    /// Locks the spool, so that one process sends its hooks in order. `None` if another process holds the lock until
    /// the deadline.
    pub async fn lock(&self, deadline: Instant) -> Option<File> {
        let path = self.0.join("lock");
        let locked = tokio::task::spawn_blocking(move || {
            let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
            file.lock()?;
            Ok::<_, std::io::Error>(file)
        });
        timeout_at(deadline, locked).await.ok()?.ok()?.ok()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn size(&self) -> (usize, u64) {
        let names = self.names();
        let bytes = names.iter().filter_map(|name| Some(fs::metadata(self.path(name)).ok()?.len())).sum();
        (names.len(), bytes)
    }
}

/// The user's folder for state, as the XDG base directories define it.
fn default_state_dir() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))?;
    Some(state.join("shiftbook"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str) -> Entry {
        Entry {
            id: id.into(),
            at: "2026-11-21T09:00:00Z".into(),
            source: "codex".into(),
            payload: RawValue::from_string(r#"{"a" :1}"#.into()).unwrap(),
        }
    }

    #[test]
    fn what_waits_comes_back_in_the_order_of_the_calls_byte_for_byte() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::find(Some(dir.path()), "http://a", "t").unwrap();
        assert!(spool.is_empty());
        for id in ["b", "a", "c"] {
            spool.add(&entry(id)).unwrap();
        }
        assert_eq!(spool.names(), ["a.json", "b.json", "c.json"]);
        assert_eq!(spool.read("b.json").unwrap().payload.get(), r#"{"a" :1}"#);
        spool.remove("b.json");
        assert_eq!(spool.names(), ["a.json", "c.json"]);
    }

    #[test]
    fn another_token_has_another_folder_and_others_on_the_machine_have_none() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::find(Some(dir.path()), "http://a", "t").unwrap();
        spool.add(&entry("a")).unwrap();
        assert!(Spool::find(Some(dir.path()), "http://a", "u").unwrap().is_empty());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&spool.0), mode(&spool.path("a.json"))), (0o700, 0o600));
    }

    #[test]
    fn a_file_that_is_not_a_hook_blocks_no_others() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::find(Some(dir.path()), "http://a", "t").unwrap();
        spool.add(&entry("b")).unwrap();
        fs::write(spool.path("a.json"), "half a").unwrap();
        assert!(spool.read("a.json").is_none());
        assert_eq!(spool.names(), ["b.json"]);
    }

    #[test]
    fn prompts_without_context_are_counted_and_are_no_hooks() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::find(Some(dir.path()), "http://a", "t").unwrap();
        assert_eq!(spool.missed(), 0);
        for _ in 0..3 {
            spool.count_missed().unwrap();
        }
        assert_eq!((spool.missed(), spool.is_empty()), (3, true));
    }

    #[test]
    fn it_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::find(Some(dir.path()), "http://a", "t").unwrap();
        spool.add(&entry("a")).unwrap();
        let large = File::create(spool.path("b.json")).unwrap();
        large.set_len(limit::SPOOL_BYTES_MAX).unwrap();
        assert!(spool.add(&entry("c")).unwrap_err().contains("are already waiting for the server"));
        assert_eq!(spool.names().len(), 2);
    }
}
