//! Opening a link to a tool.

use super::{cookie, open::allowed_on};
use crate::{
    Error, Ledger, Result, ToolLinkRecord,
    auth::{Secret, SecretKind},
    view_link::Browser,
};
use store::Access;

/// What a browser gets that opened a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entered {
    /// The opened link, with this use counted later.
    pub link: ToolLinkRecord,
    /// Value of the cookie that tells browsers apart.
    pub browser: String,
    /// Value of the cookie that permits this browser to use the link, as long as the link works.
    pub clearance: String,
}

/// Exchanges the secret of a link for signed values, and counts the use. `browser` is the cookie of an earlier visit.
///
/// # Errors
/// [`Error::NotFound`] for a secret that is unknown, expired or revoked, and for a tool that cannot be run by links any
/// more. Callers must not say which. [`Error::NoInstanceKey`] without a key.
pub async fn enter(ledger: &Ledger, secret: &str, browser: Option<&str>) -> Result<Entered> {
    let key = ledger.instance_key()?;
    let gone = || Error::NotFound("page");
    let digest = Secret::parse(SecretKind::Tool, secret).ok_or_else(gone)?.digest();
    let now = ledger.now();
    let found = ledger.write(Access::System, async move |tx| {
        let link = store::tool_link::find_by_secret(tx.conn(), digest).await?;
        let link = link.filter(|link| link.works(now)).ok_or_else(gone)?;
        allowed_on(tx.conn(), &link).await?;
        store::tool_link::count_use(tx, link.tenant_id, link.id, now).await?;
        Ok(link)
    });
    let link = found.await?;
    let known = browser.and_then(|cookie| Browser::of_cookie(key, cookie));
    let browser = known.unwrap_or_else(|| Browser::new(ledger.entropy()));
    let clearance = cookie::clearance(key, link.id, browser, link.expires_at);
    Ok(Entered { link, browser: browser.to_cookie(key), clearance })
}
