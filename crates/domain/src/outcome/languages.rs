//! Which language a message is in. Unknown is better than wrong: the phrases of another language mean other things.

use super::language::Language;
use std::{collections::BTreeMap, sync::LazyLock};

/// Languages with a table of phrases.
pub(super) const BUILT_IN: [(&str, &str); 4] = [
    ("en", include_str!("en.toml")),
    ("de", include_str!("de.toml")),
    ("es", include_str!("es.toml")),
    ("fr", include_str!("fr.toml")),
];
/// Common words of languages without a table. They compete with those that have one.
const OTHERS: &str = include_str!("other.toml");
/// Weight of a word that only one language has. A word of several languages counts as its share of this.
const WORD: usize = 1_000;
/// The least weight with which a language is believed.
const WEIGHT_MIN: usize = 900;
/// Of all words, how many have to be words of a language, in thousandths.
const SHARE_MIN: usize = 180;
/// How much more weight than the second language the first one needs, in thousandths.
const LEAD_MIN: usize = 1_600;
/// In a message of more words than this a single known word says nothing.
const SHORT_WORDS_MAX: usize = 3;

/// The languages that are told apart.
#[derive(Debug, Clone)]
pub struct Languages {
    known: Vec<Language>,
    others: Vec<Vec<String>>,
}

/// How much of a message is in each language: those with a table first, then the others.
struct Weights(Vec<Weight>);

#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    words: usize,
    weight: usize,
}

impl Languages {
    /// Languages of the caller's own. Nothing competes with them.
    pub fn new(languages: Vec<Language>) -> Languages {
        Languages { known: languages, others: Vec::new() }
    }

    /// The languages that come with the product.
    pub fn built_in() -> &'static Languages {
        static READ: LazyLock<Languages> = LazyLock::new(|| {
            // A file that cannot be read leaves its language unknown; a test reads them all.
            let known = BUILT_IN.iter().filter_map(|(code, toml)| Language::read(code, toml).ok()).collect();
            let others: BTreeMap<String, Vec<String>> = toml::from_str(OTHERS).unwrap_or_default();
            Languages { known, others: others.into_values().collect() }
        });
        &READ
    }

    /// Codes of the languages with a table, in the order of the files.
    pub fn codes(&self) -> Vec<&str> {
        self.known.iter().map(|language| language.code.as_str()).collect()
    }

    /// The language of a message; where that says too little, the one of the message with `before`, unless the message
    /// by itself speaks for another one.
    pub(super) fn of(&self, words: &[String], before: &[String]) -> Option<&Language> {
        let own = self.weigh(words);
        if let Some(at) = own.winner(words.len()) {
            return self.known.get(at);
        }
        let both: Vec<String> = words.iter().chain(before).cloned().collect();
        let at = self.weigh(&both).winner(both.len())?;
        let most = own.0.iter().map(|weight| weight.weight).max().unwrap_or_default();
        let fits = own.0.get(at).is_some_and(|weight| weight.weight >= most);
        self.known.get(at).filter(|_| fits)
    }

    fn weigh(&self, words: &[String]) -> Weights {
        let known = self.known.iter().map(|language| {
            let mut covered = 0;
            let knows = |at: usize| {
                covered = covered.max(at + language.known_at(&words[at..]));
                covered > at
            };
            (0..words.len()).map(knows).collect::<Vec<bool>>()
        });
        let others = self.others.iter().map(|common| words.iter().map(|word| common.contains(word)).collect());
        let known: Vec<Vec<bool>> = known.chain(others).collect();
        let share = |at: usize| WORD / known.iter().filter(|language| language[at]).count().max(1);
        let weigh = |language: &Vec<bool>| {
            let found: Vec<usize> = (0..words.len()).filter(|at| language[*at]).collect();
            Weight { words: found.len(), weight: found.iter().map(|at| share(*at)).sum() }
        };
        Weights(known.iter().map(weigh).collect())
    }
}

impl Weights {
    /// The language that a message of `words` words is in, if one leads clearly.
    fn winner(&self, words: usize) -> Option<usize> {
        let (at, best) = self.0.iter().enumerate().max_by_key(|(_, weight)| weight.weight)?;
        let second = self.0.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, weight)| weight.weight).max();
        let leads = best.weight * 1_000 >= second.unwrap_or_default() * LEAD_MIN;
        let is_enough = best.weight >= WEIGHT_MIN && best.words * 1_000 >= words * SHARE_MIN;
        (leads && is_enough && (best.words > 1 || words <= SHORT_WORDS_MAX)).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::text::Message;

    fn of(text: &str) -> Option<&'static str> {
        let words: Vec<String> = Message::read(text).words().map(str::to_owned).collect();
        Languages::built_in().of(&words, &[]).map(|language| language.code.as_str())
    }

    #[test]
    fn every_built_in_file_can_be_read() {
        assert_eq!(Languages::built_in().codes(), ["en", "de", "es", "fr"]);
        assert_eq!(Languages::built_in().others.len(), 7);
    }

    #[test]
    fn a_language_is_known_by_its_words() {
        assert_eq!(of("How do I read a file in the folder?"), Some("en"));
        assert_eq!(of("Wie lese ich eine Datei in dem Ordner?"), Some("de"));
        assert_eq!(of("danke"), Some("de"));
        assert_eq!(of("Comment lire un fichier ligne par ligne ?"), Some("fr"));
        assert_eq!(of("¿Cómo leo un archivo línea por línea?"), Some("es"));
        assert_eq!(of("gracias"), Some("es"));
    }

    #[test]
    fn a_language_without_a_table_is_not_taken_for_another() {
        for text in [
            "Come faccio a leggere un file riga per riga?",
            "Non funziona, ma grazie comunque per il tuo aiuto",
            "Como faço para ler um arquivo linha por linha?",
            "Isso não está certo, mas obrigado pela ajuda",
            "Hoe lees ik een bestand regel voor regel in?",
            "Dat werkt niet, maar toch bedankt voor de moeite",
            "Com puc llegir un fitxer línia per línia amb això?",
            "Hur läser jag en fil rad för rad?",
            "Hvordan kan jeg læse en fil linje for linje?",
            "Jak mam to zrobić i czy to działa?",
            "どうもありがとう",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_short_or_mixed_is_unknown() {
        for text in [
            "",
            "no",
            "la",
            "de",
            "ok",
            "42",
            "Das ist falsch, please fix it",
            "super",
            "c'est wrong, das ist nicht it",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn a_short_message_is_in_the_language_of_the_one_before_unless_it_speaks_against_it() {
        let words = |text: &str| Message::read(text).words().map(str::to_owned).collect::<Vec<_>>();
        let after = |now: &str, before: &str| {
            Languages::built_in().of(&words(now), &words(before)).map(|language| language.code.as_str())
        };
        assert_eq!(after("no", "¿Cuál es la capital de Suiza?"), Some("es"));
        assert_eq!(after("no", "What is the capital of Switzerland?"), Some("en"));
        assert_eq!(after("42", "What is the capital of Switzerland?"), Some("en"));
        assert_eq!(after("grazie, va bene così, ma non funziona", "What is the capital of Switzerland?"), None);
    }
}
