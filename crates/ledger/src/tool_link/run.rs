//! Running a tool by a link, and the result of such a run.

use super::{
    cookie,
    open::{Cookies, Opened, allowed_on, cleared, hidden, runner_scope},
};
use crate::{
    Error, Ledger, Result, ToolLinkRecord, ToolVersionRecord,
    retention::is_erased,
    tool_run::{RunTool, run_by_link},
};
use domain::{
    id::{SessionId, ToolLinkId},
    session::Session,
};
use uuid::Uuid;

/// Runs the tool of an opened link with an input, a JSON object. `page_id` is the id with which the page of the posted
/// form was made: the same page of the same browser runs once. Anything but a UUID is ignored.
///
/// # Errors
/// [`Error::NotFound`] if the link does not work any more, or its tool cannot be run by links; [`Error::Invalid`] for
/// an input that the schema refuses; [`Error::IdConflict`] if the page was posted with another input;
/// [`Error::LimitReached`] if the link has begun too many runs within an hour.
pub async fn run(ledger: &Ledger, opened: &Opened, input: Option<String>, page_id: Option<&str>) -> Result<Session> {
    let scope = runner_scope(opened.link.tenant_id, opened.runner);
    let page = page_id.and_then(|page| Uuid::try_parse(page).ok());
    // Keys belong to the whole workspace. With the caller in it, no key of anyone else is reached.
    let idempotency_key = page.map(|page| format!("{}:{page}", scope.caller));
    let new = RunTool { input, idempotency_key, ..RunTool::default() };
    run_by_link(ledger, &scope, &opened.slug, new, opened.link.id).await.map_err(hidden)
}

/// A run that a browser has begun by a link.
#[derive(Debug, Clone)]
pub struct LinkRun {
    /// The link, which works.
    pub link: ToolLinkRecord,
    /// The version of the tool that a further run uses.
    pub version: ToolVersionRecord,
    /// The run with its result.
    pub session: Session,
}

/// Returns a run that this browser has begun by the link, with its result. On PostgreSQL row-level security shows the
/// transaction no session of anyone else.
///
/// # Errors
/// [`Error::NotFound`] if the cookies do not permit the use of the link, if the link has expired or was revoked, if its
/// tool cannot be run by links any more, if the run is that of another browser or link, and if its content was erased.
/// Callers must not say which. [`Error::NoInstanceKey`] without a key.
pub async fn result(ledger: &Ledger, link_id: ToolLinkId, cookies: Cookies<'_>, id: SessionId) -> Result<LinkRun> {
    let (link, browser) = cleared(ledger, link_id, cookies).await?;
    let runner = cookie::runner(ledger.instance_key()?, link.tenant_id, link_id, browser);
    let (tenant_id, of, scope) = (link.tenant_id, link.clone(), runner_scope(link.tenant_id, runner));
    let gone = || Error::NotFound("page");
    let read = ledger.snapshot(&scope, async move |conn| {
        if !store::tool_link::has_run(conn, tenant_id, (link_id, id)).await? {
            return Err(gone());
        }
        // Before the transaction is limited to the rows of the respondent, who reads no tools.
        let (_, version) = allowed_on(conn, &of).await?;
        store::response::act_for(conn, runner.0, None).await?;
        let session = store::session::find(conn, tenant_id, id).await?;
        let is_own = |session: &Session| session.created_by == scope.caller.to_string() && !is_erased(session);
        Ok((version, session.filter(is_own).ok_or_else(gone)?))
    });
    let (version, session) = read.await?;
    Ok(LinkRun { link, version, session })
}
