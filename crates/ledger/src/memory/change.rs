//! Deleting, renaming and reverting a memory document.

use super::{
    blame::attribute,
    check_agent,
    conflict::conflict,
    write::{Attribution, NewState, NewVersion, Stamp, Written, put, refuse_forgotten, source_of, write_from},
};
use crate::{
    Error, Ledger, MemoryDocumentRecord, Result,
    guard::{Fields, require},
};
use domain::{
    Scope,
    id::{MemoryDocumentId, SessionId, TenantId},
    limit::{MEMORY_BLAME_VERSIONS_MAX, MEMORY_EVIDENCE_SESSIONS_MAX, MEMORY_REASON_CHARS_MAX},
    memory::{Evidence, Folder, MemoryPath, Operation, Source},
    role::Permission,
};
use store::WriteTx;

/// Most sessions that a version with an earlier text names: as many as the compared versions name together.
const SESSIONS_MAX: usize = MEMORY_BLAME_VERSIONS_MAX as usize * MEMORY_EVIDENCE_SESSIONS_MAX;

/// A change that names the version that the caller read.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// The version that the caller read.
    pub base_version: u64,
    /// Why, at most [`MEMORY_REASON_CHARS_MAX`] characters.
    pub reason: String,
    /// The session that the agent works on. Required from a worker token.
    pub session_id: Option<SessionId>,
}

/// Deletes a document. Its versions stay, and [`revert`] brings it back.
///
/// # Errors
/// [`Error::NotFound`] if there is no such document; [`Error::MemoryConflict`] if it is not at `base_version`;
/// [`Error::Invalid`] for a reason that is too long; [`Error::Forbidden`] for a worker that does not name the session
/// of the agent that it has claimed, for an incognito session, and for an agent and a document below `self/`.
pub async fn delete(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    path: MemoryPath,
    change: Change,
) -> Result<MemoryDocumentRecord> {
    let (stamp, caller) = begin(ledger, scope, agent, &change)?;
    let (tenant_id, agent) = (scope.tenant_id, agent.to_owned());
    let deleted = ledger.write(scope.into(), async move |tx| {
        let source = source_of(tx.conn(), &caller, &agent, change.session_id).await?;
        let by = Attribution { agent, source, author: caller.caller.to_string(), reason: change.reason };
        delete_on(tx, tenant_id, stamp, path, change.base_version, by).await
    });
    deleted.await
}

pub(super) async fn delete_on(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    stamp: Stamp,
    path: MemoryPath,
    base_version: u64,
    by: Attribution,
) -> Result<MemoryDocumentRecord> {
    refuse_own(by.source, &path)?;
    let mut totals = store::memory::lock_agent(tx, tenant_id, &by.agent, stamp.at).await?;
    let found = at_version(tx, tenant_id, &by.agent, &path, base_version).await?;
    totals.documents = totals.documents.saturating_sub(1);
    totals.bytes = totals.bytes.saturating_sub(found.bytes);
    let stamp = stamp.after(&mut totals);
    let operation = Operation::Deleted;
    let next = NewState { operation, path, text: String::new(), evidence: Vec::new(), is_deleted: true };
    let document = put(tx, tenant_id, stamp, Some(found), next, by).await?;
    store::memory::save_agent(tx, tenant_id, &totals).await?;
    Ok(document)
}

/// Gives a document another path, at which no document may be.
///
/// # Errors
/// As [`delete`]; [`Error::NameTaken`] for a path of another document; [`Error::Invalid`] also for a name that is too
/// long for a file; [`Error::Forbidden`] also for an agent that names the document of a person who is forgotten.
pub async fn rename(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    path: MemoryPath,
    new_path: MemoryPath,
    change: Change,
) -> Result<MemoryDocumentRecord> {
    let (stamp, caller) = begin(ledger, scope, agent, &change)?;
    let (tenant_id, agent, keeper) = (scope.tenant_id, agent.to_owned(), ledger.clone());
    let renamed = ledger.write(scope.into(), async move |tx| {
        let source = source_of(tx.conn(), &caller, &agent, change.session_id).await?;
        refuse_forgotten(tx.conn(), &keeper, tenant_id, source, &new_path).await?;
        let by = Attribution { agent, source, author: caller.caller.to_string(), reason: change.reason };
        rename_on(tx, tenant_id, stamp, (path, new_path), change.base_version, by).await
    });
    renamed.await
}

async fn rename_on(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    stamp: Stamp,
    (path, new_path): (MemoryPath, MemoryPath),
    base_version: u64,
    by: Attribution,
) -> Result<MemoryDocumentRecord> {
    refuse_own(by.source, &path)?;
    refuse_own(by.source, &new_path)?;
    let mut totals = store::memory::lock_agent(tx, tenant_id, &by.agent, stamp.at).await?;
    let found = at_version(tx, tenant_id, &by.agent, &path, base_version).await?;
    let there = store::memory::find_by_path(tx.conn(), tenant_id, &by.agent, &new_path).await?;
    if there.is_some_and(|there| !there.is_deleted && there.id != found.id) {
        return Err(Error::NameTaken("path"));
    }
    if found.path == new_path.as_str() {
        return Ok(found);
    }
    new_path.check_new().map_err(|why| Error::invalid("newPath", why.to_string()))?;
    let stamp = stamp.after(&mut totals);
    let text = store::memory::text(tx.conn(), tenant_id, found.id, found.version).await?;
    let text = text.ok_or_else(|| Error::Internal(format!("document {} has no newest version", found.id)))?;
    let text = text.document.to_text();
    let next =
        NewState { operation: Operation::Renamed, path: new_path, text, evidence: Vec::new(), is_deleted: false };
    let document = put(tx, tenant_id, stamp, Some(found), next, by).await?;
    store::memory::save_agent(tx, tenant_id, &totals).await?;
    Ok(document)
}

