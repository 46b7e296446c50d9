//! The pages /failures and /failures/{id}: causes of failures, and one of them with its sessions.

use crate::{
    Ledger, ListPage, Listed, Result,
    failure::cause::{
        Cause, CauseList, CausedSession, CausesQuery, ListCauses, Progress, When, get_on, list_on, progress,
        sessions_on,
    },
    guard::require,
};
use domain::{Scope, failure::cause::Span, id::CauseId, role::Permission};

/// Everything that the list of causes shows.
#[derive(Debug)]
pub struct CausesPage {
    /// The causes, and the time range in which failures are counted.
    pub list: CauseList,
    /// How far the grouping of failures is.
    pub progress: Progress,
}

/// Reads one page of the list.
///
/// # Errors
/// [`crate::Error::Invalid`] for a wrong range, an unknown time zone or a limit above 1,000;
/// [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListCauses) -> Result<CausesPage> {
    let (reader, now, query) = (*scope, ledger.now(), CausesQuery::of(scope, query)?);
    // It belongs to all workspaces, and is read by the system.
    let progress = progress(ledger).await?;
    let list = ledger.snapshot(scope, async move |conn| list_on(conn, &reader, query, now).await).await?;
    Ok(CausesPage { list, progress })
}

/// Everything that the page of a cause shows.
#[derive(Debug)]
pub struct CausePage {
    /// What its failures have in common, counted in the range.
    pub cause: Cause,
    /// Time range in which its failures are counted.
    pub span: Span,
    /// Its failures, newest first, whenever they were.
    pub sessions: Listed<CausedSession>,
}

/// Reads the page of a cause, with one page of its failures.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such cause; [`crate::Error::Invalid`] for a wrong range, an
/// unknown time zone or a limit above 1,000; [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn cause(ledger: &Ledger, scope: &Scope, id: CauseId, when: When, page: ListPage) -> Result<CausePage> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        let (cause, span) = get_on(conn, &reader, id, &when, now).await?;
        Ok(CausePage { cause, span, sessions: sessions_on(conn, &reader, id, &page).await? })
    });
    read.await
}
