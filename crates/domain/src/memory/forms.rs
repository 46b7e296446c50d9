//! Other forms of a word: `launches` and `launched` of `launch`.
//!
//! Stems are not indexed. The words of a search are compared with the words that documents have: two words are forms of
//! each other if one stemmer of Snowball gives both the same stem. Which stemmers are used depends on the letters of a
//! word and on the language of the text that is searched for. Irregular forms, such as `went` of `go`, are not found,
//! and some stems are equal although the words are not related.

use super::{search_word::SearchWord, terms::terms};
use crate::limit::{MEMORY_QUERY_FORMS_MAX, MEMORY_WORD_FORMS_MAX};
use snowball_stemmers_rs::{Algorithm, Stemmer};
use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashSet},
};

/// Fewest letters of a word with other forms, and of a stem.
const CHARS_MIN: usize = 3;
/// Fewest letters of a word whose forms may differ in more than an `s` at the end. Shorter stems are too often equal.
const STEMMED_CHARS_MIN: usize = 4;
/// Share of the longer word that both words must begin with, percent.
const COMMON_PERCENT_MIN: usize = 50;
/// Most letters by which one form may be longer than another.
const LONGER_CHARS_MAX: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    English,
    French,
    German,
    Russian,
    Spanish,
}

/// The languages with Latin letters, and their commonest words as [`terms`] returns them. A word that several of these
/// languages have is listed with each.
const LATIN: [(Language, &str); 4] = [
    (
        Language::English,
        "a about all also am an and are as at be been but by can could did do does for from had has have he her his \
         how i if in into is it its me my no not of on or our out she should so than that the their them then there \
         these they this to up was we were what when where which who why will with would you your",
    ),
    (
        Language::French,
        "a alors au aux avec car ce ces cette comment dans de depuis des deux donc du elle elles en est et etait ete \
         etre il ils je l la le les leur mais me meme mes mon n ne nous ont ou par pas plus pour quand que qui quoi \
         sa sans se ses son sont sur ta te tu un une vous y",
    ),
    (
        Language::German,
        "aber als also am an auch auf aus bei bin bis da das dass dem den der des die du durch ein eine einem einen \
         einer er es fur gegen hat haben ich ihr im in ist ja kann man mein mit nach nicht noch nur oder ohne sich sie \
         sind so und uber um unter vom von vor war was wenn wer wie wir wird wo zu zum zur",
    ),
    (
        Language::Spanish,
        "a al como con cuando de del desde donde el ella ellos en entre era es esta este esto fue ha hay la las le les \
         lo los mas me mi muy ni no nos o para pero por porque que quien se ser si sin sobre su sus te tu un una unos y \
         ya yo",
    ),
];

/// The languages in whose forms the words of a text are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forms {
    /// Those of words with Latin letters.
    latin: Vec<Language>,
}

impl Forms {
    /// Chooses the languages by the common words of a text: those that have most of them. A text without common words
    /// can be in any language.
    pub fn of_text(text: &str) -> Self {
        let said: BTreeSet<String> = terms(text).into_iter().collect();
        let counts = LATIN.map(|(_, common)| common.split(' ').filter(|word| said.contains(*word)).count());
        let most = counts.iter().copied().max().unwrap_or_default();
        let latin = LATIN.iter().zip(counts).filter(|(_, count)| *count == most);
        Self { latin: latin.map(|((language, _), _)| *language).collect() }
    }

    /// Returns those of these words that are none of the commonest of these languages; all, if that leaves none. A text
    /// with a common word alone says nothing about what is looked for.
    pub fn without_common<W: AsRef<str> + Clone>(&self, words: &[W]) -> Vec<W> {
        let languages = LATIN.iter().filter(|(language, _)| self.latin.contains(language));
        let common: HashSet<&str> = languages.flat_map(|(_, common)| common.split(' ')).collect();
        let telling: Vec<W> = words.iter().filter(|word| !common.contains::<str>(word.as_ref())).cloned().collect();
        if telling.is_empty() { words.to_vec() } else { telling }
    }

