//! The status machine: [`decide`], a total function that returns what each command does in each status.
//!
//! The store applies a transition as a compare-and-set on the old status and, for a worker, on the attempt. The
//! same transaction writes the `session.status_change` event.

use super::{
    command::{
        Actor,
        Command::{
            self, Abandon, Append, Approve, Ask, Begin, Block, Cancel, Claim, Complete, Deny, Expire, Fail, FailRun,
            Finish, Heartbeat, Interrupt, Leave, LoseLease, Release, Rest, Resume, SendMessage, Skip, Start, Stop,
            Submit, Supersede, Wake, Yield,
        },
        YieldTo,
    },
    state::End,
    status::{
        EndReason,
        Status::{
            self, Abandoned, AwaitingTool, Completed, Draft, Expired, Failed, Idle, Pending, Running, WaitingHuman,
        },
        Type,
    },
};
use crate::limit::{ATTEMPTS_MAX, RELEASED_ATTEMPTS_MAX};

/// The part of a session that [`decide`] needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Present status.
    pub status: Status,
    /// Kind of work.
    pub session_type: Type,
    /// Number of claims so far: the fencing token.
    pub attempt: u32,
    /// Number of claims after which a lost lease fails the session.
    pub attempts_max: u32,
}

/// The state after an accepted command. It is the present state if the command changes only the lease or the
/// log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Waiting for a worker to claim it.
    Pending,
    /// Claimed by a worker that sends heartbeats.
    Running,
    /// Waiting for a person.
    WaitingHuman,
    /// Waiting for a tool.
    AwaitingTool,
    /// Waiting for the next turn or for child sessions.
    Idle,
    /// Final, with the way in which the session ended.
    Ended(End),
}

/// The change that an accepted command makes to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// State after the command.
    pub next: Next,
    /// Attempt after the command. A claim increases it by one.
    pub attempt: u32,
}

impl Transition {
    /// Status after the command.
    pub const fn to(&self) -> Status {
        match self.next {
            Next::Pending => Status::Pending,
            Next::Running => Status::Running,
            Next::WaitingHuman => Status::WaitingHuman,
            Next::AwaitingTool => Status::AwaitingTool,
            Next::Idle => Status::Idle,
            Next::Ended(end) => end.status(),
        }
    }

    /// End reason, if the command ends the session.
    pub const fn end_reason(&self) -> Option<EndReason> {
        match self.next {
            Next::Ended(end) => Some(end.reason()),
            Next::Pending | Next::Running | Next::WaitingHuman | Next::AwaitingTool | Next::Idle => None,
        }
    }
}

/// The reason for which a command was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The session is final, so no command changes it.
    #[error("the session is {status} and final")]
    AlreadyFinal {
        /// Its final status.
        status: Status,
    },
    /// The worker's attempt is not the current one, because the worker lost its lease.
    #[error("attempt {given} is stale; the session is at attempt {current}")]
    StaleAttempt {
        /// Attempt that the worker sent.
        given: u32,
        /// Current attempt of the session.
        current: u32,
    },
    /// The command does not apply in this status.
    #[error("the session is {status}; this is not possible now")]
    WrongStatus {
        /// Present status of the session.
        status: Status,
    },
    /// This actor may never give this command.
    #[error("this caller is not allowed to do that")]
    WrongActor,
}

/// The party that may give a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Right {
    /// The worker that holds the current attempt.
    Holder,
    /// A person, a token, or the server on their behalf.
    Caller,
    /// The server alone.
    Server,
}

