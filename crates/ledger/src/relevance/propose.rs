//! Proposals to remove memories that were rated as harmful, for review.

use crate::{
    Ledger, MemoryDocumentRecord, Result,
    commit::Minter,
    gate::{NewProposal, Origin, propose},
    memory::identified,
    memory_bounds::MemoryBounds,
};
use domain::{
    Scope,
    count::counted,
    evidence::Evidence,
    gate::{HarmfulMemory, Task},
    id::{GateId, SessionId, TenantId},
    limit::{MEMORY_HARMFUL_PROPOSALS_MAX, MEMORY_HARMFUL_SESSIONS_MAX},
    memory_writer::{
        dedupe::{Known, denials},
        plan::Change,
        section::remove_lines,
        select::passages,
        text::normal,
    },
};
use std::collections::HashSet;
use store::{WriteTx, relevance::HarmfulRecord};

/// A memory to propose, with the ids that its transaction needs.
struct Prepared {
    harmful: HarmfulRecord,
    session_id: SessionId,
    gate_id: GateId,
    minter: Minter,
}

/// Proposes to remove those of these memories that are harmful now.
///
/// # Errors
/// If a proposal cannot be stored. Then none is, and the next rating of the memory proposes it.
pub(super) async fn propose_harmful(ledger: &Ledger, tenant_id: TenantId, ids: Vec<String>) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let (scope, settings, now) = (Scope::system(tenant_id), ledger.relevance(), ledger.now());
    let bounds = (settings.harmful_ratings.max(1), settings.harmful_mean);
    let read = ledger.store().read((&scope).into(), async move |conn| {
        store::relevance::harmful_in_workspace(conn, tenant_id, &ids, bounds).await
    });
    let prepare = |harmful: HarmfulRecord| Prepared {
        harmful,
        session_id: SessionId::new(now, ledger.entropy()),
        gate_id: GateId::new(now, ledger.entropy()),
        minter: Minter::new(ledger, now),
    };
    let prepared: Vec<Prepared> = read.await?.into_iter().map(prepare).collect();
    if prepared.is_empty() {
        return Ok(());
    }
    let bounds = ledger.memory_bounds();
    let written = ledger.write((&scope).into(), async move |tx| {
        for one in prepared {
            propose_one(tx, tenant_id, &bounds, one).await?;
        }
        Ok(())
    });
    written.await
}

/// Proposes that the lines of a memory go, unless they are gone, or someone decides or has decided about them.
async fn propose_one(tx: &mut WriteTx<'_>, tenant_id: TenantId, bounds: &MemoryBounds, one: Prepared) -> Result<()> {
    let Prepared { harmful, session_id, gate_id, minter } = one;
    let id = harmful.document_id;
    let Some(document) = store::memory::find(tx.conn(), tenant_id, id).await? else { return Ok(()) };
    // With the lock no one else proposes the same, and the document stays as it is.
    store::memory::lock_agent(tx, tenant_id, &document.agent, minter.at()).await?;
    let Some(document) = store::memory::find(tx.conn(), tenant_id, id).await? else { return Ok(()) };
    let Some((base, body)) = without(tx, tenant_id, &document, &harmful.memory_id).await? else { return Ok(()) };
    if is_known(tx, tenant_id, &document, (&base, &body)).await? {
        return Ok(());
    }
    let prompts =
        store::relevance::rated_prompts(tx.conn(), tenant_id, &harmful.memory_id, MEMORY_HARMFUL_SESSIONS_MAX).await?;
    let HarmfulRecord { memory_id, mean, ratings, sessions, .. } = harmful;
    let (of_ratings, of_sessions) = (counted(ratings, "rating"), counted(sessions, "session"));
    let reason = format!("Rated as harmful: {mean:.2} on average, {of_ratings} in {of_sessions}.");
    let change = Change {
        path: document.path,
        base_version: document.version,
        base,
        body,
        evidence: Vec::new(),
        turns: prompts.iter().map(|one| Evidence { session: one.session_id, sequence: one.turn }).collect(),
        reason: reason.clone(),
        flags: Vec::new(),
        contradictions: Vec::new(),
        is_plain: false,
    };
    let quorum = bounds.approvals_of(&document.agent);
    let origin = Origin::Ratings(HarmfulMemory { memory_id, mean, ratings, sessions });
    let agent = document.agent;
    let new = NewProposal { tenant_id, session_id, gate_id, agent, change, origin, transcript: reason, quorum };
    propose(tx, new, minter).await
}

/// The body of a document, and the body without a memory. `None` if the document does not have the memory any more.
async fn without(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    document: &MemoryDocumentRecord,
    memory_id: &str,
) -> Result<Option<(String, String)>> {
    if document.is_deleted {
        return Ok(None);
    }
    let text = store::memory::text(tx.conn(), tenant_id, document.id, document.version).await?;
    let Some(base) = text.map(|text| text.document.body) else { return Ok(None) };
    let found = identified(document, passages(&base)).find(|(id, _)| id == memory_id);
    let Some((_, passage)) = found else { return Ok(None) };
    let mut body = remove_lines(&base, passage.line, passage.text.lines().count());
    if body.trim().is_empty() {
        // An empty document cannot be approved.
        let name = document.path.rsplit('/').next().unwrap_or_default();
        body = format!("# {}\n", name.trim_end_matches(".md"));
    }
    Ok(Some((base, body)))
}

/// Whether a proposal with one of these lines waits, whether reviewers decided that all of them stay, or whether too
/// many proposals from ratings wait.
async fn is_known(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    document: &MemoryDocumentRecord,
    (base, body): (&str, &str),
) -> Result<bool> {
    let removed = denials(base, body);
    let denied = store::memory_writer::denied(tx.conn(), tenant_id, &document.agent).await?;
    let denied: HashSet<String> = denied.into_iter().collect();
    if removed.iter().all(|line| denied.contains(line)) {
        return Ok(true);
    }
    let (mut known, mut waiting) = (Known::default(), 0);
    for task in store::memory_writer::pending(tx.conn(), tenant_id, &document.agent).await? {
        let Task::Memory(proposal) = task else { continue };
        waiting += usize::from(proposal.ratings.is_some());
        known.wait(&proposal.path, &proposal.base, &proposal.body());
    }
    let kept: HashSet<String> = body.lines().map(normal).collect();
    let leaving = known.leaving.get(&document.path);
    let is_leaving = |line: String| !kept.contains(&line) && leaving.is_some_and(|leaving| leaving.contains(&line));
    Ok(waiting >= MEMORY_HARMFUL_PROPOSALS_MAX || base.lines().map(normal).any(is_leaving))
}
