//! The writer pass: `memory_writers`, `memory_watermarks`, `memory_runs` and `memory_denials`.

mod denial;
mod run;
mod watermark;
mod writer;

pub use denial::{Denial, denied, deny, pending};
pub use run::{RunRecord, RunTotals, insert_run, runs, totals};
pub(crate) use watermark::reopen;
pub use watermark::{
    OpenSession, SessionFailure, WatermarkMove, fail_session, free_sessions, fresh_sessions, left_sessions,
    move_watermark, open_sessions, session_failures, track, track_part,
};
pub use writer::{
    Lease, Spent, StalledRecord, WriterFailure, WriterRecord, WriterSuccess, end_leases, ensure, fail, find, finish,
    flush, hold, release, release_all, spend, stalled, stalled_of, take, tracked, unflush,
};

use crate::engine::Texts;

pub(crate) const SQL: &[Texts] = &[denial::SQL, run::SQL, watermark::SQL, writer::SQL];
