//! Notices to the person about their own changes: that one was not accepted, or that someone replaced it.

use super::model::block_of;
use crate::canvas::{offline, rejected_words};
use domain::canvas::{self, Operation, edit::Spot};
use serde_json::Value;

/// Most notices that are shown at a time. A further one replaces the oldest.
const NOTICES_MAX: usize = 20;
/// Longest part of a text that a notice shows, characters.
const EXCERPT_CHARS_MAX: usize = 300;

/// What is shown about one change.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// Distinguishes it from the others.
    pub id: u64,
    /// The block beside which it is shown; `None` for one that belongs to no block.
    pub block: Option<String>,
    /// What happened.
    pub words: String,
    /// What the person wrote; empty if they wrote no text.
    pub mine: String,
    /// What is there instead; empty if there is nothing.
    pub kept: String,
    /// The change, to make it again. Empty if it cannot be made again.
    pub ops: Vec<Operation>,
    /// Ids of rejected patches that the browser keeps until the notice is closed.
    pub kept_as: Vec<String>,
}

impl Notice {
    /// A notice of the client. `op_id` is that of the patch that was answered; `name` says what an actor is called.
    pub fn of(notice: canvas::Notice, op_id: Option<String>, name: impl Fn(&str) -> String) -> Self {
        match notice {
            canvas::Notice::Rejected { ops, rejected } => {
                let by = rejected.because.as_ref().map(|because| name(&because.by));
                let words = rejected_words(rejected.reason);
                let words = by.map_or_else(|| words.to_owned(), |by| words.replacen("Someone", &by, 1));
                let block = block_of(&rejected.path).map(str::to_owned);
                let kept = rejected.kept.as_ref().map(plain).unwrap_or_default();
                Self { block, kept, kept_as: op_id.into_iter().collect(), ..Self::about(ops, words) }
            }
            canvas::Notice::Overwritten { change, mine, by } => {
                let words = [&name(&by), " replaced your change of this block without having seen it."].concat();
                let block = block_of(&change.path).map(str::to_owned);
                let ops = mine.map(|value| Operation::Replace { path: change.path, value });
                Self { block, ..Self::about(ops.into_iter().collect(), words) }
            }
        }
    }

    /// A change that was rejected on an earlier page.
    pub fn earlier(one: offline::Rejected) -> Self {
        Self { kept_as: vec![one.patch.op_id], ..Self::about(one.patch.ops, one.why) }
    }

    /// Words about a change that can be made again; about nothing if there are no operations.
    pub fn about(ops: Vec<Operation>, words: String) -> Self {
        let block = ops.iter().find_map(|op| block_of(op.path()).map(str::to_owned));
        let mine = text_of(&ops);
        Self { id: 0, block, words, mine, kept: String::new(), ops, kept_as: Vec::new() }
    }

    /// Adds the notice to those that are shown. A text that was typed on while it waited is rejected in several
    /// patches: the last one has all of it, and takes the place of the earlier ones.
    pub fn add_to(mut self, notices: &mut Vec<Self>) {
        // Another notice is another element.
        self.id = notices.last().map_or(0, |last| last.id + 1);
        notices.retain(|other| {
            let is_earlier =
                other.block == self.block && other.words == self.words && are_of_one_place(&other.ops, &self.ops);
            if is_earlier {
                self.kept_as.extend(other.kept_as.iter().cloned());
            }
            !is_earlier
        });
        if notices.len() == NOTICES_MAX {
            notices.remove(0);
        }
        notices.push(self);
    }
}

/// Whether two changes write the same values.
fn are_of_one_place(one: &[Operation], other: &[Operation]) -> bool {
    one.iter().map(Operation::path).eq(other.iter().map(Operation::path))
}

/// The newest text that operations write.
fn text_of(ops: &[Operation]) -> String {
    let value = ops.iter().rev().find_map(|op| match op {
        Operation::Replace { path, value } if Spot::of(path).is_some() => Some(value),
        Operation::Add { value, .. } => value.get("text"),
        _ => None,
    });
    value.map(plain).unwrap_or_default()
}

fn plain(value: &Value) -> String {
    let json = || serde_json::to_string(value.get("text").unwrap_or(value)).unwrap_or_default();
    let text = value.as_str().map_or_else(json, str::to_owned);
    match text.char_indices().nth(EXCERPT_CHARS_MAX) {
        Some((end, _)) => [&text[..end], "…"].concat(),
        None => text,
    }
}
