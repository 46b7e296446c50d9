//! Opening a link, and the respondent of a browser that opened one.

use super::cookie::{Browser, Clearance, is_form_key, lead_of_cookie};
use crate::{
    Error, Ledger, Result, ViewLinkRecord,
    auth::{Secret, SecretKind},
    response::{Respondent, published},
};
use chrono::TimeDelta;
use domain::{
    Timestamp,
    id::ViewLinkId,
    limit::CLEARANCE_DAYS,
    view::{Gate, State},
};
use store::Access;

/// What a browser gets that opened a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entered {
    /// The opened link, with this use counted later.
    pub link: ViewLinkRecord,
    /// Who may answer the form.
    pub gate: Gate,
    /// Origins whose pages may show the form in a frame.
    pub embed_origins: Vec<String>,
    /// Name of the form in the address of its page for members.
    pub view_slug: String,
    /// Value of the cookie that tells browsers apart.
    pub browser: String,
    /// Value of the cookie that permits this browser to use the form of this link.
    pub clearance: String,
    /// Time from which the clearance is invalid (UTC).
    pub expires_at: Timestamp,
}

/// The cookies of a browser, as it sent them. Nothing in them is trusted before its signature is checked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entry<'a> {
    /// The cookie that tells browsers apart.
    pub browser: Option<&'a str>,
    /// The cookie that permits the use of the form.
    pub clearance: Option<&'a str>,
    /// The cookie with the entity of the person's name and e-mail address.
    pub lead: Option<&'a str>,
    /// The key of the posted form. `None` for a request that changes nothing.
    pub form_key: Option<&'a str>,
    /// The id with which the page of the posted form was made. It only tells repeats from new requests.
    pub page_id: Option<&'a str>,
}

/// Exchanges the secret of a link for signed values. `browser` is the cookie of an earlier visit.
///
/// # Errors
/// [`Error::NotFound`] for a secret that is unknown, expired or revoked, and for a form that is not published. Callers
/// must not say which. [`Error::NoInstanceKey`] without a key.
pub async fn enter(ledger: &Ledger, secret: &str, browser: Option<&str>) -> Result<Entered> {
    let key = ledger.instance_key()?;
    let digest = Secret::parse(SecretKind::Form, secret).ok_or(Error::NotFound("form"))?.digest();
    let (now, of) = (ledger.now(), ledger.clone());
    let found = ledger.write(Access::System, async move |tx| {
        let link = store::view_link::find_by_secret(tx.conn(), digest).await?;
        let link = link.filter(|link| link.works(now)).ok_or(Error::NotFound("form"))?;
        let view = store::view::find(tx.conn(), link.tenant_id, link.view_id).await?;
        let view = view.filter(|view| view.state == State::Published).ok_or(Error::NotFound("form"))?;
        let version = published(&of, tx.conn(), link.tenant_id, view.id, link.request_id).await?;
        store::view_link::count_use(tx, link.tenant_id, link.id, now).await?;
        Ok((link, version.publication, view.slug))
    });
    let (link, publication, view_slug) = found.await?;
    let known = browser.and_then(|cookie| Browser::of_cookie(key, cookie));
    let browser = known.unwrap_or_else(|| Browser::new(ledger.entropy()));
    let expires_at = link.expires_at.min(now + TimeDelta::days(CLEARANCE_DAYS));
    let clearance = Clearance { link_id: link.id, browser, expires_at }.to_cookie(key);
    let (gate, embed_origins) = (publication.gate, publication.embed_origins);
    Ok(Entered { link, gate, embed_origins, view_slug, browser: browser.to_cookie(key), clearance, expires_at })
}

/// A browser that opened a link and may use its form.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// The link that was opened.
    pub link: ViewLinkRecord,
    /// Who answers in this browser.
    pub respondent: Respondent,
    /// Key that the forms of its pages carry.
    pub form_key: String,
}

/// Returns the visitor of a link by the cookies of the browser.
///
/// # Errors
/// [`Error::NotFound`] if the cookies do not permit the use of this link's form, and if the link has expired or was
/// revoked. Callers must not say which. [`Error::NoInstanceKey`] without a key.
pub async fn respondent(ledger: &Ledger, link_id: ViewLinkId, entry: Entry<'_>) -> Result<Visitor> {
    let key = ledger.instance_key()?;
    let gone = || Error::NotFound("form");
    let (browser, clearance) = entry.browser.zip(entry.clearance).ok_or_else(gone)?;
    let browser = Browser::of_cookie(key, browser).ok_or_else(gone)?;
    let now = ledger.now();
    if !Clearance::is_valid(key, clearance, (link_id, browser), now)
        || entry.form_key.is_some_and(|given| !is_form_key(key, link_id, browser, given))
    {
        return Err(gone());
    }
    let found =
        ledger.store().read(Access::System, async move |conn| store::view_link::find(conn, link_id).await).await?;
    let link = found.filter(|link| link.works(now)).ok_or_else(gone)?;
    let lead = entry.lead.and_then(|cookie| lead_of_cookie(key, link_id, browser, cookie));
    let id = browser.respondent(key, link.tenant_id, link.view_id);
    let respondent = Respondent::stranger(link.tenant_id, id, link_id, lead);
    Ok(Visitor { link, respondent, form_key: browser.form_key(key, link_id) })
}
