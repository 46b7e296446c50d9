//! Files and folders that only their owner can read, whatever the umask of the process.
//!
//! A mode is set when a file is made. A file that exists keeps its mode: an operator may have widened it on purpose.
//! [`wider`] finds such paths.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

/// Mode of a file: its owner reads and writes it.
pub const FILE_MODE: u32 = 0o600;
/// Mode of a folder: its owner lists and changes it.
pub const FOLDER_MODE: u32 = 0o700;
/// The bits that give anything to the group or to others.
const OTHERS: u32 = 0o077;
/// What is written to see whether there is room.
const PROBE_BYTES: usize = 64 * 1024;
/// The file that it is written to.
const PROBE: &str = "room.probe";
/// Entries of a tree that [`wider`] looks at.
const ENTRIES_MAX: usize = 10_000;

/// Options that make a file with [`FILE_MODE`]. The caller says how it is opened.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(FILE_MODE);
    options
}

/// Makes a file, or empties the one that is there.
pub fn create(path: &Path) -> io::Result<File> {
    options().write(true).create(true).truncate(true).open(path)
}

/// Makes a file where there is none.
pub fn create_new(path: &Path) -> io::Result<File> {
    options().write(true).create_new(true).open(path)
}

/// Makes an empty file unless there is one. A file that exists is not opened.
pub fn ensure(path: &Path) -> io::Result<()> {
    match create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
    }
}

/// Writes a whole file.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create(path)?.write_all(bytes)
}

/// Makes a folder and the folders above it that are missing.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Whether a folder has no room for [`PROBE_BYTES`] more: it writes them, and takes them away again. Any other trouble is
/// not a lack of room.
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

/// Paths that the group or others can use in some way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wider {
    /// The first of them, with their permission bits.
    pub first: Vec<(PathBuf, u32)>,
    /// How many there are.
    pub count: usize,
    /// Whether the tree has more entries than were looked at.
    pub is_cut: bool,
}

/// Looks for paths that are wider than this crate makes them: `root` and everything below it, without following links.
/// Keeps the first `named`. What cannot be read is left out.
pub fn wider(root: &Path, named: usize) -> Wider {
    let mut found = Wider::default();
    let mut seen = 0;
    // A data directory that is a link is judged by what it leads to.
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
