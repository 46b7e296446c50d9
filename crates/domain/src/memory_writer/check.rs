//! Checks of an answer: what the writer may touch, in which form, and from which turns.

use super::{
    answer::{Answer, Block, NamedTurn, Op, OpKind, Summary},
    carry::carry_out,
    evidence::Sources,
    limit::{
        ALIAS_CHARS_MAX, BLOCKS_MAX, DOCUMENT_CHARS_SHOWN_MAX, EVIDENCE_MAX, OP_BYTES_MAX, OP_REASON_CHARS_MAX,
        OPS_MAX, RUN_BYTES_MAX, SUMMARY_TITLE_CHARS_MAX,
    },
    section::{self, NotFound},
    text::{forbidden, says_something},
    turn::Turn,
};
use crate::evidence::Evidence;
use crate::{id::SessionId, issue::Issue, limit::MEMORY_DOCUMENT_BYTES_MAX, memory::Document, slug::is_slug};
use std::collections::{BTreeMap, BTreeSet};

/// A document that the model was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptDocument {
    /// Version that was shown; 0 for a document that does not exist.
    pub version: u64,
    /// SHA-256 of the body, hexadecimal.
    pub sha256: String,
    /// Markdown of the version that was shown.
    pub body: String,
}

impl PromptDocument {
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
    pub prompt_documents: BTreeMap<String, PromptDocument>,
    /// Paths of documents that exist, of those that the prompt lists or the answer names.
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
            return is_slug(name) && (self.prompt_documents.contains_key(path) || !self.known.contains(path));
        }
        path == self.session_path || self.people.contains(path)
    }
}

/// A text that passed every check, with the turns of each line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// All turns that are named for it.
    pub turns: Vec<Evidence>,
    /// The turns of each line, by its text.
    pub lines: Sources,
    /// What the model says that its lines contradict: a line, and the line of a document.
    pub contradicts: Vec<(String, String)>,
}

/// A change that passed every check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedOp {
    /// The change, as the model answered it.
    pub op: Op,
    /// Events of the turns that the change names.
    pub origin: Origin,
}

/// What of an answer passed every check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The summary and its turns.
    pub summary: Option<(Summary, Origin)>,
    /// Changes of documents.
    pub ops: Vec<CheckedOp>,
}

/// Checks an answer against its window.
///
/// # Errors
/// Every problem that was found, for the request to repair it.
pub fn check(answer: Answer, window: &Window) -> Result<Checked, Vec<Issue>> {
    let (checked, issues) = usable(answer, window);
    if issues.is_empty() { Ok(checked) } else { Err(issues) }
}

/// Returns what of an answer passes every check, and the problems of the rest. An operation that does not pass is left
/// out as a whole, as is the summary.
pub fn usable(answer: Answer, window: &Window) -> (Checked, Vec<Issue>) {
    let mut issues = Vec::new();
    let mut bytes = 0;
    let mut fits = |place: &str, body: &str, issues: &mut Vec<Issue>| {
        let after = bytes + body.len();
        if after > RUN_BYTES_MAX {
            issues.push(Issue::new(place, format!("all texts together have {after} bytes; at most {RUN_BYTES_MAX}")));
            return false;
        }
        bytes = after;
        true
    };
    let summary = answer.summary.and_then(|summary| {
        let mut found = Vec::new();
        let origin = check_summary(&summary, window, &mut found);
        let is_usable = found.is_empty() && fits("summary", &summary.body, &mut found);
        issues.extend(found);
        is_usable.then_some((summary, origin))
    });
    let (mut ops, mut documents) = (Vec::new(), BTreeMap::new());
    if answer.ops.len() > OPS_MAX {
        issues.push(Issue::new("ops", format!("{} operations; at most {OPS_MAX}", answer.ops.len())));
    }
    for (at, op) in answer.ops.into_iter().take(OPS_MAX).enumerate() {
        let (place, mut found) = (format!("ops[{at}]"), Vec::new());
        let origin = resolve(&place, &op.blocks, &op.evidence, window, &mut found);
        let after = check_op(&place, &op, (window, &documents), &mut found);
        let is_usable = found.is_empty() && fits(&place, &op.body, &mut found);
        issues.extend(found);
        if let Some(after) = after.filter(|_| is_usable) {
            documents.insert(op.path.clone(), after);
            ops.push(CheckedOp { op, origin });
        }
    }
    (Checked { summary, ops }, issues)
}

fn check_summary(summary: &Summary, window: &Window, issues: &mut Vec<Issue>) -> Origin {
    let origin = resolve("summary", &summary.blocks, &summary.evidence, window, issues);
    check_body("summary", &summary.body, &summary.blocks, issues);
    check_line("summary.title", &summary.title, SUMMARY_TITLE_CHARS_MAX, issues);
    if section::headings(&summary.body).0.iter().any(|heading| heading.level == 1) {
        issues.push(Issue::new("summary.body", "no heading of the first level: the title becomes it"));
    }
    origin
}