    /// Whether two words, as [`terms`] returns them, are different forms of one word.
    pub fn are_forms(&self, one: &str, other: &str) -> bool {
        Stemmed::of(self, one).is_some_and(|one| one.has_form(other))
    }

    /// Returns those of these words that can have forms, each with what all its forms begin with.
    pub fn prefixes(&self, words: &[String]) -> Vec<Prefixed> {
        let prefixed = |word: Stemmed<'_>| Prefixed { word: word.word.to_owned(), prefix: word.prefix() };
        words.iter().filter_map(|word| Stemmed::of(self, word)).map(prefixed).collect()
    }

    /// Adds to each word its other forms in a vocabulary: those that are most like it, at most
    /// [`MEMORY_WORD_FORMS_MAX`], and at most [`MEMORY_QUERY_FORMS_MAX`] of all words together. Words of the search are
    /// looked for themselves and are no forms of others.
    pub fn group(&self, words: Vec<String>, vocabulary: &[String]) -> Vec<SearchWord> {
        let known: HashSet<&String> = words.iter().collect();
        let others: Vec<&String> = vocabulary.iter().filter(|word| !known.contains(word)).collect();
        let mut found: Vec<std::vec::IntoIter<&String>> = words.iter().map(|word| self.forms(word, &others)).collect();
        let mut grouped: Vec<SearchWord> = words.iter().map(|word| SearchWord::from(word.as_str())).collect();
        let mut left = MEMORY_QUERY_FORMS_MAX;
        // The most similar form of each word comes before the second one of any.
        for _ in 0..MEMORY_WORD_FORMS_MAX {
            for (word, forms) in grouped.iter_mut().zip(&mut found) {
                if left > 0
                    && let Some(form) = forms.next()
                {
                    word.forms.push(form.clone());
                    left -= 1;
                }
            }
        }
        grouped
    }

    /// Those of these words that are other forms of a word, the most similar first.
    pub fn among(&self, word: &str, words: &[String]) -> Vec<String> {
        self.forms(word, &words.iter().collect::<Vec<_>>()).cloned().collect()
    }

    /// The forms of a word, the most similar first.
    fn forms<'v>(&self, word: &str, vocabulary: &[&'v String]) -> std::vec::IntoIter<&'v String> {
        let Some(stemmed) = Stemmed::of(self, word) else { return Vec::new().into_iter() };
        let prefix = stemmed.prefix();
        let near = vocabulary.iter().copied().filter(|other| other.starts_with(&prefix));
        let mut forms: Vec<&String> = near.filter(|other| stemmed.has_form(other)).collect();
        forms.sort_by_key(|form| (Reverse(common(word, form)), form.chars().count(), *form));
        forms.into_iter()
    }

    /// The languages that a word can be of: by its letters, all of which are of one script.
    fn languages_of(&self, word: &str) -> &[Language] {
        let is_cyrillic = |c: char| matches!(c, '\u{400}'..='\u{4ff}');
        let is_latin = |c: char| c.is_alphabetic() && c < '\u{250}';
        if word.chars().all(is_latin) {
            &self.latin
        } else if word.chars().all(is_cyrillic) {
            &[Language::Russian]
        } else {
            &[]
        }
    }
}

/// A word that can have other forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefixed {
    /// As [`terms`] returns it.
    pub word: String,
    /// What all its forms begin with.
    pub prefix: String,
}

/// A word with its stems.
struct Stemmed<'w> {
    forms: &'w Forms,
    word: &'w str,
    chars: usize,
    stems: Vec<(Language, String)>,
}

impl<'w> Stemmed<'w> {
    /// `None` for a word that has no other forms: a short one, one with digits, one of a script without stemmer.
    fn of(forms: &'w Forms, word: &'w str) -> Option<Self> {
        let chars = word.chars().count();
        let languages = forms.languages_of(word);
        if chars < CHARS_MIN || languages.is_empty() {
            return None;
        }
        let stems = languages.iter().map(|language| (*language, stem(*language, word))).collect();
        Some(Self { forms, word, chars, stems })
    }

