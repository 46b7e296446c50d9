//! The pages about links to sessions: of one session, and the list of all.

use super::names::{People, people_on};
use crate::{Ledger, ListPage, Listed, Result, ShareLinkRecord, session, share_link};
use domain::{Scope, Timestamp, id::SessionId, session::Session, share_link::Audience};
use std::collections::BTreeSet;

/// Number of links on a page.
const LINKS: u32 = 50;

/// The page, and what its links show.
#[derive(Debug)]
pub struct Page {
    /// The links, newest first: those that the viewer made, and all for admins.
    pub listed: Listed<ShareLinkRecord>,
    /// The sessions of these links.
    pub sessions: Vec<Session>,
    /// Everyone who may have made them.
    pub people: People,
    /// Time at which the links were read (UTC).
    pub now: Timestamp,
}

/// Reads one page of the list.
///
/// # Errors
/// [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn read(ledger: &Ledger, scope: &Scope, cursor: Option<String>) -> Result<Page> {
    let (reader, now) = (*scope, ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        let listed = share_link::list_on(conn, &reader, &ListPage { limit: LINKS, cursor }).await?;
        let ids: BTreeSet<SessionId> = listed.items.iter().map(|link| link.session_id).collect();
        let ids: Vec<SessionId> = ids.into_iter().collect();
        let sessions = session::list_by_ids_on(conn, &reader, &ids).await?;
        Ok(Page { listed, sessions, people: people_on(conn, reader.tenant_id).await?, now })
    });
    read.await
}

/// The page with the form that makes a link to a session.
#[derive(Debug)]
pub struct OfSession {
    /// What a link would show.
    pub session: Session,
    /// What of the session a link shows.
    pub audience: Audience,
    /// The newest links to it, newest first: those that the viewer made, and all for admins.
    pub links: Vec<ShareLinkRecord>,
    /// Everyone who may have made them.
    pub people: People,
    /// Time at which the links were read (UTC).
    pub now: Timestamp,
}

/// Reads the page with the form that makes a link to a session.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session or the viewer cannot see it; [`crate::Error::Forbidden`] if
/// the viewer may not share it, or if nobody may.
pub async fn of_session(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<OfSession> {
    let (reader, now) = (*scope, ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        let session = session::get_on(conn, &reader, id).await?;
        let audience = share_link::shareable(conn, &reader, &session).await?;
        let links = share_link::of_session_on(conn, &reader, id).await?;
        Ok(OfSession { session, audience, links, people: people_on(conn, reader.tenant_id).await?, now })
    });
    read.await
}
