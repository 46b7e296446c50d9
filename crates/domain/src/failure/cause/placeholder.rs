//! What a normalised message has in the place of a part that differs between failures.

/// A placeholder in a normalised message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    Number,
    Id,
    Host,
    Path,
    Address,
    Time,
    Duration,
    Size,
    Value,
}

impl Cut {
    const ALL: [Self; 9] = [
        Self::Number,
        Self::Id,
        Self::Host,
        Self::Path,
        Self::Address,
        Self::Time,
        Self::Duration,
        Self::Size,
        Self::Value,
    ];

    /// The placeholder.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Number => "‹number›",
            Self::Id => "‹id›",
            Self::Host => "‹host›",
            Self::Path => "‹path›",
            Self::Address => "‹address›",
            Self::Time => "‹time›",
            Self::Duration => "‹duration›",
            Self::Size => "‹size›",
            Self::Value => "‹value›",
        }
    }

    /// Returns the placeholder with which a text begins, and what follows it.
    pub(super) fn at(text: &str) -> Option<(Self, &str)> {
        Self::ALL.into_iter().find_map(|cut| Some((cut, text.strip_prefix(cut.as_str())?)))
    }
}
