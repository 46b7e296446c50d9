//! The state of a client of a canvas: the confirmed document, and the changes that wait for an answer.
//!
//! The caller transports: it sends what [`Client::next`] returns, and gives answers and the patches of the stream to
//! [`Client::answer`] and [`Client::receive`]. Both may come late, twice or in another order.

use super::{
    decide::{Committed, Overwritten, Rejected, needs_strict},
    document::{Document, Failure},
    operation::{Operation, Patch},
};
use crate::limit::{CANVAS_OPS_MAX, CANVAS_PENDING_MAX, CANVAS_UNDO_MAX};
use std::collections::VecDeque;

/// A client that edits a canvas.
#[derive(Debug, Clone)]
pub struct Client {
    /// Distinguishes this client from the others of its author.
    id: String,
    /// Number of changes made, for their ids.
    made: u64,
    confirmed: Document,
    version: u64,
    pending: VecDeque<Pending>,
    shown: Document,
    undo: Vec<Vec<Operation>>,
    redo: Vec<Vec<Operation>>,
}

/// A change that the server has not answered.
#[derive(Debug, Clone)]
struct Pending {
    patch: Patch,
    kind: Kind,
    is_sent: bool,
    /// Base of the patch: the newest version whose values at the written places the author has seen. While an earlier
    /// change of such a value waits, changes of others to it are not shown, so the base is that of the earlier change.
    seen: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Edit,
    Undo,
    Redo,
}

/// The answer to a patch.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It was accepted, now or when it was sent before.
    Committed(Committed),
    /// It was rejected.
    Rejected(Rejected),
}

/// Result of a patch of the stream, or of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Received {
    /// It was applied. The person gets these notices.
    Taken(Vec<Notice>),
    /// It is known already.
    Known,
    /// Patches after this version are missing. Read them from the server.
    Gap(u64),
    /// The document differs from that of the server. Read the newest one and give it to [`Client::reset`].
    Differs,
}

/// A notice for the person who edits.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// A change of theirs was not accepted.
    Rejected {
        /// The operations.
        ops: Vec<Operation>,
        /// The reason, and what stays.
        rejected: Rejected,
    },
    /// A change of theirs was replaced by someone who had not seen it.
    Overwritten {
        /// The change of theirs.
        change: Overwritten,
        /// Who replaced it.
        by: String,
    },
}

/// Why there is no undo or redo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoRefusal {
    /// There is nothing to undo or redo.
    Nothing,
    /// A change waits for its answer.
    Waits,
}

impl Client {
    /// A client that begins with a document at a version. `id` is random, without a colon.
    pub fn new(id: &str, document: Document, version: u64) -> Self {
        Self {
            id: id.replace(':', ""),
            made: 0,
            shown: document.clone(),
            confirmed: document,
            version,
            pending: VecDeque::new(),
            undo: Vec::new(),
            redo: Vec::new(),
        }
    }

    /// The document to show: what is confirmed, with the own changes that wait.
    pub const fn document(&self) -> &Document {
        &self.shown
    }

    /// The newest confirmed document.
    pub const fn confirmed(&self) -> &Document {
        &self.confirmed
    }

    /// Version of the newest confirmed document.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Number of changes that wait for an answer.
    pub fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// Makes a change. A change that only replaces values joins the one before it, if that was not sent yet.
    ///
    /// # Errors
    /// The position of the operation that cannot be applied, and why. Position 0 with [`Failure::NotFound`] if too
    /// many changes wait.
    pub fn edit(&mut self, ops: Vec<Operation>) -> Result<(), (usize, Failure)> {
        if self.pending.len() >= CANVAS_PENDING_MAX {
            return Err((0, Failure::NotFound));
        }
        let shown = self.shown.apply(&ops)?.document;
        self.redo.clear();
        if !self.collapse(&ops) {
            self.push(ops, Kind::Edit);
        }
        self.shown = shown;
        Ok(())
    }

    /// Undoes the newest change of this client that was accepted.
    ///
    /// # Errors
    /// [`UndoRefusal`]. If someone changed the value meanwhile, the server rejects the undo and says who.
    pub fn undo(&mut self) -> Result<(), UndoRefusal> {
        self.step(Kind::Undo)
    }

    /// Makes the newest change again that was undone.
    ///
    /// # Errors
    /// [`UndoRefusal`].
    pub fn redo(&mut self) -> Result<(), UndoRefusal> {
        self.step(Kind::Redo)
    }

    /// The next patch to send; `None` while one is on its way.
    pub fn next_patch(&mut self) -> Option<Patch> {
        let first = self.pending.front_mut().filter(|first| !first.is_sent)?;
        first.is_sent = true;
        first.patch.base = first.seen;
        Some(first.patch.clone())
    }

    /// The patch that is on its way, to send it again after the connection was lost.
    pub fn again(&self) -> Option<Patch> {
        self.pending.front().filter(|first| first.is_sent).map(|first| first.patch.clone())
    }

    /// Takes the answer to the patch with this id.
    pub fn answer(&mut self, op_id: &str, answer: Answer) -> Received {
        match answer {
            Answer::Committed(committed) => self.receive(&committed),
            Answer::Rejected(rejected) => {
                let Some(first) = self.pending.pop_front_if(|first| first.patch.op_id == op_id) else {
                    return Received::Known;
                };
                self.show();
                Received::Taken(vec![Notice::Rejected { ops: first.patch.ops, rejected }])
            }
        }
    }

