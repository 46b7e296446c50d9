//! What a phrase of a table means.

/// The meaning of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The answer worked.
    Success,
    /// The answer is good.
    Praise,
    /// Thanks, which may be mere politeness.
    Thanks,
    /// The answer is not what was asked, or is not true.
    Correction,
    /// The answer does not work.
    Failure,
    /// The problem persists. Such a phrase counts in a question too.
    Persisting,
    /// The answer is bad.
    Displeasure,
    /// The person gives up.
    Abandonment,
    /// The person acknowledges the answer without an opinion.
    Acknowledgement,
    /// A phrase that contains one of another class but has another meaning, such as an idiom.
    Idiom,
}

impl Class {
    /// Whether the class is evidence for the answer.
    pub(super) fn accepts(self) -> bool {
        matches!(self, Class::Success | Class::Praise | Class::Thanks)
    }

    /// Whether the class is evidence against the answer.
    pub(super) fn rejects(self) -> bool {
        use Class::{Abandonment, Correction, Displeasure, Failure, Persisting};
        matches!(self, Correction | Failure | Persisting | Displeasure | Abandonment)
    }
}
