//! /export and /exports/{id}: training data from conversations, with a preview before it is written.

mod api;
mod form;
mod job_page;
mod page;

pub use api::{ExportBackend, StartExport, StopExport, start_export, stop_export};
pub use form::{Choice, ChoiceFields, LABELS, SOURCES};
pub use job_page::{Job, JobProps, Pair, Stage, job_page, progress_fragment};
pub use page::{Entry, Props, page};