    /// Applies a committed patch of any author.
    pub fn receive(&mut self, committed: &Committed) -> Received {
        if committed.sequence <= self.version {
            return self.settle(&committed.op_id);
        }
        if committed.previous != self.version {
            return Received::Gap(self.version);
        }
        let Ok(applied) = self.confirmed.apply(&committed.ops) else { return Received::Differs };
        (self.confirmed, self.version) = (applied.document, committed.sequence);
        let own = self.pending.pop_front_if(|first| first.patch.op_id == committed.op_id);
        // A text that was joined is new to the author.
        let is_known = own.as_ref().is_some_and(|own| own.patch.ops == committed.ops);
        for waiting in self.pending.iter_mut().filter(|waiting| waiting.seen == committed.previous) {
            if is_known || !are_related(&waiting.patch.ops, &committed.ops) {
                waiting.seen = committed.sequence;
            }
        }
        if let Some(own) = own {
            let steps = if own.kind == Kind::Undo { &mut self.redo } else { &mut self.undo };
            if steps.len() == CANVAS_UNDO_MAX {
                steps.remove(0);
            }
            steps.push(applied.inverse);
        }
        self.show();
        let own = |change: &&Overwritten| change.op_id.rsplit_once(':').is_some_and(|(id, _)| id == self.id);
        let notice = |change: &Overwritten| Notice::Overwritten { change: change.clone(), by: committed.by.clone() };
        Received::Taken(committed.overwrote.iter().filter(own).map(notice).collect())
    }

    /// Takes the newest document of the server. Changes that wait stay, and are sent with their old base.
    pub fn reset(&mut self, document: Document, version: u64) {
        if version > self.version || document != self.confirmed {
            (self.confirmed, self.version) = (document, version);
            self.show();
        }
    }

    /// Removes a change whose patch the newly read document has.
    fn settle(&mut self, op_id: &str) -> Received {
        if self.pending.pop_front_if(|first| first.patch.op_id == op_id).is_none() {
            return Received::Known;
        }
        self.show();
        Received::Taken(Vec::new())
    }

    fn step(&mut self, kind: Kind) -> Result<(), UndoRefusal> {
        if !self.pending.is_empty() {
            return Err(UndoRefusal::Waits);
        }
        let steps = if kind == Kind::Undo { &mut self.undo } else { &mut self.redo };
        let ops = steps.pop().ok_or(UndoRefusal::Nothing)?;
        self.push(ops, kind);
        self.show();
        Ok(())
    }

    fn push(&mut self, ops: Vec<Operation>, kind: Kind) {
        self.made += 1;
        let is_strict = ops.iter().any(|operation| needs_strict(&self.shown, operation));
        let seen = self.pending.iter().map(|waiting| waiting.seen).min().unwrap_or(self.version);
        let patch = Patch { op_id: format!("{}:{}", self.id, self.made), base: seen, ops, is_strict };
        self.pending.push_back(Pending { patch, kind, is_sent: false, seen });
    }

    /// Joins a change of values with the last one that was not sent. Returns whether it did.
    fn collapse(&mut self, ops: &[Operation]) -> bool {
        let Some(last) = self.pending.back_mut().filter(|last| !last.is_sent && last.kind == Kind::Edit) else {
            return false;
        };
        let same = |operation: &Operation| match operation {
            Operation::Replace { path, .. } => last.patch.ops.iter().position(|other| {
                matches!(other, Operation::Replace { path: other, .. } | Operation::Add { path: other, .. }
                    if other == path)
            }),
            _ => None,
        };
        let Some(places) = ops.iter().map(same).collect::<Option<Vec<_>>>() else { return false };
        // What comes after the joined operation must not be about the same value.
        let is_last = |place: &usize| {
            last.patch.ops.get(*place).is_some_and(|operation| {
                let path = operation.path();
                !last.patch.ops[place + 1..]
                    .iter()
                    .any(|later| later.path() == path || later.path().is_above(path) || path.is_above(later.path()))
            })
        };
        if last.patch.ops.len() > CANVAS_OPS_MAX || last.patch.is_strict || !places.iter().all(is_last) {
            return false;
        }
        for (place, operation) in places.into_iter().zip(ops) {
            if let (
                Operation::Replace { value, .. } | Operation::Add { value, .. },
                Operation::Replace { value: new, .. },
            ) = (&mut last.patch.ops[place], operation)
            {
                value.clone_from(new);
            }
        }
        true
    }

    /// Computes the document to show. A change that no longer applies is left out; the server's answer has the reason.
    fn show(&mut self) {
        self.shown = self.pending.iter().fold(self.confirmed.clone(), |shown, pending| {
            shown.apply(&pending.patch.ops).map_or(shown, |applied| applied.document)
        });
    }
}

/// Whether one of the changes writes a value that another one writes, or a part of it.
fn are_related(ops: &[Operation], others: &[Operation]) -> bool {
    let mut pairs = ops.iter().flat_map(|one| others.iter().map(move |other| (one.path(), other.path())));
    pairs.any(|(one, other)| one == other || one.is_above(other) || other.is_above(one))
}