    /// What all forms of the word begin with.
    fn prefix(&self) -> String {
        if self.chars < STEMMED_CHARS_MIN {
            return format!("{}s", self.word);
        }
        let kept = |stem: &str| match common(self.word, stem) {
            // The end of a stem can differ from that of a form: `study` and `studies` have the stem `studi`.
            chars if chars > STEMMED_CHARS_MIN || (chars == STEMMED_CHARS_MIN && stem.ends_with(['i', 'y'])) => {
                chars - 1
            }
            chars => chars,
        };
        let kept = self.stems.iter().map(|(_, stem)| kept(stem)).min().unwrap_or(self.chars).max(CHARS_MIN);
        self.word.chars().take(kept).collect()
    }

    fn has_form(&self, other: &str) -> bool {
        let chars = other.chars().count();
        let (shorter, longer) = (self.chars.min(chars), self.chars.max(chars));
        if shorter < CHARS_MIN
            || longer - shorter > LONGER_CHARS_MAX
            || common(self.word, other) * 100 < longer * COMMON_PERCENT_MIN
            || (shorter < STEMMED_CHARS_MIN && !is_with_s(self.word, other) && !is_with_s(other, self.word))
            || self.word == other
        {
            return false;
        }
        let is_of = |language: &Language| self.forms.languages_of(other).contains(language);
        let mut stems = self.stems.iter().filter(|(language, own)| own.chars().count() >= CHARS_MIN && is_of(language));
        stems.any(|(language, own)| *own == stem(*language, other))
    }
}

/// Whether one word is another with an `s`.
fn is_with_s(one: &str, other: &str) -> bool {
    one.strip_suffix('s') == Some(other)
}

/// How many letters two words begin with alike.
fn common(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
}

/// The stem of a word that [`terms`] has returned. Stemmers expect accents, which it has lost: they are put back where
/// the end of a word tells them.
fn stem(language: Language, word: &str) -> String {
    let stemmer = match language {
        Language::English => Stemmer::create(Algorithm::English),
        Language::French => Stemmer::create(Algorithm::French),
        Language::German => Stemmer::create(Algorithm::German),
        Language::Russian => Stemmer::create(Algorithm::Russian),
        Language::Spanish => Stemmer::create(Algorithm::Spanish),
    };
    let accented = match language {
        Language::French => with_french_participle(word),
        Language::Russian => with_short_i(word),
        _ => None,
    };
    stemmer.stem(accented.as_deref().unwrap_or(word)).into_owned()
}

/// `fermée` for `fermee`.
fn with_french_participle(word: &str) -> Option<String> {
    let start = word.strip_suffix("ee").map(|start| (start, "ée"));
    let (start, end) = start.or_else(|| Some((word.strip_suffix("ees")?, "ées")))?;
    Some(format!("{start}{end}"))
}

