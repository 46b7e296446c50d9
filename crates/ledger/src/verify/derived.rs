//! The columns of a row that change while its session is open, as they follow from the session's log.

use crate::commit::{
    bound_row::{RecordedStatusChange, RowBinding, may_report_usage, usage_digest_of},
    is_reported, is_thread,
};
use domain::{
    Timestamp,
    chain::Digest,
    event::{
        Body, Event, Known,
        kind::{AssigneeChange, TagsChange},
    },
    id::UserId,
    session::{End, Session, Status, deadline, tag::applied},
    tool::run::ToolRun,
};

/// What the events so far say of the row.
#[derive(Debug)]
pub(super) struct Derived {
    /// Whether a status change cannot be read, so that nothing is compared.
    is_unreadable: bool,
    status: Status,
    /// Time of the last status change.
    since: Option<Timestamp>,
    /// Attempt of the last claim; 0 before the first.
    attempt: u32,
    first_queued_at: Option<Timestamp>,
    queued_at: Option<Timestamp>,
    started_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    usage: Usage,
    tags: Vec<String>,
    assignee: Option<UserId>,
    /// Whether a change of tags or of the assignee cannot be read, so that neither is compared.
    has_unreadable_label: bool,
}

/// What the log says of the usage.
#[derive(Debug, Clone, Copy)]
enum Usage {
    /// No worker had an occasion to report any.
    None,
    /// It has this digest.
    To(Digest),
    /// A worker may have reported some, but the event is of an earlier version, or of one that is not known.
    Unbound,
}

impl Derived {
    /// The row of a session without events.
    pub(super) const fn new() -> Self {
        Self {
            is_unreadable: false,
            status: Status::Draft,
            since: None,
            attempt: 0,
            first_queued_at: None,
            queued_at: None,
            started_at: None,
            updated_at: None,
            usage: Usage::None,
            tags: Vec::new(),
            assignee: None,
            has_unreadable_label: false,
        }
    }

    /// Takes the time of an event of any kind.
    pub(super) const fn saw(&mut self, event: &Event) {
        self.updated_at = Some(event.recorded_at);
    }

    /// Takes a `session.claimed`.
    pub(super) fn claimed(&mut self, event: &Event) {
        self.attempt = event.attempt.unwrap_or(self.attempt);
    }

    /// Takes a `session.status_change`; `change` is `None` if it cannot be read. The time that counts is the one of the
    /// server, because the hooks of coding agents give times of their own.
    pub(super) fn changed(&mut self, event: &Event, change: Option<&RecordedStatusChange>) {
        let Some(change) = change else {
            self.is_unreadable = true;
            return;
        };
        let now = Some(event.recorded_at);
        (self.status, self.since) = (change.to, now);
        if change.to == Status::Pending && change.from != Some(Status::Pending) {
            self.queued_at = now;
            self.first_queued_at = self.first_queued_at.or(now);
        }
        if change.to == Status::Running {
            self.started_at = self.started_at.or(now);
        }
        self.usage = match change.usage {
            RowBinding::To(digest) => Usage::To(digest),
            RowBinding::Unknown => Usage::Unbound,
            RowBinding::Not if may_report_usage(change.from, change.to, self.attempt) => Usage::Unbound,
            RowBinding::Not => self.usage,
        };
    }

    /// Takes a change of tags or of the assignee.
    pub(super) fn labelled(&mut self, event: &Event) {
        match event.body() {
            Body::SessionTagsChange(TagsChange { added, removed }) => self.tags = applied(&self.tags, &added, &removed),
            Body::SessionAssigneeChange(AssigneeChange { to, .. }) => self.assignee = to,
            Body::Unreadable(Known::SessionTagsChange | Known::SessionAssigneeChange) => {
                self.has_unreadable_label = true;
            }
            _ => {}
        }
    }

    /// Returns the column with tags or assignee that contradicts the log; `None` if neither does. Every version that
    /// has these columns records their changes.
    pub(super) fn contradicted_label(&self, session: &Session) -> Option<&'static str> {
        if self.has_unreadable_label {
            return None;
        }
        let columns = [("tags", session.tags == self.tags), ("assignee", session.assignee == self.assignee)];
        columns.into_iter().find_map(|(column, is_same)| (!is_same).then_some(column))
    }

    /// Returns the first column of the row that contradicts the log; `None` if no column does.
    pub(super) fn contradicted(&self, session: &Session) -> Option<&'static str> {
        if self.is_unreadable {
            return None;
        }
        // The session of a coding agent keeps its first place: no worker takes it from the queue.
        let queued_at = if is_reported(session) { self.first_queued_at } else { self.queued_at };
        let columns = [
            ("status", session.status() == self.status),
            ("attempt", session.attempt == self.attempt),
            ("queued_at", session.queued_at == queued_at),
            ("started_at", session.started_at == self.started_at),
            ("updated_at", Some(session.updated_at) == self.updated_at),
            ("deadline_at", self.has_its_deadline(session)),
            // An idle session waits for what its worker asked for, which no event records.
            ("waits_for", session.status() != Status::Draft || waits(session) == (session.dependency_count > 0)),
            ("usage", self.has_its_usage(session)),
        ];
        columns.into_iter().find_map(|(column, is_same)| (!is_same).then_some(column))
    }

    fn has_its_deadline(&self, session: &Session) -> bool {
        // The limits of a run are set after the deadline for its first claim.
        let is_new_run = session.status() == Status::Pending && ToolRun::of_session(session).is_some();
        let of_status = |since| deadline(&session.time_limits, session.status(), since);
        session.status().is_final() || is_new_run || session.deadline_at() == self.since.and_then(of_status)
    }

    fn has_its_usage(&self, session: &Session) -> bool {
        match self.usage {
            _ if !keeps_usage(session) => true,
            Usage::None => session.usage.is_none(),
            Usage::To(digest) => digest == usage_digest_of(session),
            Usage::Unbound => true,
        }
    }
}

fn waits(session: &Session) -> bool {
    session.waits_for().is_some()
}

/// Whether the usage is still the one that was last reported while the session was open. An end at which usage may be
/// reported is not compared: the digest of the row covers what it was then.
fn keeps_usage(session: &Session) -> bool {
    match session.state.ended().map(|ended| ended.end) {
        None => true,
        Some(End::Done | End::Error | End::HardBlock) => false,
        // The end of a conversation, whose agent may be asked for a summary.
        Some(End::Cancelled) => !is_thread(session),
        Some(
            End::Superseded
            | End::LeaseExhausted
            | End::Rejected
            | End::DependencyFailed
            | End::LeftOpen
            | End::TimedOut,
        ) => true,
    }
}
