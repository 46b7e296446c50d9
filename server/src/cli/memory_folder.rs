//! The folder of `shiftbook memory export` and `import`: its files, what is wrong with them, and files that an earlier
//! export left there.

use super::common::Failure;
use domain::{
    count::counted,
    limit::{MEMORY_AGENT_BYTES_MAX, MEMORY_DOCUMENT_BYTES_MAX, MEMORY_DOCUMENTS_MAX},
    memory::{Folder, MemoryPath, check_text},
};
use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, DirEntry},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Most problems that one message names.
const PROBLEMS_MAX: usize = 50;

/// Writes a file below the folder.
pub fn save(folder: &Path, path: &str, bytes: &[u8]) -> Result<(), Failure> {
    let to = folder.join(path);
    let write = || {
        if let Some(parent) = to.parent() {
            private::create_dir_all(parent)?;
        }
        private::write(&to, bytes)
    };
    write().map_err(Failure::io(format!("cannot write {}", to.display())))
}

/// Removes a file of an earlier export, if there is one.
pub fn remove(file: &Path) -> Result<(), Failure> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Failure::io(format!("cannot remove {}", file.display()))(error))
        }
        _ => Ok(()),
    }
}

/// Reads the documents of a folder, sorted by path. Names that begin with a dot are left out, links are not followed.
///
/// # Errors
/// [`Failure`] that names every file that is no document, and why.
pub fn read(root: &Path) -> Result<Vec<(MemoryPath, String)>, Failure> {
    let (mut documents, mut problems) = (BTreeMap::new(), Vec::new());
    let mut folded: HashMap<String, String> = HashMap::new();
    let mut bytes = 0;
    for (path, file) in files(root, &mut problems)? {
        if documents.len() as u64 == MEMORY_DOCUMENTS_MAX || bytes > MEMORY_AGENT_BYTES_MAX {
            let most = counted(MEMORY_DOCUMENTS_MAX, "document");
            problems.push(format!("{path}: an agent has at most {most} with {MEMORY_AGENT_BYTES_MAX} bytes"));
            break;
        }
        let (path, text) = match MemoryPath::parse(&path) {
            Ok(parsed) => match read_text(&file) {
                Ok(text) => (parsed, text),
                Err(why) => {
                    problems.push(format!("{path}: {why}"));
                    continue;
                }
            },
            Err(why) => {
                problems.push(format!("{path}: {why}"));
                continue;
            }
        };
        if let Some(other) = folded.insert(path.folded(), path.to_string()) {
            problems.push(format!("{path}: {other} is the same document, because case does not count"));
            continue;
        }
        bytes += text.len() as u64;
        documents.insert(path, text);
    }
    refuse("files that cannot be imported; nothing was written", problems)?;
    Ok(documents.into_iter().collect())
}

/// Fails with all problems, if there are any.
pub fn refuse(what: &str, mut problems: Vec<String>) -> Result<(), Failure> {
    if problems.is_empty() {
        return Ok(());
    }
    problems.sort();
    let more = problems.len().saturating_sub(PROBLEMS_MAX);
    problems.truncate(PROBLEMS_MAX);
    if more > 0 {
        problems.push(format!("and {} more", counted(more as u64, "file")));
    }
    Err(Failure::Failed(format!("{what}:\n  {}", problems.join("\n  "))))
}

