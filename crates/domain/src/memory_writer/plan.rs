//! Turns a checked answer into the changes of documents that people review.

pub use super::support::{OUTSIDE, QUOTED, UNSUPPORTED, UNTRUSTED};
use super::{
    answer::{Op, OpKind, Summary},
    carry::{ALIASES, LINKS, carry_out},
    check::{Checked, CheckedOp, Origin, Window},
    contradict::contradictions,
    dedupe::near_duplicates,
    evidence::{Sources, new_lines, of_lines},
    section,
    support::Support,
    text::normal,
};
use crate::evidence::{Evidence, LineEvidence};
use crate::{Timestamp, names::names};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// What may be written without a review.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Nothing: every change is reviewed.
    #[default]
    Review,
    /// Summaries and additions that come from people. Never what replaces or retires a section.
    Auto,
}

names!(Policy { Review = "review", Auto = "auto" });

/// The change of one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Path of the document.
    pub path: String,
    /// Version that the change is about; 0 for a new document.
    pub base_version: u64,
    /// Body of that version.
    pub base: String,
    /// Body after the change.
    pub body: String,
    /// Turns of each new line.
    pub evidence: Vec<LineEvidence>,
    /// Turns of the change as a whole, those of removed sections included.
    pub turns: Vec<Evidence>,
    /// Why, one line for each operation that gives a reason.
    pub reason: String,
    /// What a reviewer should look at.
    pub flags: Vec<String>,
    /// Lines of the change that contradict a line that stays.
    pub contradictions: Vec<Contradiction>,
    /// Whether every operation adds, and comes from a person, and nothing is flagged.
    pub is_plain: bool,
}

impl Change {
    /// Whether the change may be written without a review.
    pub fn is_automatic(&self, policy: Policy) -> bool {
        policy == Policy::Auto && self.is_plain
    }
}

/// A new line that contradicts one that remains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Contradiction {
    /// The new line.
    pub line: String,
    /// Time of the newest turn that it comes from (UTC).
    pub turn_at: Option<Timestamp>,
    /// Path of the document that has the existing line.
    pub path: String,
    /// The line that remains.
    pub existing: String,
}

impl Contradiction {
    /// Returns the flag for the reviewer. `since` is when the existing line was written (UTC), if that is known.
    pub fn flag(&self, since: Option<Timestamp>) -> String {
        let day = |at: Option<Timestamp>| {
            at.map_or_else(|| "at an unknown time".to_owned(), |at| at.format("on %Y-%m-%d").to_string())
        };
        let (new, old) =
            (crate::thread::cut(&self.line, LINE_CHARS_MAX), crate::thread::cut(&self.existing, LINE_CHARS_MAX));
        format!("`{new}`, said {}, contradicts `{old}`, written {}", day(self.turn_at), day(since))
    }
}

/// Longest line that a flag quotes, characters.
const LINE_CHARS_MAX: usize = 80;

/// Why an operation cannot be carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}")]
pub struct Impossible {
    /// Path of the document.
    pub path: String,
    /// What is wrong with its section.
    pub why: section::NotFound,
}

#[derive(Default)]
struct Draft {
    body: String,
    sources: Sources,
    turns: Vec<Evidence>,
    reasons: Vec<String>,
    flags: Vec<String>,
    contradictions: Vec<Contradiction>,
    replaces: bool,
}

impl Draft {
    fn flag(&mut self, flag: &str) {
        if !self.flags.iter().any(|known| known == flag) {
            self.flags.push(flag.to_owned());
        }
    }
}

/// Carries out the operations, one change for each document. The session document comes last. Also returns the
/// operations that cannot be carried out because an earlier one of this answer was left out, or has removed their
/// section.
pub fn plan(checked: &Checked, window: &Window) -> (Vec<Change>, Vec<Impossible>) {
    let support = Support::new(window);
    let mut drafts: BTreeMap<String, Draft> = BTreeMap::new();
    let mut impossible = Vec::new();
    for op in &checked.ops {
        let shown = window.prompt_documents.get(&op.op.path).map(|shown| shown.body.clone()).unwrap_or_default();
        let draft = drafts.entry(op.op.path.clone()).or_insert_with(|| Draft { body: shown, ..Draft::default() });
        match carry_out(&draft.body, &op.op) {
            Ok(after) => {
                note(draft, op, &after, (window, &support));
                draft.body = after;
            }
            Err(why) => impossible.push(Impossible { path: op.op.path.clone(), why }),
        }
    }
    let mut changes: Vec<Change> = drafts.into_iter().map(|(path, draft)| change(path, draft, window)).collect();
    changes.retain(|change| change.body != change.base);
    let summary = checked.summary.as_ref();
    changes.extend(summary.map(|(summary, origin)| summarised(summary, origin, (window, &support))));
    (changes, impossible)
}

/// The change that makes the session document of a summary.
fn summarised(summary: &Summary, origin: &Origin, (window, support): (&Window, &Support<'_>)) -> Change {
    let body = format!("# {}\n\n{}\n", summary.title.trim(), summary.body.trim_matches('\n'));
    let mut draft = Draft { reasons: vec!["Summary of the conversation.".to_owned()], ..Draft::default() };
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        let turns = origin.lines.get(line).unwrap_or(&origin.turns);
        if let Some(why) = support.doubt(line, turns) {
            draft.flag(why);
        }
        draft.sources.insert(line.to_owned(), turns.clone());
    }
    draft.turns.clone_from(&origin.turns);
    draft.body = body;
    change(window.session_path.clone(), draft, window)
}

