//! The rules of a view's slug.

use crate::slug::is_slug;

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
}