/// Documents of a folder that the agent does not have, by path. An import would write them again. A folder that does
/// not exist has none.
pub fn left_over(root: &Path, has: impl Fn(&str) -> bool) -> Result<Vec<(MemoryPath, PathBuf)>, Failure> {
    let mut found = Vec::new();
    for folder in Folder::ALL {
        let inside = root.join(folder.as_str());
        if !inside.is_dir() {
            continue;
        }
        for entry in entries(&inside)? {
            let path = MemoryPath::parse(&format!("{}/{}", folder.as_str(), name_of(&entry)));
            let Ok(path) = path else { continue };
            if !has(path.as_str()) && !entry.path().is_dir() {
                found.push((path, entry.path()));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Every file of the folder, by its path below it. What can be no document is a problem.
fn files(root: &Path, problems: &mut Vec<String>) -> Result<Vec<(String, PathBuf)>, Failure> {
    if !root.is_dir() {
        let what = if root.exists() { "is no folder" } else { "does not exist" };
        return Err(Failure::Misused(format!("{} {what}; nothing was imported", root.display())));
    }
    let mut files = Vec::new();
    for entry in entries(root)? {
        let name = name_of(&entry);
        let kind = entry.file_type().map_err(Failure::io(format!("cannot read {name}")))?;
        if !kind.is_dir() {
            let what = if kind.is_symlink() { "links are not followed" } else { "documents are in folders" };
            problems.push(format!("{name}: {what}: sessions, people, topics and self"));
            continue;
        }
        for entry in entries(&entry.path())? {
            let path = format!("{name}/{}", name_of(&entry));
            let kind = entry.file_type().map_err(Failure::io(format!("cannot read {path}")))?;
            if kind.is_file() {
                files.push((path, entry.path()));
            } else {
                problems.push(format!("{path}: not a file"));
            }
        }
    }
    Ok(files)
}

/// What a folder contains, without names that begin with a dot: the card's original, which `memory_card` reads, and
/// proposals that wait.
fn entries(folder: &Path) -> Result<Vec<DirEntry>, Failure> {
    let context = || format!("cannot read {}", folder.display());
    let read = fs::read_dir(folder).map_err(Failure::io(context()))?;
    let all: Result<Vec<_>, _> = read.collect();
    let mut all = all.map_err(Failure::io(context()))?;
    all.retain(|entry| !name_of(entry).starts_with('.'));
    all.sort_by_key(DirEntry::file_name);
    Ok(all)
}

fn name_of(entry: &DirEntry) -> String {
    entry.file_name().to_string_lossy().into_owned()
}

/// The text of a file that can be a document, or why it cannot.
fn read_text(file: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let most = MEMORY_DOCUMENT_BYTES_MAX as u64 + 1;
    let read = fs::File::open(file).and_then(|open| open.take(most).read_to_end(&mut bytes));
    read.map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() > MEMORY_DOCUMENT_BYTES_MAX {
        let size = fs::metadata(file).map_or(most, |found| found.len());
        let (most, size) = (counted(MEMORY_DOCUMENT_BYTES_MAX as u64, "byte"), counted(size, "byte"));
        return Err(format!("a document has at most {most}; this one has {size}"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "not UTF-8".to_owned())?;
    check_text(&text).map_err(|why| why.to_string())?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(root: &Path) -> String {
        read(root).unwrap_err().to_string()
    }

    #[test]
    fn a_folder_is_read_as_it_is_exported() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        save(root, "topics/garden.md", b"---\na: b\n---\r\n# Garden\n").unwrap();
        save(root, "people/mail-a@x.org.md", "é".as_bytes()).unwrap();
        save(root, "self/.original.json", b"{}").unwrap();
        save(root, "sessions/.pending/a.diff", b"x").unwrap();
        save(root, ".git/config", b"x").unwrap();
        let read = read(root).unwrap();
        let shown: Vec<_> = read.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(shown, [("people/mail-a@x.org.md", "é"), ("topics/garden.md", "---\na: b\n---\r\n# Garden\n")]);
    }

    #[test]
    fn a_folder_has_as_many_documents_as_an_export_writes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("topics")).unwrap();
        for n in 0..2_001 {
            fs::write(root.join(format!("topics/{n}.md")), "x").unwrap();
        }
        assert_eq!(read(root).unwrap().len(), 2_001);
    }

    #[test]
    fn every_file_that_is_no_document_is_named_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        save(root, "topics/good.md", b"x").unwrap();
        save(root, "topics/evil name.md", b"x").unwrap();
        save(root, "topics/binary.md", b"\xff").unwrap();
        save(root, "topics/hidden.md", "a\u{202e}b".as_bytes()).unwrap();
        save(root, "topics/large.md", &vec![b'x'; MEMORY_DOCUMENT_BYTES_MAX + 2]).unwrap();
        save(root, "topics/deep/a.md", b"x").unwrap();
        save(root, "other/a.md", b"x").unwrap();
        save(root, "note.txt", b"x").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", root.join("topics/link.md")).unwrap();
        let message = refused(root);
        for part in [
            "topics/evil name.md: a name has letters",
            "topics/binary.md: not UTF-8",
            "topics/hidden.md: line 1 has the invisible character U+202E",
            "topics/large.md: a document has at most 102,400 bytes; this one has 102,402 bytes",
            "topics/deep: not a file",
            "topics/link.md: not a file",
            "other/a.md: a path is `folder/name.md`",
            "note.txt: documents are in folders",
            "nothing was written",
        ] {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert!(!message.contains("good.md"), "{message}");
    }

    #[test]
    fn two_names_of_one_document_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        save(folder.path(), "topics/Garden.md", b"x").unwrap();
        save(folder.path(), "topics/garden.md", b"x").unwrap();
        if fs::read_dir(folder.path().join("topics")).unwrap().count() == 2 {
            assert!(refused(folder.path()).contains("topics/garden.md: topics/Garden.md is the same document"));
        }
    }

    #[test]
    fn a_folder_that_does_not_exist_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(refused(&folder.path().join("absent")).contains("absent does not exist"));
        fs::write(folder.path().join("file"), "x").unwrap();
        assert!(refused(&folder.path().join("file")).contains("file is no folder"));
    }

    #[test]
    fn only_documents_that_the_agent_lacks_are_left_over() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["topics/old.md", "topics/kept.md", "topics/note.txt", "self/.original.png", "other/a.md"] {
            save(root, path, b"x").unwrap();
        }
        let found = left_over(root, |path| path == "topics/kept.md").unwrap();
        let paths: Vec<_> = found.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["topics/old.md"]);
        assert!(left_over(&root.join("absent"), |_| false).unwrap().is_empty());
    }
}
