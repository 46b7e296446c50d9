//! The words of names in an index of rows: one row for each word of a name. The rows say which names can be found, and
//! [`Query::rank`] which of them are.

use super::{query::Query, word::EventWords};
use crate::limit::SEARCH_NAME_WORDS_MAX;
use std::collections::BTreeSet;

/// The words by which a name is found: its words and the parts of those that are written `likeThis`. The first
/// [`SEARCH_NAME_WORDS_MAX`] of each.
pub fn name_words(name: &str) -> BTreeSet<String> {
    let EventWords { words, parts } = EventWords::of(name);
    let words = words.into_iter().flatten().take(SEARCH_NAME_WORDS_MAX);
    words.chain(parts.into_iter().take(SEARCH_NAME_WORDS_MAX)).collect()
}

/// Words from `low` to `high`, both included, in the order of their bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordRange {
    /// Counts the words that are searched for, from 0. A name needs a word of each number.
    pub number: u32,
    /// The first word.
    pub low: String,
    /// The last word.
    pub high: String,
}

impl Query {
    /// The words that each name has that [`Query::rank`] finds by the name alone. Order and excluded words are not
    /// among them.
    pub fn name_ranges(&self) -> Vec<WordRange> {
        let (mut ranges, mut number) = (Vec::new(), 0);
        for unit in self.units.iter().filter(|unit| !unit.is_excluded) {
            let last = unit.terms.len().saturating_sub(1);
            for (at, term) in unit.terms.iter().enumerate() {
                let end = if unit.is_prefix && at == last { "\u{10ffff}" } else { "" };
                ranges.push(WordRange { number, low: term.clone(), high: format!("{term}{end}") });
                // Only a single word has other forms.
                let forms = unit.forms.iter().filter(|_| last == 0);
                ranges.extend(forms.map(|form| WordRange { number, low: form.clone(), high: form.clone() }));
                number += 1;
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Rank;

    /// Whether an index with the words of this name finds it.
    fn is_in_reach(query: &Query, name: &str) -> bool {
        let (words, ranges) = (name_words(name), query.name_ranges());
        let is_found = |number| {
            let of = |range: &&WordRange| range.number == number;
            ranges.iter().filter(of).any(|range| words.range(range.low.clone()..=range.high.clone()).next().is_some())
        };
        let numbers: BTreeSet<u32> = ranges.iter().map(|range| range.number).collect();
        numbers.into_iter().all(is_found)
    }

    #[test]
    fn a_name_is_in_reach_of_its_words_their_forms_beginnings_and_parts() {
        for (text, name, is_found) in [
            ("refund", "Refunds of Acme", true),
            ("acme refund", "Refund Acme", true),
            ("acme refund", "Acme", false),
            ("unauth*", "Unauthorized", true),
            ("unauth*", "Authorized", false),
            ("bot", "refundBot", true),
            ("foo_ba*", "foo_bar", true),
            ("cafe", "Café", true),
            ("東京", "東京タワー", true),
            ("größ*", "Größe", true),
        ] {
            assert_eq!(is_in_reach(&Query::parse(text).unwrap(), name), is_found, "{text}: {name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn each_name_that_a_search_finds_is_in_reach(
            name in "([a-zA-Zé東京]{1,9}(s|ed|ing|Bot)?[ _/.]){1,6}",
            query in "[a-zé東]{1,8}(s|ed|\\*)?( [a-z]{1,4})?",
        ) {
            if let Ok(query) = Query::parse(&query)
                && matches!(query.rank(&name, ""), Some(Rank::WholeName | Rank::Name))
            {
                proptest::prop_assert!(is_in_reach(&query, &name), "{name}");
            }
        }
    }
}
