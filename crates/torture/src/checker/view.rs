//! A history, sorted by session and by logical append.

use super::{Evidence, FinalSession, Row};
use crate::history::{Answer, Op, Operation, Outcome, Sent};
use std::collections::HashMap;
use uuid::Uuid;

/// How a logical append ended over all its tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Acknowledged at least once.
    Ok,
    /// Never acknowledged, perhaps stored.
    Info,
    /// Every try was refused or never sent.
    Fail,
}

/// One logical append: every try with the same first event id.
pub(super) struct Write<'a> {
    pub events: &'a [Sent],
    pub first_invoked: u64,
    /// When it was first acknowledged.
    pub completed: Option<u64>,
    pub verdict: Verdict,
    /// Every acknowledgement: positions and the head that came with them.
    pub acks: Vec<(&'a [(Uuid, u64)], u64)>,
    /// First and last position in the final log, where any of its events are there.
    pub range: Option<(u64, u64)>,
}

/// A moment at which someone saw the session's head.
pub(super) struct HeadSighting {
    pub invoked: u64,
    pub ended: u64,
    pub head: u64,
}

/// Everything known of one session.
pub(super) struct View<'a> {
    pub log: &'a FinalSession,
    pub writes: Vec<Write<'a>>,
    pub conflicts: Vec<&'a Operation>,
    pub reads: Vec<&'a Operation>,
    pub streams: Vec<&'a Operation>,
    pub statuses: Vec<&'a Operation>,
    /// Successful claims of this session: attempt, lease, and the operation.
    pub claims: Vec<(u32, u64, &'a Operation)>,
    /// Appends, heartbeats, completions and releases: everything that carries an attempt.
    pub holder_ops: Vec<(u32, &'a Operation)>,
    /// Where each event id is (its first occurrence).
    pub position: HashMap<Uuid, usize>,
}

impl<'a> View<'a> {
    fn new(log: &'a FinalSession) -> Self {
        let mut position = HashMap::with_capacity(log.rows.len());
        for (index, row) in log.rows.iter().enumerate() {
            position.entry(row.id).or_insert(index);
        }
        Self {
            log,
            writes: Vec::new(),
            conflicts: Vec::new(),
            reads: Vec::new(),
            streams: Vec::new(),
            statuses: Vec::new(),
            claims: Vec::new(),
            holder_ops: Vec::new(),
            position,
        }
    }

    /// The stored event of an id.
    pub fn row(&self, id: Uuid) -> Option<&'a Row> {
        self.position.get(&id).and_then(|index| self.log.rows.get(*index))
    }

    /// The stored event at a position, by its own sequence where the log is dense.
    pub fn row_at(&self, sequence: u64) -> Option<&'a Row> {
        let index = usize::try_from(sequence.checked_sub(1)?).ok()?;
        self.log.rows.get(index)
    }

    /// Every sighting of the head.
    pub fn head_sightings(&self) -> Vec<HeadSighting> {
        let seen = self.reads.iter().chain(&self.statuses);
        seen.filter_map(|operation| match operation.outcome {
            Outcome::Ok(Answer::Page { head, .. } | Answer::Row { head, .. }) => {
                Some(HeadSighting { invoked: operation.invoked, ended: operation.ended, head })
            }
            _ => None,
        })
        .collect()
    }

    fn add_write(&mut self, operation: &'a Operation, events: &'a [Sent], index: &mut HashMap<Uuid, usize>) {
        let Some((first, _)) = events.first() else { return };
        let at = *index.entry(*first).or_insert(self.writes.len());
        if at == self.writes.len() {
            let found = events.iter().filter_map(|(id, _)| self.row(*id)).map(|row| row.sequence);
            let range = found.clone().min().zip(found.max());
            self.writes.push(Write {
                events,
                first_invoked: operation.invoked,
                completed: None,
                verdict: Verdict::Fail,
                acks: Vec::new(),
                range,
            });
        }
        let Some(write) = self.writes.get_mut(at) else { return };
        write.first_invoked = write.first_invoked.min(operation.invoked);
        match &operation.outcome {
            Outcome::Ok(answer) => {
                write.verdict = Verdict::Ok;
                write.completed = Some(write.completed.map_or(operation.ended, |earlier| earlier.min(operation.ended)));
                if let Answer::Appended { events, head } = answer {
                    write.acks.push((events, *head));
                }
            }
            Outcome::Info { .. } if write.verdict == Verdict::Fail => write.verdict = Verdict::Info,
            Outcome::Info { .. } | Outcome::Fail { .. } => {}
        }
    }
}

/// One view per session.
pub(super) fn views(evidence: &Evidence) -> Vec<View<'_>> {
    let mut views: Vec<View<'_>> = evidence.sessions.iter().map(View::new).collect();
    let by_id: HashMap<Uuid, usize> = evidence.sessions.iter().enumerate().map(|(index, s)| (s.id, index)).collect();
    let mut writes: Vec<HashMap<Uuid, usize>> = views.iter().map(|_| HashMap::new()).collect();
    for operation in &evidence.operations {
        if let Op::Claim { lease_ms, .. } = operation.op {
            if let Outcome::Ok(Answer::Claimed { sessions }) = &operation.outcome {
                for (session, attempt) in sessions {
                    if let Some(view) = by_id.get(session).and_then(|index| views.get_mut(*index)) {
                        view.claims.push((*attempt, lease_ms, operation));
                    }
                }
            }
            continue;
        }
        let Some(index) = session_of(&operation.op).and_then(|session| by_id.get(&session)).copied() else { continue };
        let (Some(view), Some(known)) = (views.get_mut(index), writes.get_mut(index)) else { continue };
        match &operation.op {
            Op::Append { attempt, events, .. } => {
                view.holder_ops.push((*attempt, operation));
                view.add_write(operation, events, known);
            }
            Op::Conflict { .. } => view.conflicts.push(operation),
            Op::Read { .. } => view.reads.push(operation),
            Op::Stream { .. } | Op::StreamClosed { .. } => view.streams.push(operation),
            Op::Status { .. } => view.statuses.push(operation),
            Op::Heartbeat { attempt, .. } | Op::Complete { attempt, .. } | Op::Release { attempt, .. } => {
                view.holder_ops.push((*attempt, operation));
            }
            Op::Claim { .. } | Op::Fault { .. } => {}
        }
    }
    views
}

fn session_of(op: &Op) -> Option<Uuid> {
    match op {
        Op::Append { session, .. }
        | Op::Conflict { session, .. }
        | Op::Read { session, .. }
        | Op::Stream { session, .. }
        | Op::StreamClosed { session, .. }
        | Op::Heartbeat { session, .. }
        | Op::Complete { session, .. }
        | Op::Release { session, .. }
        | Op::Status { session } => Some(*session),
        Op::Claim { .. } | Op::Fault { .. } => None,
    }
}
