//! Phrases of one language, as data. `docs/feedback-data.md` says how to add one.

use serde::Deserialize;

/// Stands for some words in a phrase.
const GAP: &str = "…";
/// A gap is at most so many words.
const GAP_WORDS_MAX: usize = 6;

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
    please: Vec<String>,
    own: Vec<String>,
    answer: Vec<String>,
    claim: Vec<String>,
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

/// Words in a row; a word that ends in `*` stands for all that begin so, and `…` for one to six words.
type Phrase = Vec<String>;

/// One language.
#[derive(Debug, Clone)]
pub struct Language {
    /// BCP 47 code, such as `en`.
    pub code: String,
    phrases: Vec<(Phrase, Class)>,
    contrast: Vec<Phrase>,
    request: Vec<Phrase>,
    please: Vec<Phrase>,
    own: Vec<Phrase>,
    answer: Vec<Phrase>,
    claim: Vec<Phrase>,
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
            please: list(&table.please)?,
            own: list(&table.own)?,
            answer: list(&table.answer)?,
            claim: list(&table.claim)?,
            refusal: list(&table.refusal)?,
            negation: list(&table.negation)?,
            negation_follows: table.negation_follows,
            common: list(&table.common)?,
        })
    }

    /// The phrase that begins at the first of `words`: how many words it has, and what it says.
    pub(super) fn phrase_at(&self, words: &[String]) -> Option<(usize, Class)> {
        self.phrases.iter().find_map(|(phrase, class)| Some((begins(words, phrase)?, *class)))
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
    pub(super) fn mentions_own(&self, words: &[String]) -> bool {
        (0..words.len()).any(|at| any_begins(&words[at..], &self.own))
    }

    /// The clause holds a "please".
    pub(super) fn has_please(&self, words: &[String]) -> bool {
        (0..words.len()).any(|at| any_begins(&words[at..], &self.please))
    }

    /// One of the words up to the one at `end` begins a phrase that stands for the answer.
    pub(super) fn answer_before(&self, words: &[String], end: usize) -> bool {
        (0..words.len().min(end + 1)).any(|at| any_begins(&words[at..], &self.answer))
    }

    /// After "no": the clause says what is so instead.
    pub(super) fn claims(&self, words: &[String]) -> bool {
        any_begins(words, &self.claim)
    }

    /// A first word such as "no".
    pub(super) fn refuses_at(&self, words: &[String]) -> bool {
        any_begins(words, &self.refusal)
    }

    pub(super) fn negates_at(&self, words: &[String]) -> bool {
        any_begins(words, &self.negation)
    }

    /// How many of the first `words` are known to be of this language: a phrase, or a common word.
    pub(super) fn known_at(&self, words: &[String]) -> usize {
        let phrase = self.phrase_at(words).map_or(0, |(length, _)| length);
        let begins = |list: &[Phrase]| list.iter().filter_map(|phrase| begins(words, phrase)).max().unwrap_or(0);
        phrase.max(begins(&self.common)).max(begins(&self.request))
    }
}

fn phrase(text: &str) -> Result<Phrase, String> {
    let words: Phrase = text.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() || words.iter().any(|word| word == "*") || words[0] == GAP {
        return Err(format!("`{text}` is not a phrase"));
    }
    if text.to_lowercase() != text || text.contains('’') {
        return Err(format!("`{text}`: phrases are lower case, with straight apostrophes"));
    }
    Ok(words)
}

/// How many words a phrase takes at the start of `words`, if it is there.
fn begins(words: &[String], phrase: &[String]) -> Option<usize> {
    let Some((wanted, rest)) = phrase.split_first() else { return Some(0) };
    if wanted == GAP {
        return (1..=GAP_WORDS_MAX.min(words.len())).find_map(|gap| Some(gap + begins(&words[gap..], rest)?));
    }
    let (word, words) = words.split_first()?;
    let fits = match wanted.strip_suffix('*') {
        Some(stem) => word.starts_with(stem),
        None => word == wanted,
    };
    if fits { Some(1 + begins(words, rest)?) } else { None }
}

fn any_begins(words: &[String], phrases: &[Phrase]) -> bool {
    phrases.iter().any(|phrase| begins(words, phrase).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::languages::BUILT_IN;

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
    fn no_phrase_means_two_things() {
        for (code, toml) in BUILT_IN {
            let language = Language::read(code, toml).unwrap();
            let mut seen = std::collections::BTreeMap::new();
            for (phrase, class) in &language.phrases {
                let before = seen.insert(phrase, class);
                assert_eq!(before, None, "{code}: {phrase:?} is {class:?} too");
            }
            assert!(language.phrases.len() > 100, "{code} has {} phrases", language.phrases.len());
        }
    }
}
