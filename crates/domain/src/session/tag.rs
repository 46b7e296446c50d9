//! Tags of a session: words by which people sort sessions and find them again.

use crate::{
    limit::{SESSION_TAGS_MAX, TAG_CHARS_MAX},
    slug::is_slug,
};

/// Whether `text` is a tag: a slug of at most [`TAG_CHARS_MAX`] characters.
pub fn is_tag(text: &str) -> bool {
    text.len() <= TAG_CHARS_MAX && is_slug(text)
}

/// A change of tags that differs from what the session has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retagged {
    /// Tags after the change, in the order of the alphabet, each once.
    pub tags: Vec<String>,
    /// Tags that the session did not have.
    pub added: Vec<String>,
    /// Tags that it has no more.
    pub removed: Vec<String>,
}

/// The session would have more than [`SESSION_TAGS_MAX`] tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a session has at most {} tags", SESSION_TAGS_MAX)]
pub struct TooManyTags;

/// Adds and removes tags. A tag that is added and removed is removed. `None` if nothing changes.
///
/// # Errors
/// [`TooManyTags`] if tags are added and there would be more than [`SESSION_TAGS_MAX`].
pub fn retag(present: &[String], add: &[String], remove: &[String]) -> Result<Option<Retagged>, TooManyTags> {
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for tag in add {
        if !present.contains(tag) && !remove.contains(tag) && !added.contains(tag) {
            added.push(tag.clone());
        }
    }
    for tag in remove {
        if present.contains(tag) && !removed.contains(tag) {
            removed.push(tag.clone());
        }
    }
    if added.is_empty() && removed.is_empty() {
        return Ok(None);
    }
    let tags = applied(present, &added, &removed);
    if !added.is_empty() && tags.len() > SESSION_TAGS_MAX {
        return Err(TooManyTags);
    }
    Ok(Some(Retagged { tags, added, removed }))
}

/// The tags after a recorded change, in the order of the alphabet, each once.
pub fn applied(present: &[String], added: &[String], removed: &[String]) -> Vec<String> {
    let mut tags: Vec<String> = present.iter().chain(added).filter(|tag| !removed.contains(tag)).cloned().collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(tags: &[&str]) -> Vec<String> {
        tags.iter().map(|tag| (*tag).to_owned()).collect()
    }

    #[test]
    fn a_tag_is_a_short_slug() {
        for good in ["a", "billing", "q4-2026", &"x".repeat(TAG_CHARS_MAX)] {
            assert!(is_tag(good), "{good}");
        }
        for bad in ["", "Billing", "two words", "-a", "a--b", "ä", &"x".repeat(TAG_CHARS_MAX + 1)] {
            assert!(!is_tag(bad), "{bad}");
        }
    }

    #[test]
    fn only_what_differs_is_a_change_and_its_record_leads_to_the_same_tags() {
        let present = texts(&["billing", "urgent"]);
        let change = retag(&present, &texts(&["urgent", "acme", "acme"]), &texts(&["billing", "none"])).unwrap();
        let change = change.unwrap();
        assert_eq!(change.tags, texts(&["acme", "urgent"]));
        assert_eq!((change.added.clone(), change.removed.clone()), (texts(&["acme"]), texts(&["billing"])));
        assert_eq!(applied(&present, &change.added, &change.removed), change.tags);
        assert_eq!(retag(&present, &texts(&["urgent"]), &texts(&["none"])), Ok(None));
        assert_eq!(retag(&present, &texts(&["new"]), &texts(&["new"])), Ok(None), "removed as soon as it was added");
    }

    #[test]
    fn a_session_has_a_bounded_number_of_tags_and_can_always_lose_some() {
        let full: Vec<String> = (0..SESSION_TAGS_MAX).map(|number| format!("t{number}")).collect();
        assert_eq!(retag(&full, &texts(&["one-more"]), &[]), Err(TooManyTags));
        assert!(retag(&full, &texts(&["one-more"]), &texts(&["t0"])).is_ok_and(|change| change.is_some()));
        assert!(retag(&full, &[], &texts(&["t0"])).is_ok_and(|change| change.is_some()));
    }
}