/// Decides a command. The function is total: each combination of state, actor and command has one result. The
/// four functions below contain the rules. Each matches every command, so that a new command or status does not
/// compile until all of them cover it.
///
/// # Errors
/// The [`Refusal`]. A stale attempt comes first, then a wrong actor, a final session, and a wrong status or
/// type.
pub fn decide(state: Position, actor: Actor, command: Command) -> Result<Transition, Refusal> {
    match (right(command), actor) {
        // A worker that lost its lease gets this refusal first, whatever the present status of the session is.
        (Right::Holder, Actor::Worker { attempt }) if attempt != state.attempt => {
            return Err(Refusal::StaleAttempt { given: attempt, current: state.attempt });
        }
        // A session with attempt 0 was never claimed, so 0 is no fencing token. No worker may change such a
        // session, which may be a person's own.
        (Right::Holder, Actor::Worker { attempt: 0 } | Actor::Caller | Actor::Server)
        | (Right::Caller, Actor::Worker { .. })
        | (Right::Server, Actor::Worker { .. } | Actor::Caller) => return Err(Refusal::WrongActor),
        (Right::Holder, Actor::Worker { .. })
        | (Right::Caller, Actor::Caller | Actor::Server)
        | (Right::Server, Actor::Server) => {}
    }
    if state.status.is_final() {
        return Err(Refusal::AlreadyFinal { status: state.status });
    }
    if !applies_to(state, command) || !applies_in(state.status, command) {
        return Err(Refusal::WrongStatus { status: state.status });
    }
    Ok(effect(state, command))
}

/// Returns the party that may give a command.
const fn right(command: Command) -> Right {
    match command {
        Heartbeat | Append | Complete | Fail | Yield(_) | Wake | Release => Right::Holder,
        Start | Claim | Cancel | Stop | SendMessage | Interrupt | Command::End => Right::Caller,
        Skip | Resume | Approve | Block | Deny | LoseLease | Expire | Supersede | Abandon | Begin | Rest | Ask
        | Finish | FailRun | Submit | Leave => Right::Server,
    }
}

/// Whether a command is for sessions of this type and with or without a claim, whatever their status.
fn applies_to(state: Position, command: Command) -> bool {
    let (kind, is_claimed) = (state.session_type, state.attempt > 0);
    match command {
        Start | Claim | Heartbeat | Append | Complete | Fail | Yield(_) | Wake | Release | Resume | Approve
        | Cancel | LoseLease | Expire => true,
        // Only sessions that become pending can depend on other sessions.
        Skip => match state.session_type {
            Type::Agent | Type::Tool => true,
            Type::Response | Type::Mixed => false,
        },
        // Only a session that a worker has claimed has an output.
        Block | Deny => is_claimed,
        // Only agent sessions that were never claimed report by themselves. Workers report the others.
        Begin | Rest | Ask => state.session_type == Type::Agent && !is_claimed,
        // No one claims the run of a composite tool either.
        Finish => matches!(state.session_type, Type::Agent | Type::Tool) && !is_claimed,
        FailRun => state.session_type == Type::Tool && !is_claimed,
        // Conversations are agent sessions. A tool session takes messages once a worker has claimed it.
        SendMessage => state.session_type == Type::Agent || (state.session_type == Type::Tool && is_claimed),
        Interrupt | Command::End => state.session_type == Type::Agent,
        // A mixed session that was never claimed is a person's working session.
        Stop | Supersede | Abandon => state.session_type == Type::Mixed && !is_claimed,
        // No one claims a response session. The form of a tool is left before its run begins.
        Submit | Leave => !is_claimed && matches!((kind, state.status), (Type::Response, _) | (Type::Tool, Draft)),
    }
}

