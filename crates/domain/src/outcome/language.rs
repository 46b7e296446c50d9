//! Phrases of one language, as data. `docs/feedback-data.md` says how to add one.

use serde::Deserialize;
use std::sync::LazyLock;

const BUILT_IN: [(&str, &str); 2] = [("en", include_str!("en.toml")), ("de", include_str!("de.toml"))];
/// Of all words, how many have to be words of a language before its phrases are believed, in thousandths.
const SHARE_MIN: usize = 180;

/// What a phrase says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// It worked.
    Success,
    /// It is good.
    Praise,
    /// Thanks, which may be mere politeness.
    Thanks,
    /// It is not what was asked or not true.
    Correction,
    /// It does not work.
    Failure,
    /// It still does not work: said in a question too.
    Persisting,
    /// It is bad.
    Displeasure,
    /// The person gives up.
    Abandonment,
    /// Heard, no opinion.
    Acknowledgement,
    /// Looks like one of the above and is none of them.
    Idiom,
}

impl Class {
    /// Speaks for the answer.
    pub(super) fn accepts(self) -> bool {
        matches!(self, Class::Success | Class::Praise | Class::Thanks)
    }

    /// Speaks against the answer.
    pub(super) fn rejects(self) -> bool {
        use Class::{Abandonment, Correction, Displeasure, Failure, Persisting};
        matches!(self, Correction | Failure | Persisting | Displeasure | Abandonment)
    }
}

/// A file of phrases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    success: Vec<String>,
    praise: Vec<String>,
    thanks: Vec<String>,
    correction: Vec<String>,
    failure: Vec<String>,
    persisting: Vec<String>,
    displeasure: Vec<String>,
    abandonment: Vec<String>,
    acknowledgement: Vec<String>,
    idiom: Vec<String>,
    contrast: Vec<String>,
    request: Vec<String>,
    own: Vec<String>,
    more: Vec<String>,
    refusal: Vec<String>,
    negation: Vec<String>,
    negation_follows: bool,
    common: Vec<String>,
}

/// A file of phrases that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the phrases of `{language}` cannot be used: {why}")]
pub struct InvalidTable {
    /// Its code.
    pub language: String,
    /// What is wrong, with line and column where the file cannot be read.
    pub why: String,
}

/// Words in a row; a word that ends in `*` stands for all that begin so.
type Phrase = Vec<String>;

/// One language.
#[derive(Debug, Clone)]
pub struct Language {
    /// BCP 47 code, such as `en`.
    pub code: String,
    phrases: Vec<(Phrase, Class)>,
    contrast: Vec<Phrase>,
    request: Vec<Phrase>,
    own: Vec<Phrase>,
    more: Vec<Phrase>,
    refusal: Vec<Phrase>,
    negation: Vec<Phrase>,
    /// The negation may come after what it negates ("das hilft nicht").
    pub(super) negation_follows: bool,
    common: Vec<Phrase>,
}

impl Language {
    /// Reads a file of phrases.
    ///
    /// # Errors
    /// [`InvalidTable`] if it is not TOML, misses or invents a field, or has a phrase without a word.
    pub fn read(code: &str, toml: &str) -> Result<Language, InvalidTable> {
        let refused = |why: String| InvalidTable { language: code.to_owned(), why };
        let table: Table = toml::from_str(toml).map_err(|error| refused(error.to_string()))?;
        let list = |texts: &[String]| {
            texts.iter().map(|text| phrase(text).map_err(&refused)).collect::<Result<Vec<Phrase>, _>>()
        };
        let classes = [
            (Class::Success, &table.success),
            (Class::Praise, &table.praise),
            (Class::Thanks, &table.thanks),
            (Class::Correction, &table.correction),
            (Class::Failure, &table.failure),
            (Class::Persisting, &table.persisting),
            (Class::Displeasure, &table.displeasure),
            (Class::Abandonment, &table.abandonment),
            (Class::Acknowledgement, &table.acknowledgement),
            (Class::Idiom, &table.idiom),
        ];
        let mut phrases = Vec::new();
        for (class, texts) in classes {
            let read = list(texts)?;
            phrases.extend(read.into_iter().map(|phrase| (phrase, class)));
        }
        // The longest phrase at a place wins, so "not bad" is found before "bad".
        phrases.sort_by_key(|(phrase, _)| std::cmp::Reverse(phrase.len()));
        Ok(Language {
            code: code.to_owned(),
            phrases,
            contrast: list(&table.contrast)?,
            request: list(&table.request)?,
            own: list(&table.own)?,
            more: list(&table.more)?,
            refusal: list(&table.refusal)?,
            negation: list(&table.negation)?,
            negation_follows: table.negation_follows,
            common: list(&table.common)?,
        })
    }

    /// The phrase that begins at the first of `words`: how many words it has, and what it says.
    pub(super) fn phrase_at(&self, words: &[String]) -> Option<(usize, Class)> {
        self.phrases.iter().find(|(phrase, _)| begins(words, phrase)).map(|(phrase, class)| (phrase.len(), *class))
    }

    /// Words such as "but", after which the point comes.
    pub(super) fn turns_at(&self, words: &[String]) -> bool {
        any_begins(words, &self.contrast)
    }

