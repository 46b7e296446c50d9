//! The decision about a patch: accepted at the newest version, or rejected with the reason.

use super::{
    document::{Document, Failure},
    operation::{Operation, Patch},
    path::Path,
    words,
};
use crate::names::names;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{cell::OnceCell, fmt};

/// The newest version of a canvas.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    /// Content at that version.
    pub document: &'a Document,
    /// Sequence of the event that made it.
    pub version: u64,
    /// Document at the base of the patch to decide about. Without it, two changes of one text are not joined.
    pub before: Option<&'a Document>,
}

/// A patch that was accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed {
    /// Sequence of its event, which is the version that it made.
    pub sequence: u64,
    /// Version on which it was applied.
    pub previous: u64,
    /// Id that its author gave it.
    pub op_id: String,
    /// Its author.
    pub by: String,
    /// Its operations.
    pub ops: Vec<Operation>,
    /// Changes of others that its author had not seen and that it replaced.
    pub overwrote: Vec<Overwritten>,
}

/// A change that another one replaced, by an author who had not seen it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Overwritten {
    /// Place of the value.
    pub path: Path,
    /// Version that had set it.
    pub sequence: u64,
    /// Id of the patch that had set it.
    pub op_id: String,
    /// Author of that patch.
    pub by: String,
}

/// A patch as it is applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// The operations. A text of which two changes were joined is the joined one.
    pub ops: Vec<Operation>,
    /// The document afterwards.
    pub document: Document,
    /// Operations that undo it, guarded by tests.
    pub inverse: Vec<Operation>,
    /// Changes of others that it replaced.
    pub overwrote: Vec<Overwritten>,
}

/// Why a patch is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The value to change, or what it is in, was removed or replaced since.
    TargetGone,
    /// Someone changed a part of the value to replace or to remove.
    SubtreeChanged,
    /// The member to add exists.
    Exists,
    /// There is no such value.
    NotFound,
    /// A test found another value.
    TestFailed,
    /// A strict patch is not based on the newest version.
    Stale,
    /// Positions in arrays, and the whole document, change only by a strict patch.
    NeedsStrict,
    /// The document would be too large, too deep, or no object.
    TooLarge,
    /// The document would not match the schema of the canvas.
    Schema,
}

names!(Reason {
    TargetGone = "target_gone",
    SubtreeChanged = "subtree_changed",
    Exists = "exists",
    NotFound = "not_found",
    TestFailed = "test_failed",
    Stale = "stale",
    NeedsStrict = "needs_strict",
    TooLarge = "too_large",
    Schema = "schema",
});

/// A patch that is not applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejected {
    /// Why it is rejected.
    pub reason: Reason,
    /// Position of the operation that is rejected.
    pub at: usize,
    /// Place of its value.
    pub path: Path,
    /// The value that is kept; `None` if there is none.
    pub kept: Option<Value>,
    /// The unseen change with which it conflicts, if there is one.
    pub because: Option<Box<Overwritten>>,
}

/// Decides about a patch. `since` are the patches committed after its base, oldest first.
///
/// A client has seen its own earlier patches: those of the same author whose ids have the same text before the last
/// colon.
///
/// # Errors
/// [`Rejected`].
pub fn decide(head: Head<'_>, by: &str, patch: &Patch, since: &[Committed]) -> Result<Accepted, Rejected> {
    let reject = |reason, at: usize, because: Option<Overwritten>| {
        let path = patch.ops.get(at).map(Operation::path).cloned().unwrap_or_default();
        let kept = (!path.is_root()).then(|| path.of(head.document.value()).cloned()).flatten();
        Rejected { reason, at, path, kept, because: because.map(Box::new) }
    };
    if patch.is_strict && patch.base != head.version {
        return Err(reject(Reason::Stale, 0, None));
    }
    let (own, foreign): (Vec<_>, Vec<_>) =
        since.iter().partition(|committed| committed.by == by && is_of_one_client(&committed.op_id, &patch.op_id));
    let (mut overwrote, mut ops, seen) = (Vec::new(), patch.ops.clone(), OnceCell::new());
    for (at, operation) in patch.ops.iter().enumerate() {
        if !patch.is_strict && needs_strict(head.document, operation) {
            return Err(reject(Reason::NeedsStrict, at, None));
        }
        let found = compare(head.document, operation, &foreign).map_err(|(reason, by)| reject(reason, at, Some(by)))?;
        match joined(head, operation, (own.as_slice(), &seen), &found) {
            Some(joined) => ops[at] = joined,
            None => found.into_iter().for_each(|one| keep_newest(&mut overwrote, one)),
        }
    }
    let applied = head.document.apply(&ops).map_err(|(at, failure)| {
        let because = ops.get(at).and_then(|operation| newest_related(operation.path(), &foreign));
        reject(failure.into(), at, because)
    })?;
    applied.document.check().map_err(|_| reject(Reason::TooLarge, 0, None))?;
    Ok(Accepted { ops, document: applied.document, inverse: applied.inverse, overwrote })
}