/// Whether a command is possible in a status.
const fn applies_in(status: Status, command: Command) -> bool {
    match command {
        Start | Skip => match status {
            Draft => true,
            Pending | Running | WaitingHuman | AwaitingTool | Idle | Completed | Failed | Abandoned | Expired => false,
        },
        Claim => match status {
            Pending => true,
            Draft | Running | WaitingHuman | AwaitingTool | Idle | Completed | Failed | Abandoned | Expired => false,
        },
        Heartbeat | Append | Yield(_) | Release | Block | LoseLease | Rest | Ask | Interrupt | Stop | Supersede
        | Abandon | Submit | FailRun => match status {
            Running => true,
            Draft | Pending | WaitingHuman | AwaitingTool | Idle | Completed | Failed | Abandoned | Expired => false,
        },
        // The worker that left its session idle or waiting for a tool still has the current attempt.
        Complete => match status {
            Running | Idle => true,
            Draft | Pending | WaitingHuman | AwaitingTool | Completed | Failed | Abandoned | Expired => false,
        },
        Fail => match status {
            Running | AwaitingTool | Idle => true,
            Draft | Pending | WaitingHuman | Completed | Failed | Abandoned | Expired => false,
        },
        Wake => match status {
            Idle => true,
            Draft | Pending | Running | WaitingHuman | AwaitingTool | Completed | Failed | Abandoned | Expired => false,
        },
        Leave => match status {
            Draft | Running => true,
            Pending | WaitingHuman | AwaitingTool | Idle | Completed | Failed | Abandoned | Expired => false,
        },
        Approve | Deny => match status {
            WaitingHuman => true,
            Draft | Pending | Running | AwaitingTool | Idle | Completed | Failed | Abandoned | Expired => false,
        },
        Resume => match status {
            WaitingHuman | AwaitingTool | Idle => true,
            Draft | Pending | Running | Completed | Failed | Abandoned | Expired => false,
        },
        Begin => match status {
            Pending | Idle => true,
            Draft | Running | WaitingHuman | AwaitingTool | Completed | Failed | Abandoned | Expired => false,
        },
        Finish => match status {
            Running | WaitingHuman | Idle => true,
            Draft | Pending | AwaitingTool | Completed | Failed | Abandoned | Expired => false,
        },
        // More messages can be sent while a turn is pending. The turn answers all of them.
        SendMessage => match status {
            Draft | Pending | Idle => true,
            Running | WaitingHuman | AwaitingTool | Completed | Failed | Abandoned | Expired => false,
        },
        Cancel | Expire | Command::End => match status {
            Draft | Pending | Running | WaitingHuman | AwaitingTool | Idle => true,
            Completed | Failed | Abandoned | Expired => false,
        },
    }
}

/// Returns what a command does to a session to which it applies.
fn effect(state: Position, command: Command) -> Transition {
    let to = |next| Transition { next, attempt: state.attempt };
    let end = |end| to(Next::Ended(end));
    match command {
        Start => match state.session_type {
            Type::Agent | Type::Tool => to(Next::Pending),
            Type::Response | Type::Mixed => to(Next::Running),
        },
        Claim => Transition { next: Next::Running, attempt: state.attempt.saturating_add(1) },
        Heartbeat | Append | Wake | Begin => to(Next::Running),
        Release if state.attempt >= released_attempts_max(state) => end(End::LeaseExhausted),
        Release | Resume | SendMessage => to(Next::Pending),
        Yield(YieldTo::Idle) | Rest | Interrupt => to(Next::Idle),
        Yield(YieldTo::WaitingHuman) | Ask => to(Next::WaitingHuman),
        Yield(YieldTo::AwaitingTool) => to(Next::AwaitingTool),
        LoseLease if state.attempt >= state.attempts_max => end(End::LeaseExhausted),
        LoseLease => to(Next::Pending),
        Complete | Approve | Finish | Stop | Submit => end(End::Done),
        Supersede => end(End::Superseded),
        Fail | FailRun => end(End::Error),
        Block => end(End::HardBlock),
        Deny => end(End::Rejected),
        Skip => end(End::DependencyFailed),
        Cancel => end(End::Cancelled),
        Abandon | Leave => end(End::LeftOpen),
        Expire => end(End::TimedOut),
        // A conversation that ends before its first turn, or during a turn, has completed nothing.
        Command::End => match state.status {
            Idle | Completed => end(End::Done),
            Draft | Pending | Running | WaitingHuman | AwaitingTool | Failed | Abandoned | Expired => {
                end(End::Cancelled)
            }
        },
    }
}

/// Number of claims after which a release fails the session. New input raises `attempts_max` to [`ATTEMPTS_MAX`] more
/// than the claims so far, so this limit counts from the same claim.
const fn released_attempts_max(state: Position) -> u32 {
    state.attempts_max.saturating_add(RELEASED_ATTEMPTS_MAX - ATTEMPTS_MAX)
}

#[cfg(test)]
mod tests {
    use super::{super::command::COMMANDS, *};
    use proptest::prelude::*;

    fn state(status: Status) -> Position {
        Position { status, session_type: Type::Agent, attempt: 2, attempts_max: 3 }
    }

