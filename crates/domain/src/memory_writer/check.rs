//! Checks of an answer: what the writer may touch, in which form, and from which turns.

use super::{
    answer::{Answer, NamedTurn, Op, OpKind, Summary},
    evidence::Evidence,
    limit::{
        DOCUMENT_CHARS_SHOWN_MAX, EVIDENCE_MAX, OP_BYTES_MAX, OP_REASON_CHARS_MAX, OPS_MAX, RUN_BYTES_MAX,
        SUMMARY_TITLE_CHARS_MAX,
    },
    section::{self, NotFound},
    text::forbidden,
    turn::Turn,
};
use crate::{id::SessionId, issue::Issue, limit::MEMORY_DOCUMENT_BYTES_MAX, slug::is_slug};
use std::collections::{BTreeMap, BTreeSet};

/// A document that the model was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Version that was shown; 0 for a document that does not exist.
    pub version: u64,
    /// SHA-256 of the body, hexadecimal.
    pub sha256: String,
    /// Markdown of the version that was shown.
    pub body: String,
}

impl Shown {
    /// Whether the document is too long to be shown whole.
    pub fn is_partial(&self) -> bool {
        self.body.chars().count() > DOCUMENT_CHARS_SHOWN_MAX
    }
}

/// What one run is about.
#[derive(Debug, Clone, Default)]
pub struct Window {
    /// Turns, in the order in which the model was shown them.
    pub turns: Vec<Turn>,
    /// Sessions by the short names of the prompt.
    pub sessions: Vec<(String, SessionId)>,
    /// Documents that the model was shown, by path.
    pub shown: BTreeMap<String, Shown>,
    /// Paths of documents that exist, as far as the model was told of them or its answer names them.
    pub known: BTreeSet<String>,
    /// Paths of documents that the model can ask for: the most relevant ones first, then the newest.
    pub listed: Vec<String>,
    /// Number of documents of the agent.
    pub documents: u64,
    /// Paths of the people who take part.
    pub people: BTreeSet<String>,
    /// Path of this run's session document.
    pub session_path: String,
}

impl Window {
    /// Returns the turn that the model named; `None` if it is not a turn of this window.
    pub fn turn(&self, named: &NamedTurn) -> Option<&Turn> {
        let session = self.sessions.iter().find(|(name, _)| *name == named.session).map(|(_, id)| *id);
        let session = session.or_else(|| named.session.parse().ok())?;
        self.find(Evidence { session, sequence: named.sequence })
    }

    /// Returns the paths that an answer names, of which the check has to know whether they exist.
    pub fn named(answer: &Answer) -> Vec<String> {
        let links = answer.ops.iter().filter(|op| op.op == OpKind::LinkAdd).map(|op| op.body.clone());
        let paths = answer.ops.iter().map(|op| op.path.clone());
        paths.chain(links).take(2 * OPS_MAX).collect()
    }

    /// Returns a turn of this window.
    pub fn find(&self, at: Evidence) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.at == at)
    }

    /// Whether the writer may write to a path: this run's session document, the documents of people who take part,
    /// topics that were shown, and new topics.
    pub fn may_write(&self, path: &str) -> bool {
        if let Some(name) = path.strip_prefix("topics/").and_then(|name| name.strip_suffix(".md")) {
            return is_slug(name) && (self.shown.contains_key(path) || !self.known.contains(path));
        }
        path == self.session_path || self.people.contains(path)
    }
}

/// A change that passed every check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedOp {
    /// The change, as the model answered it.
    pub op: Op,
    /// Events of the turns that the change names.
    pub evidence: Vec<Evidence>,
}

/// An answer that passed every check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The summary and its turns.
    pub summary: Option<(Summary, Vec<Evidence>)>,
    /// Changes of documents.
    pub ops: Vec<CheckedOp>,
}

/// Checks an answer against its window.
///
/// # Errors
/// Every problem that was found, for the request to repair it.
pub fn check(answer: Answer, window: &Window) -> Result<Checked, Vec<Issue>> {
    let mut issues = Vec::new();
    let bytes = answer.summary.as_ref().map_or(0, |summary| summary.body.len())
        + answer.ops.iter().map(|op| op.body.len()).sum::<usize>();
    if bytes > RUN_BYTES_MAX {
        issues.push(Issue::new("ops", format!("all bodies together have {bytes} bytes; at most {RUN_BYTES_MAX}")));
    }
    if answer.ops.len() > OPS_MAX {
        issues.push(Issue::new("ops", format!("{} operations; at most {OPS_MAX}", answer.ops.len())));
        return Err(issues);
    }
    let summary = answer.summary.map(|summary| {
        let evidence = resolve("summary.evidence", &summary.evidence, window, &mut issues);
        check_body("summary.body", &summary.body, &mut issues);
        check_line("summary.title", &summary.title, SUMMARY_TITLE_CHARS_MAX, &mut issues);
        if section::headings(&summary.body).0.iter().any(|heading| heading.level == 1) {
            issues.push(Issue::new("summary.body", "no heading of the first level: the title becomes it"));
        }
        (summary, evidence)
    });
    let mut ops = Vec::new();
    for (at, op) in answer.ops.into_iter().enumerate() {
        let place = format!("ops[{at}]");
        let evidence = resolve(&format!("{place}.evidence"), &op.evidence, window, &mut issues);
        check_op(&place, &op, window, &mut issues);
        ops.push(CheckedOp { op, evidence });
    }
    if issues.is_empty() { Ok(Checked { summary, ops }) } else { Err(issues) }
}

