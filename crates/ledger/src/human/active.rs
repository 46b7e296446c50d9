//! The caller's running human session.

use super::person;
use crate::{ActionRecord, Ledger, Result};
use domain::{Scope, session::Session};

/// A running human session and its task.
#[derive(Debug, Clone)]
pub struct Active {
    /// The person's running human session.
    pub session: Session,
    /// Action that the person works on.
    pub task: ActionRecord,
}

/// Returns the caller's running human session; `None` if there is none.
///
/// # Errors
/// [`crate::Error::Forbidden`] if the caller is not a person.
pub async fn active(ledger: &Ledger, scope: &Scope) -> Result<Option<Active>> {
    let user_id = person(scope)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), async move |conn| {
        let Some(session) = store::human::active(conn, tenant_id, user_id).await? else { return Ok(None) };
        let Some(task_id) = session.action_id else { return Ok(None) };
        let task = store::action::find(conn, tenant_id, task_id).await?;
        Ok(task.map(|task| Active { session, task }))
    });
    Ok(read.await?)
}
