//! What an agent's memory knows already: lines that are not proposed once more.

use super::{
    answer::OpKind,
    check::{Checked, CheckedOp, Window},
    limit::ALIKE_FROM,
    section,
    text::{likeness, normal, says_something},
};
use std::collections::{BTreeMap, BTreeSet};

/// Lines that are not to be proposed, in the form of [`normal`].
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Lines that a reviewer denied.
    pub denied: BTreeSet<String>,
    /// Lines that the agent was given as memory in these conversations. What it repeats of them is nothing new.
    pub injected: BTreeSet<String>,
    /// Lines of proposals that wait for a decision, by path.
    pub pending: BTreeMap<String, BTreeSet<String>>,
}

/// Lines that were left out of an answer, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// Path of the document.
    pub path: String,
    /// As the model proposed it.
    pub line: String,
    /// Reason, for the log.
    pub why: &'static str,
}

/// Leaves out of an answer the lines that are known already. Operations without any new line are left out.
pub fn dedupe(mut checked: Checked, window: &Window, known: &Known) -> (Checked, Vec<Dropped>) {
    let mut dropped = Vec::new();
    let mut own: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    checked.ops = checked
        .ops
        .into_iter()
        .filter_map(|op| {
            let path = op.op.path.clone();
            let earlier = own.entry(path.clone()).or_default();
            let body = &window.shown.get(&path).map_or("", |shown| shown.body.as_str());
            let lines: BTreeSet<String> = body.lines().filter(|line| says_something(line)).map(normal).collect();
            let why = |line: &str| why(&op, &normal(line), (&lines, earlier), known);
            let left = without(&op, why, &mut dropped)?;
            earlier.extend(left.op.body.lines().filter(|line| says_something(line)).map(normal));
            Some(left)
        })
        .collect();
    if let Some((summary, _)) = &mut checked.summary {
        let is_denied = |line: &str| known.denied.contains(&normal(line));
        let kept = summary.body.lines().filter(|line| !says_something(line) || !is_denied(line));
        summary.body = kept.collect::<Vec<_>>().join("\n");
    }
    checked.summary = checked.summary.filter(|(summary, _)| summary.body.lines().any(says_something));
    (checked, dropped)
}

fn why(
    op: &CheckedOp,
    line: &str,
    (document, earlier): (&BTreeSet<String>, &BTreeSet<String>),
    known: &Known,
) -> Option<&'static str> {
    // What replaces a section may repeat lines of the document.
    if op.op.op == OpKind::ReplaceSection && document.contains(line) {
        return None;
    }
    let is_pending = || known.pending.get(&op.op.path).is_some_and(|lines| lines.contains(line));
    if document.contains(line) {
        Some("the document has this line")
    } else if known.denied.contains(line) {
        Some("a reviewer denied this line")
    } else if known.injected.contains(line) {
        Some("the agent was given this line as memory")
    } else if earlier.contains(line) || is_pending() {
        Some("this line is proposed already")
    } else {
        None
    }
}

fn without(
    op: &CheckedOp,
    why: impl Fn(&str) -> Option<&'static str>,
    dropped: &mut Vec<Dropped>,
) -> Option<CheckedOp> {
    if op.op.op == OpKind::RetireSection {
        return Some(op.clone());
    }
    let before = dropped.len();
    let mut kept = Vec::new();
    let mut is_open = false;
    for line in op.op.body.lines() {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        is_open ^= fence;
        // Code is kept or left out as a whole.
        match why(line).filter(|_| says_something(line) && !is_open && !fence) {
            None => kept.push(line),
            Some(why) => {
                dropped.push(Dropped { path: op.op.path.clone(), line: line.to_owned(), why });
            }
        }
    }
    if dropped.len() == before {
        return Some(op.clone());
    }
    if !kept.iter().any(|line| says_something(line)) {
        return None;
    }
    let mut left = op.clone();
    left.op.body = kept.join("\n");
    Some(left)
}

/// Returns the lines of a body that are nearly a line of the document, as `new line` and `old line`.
pub fn near_duplicates(body: &str, document: &str) -> Vec<(String, String)> {
    let old: Vec<(&str, String)> =
        document.lines().filter(|line| says_something(line)).map(|line| (line, normal(line))).collect();
    let mut near = Vec::new();
    for line in body.lines().filter(|line| says_something(line) && !section::is_heading(line)) {
        let own = normal(line);
        let like = old.iter().find(|(_, other)| *other != own && likeness(&own, other) >= ALIKE_FROM);
        near.extend(like.map(|(other, _)| (line.trim().to_owned(), other.trim().to_owned())));
    }
    near
}
