//! Erases what is known about a person.

use super::{
    ADMINS,
    find::{Forget, Forgetting, Found, find},
    lead::ForgottenLead,
    person::parse,
    training,
};
use crate::{
    Error, Ledger, Result,
    audit::Act,
    entity,
    guard::require_for,
    memory::{Cleaned, Stamp, clean_on, erase_on, mark},
    retention::erase_session,
    session::{cancel, get},
};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::{SessionId, TenantId, new_v7},
    limit::PAGE_MAX,
    memory_writer::turn::member_at,
    role::Permission,
};
use std::sync::Arc;
use store::{
    Access,
    memory_forget::{Counts, DenialRecord},
};

/// Reason of the cancelled sessions of proposals. It names no one.
const REASON: &str = "a person is forgotten";
/// Shown in the history of a document that is erased.
const ERASED: &str = "A person is forgotten.";

/// Forgets a person: erases what [`super::preview`] lists, and overwrites it in the database file. It cannot be undone.
/// A mark stays, with which writers leave the person's turns out. If it is interrupted, the next call continues:
/// the person's own documents, which have their names, go last.
///
/// # Errors
/// [`Error::Invalid`] for a text that names no person, and for wrong names; [`Error::NoInstanceKey`] without a key.
pub async fn forget(ledger: &Ledger, scope: &Scope, of: Forget) -> Result<Forgetting> {
    require_for(scope, Permission::Administer, ADMINS)?;
    let path = parse(&of.person)?.path;
    let (tenant_id, member) = (scope.tenant_id, member_at(path.as_str()));
    let mark = mark(ledger.instance_key()?, tenant_id, path.as_str());
    let (id, at, author) = (new_v7(ledger.now(), ledger.entropy()), ledger.now(), scope.caller.to_string());
    let name = author.clone();
    // The entry does not say who is forgotten.
    let act = Act::new(Kind::PersonForgotten, scope.caller, at).on(TargetKind::Forgetting, id);
    let begun = ledger.write(scope.into(), async move |tx| {
        store::memory_forget::begin(tx, tenant_id, (id, mark), (&name, at)).await?;
        act.record(tx, tenant_id).await
    });
    begun.await?;
    // A run that has read the person's turns or a document about them writes nothing any more, and its window is read
    // again without them. This is a transaction of its own: a run that begins after the mark sees it.
    let stopped =
        ledger.write(scope.into(), async move |tx| Ok(store::memory_writer::end_leases(tx, tenant_id, None).await?));
    stopped.await?;
    // After the mark: what ends from now on is not captured.
    let captured = training::erase(ledger, scope, &of.person).await?;
    let before = find(ledger, scope, of.clone()).await?;
    for proposal in &before.answer.proposals {
        end_proposal(ledger, scope, proposal.session_id, REASON).await?;
    }
    // A decision that took effect meanwhile has written a document.
    let names = Forget { names: Some([before.answer.names.clone(), before.answer.short_names.clone()].concat()), ..of };
    let found = find(ledger, scope, names).await?;
    let mut answer = found.answer.clone();
    erase_leads(ledger, scope, &found.answer.leads).await?;
    let mut counts = erase(ledger, scope, &author, found).await?;
    answer.proposals = before.answer.proposals;
    answer.denials = before.answer.denials.max(answer.denials);
    counts.proposals = answer.proposals.len() as u64;
    counts.denials = answer.denials;
    let ended = ledger.now();
    let done = ledger.write(scope.into(), async move |tx| {
        if let Some(user_id) = member {
            store::memory_forget::end_request(tx, tenant_id, user_id).await?;
        }
        Ok(store::memory_forget::finish(tx, tenant_id, id, counts, ended).await?)
    });
    done.await?;
    ledger.store().empty_wal().await;
    answer.add(captured);
    answer.is_done = true;
    Ok(answer)
}

/// Erases the responses of these leads, and then their names and addresses, by which a call that was interrupted finds
/// the rest.
async fn erase_leads(ledger: &Ledger, scope: &Scope, leads: &[ForgottenLead]) -> Result<()> {
    let tenant_id = scope.tenant_id;
    for ForgottenLead { entity_id, .. } in leads {
        let id = *entity_id;
        loop {
            let read = ledger.store().read(Access::System, async move |conn| {
                store::entity::responses_of_lead(conn, tenant_id, id, PAGE_MAX).await
            });
            let sessions = read.await?;
            if sessions.is_empty() {
                break;
            }
            for session in sessions {
                end_response(ledger, tenant_id, session).await?;
            }
        }
        let (by, now) = (scope.caller.to_string(), ledger.now());
        let written =
            ledger.write(Access::Retention, async move |tx| entity::erase_on(tx, tenant_id, id, (&by, now)).await);
        written.await?;
    }
    Ok(())
}