fn resolve(place: &str, named: &[NamedTurn], window: &Window, issues: &mut Vec<Issue>) -> Vec<Evidence> {
    if named.is_empty() || named.len() > EVIDENCE_MAX {
        issues.push(Issue::new(place, format!("1 to {EVIDENCE_MAX} turns of the transcript")));
    }
    let mut found: Vec<Evidence> = Vec::new();
    for turn in named.iter().take(EVIDENCE_MAX) {
        match window.turn(turn) {
            Some(turn) if !found.contains(&turn.at) => found.push(turn.at),
            Some(_) => {}
            None => {
                let named = format!("{}:{}", super::text::one_line(&turn.session, 40), turn.sequence);
                issues.push(Issue::new(place, format!("{named} is no turn of the transcript")));
            }
        }
    }
    found
}

fn check_body(place: &str, body: &str, issues: &mut Vec<Issue>) {
    if body.trim().is_empty() {
        issues.push(Issue::new(place, "is empty"));
    }
    if body.len() > OP_BYTES_MAX {
        issues.push(Issue::new(place, format!("has {} bytes; at most {OP_BYTES_MAX}", body.len())));
    }
    if let Some(why) = forbidden(body) {
        issues.push(Issue::new(place, why));
    }
    if section::headings(body).1 {
        issues.push(Issue::new(place, "a fence of code is not closed"));
    }
}

fn check_line(place: &str, line: &str, chars_max: usize, issues: &mut Vec<Issue>) {
    if line.trim().is_empty() || line.contains('\n') || line.chars().count() > chars_max {
        issues.push(Issue::new(place, format!("one line of 1 to {chars_max} characters")));
    }
    if let Some(why) = forbidden(line) {
        issues.push(Issue::new(place, why));
    }
}

fn check_op(place: &str, op: &Op, window: &Window, issues: &mut Vec<Issue>) {
    let at = |field: &str| format!("{place}.{field}");
    if op.reason.chars().count() > OP_REASON_CHARS_MAX || forbidden(&op.reason).is_some() {
        issues.push(Issue::new(at("reason"), format!("plain text of at most {OP_REASON_CHARS_MAX} characters")));
    }
    if !window.may_write(&op.path) || op.path == window.session_path {
        issues.push(Issue::new(at("path"), "not a document that this run may change"));
        return;
    }
    match op.op {
        OpKind::RetireSection => {
            if !op.body.trim().is_empty() {
                issues.push(Issue::new(at("body"), "must be empty: the section is removed"));
            }
        }
        OpKind::AliasAdd => {
            check_line(&at("body"), &op.body, 80, issues);
            if !op.path.starts_with("people/") {
                issues.push(Issue::new(at("path"), "only people have aliases"));
            }
        }
        OpKind::LinkAdd => {
            if op.body != window.session_path && !window.known.contains(&op.body) {
                issues.push(Issue::new(at("body"), "not the path of a document"));
            }
        }
        OpKind::Create | OpKind::AppendSection | OpKind::ReplaceSection => check_body(&at("body"), &op.body, issues),
    }
    check_base(place, op, window, issues);
}

/// Checks that the operation is about the document as it was shown, and about one section of it.
fn check_base(place: &str, op: &Op, window: &Window, issues: &mut Vec<Issue>) {
    let at = |field: &str| format!("{place}.{field}");
    let shown = window.shown.get(&op.path).filter(|shown| shown.version > 0);
    match (op.op, shown) {
        (OpKind::Create, Some(_)) => issues.push(Issue::new(at("op"), "the document exists")),
        (OpKind::Create, None) => {
            if op.base_sha256.is_some() {
                issues.push(Issue::new(at("base_sha256"), "must be null for a new document"));
            }
        }
        (_, None) => issues.push(Issue::new(at("op"), "the document does not exist; create it")),
        (_, Some(shown)) => {
            if op.base_sha256.as_deref() != Some(shown.sha256.as_str()) {
                issues.push(Issue::new(at("base_sha256"), "not the digest of the document that was shown"));
            }
            if !op.op.only_adds() && shown.is_partial() {
                issues.push(Issue::new(at("op"), "a part of the document was shown; only additions are allowed"));
            }
            if shown.body.len() + OP_BYTES_MAX > MEMORY_DOCUMENT_BYTES_MAX {
                issues.push(Issue::new(at("path"), "the document is full"));
            }
            check_heading(&at("heading"), op, &shown.body, &at("body"), issues);
        }
    }
}

fn check_heading(place: &str, op: &Op, document: &str, body_place: &str, issues: &mut Vec<Issue>) {
    let needs = match op.op {
        OpKind::ReplaceSection | OpKind::RetireSection => true,
        OpKind::AppendSection => !op.heading.is_empty(),
        OpKind::Create | OpKind::AliasAdd | OpKind::LinkAdd => return,
    };
    if !needs {
        return;
    }
    match section::find(document, &op.heading) {
        Ok(span) => {
            let leaves = section::headings(&op.body).0.iter().any(|heading| heading.level <= span.level);
            if leaves {
                let why = format!("headings in it must be deeper than level {}", span.level);
                issues.push(Issue::new(body_place, why));
            }
        }
        Err(why @ (NotFound::Missing | NotFound::Ambiguous)) => issues.push(Issue::new(place, why.to_string())),
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
