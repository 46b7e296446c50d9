//! Reverting what one session wrote into the memory of an agent: every line of the newest versions whose origin is a
//! turn of the session. Texts are compared in a snapshot, because that takes long and SQLite has one writer. One
//! transaction then writes all changes, if the documents are still at the versions that were read.
//!
//! Where a version comes from that session alone, the text before it comes back without other lines of the session,
//! joined with what was written since. A version with the text of an older one brought that text back, unless it names
//! a newer event: then the session wrote the text again. One that brought a text back names the origin of all its
//! lines, and what it replaced was not replaced by the session.
//! Lines that are left after that, because someone changed the same place or because the version has other origins
//! too, are taken out one by one.

use super::{
    Stamp,
    blame::compared,
    change::delete_on,
    check_agent,
    conflict::conflict,
    diff::{DiffLine, compare, line_ops},
    write::{Attribution, NewVersion, source_of, write_on},
};
use crate::{
    Error, Ledger, MemoryDocumentRecord, MemoryVersionText, Result,
    guard::{Fields, require},
};
use domain::{
    Scope,
    id::{MemoryDocumentId, SessionId, TenantId},
    limit::{MEMORY_BLAME_VERSIONS_MAX, MEMORY_REASON_CHARS_MAX, MEMORY_REVERT_DOCUMENTS_MAX},
    memory::{Document, Evidence, MemoryPath},
    memory_writer::{
        merge::{Merged, three_way},
        section::{headings, is_heading},
        text::says_something,
    },
    role::Permission,
};
use similar::DiffOp;
use std::{collections::HashMap, mem};
use store::{Conn, WriteTx};

/// What is reverted.
#[derive(Debug, Clone)]
pub struct RevertSession {
    /// The session whose turns the lines come from.
    pub session_id: SessionId,
    /// Shown in the history, at most [`MEMORY_REASON_CHARS_MAX`] characters. By default it names the session.
    pub reason: String,
}

/// What a revert changes, or would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevertedSession {
    /// Documents that change, by path.
    pub documents: Vec<RevertedDocument>,
    /// Whether more documents name the session than [`MEMORY_REVERT_DOCUMENTS_MAX`]. The next call after a revert
    /// returns the next ones.
    pub has_more: bool,
}

/// A document with lines of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevertedDocument {
    /// Folder and name.
    pub path: String,
    /// Its newest version before the revert.
    pub version: u64,
    /// Whether nothing is left of it, so that it is deleted. Its versions stay.
    pub is_whole: bool,
    /// Its text before and after, compared.
    pub lines: Vec<DiffLine>,
}

/// A document with the text that it gets.
struct Change {
    document: MemoryDocumentRecord,
    path: MemoryPath,
    old: String,
    new: String,
}

impl Change {
    fn is_whole(&self) -> bool {
        self.new.trim().is_empty()
    }

    fn reverted(&self) -> RevertedDocument {
        let new = if self.is_whole() { "" } else { self.new.as_str() };
        RevertedDocument {
            path: self.document.path.clone(),
            version: self.document.version,
            is_whole: self.is_whole(),
            lines: compare(&self.old, new),
        }
    }
}

/// Documents of the session, at most [`MEMORY_REVERT_DOCUMENTS_MAX`].
struct Found {
    /// Those that change, by path.
    changes: Vec<Change>,
    /// Those that do not, because others changed the lines since, with the version that was read.
    same: Vec<(MemoryDocumentId, u64)>,
    /// Whether there are more.
    has_more: bool,
}

impl Found {
    fn reverted(&self) -> RevertedSession {
        RevertedSession { documents: self.changes.iter().map(Change::reverted).collect(), has_more: self.has_more }
    }
}

/// Returns what [`revert_session`] would change.
///
/// # Errors
/// As [`revert_session`].
pub async fn preview_revert_session(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    of: RevertSession,
) -> Result<RevertedSession> {
    check(scope, agent, &of)?;
    Ok(read(ledger, scope, agent, of.session_id).await?.reverted())
}

