//! Creates files and folders that only their owner can access, whatever the umask of the process.
//!
//! The mode is set when a file is created. An existing file keeps its mode, which an operator may have widened on
//! purpose; [`wider`] finds such paths.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

/// Mode of a file: its owner can read and write it.
pub const FILE_MODE: u32 = 0o600;
/// Mode of a folder: its owner can list and change it.
pub const FOLDER_MODE: u32 = 0o700;
/// Permission bits of the group and of others.
const OTHERS: u32 = 0o077;
/// Bytes written to test for free space.
const PROBE_BYTES: usize = 64 * 1024;
/// Name of the file for this test.
const PROBE: &str = "room.probe";
/// Most entries of a tree that [`wider`] checks.
const ENTRIES_MAX: usize = 10_000;

/// Options that create a file with [`FILE_MODE`]. The caller sets how it is opened.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(FILE_MODE);
    options
}

/// Creates a file, or truncates an existing one.
pub fn create(path: &Path) -> io::Result<File> {
    options().write(true).create(true).truncate(true).open(path)
}

/// Creates a file.
///
/// # Errors
/// If the file exists or cannot be created.
pub fn create_new(path: &Path) -> io::Result<File> {
    options().write(true).create_new(true).open(path)
}

/// Creates an empty file unless it exists. An existing file is not opened.
pub fn ensure(path: &Path) -> io::Result<()> {
    match create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
    }
}

/// Creates or truncates a file and writes these bytes.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create(path)?.write_all(bytes)
}

/// Creates a folder and its missing parents.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Whether there is no room for [`PROBE_BYTES`] more in a folder. It writes them and removes them. Other errors do not
/// count as a lack of room.
pub fn is_full(folder: &Path) -> bool {
    let probe = folder.join(PROBE);
    let wrote = create(&probe).and_then(|mut file| {
        file.write_all(&vec![0; PROBE_BYTES])?;
        file.sync_all()
    });
    let _ = fs::remove_file(&probe);
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    wrote.is_err_and(|error| matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge))
}

/// Paths that the group or others can access.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wider {
    /// The first paths found, with their permission bits.
    pub first: Vec<(PathBuf, u32)>,
    /// Number of such paths.
    pub count: usize,
    /// Whether the tree has more entries than were checked.
    pub is_cut: bool,
}

/// Finds paths that the group or others can access: `root` and everything below it, without following links. Keeps the
/// first `named`. Paths that cannot be read are skipped.
pub fn wider(root: &Path, named: usize) -> Wider {
    let mut found = Wider::default();
    let mut seen = 0;
    // If the root is a link, its target is checked.
    let mut waiting = vec![fs::canonicalize(root).unwrap_or_else(|_| root.to_owned())];
    while let Some(path) = waiting.pop() {
        if seen == ENTRIES_MAX {
            found.is_cut = true;
            break;
        }
        seen += 1;
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if metadata.is_symlink() {
            continue;
        }
        if metadata.is_dir()
            && let Ok(entries) = fs::read_dir(&path)
        {
            let mut below: Vec<_> =
                entries.take(ENTRIES_MAX).filter_map(|entry| entry.ok().map(|e| e.path())).collect();
            below.sort_unstable_by(|a, b| b.cmp(a));
            waiting.append(&mut below);
        }
        let mode = metadata.permissions().mode() & 0o7777;
        if mode & OTHERS != 0 {
            found.count += 1;
            if found.first.len() < named {
                found.first.push((path, mode));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_is_made_is_its_owners_alone() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("a/b");
        create_dir_all(&folder).unwrap();
        assert_eq!((mode(&folder), mode(&root.path().join("a"))), (FOLDER_MODE, FOLDER_MODE));
        for (name, make) in [("created", create as fn(&Path) -> _), ("new", create_new)] {
            make(&folder.join(name)).unwrap();
            assert_eq!(mode(&folder.join(name)), FILE_MODE, "{name}");
        }
        write(&folder.join("written"), b"x").unwrap();
        ensure(&folder.join("ensured")).unwrap();
        assert_eq!((mode(&folder.join("written")), mode(&folder.join("ensured"))), (FILE_MODE, FILE_MODE));
    }

    #[test]
    fn a_file_that_was_widened_stays_so() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("widened");
        write(&file, b"old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        ensure(&file).unwrap();
        write(&file, b"new").unwrap();
        assert_eq!((mode(&file), fs::read(&file).unwrap()), (0o640, b"new".to_vec()));
    }

    #[test]
    fn wider_paths_are_named_in_order_and_counted() {
        let root = tempfile::tempdir().unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(FOLDER_MODE)).unwrap();
        create_dir_all(&root.path().join("below")).unwrap();
        for (name, bits) in [("a", 0o600), ("b", 0o644), ("below/c", 0o660), ("d", 0o601)] {
            write(&root.path().join(name), b"").unwrap();
            fs::set_permissions(root.path().join(name), fs::Permissions::from_mode(bits)).unwrap();
        }
        symlink("/", root.path().join("link")).unwrap();
        let named = |found: &Wider| -> Vec<_> {
            let names = found.first.iter();
            names.map(|(path, mode)| (path.file_name().unwrap().to_str().unwrap().to_owned(), *mode)).collect()
        };
        let found = wider(root.path(), 2);
        assert_eq!((named(&found), found.count), (vec![("b".into(), 0o644), ("c".into(), 0o660)], 3));
        assert!(!found.is_cut);
        assert_eq!(wider(&root.path().join("missing"), 2), Wider::default());
    }
}
