//! What can go wrong in a use case, apart from how it travels.

use domain::{event::WriteRefusal, issue::Issue, session};

/// The result of a use case.
pub type Result<T> = std::result::Result<T, Error>;

/// One field that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// A field name or JSON path such as `events[3].type`.
    pub field: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl FieldError {
    /// A wrong field.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}

impl From<Issue> for FieldError {
    fn from(issue: Issue) -> Self {
        Self { field: issue.field, message: issue.message }
    }
}

/// Why a use case did not do it. Public texts are for callers; `Internal` keeps its context for the log.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such object for this caller.
    #[error("{0} not found")]
    NotFound(&'static str),
    /// Role or token scope forbid it.
    #[error("{0}")]
    Forbidden(&'static str),
    /// Fields are wrong.
    #[error("the request is not valid")]
    Invalid(Vec<FieldError>),
    /// The result does not keep its action's output contract.
    #[error("{}", if *failed { "the result broke its output contract again: the session has failed" } else { "the result breaks its output contract" })]
    OutputInvalid {
        /// What is wrong with it.
        errors: Vec<FieldError>,
        /// Whether that ended the session; otherwise a better result may follow.
        failed: bool,
    },
    /// The cursor was not made by this list.
    #[error("the cursor does not belong to this list")]
    InvalidCursor,
    /// The status machine refused.
    #[error(transparent)]
    Refused(#[from] session::Refusal),
    /// This author may not write this event.
    #[error("{refusal}")]
    WriteRefused {
        /// Index of the event in the request.
        index: usize,
        /// Why.
        refusal: WriteRefusal,
    },
    /// The id or key was used for something else.
    #[error("{detail}")]
    IdConflict {
        /// What it was used for.
        detail: String,
    },
    /// Somebody wrote a newer version since the caller read it.
    #[error("version {given} is not the newest; the newest is version {current}")]
    StaleVersion {
        /// The version the caller read.
        given: u64,
        /// The newest version.
        current: u64,
    },
    /// The gate was decided otherwise.
    #[error("it is already decided: {}", decided(.0))]
    AlreadyDecided(Box<store::DecisionRecord>),
    /// Something else is proposed now than what the reviewer was shown.
    #[error("the proposal has changed in the meantime; check it again")]
    StaleDecision {
        /// Digest of what is proposed now.
        current: domain::chain::Digest,
    },
    /// The gate takes no decision any more.
    #[error("it is not waiting for a decision any more: it is {state}")]
    GateClosed {
        /// Where it stands.
        state: domain::gate::GateState,
    },
    /// A safety rule forbids the value.
    #[error("a safety rule blocks this: {}", .0.message)]
    HardBlock(FieldError),
    /// The slug, e-mail or name is taken.
    #[error("{0} is taken")]
    NameTaken(&'static str),
    /// A named limit was reached.
    #[error("{0}")]
    LimitReached(String),
    /// Larger than allowed.
    #[error("{0}")]
    TooLarge(String),
    /// E-mail or password is wrong.
    #[error("that e-mail and password do not match")]
    BadCredentials,
    /// Too many sign-in attempts.
    #[error("too many attempts; try again in {retry_after_seconds} s")]
    TooManyAttempts {
        /// When to try again.
        retry_after_seconds: u64,
    },
    /// Too many callers wait for a password to be checked.
    #[error("too many people are signing in right now; try again in {retry_after_seconds} s")]
    Busy {
        /// When to try again.
        retry_after_seconds: u64,
    },
    /// A workspace keeps an admin.
    #[error("a workspace needs an admin: make somebody else one first")]
    LastAdmin,
    /// Set-up has been done.
    #[error("this installation is already set up")]
    SetupDone,
    /// The database cannot be reached, or the writer is over capacity or stopping.
    #[error("not available right now: {0}")]
    Unavailable(String),
    /// There is no database, or not one that this version can read.
    #[error("{0}")]
    Unusable(String),
    /// A bug or a broken disk; for the log, never for callers.
    #[error("internal error: {0}")]
    Internal(String),
}

fn decided(decision: &store::DecisionRecord) -> String {
    let verdict = decision.verdict.map_or("undone", domain::gate::Verdict::as_str);
    let by = if decision.email.is_empty() { &decision.actor } else { &decision.email };
    format!("{verdict} by {by} at {}", decision.at.to_rfc3339())
}

impl Error {
    /// A single wrong field.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldError::new(field, message)])
    }
}

impl From<Vec<Issue>> for Error {
    fn from(issues: Vec<Issue>) -> Self {
        Self::Invalid(issues.into_iter().map(FieldError::from).collect())
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Unavailable(detail) => Self::Unavailable(detail),
            store::Error::Unusable(detail) => Self::Unusable(detail),
            // Fields that are stored are checked by name before. This is for what is only looked up: no object has it.
            store::Error::NulInText(_) => Self::invalid("body", "no NUL characters"),
            store::Error::Inconsistent(detail) | store::Error::Database(detail) => Self::Internal(detail),
        }
    }
}
