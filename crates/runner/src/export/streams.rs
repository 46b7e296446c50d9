//! Writing the captured turns of a workspace from the database to files.

use super::private_folder;
use datalake::Layout;
use ledger::{
    Ledger,
    interaction::{Stream, page_by_operator},
};
use std::{
    fs,
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};
use uuid::Uuid;

/// Lines read from the database at once.
const PAGE: u32 = 500;

/// Why the streams could not be written out.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The streams cannot be read.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// A file cannot be written.
    #[error("{0}: {1}")]
    Io(String, #[source] io::Error),
    /// The caller stopped the dump.
    #[error("it was stopped")]
    Stopped,
}

/// The files of the three streams of a workspace below `out`.
fn files(out: &Path, workspace: &str) -> [(Stream, PathBuf); 3] {
    let layout = Layout::below(out);
    [
        (Stream::Interactions, layout.interactions().join(format!("interactions_{workspace}.jsonl"))),
        (Stream::Feedback, layout.feedback().join(format!("{workspace}_feedback.jsonl"))),
        (Stream::Outcomes, layout.outcomes().join(format!("{workspace}_outcomes.jsonl"))),
    ]
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> DumpError {
    let path = path.display().to_string();
    move |error| DumpError::Io(path, error)
}

/// Writes the streams as [`dump`] does, into a temporary folder, and moves the files to their places when all of them
/// are complete and synced; how many lines.
///
/// # Errors
/// As [`dump`]. None of the files is there then, except those that existed before.
pub async fn dump_whole(
    ledger: &Ledger,
    workspace: &str,
    out: &Path,
    goes_on: impl Fn() -> bool,
) -> Result<u64, DumpError> {
    let places = files(out, workspace);
    for (_, place) in &places {
        if place.exists() {
            return Err(io_error(place)(io::ErrorKind::AlreadyExists.into()));
        }
    }
    // Beside the places, because `datalake` may be on another file system than `out`, and no file moves between two.
    let layout = Layout::below(out);
    let raw = layout.raw();
    private::create_dir_all(raw).map_err(io_error(raw))?;
    let scratch = private_folder("export-").tempdir_in(raw).map_err(io_error(raw))?;
    let lines = dump(ledger, workspace, scratch.path(), goes_on).await?;
    for (at, ((_, place), (_, written))) in places.iter().zip(files(scratch.path(), workspace)).enumerate() {
        let folder = place.parent().map_or(Ok(()), private::create_dir_all);
        if let Err(error) = folder.and_then(|()| fs::rename(&written, place)) {
            for (_, moved) in places.iter().take(at) {
                // The first error is the one to report.
                let _ = fs::remove_file(moved);
            }
            return Err(io_error(place)(error));
        }
    }
    Ok(lines)
}

/// Writes the three streams of a workspace below `out`, page by page while it `goes_on`; how many lines.
///
/// # Errors
/// [`DumpError::Ledger`] if there is no such workspace or the database cannot be read; [`DumpError::Io`] if a file
/// exists already or cannot be written; [`DumpError::Stopped`] if `goes_on` returns `false`. The files are incomplete
/// then.
pub async fn dump(ledger: &Ledger, workspace: &str, out: &Path, goes_on: impl Fn() -> bool) -> Result<u64, DumpError> {
    let mut lines = 0;
    for (stream, path) in files(out, workspace) {
        if !goes_on() {
            return Err(DumpError::Stopped);
        }
        // Before the file is created: a workspace that does not exist leaves none.
        let mut page = page_by_operator(ledger, workspace, stream, Uuid::nil(), PAGE).await?;
        let failed = |error: io::Error| DumpError::Io(path.display().to_string(), error);
        if let Some(folder) = path.parent() {
            private::create_dir_all(folder).map_err(failed)?;
        }
        let mut file = BufWriter::new(private::create_new(&path).map_err(failed)?);
        while let Some((last, _)) = page.last() {
            let after = *last;
            for (_, record) in &page {
                writeln!(file, "{record}").map_err(failed)?;
                lines += 1;
            }
            if !goes_on() {
                return Err(DumpError::Stopped);
            }
            page = page_by_operator(ledger, workspace, stream, after, PAGE).await?;
        }
        file.into_inner().map_err(io::IntoInnerError::into_error).and_then(|file| file.sync_all()).map_err(failed)?;
    }
    Ok(lines)
}
