//! Entities from a CSV file: looked at first, then made in chunks by whoever has time.
//!
//! An import is a row that holds the file and how far it has got. A chunk's entities and the row's progress are one
//! transaction under the row's lock: whatever dies, and however many work on it, each row of the file is made once.

mod begin;
mod file;
mod get;
mod preview;
mod row;
mod run;

pub use begin::begin;
pub use get::get;
pub use preview::{Preview, PreviewRow, preview};
pub use run::{advance, resume_stalled, run};

use crate::{EntityTypeRecord, Error, Result};
use domain::entity::{Column, FIELD_TITLE, guess_columns, named_columns};
use std::collections::BTreeMap;

/// What is to be imported.
#[derive(Debug, Clone)]
pub struct NewImport {
    /// The CSV file: a header, then rows.
    pub source: String,
    /// Column to field slug or `title`; a guess by name when absent.
    pub mapping: Option<BTreeMap<String, Option<String>>>,
}

/// What the columns of a file fill.
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
