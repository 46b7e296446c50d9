//! Turns a checked answer into the changes of documents that people review.

use super::{
    answer::OpKind,
    check::{Checked, CheckedOp, Window},
    dedupe::near_duplicates,
    evidence::{Evidence, LineEvidence, Sources, new_lines, of_lines},
    quote::quoting,
    section,
    turn::Taint,
};
use crate::names::names;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

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
    /// Whether every operation adds, and comes from a person, and nothing is flagged.
    pub is_plain: bool,
}

impl Change {
    /// Whether the change may be written without a review.
    pub fn is_automatic(&self, policy: Policy) -> bool {
        policy == Policy::Auto && self.is_plain
    }
}

/// Why an operation cannot be carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}")]
pub struct Impossible {
    /// Path of the document.
    pub path: String,
    /// What is wrong with its section.
    pub why: section::NotFound,
}

struct Draft {
    body: String,
    sources: Sources,
    turns: Vec<Evidence>,
    reasons: Vec<String>,
    flags: Vec<String>,
    is_plain: bool,
}

/// Carries out the operations, one change for each document. The session document comes last.
///
/// # Errors
/// [`Impossible`] if an operation of this answer has removed the section that a later one is about.
pub fn plan(checked: &Checked, window: &Window) -> Result<Vec<Change>, Impossible> {
    let quoting = quoting(&window.turns);
    let mut drafts: BTreeMap<String, Draft> = BTreeMap::new();
    for op in &checked.ops {
        let draft = drafts.entry(op.op.path.clone()).or_insert_with(|| Draft {
            body: window.shown.get(&op.op.path).map(|shown| shown.body.clone()).unwrap_or_default(),
            sources: Sources::new(),
            turns: Vec::new(),
            reasons: Vec::new(),
            flags: Vec::new(),
            is_plain: true,
        });
        let after = carry_out(&draft.body, op).map_err(|why| Impossible { path: op.op.path.clone(), why })?;
        note(draft, op, &after, (window, &quoting));
        draft.body = after;
    }
    let mut changes: Vec<Change> = drafts.into_iter().map(|(path, draft)| change(path, draft, window)).collect();
    changes.retain(|change| change.body != change.base);
    changes.extend(checked.summary.as_ref().map(|(summary, evidence)| {
        let body = format!("# {}\n\n{}\n", summary.title.trim(), summary.body.trim_matches('\n'));
        let sources: Sources = body.lines().map(|line| (line.to_owned(), evidence.clone())).collect();
        let flags: Vec<String> = doubt(evidence, window, &quoting).map(str::to_owned).into_iter().collect();
        let draft = Draft {
            body,
            sources,
            turns: evidence.clone(),
            reasons: vec!["Summary of the conversation.".to_owned()],
            is_plain: flags.is_empty(),
            flags,
        };
        change(window.session_path.clone(), draft, window)
    }));
    Ok(changes)
}

/// Flag of a change that no person's words support.
pub const UNTRUSTED: &str = "no person said this; it comes from the agent, a tool or the web";
/// Flag of a change that a person's words support only where they have a link or words of others.
pub const QUOTED: &str = "the person's message has a link or a quotation, or repeats what a tool or the web said";
/// Flag of a change of a person's document that they did not say themselves.
pub const THIRD_PARTY: &str = "said about this person by someone else";

fn carry_out(body: &str, checked: &CheckedOp) -> Result<String, section::NotFound> {
    let op = &checked.op;
    match op.op {
        OpKind::Create => section::append(body, &[], &op.body),
        OpKind::AppendSection => section::append(body, &op.heading, &op.body),
        OpKind::ReplaceSection => section::replace(body, &op.heading, &op.body),
        OpKind::AliasAdd => section::add_item(body, "Aliases", &op.added()),
        OpKind::LinkAdd => section::add_item(body, "Links", &op.added()),
        OpKind::RetireSection => section::retire(body, &op.heading),
    }
}

/// Returns why evidence is no reason to write without a review; `None` if one of its turns is a person's own words.
fn doubt(evidence: &[Evidence], window: &Window, quoting: &BTreeSet<Evidence>) -> Option<&'static str> {
    let said = |at: &&Evidence| window.find(**at).is_some_and(|turn| turn.taint == Taint::Person);
    let mut people = evidence.iter().filter(said).peekable();
    if people.peek().is_none() {
        return Some(UNTRUSTED);
    }
    people.all(|at| quoting.contains(at)).then_some(QUOTED)
}

fn note(draft: &mut Draft, checked: &CheckedOp, after: &str, (window, quoting): (&Window, &BTreeSet<Evidence>)) {
    for (_, line) in new_lines(&draft.body, after) {
        let turns = draft.sources.entry(line.to_owned()).or_default();
        turns.extend(checked.evidence.iter().filter(|turn| !turns.contains(turn)).copied().collect::<Vec<_>>());
    }
    let mut flag = |flag: String| {
        if !draft.flags.contains(&flag) {
            draft.flags.push(flag);
        }
    };
    if let Some(why) = doubt(&checked.evidence, window, quoting) {
        flag(why.to_owned());
    }
    if checked.op.path.starts_with("people/") && !is_own_account(checked, window) {
        flag(THIRD_PARTY.to_owned());
    }
    for (new, old) in near_duplicates(&checked.op.body, &draft.body) {
        flag(format!("`{}` is much like `{}`", crate::thread::cut(&new, 80), crate::thread::cut(&old, 80)));
    }
    draft.is_plain &= checked.op.op.only_adds();
    draft.turns.extend(&checked.evidence);
    draft.turns.sort_unstable();
    draft.turns.dedup();
    let reason = super::text::one_line(&checked.op.reason, super::limit::OP_REASON_CHARS_MAX);
    if !reason.is_empty() && !draft.reasons.contains(&reason) {
        draft.reasons.push(reason);
    }
}

/// Whether the person whose document is changed said something of it themselves.
fn is_own_account(checked: &CheckedOp, window: &Window) -> bool {
    let speakers = checked.evidence.iter().filter_map(|at| window.find(*at)?.speaker.as_ref());
    speakers.map(|speaker| speaker.path.as_str()).any(|path| path == checked.op.path)
}

fn change(path: String, draft: Draft, window: &Window) -> Change {
    let shown = window.shown.get(&path);
    let base = shown.map(|shown| shown.body.clone()).unwrap_or_default();
    let evidence = of_lines(&base, &draft.body, &draft.sources);
    Change {
        base_version: shown.map_or(0, |shown| shown.version),
        evidence,
        turns: draft.turns,
        reason: draft.reasons.join("\n"),
        is_plain: draft.is_plain && draft.flags.is_empty(),
        flags: draft.flags,
        body: draft.body,
        base,
        path,
    }
}
