//! Running an ended session again.

use super::{
    create::insert,
    new_session::{DependsOn, NewSession},
};
use crate::{
    Error, Ledger, Result,
    commit::Minter,
    composition::advance,
    guard::require,
    tool::check_run_again,
    visibility::{own_or_managed, require_visible},
};
use domain::{
    Scope,
    id::SessionId,
    limit::RETRIES_FOLLOWED_MAX,
    role::Permission,
    run_again::{NotAgain, run_again},
    session::{IfDependencyFails, Refusal, Session},
    tool::run::ToolRun,
};
use store::{WriteTx, session::graph as rows};

/// Creates a new session with the same action, input and parent. The old session does not change.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session or the caller cannot see it; [`Error::Forbidden`] if it is not the
/// caller's and the caller may not manage others; [`Error::Refused`] if it has not ended, or is not work of an agent or
/// a tool; [`Error::Invalid`] for a conversation, an archived action, the draft of a run, or a run of a tool with
/// private values, which are gone; [`Error::WrongState`] and [`Error::Forbidden`] for a tool that the caller cannot run
/// now; and those that [`crate::session::create()`] has for the parent and the dependencies.
pub async fn retry(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Session> {
    retry_with_key(ledger, scope, id, None).await
}

/// Does the same as [`retry`]. A repeat with the same idempotency key returns the session that the first call created.
///
/// # Errors
/// Those of [`retry`]; [`Error::IdConflict`] if the key created another session.
pub(crate) async fn retry_with_key(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    idempotency_key: Option<String>,
) -> Result<Session> {
    require(scope, Permission::StartSession)?;
    let now = ledger.now();
    let fresh = SessionId::new(now, ledger.entropy());
    let minter = Minter::new(ledger, now);
    let (scope, key) = (*scope, ledger.instance_key().ok().cloned());
    ledger
        .write((&scope).into(), async move |tx| {
            let old = store::session::find(tx.conn(), scope.tenant_id, id).await?;
            let old = require_visible(tx.conn(), &scope, old).await?;
            own_or_managed(&scope, &old)?;
            let action = match old.action_id {
                Some(id) => store::action::find(tx.conn(), scope.tenant_id, id).await?,
                None => None,
            };
            let action = action.map(|action| action.status);
            match run_again(old.session_type, old.source.as_deref(), old.status(), action) {
                Ok(()) => {}
                Err(NotAgain::NotEnded | NotAgain::NotQueued) => {
                    return Err(Refusal::WrongStatus { status: old.status() }.into());
                }
                Err(why @ NotAgain::Conversation) => return Err(Error::invalid("id", why.reason())),
                Err(why @ NotAgain::Archived) => return Err(Error::invalid("actionId", why.reason())),
            }
            if let Some(run) = ToolRun::of_session(&old) {
                check_run_again(tx.conn(), &scope, &run).await?;
                // Its fields were never checked, and are gone.
                if old.input.is_none() {
                    return Err(Error::invalid("id", "this was a draft that never ran: open a new one"));
                }
            }
            let depends_on = dependencies(tx, &old).await?;
            let new = NewSession {
                session_type: old.session_type,
                action_id: old.action_id,
                agent_slug: old.agent_slug,
                title: Some(old.title),
                input: old.input,
                metadata: Some(old.metadata),
                parent_id: old.parent_id,
                depends_on,
                idempotency_key,
            };
            let again = insert(tx, scope, fresh, minter.clone(), new, Some(id)).await?;
            // What an earlier request with this key created has begun.
            if again.id == fresh { advance(tx, again, minter, key.as_ref()).await } else { Ok(again) }
        })
        .await
        .inspect(|_| ledger.runs_for_server().notify_one())
}

/// Returns the dependencies of the retry: those of the old session, or their newest retries. The retry does not
/// wait for dependencies that have ended, even if they failed, because the person who retries can see how they
/// ended.
async fn dependencies(tx: &mut WriteTx<'_>, old: &Session) -> Result<Vec<DependsOn>> {
    if old.dependency_count == 0 {
        return Ok(Vec::new());
    }
    let mut depends_on: Vec<DependsOn> = Vec::new();
    for on in rows::dependencies(tx.conn(), old.tenant_id, old.id).await? {
        let (mut id, mut is_final) = (on.id, on.status.is_final());
        for _ in 0..RETRIES_FOLLOWED_MAX {
            let Some(newer) = rows::newest_retry(tx.conn(), old.tenant_id, id).await? else { break };
            let newer = store::session::find(tx.conn(), old.tenant_id, newer).await?;
            let newer = newer.ok_or_else(|| Error::Internal(format!("a retry of {id} is not there")))?;
            (id, is_final) = (newer.id, newer.status().is_final());
        }
        let if_fails = if is_final { IfDependencyFails::RunAnyway } else { on.if_fails };
        if depends_on.iter().all(|known| known.session_id != id) {
            depends_on.push(DependsOn { session_id: id, if_fails });
        }
    }
    Ok(depends_on)
}