/// Writes a version without the lines of the session for each document that has some, and deletes documents of which
/// nothing is left. All of it happens or nothing. A repeat changes nothing, and so does a session that wrote nothing.
/// Of a session with more than [`MEMORY_REVERT_DOCUMENTS_MAX`] documents each call reverts the next ones by path.
///
/// # Errors
/// [`Error::NotFound`] if `agent` is not a slug; [`Error::Invalid`] for a reason that is too long;
/// [`Error::MemoryConflict`] if someone writes at the same time; [`Error::Forbidden`] for a worker, and for an agent
/// and a document below `self/`; [`Error::LimitReached`] for a full memory.
pub async fn revert_session(ledger: &Ledger, scope: &Scope, agent: &str, of: RevertSession) -> Result<RevertedSession> {
    check(scope, agent, &of)?;
    let found = read(ledger, scope, agent, of.session_id).await?;
    let shown = found.reverted();
    if found.changes.is_empty() && found.same.is_empty() {
        return Ok(shown);
    }
    let at = ledger.now();
    let stamps: Vec<Stamp> = found.changes.iter().map(|_| Stamp::new(ledger)).collect();
    let (caller, agent) = (*scope, agent.to_owned());
    let written = ledger.write(scope.into(), async move |tx| {
        let source = source_of(tx.conn(), &caller, &agent, None).await?;
        // Held from here on, so that no document changes between the check of its version and its write.
        store::memory::lock_agent(tx, caller.tenant_id, &agent, at).await?;
        let reason = match of.reason.is_empty() {
            true => format!("Reverted what session {} wrote.", of.session_id),
            false => of.reason,
        };
        let by = Attribution { agent, source, author: caller.caller.to_string(), reason };
        let mut done = found.same;
        for (change, stamp) in found.changes.iter().zip(stamps) {
            let version = carry_out(tx, caller.tenant_id, stamp, change, &by).await?;
            done.push((change.document.id, version));
        }
        // What people delete of the text that came back stays deleted when the session is reverted again.
        for document in done {
            store::memory::save_reverted(tx, caller.tenant_id, &by.agent, of.session_id, document).await?;
        }
        Ok(())
    });
    written.await?;
    Ok(shown)
}

async fn read(ledger: &Ledger, scope: &Scope, agent: &str, session: SessionId) -> Result<Found> {
    let (caller, agent) = (*scope, agent.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        source_of(conn, &caller, &agent, None).await?;
        find(conn, caller.tenant_id, &agent, session).await
    });
    read.await
}

fn check(scope: &Scope, agent: &str, of: &RevertSession) -> Result<()> {
    require(scope, Permission::WriteMemory)?;
    check_agent(agent)?;
    let mut fields = Fields::default();
    fields.text("reason", Some(&of.reason), MEMORY_REASON_CHARS_MAX);
    fields.check()
}

/// Writes a change, unless the document has changed since it was read, and returns the version of the document.
async fn carry_out(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    stamp: Stamp,
    change: &Change,
    by: &Attribution,
) -> Result<u64> {
    let base_version = change.document.version;
    let now = store::memory::find(tx.conn(), tenant_id, change.document.id).await?;
    if now.as_ref().is_none_or(|now| now.version != base_version) {
        let (path, wanted) = (change.path.as_str(), change.new.clone());
        let sides = conflict(tx, tenant_id, path, now.as_ref(), base_version, wanted).await?;
        return Err(Error::MemoryConflict(Box::new(sides)));
    }
    let by = Attribution {
        agent: by.agent.clone(),
        source: by.source,
        author: by.author.clone(),
        reason: by.reason.clone(),
    };
    if change.is_whole() {
        return Ok(delete_on(tx, tenant_id, stamp, change.path.clone(), base_version, by).await?.version);
    }
    let Attribution { agent, source, author, reason } = by;
    let (path, text) = (change.path.clone(), change.new.clone());
    let new = NewVersion { agent, path, base_version, text, source, author, reason, evidence: Vec::new() };
    Ok(write_on(tx, tenant_id, stamp, new).await?.document.version)
}