    fn rightful(command: Command) -> Actor {
        match right(command) {
            Right::Holder => Actor::Worker { attempt: 2 },
            Right::Caller => Actor::Caller,
            Right::Server => Actor::Server,
        }
    }

    fn outcome(state: Position, actor: Actor, command: Command) -> String {
        match decide(state, actor, command) {
            Ok(t) => {
                let reason = t.end_reason().map_or(String::new(), |r| format!(" ({r})"));
                let attempt =
                    if t.attempt == state.attempt { String::new() } else { format!(" attempt {}", t.attempt) };
                format!("{}{reason}{attempt}", t.to())
            }
            Err(Refusal::AlreadyFinal { .. }) => "refused: final".into(),
            Err(Refusal::WrongStatus { .. }) => "-".into(),
            Err(other) => format!("refused: {other}"),
        }
    }

    /// Whether a command is only for sessions without a worker.
    fn outside(command: Command) -> bool {
        matches!(command, Command::Begin | Command::Rest | Command::Ask | Command::Finish)
    }

    #[test]
    fn the_whole_status_table_is_as_reviewed() {
        let mut table = String::new();
        for status in Status::ALL {
            for command in COMMANDS {
                let claimed = state(status);
                let now = match command {
                    Command::Submit | Command::Leave => {
                        Position { session_type: Type::Response, attempt: 0, ..claimed }
                    }
                    Command::FailRun => Position { session_type: Type::Tool, attempt: 0, ..claimed },
                    command if outside(command) => Position { attempt: 0, ..claimed },
                    _ => claimed,
                };
                let outcome = outcome(now, rightful(command), command);
                table.push_str(&format!("{:<14} {:<22} {outcome}\n", status.as_str(), format!("{command:?}")));
            }
        }
        insta::assert_snapshot!(table);
    }

