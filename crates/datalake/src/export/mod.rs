//! Training data from the streams: what people and agents did, as files that trainers load.
//!
//! The same streams and options give the same bytes, on any machine: rows are ordered by time and id, and nothing in a file
//! says when or where it was made. Memory is bounded, whatever the size of the streams.

mod file;
mod filter;
mod last;
mod manifest;
mod options;
mod pairs;
mod parquet;
mod redacted;
mod row;
mod run;

pub use filter::{Filter, SHARE_WHOLE, Split, VALIDATION_SHARE_MAX};
pub use manifest::{Counts, MANIFEST_FILE, Manifest};
pub use options::{CONFIDENCE_MAX, FileFormat, Format, MinFeedback, Options, SessionRating};
pub use row::{Row, Tools};
pub use run::{Error, Inputs, Preview, Progress, Rating, export, preview};