/// The agent's documents with versions of the session since it was last reverted in them.
async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str, session: SessionId) -> Result<Found> {
    let most = MEMORY_REVERT_DOCUMENTS_MAX;
    let mut documents = store::memory::of_session(conn, tenant_id, agent, session, most + 1).await?;
    let has_more = documents.len() > most as usize;
    documents.truncate(most as usize);
    let mut found = Found { changes: Vec::new(), same: Vec::new(), has_more };
    for (id, reverted) in documents {
        let Some(document) = store::memory::find(conn, tenant_id, id).await? else { continue };
        let Ok(path) = MemoryPath::parse(&document.path) else { continue };
        let texts = store::memory::latest_texts(conn, tenant_id, id, MEMORY_BLAME_VERSIONS_MAX).await?;
        let Some(newest) = texts.first() else { continue };
        let (old, new) = (newest.document.to_text(), without(&texts, session, reverted));
        if new == old {
            found.same.push((id, document.version));
        } else {
            found.changes.push(Change { document, path, old, new });
        }
    }
    found.changes.sort_by(|one, other| one.document.path.cmp(&other.document.path));
    Ok(found)
}

/// Whether a version has an origin in the session, and whether it has no other.
fn origin(evidence: &[Evidence], session: SessionId) -> (bool, bool) {
    let of_session = evidence.iter().filter(|one| one.session == session).count();
    (of_session > 0, of_session > 0 && of_session == evidence.len())
}

/// The newest text without what the session wrote since the version `reverted`, up to which it was reverted before.
/// `versions` are newest first. Empty if nothing else says something.
fn without(versions: &[MemoryVersionText], session: SessionId, reverted: u64) -> String {
    let texts: Vec<String> = versions.iter().map(|one| one.document.to_text()).collect();
    let Some(old) = texts.first() else { return String::new() };
    let marks = marks(versions, &texts, session, reverted);
    let first_named = first_named(versions);
    let (mut text, mut is_theirs) = (old.clone(), marks[0].clone());
    for (at, version) in versions.iter().enumerate().take_while(|(_, one)| one.version.version > reverted) {
        if !origin(&version.version.evidence, session).1 || is_brought_back(versions, at, &first_named) {
            continue;
        }
        // Of the oldest version that was read, the one before it may exist and is not known.
        let (before, before_marks): (&str, &[bool]) = match versions.get(at + 1) {
            // Forgetting a person erases the texts before and keeps the lines that are left. It replaces no text.
            Some(before) if before.version.erased_at.is_some() => continue,
            Some(_) => (texts[at + 1].as_str(), marks[at + 1].as_slice()),
            None if version.version.version == 1 => ("", &[]),
            None => continue,
        };
        if let Merged::Clean(joined) = three_way(&texts[at], &text, before) {
            // A line that comes back can be the session's too, from an older version that has other origins as well.
            let came_back = moved(before, &joined, before_marks, vec![false; joined.lines().count()]);
            is_theirs = moved(&text, &joined, &is_theirs, came_back);
            text = joined;
        }
    }
    let left = drop_lines(&text, &is_theirs);
    let says = Document::parse(&left).body.lines().any(says_something);
    if says || left == *old { left } else { String::new() }
}

/// The place of the oldest version that names each event, by session and sequence. `versions` are newest first.
fn first_named(versions: &[MemoryVersionText]) -> HashMap<(SessionId, u64), usize> {
    let mut first = HashMap::new();
    // The place of an older version replaces that of a newer one.
    for (at, one) in versions.iter().enumerate() {
        first.extend(one.version.evidence.iter().map(|evidence| ((evidence.session, evidence.sequence), at)));
    }
    first
}

