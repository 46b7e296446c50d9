//! The result of a run: what becomes of it, and writing it to an entity by a task. The result is then the output of
//! the task, in a session of its own whose parent is the run. Safety rules and approval apply as to the output of an
//! agent.

use crate::{
    Ledger, Result, ToolRunOutputRecord,
    guard::require,
    response::promotion::Ids,
    tool_output::{PromoteRun, check_fields, promote_on},
};
use domain::{Scope, id::SessionId, role::Permission, session::Session};

/// Returns what becomes of the result of a run; `None` if nothing was asked for.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session of a tool or the caller cannot see it.
pub async fn output(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Option<ToolRunOutputRecord>> {
    let tenant_id = super::get(ledger, scope, id).await?.tenant_id;
    let read = ledger.snapshot(scope, async move |conn| Ok(store::tool_run_output::find(conn, tenant_id, id).await?));
    read.await
}

/// Writes the result of a completed run to an entity by a task, or lets it wait for approval where the task requires
/// one. Returns the session of the task, whose parent is the run; the new version of the entity names it. A repeat
/// returns the same session. A result that was denied can be written again.
///
/// # Errors
/// [`crate::Error::NotFound`] for an unknown task or entity, and if there is no such session of a tool or the caller
/// cannot see it; [`crate::Error::Invalid`] for a run that did not complete, for a task that is archived or whose
/// output is not one entity, and for values that the task or the type refuses; [`crate::Error::HardBlock`] if the
/// task's safety rules block them.
pub async fn promote(ledger: &Ledger, scope: &Scope, id: SessionId, to: PromoteRun) -> Result<Session> {
    require(scope, Permission::WriteEntities)?;
    check_fields(&to.fields)?;
    let (scope, ids) = (*scope, Ids::new(ledger));
    ledger.write((&scope).into(), async move |tx| promote_on(tx, &scope, id, to, &ids).await).await
}