impl From<Failure> for Reason {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotFound => Self::NotFound,
            Failure::Exists => Self::Exists,
            Failure::TestFailed => Self::TestFailed,
            Failure::Root => Self::TooLarge,
        }
    }
}

/// Whether an operation is about the whole document, or about a position in an array.
pub(super) fn needs_strict(document: &Document, operation: &Operation) -> bool {
    let mut value = Some(document.value());
    let is_in_array = operation.path().keys().iter().any(|key| {
        let is_array = value.is_some_and(Value::is_array);
        value = value.and_then(|value| value.get(key));
        is_array
    });
    operation.writes() && (operation.path().is_root() || is_in_array)
}

fn is_of_one_client(one: &str, other: &str) -> bool {
    match (one.rsplit_once(':'), other.rsplit_once(':')) {
        (Some((one, _)), Some((other, _))) => one == other,
        _ => false,
    }
}

/// Compares an operation with the patches that its author had not seen. Returns the changes that it replaces.
fn compare(
    document: &Document,
    operation: &Operation,
    foreign: &[&Committed],
) -> Result<Vec<Overwritten>, (Reason, Overwritten)> {
    let mut overwritten = Vec::new();
    // Applying an `add` checks that the member does not exist. A test reads only.
    if matches!(operation, Operation::Add { .. } | Operation::Test { .. }) {
        return match gone(operation.path(), foreign) {
            Some(by) if operation.writes() => Err((Reason::TargetGone, by)),
            _ => Ok(overwritten),
        };
    }
    let path = operation.path();
    if let Some(by) = gone(path, foreign) {
        return Err((Reason::TargetGone, by));
    }
    let is_map = path.of(document.value()).is_some_and(Value::is_object);
    for (committed, change) in changes(foreign) {
        if path.is_above(change.path()) || is_map && path == change.path() {
            return Err((Reason::SubtreeChanged, named(committed, change)));
        }
        if path == change.path() {
            if matches!(change, Operation::Remove { .. }) {
                return Err((Reason::TargetGone, named(committed, change)));
            }
            overwritten.push(named(committed, change));
        }
    }
    Ok(overwritten)
}

/// The unseen change that removed, replaced or added an object around the value. An author who names a value in an
/// object that another author added has an object of the same name, whose patch was rejected.
fn gone(path: &Path, foreign: &[&Committed]) -> Option<Overwritten> {
    changes(foreign)
        .filter(|(_, change)| change.path().is_above(path))
        .last()
        .map(|(committed, change)| named(committed, change))
}

fn newest_related(path: &Path, foreign: &[&Committed]) -> Option<Overwritten> {
    changes(foreign)
        .filter(|(_, change)| change.path() == path || change.path().is_above(path) || path.is_above(change.path()))
        .last()
        .map(|(committed, change)| named(committed, change))
}

fn changes<'a>(foreign: &'a [&'a Committed]) -> impl Iterator<Item = (&'a Committed, &'a Operation)> {
    foreign
        .iter()
        .flat_map(|committed| committed.ops.iter().filter(|change| change.writes()).map(|change| (*committed, change)))
}

fn named(committed: &Committed, change: &Operation) -> Overwritten {
    Overwritten {
        path: change.path().clone(),
        sequence: committed.sequence,
        op_id: committed.op_id.clone(),
        by: committed.by.clone(),
    }
}

/// For each author and value only the newest change is listed, so the number of authors bounds the list.
fn keep_newest(overwrote: &mut Vec<Overwritten>, one: Overwritten) {
    overwrote.retain(|other| other.path != one.path || other.by != one.by);
    overwrote.push(one);
}

/// The operation with a text in which the change and those of others are joined.
/// `own` are the author's own patches since the base, and the document that the author saw, once it is known: making it
/// costs as much as all of these patches, and a patch can have many such operations.
fn joined(
    head: Head<'_>,
    operation: &Operation,
    (own, seen): (&[&Committed], &OnceCell<Option<Document>>),
    found: &[Overwritten],
) -> Option<Operation> {
    let Operation::Replace { path, value: Value::String(mine) } = operation else { return None };
    let first = found.iter().map(|one| one.sequence).min()?;
    // If an earlier text of the author was joined, the author did not see the joined text.
    if own.iter().any(|one| one.sequence > first && one.ops.iter().any(|operation| operation.path() == path)) {
        return None;
    }
    let seen = seen.get_or_init(|| seen_by_author(head, own)).as_ref()?;
    let base = path.of(seen.value())?.as_str()?;
    let joined = words::joined(base, path.of(head.document.value())?.as_str()?, mine)?;
    Some(Operation::Replace { path: path.clone(), value: Value::String(joined) })
}

/// The document at the base of a patch with the author's own patches since.
fn seen_by_author(head: Head<'_>, own: &[&Committed]) -> Option<Document> {
    let own: Vec<_> = own.iter().flat_map(|committed| committed.ops.iter().cloned()).collect();
    if own.is_empty() { head.before.cloned() } else { Some(head.before?.apply(&own).ok()?.document) }
}
