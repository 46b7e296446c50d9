//! Creates entities from a CSV file: a preview first, then the import in chunks by any server.
//!
//! An import is a row with the file and the progress. One transaction, which holds the row's lock, creates the
//! entities of a chunk and advances the progress. Therefore each row of the file is imported once, even after a
//! crash or when several servers work on the same import.

mod begin;
mod file;
mod get;
mod preview;
mod row;
mod run;

pub use begin::{begin, begin_once};
pub use get::get;
pub use preview::{Preview, PreviewRow, preview};
pub use run::{advance, resume_stalled, run};

use crate::{EntityTypeRecord, Error, Result};
use domain::entity::{Column, FIELD_TITLE, guess_columns, named_columns};
use std::collections::BTreeMap;

/// A file to import.
#[derive(Debug, Clone)]
pub struct NewImport {
    /// The CSV file: a header, then rows.
    pub source: String,
    /// Maps each column to a field slug or `title`, or to nothing. Guessed from the names when `None`.
    pub mapping: Option<BTreeMap<String, Option<String>>>,
}

/// Returns the field that each column of the file fills.
///
/// # Errors
/// [`Error::Invalid`] if the mapping is wrong or no column fills the title.
fn columns_of(header: &[String], entity_type: &EntityTypeRecord, new: &NewImport) -> Result<Vec<Column>> {
    let columns = match &new.mapping {
        Some(names) => named_columns(header, &entity_type.fields, names)
            .map_err(|issue| Error::invalid(issue.field, issue.message))?,
        None => guess_columns(header, &entity_type.fields, &entity_type.name),
    };
    if columns.iter().any(|column| column.field.as_deref() == Some(FIELD_TITLE)) {
        Ok(columns)
    } else {
        Err(Error::invalid("mapping", "no column fills `title`"))
    }
}
