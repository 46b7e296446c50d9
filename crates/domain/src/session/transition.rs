//! The status machine: one total function that says what every command does in every status.
//!
//! Every transition is applied by the store as a compare-and-set on the old status (and, for a
//! worker, on its attempt) together with its `session.status_change` event, in one transaction.

use super::status::{EndReason, Status, Type};

/// What a decision needs to know of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Where it stands.
    pub status: Status,
    /// What kind of work it is.
    pub session_type: Type,
    /// The fencing token: the number of claims so far.
    pub attempt: u32,
    /// Claims after which a lost lease fails the session.
    pub attempts_max: u32,
}

/// Who commands, as far as the status machine distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// A worker that claims to hold this attempt.
    Worker {
        /// The fencing token it was given.
        attempt: u32,
    },
    /// A person or token acting on the session from outside.
    Caller,
    /// The server's own sweeps and use cases.
    Server,
}

/// Where a worker parks its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum YieldTo {
    /// An external agent rests.
    Idle,
    /// A person has to answer.
    WaitingHuman,
    /// A tool's result or approval is awaited.
    AwaitingTool,
}

impl YieldTo {
    /// The status it leads to.
    pub const fn status(self) -> Status {
        match self {
            Self::Idle => Status::Idle,
            Self::WaitingHuman => Status::WaitingHuman,
            Self::AwaitingTool => Status::AwaitingTool,
        }
    }
}

/// Everything that can be asked of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Queue a draft (agent, tool) or begin it (response, mixed).
    Start,
    /// What a draft depends on did not complete: it never begins.
    Skip,
    /// A worker takes a queued session.
    Claim,
    /// The holder extends its lease.
    Heartbeat,
    /// The holder appends events.
    Append,
    /// The holder reports success.
    Complete,
    /// The holder reports an error.
    Fail,
    /// The holder parks the session.
    Yield(YieldTo),
    /// The holder gives it back unfinished.
    Release,
    /// What was awaited has arrived: back to the queue.
    Resume,
    /// An approved write-back finishes a waiting session without another run.
    Approve,
    /// A safety rule blocks its output before anybody reviews it.
    Block,
    /// Reviewers denied its output too often.
    Deny,
    /// Somebody stops it.
    Cancel,
    /// The lease ran out.
    LoseLease,
    /// A time limit passed.
    Expire,
    /// The server ends it with an error (hard block, refused dispatch).
    Reject,
    /// A person ends their working session.
    Stop,
    /// A person began another task: the server ends their working session for them.
    Supersede,
    /// A working session was left open for too long.
    Abandon,
    /// A session that runs outside, without a worker, is at work: it reports by itself (a coding agent's hooks).
    Begin,
    /// Such a session rests until its next turn.
    Rest,
    /// Such a session waits for a person, outside.
    Ask,
    /// Such a session has ended.
    Finish,
    /// A person speaks in a conversation: its next turn joins the queue.
    Say,
    /// A person stops a conversation's turn: it rests.
    Interrupt,
    /// A person ends a conversation.
    End,
}

/// All commands, for tables and tests.
pub const COMMANDS: [Command; 29] = [
    Command::Start,
    Command::Skip,
    Command::Claim,
    Command::Heartbeat,
    Command::Append,
    Command::Complete,
    Command::Fail,
    Command::Yield(YieldTo::Idle),
    Command::Yield(YieldTo::WaitingHuman),
    Command::Yield(YieldTo::AwaitingTool),
    Command::Release,
    Command::Resume,
    Command::Approve,
    Command::Block,
    Command::Deny,
    Command::Cancel,
    Command::LoseLease,
    Command::Expire,
    Command::Reject,
    Command::Stop,
    Command::Supersede,
    Command::Abandon,
    Command::Begin,
    Command::Rest,
    Command::Ask,
    Command::Finish,
    Command::Say,
    Command::Interrupt,
    Command::End,
];

/// What an accepted command does to the session row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// The new status; equal to the old one when nothing but the lease or the log changes.
    pub to: Status,
    /// The new attempt.
    pub attempt: u32,
    /// Why it ended, where it did.
    pub end_reason: Option<EndReason>,
}

/// Why a command was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The session is final; nothing changes it.
    #[error("the session is {status} and final")]
    AlreadyFinal {
        /// Its final status.
        status: Status,
    },
    /// The worker's attempt is not the current one: it lost its lease.
    #[error("attempt {given} is stale; the session is at attempt {current}")]
    StaleAttempt {
        /// The attempt that was sent.
        given: u32,
        /// The attempt in force.
        current: u32,
    },
    /// The command does not apply in this status.
    #[error("the session is {status}; this is not possible now")]
    WrongStatus {
        /// Its status.
        status: Status,
    },
    /// This actor may never give this command.
    #[error("this caller is not allowed to do that")]
    WrongActor,
}

