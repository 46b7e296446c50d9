//! Slugs: the names that appear in URLs and on command lines.

use crate::limit::SLUG_CHARS_MAX;

/// Whether `text` is a slug: 1 to [`SLUG_CHARS_MAX`] lower-case letters, digits and single inner hyphens.
pub fn is_slug(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= SLUG_CHARS_MAX
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.contains("--")
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// Makes a slug from any name: `Weekly report (EU)` becomes `weekly-report-eu`. `None` if no ASCII letter or
/// digit is left.
pub fn slugify(name: &str) -> Option<String> {
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= SLUG_CHARS_MAX {
            break;
        }
    }
    let slug = slug.trim_end_matches('-').to_owned();
    is_slug(&slug).then_some(slug)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_lower_case_words_joined_by_single_hyphens() {
        for good in ["a", "scout", "weekly-report-2", "0"] {
            assert!(is_slug(good), "{good}");
        }
        for bad in ["", "-a", "a-", "a--b", "A", "a b", "ä", "a/b", &"x".repeat(65)] {
            assert!(!is_slug(bad), "{bad}");
        }
    }

    #[test]
    fn a_name_becomes_a_slug_or_nothing() {
        assert_eq!(slugify("Weekly report (EU)").as_deref(), Some("weekly-report-eu"));
        assert_eq!(slugify("  ---  "), None);
        assert_eq!(slugify("日本"), None);
        assert!(is_slug(&slugify(&"ab ".repeat(100)).unwrap()));
    }
}
