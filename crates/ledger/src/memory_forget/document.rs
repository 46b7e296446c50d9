//! Erases a document together with what quotes it: proposals to change it, and lines of it that were denied.

use super::apply::{end_proposal, forget_denials};
use crate::{
    Error, Ledger, Result,
    memory::{self, Erased},
};
use domain::{
    Scope,
    gate::Task,
    id::{SessionId, TenantId},
    limit::PAGE_MAX,
    memory::MemoryPath,
};
use store::memory_forget::DenialRecord;

/// Reason of the cancelled sessions of proposals. It names no document.
const REASON: &str = "its document is erased";

/// Erases a document with the texts of all its versions, of the proposals to change it, decided or not, and of the
/// lines that were denied for it. It cannot be undone.
///
/// # Errors
/// [`Error::NotFound`] if no document has this path. A deleted one is erased too.
pub async fn erase(ledger: &Ledger, scope: &Scope, agent: &str, path: MemoryPath) -> Result<Erased> {
    let tenant_id = scope.tenant_id;
    let erased = memory::erase(ledger, scope, agent, path.clone()).await?;
    // A run that was shown the document would propose its text again.
    let name = agent.to_owned();
    let stopped = ledger.store().write::<_, Error, _>(scope.into(), move |tx| {
        Box::pin(async move { Ok(store::memory_writer::end_leases(tx, tenant_id, Some(&name)).await?) })
    });
    stopped.await?;
    for session in proposals(ledger, scope, (agent, &path)).await? {
        end_proposal(ledger, scope, session, REASON).await?;
    }
    let denials = denials(ledger, scope, (agent, &path)).await?;
    forget_denials(ledger, tenant_id, denials).await?;
    ledger.store().empty_wal().await;
    Ok(erased)
}

/// Whether a path of an agent is this document's.
fn is_of(agent: &str, path: &str, (of, document): (&str, &MemoryPath)) -> bool {
    agent == of && MemoryPath::parse(path).is_ok_and(|path| path.folded() == document.folded())
}

/// Sessions of the proposals to change a document.
async fn proposals(ledger: &Ledger, scope: &Scope, of: (&str, &MemoryPath)) -> Result<Vec<SessionId>> {
    let tenant_id: TenantId = scope.tenant_id;
    let (mut sessions, mut after) = (Vec::new(), None);
    loop {
        let page = ledger.snapshot(scope, move |conn| {
            Box::pin(async move { Ok(store::memory_forget::proposals(conn, tenant_id, after, PAGE_MAX).await?) })
        });
        let page = page.await?;
        let Some(last) = page.last() else { return Ok(sessions) };
        after = Some(last.gate_id);
        sessions.extend(page.into_iter().filter_map(|proposal| match proposal.task {
            Task::Memory(task) if is_of(&proposal.agent, &task.path, of) => Some(proposal.session_id),
            _ => None,
        }));
    }
}

/// Lines that were denied for a document.
async fn denials(ledger: &Ledger, scope: &Scope, of: (&str, &MemoryPath)) -> Result<Vec<DenialRecord>> {
    let tenant_id = scope.tenant_id;
    let (mut denials, mut after): (Vec<DenialRecord>, Option<(String, String)>) = (Vec::new(), None);
    loop {
        let from = after.clone();
        let page = ledger.snapshot(scope, move |conn| {
            Box::pin(async move {
                let from = from.as_ref().map(|(agent, line)| (agent.as_str(), line.as_str()));
                Ok(store::memory_forget::denials(conn, tenant_id, from, PAGE_MAX).await?)
            })
        });
        let page = page.await?;
        let Some(last) = page.last() else { return Ok(denials) };
        after = Some((last.agent.clone(), last.line.clone()));
        denials.extend(page.into_iter().filter(|denial| is_of(&denial.agent, &denial.path, of)));
    }
}
