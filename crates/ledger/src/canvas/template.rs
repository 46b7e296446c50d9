//! Templates: canvases that an admin marked, so that others begin with their documents.

use super::{find_locked, key};
use crate::{Error, Ledger, Result, audit::Act, guard::require};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::SessionId,
    limit::CANVAS_TEMPLATES_MAX,
    role::Permission,
};
use store::ListedCanvas;

/// Returns the templates of the workspace by title, at most [`CANVAS_TEMPLATES_MAX`].
pub async fn templates(ledger: &Ledger, scope: &Scope) -> Result<Vec<ListedCanvas>> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger
        .snapshot(scope, async move |conn| Ok(store::canvas::templates(conn, tenant_id, CANVAS_TEMPLATES_MAX).await?));
    read.await
}

/// Makes a canvas a template of the workspace, or no template. One that has ended can be a template too. A repeat
/// changes nothing. For admins.
///
/// # Errors
/// [`Error::Forbidden`] for other callers; [`Error::NotFound`] if there is no such canvas; [`Error::LimitReached`] for
/// more than [`CANVAS_TEMPLATES_MAX`].
pub async fn set_template(ledger: &Ledger, scope: &Scope, id: SessionId, is_template: bool) -> Result<()> {
    require(scope, Permission::Administer)?;
    let (now, caller) = (ledger.now(), *scope);
    let written = ledger.write(scope.into(), async move |tx| {
        if is_template {
            // The lock keeps two requests for different canvases from exceeding the limit together. Whoever locks a
            // session too does that after it.
            store::user::lock_admins(tx, caller.tenant_id).await?;
        }
        let (session, canvas) = find_locked(tx, &caller, id).await?;
        if (canvas.is_template == 1) == is_template {
            return Ok(());
        }
        let known = store::canvas::templates(tx.conn(), caller.tenant_id, CANVAS_TEMPLATES_MAX).await?;
        if is_template && known.len() >= CANVAS_TEMPLATES_MAX as usize {
            let detail = format!("a workspace has at most {CANVAS_TEMPLATES_MAX} templates of canvases");
            return Err(Error::LimitReached(detail));
        }
        store::canvas::set_template(tx, key(&session), is_template).await?;
        let kind = if is_template { Kind::CanvasTemplateAdded } else { Kind::CanvasTemplateRemoved };
        Act::new(kind, caller.caller, now).on(TargetKind::Session, id.0).record(tx, caller.tenant_id).await
    });
    written.await
}
