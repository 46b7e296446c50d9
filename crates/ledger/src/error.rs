//! Errors of use cases, independent of HTTP.

use domain::{event::WriteRefusal, issue::Issue, session};

/// The result of a use case.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a use case failed. The texts are shown to callers, except that of `Internal`, which is for the server's
/// log.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The object does not exist, or the caller may not see it.
    #[error("{0} not found")]
    NotFound(&'static str),
    /// The caller's role or token scope does not permit this.
    #[error("{0}")]
    Forbidden(&'static str),
    /// Fields of the request are wrong.
    #[error("the request is not valid")]
    Invalid(Vec<Issue>),
    /// The result violates the output contract of its action.
    #[error("{}", if *failed { "the result broke its output contract again: the session has failed" } else { "the result breaks its output contract" })]
    OutputInvalid {
        /// Each violation, with its path in the result.
        errors: Vec<Issue>,
        /// Whether the session failed because of this. If not, the worker may send a better result.
        failed: bool,
    },
    /// The cursor is malformed or belongs to another list, or the item after which its page begins has moved.
    #[error("the cursor does not belong to this list")]
    InvalidCursor,
    /// The status machine refused the command.
    #[error(transparent)]
    Refused(#[from] session::Refusal),
    /// The session cannot take this in its present state, for a reason that its status alone does not say.
    #[error("{0}")]
    NotNow(&'static str),
    /// The caller may not write this event.
    #[error("{refusal}")]
    WriteRefused {
        /// Index of the event in the request.
        index: usize,
        /// Rule that forbids the event to this caller.
        refusal: WriteRefusal,
    },
    /// The id or idempotency key was used for something else.
    #[error("{detail}")]
    IdConflict {
        /// The earlier use.
        detail: String,
    },
    /// The entity is erased and takes no new version.
    #[error("this entity is erased and does not change any more")]
    EntityErased,
    /// A newer version was written since the caller read the object.
    #[error("version {given} is not the newest; the newest is version {current}")]
    StaleVersion {
        /// The version the caller read.
        given: u64,
        /// The newest version.
        current: u64,
    },
    /// The action was changed since the caller read it.
    #[error("this task has changed since it was read")]
    StaleAction,
    /// The working copy of a view or tool was changed since the caller read it.
    #[error("revision {given} is not the newest; the newest is revision {current}")]
    StaleRevision {
        /// The revision that the caller read.
        given: u64,
        /// The newest revision.
        current: u64,
    },
    /// The state of a view or tool does not allow this.
    #[error("{rule}; this {what} is {state}")]
    WrongState {
        /// What it is: `view` or `tool`.
        what: &'static str,
        /// Which state it needs.
        rule: &'static str,
        /// Whether it is a draft, published or withdrawn.
        state: domain::publishing::State,
    },
    /// Another version of the form was published since the respondent saw it.
    #[error("this form has changed; version {current} is the newest")]
    FormChanged {
        /// The newest version.
        current: u64,
    },
    /// The form takes no answer.
    #[error("{0}")]
    FormClosed(domain::response::Closed),
    /// A memory document is not at the version on which the caller based a write.
    #[error("`{}` has changed since version {}", .0.path, .0.given)]
    MemoryConflict(Box<crate::conflict::Conflict>),
    /// A character card would change documents that people or an import changed since the last card.
    #[error("documents below self/ were changed since the last card, and this card would overwrite them")]
    CardOverwrites(Vec<String>),
    /// The gate already has a different decision.
    #[error("it is already decided: {}", decided(.0))]
    AlreadyDecided(Box<store::DecisionRecord>),
    /// The proposal changed after it was shown to the reviewer.
    #[error("the proposal has changed in the meantime; check it again")]
    StaleDecision {
        /// Digest of the present proposal.
        current: domain::chain::Digest,
    },
    /// The gate is closed and takes no decision.
    #[error("it is not waiting for a decision any more: it is {state}")]
    GateClosed {
        /// State of the gate.
        state: domain::gate::GateState,
    },
    /// The respondent already gave a different answer to the request.
    #[error("you already gave a different answer")]
    AlreadyAnswered(Box<store::AnswerRecord>),
    /// The request takes no answers any more.
    #[error("no one waits for an answer any more: the request is {state}")]
    RequestClosed {
        /// State of the request.
        state: domain::feedback_request::RequestState,
    },
    /// A safety rule forbids the value.
    #[error("a safety rule blocks this: {}", .0.message)]
    HardBlock(Issue),
    /// Another object has this slug, e-mail address or name.
    #[error("{0} is taken")]
    NameTaken(&'static str),
    /// A limit was reached. The text names it.
    #[error("{0}")]
    LimitReached(String),
    /// The request is larger than allowed.
    #[error("{0}")]
    TooLarge(String),
    /// The e-mail address or password is wrong.
    #[error("that e-mail and password do not match")]
    BadCredentials,
    /// The address is blocked after too many failed sign-ins.
    #[error("too many attempts; try again in {retry_after_seconds} s")]
    TooManyAttempts {
        /// Seconds until the next attempt is allowed.
        retry_after_seconds: u64,
    },
    /// The queue of password checks is full.
    #[error("too many people are signing in right now; try again in {retry_after_seconds} s")]
    Busy {
        /// Seconds after which a retry is useful.
        retry_after_seconds: u64,
    },
    /// The change would leave the workspace without an admin.
    #[error("a workspace needs an admin: make someone else one first")]
    LastAdmin,
    /// The installation is already set up.
    #[error("this installation is already set up")]
    SetupDone,
    /// Ratings, webhooks and secrets of tools need the instance key, and none is configured.
    #[error("this needs the instance key: set `instance_key_file` in the settings file")]
    NoInstanceKey,
    /// The database cannot be reached, or the writer is overloaded or stopping.
    #[error("not available right now: {0}")]
    Unavailable(String),
    /// There is no database, or this version cannot read it.
    #[error("{0}")]
    Unusable(String),
    /// A bug or a defective disk. The text is logged and never sent to callers.
    #[error("internal error: {0}")]
    Internal(String),
}

fn decided(decision: &store::DecisionRecord) -> String {
    let verdict = decision.verdict.map_or("undone", domain::gate::Verdict::as_str);
    let by = if decision.email.is_empty() { &decision.actor } else { &decision.email };
    format!("{verdict} by {by} at {}", decision.at.to_rfc3339())
}

impl Error {
    /// Creates an error with a single wrong field.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(vec![Issue::new(field, message)])
    }
}

impl From<Vec<Issue>> for Error {
    fn from(errors: Vec<Issue>) -> Self {
        Self::Invalid(errors)
    }
}

impl From<domain::response::Closed> for Error {
    fn from(closed: domain::response::Closed) -> Self {
        Self::FormClosed(closed)
    }
}

impl From<domain::gate::GateClosed> for Error {
    fn from(closed: domain::gate::GateClosed) -> Self {
        Self::GateClosed { state: closed.0 }
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Unavailable(detail) => Self::Unavailable(detail),
            store::Error::Unusable(detail) => Self::Unusable(detail),
            // Stored fields are checked by name before. This case is text that is only searched for, which no
            // object can contain.
            store::Error::NulInText(_) => Self::invalid("body", "no NUL characters"),
            store::Error::Inconsistent(detail) | store::Error::Database(detail) => Self::Internal(detail),
        }
    }
}
