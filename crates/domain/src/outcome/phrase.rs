//! Phrases of the tables: consecutive words with patterns, and how they match.

use std::collections::{BTreeMap, BTreeSet};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_segmentation::UnicodeSegmentation;

/// The placeholder in a phrase for one to [`GAP_WORDS_MAX`] words.
const GAP: &str = "…";
/// Most words that a gap can match.
const GAP_WORDS_MAX: usize = 6;
/// Least length of a phrase of one word that is also found without its accents, characters.
const PLAIN_CHARS_MIN: usize = 5;
/// Letters from this one on (Cyrillic and later) keep their marks.
const MARKS_END: char = '\u{400}';

/// Consecutive words. A word that ends in `*` matches all words with that beginning, one that begins with `*` all
/// with that end, and `…` matches one to six words.
pub(super) type Phrase = Vec<String>;

/// Reads a phrase of a table.
///
/// # Errors
/// What is wrong, if the text has no words, or is not written as phrases are.
pub(super) fn read(text: &str) -> Result<Phrase, String> {
    let words: Phrase = text.split_whitespace().flat_map(words_of).collect();
    if words.is_empty() || words.iter().any(|word| word == "*") || words[0] == GAP {
        return Err(format!("`{text}` is not a phrase"));
    }
    if text.to_lowercase() != text || text.contains('’') {
        return Err(format!("`{text}`: phrases are lower case, with straight apostrophes"));
    }
    Ok(words)
}

/// Returns the words of a piece of a phrase. Characters of Chinese and Japanese are words by themselves, as in
/// messages.
fn words_of(piece: &str) -> Vec<String> {
    let is_ideographic = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}');
    match piece.contains(is_ideographic) {
        true => piece.unicode_words().map(str::to_owned).collect(),
        false => vec![piece.to_owned()],
    }
}

/// Adds the longer phrases as people type them without accents ("nao funciona") and apostrophes ("thats wrong"), unless
/// they mean something else then. A single word with its accent on the last letter is another form of its verb without
/// it: "trouvé" is "found", and "trouve" is "find".
pub(super) fn add_without_marks<T: Copy>(phrases: &mut Vec<(Phrase, T)>) {
    let known: BTreeSet<Phrase> = phrases.iter().map(|(phrase, _)| phrase.clone()).collect();
    let mut added = BTreeMap::<Phrase, T>::new();
    for (phrase, class) in phrases.iter() {
        let plain: Phrase = phrase.iter().map(|word| without_accents(word)).collect();
        let is_other_form = phrase[0].chars().last() != plain[0].chars().last();
        let is_long = plain.len() > 1 || plain[0].chars().count() >= PLAIN_CHARS_MIN && !is_other_form;
        let bare: Phrase = plain.iter().map(|word| word.replace('\'', "")).collect();
        for typed in [plain, bare] {
            if is_long && !known.contains(&typed) {
                added.entry(typed).or_insert(*class);
            }
        }
    }
    phrases.extend(added);
}

fn without_accents(word: &str) -> String {
    if word == GAP || !word.chars().all(|c| c.is_alphabetic() && c < MARKS_END || "*'".contains(c)) {
        return word.to_owned();
    }
    let plain = |letter: char| match letter {
        'ı' => 'i',
        'ł' => 'l',
        other => other,
    };
    word.nfd().filter(|letter| !is_combining_mark(*letter)).map(plain).collect()
}

/// Whether a word of a phrase matches other words than itself.
pub(super) fn is_pattern(word: &str) -> bool {
    word == GAP || word.contains('*')
}

/// Returns how many words the phrase matches at the start of `words`; `None` if it does not match.
pub(super) fn begins(words: &[String], phrase: &[String]) -> Option<usize> {
    let Some((wanted, rest)) = phrase.split_first() else { return Some(0) };
    if wanted == GAP {
        return (1..=GAP_WORDS_MAX.min(words.len())).find_map(|gap| Some(gap + begins(&words[gap..], rest)?));
    }
    let (word, words) = words.split_first()?;
    let fits = match (wanted.strip_suffix('*'), wanted.strip_prefix('*')) {
        (Some(stem), _) => word.starts_with(stem),
        (None, Some(ending)) => word.ends_with(ending),
        (None, None) => word == wanted,
    };
    if fits { Some(1 + begins(words, rest)?) } else { None }
}

/// Returns how many words the longest of the phrases that match matches at the start of `words`.
pub(super) fn longest(words: &[String], phrases: &[Phrase]) -> Option<usize> {
    phrases.iter().filter_map(|phrase| begins(words, phrase)).max()
}

/// Whether one of the phrases matches anywhere in `words`.
pub(super) fn any_within(words: &[String], phrases: &[Phrase]) -> bool {
    (0..words.len()).any(|at| any_begins(&words[at..], phrases))
}

/// Whether one of the phrases matches at the start of `words`.
pub(super) fn any_begins(words: &[String], phrases: &[Phrase]) -> bool {
    phrases.iter().any(|phrase| begins(words, phrase).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_chinese_and_japanese_are_words_by_themselves() {
        assert_eq!(read("不对").unwrap(), ["不", "对"]);
        assert_eq!(read("エラーが出").unwrap(), ["エラー", "が", "出"]);
        assert_eq!(read("that's wrong").unwrap(), ["that's", "wrong"]);
    }

    #[test]
    fn phrases_are_found_as_people_type_them() {
        let mut phrases = vec![("não funciona", 1), ("that's it", 2), ("só", 3), ("trouvé", 4)]
            .into_iter()
            .map(|(text, class)| (read(text).unwrap(), class))
            .collect::<Vec<_>>();
        add_without_marks(&mut phrases);
        let added: Vec<(String, i32)> = phrases[4..].iter().map(|(words, class)| (words.join(" "), *class)).collect();
        assert_eq!(added, [("nao funciona".to_owned(), 1), ("thats it".to_owned(), 2)]);
    }
}
