//! The session record, and how it changes when a transition is applied.

use super::{
    command::{Actor, Command},
    graph::WaitsFor,
    state::{Ended, Lease, State},
    status::{EndReason, Status, Type},
    time_limits::TimeLimits,
    transition::{Next, Position, Refusal, Transition, decide},
};
use crate::{
    Timestamp,
    chain::Digest,
    id::{ActionId, EntityId, SessionId, TenantId, UserId},
    limit::ATTEMPTS_MAX,
    thread::is_incognito,
};
use chrono::TimeDelta;

/// Title of a session that was given none and executes no action.
pub const UNTITLED: &str = "Untitled";

/// One execution of an action, of a conversation, or of a person's own work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Workspace that the session belongs to.
    pub tenant_id: TenantId,
    /// Id of the session.
    pub id: SessionId,
    /// Kind of work. Set at creation.
    pub session_type: Type,
    /// Present state, with the data that belongs to it.
    pub state: State,
    /// Action that the session executes; `None` for a session without one.
    pub action_id: Option<ActionId>,
    /// Slug of that action at the time the session was created.
    pub action_slug: Option<String>,
    /// Slug of the agent whose workers may claim the session. `None`: workers that name agents never claim it.
    pub agent_slug: Option<String>,
    /// Person the session belongs to: the owner of a human session, or the person who created it.
    pub user_id: Option<UserId>,
    /// Entity the session is about: the target of the action at creation, or the entity of the parent session.
    pub entity_id: Option<EntityId>,
    /// Part of the product or program that created the session, such as `human-session-bridge`.
    pub source: Option<String>,
    /// Title that pages show.
    pub title: String,
    /// Input: a JSON text, stored as it was sent.
    pub input: Option<String>,
    /// Metadata: the text of a JSON object, stored as it was sent.
    pub metadata: String,
    /// Usage that the worker reported: the text of a JSON object. [`super::Usage::read`] reads it.
    pub usage: Option<String>,
    /// Session that started this one.
    pub parent_id: Option<SessionId>,
    /// Ended session that this one retries.
    pub retry_of: Option<SessionId>,
    /// Caller that created the session: `user:…`, `token:…`, `agent:…` or `system`.
    pub created_by: String,
    /// Number of claims so far. It is the fencing token of the worker's calls.
    pub attempt: u32,
    /// Number of claims after which a lost lease fails the session.
    pub attempts_max: u32,
    /// Sequence of the newest event; 0 without events.
    pub head_sequence: u64,
    /// Digest of the newest event; [`Digest::GENESIS`] without events.
    pub head_digest: Digest,
    /// Time of creation (UTC).
    pub created_at: Timestamp,
    /// Time of the last change of the row (UTC).
    pub updated_at: Timestamp,
    /// Time at which the session last became pending (UTC).
    pub queued_at: Option<Timestamp>,
    /// Time at which the session was first claimed or began (UTC).
    pub started_at: Option<Timestamp>,
    /// Time limits of the statuses, copied from the action at creation.
    pub time_limits: TimeLimits,
    /// Number of sessions that this one depends on.
    pub dependency_count: u32,
    /// Whether another session depends on this one, or did so once.
    pub awaited: bool,
    /// Caller that began an incognito conversation, in the form of `created_by`. No one else may see the
    /// session.
    pub private_to: Option<String>,
    /// Tags, in the order of the alphabet. They can change after the end.
    pub tags: Vec<String>,
    /// Member who looks after the session. It can change after the end.
    pub assignee: Option<UserId>,
}

/// Data that comes with a command besides the new status. Each field is used only by the states that store it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Lease of the worker. `None`: a session that remains running keeps its present lease.
    pub lease: Option<Lease>,
    /// Whether an idle session resumes when the sessions that it started have ended.
    pub waits_for_children: bool,
    /// Usage as the text of a JSON object. It replaces the usage reported before; `None` keeps that.
    pub usage: Option<String>,
    /// Result of a session that ends, as a JSON text.
    pub result: Option<String>,
    /// Error message of a session that ends, for people.
    pub error_message: Option<String>,
    /// Error code of a session that ends, for programs.
    pub error_code: Option<String>,
}

impl Report {
    /// Returns the report of an error with a message for people and a code for programs.
    pub fn error(message: impl Into<String>, code: impl Into<String>) -> Self {
        Self { error_message: Some(message.into()), error_code: Some(code.into()), ..Self::default() }
    }
}

