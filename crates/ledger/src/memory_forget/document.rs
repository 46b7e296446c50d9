//! Erases a document together with what quotes it: proposals to change it, and lines of it that were denied.

use super::apply::{end_proposal, forget_denials};
use crate::{
    Error, Ledger, MemoryDocumentRecord, Result,
    audit::Act,
    guard::require_for,
    memory::{Erased, Stamp, check_agent, erase_on},
};
use chrono::TimeDelta;
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    gate::Task,
    id::{GateId, SessionId, TenantId, least_v7},
    limit::PAGE_MAX,
    memory::{MemoryPath, fold},
    role::Permission,
};
use store::{Access, Conn, memory_forget::DenialRecord};
use uuid::Uuid;

/// Reason of the cancelled sessions of proposals. It names no document.
const REASON: &str = "its document is erased";

/// Erases a document with the texts of all its versions, of the proposals to change it, decided or not, and of the
/// lines that were denied for it, at all paths that it had. It cannot be undone. If it is interrupted before the
/// document is erased, the next call continues: the document, by whose path the rest is found, goes last.
///
/// # Errors
/// [`Error::NotFound`] if no document has this path. A deleted one is erased too. [`Error::NoInstanceKey`] without a
/// key: nothing is erased then.
pub async fn erase(ledger: &Ledger, scope: &Scope, agent: &str, path: MemoryPath) -> Result<Erased> {
    require_for(scope, Permission::Administer, "only admins can erase memory documents")?;
    check_agent(agent)?;
    let (tenant_id, name) = (scope.tenant_id, agent.to_owned());
    let found = ledger.snapshot(scope, async move |conn| {
        let document = store::memory::find_by_path(conn, tenant_id, &name, &path).await?;
        let document = document.ok_or(Error::NotFound("memory document"))?;
        let paths = paths(conn, tenant_id, &document).await?;
        Ok((document.id, Erasing { agent: document.agent, paths }))
    });
    let (id, of) = found.await?;
    // The erasure of a proposal is sealed with the key.
    ledger.instance_key()?;
    end_quotes(ledger, scope, &of).await?;
    let (stamp, author) = (Stamp::new(ledger), scope.caller.to_string());
    let act = Act::new(Kind::DocumentErased, scope.caller, ledger.now()).on(TargetKind::Document, id.0);
    let erased = ledger.write(Access::Retention, async move |tx| {
        let erased = erase_on(tx, tenant_id, stamp, id, (author, "")).await?;
        if erased.versions > 0 {
            act.record(tx, tenant_id).await?;
        }
        Ok(erased)
    });
    let erased = erased.await?;
    // A run that was shown the document meanwhile would propose its text again, or has done so.
    end_quotes(ledger, scope, &of).await?;
    ledger.store().empty_wal().await;
    Ok(erased)
}

/// A document that is erased, as proposals and denied lines name it.
struct Erasing {
    /// Slug of the agent.
    agent: String,
    /// The paths that the document had, in the form in which paths are compared. With those that it has no longer: the
    /// id that is greater than the ids of all proposals which were made while it had the path.
    paths: Vec<(String, Option<Uuid>)>,
}

impl Erasing {
    /// Whether a proposal of an agent for this path was for the document. A document that has the path now keeps its
    /// own proposals.
    fn is_of(&self, agent: &str, path: &str, gate_id: GateId) -> bool {
        let path = fold(path);
        let mut of_path = self.paths.iter().filter(|(of, _)| *of == path);
        agent == self.agent && of_path.any(|(_, end)| end.is_none_or(|end| gate_id.0 < end))
    }
}

/// The paths of a document as [`Erasing`] has them.
async fn paths(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    document: &MemoryDocumentRecord,
) -> Result<Vec<(String, Option<Uuid>)>> {
    let mut paths = vec![(fold(&document.path), None)];
    let (mut before, mut next_at) = (None, document.updated_at);
    loop {
        let page = store::memory::versions(conn, tenant_id, document.id, before, PAGE_MAX).await?;
        for version in &page.items {
            let path = fold(&version.path);
            if paths.iter().all(|(known, _)| *known != path) {
                // Ids have milliseconds.
                paths.push((path, Some(least_v7(next_at + TimeDelta::milliseconds(1)))));
            }
            next_at = version.created_at;
        }
        before = page.items.last().filter(|_| page.has_more).map(|last| last.version);
        if before.is_none() {
            return Ok(paths);
        }
    }
}

/// Ends the runs that were shown the document, and erases the proposals and denied lines that quote it.
async fn end_quotes(ledger: &Ledger, scope: &Scope, of: &Erasing) -> Result<()> {
    let (tenant_id, agent) = (scope.tenant_id, of.agent.clone());
    let stopped = ledger
        .write(scope.into(), async move |tx| Ok(store::memory_writer::end_leases(tx, tenant_id, Some(&agent)).await?));
    stopped.await?;
    for session in proposals(ledger, scope, of).await? {
        end_proposal(ledger, scope, session, REASON).await?;
    }
    let denials = denials(ledger, scope, of).await?;
    forget_denials(ledger, tenant_id, denials).await
}

/// Sessions of the proposals to change a document.
async fn proposals(ledger: &Ledger, scope: &Scope, of: &Erasing) -> Result<Vec<SessionId>> {
    let tenant_id: TenantId = scope.tenant_id;
    let (mut sessions, mut after) = (Vec::new(), None);
    loop {
        let page = ledger.snapshot(scope, async move |conn| {
            Ok(store::memory_forget::proposals(conn, tenant_id, after, PAGE_MAX).await?)
        });
        let page = page.await?;
        let Some(last) = page.last() else { return Ok(sessions) };
        after = Some(last.gate_id);
        sessions.extend(page.into_iter().filter_map(|proposal| match proposal.task {
            Task::Memory(task) if of.is_of(&proposal.agent, &task.path, proposal.gate_id) => Some(proposal.session_id),
            _ => None,
        }));
    }
}

/// Lines that were denied for a document.
async fn denials(ledger: &Ledger, scope: &Scope, of: &Erasing) -> Result<Vec<DenialRecord>> {
    let tenant_id = scope.tenant_id;
    let (mut denials, mut after): (Vec<DenialRecord>, Option<(String, String)>) = (Vec::new(), None);
    loop {
        let from = after.clone();
        let page = ledger.snapshot(scope, async move |conn| {
            let from = from.as_ref().map(|(agent, line)| (agent.as_str(), line.as_str()));
            Ok(store::memory_forget::denials(conn, tenant_id, from, PAGE_MAX).await?)
        });
        let page = page.await?;
        let Some(last) = page.last() else { return Ok(denials) };
        after = Some((last.agent.clone(), last.line.clone()));
        let quotes = page.into_iter().filter(|denial| of.is_of(&denial.agent, &denial.path, denial.gate_id));
        denials.extend(quotes);
    }
}