/// Decides a command. Total: every (state, actor, command) has one answer.
pub fn decide(state: State, actor: Actor, command: Command) -> Result<Transition, Refusal> {
    let holder = matches!(
        command,
        Command::Heartbeat | Command::Append | Command::Complete | Command::Fail | Command::Yield(_) | Command::Release
    );
    match (holder, actor) {
        // A worker that lost its lease must hear that first, whatever the session has become since.
        (true, Actor::Worker { attempt }) if attempt != state.attempt => {
            return Err(Refusal::StaleAttempt { given: attempt, current: state.attempt });
        }
        // Nobody ever claimed it: attempt 0 is no fencing token, and a person's own session is nobody else's to end.
        (true, Actor::Worker { attempt: 0 }) => return Err(Refusal::WrongActor),
        (true, Actor::Worker { .. }) => {}
        (true, _) => return Err(Refusal::WrongActor),
        (false, Actor::Worker { .. }) => return Err(Refusal::WrongActor),
        (false, Actor::Caller)
            if !matches!(
                command,
                Command::Start
                    | Command::Claim
                    | Command::Cancel
                    | Command::Stop
                    | Command::Say
                    | Command::Interrupt
                    | Command::End
            ) =>
        {
            return Err(Refusal::WrongActor);
        }
        (false, _) => {}
    }
    if state.status.is_final() {
        return Err(Refusal::AlreadyFinal { status: state.status });
    }
    apply(state, command).ok_or(Refusal::WrongStatus { status: state.status })
}

