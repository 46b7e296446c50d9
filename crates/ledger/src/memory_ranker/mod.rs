//! Models that order the memories of a workspace.
//!
//! An operator, or the server once a day, trains a model on the rows of [`crate::relevance`] ([`samples_by_operator`]),
//! and stores it with its measurements ([`store_by_operator`]). A model that is better than the formula
//! orders memories from then on, beside the formula; [`use_by_operator`] goes back to an earlier one or to the formula.
//! A server does not change what an operator chose, and reads the model in use at most once a minute.

mod in_use;
mod samples;
mod train;
mod versions;

pub(crate) use in_use::{Rankers, scores};
pub use ranker::{Learned, Progress, Refusal, Report, Sample, Step, learn};
pub use samples::Samples;
pub use store::memory_ranker::RankerRecord;
pub use train::{due, lease, samples_by_operator, store_by_operator, store_by_server};
pub use versions::{list_by_operator, use_by_operator};
