//! Throw-away data of the tests lies in memory where there is room: most of their data directories and databases live for
//! a second, and half of that would be waiting for the disk. They are written and synced as always; what a disk that
//! loses power keeps is torture's subject, and torture stays on the disk.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use nix::sys::statvfs::statvfs;
use tempfile::TempDir;

/// Where Linux has files in memory.
const MEMORY: &str = "/dev/shm";
/// A whole run needs less than 2 GiB at a time; compilers and browsers want the same memory.
const FREE_MIN: u64 = 6 << 30;
/// The databases in it belong to a user of their own, who must find the way.
const MODE: u32 = 0o711;
const VARIABLE: &str = "TMPDIR";

static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Data of all commands from here on is thrown away when this is dropped. None where there is no room in memory: then it
/// lies where temporary files lie.
pub fn in_memory() -> Option<TempDir> {
    let free = statvfs(MEMORY).map(|found| found.blocks_available() * found.fragment_size()).ok()?;
    if free < FREE_MIN {
        return None;
    }
    let permissions = Permissions::from_mode(MODE);
    let folder = tempfile::Builder::new().prefix("shiftbook-test-").permissions(permissions).tempdir_in(MEMORY).ok()?;
    FOLDER.set(folder.path().to_owned()).ok()?;
    Some(folder)
}

/// Where temporary data lies now.
pub fn folder() -> PathBuf {
    FOLDER.get().cloned().unwrap_or_else(std::env::temp_dir)
}

/// Tells a program where temporary data lies.
pub fn tell(command: &mut Command) -> &mut Command {
    match FOLDER.get() {
        Some(folder) => command.env(VARIABLE, folder),
        None => command,
    }
}

/// The disk for this one, whatever the others use.
pub fn on_disk(command: &mut Command) -> &mut Command {
    command.env(VARIABLE, std::env::temp_dir())
}
