//! The page /sessions/{id}: a session, related objects, and a part of its log.

use super::{
    continuation::{Continuation, continuation},
    names::names,
    promotion::{PromotionState, promotion},
    tool_pair::with_calls,
};
use crate::{
    Error, FailureRecord, Ledger, Result, ToolRunOutputRecord,
    event::{self, KindCounts, Read, Slice},
    failure::cause::{Alike, alike_on},
    gate::{self, GateItem},
    guard::require,
    session::{self, ListQuery, ListSessions, Related},
};
use domain::{
    Scope, Timestamp,
    action::ActionStatus,
    event::{Event, Known},
    id::SessionId,
    role::Permission,
    session::{Session, Status, Type},
};
use store::Conn;

/// Number of events on a page.
pub const EVENTS: u32 = 200;
/// Number of events after the error that the page of a failed session shows, and after the one that a page is around.
const BEYOND_TARGET: u64 = 100;
/// Number of child sessions and of retries on a page.
const CHILDREN_MAX: u32 = 50;

/// The part of the log that a page shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogWindow {
    /// For a session that has not ended, the newest events. For a failed session, the events around its error.
    /// For other ended sessions, the first events.
    #[default]
    Fitting,
    /// The newest events.
    End,
    /// Events before this sequence.
    Before(u64),
    /// Events after this sequence.
    After(u64),
    /// Events around the one with this sequence, which is among them unless `kinds` leaves it out.
    Around(u64),
}

/// The position at which a page opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpensAt {
    /// The top of the page, with the title, the state and the error of the session.
    Start,
    /// The last event of the page.
    End,
}

/// Everything that a page shows of a session except its log.
#[derive(Debug)]
pub struct Around {
    /// The session of the page.
    pub session: Session,
    /// The session that started this one.
    pub parent: Option<Session>,
    /// Sessions that this one started, newest first.
    pub children: Vec<Session>,
    /// Whether it started more sessions.
    pub has_more_children: bool,
    /// Sessions that retry this one, newest first.
    pub retries: Vec<Session>,
    /// Sessions that this one waits for, and sessions that wait for it.
    pub related: Related,
    /// Number of events of each kind in the whole log.
    pub kind_counts: Vec<(String, u64)>,
    /// Promotion of the response, if the session is one.
    pub promotion: PromotionState,
    /// What becomes of its result, if a task is to write it to an entity.
    pub output: Option<ToolRunOutputRecord>,
    /// Name of the action that the session executes.
    pub action_name: Option<String>,
    /// Whether the action that the session executes is active or archived.
    pub action_status: Option<ActionStatus>,
    /// Events of the timeline bar.
    pub timeline: Vec<Event>,
    /// Its failure, if it failed.
    pub failure: Option<FailureRecord>,
    /// How many other failures have the same cause, if it has one.
    pub alike: Option<Alike>,
    /// Sequence of its last error, if it failed.
    pub error_sequence: Option<u64>,
    /// The gate at which it waits.
    pub gate: Option<GateItem>,
    /// What the viewer can give it, if it waits.
    pub continuation: Continuation,
    /// Name of the member who looks after it.
    pub assignee: Option<String>,
}

/// Events, and names of what they refer to.
#[derive(Debug)]
pub struct Events {
    /// Events of the shown part of the log, oldest first.
    pub slice: Slice,
    /// Names of entities and people in the events, by id or actor.
    pub names: Vec<(String, String)>,
    /// Whether memories of the session can be rated at all: nothing is recorded of private sessions.
    pub is_rated: bool,
}

/// Everything that the page of a session shows.
#[derive(Debug)]
pub struct Page {
    /// Everything except the log.
    pub around: Around,
    /// The shown part of the log.
    pub events: Events,
    /// Whether the log has events before this part.
    pub has_earlier: bool,
    /// Whether the log has events after this part.
    pub has_later: bool,
    /// The position at which the page opens.
    pub opens_at: OpensAt,
}

