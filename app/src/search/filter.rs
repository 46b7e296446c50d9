//! The search of the address.

use crate::text::escape::query;
use domain::search::{Kind, Line};

/// Path of the page.
pub(super) const PATH: &str = "/search";
/// The search of the address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// `?q=`: conditions and words. `?agent=` and `?status=` are read as conditions of it.
    pub line: Line,
    /// `?kind=`: only what is of this kind.
    pub kind: Option<Kind>,
}

impl Filter {
    /// The address of the search, from a cursor on.
    pub(super) fn href(&self, cursor: Option<&str>) -> String {
        let line = self.line.to_string();
        let q = Some(line.as_str()).filter(|line| !line.is_empty());
        let pairs = [("q", q), ("kind", self.kind.map(Kind::as_str)), ("cursor", cursor)];
        let pairs = pairs.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", query(value?))));
        let pairs = pairs.collect::<Vec<_>>().join("&");
        if pairs.is_empty() { PATH.to_owned() } else { format!("{PATH}?{pairs}") }
    }

    /// Whether there are conditions.
    pub(super) fn is_narrowed(&self) -> bool {
        !self.line.conditions.is_empty()
    }

    /// Whether events are searched.
    pub(super) fn has_events(&self) -> bool {
        matches!(self.kind, None | Some(Kind::Event))
    }

    /// The words alone.
    pub(super) fn words(&self) -> Self {
        Self { line: Line { conditions: Vec::new(), ..self.line.clone() }, kind: self.kind }
    }

    /// Each condition and word, with the address of the search without it.
    pub(super) fn set(&self) -> Vec<(String, String)> {
        let parts = self.line.parts().into_iter().enumerate();
        parts.map(|(place, part)| (part, Self { line: self.line.without(place), kind: self.kind }.href(None))).collect()
    }
}
