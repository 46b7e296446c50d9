//! What a session waited for last, as its log tells.

use domain::{
    event::{Body, Event, Known},
    session::{Session, Status},
};
use store::{Conn, Result};

/// Number of status changes that are read at once. A lease that was lost or released makes two.
const CHANGES_READ: u32 = 10;

/// The last wait of a session that continues: the worker's yield, and the change that queued the session again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait {
    /// Status in which the session waited.
    pub(crate) status: Status,
    /// Attempt that yielded the session; `None` if no worker did.
    pub(crate) attempt: Option<u32>,
    /// Sequence of the change to that status.
    pub(crate) began: u64,
    /// Sequence of the change that queued the session again.
    pub(crate) ended: u64,
}

/// A status change of a log.
struct StatusChange {
    from: Option<Status>,
    to: Option<Status>,
    attempt: Option<u32>,
    sequence: u64,
}

impl StatusChange {
    fn read(event: &Event) -> Self {
        let (from, to) = match event.body() {
            Body::SessionStatusChange(change) => (change.from, Some(change.to)),
            _ => (None, None),
        };
        Self { from, to, attempt: event.attempt, sequence: event.sequence }
    }
}

/// Returns the wait that queued a session last. Leases that were lost or released since are skipped. `None` if the
/// session was queued without a wait, such as when it was created.
pub(crate) async fn last_wait(conn: &mut Conn<'_>, session: &Session) -> Result<Option<Wait>> {
    let kinds = [Known::SessionStatusChange.as_str().to_owned()];
    let (mut before, mut ended) = (session.head_sequence + 1, None);
    loop {
        let page = store::event::before(conn, session.tenant_id, session.id, before, &kinds, CHANGES_READ).await?;
        let Some(oldest) = page.items.first() else { return Ok(None) };
        before = oldest.sequence;
        for change in page.items.iter().rev().map(StatusChange::read) {
            let Some((status, ended)) = ended else {
                match (change.from, change.to) {
                    (Some(Status::Running), Some(Status::Pending)) | (Some(Status::Pending), Some(Status::Running)) => {
                    }
                    (Some(from @ (Status::WaitingHuman | Status::AwaitingTool | Status::Idle)), _) => {
                        ended = Some((from, change.sequence));
                    }
                    _ => return Ok(None),
                }
                continue;
            };
            if change.to == Some(status) {
                return Ok(Some(Wait { status, attempt: change.attempt, began: change.sequence, ended }));
            }
        }
    }
}

/// Returns the sequence of the newest change to waiting for a tool; `None` if the session never waited for one.
pub(crate) async fn awaited_tool_since(conn: &mut Conn<'_>, session: &Session) -> Result<Option<u64>> {
    let kinds = [Known::SessionStatusChange.as_str().to_owned()];
    let mut before = session.head_sequence + 1;
    loop {
        let page = store::event::before(conn, session.tenant_id, session.id, before, &kinds, CHANGES_READ).await?;
        let Some(oldest) = page.items.first() else { return Ok(None) };
        before = oldest.sequence;
        let mut newest_first = page.items.iter().rev().map(StatusChange::read);
        if let Some(change) = newest_first.find(|change| change.to == Some(Status::AwaitingTool)) {
            return Ok(Some(change.sequence));
        }
    }
}
