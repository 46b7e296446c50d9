//! Labels made from machine names.

/// A label made from a slug: `close-date` becomes `Close date`.
pub fn slug_label(slug: &str) -> String {
    capitalized(&slug.replace(['-', '_'], " "))
}

/// The text with a capital first letter.
pub fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_becomes_a_label() {
        assert_eq!(
            [slug_label("close-date"), slug_label("élan_vital"), slug_label("")],
            ["Close date", "Élan vital", ""]
        );
    }
}
