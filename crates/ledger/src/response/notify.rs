//! Notifying the owner of a form of a response.

use super::save::Filled;
use crate::{
    Result,
    outbox::{Announcement, MessageIds, Window, announce, announce_once},
};
use domain::{
    Caller, Timestamp,
    id::{TenantId, UserId, ViewId},
    limit::FORM_EMAIL_SECONDS,
    notification::Topic,
};
use serde_json::json;
use store::{Conn, ResponseRecord, WriteTx};

/// Enqueues the messages about a response that is being submitted, if the form wants that: one to each webhook that
/// wants it, and an e-mail to the owner, who is the person that made the view. All responses of [`FORM_EMAIL_SECONDS`]
/// share one e-mail. The messages name no answer and no respondent. The owner's own responses are not reported by
/// e-mail, and what is answered in an incognito session is reported to no one.
pub(super) async fn notify(
    tx: &mut WriteTx<'_>,
    form: &Filled,
    response: &ResponseRecord,
    (ids, at): (&MessageIds, Timestamp),
) -> Result<()> {
    let (tenant_id, version) = (form.respondent.tenant_id(), &form.version);
    if !version.publication.notify || form.private_to.is_some() {
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
    announce(tx, tenant_id, ids, Announcement { topic: Topic::FormSubmitted, about, recipients: Vec::new() }).await?;
    let owner = owner(tx.conn(), tenant_id, version.view_id).await?;
    let Some((owner, slug)) = owner.filter(|(owner, _)| form.respondent.caller() != Caller::User(*owner)) else {
        return Ok(());
    };
    let about = json!({
        "workspaceId": tenant_id,
        "viewId": version.view_id,
        "viewTitle": version.title,
        "path": format!("/views/{slug}/responses"),
    });
    let window = Window { seconds: FORM_EMAIL_SECONDS, of: version.view_id.0 };
    let email = Announcement { topic: Topic::FormSubmitted, about, recipients: vec![owner] };
    announce_once(tx, tenant_id, at, window, email).await
}

/// The person who made the view, if they want e-mails, and the slug of the view. A view that a program made has no such
/// person.
async fn owner(conn: &mut Conn<'_>, tenant_id: TenantId, view_id: ViewId) -> Result<Option<(UserId, String)>> {
    let Some(view) = store::view::find(conn, tenant_id, view_id).await? else { return Ok(None) };
    let made_by = view.created_by.strip_prefix("user:").and_then(|id| id.parse::<UserId>().ok());
    match made_by {
        Some(user) if store::user::wants_email(conn, tenant_id, user).await? => Ok(Some((user, view.slug))),
        _ => Ok(None),
    }
}
