//! Problems that a check finds, with their places.

/// One problem that a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Place of the problem: a field's slug, or a path such as `fields[2].slug` or `events[3].type`.
    pub field: String,
    /// What is wrong or what a valid value is, for people.
    pub message: String,
}

impl Issue {
    /// Creates an issue.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}
