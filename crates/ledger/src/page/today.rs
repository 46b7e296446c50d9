//! The page /today: work in five sections, and the caller's own working day.

use super::row::{Row, rows};
use crate::{
    ActionRecord, Ledger, RequestRecord, Result, feedback_request,
    guard::require,
    human::{self, Today},
    memory_writer::{StalledRecord, stalled_on},
    session::{self, ListQuery, ListSessions},
    work_queue::{self, Counts, QueueScope},
};
use domain::{Scope, Timestamp, id::SessionId, role::Permission, session::Session, work_queue::Bucket};
use std::collections::HashMap;
use store::{Conn, work_queue::Since};

/// Number of rows in one section.
const ROWS_MAX: u32 = 25;

/// The rows of one bucket.
#[derive(Debug)]
pub struct Section {
    /// Group of the work queue that the section lists.
    pub bucket: Bucket,
    /// Sessions of the bucket, at most 25.
    pub rows: Vec<Row>,
    /// Its actions. Most buckets have none.
    pub actions: Vec<ActionRecord>,
    /// Whether the bucket contains more.
    pub has_more: bool,
    /// Number of entries in the bucket, if it contains more than these.
    pub total: Option<u64>,
    /// The same as in [`work_queue::Section`].
    pub unassigned_failures: u64,
}

/// A question for which no session waits.
#[derive(Debug)]
pub struct OpenQuestion {
    /// The question, its session and its deadline.
    pub request: RequestRecord,
    /// The session that asked, if the caller can see it.
    pub session: Option<Session>,
}

/// Everything that the page "Today" shows.
#[derive(Debug)]
pub struct Page {
    /// The five sections, in the order of [`Bucket::ALL`].
    pub sections: Vec<Section>,
    /// Number of entries in each bucket.
    pub counts: Counts,
    /// Questions that the caller may answer and for which no session waits.
    pub questions: Vec<OpenQuestion>,
    /// Memory writers that wait after failures, for those who may ask for a run.
    pub stalled: Vec<StalledRecord>,
    /// Whether the caller can see no session at all.
    pub nothing_ever_ran: bool,
    /// The caller's working day; `None` for a token.
    pub day: Option<Today>,
}

/// Reads the page. The time zone determines when the day began.
///
/// # Errors
/// [`crate::Error::Invalid`] if there is no such time zone.
pub async fn read(ledger: &Ledger, scope: &Scope, whose: QueueScope, timezone: &str) -> Result<Page> {
    require(scope, Permission::Read)?;
    let (reader, since) = (*scope, work_queue::since(ledger.now(), timezone)?);
    let any = ListQuery::of(scope, ListSessions { limit: 1, ..ListSessions::default() }, ledger.now())?;
    let person = scope.user_id().map(|_| human::person(scope)).transpose()?;
    let read = ledger.snapshot(scope, async move |conn| {
        // Counted once for all sections: in a large workspace a count costs as much as the rows of all of them.
        let counts = work_queue::counts_on(conn, &reader, whose, since).await?;
        let mut sections = Vec::with_capacity(Bucket::ALL.len());
        for bucket in Bucket::ALL {
            let section = section_on(conn, &reader, whose, bucket, since).await?;
            sections.push(Section { total: section.has_more.then_some(of_bucket(counts, bucket)), ..section });
        }
        let stalled = if reader.may(Permission::ManageSessions) {
            stalled_on(conn, reader.tenant_id, since.now).await?
        } else {
            Vec::new()
        };
        Ok(Page {
            sections,
            stalled,
            counts,
            questions: questions_on(conn, &reader, since.now).await?,
            nothing_ever_ran: session::list_on(conn, &reader, any).await?.items.is_empty(),
            day: match person {
                Some(user_id) => {
                    let today = human::today_on(conn, reader.tenant_id, user_id, since.done, since.now);
                    Some(today.await?)
                }
                None => None,
            },
        })
    });
    read.await
}

/// Reads one section of the page.
///
/// # Errors
/// [`crate::Error::Invalid`] if there is no such time zone.
pub async fn section(
    ledger: &Ledger,
    scope: &Scope,
    whose: QueueScope,
    bucket: Bucket,
    timezone: &str,
) -> Result<Section> {
    require(scope, Permission::Read)?;
    let (reader, since) = (*scope, work_queue::since(ledger.now(), timezone)?);
    let read = ledger.snapshot(scope, async move |conn| {
        let section = section_on(conn, &reader, whose, bucket, since).await?;
        let total = match section.has_more {
            true => Some(of_bucket(work_queue::counts_on(conn, &reader, whose, since).await?, bucket)),
            false => None,
        };
        Ok(Section { total, ..section })
    });
    read.await
}

/// Reads the rows of a section, without the number of its entries.
async fn section_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    whose: QueueScope,
    bucket: Bucket,
    since: Since,
) -> Result<Section> {
    let mut found = work_queue::section_on(conn, scope, whose, bucket, since, ROWS_MAX + 1).await?;
    let keep = ROWS_MAX as usize;
    let has_more = found.sessions.len() > keep || found.actions.len() > keep;
    found.sessions.truncate(keep);
    found.actions.truncate(keep);
    let rows = rows(conn, scope, found.sessions, since.now).await?;
    let unassigned_failures = found.unassigned_failures;
    Ok(Section { bucket, rows, actions: found.actions, has_more, total: None, unassigned_failures })
}

const fn of_bucket(counts: Counts, bucket: Bucket) -> u64 {
    match bucket {
        Bucket::NeedsMe => counts.needs_me,
        Bucket::Running => counts.running,
        Bucket::Delegatable => counts.delegatable,
        Bucket::Failed => counts.failed,
        Bucket::DoneToday => counts.done_today,
    }
}

/// Reads the questions that the caller may answer and for which no session waits.
pub async fn questions(ledger: &Ledger, scope: &Scope) -> Result<Vec<OpenQuestion>> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    ledger.snapshot(scope, async move |conn| questions_on(conn, &reader, now).await).await
}

async fn questions_on(conn: &mut Conn<'_>, scope: &Scope, now: Timestamp) -> Result<Vec<OpenQuestion>> {
    let open = feedback_request::open_on(conn, scope, now).await?;
    let ids: Vec<SessionId> = open.iter().map(|request| request.session_id).collect();
    let mut sessions = HashMap::new();
    if !ids.is_empty() {
        for session in session::list_by_ids_on(conn, scope, &ids).await? {
            sessions.insert(session.id, session);
        }
    }
    let of = |request: RequestRecord| OpenQuestion { session: sessions.get(&request.session_id).cloned(), request };
    Ok(open.into_iter().map(of).collect())
}
