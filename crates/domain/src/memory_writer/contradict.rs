//! Lines that contradict each other, as far as their words tell.

use super::text::{normal, says_something};

/// Words that turn a statement into its opposite.
const NEGATIONS: [&str; 18] = [
    "not", "no", "never", "longer", "don", "doesn", "isn", "cannot", "nicht", "kein", "keine", "nie", "ne", "pas",
    "non", "ikke", "nunca", "geen",
];
/// Fewest words that two lines have in common before and after the one in which they differ.
const COMMON_WORDS_MIN: usize = 2;

/// Returns the lines of a body that contradict a line of a document, as `new line` and `old line`: lines that differ in
/// one word, such as another place or number, and lines of which one negates the other.
pub fn contradictions(body: &str, document: &str) -> Vec<(String, String)> {
    let old: Vec<(&str, String)> =
        document.lines().filter(|line| says_something(line)).map(|line| (line, normal(line))).collect();
    let mut found = Vec::new();
    for line in body.lines().filter(|line| says_something(line)) {
        let own = normal(line);
        let against = old.iter().find(|(_, other)| contradict(&own, other));
        found.extend(against.map(|(other, _)| (line.trim().to_owned(), other.trim().to_owned())));
    }
    found
}

/// Whether two lines in the form of [`normal`] contradict each other.
fn contradict(one: &str, other: &str) -> bool {
    let (one, other): (Vec<&str>, Vec<&str>) = (one.split(' ').collect(), other.split(' ').collect());
    let before = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let rest = one.len().min(other.len()) - before;
    let after = one.iter().rev().zip(other.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    if before + after < COMMON_WORDS_MIN {
        return false;
    }
    let (left, right) = (&one[before..one.len() - after], &other[before..other.len() - after]);
    let negates = |words: &[&str]| words.len() <= 2 && words.iter().any(|word| NEGATIONS.contains(word));
    (left.len() == 1 && right.len() == 1 && !is_other_form(left[0], right[0]))
        || (right.is_empty() && negates(left))
        || (left.is_empty() && negates(right))
}

/// Letters that two forms of a word have in common at least, if neither is the beginning of the other.
const STEM_CHARS_MIN: usize = 4;
/// Letters that follow them at most.
const ENDING_CHARS_MAX: usize = 2;

/// Whether one word is the other with another ending. Numbers have no endings.
fn is_other_form(one: &str, other: &str) -> bool {
    if one.contains(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let stem = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let (left, right) = (one.chars().count() - stem, other.chars().count() - stem);
    left == 0 || right == 0 || (stem >= STEM_CHARS_MIN && left.max(right) <= ENDING_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_value_and_a_negation_contradict_and_other_facts_do_not() {
        for (new, old) in [
            ("- Lives in Bergen", "- Lives in Oslo"),
            ("- The budget is 60 dollars", "* The budget is 50 dollars"),
            ("- Does not eat meat", "- Does eat meat"),
            ("- Works on Fridays", "- Works never on Fridays"),
            ("- Wohnt in Bonn", "- Wohnt in Köln"),
            ("- Is married to Anna", "- Is married to Anne"),
        ] {
            let found = contradictions(new, old);
            assert_eq!(found, [(new.to_owned(), old.to_owned())], "{new}");
            assert_eq!(contradictions(old, new).len(), 1, "{new}");
        }
        for (new, old) in [
            ("- Likes tea", "- Likes trains"),
            ("- Likes green teas", "- Likes green tea"),
            ("- Moved to Oslo", "- Moves to Oslo"),
            ("- Lives in Oslo", "- Lives in Oslo"),
            ("- Lives in Oslo", "- Lives in Oslo since March"),
            ("- Plays chess", "- Has a dog"),
            ("", "- Lives in Oslo"),
            ("## Lives in Bergen", "- Lives in Oslo"),
        ] {
            assert_eq!(contradictions(new, old), [], "{new}");
        }
    }
}
