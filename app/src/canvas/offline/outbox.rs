//! The waiting changes of this tab, kept in the database.

use super::{
    queue::{Queue, Unwritten, read, written},
    rows::{self, Row},
};
use crate::browser::{dom, id::new_id, lock, task::spawn_local};
use domain::canvas::Patch;
use std::{
    cell::{Cell, RefCell},
    future::pending,
    rc::Rc,
};

pub use super::rows::Typed;

/// Prefix of the lock that a tab holds as long as it is open.
const TAB_LOCK: &str = "shiftbook-canvas-tab ";
/// Prefix of the lock under which changes of tabs that are gone are taken over.
const ADOPT_LOCK: &str = "shiftbook-canvas-adopt ";

/// A change that the server rejected, with what was typed.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejected {
    /// The change.
    pub patch: Patch,
    /// Why it was rejected, in words.
    pub why: String,
}

/// The waiting changes of one tab at one canvas. A copy is the same.
#[derive(Clone)]
pub struct Outbox(Rc<Inner>);

struct Inner {
    /// Workspace, person and canvas.
    place: String,
    tab: String,
    queue: RefCell<Queue>,
    rejected: RefCell<Vec<Rejected>>,
    /// Texts to write, by path; `None` removes one.
    texts: RefCell<Vec<(String, Option<String>)>>,
    /// Rejected changes to write: id, the patch as JSON, and why.
    unwritten_rejected: RefCell<Vec<(String, String, String)>>,
    is_writing: Cell<bool>,
    /// Whether the last write failed, so a reload would lose what waits.
    is_failing: Cell<bool>,
}

impl Outbox {
    /// Opens the outbox of a canvas and takes over the changes of tabs that are gone. [`Self::pending`] has them.
    pub async fn open(canvas: &str) -> Self {
        let inner = Inner {
            place: [&dom::owner(), " ", canvas].concat(),
            tab: new_id(),
            queue: RefCell::new(Queue::new(first_number())),
            rejected: RefCell::default(),
            texts: RefCell::default(),
            unwritten_rejected: RefCell::default(),
            is_writing: Cell::new(false),
            is_failing: Cell::new(false),
        };
        let outbox = Self(Rc::new(inner));
        let name = [TAB_LOCK, &outbox.0.tab].concat();
        // Held until the tab is closed: the browser releases it then.
        spawn_local(async move { lock::exclusive(&name, true, pending()).await });
        outbox.adopt().await;
        outbox
    }

    /// Takes over the changes of tabs that are gone, in order.
    pub async fn adopt(&self) {
        let outbox = self.clone();
        let name = [ADOPT_LOCK, &self.0.place].concat();
        lock::exclusive(&name, true, async move { outbox.adopt_alone().await }).await;
    }

    async fn adopt_alone(&self) {
        let Ok(found) = rows::all(&self.0.place).await else {
            self.0.is_failing.set(true);
            return;
        };
        let mut tabs = vec![(self.0.tab.clone(), false)];
        let mut taken = Vec::new();
        for row in found {
            let is_gone = match tabs.iter().find(|(tab, _)| *tab == row.tab) {
                Some((_, is_gone)) => *is_gone,
                None => {
                    let is_gone = is_gone(&row.tab).await;
                    tabs.push((row.tab.clone(), is_gone));
                    is_gone
                }
            };
            let Some(patch) = read(&row.json).filter(|_| is_gone) else { continue };
            if row.rejected.is_empty() {
                self.0.queue.borrow_mut().adopt(patch, row.number as u64);
            } else {
                self.0.rejected.borrow_mut().push(Rejected { patch, why: row.rejected.clone() });
            }
            taken.push(Row { tab: self.0.tab.clone(), ..row });
        }
        if !taken.is_empty() && rows::write(&self.0.place, &taken, &[]).await.is_err() {
            self.0.is_failing.set(true);
        }
    }

    /// Adds a change, or replaces the one with its id, and writes it.
    pub fn push(&self, patch: Patch) {
        self.0.queue.borrow_mut().push(patch);
        self.write();
    }

    /// Replaces the waiting changes by those of the client, and writes what differs. Call it after each change of the
    /// client: [`domain::canvas::Client::waiting_patches`].
    pub fn keep(&self, patches: impl IntoIterator<Item = Patch>) {
        self.0.queue.borrow_mut().keep(patches);
        self.write();
    }

    /// The waiting changes, in order, for [`domain::canvas::Client::restore`].
    pub fn pending(&self) -> Vec<Patch> {
        self.0.queue.borrow().pending()
    }

    /// Removes a change that the server accepted.
    pub fn acknowledge(&self, op_id: &str) {
        self.0.queue.borrow_mut().acknowledge(op_id);
        self.write();
    }

