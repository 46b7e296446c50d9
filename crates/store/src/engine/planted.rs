//! Deliberate bugs, which the torture binary must find. They are compiled only with the feature
//! `planted-bugs`, which no release has. `SHIFTBOOK_PLANTED_BUG` names the active one.

use std::sync::OnceLock;

/// A deliberate bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bug {
    /// synchronous=NORMAL: acknowledged rows are lost in a power cut.
    SynchronousNormal,
    /// Acknowledges before COMMIT.
    AckBeforeCommit,
    /// Does not check the attempt of a worker's append.
    NoFencing,
    /// Ignores the ids that clients make.
    NoDedup,
    /// Commits a batch in two halves.
    SplitBatch,
    /// Skips a sequence now and then.
    SequenceGap,
    /// Claims without compare-and-set.
    DoubleClaim,
    /// Never requeues a lost lease.
    LeaseNeverExpires,
}

/// Whether `bug` is active in this process.
pub(crate) fn is(bug: Bug) -> bool {
    static ACTIVE: OnceLock<Option<Bug>> = OnceLock::new();
    *ACTIVE.get_or_init(|| {
        Some(match std::env::var("SHIFTBOOK_PLANTED_BUG").ok()?.as_str() {
            "synchronous_normal" => Bug::SynchronousNormal,
            "ack_before_commit" => Bug::AckBeforeCommit,
            "no_fencing" => Bug::NoFencing,
            "no_dedup" => Bug::NoDedup,
            "split_batch" => Bug::SplitBatch,
            "sequence_gap" => Bug::SequenceGap,
            "double_claim" => Bug::DoubleClaim,
            "lease_never_expires" => Bug::LeaseNeverExpires,
            _ => return None,
        })
    }) == Some(bug)
}