/// Finds the turns of each block.
fn resolve(place: &str, blocks: &[Block], evidence: &[NamedTurn], window: &Window, issues: &mut Vec<Issue>) -> Origin {
    let mut origin = Origin::default();
    if blocks.len() > BLOCKS_MAX {
        issues.push(Issue::new(place, format!("{} blocks; at most {BLOCKS_MAX}", blocks.len())));
    }
    if blocks.is_empty() || !evidence.is_empty() {
        origin.turns = turns(&format!("{place}.evidence"), evidence, window, issues);
    }
    for (at, block) in blocks.iter().take(BLOCKS_MAX).enumerate() {
        // The turns of the operation are refused once.
        let is_own = block.evidence != evidence || evidence.is_empty();
        let mut found = Vec::new();
        let turns = turns(&format!("{place}.blocks[{at}].evidence"), &block.evidence, window, &mut found);
        issues.extend(found.into_iter().filter(|_| is_own));
        for line in block.text.lines().filter(|line| !line.trim().is_empty()) {
            let of = origin.lines.entry(line.to_owned()).or_default();
            of.extend(turns.iter().filter(|turn| !of.contains(turn)).copied().collect::<Vec<_>>());
        }
        if let Some(line) = block.text.lines().find(|line| says_something(line)) {
            origin.contradicts.extend(block.contradicts.iter().map(|old| (line.to_owned(), old.clone())));
        }
        origin.turns.extend(turns);
    }
    let mut seen = BTreeSet::new();
    origin.turns.retain(|turn| seen.insert(*turn));
    origin
}

fn turns(place: &str, named: &[NamedTurn], window: &Window, issues: &mut Vec<Issue>) -> Vec<Evidence> {
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

fn check_body(place: &str, body: &str, blocks: &[Block], issues: &mut Vec<Issue>) {
    let at = format!("{place}.body");
    if body.trim().is_empty() {
        issues.push(Issue::new(&at, "is empty"));
    }
    if body.len() > OP_BYTES_MAX {
        issues.push(Issue::new(&at, format!("has {} bytes; at most {OP_BYTES_MAX}", body.len())));
    }
    if let Some(why) = forbidden(body) {
        issues.push(Issue::new(&at, why));
    }
    if blocks.iter().any(|block| section::headings(&block.text).1) {
        issues.push(Issue::new(&at, "a fence of code is not closed"));
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

/// The bodies of documents that earlier operations of the same answer have changed, by path.
type Changed = BTreeMap<String, String>;

/// Checks one operation. Returns the document after it, unless it cannot be carried out.
fn check_op(place: &str, op: &Op, (window, changed): (&Window, &Changed), issues: &mut Vec<Issue>) -> Option<String> {
    let at = |field: &str| format!("{place}.{field}");
    if op.reason.chars().count() > OP_REASON_CHARS_MAX || forbidden(&op.reason).is_some() {
        issues.push(Issue::new(at("reason"), format!("plain text of at most {OP_REASON_CHARS_MAX} characters")));
    }
    if !window.may_write(&op.path) || op.path == window.session_path {
        issues.push(Issue::new(at("path"), "not a document that this run may change"));
        return None;
    }
    match op.op {
        OpKind::RetireSection => {
            if !op.body.trim().is_empty() {
                issues.push(Issue::new(at("body"), "must be empty: the section is removed"));
            }
        }
        OpKind::AliasAdd => {
            check_line(&at("body"), &op.body, ALIAS_CHARS_MAX, issues);
            if !op.path.starts_with("people/") {
                issues.push(Issue::new(at("path"), "only people have aliases"));
            }
        }
        OpKind::LinkAdd => {
            if op.body != window.session_path && !window.known.contains(&op.body) {
                issues.push(Issue::new(at("body"), "not the path of a document"));
            }
        }
        OpKind::Create | OpKind::AppendSection | OpKind::ReplaceSection => {
            check_body(place, &op.body, &op.blocks, issues);
        }
    }
    let document = check_base(place, op, (window, changed), issues)?;
    let after = match carry_out(document, op) {
        Ok(after) => after,
        Err(why) => {
            if issues.is_empty() {
                issues.push(Issue::new(at("heading"), why.to_string()));
            }
            return None;
        }
    };
    if Document::parse(&after).front_matter.is_some() && Document::parse(document).front_matter.is_none() {
        issues.push(Issue::new(at("body"), "front matter is not allowed: only people write it"));
    }
    Some(after)
}

/// Checks that the operation is about the document as it was shown, or as an earlier operation made it, and about one
/// section of it. Returns the document, unless there is none.
fn check_base<'w>(
    place: &str,
    op: &Op,
    (window, changed): (&'w Window, &'w Changed),
    issues: &mut Vec<Issue>,
) -> Option<&'w str> {
    let at = |field: &str| format!("{place}.{field}");
    let shown = window.prompt_documents.get(&op.path).filter(|shown| shown.version > 0);
    let earlier = changed.get(&op.path).map(String::as_str);
    let document = earlier.or(shown.map(|shown| shown.body.as_str()));
    let Some(document) = document else {
        if op.op != OpKind::Create {
            issues.push(Issue::new(at("op"), "the document does not exist; create it"));
            return None;
        }
        if op.base_sha256.is_some() {
            issues.push(Issue::new(at("base_sha256"), "must be null for a new document"));
        }
        return Some("");
    };
    if op.op == OpKind::Create {
        issues.push(Issue::new(at("op"), "the document exists"));
        return None;
    }
    // A document that this answer makes has no digest yet.
    if shown.is_some_and(|shown| op.base_sha256.as_deref() != Some(shown.sha256.as_str())) {
        issues.push(Issue::new(at("base_sha256"), "not the digest of the document that was shown"));
    }
    if !op.op.only_adds() && shown.is_some_and(PromptDocument::is_partial) {
        issues.push(Issue::new(at("op"), "a part of the document was shown; only additions are allowed"));
    }
    if document.len() + OP_BYTES_MAX > MEMORY_DOCUMENT_BYTES_MAX {
        issues.push(Issue::new(at("path"), "the document is full"));
    }
    check_heading(&at("heading"), op, document, &at("body"), issues);
    Some(document)
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