    /// Keeps a change that the server rejected, with the reason in words, until the person has read it.
    pub fn reject(&self, patch: Patch, why: &str) {
        self.0.queue.borrow_mut().acknowledge(&patch.op_id);
        let row = (patch.op_id.clone(), written(&patch), why.to_owned());
        self.0.unwritten_rejected.borrow_mut().push(row);
        self.0.rejected.borrow_mut().push(Rejected { patch, why: why.to_owned() });
        self.write();
    }

    /// The rejected changes that the person has not dismissed, also those of earlier pages.
    pub fn rejected(&self) -> Vec<Rejected> {
        self.0.rejected.borrow().clone()
    }

    /// Forgets a rejected change after the person has dismissed it or put it back.
    pub fn dismiss(&self, op_id: &str) {
        self.0.rejected.borrow_mut().retain(|one| one.patch.op_id != op_id);
        self.0.unwritten_rejected.borrow_mut().retain(|(id, ..)| id != op_id);
        let (outbox, op_id) = (self.clone(), op_id.to_owned());
        spawn_local(async move {
            let written = rows::write(&outbox.0.place, &[], &[op_id]).await;
            outbox.0.is_failing.set(written.is_err());
        });
    }

    /// Keeps the text at a path while an input method composes it; `None` when it is in a change.
    pub fn keep_text(&self, path: &str, text: Option<&str>) {
        let mut texts = self.0.texts.borrow_mut();
        texts.retain(|(other, _)| other != path);
        texts.push((path.to_owned(), text.map(str::to_owned)));
        drop(texts);
        self.write();
    }

    /// The texts that were typed on earlier pages and are in no change.
    pub async fn texts(&self) -> Vec<Typed> {
        rows::texts(&self.0.place).await.unwrap_or_default()
    }

    /// Whether the browser refuses to keep changes, so that a reload would lose those that wait.
    pub fn is_failing(&self) -> bool {
        self.0.is_failing.get()
    }

    /// Writes what the database lacks. What changes while a write runs is written right after it, so a text that is
    /// typed is kept within the time of two writes.
    fn write(&self) {
        if !self.0.is_writing.replace(true) {
            let outbox = self.clone();
            spawn_local(async move {
                while outbox.write_once().await {}
                outbox.0.is_writing.set(false);
            });
        }
    }

    /// Returns whether there was something to write, and it was written.
    async fn write_once(&self) -> bool {
        let unwritten = self.0.queue.borrow_mut().take_unwritten();
        let rejected = std::mem::take(&mut *self.0.unwritten_rejected.borrow_mut());
        let texts = std::mem::take(&mut *self.0.texts.borrow_mut());
        if unwritten.is_empty() && rejected.is_empty() && texts.is_empty() {
            return false;
        }
        let Unwritten { put, gone } = unwritten;
        // A change that was rejected has left the queue, but its row stays.
        let gone: Vec<String> = gone.into_iter().filter(|id| rejected.iter().all(|(other, ..)| other != id)).collect();
        let waiting = put.into_iter().map(|(op_id, number, json)| self.row(op_id, number as f64, json, ""));
        let refused = rejected.iter().map(|(op_id, json, why)| self.row(op_id.clone(), 0.0, json.clone(), why));
        let put: Vec<Row> = waiting.chain(refused).collect();
        let mut is_written = true;
        if !put.is_empty() || !gone.is_empty() {
            is_written = rows::write(&self.0.place, &put, &gone).await.is_ok();
        }
        if !texts.is_empty() {
            is_written &= rows::write_texts(&self.0.place, &texts).await.is_ok();
        }
        self.0.is_failing.set(!is_written);
        if !is_written {
            // The next change writes them again. A newer text of a place stays.
            self.0.queue.borrow_mut().forget_written();
            self.0.unwritten_rejected.borrow_mut().extend(rejected);
            let mut newer = self.0.texts.borrow_mut();
            for (path, text) in texts {
                if newer.iter().all(|(other, _)| *other != path) {
                    newer.push((path, text));
                }
            }
        }
        is_written
    }

    fn row(&self, op_id: String, number: f64, json: String, why: &str) -> Row {
        Row { tab: self.0.tab.clone(), number, op_id, json, rejected: why.to_owned() }
    }
}

/// The first place in the order of this page: later than those of earlier pages. It counts microseconds, and no one
/// makes a thousand changes in a millisecond.
fn first_number() -> u64 {
    (js_sys::Date::now() * 1_000.0) as u64
}

/// Whether the tab is closed: its lock can be had. Without Web Locks every other tab counts as closed; a change that
/// two tabs send is applied once.
async fn is_gone(tab: &str) -> bool {
    let is_free = Rc::new(Cell::new(false));
    let found = is_free.clone();
    lock::exclusive(&[TAB_LOCK, tab].concat(), false, async move { found.set(true) }).await;
    is_free.get()
}
