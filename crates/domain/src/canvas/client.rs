//! The state of a client of a canvas: the confirmed document, and the changes that wait for an answer.
//!
//! The caller transports: it sends what [`Client::next`] returns, and gives answers and the patches of the stream to
//! [`Client::answer`] and [`Client::receive`]. Both may come late, twice or in another order.

use super::{
    behind::Behind,
    decide::{Committed, Rejected, needs_strict},
    document::{Document, Failure},
    notice::{Notice, overwritten},
    operation::{Operation, Patch},
    pending::{Kind, Pending},
    related::{are_related, is_related, join, join_place, written},
};
use crate::limit::{CANVAS_OPS_MAX, CANVAS_PENDING_MAX, CANVAS_UNDO_MAX};
use serde_json::Value;
use std::collections::VecDeque;

/// A client that edits a canvas.
#[derive(Debug, Clone)]
pub struct Client {
    /// Distinguishes this client from the others of its author.
    id: String,
    /// Author of the changes, as the log names actors; empty if it is not known.
    author: String,
    /// Distinguishes the changes of this page from those that were restored; empty if none were.
    page: String,
    /// Number of changes made, for their ids.
    made: u64,
    confirmed: Document,
    version: u64,
    /// What was skipped by [`Client::reset`] and not read yet.
    behind: Option<Behind>,
    pending: VecDeque<Pending>,
    shown: Document,
    undo: Vec<Vec<Operation>>,
    redo: Vec<Vec<Operation>>,
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
            author: String::new(),
            page: String::new(),
            made: 0,
            shown: document.clone(),
            confirmed: document,
            version,
            behind: None,
            pending: VecDeque::new(),
            undo: Vec::new(),
            redo: Vec::new(),
        }
    }

    /// The client of this author, as the log names actors. There are notices about changes that the author made in
    /// another client too, such as an earlier page, when someone else replaces them.
    #[must_use]
    pub fn of_author(self, author: String) -> Self {
        Self { author, ..self }
    }

    /// What the ids of this client's changes begin with.
    pub fn id(&self) -> &str {
        &self.id
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

    /// Version up to which every patch was read. It is older than that of the document if [`Client::reset`] has skipped
    /// patches: those say which changes of this client were replaced.
    pub fn read_to(&self) -> u64 {
        self.behind.as_ref().map_or(self.version, |behind| behind.version)
    }

    /// Gives up the patches that were skipped. There are no notices about what they replaced.
    pub fn skip_unread(&mut self) {
        self.behind = None;
    }

    /// Number of changes that wait for an answer.
    pub fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// The changes that wait for an answer, in order, to keep them across a reload of the page.
    pub fn waiting_patches(&self) -> impl Iterator<Item = Patch> {
        self.pending.iter().map(|waiting| Patch { base: waiting.base(), ..waiting.patch.clone() })
    }

    /// Takes changes back that were kept from before a reload of the page, oldest first. They are sent before all
    /// others, under their ids. Further changes are those of the same client: to the server, their author has seen the
    /// earlier ones. As another client, a text in a block that one of them adds would be rejected, because someone else
    /// had added the block.
    pub fn restore(&mut self, patches: Vec<Patch>) {
        if let Some((id, _)) = patches.last().and_then(|last| last.op_id.rsplit_once(':')) {
            // The next number can be that of a change which the server knows, and which the page did not keep any more.
            self.page = format!("{}-", self.id);
            self.id = id.to_owned();
        }
        for patch in patches.into_iter().rev() {
            self.pending.push_front(Pending::new(patch, Kind::Restored, Vec::new()));
        }
        self.show();
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
        first.patch.base = first.base();
        first.is_sent = true;
        Some(first.patch.clone())
    }

    /// Drops the patch with this id, which the server does not take, and returns its operations.
    pub fn discard(&mut self, op_id: &str) -> Option<Vec<Operation>> {
        let dropped = self.pending.pop_front_if(|first| first.patch.op_id == op_id)?;
        self.show();
        Some(dropped.patch.ops)
    }

    /// Takes the oldest change that was not sent and the later ones with the same base as one patch, for an author
    /// whose changes are suggestions: as many of them as one patch holds. Those with another base stay for the next
    /// patch: with an older base than theirs, words of others that their author has seen would be joined in a second
    /// time. What is taken is not shown any more, because an editor decides about it. `None` without changes.
    pub fn take_suggestion(&mut self) -> Option<Patch> {
        let first = self.pending.pop_front_if(|first| !first.is_sent)?;
        let mut taken = Patch { base: first.seen, ..first.patch };
        let mut left: VecDeque<Pending> = VecDeque::new();
        while let Some(next) = self.pending.pop_front() {
            // A change of what stays is made after it.
            let is_after_left = left.iter().any(|one| are_related(&one.patch.ops, &next.patch.ops));
            if next.seen != taken.base || is_after_left {
                left.push_back(next);
                continue;
            }
            let mut joined = taken.clone();
            for operation in &next.patch.ops {
                match join_place(&joined.ops, operation) {
                    Some(place) => join(&mut joined.ops, place, operation),
                    None => joined.ops.push(operation.clone()),
                }
            }
            joined.is_strict |= next.patch.is_strict;
            if joined.check().is_err() {
                left.push_back(next);
                break;
            }
            taken = joined;
        }
        left.append(&mut self.pending);
        self.pending = left;
        self.show();
        Some(taken)
    }

    /// Takes back the newest change that was not sent. Returns whether there was one.
    pub fn take_back(&mut self) -> bool {
        let is_taken = self.pending.pop_back_if(|last| !last.is_sent).is_some();
        if is_taken {
            self.show();
        }
        is_taken
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
            let notices = self.read_behind(committed);
            let is_answer = self.settle(committed);
            return if is_answer || !notices.is_empty() { Received::Taken(notices) } else { Received::Known };
        }
        if committed.previous != self.version {
            return Received::Gap(self.version);
        }
        let Ok(applied) = self.confirmed.apply(&committed.ops) else { return Received::Differs };
        let before = std::mem::replace(&mut self.confirmed, applied.document);
        self.version = committed.sequence;
        let own = self.pending.pop_front_if(|first| first.patch.op_id == committed.op_id);
        // A text that was joined is new to the author.
        let is_known = own.as_ref().is_some_and(|own| own.patch.ops == committed.ops);
        for waiting in self.pending.iter_mut().filter(|waiting| waiting.seen == committed.previous) {
            if is_known || !are_related(&waiting.patch.ops, &committed.ops) {
                waiting.seen = committed.sequence;
            }
        }
        self.rebase(own.as_ref().map(|own| own.patch.ops.as_slice()), &before, committed);
        if let Some(own) = own {
            self.remember(own.kind, applied.inverse);
        }
        self.show();
        // While skipped patches are read, this one is read after them, with its notices.
        if self.behind.is_some() {
            return Received::Taken(Vec::new());
        }
        Received::Taken(overwritten(&self.id, &self.author, Some(&before), committed))
    }

    /// Takes the newest document of the server. Changes that wait stay, and are sent with their old base. The patches
    /// that it skips are to be read after [`Client::read_to`], for the notices, or given up by [`Client::skip_unread`].
    pub fn reset(&mut self, document: Document, version: u64) {
        if version > self.version || document != self.confirmed {
            let before = std::mem::replace(&mut self.confirmed, document);
            if version > self.version {
                self.behind.get_or_insert_with(|| Behind { version: self.version, document: Some(before.clone()) });
            }
            self.version = version;
            self.end_behind();
            // What was restored may have been sent by an earlier page, so the document before can have it too.
            let sent = self.pending.front_mut().filter(|first| first.is_sent && first.kind != Kind::Restored);
            if let Some(sent) = sent {
                sent.before.get_or_insert(before);
            }
            self.show();
        }
    }

    /// Reads a patch that was skipped. Returns the notices about changes of this client.
    fn read_behind(&mut self, committed: &Committed) -> Vec<Notice> {
        let Some(behind) = &mut self.behind else { return Vec::new() };
        let notices = behind.read(&self.id, &self.author, committed);
        self.end_behind();
        notices
    }

    /// Forgets what was skipped, if all of it is read.
    fn end_behind(&mut self) {
        self.behind = self.behind.take().filter(|behind| behind.version < self.version);
    }

    /// Joins a text that was typed and not sent with the text that a patch brings, so that its author sees both while
    /// typing on. `sent` are the operations of the patch as this client sent it, if it is one of this client's.
    /// `before` is the document without the patch. A text with which there is no join stays as it is typed.
    fn rebase(&mut self, sent: Option<&[Operation]>, before: &Document, committed: &Committed) {
        for change in &committed.ops {
            let Operation::Replace { path, value: Value::String(newest) } = change else { continue };
            // The text that several changes of one patch leave is not that of the first.
            if committed.ops.iter().filter(|one| is_related(one.path(), path)).count() > 1 {
                continue;
            }
            let is_about = |waiting: &&mut Pending| waiting.patch.ops.iter().any(|one| is_related(one.path(), path));
            let mut related = self.pending.iter_mut().filter(is_about);
            let (Some(waiting), None) = (related.next(), related.next()) else { continue };
            let base = match sent {
                Some(_) if waiting.not_on.contains(&committed.op_id) => None,
                Some(sent) => written(sent, path),
                None if waiting.seen == committed.previous => path.of(before.value()).and_then(Value::as_str),
                None => None,
            };
            if let Some(base) = base {
                waiting.join(path, (base, newest.as_str()), committed.sequence);
            }
        }
    }

    /// Removes a change whose patch the newly read document has. A text that was typed on since is joined with the one
    /// of that document, which can have words of others. Returns whether there was one.
    fn settle(&mut self, committed: &Committed) -> bool {
        let Some(own) = self.pending.pop_front_if(|first| first.patch.op_id == committed.op_id) else {
            return false;
        };
        for change in &own.patch.ops {
            let path = change.path();
            let is_about = |waiting: &&mut Pending| waiting.patch.ops.iter().any(|one| is_related(one.path(), path));
            let mut related = self.pending.iter_mut().filter(is_about);
            let (Some(waiting), None) = (related.next(), related.next()) else { continue };
            let newest = path.of(self.confirmed.value()).and_then(Value::as_str);
            if let (Some(base), Some(newest)) = (written(&own.patch.ops, path), newest)
                && !waiting.not_on.contains(&committed.op_id)
            {
                waiting.join(path, (base, newest), self.version);
            }
        }
        // If no one else changed its values, they were still those of the document that the client had before.
        let is_alone = committed.ops == own.patch.ops && committed.overwrote.is_empty();
        let applied = own.before.filter(|_| is_alone).and_then(|before| before.apply(&committed.ops).ok());
        match applied {
            Some(applied) => self.remember(own.kind, applied.inverse),
            // Without its inverse, undo would take back an older change in its place.
            None => (self.undo, self.redo) = (Vec::new(), Vec::new()),
        }
        self.show();
        true
    }

    /// Keeps the inverse of a change that was accepted, for undo, or for redo if the change was an undo.
    fn remember(&mut self, kind: Kind, inverse: Vec<Operation>) {
        // An edit that was made since has taken the place of what was undone: there is nothing to make again.
        if kind == Kind::Undo && !self.pending.is_empty() {
            return;
        }
        let steps = if kind == Kind::Undo { &mut self.redo } else { &mut self.undo };
        if steps.len() == CANVAS_UNDO_MAX {
            steps.remove(0);
        }
        steps.push(inverse);
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
        // A change elsewhere hides nothing here, however old its base is, nor does one that is not shown.
        let related = self.pending.iter().filter(|waiting| are_related(&waiting.patch.ops, &ops));
        let (hiding, not_on): (Vec<_>, Vec<_>) = related.partition(|waiting| waiting.is_shown);
        let base = hiding.iter().map(|waiting| waiting.seen).min().unwrap_or(self.version);
        let not_on = not_on.into_iter().map(|waiting| waiting.patch.op_id.clone()).collect();
        let patch = Patch { op_id: format!("{}:{}{}", self.id, self.page, self.made), base, ops, is_strict };
        self.pending.push_back(Pending::new(patch, kind, not_on));
    }

    /// Joins a change of values with the last one that was not sent. Returns whether it did.
    fn collapse(&mut self, ops: &[Operation]) -> bool {
        let is_open = |last: &&mut Pending| !last.is_sent && last.kind == Kind::Edit && last.is_shown;
        let Some(last) = self.pending.back_mut().filter(is_open) else { return false };
        let places = ops.iter().map(|operation| join_place(&last.patch.ops, operation)).collect::<Option<Vec<_>>>();
        let Some(places) = places.filter(|_| last.patch.ops.len() <= CANVAS_OPS_MAX && !last.patch.is_strict) else {
            return false;
        };
        places.into_iter().zip(ops).for_each(|(place, operation)| join(&mut last.patch.ops, place, operation));
        true
    }

    /// Computes the document to show. A change that no longer applies is left out; the server's answer has the reason.
    fn show(&mut self) {
        self.shown = self.confirmed.clone();
        for waiting in &mut self.pending {
            let applied = self.shown.apply(&waiting.patch.ops);
            waiting.is_shown = applied.is_ok();
            if let Ok(applied) = applied {
                self.shown = applied.document;
            }
        }
    }
}
