//! Runs of composite tools.
//!
//! Such a run has no worker: it is advanced in the transactions that change what it waits for. The transaction that
//! creates it starts its first steps; the step that follows the end of a child under the run's lock records how the
//! step ended, and starts the next ones or ends the run. The sweep begins what waited for a pause. So a process that
//! stops between two transactions leaves nothing half done.

mod advance;
mod child;
mod due;
mod run;

pub(crate) use advance::advance;
pub(crate) use due::advance_due;
