//! Tags and assignees of sessions, as `sessions` has them.

use crate::{
    engine::{Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    id::{SessionId, TenantId, UserId},
    session::Session,
};
use serde_json::Value;

statements! {
    const LABEL: &str = "UPDATE sessions SET tags = $3, assignee = $4 WHERE tenant_id = $1 AND id = $2";
}

/// The member whom this text names: `user:…`, the form in which sessions also name who created them.
pub(super) fn member(text: &str) -> Option<UserId> {
    text.strip_prefix("user:")?.parse().ok()
}

/// Writes the tags and the assignee of a session. The caller appends the event of the change.
pub async fn relabel(tx: &mut WriteTx<'_>, session: &Session) -> Result<()> {
    let (TenantId(tenant), SessionId(id)) = (session.tenant_id, session.id);
    let tags = (!session.tags.is_empty()).then(|| Value::from(session.tags.clone()).to_string());
    let assignee = session.assignee.map(|id| format!("user:{id}"));
    run!(tx.conn(), execute, LABEL, tenant, id, tags.as_deref(), assignee.as_deref())?;
    Ok(())
}
