//! Opening a link.

use super::{cookie::Clearance, read::is_shown};
use crate::{
    Error, Ledger, Result, ShareLinkRecord,
    auth::{Secret, SecretKind},
};
use store::Access;

/// What a browser gets that opened a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entered {
    /// The opened link, with this use counted later.
    pub link: ShareLinkRecord,
    /// Value of the cookie that permits the browser to read the page of this link, as long as the link works.
    pub clearance: String,
}

/// Exchanges the secret of a link for a signed value, and counts the use.
///
/// # Errors
/// [`Error::NotFound`] for a secret that is unknown, expired or revoked, and for a session that is not shown any more.
/// Callers must not say which. [`Error::NoInstanceKey`] without a key.
pub async fn enter(ledger: &Ledger, secret: &str) -> Result<Entered> {
    let key = ledger.instance_key()?;
    let gone = || Error::NotFound("page");
    let digest = Secret::parse(SecretKind::Share, secret).ok_or_else(gone)?.digest();
    let now = ledger.now();
    let found = ledger.write(Access::System, async move |tx| {
        let link = store::share_link::find_by_secret(tx.conn(), digest).await?;
        let link = link.filter(|link| link.works(now)).ok_or_else(gone)?;
        let session = store::session::find(tx.conn(), link.tenant_id, link.session_id).await?;
        session.filter(|session| is_shown(session, &link)).ok_or_else(gone)?;
        store::share_link::count_use(tx, link.tenant_id, link.id, now).await?;
        Ok(link)
    });
    let link = found.await?;
    let clearance = Clearance { link_id: link.id, expires_at: link.expires_at }.to_cookie(key);
    Ok(Entered { link, clearance })
}