/// Reads a session's page. `kinds` gets the number of events of each kind and returns the kinds to show; an
/// empty list selects all kinds.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session or the caller cannot see it; [`Error::Invalid`] if `kinds` returns a
/// wrong kind or too many of them.
pub async fn read(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    window: LogWindow,
    kinds: impl FnOnce(&[(String, u64)]) -> Vec<String> + Send + 'static,
) -> Result<Page> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let known = event::counted(ledger, scope, id);
    let read = ledger.snapshot(scope, async move |conn| {
        let (around, counts) = around_on(conn, &reader, id, known, (now, true)).await?;
        let session = &around.session;
        let (read, opens_at) = wanted(session, around.error_sequence, window);
        let mut read = Read { kinds: kinds(&around.kind_counts), limit: EVENTS, ..read };
        let (mut events, mut is_more_before) = events_on(conn, session, &read).await?;
        if let LogWindow::Around(sequence) = window
            && !events.slice.events.iter().any(|event| event.sequence == sequence)
        {
            // Large events behind it filled the page.
            read.before_sequence = Some(sequence.min(session.head_sequence) + 1);
            (events, is_more_before) = events_on(conn, session, &read).await?;
        }
        let has_more = events.slice.has_more;
        let (has_earlier, has_later) = match read.before_sequence {
            Some(before) => (has_more, before <= session.head_sequence),
            None => (is_more_before.unwrap_or(read.after_sequence.is_some_and(|after| after > 0)), has_more),
        };
        Ok((Page { around, events, has_earlier, has_later, opens_at }, counts))
    });
    let (page, counts) = read.await?;
    event::remember(ledger, scope, id, counts);
    Ok(page)
}

/// Reads the page without any part of the log, and without what a response can become or which calls wait. Used to
/// refresh it while a session is running.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session or the caller cannot see it.
pub async fn around(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Around> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let known = event::counted(ledger, scope, id);
    let read = ledger.snapshot(scope, async move |conn| around_on(conn, &reader, id, known, (now, false)).await);
    let (around, counts) = read.await?;
    event::remember(ledger, scope, id, counts);
    Ok(around)
}

/// Reads further events of a log. `kinds` selects them as in [`read`]. Without it, nothing is counted and all
/// kinds are returned.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session or the caller cannot see it; [`Error::Invalid`] for a limit above
/// 1,000, for both sequences at once, or if `kinds` returns a wrong kind or too many of them.
pub async fn events(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    read: Read,
    kinds: Option<impl FnOnce(&[(String, u64)]) -> Vec<String> + Send + 'static>,
) -> Result<Events> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let known = event::counted(ledger, scope, id);
    let read = ledger.snapshot(scope, async move |conn| {
        let session = session::get_on(conn, &reader, id).await?;
        let (kinds, counts) = match kinds {
            Some(kinds) => {
                let counts = event::kind_counts_on(conn, &session, known).await?;
                (kinds(&counts.to_vec()), Some(counts))
            }
            None => (Vec::new(), None),
        };
        let read = Read { kinds, ..read };
        // Who reads forward has the calls already: their results alone are new.
        let events = match read.before_sequence {
            Some(_) => events_on(conn, &session, &read).await?.0,
            None => {
                let slice = event::read_on(conn, &session, &read).await?;
                named(conn, &session, slice).await?
            }
        };
        Ok((events, counts))
    });
    let (events, counts) = read.await?;
    if let Some(counts) = counts {
        event::remember(ledger, scope, id, counts);
    }
    Ok(events)
}

/// Returns which events to read for a window, and the position at which the page opens.
fn wanted(session: &Session, error_sequence: Option<u64>, window: LogWindow) -> (Read, OpensAt) {
    let before = |before: u64| Read { before_sequence: Some(before), ..Read::default() };
    let after = |after: u64| Read { after_sequence: Some(after), ..Read::default() };
    let end = session.head_sequence + 1;
    match (window, error_sequence) {
        (LogWindow::Before(sequence), _) => (before(sequence), OpensAt::Start),
        (LogWindow::After(sequence), _) => (after(sequence), OpensAt::Start),
        (LogWindow::Around(sequence), _) => (before(sequence.saturating_add(BEYOND_TARGET).min(end)), OpensAt::Start),
        (LogWindow::End, _) => (before(end), OpensAt::End),
        (LogWindow::Fitting, _) if !session.status().is_final() => (before(end), OpensAt::End),
        (LogWindow::Fitting, Some(error)) => (before((error + BEYOND_TARGET).min(end)), OpensAt::Start),
        (LogWindow::Fitting, None) => (after(0), OpensAt::Start),
    }
}

