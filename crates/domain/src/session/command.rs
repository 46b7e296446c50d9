//! The commands that change a session, and who can give them.

use super::status::Status;

/// The party that gives a command, as far as the status machine distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// A worker. It states the attempt for which it holds the session.
    Worker {
        /// The fencing token that its claim returned.
        attempt: u32,
    },
    /// A person or token acting on the session from outside.
    Caller,
    /// The server's own sweeps and use cases.
    Server,
}

/// The status in which a worker leaves a session that it yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum YieldTo {
    /// Idle until the next turn, or until child sessions have ended.
    Idle,
    /// Waiting for a person's answer or decision.
    WaitingHuman,
    /// Waiting for a tool's result or its approval.
    AwaitingTool,
}

impl YieldTo {
    /// The status that the session gets.
    pub const fn status(self) -> Status {
        match self {
            Self::Idle => Status::Idle,
            Self::WaitingHuman => Status::WaitingHuman,
            Self::AwaitingTool => Status::AwaitingTool,
        }
    }
}

/// A command to the status machine. The holder is the worker with the current attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Starts a draft: agent and tool sessions become pending, response and mixed sessions running.
    Start,
    /// Abandons a draft because a session that it depends on did not complete.
    Skip,
    /// A worker takes a pending session.
    Claim,
    /// The holder extends its lease.
    Heartbeat,
    /// The holder appends events.
    Append,
    /// The worker of the current attempt reports success, also after it left the session idle.
    Complete,
    /// The worker of the current attempt reports an error, also after it left the session idle or waiting for a tool.
    Fail,
    /// The holder gives the session up until someone or something answers.
    Yield(YieldTo),
    /// The worker that left the session idle takes it back under the same attempt, with a new lease.
    Wake,
    /// The holder returns the session to the queue unfinished. After too many attempts the session fails.
    Release,
    /// The answer that the session waited for has arrived. The session returns to the queue.
    Resume,
    /// The output of a waiting session was approved and written back. The session completes without another
    /// claim.
    Approve,
    /// A safety rule blocks the output before anyone reviews it.
    Block,
    /// Reviewers denied the output too often.
    Deny,
    /// Someone cancels the session.
    Cancel,
    /// The lease expired.
    LoseLease,
    /// A time limit passed.
    Expire,
    /// A person ends their working session.
    Stop,
    /// The server ends a working session because its person began another task.
    Supersede,
    /// The server ends a working session that was open for too long.
    Abandon,
    /// A session without a worker begins to work. Such a session runs outside and reports by itself, through
    /// the hooks of a coding agent.
    Begin,
    /// A session without a worker becomes idle until its next turn.
    Rest,
    /// A session without a worker waits for a person, who answers outside of Shiftbook.
    Ask,
    /// A session without a worker has ended: that of an agent outside, or that of a composite tool whose steps have
    /// ended.
    Finish,
    /// A step of a composite tool failed, or its result is not valid, so its run fails.
    FailRun,
    /// A person sends a message to an agent. The next turn becomes pending.
    SendMessage,
    /// A person stops the turn of a conversation. The conversation becomes idle.
    Interrupt,
    /// A person ends a conversation.
    End,
    /// A person submits the form of a response session.
    Submit,
    /// The server ends a response session, or the draft of a tool's run, whose form was left for too long.
    Leave,
}

/// All commands, for tables and tests.
pub const COMMANDS: [Command; 32] = [
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
    Command::Wake,
    Command::Release,
    Command::Resume,
    Command::Approve,
    Command::Block,
    Command::Deny,
    Command::Cancel,
    Command::LoseLease,
    Command::Expire,
    Command::Stop,
    Command::Supersede,
    Command::Abandon,
    Command::Begin,
    Command::Rest,
    Command::Ask,
    Command::Finish,
    Command::FailRun,
    Command::SendMessage,
    Command::Interrupt,
    Command::End,
    Command::Submit,
    Command::Leave,
];
