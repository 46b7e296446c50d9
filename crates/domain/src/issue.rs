//! What a check finds wrong, and where.

/// One thing that a check found wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// A field's slug, or a path such as `fields[2].slug`.
    pub field: String,
    /// What is wrong and what would be right, for people.
    pub message: String,
}

impl Issue {
    pub(crate) fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}
