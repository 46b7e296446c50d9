//! C6: each read is a contiguous slice of the log, as new as everything that was complete before it, and
//! with nothing from its future.

use super::{
    Check, Findings,
    view::{HeadSighting, View},
};
use crate::history::{Answer, Op, Outcome, Seen};

/// C6.
pub(super) fn reads_are_current_slices(view: &View<'_>, findings: &mut Findings<'_>) {
    for operation in &view.reads {
        if let (Op::Read { after, limit, .. }, Outcome::Ok(Answer::Page { events, head, more })) =
            (&operation.op, &operation.outcome)
        {
            slice(view, *after, *limit, events, *head, *more, findings);
        }
    }
    currency(view, findings);
}

fn slice(view: &View<'_>, after: u64, limit: u32, events: &[Seen], head: u64, more: bool, findings: &mut Findings<'_>) {
    if let Some(text) = not_in_log(view, after, events) {
        findings.add(Check::C6, format!("a read after {after} {text}"));
        return;
    }
    let last = events.last().map_or(after, |event| event.0);
    if events.len() > limit as usize {
        findings.add(Check::C6, format!("a read after {after} returned {} events, more than {limit}", events.len()));
    }
    if last > head && !events.is_empty() {
        findings.add(Check::C6, format!("a read after {after} returned event {last} beyond the head {head}"));
    }
    if more && (events.is_empty() || last >= head) {
        findings.add(Check::C6, format!("a read after {after} ended at {last} of {head} and promised more"));
    }
    if !more && last < head {
        findings
            .add(Check::C6, format!("a read after {after} ended at {last} of {head} and denied that there is more"));
    }
}

/// What is wrong with events delivered after `after`: they must be the log's next ones.
pub(super) fn not_in_log(view: &View<'_>, after: u64, events: &[Seen]) -> Option<String> {
    for ((sequence, id, digest), expected) in events.iter().zip(after + 1..) {
        if *sequence != expected {
            return Some(format!("delivered {sequence} where {expected} was due"));
        }
        match view.row_at(*sequence) {
            None => return Some(format!("delivered event {id} at {sequence}, which is not in the log")),
            Some(row) if row.id != *id || row.digest != *digest => {
                return Some(format!(
                    "delivered event {id} at {sequence}, where the log has {} or another body",
                    row.id
                ));
            }
            Some(_) => {}
        }
    }
    None
}

fn currency(view: &View<'_>, findings: &mut Findings<'_>) {
    let head_sightings = view.head_sightings();
    let floor = Floor::new(view, &head_sightings);
    let ceiling = Ceiling::new(view);
    let last = view.log.rows.last().map_or(0, |row| row.sequence);
    for HeadSighting { invoked, ended, head } in &head_sightings {
        if *head > last {
            findings.add(Check::C6, format!("a read saw a head of {head}, but the log ends at {last}"));
        }
        let due = floor.before(*invoked);
        if *head < due {
            findings.add(
                Check::C6,
                format!("a read saw a head of {head}, though {due} had been acknowledged or seen before it began"),
            );
        }
        let future = ceiling.after(*ended);
        if *head >= future {
            findings.add(
                Check::C6,
                format!("a read saw a head of {head}, though the append at {future} was sent after it had ended"),
            );
        }
    }
}

/// The highest sequence known to someone by a given time.
struct Floor(Vec<(u64, u64)>);

impl Floor {
    fn new(view: &View<'_>, head_sightings: &[HeadSighting]) -> Self {
        let written = view.writes.iter().filter_map(|write| write.completed.zip(write.range.map(|range| range.1)));
        let mut known: Vec<(u64, u64)> = written.chain(head_sightings.iter().map(|g| (g.ended, g.head))).collect();
        known.sort_unstable();
        let mut highest = 0;
        for (_, sequence) in &mut known {
            highest = highest.max(*sequence);
            *sequence = highest;
        }
        Self(known)
    }

    fn before(&self, at: u64) -> u64 {
        let count = self.0.partition_point(|(ended, _)| *ended < at);
        count.checked_sub(1).and_then(|index| self.0.get(index)).map_or(0, |known| known.1)
    }
}

/// The lowest sequence of anything first sent after a given time.
struct Ceiling(Vec<(u64, u64)>);

impl Ceiling {
    fn new(view: &View<'_>) -> Self {
        let mut sent: Vec<(u64, u64)> =
            view.writes.iter().filter_map(|write| write.range.map(|range| (write.first_invoked, range.0))).collect();
        sent.sort_unstable();
        let mut lowest = u64::MAX;
        for (_, sequence) in sent.iter_mut().rev() {
            lowest = lowest.min(*sequence);
            *sequence = lowest;
        }
        Self(sent)
    }

    fn after(&self, at: u64) -> u64 {
        let index = self.0.partition_point(|(invoked, _)| *invoked <= at);
        self.0.get(index).map_or(u64::MAX, |sent| sent.1)
    }
}