/// Returns the sequence of the last error of a session that failed.
async fn error_of(conn: &mut Conn<'_>, session: &Session) -> Result<Option<u64>> {
    if session.status() != Status::Failed {
        return Ok(None);
    }
    let before_sequence = Some(session.head_sequence + 1);
    let last =
        Read { kinds: vec![Known::SessionError.as_str().to_owned()], limit: 1, before_sequence, ..Read::default() };
    Ok(event::read_on(conn, session, &last).await?.events.first().map(|error| error.sequence))
}

/// Reads a part of a log. Backwards, or as a page of its own, it begins with the call of its first tool result. Returns
/// with it whether there are events before it, if that was found out.
async fn events_on(conn: &mut Conn<'_>, session: &Session, read: &Read) -> Result<(Events, Option<bool>)> {
    let mut slice = event::read_on(conn, session, read).await?;
    let is_more_before = with_calls(conn, session, read, &mut slice).await?;
    if let (Some(is_more), Some(_)) = (is_more_before, read.before_sequence) {
        slice.has_more = is_more;
    }
    Ok((named(conn, session, slice).await?, is_more_before))
}

async fn named(conn: &mut Conn<'_>, session: &Session, slice: Slice) -> Result<Events> {
    let names = names(conn, session.tenant_id, &slice.events).await?;
    Ok(Events { slice, names, is_rated: !session.is_private() })
}

async fn around_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    id: SessionId,
    known: KindCounts,
    (now, offers): (Timestamp, bool),
) -> Result<(Around, KindCounts)> {
    let tenant_id = scope.tenant_id;
    let session = session::get_on(conn, scope, id).await?;
    let counts = event::kind_counts_on(conn, &session, known).await?;
    let parent = match session.parent_id {
        Some(parent) => Some(session::get_on(conn, scope, parent).await?),
        None => None,
    };
    let children = ListSessions { parent_id: Some(id), limit: CHILDREN_MAX, ..ListSessions::default() };
    let children = session::list_on(conn, scope, ListQuery::of(scope, children, now)?).await?;
    let retries = match session.status().is_final() {
        true => session::retries_on(conn, scope, id, CHILDREN_MAX).await?,
        false => Vec::new(),
    };
    let action = match session.action_id {
        Some(id) => {
            let action = store::action::find(conn, tenant_id, id).await?;
            Some(action.ok_or(Error::NotFound("action"))?)
        }
        None => None,
    };
    let gate = match session.status() {
        Status::WaitingHuman | Status::AwaitingTool => gate::of_sessions_on(conn, scope, &[id], now).await?.pop(),
        _ => None,
    };
    let promotion = promotion(conn, scope, &session, (now, offers)).await?;
    let output = match session.session_type {
        Type::Tool => store::tool_run_output::find(conn, tenant_id, id).await?,
        Type::Agent | Type::Response | Type::Mixed => None,
    };
    let continuation = continuation(conn, scope, &session, gate.is_some()).await?;
    let assignee = match session.assignee {
        Some(member) => store::user::find_any_member(conn, tenant_id, member).await?,
        None => None,
    };
    let around = Around {
        assignee: assignee.map(|member| member.display_name().to_owned()),
        promotion,
        output,
        parent,
        has_more_children: children.next_cursor.is_some(),
        children: children.items,
        retries,
        related: session::related_on(conn, scope, &session).await?,
        kind_counts: counts.to_vec(),
        action_status: action.as_ref().map(|action| action.status),
        action_name: action.map(|action| action.name),
        timeline: event::timeline(conn, &session).await?,
        failure: store::failure::of_sessions(conn, tenant_id, &[id]).await?.pop(),
        alike: alike_on(conn, scope, id).await?,
        error_sequence: error_of(conn, &session).await?,
        gate,
        continuation,
        session,
    };
    Ok((around, counts))
}
