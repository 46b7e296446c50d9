//! Labels of memories, as a file with a manifest.

use datalake::export::{FileFormat, LabelCounts, LabelExport};
use ledger::{
    Ledger,
    relevance::{Place, rows_by_operator, weights},
};
use std::path::Path;
use tokio::runtime::Handle;

/// Rows read from the database at once.
const PAGE: u32 = 500;

/// Name of the data file.
pub(super) fn written_name(format: FileFormat) -> String {
    format!("labels.{}", format.as_str())
}

/// Writes the labels of the workspace with this slug to a folder. `goes_on` is called with the number of rows so far,
/// and stops the export by returning false. Returns the counts and the bytes of the data file; `None` if it was
/// stopped. Runs on a thread for blocking work.
///
/// # Errors
/// As text for people. Then the folder has no data file under its name and no manifest.
pub(super) fn write_labels(
    ledger: &Ledger,
    workspace: &str,
    (folder, format): (&Path, FileFormat),
    goes_on: impl Fn(u64) -> bool,
) -> Result<Option<(LabelCounts, u64)>, String> {
    let mut file = LabelExport::create(folder, format, weights(ledger)).map_err(|error| error.to_string())?;
    match write_rows(ledger, workspace, &mut file, goes_on) {
        Ok(true) => {
            let counts = file.finish().map_err(|error| error.to_string())?;
            let data = std::fs::metadata(folder.join(written_name(format))).map_err(|error| error.to_string())?;
            Ok(Some((counts, data.len())))
        }
        Ok(false) => {
            file.abandon();
            Ok(None)
        }
        Err(why) => {
            file.abandon();
            Err(why)
        }
    }
}

/// Returns whether all rows were written.
fn write_rows(
    ledger: &Ledger,
    workspace: &str,
    file: &mut LabelExport,
    goes_on: impl Fn(u64) -> bool,
) -> Result<bool, String> {
    let (mut place, mut written) = (Some(Place::default()), 0);
    while let Some(after) = place {
        if !goes_on(written) {
            return Ok(false);
        }
        let read = Handle::current().block_on(rows_by_operator(ledger, workspace, after, PAGE));
        let (rows, last) = read.map_err(|error| error.to_string())?;
        written += rows.len() as u64;
        for row in rows {
            file.write(row).map_err(|error| error.to_string())?;
        }
        place = last;
    }
    Ok(true)
}
