//! Other forms of a word of a search, made from its beginning and the endings that words of its languages have.
//!
//! A log has too many words to look for forms among them, as a search in memory does. A form that no event has costs
//! one look-up. Which of the words made are forms is for [`Forms`] to say.

use crate::{
    limit::SEARCH_WORD_FORMS_MAX,
    memory::{Forms, Prefixed},
};
use std::collections::HashSet;

/// Endings of English, French, German and Spanish words, as `terms` returns them: without accents.
const LATIN: &str = "s es ed d e er ers ing y ies ied ly ment ments \
     en em n st t te ten tet ung ungen \
     ee ees ez ent ons ant ait x aux al le el elle eux euse euses \
     o a os as an ar ir amos ando iendo ado ada ados adas io ieron ion iones cion ciones";
/// Endings of Russian words, as `terms` returns them: `й` has become `и`.
const CYRILLIC: &str = "а я о е ы и у ю ь ои ыи ии ая яя ое ее ые ие ого его ому ему ым им ом ем ам ям ами ями ах ях \
     ов ев еи ую юю ешь ет ют ут ишь ит ят ат ть л ла ло ли";
/// Beginnings of a word that endings are added to, beside the word itself: the shortest.
const BEGINNINGS: usize = 3;

/// Other forms of a word, as `terms` returns it, at most [`SEARCH_WORD_FORMS_MAX`]: those with the shortest beginning.
pub(super) fn other_forms(forms: &Forms, word: &str) -> Vec<String> {
    let Some(Prefixed { prefix, .. }) = forms.prefixes(&[word.to_owned()]).into_iter().next() else {
        return Vec::new();
    };
    let endings = if word.is_ascii() { LATIN } else { CYRILLIC };
    let starts = word.char_indices().map(|(at, _)| at).filter(|at| *at >= prefix.len());
    let (mut made, mut known) = (Vec::new(), HashSet::new());
    let mut make = |form: String| {
        if known.insert(form.clone()) {
            made.push(form);
        }
    };
    for start in starts.take(BEGINNINGS).chain([word.len()]).map(|at| &word[..at]) {
        make(start.to_owned());
        for ending in endings.split(' ').filter(|ending| !ending.is_empty()) {
            make(format!("{start}{ending}"));
            // `plan`, `planned`.
            if let Some(last) = start.chars().last().filter(|_| word.is_ascii() && ending.starts_with(['e', 'i'])) {
                make(format!("{start}{last}{ending}"));
            }
        }
    }
    let found: HashSet<String> = forms.among(word, &made).into_iter().collect();
    made.retain(|form| found.contains(form));
    made.truncate(SEARCH_WORD_FORMS_MAX);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_forms_are_made_from_each_other() {
        for forms in [
            &["refund", "refunds", "refunded", "refunding"][..],
            &["launch", "launches", "launched", "launching"],
            &["plan", "plans", "planned", "planning"],
            &["study", "studies", "studied"],
            &["delete", "deleted", "deletes", "deleting"],
            &["rechnung", "rechnungen"],
            &["cancion", "canciones"],
            &["лодка", "лодки", "лодку"],
        ] {
            for word in forms {
                let made = other_forms(&Forms::of_text(""), word);
                for other in forms.iter().filter(|other| *other != word) {
                    assert!(made.contains(&(*other).to_owned()), "{other} of {word}: {made:?}");
                }
            }
        }
    }

    #[test]
    fn names_and_numbers_have_no_forms() {
        for word in ["e0277", "2026", "東", "ab"] {
            assert_eq!(other_forms(&Forms::of_text(""), word), [""; 0], "{word}");
        }
    }

    proptest::proptest! {
        #[test]
        fn forms_are_few_and_others_than_their_word(word in "[a-z]{1,20}|[а-я]{1,12}") {
            for word in crate::memory::terms(&word) {
                let made = other_forms(&Forms::of_text(""), &word);
                proptest::prop_assert!(made.len() <= SEARCH_WORD_FORMS_MAX && !made.contains(&word));
            }
        }
    }
}
