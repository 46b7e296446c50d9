//! One session, or a few by id.

use crate::{Error, Ledger, Result, SessionRecord, guard::require, visibility::sees};
use domain::{Scope, id::SessionId, limit::PAGE_MAX, role::Permission};

/// A session of the workspace that the caller may know of.
pub async fn get(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<SessionRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let reader = *scope;
    let read = ledger.store().read(scope.into(), move |conn| {
        Box::pin(async move {
            let Some(session) = store::session::find(conn, tenant_id, id).await? else { return Ok(None) };
            Ok(sees(conn, &reader, &session).await?.then_some(session))
        })
    });
    read.await?.ok_or(Error::NotFound("session"))
}

/// Those of `ids` that exist in the workspace, newest first.
pub async fn list_by_ids(ledger: &Ledger, scope: &Scope, ids: &[SessionId]) -> Result<Vec<SessionRecord>> {
    require(scope, Permission::Read)?;
    if ids.len() > PAGE_MAX as usize {
        return Err(Error::invalid("ids", format!("at most {PAGE_MAX}")));
    }
    let (tenant_id, ids, reader) = (scope.tenant_id, ids.to_vec(), *scope);
    let mut sessions = ledger
        .store()
        .read(scope.into(), move |conn| {
            Box::pin(async move {
                let mut seen = Vec::new();
                for session in store::session::list_by_ids(conn, tenant_id, &ids).await? {
                    if sees(conn, &reader, &session).await? {
                        seen.push(session);
                    }
                }
                Ok(seen)
            })
        })
        .await?;
    sessions.sort_by_key(|session| std::cmp::Reverse(session.id));
    Ok(sessions)
}