impl Session {
    /// A draft without events, with what every session has. Whoever creates it sets the rest.
    pub fn draft(
        tenant_id: TenantId,
        id: SessionId,
        session_type: Type,
        title: String,
        created_by: String,
        at: Timestamp,
    ) -> Self {
        Self {
            tenant_id,
            id,
            session_type,
            state: State::Draft { waits_for_dependencies: false },
            action_id: None,
            action_slug: None,
            agent_slug: None,
            user_id: None,
            entity_id: None,
            source: None,
            title,
            input: None,
            metadata: "{}".into(),
            usage: None,
            parent_id: None,
            retry_of: None,
            created_by,
            attempt: 0,
            attempts_max: ATTEMPTS_MAX,
            head_sequence: 0,
            head_digest: Digest::GENESIS,
            created_at: at,
            updated_at: at,
            queued_at: None,
            started_at: None,
            time_limits: TimeLimits::default(),
            dependency_count: 0,
            awaited: false,
            private_to: None,
            tags: Vec::new(),
            assignee: None,
        }
    }

    /// Begins a draft that no worker claims.
    ///
    /// # Errors
    /// The [`Refusal`] of the command to start.
    pub fn start(&mut self, actor: Actor, at: Timestamp) -> Result<(), Refusal> {
        let started = decide(self.position(), actor, Command::Start)?;
        self.enter(started, Report::default(), at);
        self.started_at = Some(at);
        Ok(())
    }

    /// The status that corresponds to the state.
    pub const fn status(&self) -> Status {
        self.state.status()
    }

    /// The reason for which the session ended; `None` while it is not final.
    pub fn end_reason(&self) -> Option<EndReason> {
        self.ended().map(|ended| ended.end.reason())
    }

    /// Time at which the session became final (UTC).
    pub fn completed_at(&self) -> Option<Timestamp> {
        self.ended().map(|ended| ended.at)
    }

    /// Result of an ended session: a JSON text, as the worker sent it. `None` too if it was left out.
    pub fn result(&self) -> Option<&str> {
        self.ended().and_then(|ended| ended.result.as_deref())
    }

    /// Whether the session has a result that was left out when it was read, because it is large.
    pub fn result_left_out(&self) -> bool {
        self.ended().is_some_and(|ended| ended.result_left_out)
    }

    /// Error message of an ended session, for people.
    pub fn error_message(&self) -> Option<&str> {
        self.ended().and_then(|ended| ended.error_message.as_deref())
    }

    /// Error code of an ended session, for programs.
    pub fn error_code(&self) -> Option<&str> {
        self.ended().and_then(|ended| ended.error_code.as_deref())
    }

    /// Time by which a heartbeat extends the lease, seconds; `None` without a lease.
    pub fn lease_seconds(&self) -> Option<u32> {
        self.state.lease().map(|lease| lease.seconds)
    }

    /// Time at which the lease expires (UTC); `None` without a lease.
    pub fn lease_expires_at(&self) -> Option<Timestamp> {
        self.state.lease().map(|lease| lease.expires_at)
    }

    /// Time at which the limit of the present status passes (UTC); `None` without a limit.
    pub const fn deadline_at(&self) -> Option<Timestamp> {
        self.state.deadline_at()
    }

    /// Sessions that a draft or an idle session waits for; `None` if it waits for none.
    pub const fn waits_for(&self) -> Option<WaitsFor> {
        self.state.waits_for()
    }

    /// Whether the session is an incognito conversation or belongs to one. It names no one in ratings and is not
    /// captured. What a task makes of a private response is marked by `private_to` only.
    pub fn is_private(&self) -> bool {
        self.private_to.is_some() || is_incognito(&self.metadata)
    }

    /// The part of the session that [`super::decide`] needs.
    pub const fn position(&self) -> Position {
        Position {
            status: self.status(),
            session_type: self.session_type,
            attempt: self.attempt,
            attempts_max: self.attempts_max,
        }
    }

    /// Applies an accepted transition. A new status gets a new deadline; an unchanged status keeps its
    /// deadline.
    pub fn enter(&mut self, transition: Transition, report: Report, now: Timestamp) {
        let to = transition.to();
        let deadline_at = if to == self.status() { self.deadline_at() } else { deadline(&self.time_limits, to, now) };
        self.state = match transition.next {
            Next::Pending => State::Pending { deadline_at },
            Next::Running => State::Running { lease: report.lease.or(self.state.lease()), deadline_at },
            Next::WaitingHuman => State::WaitingHuman { deadline_at },
            Next::AwaitingTool => State::AwaitingTool { deadline_at },
            Next::Idle => State::Idle { waits_for_children: report.waits_for_children, deadline_at },
            Next::Ended(end) => State::Ended(Ended {
                end,
                at: now,
                result: report.result,
                result_left_out: false,
                error_message: report.error_message,
                error_code: report.error_code,
            }),
        };
        self.attempt = transition.attempt;
        if report.usage.is_some() {
            self.usage = report.usage;
        }
    }

    fn ended(&self) -> Option<&Ended> {
        self.state.ended()
    }
}