/// Writes the text of an earlier version as the newest one. Also brings a deleted document back. The new version names
/// the origin of all its lines, because nothing else does where the versions between lack them. Of the versions up to
/// the earlier one the newest [`MEMORY_BLAME_VERSIONS_MAX`] are compared for it.
///
/// # Errors
/// As [`delete`]; [`Error::NotFound`] also if there is no such version or its text was erased; [`Error::Forbidden`]
/// also for an agent and the document of a person who is forgotten; [`Error::LimitReached`] for a full memory.
pub async fn revert(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    path: MemoryPath,
    to_version: u64,
    change: Change,
) -> Result<Written> {
    let (stamp, caller) = begin(ledger, scope, agent, &change)?;
    let origin = origin_of(ledger, scope, agent, &path, to_version, change.session_id).await?;
    let (tenant_id, agent, keeper) = (scope.tenant_id, agent.to_owned(), ledger.clone());
    let reverted = ledger.write(scope.into(), async move |tx| {
        let source = source_of(tx.conn(), &caller, &agent, change.session_id).await?;
        refuse_forgotten(tx.conn(), &keeper, tenant_id, source, &path).await?;
        let found = store::memory::find_by_path(tx.conn(), tenant_id, &agent, &path).await?;
        let found = found.ok_or(Error::NotFound("memory document"))?;
        let old = store::memory::text(tx.conn(), tenant_id, found.id, to_version).await?;
        let old = old.filter(|old| old.version.erased_at.is_none() && old.version.operation != Operation::Deleted);
        let old = old.ok_or(Error::NotFound("version"))?;
        // Versions do not change, so the origin holds, unless another document has the path by now.
        let (_, evidence) = origin.filter(|(id, _)| *id == found.id).ok_or(Error::NotFound("version"))?;
        let reason =
            if change.reason.is_empty() { format!("Reverted to version {to_version}.") } else { change.reason };
        let new = NewVersion {
            agent,
            path,
            base_version: change.base_version,
            text: old.document.to_text(),
            source,
            author: caller.caller.to_string(),
            reason,
            evidence,
        };
        write_from(tx, tenant_id, stamp, new, SESSIONS_MAX).await
    });
    reverted.await
}

/// Returns the document at a path, and the events that the lines of its version `to_version` come from. `None` if there
/// is no such document or version. Texts are compared in a snapshot, because that takes long and SQLite has one writer.
async fn origin_of(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    path: &MemoryPath,
    to_version: u64,
    session_id: Option<SessionId>,
) -> Result<Option<(MemoryDocumentId, Vec<Evidence>)>> {
    let (caller, agent, path) = (*scope, agent.to_owned(), path.clone());
    let read = ledger.snapshot(scope, async move |conn| {
        let tenant_id = caller.tenant_id;
        source_of(conn, &caller, &agent, session_id).await?;
        let found = store::memory::find_by_path(conn, tenant_id, &agent, &path).await?;
        let Some(found) = found else { return Ok(Vec::new()) };
        let limit = MEMORY_BLAME_VERSIONS_MAX;
        Ok(store::memory::texts_up_to(conn, tenant_id, found.id, to_version, limit).await?)
    });
    let texts = read.await?;
    let newest = texts.first().map(|newest| &newest.version).filter(|newest| newest.version == to_version);
    let Some(id) = newest.map(|newest| newest.document_id) else { return Ok(None) };
    let mut evidence = Vec::new();
    for (line, blamed) in (1_u32..).zip(attribute(texts)) {
        evidence.extend(blamed.evidence.into_iter().map(|one| Evidence { line, ..one }));
    }
    Ok(Some((id, evidence)))
}

fn begin(ledger: &Ledger, scope: &Scope, agent: &str, change: &Change) -> Result<(Stamp, Scope)> {
    require(scope, Permission::WriteMemory)?;
    check_agent(agent)?;
    let mut fields = Fields::default();
    fields.text("reason", Some(&change.reason), MEMORY_REASON_CHARS_MAX);
    fields.check()?;
    Ok((Stamp::new(ledger), *scope))
}

fn refuse_own(source: Source, path: &MemoryPath) -> Result<()> {
    if source == Source::Agent && path.folder() == Folder::Own {
        return Err(Error::Forbidden("documents below self/ come from the agent's card; people change them"));
    }
    Ok(())
}

/// The document at a path, if it is at this version.
async fn at_version(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    path: &MemoryPath,
    base_version: u64,
) -> Result<MemoryDocumentRecord> {
    let found = store::memory::find_by_path(tx.conn(), tenant_id, agent, path).await?;
    let found = found.filter(|found| !found.is_deleted).ok_or(Error::NotFound("memory document"))?;
    if found.version != base_version {
        let sides = conflict(tx, tenant_id, path.as_str(), Some(&found), base_version, String::new()).await?;
        return Err(Error::MemoryConflict(Box::new(sides)));
    }
    Ok(found)
}