/// `новый` for `новыи`: after a vowel, an `и` at the end of a word or before `ся` is nearly always a `й`.
fn with_short_i(word: &str) -> Option<String> {
    let (start, end) = match word.strip_suffix("ся") {
        Some(start) => (start, "ся"),
        None => (word, ""),
    };
    let start = start.strip_suffix('и')?;
    start.ends_with(['а', 'е', 'и', 'о', 'у', 'ы', 'ю', 'я']).then(|| format!("{start}й{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether two words as people write them are forms in a text of this language; of any if it is empty.
    fn are_forms(text: &str, one: &str, other: &str) -> bool {
        let word = |text: &str| terms(text).remove(0);
        let forms = Forms::of_text(text);
        let (one, other) = (word(one), word(other));
        let is = forms.are_forms(&one, &other);
        assert_eq!(is, forms.are_forms(&other, &one), "{one}, {other}");
        let begins =
            |form: &str, word: &str| forms.prefixes(&[word.to_owned()]).iter().any(|of| form.starts_with(&of.prefix));
        assert!(!is || (begins(&one, &other) && begins(&other, &one)), "{one}, {other} do not begin alike");
        is
    }

    #[test]
    fn the_commonest_words_of_the_language_of_a_text_are_left_out_unless_it_has_no_others() {
        let left = |text: &str| {
            let words: Vec<SearchWord> = terms(text).iter().map(|word| SearchWord::from(word.as_str())).collect();
            let left = Forms::of_text(text).without_common(&words);
            left.into_iter().map(|word| word.word).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(left("When is the launch of our boat?"), "launch boat");
        assert_eq!(left("Wann ist der Start für das Boot?"), "wann start boot");
        assert_eq!(left("Who is on the die?"), "die", "a common word of another language is kept");
        assert_eq!(left("who are you"), "who are you");
        assert_eq!(left("котёл"), terms("котёл").join(" "));
    }

    #[test]
    fn words_of_five_languages_have_forms_without_accents() {
        for (one, other) in [
            ("launch", "launches"),
            ("launched", "launching"),
            ("study", "studies"),
            ("nut", "nuts"),
            ("Haus", "Häuser"),
            ("Bäume", "Baum"),
            ("großen", "große"),
            ("Rechnung", "Rechnungen"),
            ("fermée", "fermer"),
            ("livrées", "livrer"),
            ("nationaux", "national"),
            ("heureuse", "heureux"),
            ("canción", "canciones"),
            ("plantamos", "plantar"),
            ("новый", "новая"),
            ("сарай", "сараем"),
        ] {
            assert!(are_forms("", one, other), "{one}, {other}");
        }
    }

    #[test]
    fn numbers_names_of_code_and_scripts_without_stemmer_have_no_forms() {
        for (one, other) in [
            ("launch", "launch"),
            ("2026", "202"),
            ("v1beta", "v1betas"),
            ("東", "東"),
            ("タワー", "タワ"),
            ("is", "i"),
            ("her", "here"),
            ("the", "then"),
            ("лодка", "lodka"),
            ("went", "go"),
        ] {
            assert!(!are_forms("", one, other), "{one}, {other}");
        }
        assert_eq!(Forms::of_text("").prefixes(&["2026".into(), "東".into(), "ab".into()]), []);
    }

    #[test]
    fn the_common_words_of_a_text_tell_its_languages() {
        assert!(are_forms("", "later", "late"));
        assert!(!are_forms("Who is late?", "later", "late"));
        assert!(are_forms("Wer kommt zu spät?", "später", "spät"));
        assert!(!are_forms("When is the launch?", "Häuser", "Haus"));
        assert!(are_forms("die launches", "Häuser", "Haus"));
        assert!(are_forms("When is the launch?", "новый", "новая"), "another script");
    }

    #[test]
    fn the_most_similar_forms_are_taken_in_turns() {
        let forms = Forms::of_text("");
        let vocabulary = ["launch", "launched", "launches", "launching", "laundry", "tests"].map(str::to_owned);
        let words = ["launches", "test", "launch"].map(str::to_owned);
        let grouped = forms.group(words.to_vec(), &vocabulary);
        let of = |at: usize| grouped[at].forms.iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(
            (of(0), of(1), of(2)),
            (vec!["launched", "launching"], vec!["tests"], vec!["launched", "launching"])
        );
        let many: Vec<String> = (0..40).map(|number| format!("{}s", letters(number))).collect();
        let vocabulary: Vec<String> = (0..40).flat_map(|n| [letters(n), format!("{}ing", letters(n))]).collect();
        let counts: Vec<usize> = forms.group(many, &vocabulary).iter().map(|word| word.forms.len()).collect();
        assert_eq!(counts.iter().sum::<usize>(), MEMORY_QUERY_FORMS_MAX);
        assert!(counts.iter().all(|count| (1..=2).contains(count)), "{counts:?}");
    }

    /// A word for each number below 40, none a form of another.
    fn letters(number: usize) -> String {
        let letter = |at: usize| char::from(b"bcdfghkmnp"[at % 10]);
        format!("{}{}ool{}ank", letter(number), ["a", "e", "i", "o"][number / 10], letter(number))
    }

    proptest::proptest! {
        #[test]
        fn any_word_has_stems(one in "[a-zß-ÿа-яё]{1,48}", other in "[a-zß-ÿ]{0,20}(ee|ees|и|ися|ies)") {
            for word in terms(&one).iter().chain(&terms(&other)) {
                Forms::of_text("").prefixes(std::slice::from_ref(word));
            }
        }
    }
}
