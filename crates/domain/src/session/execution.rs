//! A session: one execution, with its state.

use super::{
    graph::WaitsFor,
    state::{Ended, Lease, State},
    status::{EndReason, Status, Type},
    time_limits::TimeLimits,
    transition::{Next, Position, Transition},
};
use crate::{
    Timestamp,
    chain::Digest,
    id::{ActionId, EntityId, SessionId, TenantId, UserId},
};
use chrono::TimeDelta;

/// One execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The workspace.
    pub tenant_id: TenantId,
    /// Its id.
    pub id: SessionId,
    /// What kind of work.
    pub session_type: Type,
    /// Where it stands.
    pub state: State,
    /// The action it executes.
    pub action_id: Option<ActionId>,
    /// That action's slug when the session was made.
    pub action_slug: Option<String>,
    /// The agent that may claim it.
    pub agent_slug: Option<String>,
    /// The person it belongs to: a human session's owner, or who made it.
    pub user_id: Option<UserId>,
    /// The entity it is about: its action's target when it was made, or its parent's entity.
    pub entity_id: Option<EntityId>,
    /// What made it, e.g. `human-session-bridge`.
    pub source: Option<String>,
    /// For people.
    pub title: String,
    /// JSON, as sent.
    pub input: Option<String>,
    /// JSON object, as sent.
    pub metadata: String,
    /// JSON object, as the worker sent it.
    pub usage: Option<String>,
    /// The session that started this one.
    pub parent_id: Option<SessionId>,
    /// The session this one repeats.
    pub retry_of: Option<SessionId>,
    /// `user:…`, `token:…` or `system`.
    pub created_by: String,
    /// Claims so far: the fencing token.
    pub attempt: u32,
    /// Claims after which a lost lease fails it.
    pub attempts_max: u32,
    /// Sequence of the newest event.
    pub head_sequence: u64,
    /// Digest of the newest event.
    pub head_digest: Digest,
    /// When it was made.
    pub created_at: Timestamp,
    /// When the row last changed.
    pub updated_at: Timestamp,
    /// When it last joined the queue.
    pub queued_at: Option<Timestamp>,
    /// When it was first claimed or begun.
    pub started_at: Option<Timestamp>,
    /// How long it may stand where it stands: its action's limits when it was made.
    pub time_limits: TimeLimits,
    /// How many sessions it depends on.
    pub dependency_count: u32,
    /// Whether others depend on it, or did.
    pub awaited: bool,
    /// Who alone may know of it, as in `created_by`: whoever began an incognito conversation.
    pub private_to: Option<String>,
}

/// What a command tells of a session besides its new status. Each member counts only in the state that has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The worker's hold; a running session that nobody else takes keeps the one it has.
    pub lease: Option<Lease>,
    /// Whether a resting session goes on once those it started have ended.
    pub waits_for_children: bool,
    /// JSON object; replaces what was said before, where it is given.
    pub usage: Option<String>,
    /// JSON of an ended session.
    pub result: Option<String>,
    /// What went wrong, for people.
    pub error_message: Option<String>,
    /// What went wrong, for machines.
    pub error_code: Option<String>,
}

impl Report {
    /// An error.
    pub fn error(message: impl Into<String>, code: impl Into<String>) -> Self {
        Self { error_message: Some(message.into()), error_code: Some(code.into()), ..Self::default() }
    }
}

impl Session {
    /// The name of its state.
    pub const fn status(&self) -> Status {
        self.state.status()
    }

    /// Why it ended.
    pub fn end_reason(&self) -> Option<EndReason> {
        self.ended().map(|ended| ended.end.reason())
    }

    /// When it became final.
    pub fn completed_at(&self) -> Option<Timestamp> {
        self.ended().map(|ended| ended.at)
    }

    /// JSON, as the worker sent it.
    pub fn result(&self) -> Option<&str> {
        self.ended().and_then(|ended| ended.result.as_deref())
    }

    /// What went wrong, for people.
    pub fn error_message(&self) -> Option<&str> {
        self.ended().and_then(|ended| ended.error_message.as_deref())
    }

    /// What went wrong, for machines.
    pub fn error_code(&self) -> Option<&str> {
        self.ended().and_then(|ended| ended.error_code.as_deref())
    }

    /// How long a heartbeat extends the lease.
    pub fn lease_seconds(&self) -> Option<u32> {
        self.state.lease().map(|lease| lease.seconds)
    }

    /// When the lease runs out.
    pub fn lease_expires_at(&self) -> Option<Timestamp> {
        self.state.lease().map(|lease| lease.expires_at)
    }

    /// When its present status runs out.
    pub const fn deadline_at(&self) -> Option<Timestamp> {
        self.state.deadline_at()
    }

    /// What it waits for, as a draft or idle.
    pub const fn waits_for(&self) -> Option<WaitsFor> {
        self.state.waits_for()
    }

    /// What a decision needs to know of it.
    pub const fn position(&self) -> Position {
        Position {
            status: self.status(),
            session_type: self.session_type,
            attempt: self.attempt,
            attempts_max: self.attempts_max,
        }
    }

    /// Goes where a decision leads.
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

/// When a status that begins now runs out.
pub fn deadline(limits: &TimeLimits, status: Status, now: Timestamp) -> Option<Timestamp> {
    limits.of(status).map(|seconds| now + TimeDelta::seconds(i64::from(seconds)))
}

#[cfg(test)]
mod tests {
    use super::super::{Actor, COMMANDS, Command, End, decide};
    use super::*;
    use crate::clock::from_micros;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn draft(session_type: Type, time_limits: TimeLimits) -> Session {
        Session {
            tenant_id: TenantId(Uuid::nil()),
            id: SessionId(Uuid::nil()),
            session_type,
            state: State::Draft { waits_for_dependencies: false },
            action_id: None,
            action_slug: None,
            agent_slug: None,
            user_id: None,
            entity_id: None,
            source: None,
            title: "Compare".into(),
            input: None,
            metadata: "{}".into(),
            usage: None,
            parent_id: None,
            retry_of: None,
            created_by: "system".into(),
            attempt: 0,
            attempts_max: 3,
            head_sequence: 0,
            head_digest: Digest::GENESIS,
            created_at: from_micros(0),
            updated_at: from_micros(0),
            queued_at: None,
            started_at: None,
            time_limits,
            dependency_count: 0,
            awaited: false,
            private_to: None,
        }
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
        // Lease and limit go on while it goes on running.
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
                let lease = lease.filter(|_| command == Command::Claim);
                session.enter(transition, Report { lease, ..Report::default() }, from_micros(1));
                prop_assert_eq!(session.status(), transition.to());
                prop_assert_eq!(session.end_reason(), transition.end_reason());
                prop_assert_eq!(session.attempt, transition.attempt);
                prop_assert_eq!(session.completed_at().is_some(), session.status().is_final());
                // A session runs under a lease exactly when a worker claimed it.
                let is_held = session.status() == Status::Running && session.attempt > 0;
                prop_assert_eq!(session.lease_expires_at().is_some(), is_held);
            }
        }
    }
}