/// Erases a response, and before it the sessions of tasks that were given its answers: their input, their results and
/// what waits for approval hold what the person typed.
async fn end_response(ledger: &Ledger, tenant_id: TenantId, id: SessionId) -> Result<()> {
    let read = ledger
        .store()
        .read(Access::System, async move |conn| store::response::promotion_sessions(conn, tenant_id, id).await);
    for session in read.await?.into_iter().chain([id]) {
        end_proposal(ledger, &Scope::system(tenant_id), session, REASON).await?;
    }
    Ok(())
}

/// Cancels the session of a proposal or of a response, unless it has ended, and erases its content.
pub(super) async fn end_proposal(ledger: &Ledger, scope: &Scope, id: SessionId, reason: &str) -> Result<()> {
    if !get(ledger, scope, id).await?.status().is_final() {
        match cancel(ledger, scope, id, Some(reason.to_owned())).await {
            Ok(_) => {}
            // Its decision took effect meanwhile.
            Err(_) if get(ledger, scope, id).await?.status().is_final() => {}
            Err(error) => return Err(error),
        }
    }
    erase_session(ledger, scope.tenant_id, id).await?;
    Ok(())
}

/// Deletes denied lines.
pub(super) async fn forget_denials(ledger: &Ledger, tenant_id: TenantId, denials: Vec<DenialRecord>) -> Result<()> {
    let deleted = ledger.write(Access::Retention, async move |tx| {
        for denial in denials {
            store::memory_forget::forget_denial(tx, tenant_id, &denial.agent, &denial.line).await?;
        }
        Ok(())
    });
    deleted.await
}

async fn erase(ledger: &Ledger, scope: &Scope, author: &str, found: Found) -> Result<Counts> {
    let tenant_id = scope.tenant_id;
    let Found { names, lines, own, denials, .. } = found;
    let mut counts = Counts { documents: (lines.len() + own.len()) as u64, ..Counts::default() };
    forget_denials(ledger, tenant_id, denials).await?;
    let names = Arc::new(names);
    for (id, said) in lines {
        let (stamp, author, names) = (Stamp::new(ledger), author.to_owned(), names.clone());
        let cleaned = ledger.write(Access::Retention, async move |tx| {
            clean_on(tx, tenant_id, (stamp, &author), id, (&names, &said)).await
        });
        let Cleaned { lines, .. } = cleaned.await?;
        counts.lines += lines;
    }
    for id in own {
        let (stamp, author) = (Stamp::new(ledger), author.to_owned());
        let erased =
            ledger.write(Access::Retention, async move |tx| erase_on(tx, tenant_id, stamp, id, (author, ERASED)).await);
        erased.await?;
    }
    Ok(counts)
}

/// A person who may be remembered again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// Path of the person's document.
    pub path: String,
    /// Whether marks of earlier versions were lifted. Several people can share such a mark: all of them may be
    /// remembered again.
    pub is_shared: bool,
}

/// Lifts the mark of a forgotten person: what they say from now on may be remembered. Nothing comes back. Marks of
/// earlier versions are lifted only if the person has no mark of their own.
///
/// # Errors
/// [`Error::Invalid`] for a text that names no person; [`Error::NoInstanceKey`] without a key; [`Error::NotFound`] if
/// no one with this id is forgotten.
pub async fn lift(ledger: &Ledger, scope: &Scope, person: &str) -> Result<Remembered> {
    require_for(scope, Permission::Administer, ADMINS)?;
    let person = parse(person)?;
    let (tenant_id, key) = (scope.tenant_id, ledger.instance_key()?);
    let own = mark(key, tenant_id, person.path.as_str());
    let earlier: Vec<_> = person.others().map(|path| mark(key, tenant_id, path)).collect();
    let (author, at) = (scope.caller.to_string(), ledger.now());
    let act = Act::new(Kind::PersonRemembered, scope.caller, at);
    let lifted = ledger.write(scope.into(), async move |tx| {
        let is_own = store::memory_forget::lift(tx, tenant_id, own, (&author, at)).await?;
        let mut is_lifted = is_own;
        for mark in earlier.into_iter().filter(|_| !is_own) {
            is_lifted |= store::memory_forget::lift(tx, tenant_id, mark, (&author, at)).await?;
        }
        if is_lifted {
            act.record(tx, tenant_id).await?;
        }
        Ok(is_lifted.then_some(!is_own))
    });
    let is_shared = lifted.await?.ok_or(Error::NotFound("forgotten person"))?;
    Ok(Remembered { path: person.path.as_str().to_owned(), is_shared })
}
