//! What an agent's memory knows already: lines that are not proposed once more.

use super::{
    answer::{Op, OpKind},
    check::{Checked, CheckedOp, Window},
    evidence::{DERIVED_FROM, new_lines},
    limit::ALIKE_FROM,
    section,
    text::{likeness, normal, says_something},
};
use std::collections::{BTreeMap, BTreeSet};

/// In front of a line that a reviewer did not let go, as denials are stored. No line in the form of [`normal`] begins
/// with it.
const REMOVAL: &str = "- ";

const HAS: &str = "the document has this line";
const DENIED: &str = "a reviewer denied this line";
const GIVEN: &str = "the agent was given this line as memory";
const PROPOSED: &str = "this line is proposed already";
const STAYS: &str = "a reviewer denied that this line goes";
const GOES: &str = "it is proposed already that this line goes";

/// Lines that are not to be proposed, in the form of [`normal`].
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Lines that a reviewer denied.
    pub denied: BTreeSet<String>,
    /// Lines of which a reviewer denied that they go.
    pub staying: BTreeSet<String>,
    /// Lines that the agent was given as memory in these conversations. What it repeats of them is nothing new.
    pub injected: BTreeSet<String>,
    /// Lines of proposals that wait for a decision, by path.
    pub pending: BTreeMap<String, BTreeSet<String>>,
    /// Lines that proposals remove that wait for a decision, by path. Headings are among them.
    pub leaving: BTreeMap<String, BTreeSet<String>>,
}

impl Known {
    /// Adds what was denied, as [`denials`] returns it.
    pub fn deny(&mut self, denial: &str) {
        match denial.strip_prefix(REMOVAL) {
            Some(line) => self.staying.insert(line.to_owned()),
            None => self.denied.insert(denial.to_owned()),
        };
    }

    /// Adds a proposal that waits for a decision.
    pub fn wait(&mut self, path: &str, base: &str, body: &str) {
        let added = new_lines(base, body).into_iter().map(|(_, line)| line);
        let added = added.filter(|line| says_something(line)).map(normal);
        self.pending.entry(path.to_owned()).or_default().extend(added);
        let removed = new_lines(body, base).into_iter().map(|(_, line)| normal(line));
        self.leaving.entry(path.to_owned()).or_default().extend(removed.filter(|line| !line.is_empty()));
    }
}

/// Returns what is remembered of a denied proposal: its new lines, and the lines that it would have removed.
pub fn denials(base: &str, body: &str) -> Vec<String> {
    let said = |lines: Vec<(u32, &str)>| -> Vec<String> {
        lines.into_iter().map(|(_, line)| line).filter(|line| says_something(line)).map(normal).collect()
    };
    let removed = said(new_lines(body, base)).into_iter().map(|line| format!("{REMOVAL}{line}"));
    said(new_lines(base, body)).into_iter().chain(removed).collect()
}

/// Returns what is remembered of a proposal that a reviewer approved, in the form of [`denials`]: the lines that they
/// cut out of it, and those that it would have removed and they let stay. A line that they reworded is not denied.
pub fn cut_out(base: &str, proposed: &str, approved: &str) -> Vec<String> {
    let kept = normals(approved);
    let (offered, before) = (normals(proposed), normals(base));
    // What the reviewer wrote: a line that the proposal has as well says nothing of another one that is gone.
    let written: Vec<&String> =
        kept.iter().filter(|line| !offered.contains(*line) && !before.contains(*line)).collect();
    let is_reworded = |line: &str| written.iter().any(|own| likeness(line, own) >= DERIVED_FROM);
    let is_denied = |denial: &String| match denial.strip_prefix(REMOVAL) {
        Some(line) => kept.contains(line),
        None => !kept.contains(denial) && !is_reworded(denial),
    };
    denials(base, proposed).into_iter().filter(is_denied).collect()
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

/// A line that is left out, and why.
type LeftOut = (String, &'static str);

/// Leaves out of an answer the lines that are known already. Operations without any new line are left out.
pub fn dedupe(mut checked: Checked, window: &Window, known: &Known) -> (Checked, Vec<Dropped>) {
    let mut dropped = Vec::new();
    let mut own: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut note = |path: &str, lines: Vec<LeftOut>| {
        dropped.extend(lines.into_iter().map(|(line, why)| Dropped { path: path.to_owned(), line, why }));
    };
    checked.ops = checked
        .ops
        .into_iter()
        .filter_map(|op| {
            let earlier = own.entry(op.op.path.clone()).or_default();
            let document = window.prompt_documents.get(&op.op.path).map_or("", |shown| shown.body.as_str());
            let (left, left_out) = reduced(&op, document, earlier, known);
            note(&op.op.path, left_out);
            let left = left?;
            earlier.extend(normals(&left.op.added()));
            Some(left)
        })
        .collect();
    if let Some((summary, _)) = &mut checked.summary {
        let why = |line: &str| {
            let line = normal(line);
            if known.denied.contains(&line) {
                return Some(DENIED);
            }
            known.injected.contains(&line).then_some(GIVEN)
        };
        let (kept, left_out) = without(&summary.body, why);
        note(&window.session_path, left_out);
        summary.body = kept.join("\n");
    }
    checked.summary = checked.summary.filter(|(summary, _)| summary.body.lines().any(says_something));
    (checked, dropped)
}

/// Returns what is left of an operation, and the lines that were left out.
fn reduced(
    op: &CheckedOp,
    document: &str,
    earlier: &BTreeSet<String>,
    known: &Known,
) -> (Option<CheckedOp>, Vec<LeftOut>) {
    let (added, lines, removed) = (op.op.added(), normals(document), removed(&op.op, document));
    let (kept, left_out) = without(&added, |line| why(op, &normal(line), (&lines, earlier), known));
    if !removed.is_empty() {
        // A replacement of lines is kept or dropped as a whole: without one of its lines it would only remove others.
        if !left_out.is_empty() {
            return (None, left_out);
        }
        let adds = kept.iter().any(|line| says_something(line) && !lines.contains(&normal(line)));
        let left_out = if adds { Vec::new() } else { remaining(&op.op.path, &removed, known) };
        return (left_out.is_empty().then(|| op.clone()), left_out);
    }
    if left_out.is_empty() {
        return (Some(op.clone()), left_out);
    }
    let mut left = op.clone();
    left.op.body = kept.join("\n");
    (Some(left).filter(|left| left.op.body.lines().any(says_something)), left_out)
}

/// Returns the lines of a document that an operation removes. Headings are among them.
fn removed<'d>(op: &Op, document: &'d str) -> Vec<&'d str> {
    let skipped = match op.op {
        OpKind::ReplaceSection => 1,
        OpKind::RetireSection => 0,
        OpKind::Create | OpKind::AppendSection | OpKind::AliasAdd | OpKind::LinkAdd => return Vec::new(),
    };
    let Ok(span) = section::find(document, &op.heading) else { return Vec::new() };
    let stays: BTreeSet<String> = op.added().lines().map(normal).collect();
    let lines = document.lines().take(span.end).skip(span.heading + skipped);
    lines.filter(|line| !normal(line).is_empty() && !stays.contains(&normal(line))).collect()
}

