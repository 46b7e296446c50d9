//! C1 to C4: what was acknowledged is in the log, once, whole, where and as it was acknowledged.

use super::{
    Check, Findings, RowKind,
    view::{Verdict, View},
};
use crate::history::{Op, Outcome};
use std::collections::HashMap;
use uuid::Uuid;

/// C1.
pub(super) fn acknowledged_is_stored(view: &View<'_>, findings: &mut Findings<'_>) {
    if !view.log.found {
        findings.add(Check::C1, "its creation was acknowledged, and now it does not exist".into());
        return;
    }
    for write in view.writes.iter().filter(|write| write.verdict == Verdict::Ok) {
        let missing: Vec<Uuid> = write.events.iter().map(|sent| sent.0).filter(|id| view.row(*id).is_none()).collect();
        if let Some(first) = missing.first() {
            let (lost, of) = (missing.len(), write.events.len());
            let at = write.acks.first().and_then(|(events, _)| events.first()).map_or(0, |event| event.1);
            findings.add(
                Check::C1,
                format!("an append acknowledged at sequence {at} is lost: {lost} of its {of} events, first {first}"),
            );
        }
    }
}

/// C2.
pub(super) fn ids_occur_once(view: &View<'_>, findings: &mut Findings<'_>) {
    let mut sent: HashMap<Uuid, Verdict> = HashMap::new();
    for write in &view.writes {
        for (id, _) in write.events {
            sent.insert(*id, write.verdict);
        }
    }
    for (index, row) in view.log.rows.iter().enumerate() {
        let first = view.position.get(&row.id).copied().unwrap_or(index);
        if first != index {
            let at = view.log.rows.get(first).map_or(0, |row| row.sequence);
            findings.add(Check::C2, format!("event {} is stored twice, at {at} and at {}", row.id, row.sequence));
        }
        match sent.get(&row.id) {
            Some(Verdict::Fail) => {
                findings.add(Check::C2, format!("event {} was refused, but is stored at {}", row.id, row.sequence));
            }
            Some(Verdict::Ok | Verdict::Info) => {}
            None if row.kind == RowKind::Worker => {
                findings.add(Check::C2, format!("event {} at {} was never sent by anyone", row.id, row.sequence));
            }
            None => {}
        }
    }
    for operation in &view.conflicts {
        if let (Op::Conflict { event, .. }, Outcome::Ok(_)) = (&operation.op, &operation.outcome) {
            findings.add(Check::C2, format!("event {} was accepted a second time with another body", event.0));
        }
    }
}

/// C3, and P-5: batches.
pub(super) fn sequences_are_dense_and_batches_whole(view: &View<'_>, findings: &mut Findings<'_>) {
    let rows = &view.log.rows;
    for (row, expected) in rows.iter().zip(1_u64..) {
        if row.sequence != expected {
            findings.add(Check::C3, format!("sequence {expected} is missing: the log goes on with {}", row.sequence));
            break;
        }
    }
    if view.log.found && view.log.head != rows.last().map_or(0, |row| row.sequence) {
        let last = rows.last().map_or(0, |row| row.sequence);
        findings.add(Check::C3, format!("its head is {}, but its last event has sequence {last}", view.log.head));
    }
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for write in &view.writes {
        let Some((low, high)) = write.range else { continue };
        let first = write.events.first().map(|sent| sent.0).unwrap_or_default();
        let stored: Vec<u64> =
            write.events.iter().filter_map(|sent| view.row(sent.0)).map(|row| row.sequence).collect();
        if stored.len() < write.events.len() {
            let (kept, of) = (stored.len(), write.events.len());
            findings.add(Check::C3, format!("only {kept} of {of} events of the batch of {first} are stored"));
        } else if !stored.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
            findings.add(Check::C3, format!("the batch of {first} is not contiguous: it lies within {low}..={high}"));
        }
        if high > low {
            ranges.push((low, high));
        }
    }
    ranges.sort_unstable();
    for glimpse in view.head_sightings() {
        let before = ranges.partition_point(|(low, _)| *low <= glimpse.head);
        if let Some((low, high)) = before.checked_sub(1).and_then(|index| ranges.get(index))
            && glimpse.head < *high
        {
            findings.add(
                Check::C3,
                format!("half of the batch {low}..={high} was visible: a head of {} was seen", glimpse.head),
            );
        }
    }
}

/// C4.
pub(super) fn acknowledged_is_what_is_stored(view: &View<'_>, findings: &mut Findings<'_>) {
    for write in &view.writes {
        for (id, digest) in write.events {
            if let Some(row) = view.row(*id)
                && row.digest != *digest
            {
                findings
                    .add(Check::C4, format!("the body of event {id} at {} is not the one that was sent", row.sequence));
            }
        }
        for (acked, head) in &write.acks {
            if !acked.iter().map(|event| event.0).eq(write.events.iter().map(|sent| sent.0)) {
                let first = write.events.first().map(|sent| sent.0).unwrap_or_default();
                findings.add(Check::C4, format!("the acknowledgement of the append of {first} names other event ids"));
                continue;
            }
            for (id, sequence) in *acked {
                if let Some(row) = view.row(*id)
                    && row.sequence != *sequence
                {
                    let at = row.sequence;
                    findings
                        .add(Check::C4, format!("event {id} was acknowledged at {sequence}, but is stored at {at}"));
                }
            }
            if acked.last().is_some_and(|(_, sequence)| head < sequence) {
                findings
                    .add(Check::C4, format!("an append was acknowledged beyond the head {head} it was answered with"));
            }
        }
    }
}