    /// A person's working session is mixed and never claimed. The test tries every actor with every command and
    /// lists what is accepted.
    #[test]
    fn what_can_become_of_a_working_session_is_as_reviewed() {
        let actors = [
            ("worker", Actor::Worker { attempt: 0 }),
            ("late worker", Actor::Worker { attempt: 1 }),
            ("caller", Actor::Caller),
            ("server", Actor::Server),
        ];
        let mut table = String::new();
        for status in Status::ALL {
            let state = Position { status, session_type: Type::Mixed, attempt: 0, attempts_max: 3 };
            for command in COMMANDS {
                for (name, actor) in actors {
                    if decide(state, actor, command).is_ok() {
                        let outcome = outcome(state, actor, command);
                        table.push_str(&format!(
                            "{:<14} {:<11} {name:<7} {outcome}\n",
                            status.as_str(),
                            format!("{command:?}")
                        ));
                    }
                }
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn only_a_session_that_no_worker_ever_held_is_stopped_superseded_or_left() {
        for session_type in Type::ALL {
            for attempt in [0, 1] {
                let running = Position { status: Status::Running, session_type, attempt, attempts_max: 3 };
                for command in [Command::Stop, Command::Supersede, Command::Abandon] {
                    let accepted = decide(running, Actor::Server, command).is_ok();
                    assert_eq!(accepted, session_type == Type::Mixed && attempt == 0, "{command:?} of {running:?}");
                }
            }
        }
    }

    #[test]
    fn only_a_response_or_a_run_that_nobody_claimed_takes_commands_of_its_own() {
        use Command::{FailRun, Leave, Submit};
        for session_type in Type::ALL {
            for attempt in [0, 1] {
                let running = Position { status: Status::Running, session_type, attempt, attempts_max: 3 };
                for (command, of) in [(Submit, Type::Response), (Leave, Type::Response), (FailRun, Type::Tool)] {
                    let accepted = decide(running, Actor::Server, command).is_ok();
                    assert_eq!(accepted, session_type == of && attempt == 0, "{command:?} of {running:?}");
                    assert!(decide(running, Actor::Caller, command).is_err(), "{command:?} of a caller");
                }
            }
        }
    }

    #[test]
    fn a_stale_attempt_is_told_so_even_when_the_session_is_final() {
        for status in Status::ALL {
            let refusal = decide(state(status), Actor::Worker { attempt: 1 }, Command::Complete);
            assert_eq!(refusal, Err(Refusal::StaleAttempt { given: 1, current: 2 }));
        }
    }

    #[test]
    fn nobody_holds_a_session_that_was_never_claimed() {
        for command in COMMANDS {
            let unclaimed = Position { attempt: 0, ..state(Status::Running) };
            assert!(decide(unclaimed, Actor::Worker { attempt: 0 }, command).is_err(), "{command:?}");
        }
    }

    #[test]
    fn a_session_that_a_worker_has_held_does_not_report_by_itself() {
        for command in COMMANDS.into_iter().filter(|command| outside(*command)) {
            for status in Status::ALL {
                assert!(decide(state(status), Actor::Server, command).is_err(), "{command:?} in {status}");
                // All steps of a composite tool can have ended.
                let is_run = |session_type| command == Command::Finish && session_type == Type::Tool;
                let others = [Type::Response, Type::Tool, Type::Mixed].into_iter();
                for session_type in others.filter(|session_type| !is_run(*session_type)) {
                    let other = Position { session_type, attempt: 0, ..state(status) };
                    assert!(decide(other, Actor::Server, command).is_err(), "{command:?} of a {session_type} session");
                }
            }
        }
    }

    #[test]
    fn the_last_attempt_fails_when_its_lease_is_lost() {
        let last = Position { attempt: 3, ..state(Status::Running) };
        let lost = decide(last, Actor::Server, Command::LoseLease).unwrap();
        assert_eq!((lost.to(), lost.end_reason()), (Status::Failed, Some(EndReason::LeaseExhausted)));
    }

    #[test]
    fn the_last_attempt_that_may_be_released_fails() {
        let exhausted = Some(EndReason::LeaseExhausted);
        for (attempt, attempts_max, end_reason) in [(19, 3, None), (20, 3, exhausted), (20, 4, None)] {
            let running = Position { attempt, attempts_max, ..state(Status::Running) };
            let released = decide(running, Actor::Worker { attempt }, Command::Release).unwrap();
            assert_eq!(released.end_reason(), end_reason, "{running:?}");
            assert_eq!(released.to(), end_reason.map_or(Status::Pending, |_| Status::Failed));
        }
    }

    /// The transitions of the design document, written down independently of `decide`.
    fn listed(from: Status, to: Status) -> bool {
        let targets = match from.as_str() {
            "draft" => "pending running abandoned expired",
            // More messages can be sent while a turn is pending.
            "pending" => "pending running abandoned expired",
            "running" => "running completed failed waiting_human awaiting_tool idle abandoned expired pending",
            "waiting_human" => "pending completed failed abandoned expired",
            "awaiting_tool" => "pending failed abandoned expired",
            "idle" => "pending running completed failed abandoned expired",
            _ => "",
        };
        targets.split(' ').any(|t| t == to.as_str())
    }

    proptest! {
        #[test]
        fn only_listed_transitions_happen_along_any_path(steps in prop::collection::vec((0..COMMANDS.len(), 0..3_u32, 0..3_usize), 1..60),
                                                        kind in 0..4_usize) {
            let mut now = Position { status: Status::Draft, session_type: Type::ALL[kind], attempt: 0, attempts_max: 3 };
            for (command, lag, actor) in steps {
                let actor = [Actor::Worker { attempt: now.attempt.saturating_sub(lag) }, Actor::Caller, Actor::Server][actor];
                if let Ok(t) = decide(now, actor, COMMANDS[command]) {
                    prop_assert!(!now.status.is_final(), "{now:?} changed");
                    prop_assert!(listed(now.status, t.to()), "{} -> {}", now.status, t.to());
                    prop_assert_eq!(t.to().is_final(), t.end_reason().is_some());
                    prop_assert!(t.attempt >= now.attempt);
                    if t.attempt > now.attempt {
                        prop_assert_eq!((now.status, t.to()), (Status::Pending, Status::Running));
                    }
                    now = Position { status: t.to(), attempt: t.attempt, ..now };
                }
            }
        }
    }
}
