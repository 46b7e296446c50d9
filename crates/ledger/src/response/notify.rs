//! Notifying the owner of a form of a response.

use super::save::Filled;
use crate::{
    Result,
    outbox::{Announcement, MessageIds, announce},
};
use domain::{
    Caller,
    id::{TenantId, UserId, ViewId},
    notification::Topic,
};
use serde_json::json;
use store::{Conn, ResponseRecord, WriteTx};

/// Enqueues the messages about a response that is being submitted, if the form wants that: one e-mail to the owner, who
/// is the person that made the view, and one to each webhook that wants it. The messages name no answer and no
/// respondent. The owner's own responses are not reported by e-mail.
pub(super) async fn notify(
    tx: &mut WriteTx<'_>,
    form: &Filled,
    response: &ResponseRecord,
    ids: &MessageIds,
) -> Result<()> {
    let (tenant_id, version) = (form.respondent.tenant_id(), &form.version);
    if !version.publication.notify {
        return Ok(());
    }
    let about = json!({
        "workspaceId": tenant_id,
        "sessionId": response.session_id,
        "viewId": version.view_id,
        "viewTitle": version.title,
        "version": version.version,
        "respondentKind": response.respondent_kind,
        "late": response.late,
        "path": format!("/sessions/{}", response.session_id),
    });
    let owner = owner(tx.conn(), tenant_id, version.view_id).await?;
    let recipients = owner.filter(|owner| form.respondent.caller() != Caller::User(*owner)).into_iter().collect();
    announce(tx, tenant_id, ids, Announcement { topic: Topic::FormSubmitted, about, recipients }).await
}

/// The person who made the view, if they want e-mails. A view that a program made has no such person.
async fn owner(conn: &mut Conn<'_>, tenant_id: TenantId, view_id: ViewId) -> Result<Option<UserId>> {
    let view = store::view::find(conn, tenant_id, view_id).await?;
    let made_by = view.as_ref().and_then(|view| view.created_by.strip_prefix("user:")?.parse::<UserId>().ok());
    match made_by {
        Some(user) if store::user::wants_email(conn, tenant_id, user).await? => Ok(Some(user)),
        _ => Ok(None),
    }
}
