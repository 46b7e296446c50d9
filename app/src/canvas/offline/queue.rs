//! The waiting changes of one tab, and what of them is not written to the database yet.

use crate::canvas::json::{self, flag, number, operations, text};
use domain::canvas::{Operation, Patch};
use serde::Serialize;

/// A patch as it is stored.
#[derive(Serialize)]
struct Stored<'a> {
    op_id: &'a str,
    base: u64,
    ops: &'a [Operation],
    is_strict: bool,
}

/// Writes a patch as JSON.
pub fn written(patch: &Patch) -> String {
    let Patch { op_id, base, ops, is_strict } = patch;
    serde_json::to_string(&Stored { op_id, base: *base, ops, is_strict: *is_strict }).unwrap_or_default()
}

/// Reads a patch; `None` for what another version of the page wrote and this one cannot read.
pub fn read(json: &str) -> Option<Patch> {
    let stored = json::read(json)?;
    let (op_id, base) = (text(&stored, "op_id")?, number(&stored, "base")?);
    Some(Patch { op_id, base, ops: operations(&stored)?, is_strict: flag(&stored, "is_strict")? })
}

/// A waiting change.
struct Entry {
    patch: Patch,
    /// Its place in the order of this browser. It keeps it when the change takes in another one.
    number: u64,
}

/// What the database lacks.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Unwritten {
    /// Changes that are new or differ: id, place in the order, and JSON.
    pub put: Vec<(String, u64, String)>,
    /// Ids of changes that wait no longer.
    pub gone: Vec<String>,
}

impl Unwritten {
    /// Whether the database has everything.
    pub const fn is_empty(&self) -> bool {
        self.put.is_empty() && self.gone.is_empty()
    }
}

/// The waiting changes of one tab, in order.
pub struct Queue {
    entries: Vec<Entry>,
    next: u64,
    /// What the database has, by id.
    written: Vec<(String, String)>,
}

impl Queue {
    /// An empty queue. Places in the order begin with `first`, which is later than those of earlier pages.
    pub const fn new(first: u64) -> Self {
        Self { entries: Vec::new(), next: first, written: Vec::new() }
    }

    /// Takes over a change that the database has, at the end.
    pub fn adopt(&mut self, patch: Patch, number: u64) {
        self.written.push((patch.op_id.clone(), written(&patch)));
        self.entries.push(Entry { patch, number });
    }

    /// Adds a change at the end, or replaces the one with its id.
    pub fn push(&mut self, patch: Patch) {
        match self.entries.iter_mut().find(|entry| entry.patch.op_id == patch.op_id) {
            Some(entry) => entry.patch = patch,
            None => {
                self.entries.push(Entry { patch, number: self.next });
                self.next += 1;
            }
        }
    }

    /// Replaces the waiting changes by these, in order.
    pub fn keep(&mut self, patches: impl IntoIterator<Item = Patch>) {
        let before = std::mem::take(&mut self.entries);
        let number = |id: &str| before.iter().find(|entry| entry.patch.op_id == id).map(|entry| entry.number);
        for patch in patches {
            let number = number(&patch.op_id).unwrap_or_else(|| {
                self.next += 1;
                self.next - 1
            });
            self.entries.push(Entry { patch, number });
        }
    }

    /// Removes a change that the server answered. Returns it.
    pub fn acknowledge(&mut self, op_id: &str) -> Option<Patch> {
        let at = self.entries.iter().position(|entry| entry.patch.op_id == op_id)?;
        Some(self.entries.remove(at).patch)
    }

    /// The waiting changes, in order.
    pub fn pending(&self) -> Vec<Patch> {
        self.entries.iter().map(|entry| entry.patch.clone()).collect()
    }

    /// What the database lacks. It counts as written from now on.
    pub fn take_unwritten(&mut self) -> Unwritten {
        let mut found = Unwritten::default();
        let mut now = Vec::with_capacity(self.entries.len());
        for Entry { patch, number } in &self.entries {
            let row = (patch.op_id.clone(), written(patch));
            if !self.written.contains(&row) {
                found.put.push((row.0.clone(), *number, row.1.clone()));
            }
            now.push(row);
        }
        for (id, _) in std::mem::replace(&mut self.written, now) {
            if self.written.iter().all(|(other, _)| *other != id) {
                found.gone.push(id);
            }
        }
        found
    }

    /// Counts everything as not written, after the database refused.
    pub fn forget_written(&mut self) {
        self.written.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::canvas::Path;
    use serde_json::json;

    fn patch(op_id: &str, text: &str) -> Patch {
        let operation = Operation::Replace { path: Path::parse("/blocks/b1/text").unwrap(), value: json!(text) };
        Patch { op_id: op_id.into(), base: 3, ops: vec![operation], is_strict: false }
    }

    fn ids(queue: &Queue) -> Vec<String> {
        queue.pending().into_iter().map(|patch| patch.op_id).collect()
    }

    /// What was put, as id and place, and the ids that are gone.
    fn taken(queue: &mut Queue) -> (Vec<(String, u64)>, Vec<String>) {
        let Unwritten { put, gone } = queue.take_unwritten();
        (put.into_iter().map(|(id, number, _)| (id, number)).collect(), gone)
    }

    #[test]
    fn a_patch_is_read_as_it_was_written() {
        let before = patch("t:1", "a \"b\"\n");
        assert_eq!(read(&written(&before)), Some(before));
        assert_eq!(read("{}"), None);
    }

    #[test]
    fn only_what_changed_is_written() {
        let mut queue = Queue::new(10);
        queue.push(patch("t:1", "a"));
        queue.push(patch("t:2", "b"));
        assert_eq!(taken(&mut queue), (vec![("t:1".into(), 10), ("t:2".into(), 11)], vec![]));
        assert!(queue.take_unwritten().is_empty());
        queue.push(patch("t:2", "bc"));
        assert_eq!(queue.acknowledge("t:1").map(|patch| patch.op_id), Some("t:1".into()));
        assert_eq!(queue.acknowledge("t:1"), None);
        assert_eq!(taken(&mut queue), (vec![("t:2".into(), 11)], vec!["t:1".into()]));
        queue.forget_written();
        assert_eq!(taken(&mut queue).0.len(), 1, "a database that refused gets it again");
    }

    #[test]
    fn changes_keep_their_order_across_pages_and_replacements() {
        let mut queue = Queue::new(20);
        queue.adopt(patch("old:1", "a"), 4);
        queue.keep([patch("old:1", "a"), patch("t:1", "b"), patch("t:2", "c")]);
        assert_eq!(ids(&queue), ["old:1", "t:1", "t:2"]);
        assert_eq!(taken(&mut queue), (vec![("t:1".into(), 20), ("t:2".into(), 21)], vec![]));
        queue.keep([patch("t:2", "c"), patch("t:3", "d")]);
        assert_eq!(taken(&mut queue), (vec![("t:3".into(), 22)], vec!["old:1".into(), "t:1".into()]));
    }
}