    /// The clause asks for something: what it names is not the answer.
    pub(super) fn requests(&self, words: &[String]) -> bool {
        any_begins(words, &self.request)
    }

    /// The clause speaks of the person's own things ("my script").
    pub(super) fn own_in(&self, words: &[String]) -> bool {
        (0..words.len()).any(|at| any_begins(&words[at..], &self.own))
    }

    /// The message asks for more of the same.
    pub(super) fn more_in(&self, words: &[String]) -> bool {
        (0..words.len()).any(|at| any_begins(&words[at..], &self.more))
    }

    /// A first word such as "no".
    pub(super) fn refuses_at(&self, words: &[String]) -> bool {
        any_begins(words, &self.refusal)
    }

    pub(super) fn negates_at(&self, words: &[String]) -> bool {
        any_begins(words, &self.negation)
    }

    /// How many of `words` are this language's, in thousandths: common words, and phrases.
    fn share(&self, words: &[String]) -> usize {
        let known = |at: usize| {
            let rest = &words[at..];
            any_begins(rest, &self.common) || self.phrase_at(rest).is_some()
        };
        let hits = (0..words.len()).filter(|at| known(*at)).count();
        hits * 1_000 / words.len().max(1)
    }
}

fn phrase(text: &str) -> Result<Phrase, String> {
    let words: Phrase = text.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() || words.iter().any(|word| word == "*") {
        return Err(format!("`{text}` is not a phrase"));
    }
    if text.to_lowercase() != text || text.contains('’') {
        return Err(format!("`{text}`: phrases are lower case, with straight apostrophes"));
    }
    Ok(words)
}

fn begins(words: &[String], phrase: &[String]) -> bool {
    let fits = |(word, wanted): (&String, &String)| match wanted.strip_suffix('*') {
        Some(stem) => word.starts_with(stem),
        None => word == wanted,
    };
    words.len() >= phrase.len() && words.iter().zip(phrase).all(fits)
}

fn any_begins(words: &[String], phrases: &[Phrase]) -> bool {
    phrases.iter().any(|phrase| begins(words, phrase))
}

/// The languages whose phrases are known.
#[derive(Debug, Clone)]
pub struct Languages(Vec<Language>);

impl Languages {
    /// Languages of one's own.
    pub fn new(languages: Vec<Language>) -> Languages {
        Languages(languages)
    }

    /// The languages that come with the product.
    pub fn built_in() -> &'static Languages {
        static READ: LazyLock<Languages> = LazyLock::new(|| {
            // A file that cannot be read would leave its language to the signs without words; a test reads them all.
            Languages(BUILT_IN.iter().filter_map(|(code, toml)| Language::read(code, toml).ok()).collect())
        });
        &READ
    }

    /// Codes, in the order of the files.
    pub fn codes(&self) -> Vec<&str> {
        self.0.iter().map(|language| language.code.as_str()).collect()
    }

    /// The language of some words, where enough of them are known. The first listed wins a tie.
    pub(super) fn of(&self, words: &[String]) -> Option<&Language> {
        let shares = self.0.iter().map(|language| (language.share(words), language));
        let mut best: Option<(usize, &Language)> = None;
        for (share, language) in shares {
            if share >= SHARE_MIN && best.is_none_or(|(before, _)| share > before) {
                best = Some((share, language));
            }
        }
        best.map(|(_, language)| language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn every_built_in_file_can_be_read() {
        for (code, toml) in BUILT_IN {
            let language = Language::read(code, toml).unwrap();
            assert!(language.phrases.len() > 100, "{code} has {} phrases", language.phrases.len());
        }
        assert_eq!(Languages::built_in().codes(), ["en", "de"]);
    }

    #[test]
    fn no_phrase_means_two_things() {
        for language in &Languages::built_in().0 {
            let mut seen = std::collections::BTreeMap::new();
            for (phrase, class) in &language.phrases {
                let before = seen.insert(phrase, class);
                assert_eq!(before, None, "{}: {phrase:?} is {class:?} too", language.code);
            }
        }
    }

    #[test]
    fn a_bad_file_says_what_is_wrong() {
        let why = |toml: &str| Language::read("xx", toml).unwrap_err().to_string();
        assert!(why("success = [").starts_with("the phrases of `xx` cannot be used: TOML parse error at line 1"));
        assert!(why("succes = []").contains("unknown field `succes`"));
        let english = BUILT_IN[0].1;
        assert!(why(&english.replacen("contrast = [", "contrast = [\" \", ", 1)).contains("is not a phrase"));
        assert!(why(&english.replacen("contrast = [", "contrast = [\"But\", ", 1)).contains("lower case"));
    }

    #[test]
    fn a_language_is_known_by_its_words() {
        let of = |text: &str| Languages::built_in().of(&words(text)).map(|language| language.code.as_str());
        assert_eq!(of("how do i read a file in the folder"), Some("en"));
        assert_eq!(of("wie lese ich eine datei in dem ordner"), Some("de"));
        assert_eq!(of("danke"), Some("de"));
        assert_eq!(of("comment lire un fichier ligne par ligne"), None);
        assert_eq!(of("どうもありがとう"), None);
    }
}