/// Flag of a change of a person's document that they did not say themselves.
pub const THIRD_PARTY: &str = "said about this person by someone else";

fn note(draft: &mut Draft, checked: &CheckedOp, after: &str, (window, support): (&Window, &Support<'_>)) {
    let (op, origin) = (&checked.op, &checked.origin);
    let before = draft.body.clone();
    let added = new_lines(&before, after);
    for (_, line) in &added {
        let turns = origin.lines.get(*line).unwrap_or(&origin.turns);
        let of = draft.sources.entry((*line).to_owned()).or_default();
        of.extend(turns.iter().filter(|turn| !of.contains(turn)).copied().collect::<Vec<_>>());
        if is_written_by_code(line, op, window) {
            continue;
        }
        if let Some(why) = support.doubt(line, turns) {
            draft.flag(why);
        }
        if op.path.starts_with("people/") && !is_own_account(&op.path, turns, window) {
            draft.flag(THIRD_PARTY);
        }
    }
    // What removes lines has no new line of its own.
    if added.is_empty() && op.path.starts_with("people/") && !is_own_account(&op.path, &origin.turns, window) {
        draft.flag(THIRD_PARTY);
    }
    // The name of a new document is given to agents too.
    let name = op.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".md");
    if is_new_name(op, window) && support.doubt(&format!("# {name}"), &origin.turns) == Some(OUTSIDE) {
        draft.flag(OUTSIDE);
    }
    for (new, old) in near_duplicates(&op.body, &before) {
        let (new, old) = (crate::thread::cut(&new, LINE_CHARS_MAX), crate::thread::cut(&old, LINE_CHARS_MAX));
        draft.flag(&format!("`{new}` is much like `{old}`"));
    }
    let found = contradicted(checked, (&before, after), window);
    draft.contradictions.extend(found);
    draft.replaces |= !op.op.only_adds();
    draft.turns.extend(&origin.turns);
    draft.turns.sort_unstable();
    draft.turns.dedup();
    let reason = super::text::one_line(&op.reason, super::limit::OP_REASON_CHARS_MAX);
    if !reason.is_empty() && !draft.reasons.contains(&reason) {
        draft.reasons.push(reason);
    }
}

/// Whether the model has chosen no word of a line: the headings of aliases and links, and the link to this run's
/// summary.
fn is_written_by_code(line: &str, op: &Op, window: &Window) -> bool {
    match op.op {
        OpKind::AliasAdd => line == format!("## {ALIASES}"),
        OpKind::LinkAdd => line == format!("## {LINKS}") || op.body == window.session_path,
        OpKind::Create | OpKind::AppendSection | OpKind::ReplaceSection | OpKind::RetireSection => false,
    }
}

/// Whether an operation makes a document whose name the model has chosen.
fn is_new_name(op: &Op, window: &Window) -> bool {
    op.op == OpKind::Create && !window.people.contains(&op.path)
}

/// The new lines of an operation that contradict a line that stays: those of the same document by their words, and
/// those of every document that was shown if the model says so.
fn contradicted(checked: &CheckedOp, (before, after): (&str, &str), window: &Window) -> Vec<Contradiction> {
    let op = &checked.op;
    let stays: String =
        before.lines().filter(|line| after.lines().any(|kept| kept == *line)).map(|line| format!("{line}\n")).collect();
    let own = contradictions(&op.added(), &stays).into_iter().map(|(line, old)| (line, op.path.clone(), old));
    let named = checked.origin.contradicts.iter().filter_map(|(line, old)| {
        let has = |text: &str| {
            text.lines().find(|existing| normal(existing) == normal(old)).map(|found| found.trim().to_owned())
        };
        let others = || {
            window
                .prompt_documents
                .iter()
                .filter(|(path, _)| **path != op.path)
                .find_map(|(path, shown)| Some((path.clone(), has(&shown.body)?)))
        };
        let is_kept = op.body.lines().any(|kept| kept == line) && !normal(old).is_empty();
        let (path, existing) =
            has(&stays).map(|existing| (op.path.clone(), existing)).or_else(others).filter(|_| is_kept)?;
        Some((line.trim().to_owned(), path, existing))
    });
    let mut found: Vec<Contradiction> = Vec::new();
    for (line, path, existing) in own.chain(named) {
        if found.iter().any(|known| known.line == line && known.existing == existing) {
            continue;
        }
        let turns = checked.origin.lines.iter().filter(|(of, _)| of.trim() == line).flat_map(|(_, turns)| turns);
        let turn_at = turns.filter_map(|at| window.find(*at)).map(|turn| turn.time).max();
        found.push(Contradiction { line, turn_at, path, existing });
    }
    found
}

/// Whether the person whose document is changed is the author of a turn that supports it.
fn is_own_account(path: &str, turns: &[Evidence], window: &Window) -> bool {
    let mut speakers = turns.iter().filter_map(|at| window.find(*at)?.speaker.as_ref());
    speakers.any(|speaker| speaker.path == path)
}

fn change(path: String, draft: Draft, window: &Window) -> Change {
    let shown = window.prompt_documents.get(&path);
    let base = shown.map(|shown| shown.body.clone()).unwrap_or_default();
    let evidence = of_lines(&base, &draft.body, &draft.sources);
    Change {
        base_version: shown.map_or(0, |shown| shown.version),
        evidence,
        turns: draft.turns,
        reason: draft.reasons.join("\n"),
        is_plain: !draft.replaces && draft.flags.is_empty() && draft.contradictions.is_empty(),
        flags: draft.flags,
        contradictions: draft.contradictions,
        body: draft.body,
        base,
        path,
    }
}
