//! Exports training data from the streams, as files that training programs load.
//!
//! The same streams and options give the same bytes on any machine. Rows are ordered by time and id, and a file
//! does not contain the time or place of its creation. Memory is bounded, whatever the size of the streams is.

mod file;
mod filter;
mod labels;
mod last;
mod manifest;
mod merge;
mod options;
mod pairs;
mod parquet;
mod redacted;
mod row;
mod run;

pub use filter::{Filter, SHARE_WHOLE, Split, VALIDATION_SHARE_MAX};
pub use labels::{LabelCounts, LabelExport};
pub use manifest::{Counts, MANIFEST_FILE, Manifest};
pub use options::{CONFIDENCE_MAX, FileFormat, Format, MinFeedback, Options, SessionRating};
pub use row::{Row, Tools};
pub use run::{Error, Inputs, Preview, Progress, Rating, export, preview};
