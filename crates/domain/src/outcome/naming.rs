//! Which words can name what a text is about. In languages that are compared by characters a name is several of them.

use super::language::Language;

impl Language {
    /// Whether a word can name what a text is about: it is no frequent word and has at least `chars_min` characters. In
    /// languages that are compared by characters it is an ideograph or a word in katakana.
    pub(super) fn can_name(&self, word: &str, chars_min: usize) -> bool {
        let is_long = || word.chars().count() >= chars_min;
        let is_kana = |c: char| matches!(c, '\u{3040}'..='\u{309f}');
        let is_weighty = if self.is_by_character() { !word.starts_with(is_kana) } else { is_long() };
        (is_weighty || word.contains(|c: char| c.is_ascii_digit())) && !self.is_common(word)
    }

    /// Returns two neighbouring words as one, if they can be characters of a word that names something; `None` in
    /// languages that separate words.
    pub(super) fn word_of(&self, pair: &[String]) -> Option<String> {
        let is_ideograph = |word: &String| word.starts_with(|c: char| ('\u{3400}'..='\u{9fff}').contains(&c));
        let [one, other] = pair else { return None };
        let is_word = self.is_by_character() && is_ideograph(one) && is_ideograph(other);
        (is_word && !(self.is_common(one) && self.is_common(other))).then(|| format!("{one}{other}"))
    }

    /// Returns the words that no phrase covers.
    pub(super) fn beside_phrases<'a>(&self, words: &'a [String]) -> impl Iterator<Item = &'a String> {
        let mut covered = 0;
        let is_free = move |at: &usize| {
            covered = covered.max(at + self.phrase_at(&words[*at..]).map_or(0, |(length, _)| length));
            covered <= *at
        };
        (0..words.len()).filter(is_free).map(|at| &words[at])
    }

    /// Returns the least number of characters of a word that can name something, `chars_min` in languages that separate
    /// words.
    pub(super) fn name_chars_min(&self, chars_min: usize) -> usize {
        (chars_min / self.span(1)).max(2)
    }
}
