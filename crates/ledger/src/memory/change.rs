//! Deleting, renaming and reverting a memory document.

use super::{
    check_agent,
    conflict::conflict,
    write::{Attribution, NewState, NewVersion, Stamp, Written, put, refuse_forgotten, source_of, write_on},
};
use crate::{
    Error, Ledger, MemoryDocumentRecord, Result,
    guard::{Fields, require},
};
use domain::{
    Scope,
    id::{SessionId, TenantId},
    limit::MEMORY_REASON_CHARS_MAX,
    memory::{Folder, MemoryPath, Operation, Source},
    role::Permission,
};
use store::WriteTx;

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
    let deleted = ledger.store().write(scope.into(), move |tx| {
        Box::pin(async move {
            let source = source_of(tx.conn(), &caller, &agent, change.session_id).await?;
            let by = Attribution { agent, source, author: caller.caller.to_string(), reason: change.reason };
            delete_on(tx, tenant_id, stamp, path, change.base_version, by).await
        })
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
    totals.updated_at = stamp.at;
    let operation = Operation::Deleted;
    let next = NewState { operation, path, text: String::new(), evidence: Vec::new(), is_deleted: true };
    let document = put(tx, tenant_id, stamp, Some(found), next, by).await?;
    store::memory::save_agent(tx, tenant_id, &totals).await?;
    Ok(document)
}

/// Gives a document another path, at which no document may be.
///
/// # Errors
/// As [`delete`]; [`Error::NameTaken`] for a path of another document; [`Error::Forbidden`] also for an agent that
/// names the document of a person who is forgotten.
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
    let renamed = ledger.store().write(scope.into(), move |tx| {
        Box::pin(async move {
            let source = source_of(tx.conn(), &caller, &agent, change.session_id).await?;
            refuse_forgotten(tx.conn(), &keeper, tenant_id, source, &new_path).await?;
            let by = Attribution { agent, source, author: caller.caller.to_string(), reason: change.reason };
            rename_on(tx, tenant_id, stamp, (path, new_path), change.base_version, by).await
        })
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
    totals.updated_at = stamp.at;
    let text = store::memory::text(tx.conn(), tenant_id, found.id, found.version).await?;
    let text = text.ok_or_else(|| Error::Internal(format!("document {} has no newest version", found.id)))?;
    let text = text.document.to_text();
    let next =
        NewState { operation: Operation::Renamed, path: new_path, text, evidence: Vec::new(), is_deleted: false };
    let document = put(tx, tenant_id, stamp, Some(found), next, by).await?;
    store::memory::save_agent(tx, tenant_id, &totals).await?;
    Ok(document)
}

/// Writes the text of an earlier version as the newest one. Also brings a deleted document back.
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
    let (tenant_id, agent, keeper) = (scope.tenant_id, agent.to_owned(), ledger.clone());
    let reverted = ledger.store().write(scope.into(), move |tx| {
        Box::pin(async move {
            let source = source_of(tx.conn(), &caller, &agent, change.session_id).await?;
            refuse_forgotten(tx.conn(), &keeper, tenant_id, source, &path).await?;
            let found = store::memory::find_by_path(tx.conn(), tenant_id, &agent, &path).await?;
            let found = found.ok_or(Error::NotFound("memory document"))?;
            let old = store::memory::text(tx.conn(), tenant_id, found.id, to_version).await?;
            let old = old.filter(|old| old.version.erased_at.is_none() && old.version.operation != Operation::Deleted);
            let old = old.ok_or(Error::NotFound("version"))?;
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
                evidence: old.version.evidence,
            };
            write_on(tx, tenant_id, stamp, new).await
        })
    });
    reverted.await
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
