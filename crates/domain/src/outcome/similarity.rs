//! Similarity of two messages, independent of their language.

use std::collections::BTreeSet;

/// Least number of letters that two forms of a word share at their start, and most letters after them.
const FORM_SHARED_CHARS_MIN: usize = 4;
const FORM_ENDING_CHARS_MAX: usize = 3;

/// Returns the similarity of two requests in thousandths: the larger of the overlap of words and the overlap of
/// letter triples. The overlap of words ignores order; the overlap of triples tolerates inflection and
/// spelling.
pub(super) fn similarity(one: &[&str], other: &[&str]) -> u16 {
    let words = overlap(&one.iter().copied().collect(), &other.iter().copied().collect());
    let triples = overlap(&triples(one), &triples(other));
    words.max(triples)
}

/// Returns Dice's coefficient in thousandths; 0 for two empty sets.
pub(super) fn overlap<T: Ord>(one: &BTreeSet<T>, other: &BTreeSet<T>) -> u16 {
    let total = one.len() + other.len();
    if total == 0 {
        return 0;
    }
    u16::try_from(2_000 * one.intersection(other).count() / total).unwrap_or(1_000)
}

fn triples(words: &[&str]) -> BTreeSet<[char; 3]> {
    let mut found = BTreeSet::new();
    for word in words {
        let padded: Vec<char> = std::iter::once(' ').chain(word.chars()).chain([' ']).collect();
        found.extend(padded.windows(3).map(|three| [three[0], three[1], three[2]]));
    }
    found
}

/// Whether two words share all but the end, as forms of inflected languages do: "metro" and "metra".
pub(super) fn is_form(one: &str, other: &str) -> bool {
    let shared = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let longest = one.chars().count().max(other.chars().count());
    shared >= FORM_SHARED_CHARS_MIN && longest - shared <= FORM_ENDING_CHARS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_alike_in_any_order() {
        assert_eq!(similarity(&["a", "big", "dog"], &["dog", "a", "big"]), 1_000);
        assert_eq!(similarity(&["cat"], &["dog"]), 0);
        assert_eq!(similarity(&[], &[]), 0);
    }

    #[test]
    fn inflected_words_are_partly_alike() {
        let alike = similarity(&["sortiere", "die", "liste"], &["sortieren", "der", "listen"]);
        assert!((400..900).contains(&alike), "{alike}");
    }
}
