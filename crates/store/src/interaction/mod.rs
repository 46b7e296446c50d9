//! Interactions of people with agents as training data: captured turns, feedback, outcomes, and exports.

mod capture_due;
pub mod export_job;
pub mod forgotten;
mod line;
pub mod mark_due;

pub use capture_due::{DueRecord, any_due, claim_due, done, push, push_if_answered};
pub use line::{
    InteractionFilter, InteractionRow, LineRecord, SessionLine, Stream, after, insert, insert_feedback, insert_outcome,
    is_judged, list, session_of,
};

pub(crate) use line::forget;

use crate::engine::Texts;

pub(crate) const SQL: &[Texts] = &[capture_due::SQL, export_job::SQL, forgotten::SQL, line::SQL, mark_due::SQL];
