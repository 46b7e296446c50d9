//! Keeps the data of tests in memory if there is room. Most data directories and databases of tests live for a second,
//! half of which would be spent waiting for the disk. They are written and synced as always. Torture tests power cuts
//! and stays on the disk.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use rustix::fs::statvfs;
use tempfile::TempDir;

/// Folder of Linux for files in memory.
const MEMORY: &str = "/dev/shm";
/// Free memory that is required. A run needs less than 2 GiB; compilers and browsers use the same memory.
const FREE_MIN: u64 = 6 << 30;
/// The databases in it belong to a user of their own, who must find the way.
const MODE: u32 = 0o711;
const VARIABLE: &str = "TMPDIR";

static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// From now on all commands put temporary data into this folder, which is removed when it is dropped. `None` if there
/// is no room in memory: then the default folder is used.
pub fn in_memory() -> Option<TempDir> {
    let free = statvfs(MEMORY).map(|found| found.f_bavail * found.f_frsize).ok()?;
    if free < FREE_MIN {
        return None;
    }
    let permissions = Permissions::from_mode(MODE);
    let folder = tempfile::Builder::new().prefix("shiftbook-test-").permissions(permissions).tempdir_in(MEMORY).ok()?;
    FOLDER.set(folder.path().to_owned()).ok()?;
    Some(folder)
}

/// The folder for temporary data.
pub fn folder() -> PathBuf {
    FOLDER.get().cloned().unwrap_or_else(std::env::temp_dir)
}

/// Sets the folder for temporary data of a program.
pub fn set_tmpdir(command: &mut Command) -> &mut Command {
    match FOLDER.get() {
        Some(folder) => command.env(VARIABLE, folder),
        None => command,
    }
}

/// Sets the default folder, on the disk, for a program.
pub fn on_disk(command: &mut Command) -> &mut Command {
    command.env(VARIABLE, std::env::temp_dir())
}
