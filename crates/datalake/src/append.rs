//! The only function that writes to the streams. It appends whole lines and returns after they are on disk.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

/// Appends `lines`, each of which ends with a newline, and returns when they are on disk.
///
/// An advisory lock admits one writer of a file at a time, so lines of two processes never mix. If the file
/// ends in the middle of a line, because a writer was killed or the disk was full, a newline is written first.
/// Readers skip the incomplete line and lose nothing else.
///
/// # Errors
/// The error of the file system. Then some of `lines` may have been written, the last one incompletely.
/// Appending them again is safe if readers recognise repeated ids.
pub fn append(path: &Path, lines: &[u8]) -> io::Result<()> {
    debug_assert!(lines.ends_with(b"\n"), "whole lines");
    let mut file = open(path)?;
    file.lock()?;
    // Closing the file releases the lock, whatever the result is.
    let written = if ends_torn(&mut file)? { file.write_all(&[b"\n", lines].concat()) } else { file.write_all(lines) };
    written.and_then(|()| file.sync_data())
}

/// Opens the file. If it does not exist, it is created with its folders, and all new names are synced to disk.
fn open(path: &Path) -> io::Result<File> {
    let mut options = private::options();
    options.append(true).read(true);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let missing: Vec<&Path> =
        folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).collect();
    private::create_dir_all(folder)?;
    let file = options.create(true).open(path)?;
    sync_folder(folder)?;
    for created in missing {
        if let Some(above) = created.parent().filter(|above| !above.as_os_str().is_empty()) {
            sync_folder(above)?;
        }
    }
    Ok(file)
}

/// Makes a new name in a folder durable. Only Unix has such a call; on other systems the function does nothing.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

fn ends_torn(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, thread};

    #[test]
    fn lines_follow_each_other_and_folders_are_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/c.jsonl");
        append(&path, b"1\n").unwrap();
        append(&path, b"2\n3\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"1\n2\n3\n");
    }

    #[test]
    fn a_torn_line_is_ended_before_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("torn.jsonl");
        fs::write(&path, b"1\n{\"half").unwrap();
        append(&path, b"2\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"1\n{\"half\n2\n");
    }

    #[test]
    fn many_writers_never_mix_their_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shared.jsonl");
        thread::scope(|scope| {
            for writer in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    let line = format!("{}\n", writer.to_string().repeat(20_000));
                    (0..20).for_each(|_| append(path, line.as_bytes()).unwrap());
                });
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 160);
        assert!(text.lines().all(|line| line.len() == 20_000 && line.chars().all(|letter| line.starts_with(letter))));
    }

    #[test]
    fn what_cannot_be_written_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        assert!(append(&folder.path().join("file/below.jsonl"), b"1\n").is_err());
        #[cfg(target_os = "linux")]
        assert_eq!(append(Path::new("/dev/full"), b"1\n").unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
