//! What the page of a link shows.

use super::cookie::Clearance;
use crate::{
    Error, Ledger, Result, ShareLinkRecord,
    event::{self, Read, Slice},
    retention::is_erased,
};
use domain::{
    event::Known,
    id::ShareLinkId,
    limit::SHARED_EVENTS_MAX,
    session::Session,
    share_link::{Audience, SHOWN},
};
use store::Access;

/// What the page of a link shows.
#[derive(Debug, Clone)]
pub struct Shared {
    /// By which it is read, and until when.
    pub link: ShareLinkRecord,
    /// Title, state, times, input, result and error.
    pub session: Session,
    /// A part of its log, oldest first, with the kinds of [`SHOWN`] alone; `None` for one run of a tool.
    pub events: Option<Slice>,
}

/// Reads the page of a link for a browser with this cookie. The log begins after the event `after`. On PostgreSQL
/// row-level security shows the transaction no other session, and nothing once the link is revoked.
///
/// # Errors
/// [`Error::NotFound`] if the cookie does not permit it, if the link has expired or was revoked, and if the session is
/// not shown any more. Callers must not say which. [`Error::NoInstanceKey`] without a key.
pub async fn read(ledger: &Ledger, link_id: ShareLinkId, clearance: Option<&str>, after: u64) -> Result<Shared> {
    let key = ledger.instance_key()?;
    let gone = || Error::NotFound("page");
    let now = ledger.now();
    if !clearance.is_some_and(|cookie| Clearance::is_valid(key, cookie, link_id, now)) {
        return Err(gone());
    }
    let read = ledger.snapshot_for(Access::Shared { link_id }, async move |conn| {
        let link = store::share_link::find(conn, link_id).await?;
        let link = link.filter(|link| link.works(now)).ok_or_else(gone)?;
        let session = store::session::find(conn, link.tenant_id, link.session_id).await?;
        let session = session.filter(|session| is_shown(session, &link)).ok_or_else(gone)?;
        let events = match link.audience {
            Audience::ToolResult => None,
            Audience::Session => Some(event::read_on(conn, &session, &part(after)).await?),
        };
        Ok(Shared { link, session, events })
    });
    read.await
}

/// The part of a shared log after an event.
fn part(after: u64) -> Read {
    let kinds = SHOWN.iter().copied().map(Known::as_str).map(str::to_owned).collect();
    Read { after_sequence: Some(after), kinds, limit: SHARED_EVENTS_MAX, ..Read::default() }
}

/// Whether the link shows the session: it is neither private nor erased.
pub(super) fn is_shown(session: &Session, link: &ShareLinkRecord) -> bool {
    Audience::of(session) == Some(link.audience) && !is_erased(session)
}
