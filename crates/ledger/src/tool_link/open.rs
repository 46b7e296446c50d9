//! The form of a link for a browser that opened it.

use super::cookie;
use crate::{
    Error, Ledger, Result, ToolLinkRecord, ToolVersionRecord,
    tool::{published_on, require_audience},
    view_link::Browser,
};
use domain::{
    Caller, Scope,
    id::{RespondentId, TenantId, ToolLinkId},
    role::Role,
};
use store::{Access, Conn};

/// The cookies of a browser, as it sent them. Nothing in them is trusted before its signature is checked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cookies<'a> {
    /// The cookie that tells browsers apart.
    pub browser: Option<&'a str>,
    /// The cookie that permits the use of the link.
    pub clearance: Option<&'a str>,
}

/// What a browser that opened a link may use.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The link, which works.
    pub link: ToolLinkRecord,
    /// Slug of its tool.
    pub slug: String,
    /// The version that a run uses.
    pub version: ToolVersionRecord,
    /// The key that the form carries.
    pub form_key: String,
    /// The caller as which this browser runs the tool.
    pub(super) runner: RespondentId,
}

/// Returns the tool of a link for a browser that opened it. A posted form must carry its key, `form_key`; `None` is for
/// requests that change nothing.
///
/// # Errors
/// [`Error::NotFound`] if the cookies do not permit the use of the link, if the link has expired or was revoked, and if
/// its tool cannot be run by links any more. Callers must not say which. [`Error::NoInstanceKey`] without a key.
pub async fn open(
    ledger: &Ledger,
    link_id: ToolLinkId,
    cookies: Cookies<'_>,
    form_key: Option<&str>,
) -> Result<Opened> {
    let (link, browser) = cleared(ledger, link_id, cookies).await?;
    let key = ledger.instance_key()?;
    if form_key.is_some_and(|given| !cookie::is_form_key(key, link_id, browser, given)) {
        return Err(Error::NotFound("page"));
    }
    let runner = cookie::runner(key, link.tenant_id, link_id, browser);
    let (of, scope) = (link.clone(), runner_scope(link.tenant_id, runner));
    let (slug, version) = ledger.snapshot(&scope, async move |conn| allowed_on(conn, &of).await).await?;
    Ok(Opened { link, slug, version, form_key: cookie::form_key(key, link_id, browser), runner })
}

/// The link, if it works and the cookies permit its use, and the browser.
pub(super) async fn cleared(
    ledger: &Ledger,
    link_id: ToolLinkId,
    cookies: Cookies<'_>,
) -> Result<(ToolLinkRecord, Browser)> {
    let key = ledger.instance_key()?;
    let gone = || Error::NotFound("page");
    let (browser, clearance) = cookies.browser.zip(cookies.clearance).ok_or_else(gone)?;
    let browser = Browser::of_cookie(key, browser).ok_or_else(gone)?;
    let now = ledger.now();
    if !cookie::is_valid(key, clearance, (link_id, browser), now) {
        return Err(gone());
    }
    let found =
        ledger.store().read(Access::System, async move |conn| store::tool_link::find(conn, link_id).await).await?;
    let link = found.filter(|link| link.works(now)).ok_or_else(gone)?;
    Ok((link, browser))
}

/// The scope of a browser that runs a tool. The role is the least one that starts sessions; no use case but those of
/// this module gets the scope.
pub(super) fn runner_scope(tenant_id: TenantId, runner: RespondentId) -> Scope {
    let caller = Caller::Respondent(runner);
    Scope { tenant_id, caller, role: Role::Member, token_scope: None, on_behalf_of: None }
}

/// The slug and the published version of the tool of a link, if links may run it.
///
/// # Errors
/// [`Error::NotFound`] if they may not.
pub(super) async fn allowed_on(conn: &mut Conn<'_>, link: &ToolLinkRecord) -> Result<(String, ToolVersionRecord)> {
    let tool = store::tool::find(conn, link.tenant_id, link.tool_id).await?.ok_or(Error::NotFound("page"))?;
    let found = published_on(conn, link.tenant_id, &tool.slug).await;
    let (_, version) = found.map_err(hidden)?;
    let anyone = runner_scope(link.tenant_id, RespondentId(link.id.0));
    require_audience(conn, &anyone, &version.definition).await.map_err(hidden)?;
    Ok((tool.slug, version))
}

/// The error of a tool that cannot be run by links, without its reason.
pub(super) fn hidden(error: Error) -> Error {
    match error {
        Error::NotFound(_) | Error::WrongState { .. } | Error::Forbidden(_) => Error::NotFound("page"),
        other => other,
    }
}