/// Whether the version at this place has the text of an older one and names only events that were named by then.
/// `first` is what [`first_named`] returns.
fn is_brought_back(versions: &[MemoryVersionText], at: usize, first: &HashMap<(SessionId, u64), usize>) -> bool {
    let version = &versions[at].version;
    let mut older = versions.iter().enumerate().skip(at + 1);
    let Some((same, _)) = older.find(|(_, one)| one.version.digest == version.digest) else { return false };
    version.evidence.iter().all(|one| first.get(&(one.session, one.sequence)).is_some_and(|first| *first >= same))
}

/// Marks the lines of each version that the session wrote since the version `reverted`: those for which the version
/// that wrote them names a turn of the session. `texts` are those of the versions, newest first.
fn marks(versions: &[MemoryVersionText], texts: &[String], session: SessionId, reverted: u64) -> Vec<Vec<bool>> {
    let named = |(one, text): (&MemoryVersionText, &String)| {
        let mut named = vec![false; text.lines().count()];
        for evidence in one.version.evidence.iter().filter(|evidence| evidence.session == session) {
            // Lines are counted from 1.
            if let Some(line) = named.get_mut((evidence.line as usize).wrapping_sub(1)) {
                *line = one.version.version > reverted;
            }
        }
        named
    };
    let mut marks: Vec<Vec<bool>> = versions.iter().zip(texts).map(named).collect();
    for at in (1..compared(texts)).rev() {
        let named = mem::take(&mut marks[at - 1]);
        marks[at - 1] = moved(&texts[at], &texts[at - 1], &marks[at], named);
    }
    marks
}

/// The marks of the lines of `old` at their places in `new`. Lines that `old` does not have keep the marks of `others`,
/// which has one for each line of `new`.
fn moved(old: &str, new: &str, marks: &[bool], others: Vec<bool>) -> Vec<bool> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut moved = others;
    for op in line_ops(&old, &new) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            moved[new_index..new_index + len].copy_from_slice(&marks[old_index..old_index + len]);
        }
    }
    moved
}

/// The text without the marked lines. A marked heading stays while something below it does.
fn drop_lines(text: &str, marks: &[bool]) -> String {
    if !marks.contains(&true) {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut keep: Vec<bool> = lines.iter().zip(marks).map(|(line, theirs)| !theirs || is_heading(line)).collect();
    let all = headings(text).0;
    for (at, heading) in all.iter().enumerate().rev() {
        let end = all[at + 1..].iter().find(|next| next.level <= heading.level).map_or(lines.len(), |next| next.line);
        let below = heading.line + 1..end;
        let has_content = below.into_iter().any(|line| keep[line] && !lines[line].trim().is_empty());
        if marks[heading.line] && !has_content {
            keep[heading.line] = false;
        }
    }
    lines.iter().zip(keep).filter(|(_, keep)| *keep).map(|(line, _)| *line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_stays_while_something_below_it_does() {
        let text = "# A\n\n- theirs\n\n## B\n\n- own\n\n## C\n\n- theirs too\n";
        let marks: Vec<bool> =
            text.lines().map(|line| line.contains("theirs") || matches!(line, "# A" | "## C")).collect();
        assert_eq!(drop_lines(text, &marks), "# A\n\n\n## B\n\n- own\n\n\n");
        assert_eq!(drop_lines(text, &vec![false; marks.len()]), text);
        assert!(drop_lines(text, &vec![true; marks.len()]).trim().is_empty());
    }

    #[test]
    fn marks_follow_their_lines() {
        let into = |others: bool| moved("a\nb\nc\n", "x\na\nc\n", &[true, true, false], vec![others; 3]);
        assert_eq!(into(false), [false, true, false]);
        assert_eq!(into(true), [true, true, false]);
        assert_eq!(moved("", "x\n", &[], vec![false]), [false]);
    }
}
