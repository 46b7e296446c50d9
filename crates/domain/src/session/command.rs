//! What can be asked of a session, and by whom.

use super::status::Status;

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