/// The table itself. `None`: the command does not apply in this status.
fn apply(state: State, command: Command) -> Option<Transition> {
    use Status::{Abandoned, AwaitingTool, Completed, Draft, Expired, Failed, Idle, Pending, Running, WaitingHuman};
    let to = |to| Some(Transition { to, attempt: state.attempt, end_reason: None });
    let end = |to, reason| Some(Transition { to, attempt: state.attempt, end_reason: Some(reason) });
    match (command, state.status) {
        (Command::Start, Draft) => match state.session_type {
            Type::Agent | Type::Tool => to(Pending),
            Type::Response | Type::Mixed => to(Running),
        },
        (Command::Skip, Draft) if matches!(state.session_type, Type::Agent | Type::Tool) => {
            end(Abandoned, EndReason::DependencyFailed)
        }
        (Command::Claim, Pending) => {
            Some(Transition { to: Running, attempt: state.attempt.saturating_add(1), end_reason: None })
        }
        (Command::Heartbeat | Command::Append, Running) => to(Running),
        (Command::Complete, Running) => end(Completed, EndReason::Done),
        (Command::Fail, Running) => end(Failed, EndReason::Error),
        (Command::Yield(target), Running) => to(target.status()),
        (Command::Release, Running) => to(Pending),
        (Command::Resume, WaitingHuman | AwaitingTool | Idle) => to(Pending),
        (Command::Approve, WaitingHuman) => end(Completed, EndReason::Done),
        // Only what a worker has held has an output.
        (Command::Block, Running) if state.attempt > 0 => end(Failed, EndReason::HardBlock),
        (Command::Deny, WaitingHuman) if state.attempt > 0 => end(Failed, EndReason::Rejected),
        (Command::Cancel, _) => end(Abandoned, EndReason::Cancelled),
        (Command::LoseLease, Running) if state.attempt >= state.attempts_max => end(Failed, EndReason::LeaseExhausted),
        (Command::LoseLease, Running) => to(Pending),
        (Command::Expire, _) => end(Expired, EndReason::TimedOut),
        // What a worker has held is the worker's: only agents that nobody ever claimed report by themselves.
        (Command::Begin | Command::Rest | Command::Ask | Command::Finish, _)
            if state.attempt > 0 || state.session_type != Type::Agent =>
        {
            None
        }
        (Command::Begin, Pending | Idle) => to(Running),
        (Command::Rest, Running) => to(Idle),
        (Command::Ask, Running) => to(WaitingHuman),
        (Command::Finish, Running | WaitingHuman | Idle) => end(Completed, EndReason::Done),
        (Command::Say | Command::Interrupt | Command::End, _) if state.session_type != Type::Agent => None,
        // While a turn is queued, more can be said: it is answered together.
        (Command::Say, Draft | Idle | Pending) => to(Pending),
        (Command::Interrupt, Running) => to(Idle),
        (Command::End, Idle) => end(Completed, EndReason::Done),
        // In the middle of a turn, or before the first: nothing was completed.
        (Command::End, Draft | Pending | Running | WaitingHuman | AwaitingTool) => end(Abandoned, EndReason::Cancelled),
        (Command::Reject, Pending | Running | WaitingHuman | AwaitingTool | Idle) => end(Failed, EndReason::Error),
        // A mixed session that no worker has ever claimed is a person at work.
        (Command::Stop | Command::Supersede | Command::Abandon, Running)
            if state.session_type != Type::Mixed || state.attempt > 0 =>
        {
            None
        }
        (Command::Stop, Running) => end(Completed, EndReason::Done),
        (Command::Supersede, Running) => end(Completed, EndReason::Superseded),
        (Command::Abandon, Running) => end(Abandoned, EndReason::TimedOut),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn state(status: Status) -> State {
        State { status, session_type: Type::Agent, attempt: 2, attempts_max: 3 }
    }

    fn rightful(command: Command) -> Actor {
        match command {
            Command::Heartbeat
            | Command::Append
            | Command::Complete
            | Command::Fail
            | Command::Yield(_)
            | Command::Release => Actor::Worker { attempt: 2 },
            Command::Start
            | Command::Claim
            | Command::Cancel
            | Command::Stop
            | Command::Say
            | Command::Interrupt
            | Command::End => Actor::Caller,
            _ => Actor::Server,
        }
    }

    fn outcome(state: State, actor: Actor, command: Command) -> String {
        match decide(state, actor, command) {
            Ok(t) => {
                let reason = t.end_reason.map_or(String::new(), |r| format!(" ({r})"));
                let attempt =
                    if t.attempt == state.attempt { String::new() } else { format!(" attempt {}", t.attempt) };
                format!("{}{reason}{attempt}", t.to)
            }
            Err(Refusal::AlreadyFinal { .. }) => "refused: final".into(),
            Err(Refusal::WrongStatus { .. }) => "-".into(),
            Err(other) => format!("refused: {other}"),
        }
    }

    /// Commands of sessions that nobody claims.
    fn outside(command: Command) -> bool {
        matches!(command, Command::Begin | Command::Rest | Command::Ask | Command::Finish)
    }

    #[test]
    fn the_whole_status_table_is_as_reviewed() {
        let mut table = String::new();
        for status in Status::ALL {
            for command in COMMANDS {
                let claimed = state(status);
                let now = if outside(command) { State { attempt: 0, ..claimed } } else { claimed };
                let outcome = outcome(now, rightful(command), command);
                table.push_str(&format!("{:<14} {:<22} {outcome}\n", status.as_str(), format!("{command:?}")));
            }
        }
        insta::assert_snapshot!(table);
    }

    /// A person's working session: mixed, never claimed. Everybody tries everything; only what is accepted is listed.
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
            let state = State { status, session_type: Type::Mixed, attempt: 0, attempts_max: 3 };
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
                let running = State { status: Status::Running, session_type, attempt, attempts_max: 3 };
                for command in [Command::Stop, Command::Supersede, Command::Abandon] {
                    let accepted = decide(running, Actor::Server, command).is_ok();
                    assert_eq!(accepted, session_type == Type::Mixed && attempt == 0, "{command:?} of {running:?}");
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
            let unclaimed = State { attempt: 0, ..state(Status::Running) };
            assert!(decide(unclaimed, Actor::Worker { attempt: 0 }, command).is_err(), "{command:?}");
        }
    }

    #[test]
    fn a_session_that_a_worker_has_held_does_not_report_by_itself() {
        for command in COMMANDS.into_iter().filter(|command| outside(*command)) {
            for status in Status::ALL {
                assert!(decide(state(status), Actor::Server, command).is_err(), "{command:?} in {status}");
                for session_type in [Type::Response, Type::Tool, Type::Mixed] {
                    let other = State { session_type, attempt: 0, ..state(status) };
                    assert!(decide(other, Actor::Server, command).is_err(), "{command:?} of a {session_type} session");
                }
            }
        }
    }

    #[test]
    fn the_last_attempt_fails_when_its_lease_is_lost() {
        let last = State { attempt: 3, ..state(Status::Running) };
        let lost = decide(last, Actor::Server, Command::LoseLease).unwrap();
        assert_eq!((lost.to, lost.end_reason), (Status::Failed, Some(EndReason::LeaseExhausted)));
    }

    /// The design document's arrows, written down a second time and independently of `apply`.
    fn listed(from: Status, to: Status) -> bool {
        let targets = match from.as_str() {
            "draft" => "pending running abandoned expired",
            // More can be said while a turn is queued.
            "pending" => "pending running failed abandoned expired",
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
            let mut now = State { status: Status::Draft, session_type: Type::ALL[kind], attempt: 0, attempts_max: 3 };
            for (command, lag, actor) in steps {
                let actor = [Actor::Worker { attempt: now.attempt.saturating_sub(lag) }, Actor::Caller, Actor::Server][actor];
                if let Ok(t) = decide(now, actor, COMMANDS[command]) {
                    prop_assert!(!now.status.is_final(), "{now:?} changed");
                    prop_assert!(listed(now.status, t.to), "{} -> {}", now.status, t.to);
                    prop_assert_eq!(t.to.is_final(), t.end_reason.is_some());
                    prop_assert!(t.attempt >= now.attempt);
                    if t.attempt > now.attempt {
                        prop_assert_eq!((now.status, t.to), (Status::Pending, Status::Running));
                    }
                    now = State { status: t.to, attempt: t.attempt, ..now };
                }
            }
        }
    }
}
