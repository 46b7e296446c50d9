//! C7: each stream delivers a contiguous run from where it was resumed; over reconnects the union is the log,
//! once each, to its end.

use super::{Check, Findings, read::not_in_log, view::View};
use crate::history::{Answer, Op, Operation, Outcome};
use std::collections::BTreeMap;

/// C7.
pub(super) fn streams_deliver_the_log_once(view: &View<'_>, findings: &mut Findings<'_>) {
    let mut readers: BTreeMap<u32, Vec<&Operation>> = BTreeMap::new();
    for operation in &view.streams {
        readers.entry(operation.process).or_default().push(operation);
    }
    for (process, mut stretches) in readers {
        stretches.sort_by_key(|operation| operation.invoked);
        reader(view, process, &stretches, findings);
    }
}

fn reader(view: &View<'_>, process: u32, stretches: &[&Operation], findings: &mut Findings<'_>) {
    let last = view.log.rows.last().map_or(0, |row| row.sequence);
    let mut reached = 0;
    for operation in stretches {
        match (&operation.op, &operation.outcome) {
            (Op::Stream { after, connection, .. }, Outcome::Ok(Answer::Delivered { events, end })) => {
                if *after != reached {
                    findings.add(Check::C7, format!("reader {process} had {reached} and resumed after {after}"));
                    return;
                }
                if let Some(text) = not_in_log(view, *after, events) {
                    findings.add(
                        Check::C7,
                        format!("connection {connection} of reader {process}, resumed after {after}, {text}"),
                    );
                    return;
                }
                reached = events.last().map_or(*after, |event| event.0);
                if *end && reached < last {
                    findings.add(Check::C7, format!("a stream said `end` at {reached}, but the log goes on to {last}"));
                }
            }
            (Op::StreamClosed { after, .. }, _) if *after < last => {
                findings.add(
                    Check::C7,
                    format!(
                        "reader {process} waited at the end of the round and got no further than {after} of {last}"
                    ),
                );
            }
            _ => {}
        }
    }
}