/// Returns the time at which the limit of a status that begins at `now` passes; `None` without a limit.
pub fn deadline(limits: &TimeLimits, status: Status, now: Timestamp) -> Option<Timestamp> {
    limits.of(status).map(|seconds| now + TimeDelta::seconds(i64::from(seconds)))
}

#[cfg(test)]
mod tests {
    use super::super::{COMMANDS, End};
    use super::*;
    use crate::clock::from_micros;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn draft(session_type: Type, time_limits: TimeLimits) -> Session {
        let (tenant_id, id, at) = (TenantId(Uuid::nil()), SessionId(Uuid::nil()), from_micros(0));
        Session { time_limits, ..Session::draft(tenant_id, id, session_type, "Compare".into(), "system".into(), at) }
    }

    fn go(session: &mut Session, actor: Actor, command: Command, report: Report, now: i64) {
        let transition = decide(session.position(), actor, command).unwrap();
        session.enter(transition, report, from_micros(now));
    }

    #[test]
    fn each_state_has_the_data_that_the_command_reported() {
        let limits = TimeLimits { pending_seconds: None, running_seconds: Some(1), waiting_seconds: None };
        let mut session = draft(Type::Agent, limits);
        go(&mut session, Actor::Caller, Command::Start, Report::default(), 1);
        assert_eq!(session.state, State::Pending { deadline_at: None });
        let lease = Some(Lease { seconds: 60, expires_at: from_micros(60_000_002) });
        go(&mut session, Actor::Caller, Command::Claim, Report { lease, ..Report::default() }, 2);
        let running = State::Running { lease, deadline_at: Some(from_micros(1_000_002)) };
        assert_eq!((&session.state, session.attempt), (&running, 1));
        // Lease and deadline are kept while the session remains running.
        let worker = Actor::Worker { attempt: 1 };
        go(&mut session, worker, Command::Append, Report { usage: Some("{}".into()), ..Report::default() }, 3);
        assert_eq!((&session.state, session.usage.as_deref()), (&running, Some("{}")));
        go(&mut session, worker, Command::Fail, Report::error("no", "broken"), 4);
        assert_eq!((session.status(), session.end_reason()), (Status::Failed, Some(EndReason::Error)));
        assert_eq!(
            (session.error_message(), session.error_code(), session.result()),
            (Some("no"), Some("broken"), None)
        );
        assert_eq!((session.completed_at(), session.lease_expires_at()), (Some(from_micros(4)), None));
        assert_eq!(session.state.ended().map(|ended| ended.end), Some(End::Error));
        assert_eq!(session.usage.as_deref(), Some("{}"), "what was said before counts where nothing new is said");
    }

    #[test]
    fn a_resting_session_says_whether_it_waits_for_its_children() {
        for waits_for_children in [false, true] {
            let mut session = draft(Type::Agent, TimeLimits::default());
            go(&mut session, Actor::Caller, Command::Start, Report::default(), 1);
            let lease = Some(Lease { seconds: 60, expires_at: from_micros(9) });
            go(&mut session, Actor::Caller, Command::Claim, Report { lease, ..Report::default() }, 2);
            let rests = Command::Yield(super::super::YieldTo::Idle);
            let report = Report { waits_for_children, ..Report::default() };
            go(&mut session, Actor::Worker { attempt: 1 }, rests, report, 3);
            assert_eq!(session.waits_for(), waits_for_children.then_some(WaitsFor::Children));
            go(&mut session, Actor::Server, Command::Resume, Report::default(), 4);
            assert_eq!(session.waits_for(), None);
        }
    }

    proptest! {
        #[test]
        fn the_state_says_what_the_transition_said(steps in prop::collection::vec((0..COMMANDS.len(), 0..3_usize), 1..40),
                                                  kind in 0..4_usize) {
            let mut session = draft(Type::ALL[kind], TimeLimits::default());
            let lease = Some(Lease { seconds: 60, expires_at: from_micros(9) });
            for (command, actor) in steps {
                let command = COMMANDS[command];
                let actor = [Actor::Worker { attempt: session.attempt }, Actor::Caller, Actor::Server][actor];
                let Ok(transition) = decide(session.position(), actor, command) else { continue };
                let lease = lease.filter(|_| matches!(command, Command::Claim | Command::Wake));
                session.enter(transition, Report { lease, ..Report::default() }, from_micros(1));
                prop_assert_eq!(session.status(), transition.to());
                prop_assert_eq!(session.end_reason(), transition.end_reason());
                prop_assert_eq!(session.attempt, transition.attempt);
                prop_assert_eq!(session.completed_at().is_some(), session.status().is_final());
                // A running session has a lease if and only if a worker has claimed it.
                let is_held = session.status() == Status::Running && session.attempt > 0;
                prop_assert_eq!(session.lease_expires_at().is_some(), is_held);
            }
        }
    }
}