/// Returns the lines because of which nothing is removed: a reviewer wants one of them to stay, or a proposal that
/// waits removes all of them.
fn remaining(path: &str, removed: &[&str], known: &Known) -> Vec<LeftOut> {
    let staying = removed.iter().filter(|line| says_something(line) && known.staying.contains(&normal(line)));
    let staying: Vec<LeftOut> = staying.map(|line| ((*line).to_owned(), STAYS)).collect();
    let is_leaving = |line: &&str| known.leaving.get(path).is_some_and(|leaving| leaving.contains(&normal(line)));
    if staying.is_empty() && removed.iter().all(is_leaving) {
        return removed.iter().map(|line| ((*line).to_owned(), GOES)).collect();
    }
    staying
}

fn normals(text: &str) -> BTreeSet<String> {
    text.lines().filter(|line| says_something(line)).map(normal).collect()
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
        Some(HAS)
    } else if known.denied.contains(line) {
        Some(DENIED)
    } else if known.injected.contains(line) {
        Some(GIVEN)
    } else if earlier.contains(line) || is_pending() {
        Some(PROPOSED)
    } else {
        None
    }
}

/// Returns the lines of a text that are kept, and those that are left out. Code is kept or left out as a whole: it goes
/// with a line that was denied or given to the agent, or if all its lines are known.
fn without(text: &str, why: impl Fn(&str) -> Option<&'static str>) -> (Vec<&str>, Vec<LeftOut>) {
    let why = |line: &str| if says_something(line) { why(line) } else { None };
    let lines: Vec<(&str, usize)> = text.lines().zip(section::blocks(text).0).collect();
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for block in lines.chunk_by(|one, next| one.1 == next.1) {
        let is_code = block.iter().any(|(_, number)| *number > 0);
        let of_code = if is_code { why_code(block, why) } else { None };
        for (line, _) in block {
            let found = if is_code { of_code } else { why(line) };
            match found {
                None => kept.push(*line),
                Some(why) => left_out.push(((*line).to_owned(), why)),
            }
        }
    }
    (kept, left_out)
}

/// Why a block of code with its two fences is left out.
fn why_code(block: &[(&str, usize)], why: impl Fn(&str) -> Option<&'static str>) -> Option<&'static str> {
    let inner = block.get(1..block.len() - 1).unwrap_or_default();
    let whys: Vec<_> = inner.iter().filter(|(line, _)| says_something(line)).map(|(line, _)| why(line)).collect();
    let refused = whys.iter().flatten().find(|why| [DENIED, GIVEN].contains(*why));
    let known = || if whys.iter().all(Option::is_some) { whys.iter().flatten().next() } else { None };
    refused.or_else(known).copied()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reviewer_cuts_out_is_denied_and_what_they_reword_or_keep_is_not() {
        let base = "# Mia\n\n- Lives in Oslo\n- Likes trains\n";
        let proposed = "# Mia\n\n- Plays chess on Sundays\n- Has a dog\n- Has a dog and a boat\n";
        let approved = "# Mia\n\n- Likes trains\n- Plays chess on most Sundays\n- Has a dog\n";
        assert_eq!(cut_out(base, proposed, approved), ["has a dog and a boat", "- likes trains"]);
        assert_eq!(cut_out(base, proposed, proposed), Vec::<String>::new());
        assert_eq!(cut_out(base, proposed, base).len(), 5, "nothing of it was wanted");
    }
}
