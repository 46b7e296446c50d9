//! C5: an append that was acknowledged before another began has the lower sequence.

use super::{Check, Findings, view::View};

/// C5.
pub(super) fn order_respects_real_time(view: &View<'_>, findings: &mut Findings<'_>) {
    let mut placed: Vec<_> = view.writes.iter().filter_map(|write| write.range.map(|range| (range.0, write))).collect();
    placed.sort_by_key(|(sequence, _)| *sequence);
    // From the end of the log backwards: the earliest acknowledgement among everything that comes later.
    let mut earliest: Option<(u64, u64)> = None;
    for (sequence, write) in placed.into_iter().rev() {
        if let Some((completed, later)) = earliest
            && completed < write.first_invoked
        {
            findings.add(
                Check::C5,
                format!(
                    "the append at {later} was acknowledged before the one at {sequence} was sent, yet comes after it"
                ),
            );
        }
        if let Some(completed) = write.completed
            && earliest.is_none_or(|(known, _)| completed < known)
        {
            earliest = Some((completed, sequence));
        }
    }
}
