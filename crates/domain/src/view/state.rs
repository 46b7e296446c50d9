//! States of a view, and the rules of its slug.

use crate::{names::names, slug::is_slug};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether a view takes responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It was never published. Only a draft can be deleted.
    Draft,
    /// It takes responses, to its newest version.
    Published,
    /// It was published before and takes no responses now. Its versions and responses stay.
    Unpublished,
}

names!(State { Draft = "draft", Published = "published", Unpublished = "unpublished" });

/// Slugs that no view can have, because pages below `/views/` have these names.
const RESERVED: [&str; 1] = ["new"];

/// Whether `text` can be the slug of a view: a slug that no page below `/views/` has as its name.
pub fn is_view_slug(text: &str) -> bool {
    is_slug(text) && !RESERVED.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_cannot_be_named_as_a_page() {
        assert!(is_view_slug("feedback") && is_view_slug("new-customer"));
        assert!(!is_view_slug("new") && !is_view_slug("Feedback") && !is_view_slug(""));
    }

    #[test]
    fn each_state_reads_back_from_its_name() {
        for state in State::ALL {
            assert_eq!(State::parse(state.as_str()), Some(state));
        }
    }
}
