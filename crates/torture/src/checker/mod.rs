//! The checks C1 to C9 of docs/reliability.md: pure functions over a history and the final logs of the server.
//!
//! The server reports the position of each append, so the linearizability of a session needs no search: the operations
//! are ordered by position and compared with real time. Each check is O(n log n). `tests/linearizability.rs` compares
//! C1 to C6 with a search over all orders on small random histories.

mod claim;
mod evidence;
mod lease;
mod log;
mod read;
mod real_time;
mod status;
mod stream;
mod view;

pub use evidence::{Evidence, FinalSession, Row, RowKind};

use crate::history::{Op, Operation, Outcome};
use std::fmt;
use uuid::Uuid;

/// Most violations that are kept.
pub const VIOLATIONS_MAX: usize = 100;

/// A check of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// Every acknowledged append is in the final log.
    C1,
    /// Every client event id occurs at most once; refused ones not at all.
    C2,
    /// Sequences are 1..n; a batch is whole, contiguous and never half visible.
    C3,
    /// What was acknowledged is what is stored.
    C4,
    /// Sequence order respects real time.
    C5,
    /// A read is a slice of the log, neither stale nor ahead of time.
    C6,
    /// A stream delivers the log once, in order, over reconnects.
    C7,
    /// The row is the fold of its events; the hash chain holds.
    C8,
    /// Claims, fencing and recorded outcomes.
    C9,
    /// P-14: a lost lease is back in the queue in time.
    Lease,
    /// The server comes back and answers after every fault.
    Live,
    /// The server panicked.
    Panic,
    /// `shiftbook verify` refused the data.
    Verify,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lease => f.write_str("P-14"),
            Self::Live => f.write_str("live"),
            Self::Panic => f.write_str("panic"),
            Self::Verify => f.write_str("verify"),
            other => fmt::Debug::fmt(other, f),
        }
    }
}

/// A violation of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The check that found it.
    pub check: Check,
    /// The session; `None` if the violation concerns the whole server.
    pub session: Option<Uuid>,
    /// Description of the violation.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.check)?;
        if let Some(session) = self.session {
            write!(f, "session {session}: ")?;
        }
        f.write_str(&self.what)
    }
}

/// Collects violations of one session.
struct Findings<'a> {
    session: Uuid,
    violations: &'a mut Vec<Violation>,
}

impl Findings<'_> {
    fn add(&mut self, check: Check, what: String) {
        if self.violations.len() < VIOLATIONS_MAX {
            self.violations.push(Violation { check, session: Some(self.session), what });
        }
    }
}

/// Runs every check.
pub fn check(evidence: &Evidence) -> Vec<Violation> {
    let mut violations = Vec::new();
    let faults: Vec<(u64, u64)> = evidence.operations.iter().filter_map(fault_interval).collect();
    for view in view::views(evidence) {
        let mut findings = Findings { session: view.log.id, violations: &mut violations };
        log::acknowledged_is_stored(&view, &mut findings);
        log::ids_occur_once(&view, &mut findings);
        log::sequences_are_dense_and_batches_whole(&view, &mut findings);
        log::acknowledged_is_what_is_stored(&view, &mut findings);
        real_time::order_respects_real_time(&view, &mut findings);
        read::reads_are_current_slices(&view, &mut findings);
        stream::streams_deliver_the_log_once(&view, &mut findings);
        status::row_is_the_fold_of_its_events(&view, &mut findings);
        claim::one_holder_at_a_time(&view, &mut findings);
        claim::one_recorded_outcome(&view, &mut findings);
        lease::lost_leases_return_in_time(&view, &faults, &mut findings);
    }
    violations
}

/// How long after a fault a server may still answer with an error of its own.
const RECOVERY_NS: u64 = 2_000_000_000;

/// No request is answered with a 5xx status while nothing disturbs the server, whatever other clients send.
pub fn undisturbed_writes_are_answered(evidence: &Evidence) -> Vec<Violation> {
    let faults: Vec<(u64, u64)> = evidence.operations.iter().filter_map(fault_interval).collect();
    let is_disturbed = |operation: &Operation| {
        faults
            .iter()
            .any(|(begun, over)| operation.invoked <= over.saturating_add(RECOVERY_NS) && operation.ended >= *begun)
    };
    let failed = evidence.operations.iter().filter(|operation| !is_disturbed(operation));
    let answer = |operation: &Operation| match &operation.outcome {
        Outcome::Info { why } if why.starts_with('5') => {
            let what = format!("process {} was answered `{why}` without a fault", operation.process);
            Some(Violation { check: Check::Live, session: None, what })
        }
        _ => None,
    };
    failed.filter_map(answer).take(VIOLATIONS_MAX).collect()
}

fn fault_interval(operation: &Operation) -> Option<(u64, u64)> {
    match operation.op {
        Op::Fault { .. } => Some((operation.invoked, operation.ended)),
        _ => None,
    }
}

/// Whether an operation certainly had no effect.
fn is_refused(operation: &Operation) -> bool {
    matches!(operation.outcome, Outcome::Fail { .. })
}

#[cfg(test)]
mod forged;
