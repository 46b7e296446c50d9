//! A version of a canvas among the others: what changed, who changed it, and which patch changed each block last.

use super::{
    document::{committed, document_at, events_of_patches},
    key,
    read::{Canvas, get_on, no_such_version},
};
use crate::{Error, Ledger, Result, guard::require};
use domain::{
    Scope, Timestamp,
    canvas::{Blame, Committed, Document, outline::blocks},
    event::Known,
    id::{SessionId, TenantId},
    limit::{CANVAS_BLAME_PATCHES_MAX, CANVAS_HISTORY_PAGE},
    role::Permission,
};
use std::collections::BTreeMap;
use store::Conn;

/// Patches that are read at once while the newest change of each block is looked for.
const BLAME_PAGE: u32 = 100;

/// The versions to show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Versions {
    /// The version to show; `None` for the newest. A number between two versions shows the earlier one.
    pub at: Option<u64>,
    /// The version to compare it with; `None` for the one before it.
    pub from: Option<u64>,
}

/// A patch without its operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Sequence of its event, which is the version that it made.
    pub version: u64,
    /// Its author: `user:…`, `token:…` or `agent:…`.
    pub by: String,
    /// Time it was accepted (UTC).
    pub at: Timestamp,
    /// Number of values that it wrote.
    pub writes: usize,
}

/// A version of a canvas among the others.
#[derive(Debug, Clone)]
pub struct History {
    /// The canvas at its newest version.
    pub canvas: Canvas,
    /// Document of the version that is shown.
    pub document: Document,
    /// The version that is shown.
    pub version: u64,
    /// The first version.
    pub first: u64,
    /// Document of the version that it is compared with; empty before the first.
    pub before: Document,
    /// The version that it is compared with; `None` before the first.
    pub from: Option<u64>,
    /// Versions around it, newest first: at most [`CANVAS_HISTORY_PAGE`] later ones, and as many from it on back.
    pub versions: Vec<Version>,
    /// Whether there are later ones than these.
    pub has_newer: bool,
    /// Whether there are earlier ones than these.
    pub has_older: bool,
    /// The patch that changed each block of the document last. A block is missing if that was more than
    /// [`CANVAS_BLAME_PATCHES_MAX`] patches before.
    pub blame: BTreeMap<String, Version>,
}

/// Returns a version of a canvas with those around it.
///
/// # Errors
/// [`Error::NotFound`] if there is no such canvas; [`Error::Invalid`] for a version that it does not have.
pub async fn history(ledger: &Ledger, scope: &Scope, id: SessionId, of: Versions) -> Result<History> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    ledger.snapshot(scope, async move |conn| read(conn, &reader, id, of).await).await
}

async fn read(conn: &mut Conn<'_>, scope: &Scope, id: SessionId, of: Versions) -> Result<History> {
    let canvas = get_on(conn, scope, id).await?;
    let (place, head) = (key(&canvas.session), canvas.record.version);
    let (document, version) = version_or_invalid(conn, &canvas, of.at.unwrap_or(head)).await?;
    let (first, _) = events_of_patches(conn, place, (0, head), 1).await?;
    let first = first.first().map_or(head, |event| event.sequence);
    let (later, has_newer) = events_of_patches(conn, place, (version, head), CANVAS_HISTORY_PAGE).await?;
    let (earlier, has_older) = patches_before(conn, place, version + 1, CANVAS_HISTORY_PAGE).await?;
    // The first patch was applied on no version. One of an erased canvas has no content.
    let previous = earlier.last().map(|(patch, _)| patch.previous).filter(|previous| *previous > 0);
    let (before, from) = match of.from.or(previous) {
        Some(from) => version_or_invalid(conn, &canvas, from).await.map(|(document, from)| (document, Some(from)))?,
        None => (Document::default(), None),
    };
    let later = later.iter().filter_map(|event| Some((committed(event)?, event.at)));
    let versions = earlier.into_iter().chain(later).map(|(patch, at)| version_of(&patch, at)).rev().collect();
    let blame = blame(conn, place, &document, version).await?;
    Ok(History { canvas, document, version, first, before, from, versions, has_newer, has_older, blame })
}

/// The document of a version, and the version.
async fn version_or_invalid(conn: &mut Conn<'_>, canvas: &Canvas, version: u64) -> Result<(Document, u64)> {
    if version > canvas.record.version {
        return Err(no_such_version(&canvas.record));
    }
    match document_at(conn, key(&canvas.session), version).await {
        Err(Error::NotFound(_)) => Err(no_such_version(&canvas.record)),
        found => found,
    }
}

/// The newest patches before a version, oldest first, and whether there are older ones.
async fn patches_before(
    conn: &mut Conn<'_>,
    (tenant_id, id): (TenantId, SessionId),
    version: u64,
    limit: u32,
) -> Result<(Vec<(Committed, Timestamp)>, bool)> {
    let kinds = [Known::StatePatch.as_str().to_owned()];
    let found = store::event::before(conn, tenant_id, id, version, &kinds, limit).await?;
    let patches = found.items.iter().filter_map(|event| Some((committed(event)?, event.at)));
    Ok((patches.collect(), found.has_more))
}

fn version_of(patch: &Committed, at: Timestamp) -> Version {
    let writes = patch.ops.iter().filter(|operation| operation.writes()).count();
    Version { version: patch.sequence, by: patch.by.clone(), at, writes }
}

/// The patch that changed each block last, up to a version. A canvas whose content was erased has no blocks.
async fn blame(
    conn: &mut Conn<'_>,
    place: (TenantId, SessionId),
    document: &Document,
    version: u64,
) -> Result<BTreeMap<String, Version>> {
    let mut blame = Blame::of(blocks(document).into_iter().map(|block| block.id).filter(|id| !id.is_empty()));
    let (mut patches, mut before, mut looked_at) = (BTreeMap::new(), version + 1, 0);
    while !blame.is_complete() && looked_at < CANVAS_BLAME_PATCHES_MAX {
        let (found, has_more) = patches_before(conn, place, before, BLAME_PAGE).await?;
        for (patch, at) in found.iter().rev() {
            blame.take(patch);
            patches.insert(patch.sequence, version_of(patch, *at));
        }
        let Some((oldest, _)) = found.first().filter(|_| has_more) else { break };
        before = oldest.sequence;
        looked_at += BLAME_PAGE;
    }
    let of = |(block, version): (String, u64)| Some((block, patches.get(&version)?.clone()));
    Ok(blame.into_versions().into_iter().filter_map(of).collect())
}
