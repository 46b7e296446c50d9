//! The kinds of messages.

/// What kind of message a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Something succeeded.
    Good,
    /// The reader should know something before continuing.
    Wait,
    /// Something failed or was refused.
    Bad,
}

impl Tone {
    /// The value of `data-tone`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Wait => "wait",
            Self::Bad => "bad",
        }
    }
}
