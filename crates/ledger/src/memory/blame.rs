//! Where each line of a document comes from: the version that wrote it, and the turn that the version names.

use super::{check_agent, diff::line_ops, read::found};
use crate::{Ledger, MemoryDocumentRecord, MemoryVersionRecord, MemoryVersionText, Result, guard::require};
use domain::{
    Scope, Timestamp,
    id::TenantId,
    limit::MEMORY_BLAME_VERSIONS_MAX,
    memory::{Evidence, MemoryPath},
    role::Permission,
};
use similar::DiffOp;
use std::{collections::BTreeMap, mem};
use store::Conn;

/// Most lines of all compared versions together. Older versions are not compared.
const LINES_MAX: usize = 50_000;

/// A line of a document and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedLine {
    /// The text of the line.
    pub text: String,
    /// The version that wrote it.
    pub version: MemoryVersionRecord,
    /// Whether an even older version may have written it: this is the oldest one that was compared.
    pub is_oldest: bool,
    /// The events that the version names for it.
    pub evidence: Vec<Evidence>,
}

/// Returns the lines of a document's newest version with their origin.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such document.
pub async fn blame(ledger: &Ledger, scope: &Scope, agent: &str, path: MemoryPath) -> Result<Vec<BlamedLine>> {
    require(scope, Permission::Read)?;
    check_agent(agent)?;
    let (tenant_id, agent) = (scope.tenant_id, agent.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let document = found(conn, tenant_id, &agent, &path).await?;
        Ok(store::memory::latest_texts(conn, tenant_id, document.id, MEMORY_BLAME_VERSIONS_MAX).await?)
    });
    let newest_first = read.await?;
    Ok(attribute(newest_first))
}

/// Returns the time at which a line of a document was written (UTC), or at the latest, if it is older than the versions
/// that are compared. `None` if the document does not have the line.
pub(crate) async fn written_at(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (agent, path): (&str, &str),
    line: &str,
) -> Result<Option<Timestamp>> {
    let Ok(path) = MemoryPath::parse(path) else { return Ok(None) };
    let found = store::memory::find_by_path(conn, tenant_id, agent, &path).await?;
    let Some(found) = found.filter(|found| !found.is_deleted) else { return Ok(None) };
    let texts = store::memory::latest_texts(conn, tenant_id, found.id, MEMORY_BLAME_VERSIONS_MAX).await?;
    let blamed = attribute(texts).into_iter().filter(|blamed| blamed.text.trim() == line);
    Ok(blamed.map(|blamed| blamed.version.created_at).max())
}

/// Returns when each line of a document's body was written, as its newest `versions_max` versions tell.
pub(crate) async fn times_of_body(
    conn: &mut Conn<'_>,
    document: &MemoryDocumentRecord,
    (tenant_id, versions_max): (TenantId, u32),
) -> Result<Vec<Timestamp>> {
    let texts = store::memory::latest_texts(conn, tenant_id, document.id, versions_max).await?;
    let front_matter = texts.first().and_then(|newest| newest.document.front_matter.as_ref());
    // Two lines of dashes are around the front matter.
    let above = front_matter.map_or(0, |front| front.lines().count() + 2);
    Ok(attribute(texts).into_iter().skip(above).map(|blamed| blamed.version.created_at).collect())
}

/// A line while versions are compared: the version that wrote it, by its place, and its number there.
#[derive(Clone, Copy)]
struct Place {
    version: usize,
    line: usize,
}

/// Traces the lines of the first of these versions, which are the newest first.
pub(crate) fn attribute(mut versions: Vec<MemoryVersionText>) -> Vec<BlamedLine> {
    let texts: Vec<String> = versions.iter().map(|version| version.document.to_text()).collect();
    let count = compared(&texts);
    versions.truncate(count);
    versions.reverse();
    let texts: Vec<&String> = texts[..count].iter().rev().collect();
    let mut lines: Vec<&str> = Vec::new();
    let mut places: Vec<Place> = Vec::new();
    for (version, text) in texts.iter().enumerate() {
        let next: Vec<&str> = text.lines().collect();
        let mut moved = Vec::with_capacity(next.len());
        for op in line_ops(&lines, &next) {
            match op {
                DiffOp::Equal { old_index, len, .. } => moved.extend_from_slice(&places[old_index..old_index + len]),
                _ => moved.extend(op.new_range().map(|line| Place { version, line })),
            }
        }
        (lines, places) = (next, moved);
    }
    // A version can name an event for each of its many lines: every line gets a copy of its version without them.
    let taken = versions.iter_mut().map(|version| mem::take(&mut version.version.evidence));
    let origins: Vec<BTreeMap<usize, Vec<Evidence>>> = taken.map(by_line).collect();
    let blamed = lines.iter().zip(places).map(|(text, place)| {
        let version = &versions[place.version].version;
        BlamedLine {
            text: (*text).to_owned(),
            evidence: origins[place.version].get(&(place.line + 1)).cloned().unwrap_or_default(),
            is_oldest: place.version == 0 && version.version > 1,
            version: version.clone(),
        }
    });
    blamed.collect()
}

/// Number of versions that are compared, given their texts, the newest first: as many of the newest as have
/// [`LINES_MAX`] lines together, and at least the newest.
pub(super) fn compared(texts: &[String]) -> usize {
    let mut total = 0;
    let within = texts.iter().take_while(|text| {
        total += text.lines().count();
        total <= LINES_MAX
    });
    within.count().max(1).min(texts.len())
}

fn by_line(evidence: Vec<Evidence>) -> BTreeMap<usize, Vec<Evidence>> {
    let mut of_lines: BTreeMap<usize, Vec<Evidence>> = BTreeMap::new();
    for one in evidence {
        of_lines.entry(one.line as usize).or_default().push(one);
    }
    of_lines
}
