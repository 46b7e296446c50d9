//! Detects the language of a message. The result is unknown rather than wrong, because the same phrase can have
//! another meaning in another language.

use super::language::Language;
use std::{collections::BTreeMap, sync::LazyLock};

/// Languages with a table of phrases.
pub(super) const BUILT_IN: [(&str, &str); 13] = [
    ("en", include_str!("en.toml")),
    ("de", include_str!("de.toml")),
    ("es", include_str!("es.toml")),
    ("fr", include_str!("fr.toml")),
    ("it", include_str!("it.toml")),
    ("ja", include_str!("ja.toml")),
    ("ko", include_str!("ko.toml")),
    ("nl", include_str!("nl.toml")),
    ("pl", include_str!("pl.toml")),
    ("pt", include_str!("pt.toml")),
    ("ru", include_str!("ru.toml")),
    ("tr", include_str!("tr.toml")),
    ("zh", include_str!("zh.toml")),
];
/// Common words of languages without a table. A message in one of them is not mistaken for a language with a
/// table.
const OTHERS: &str = include_str!("other.toml");
/// Weight of a word that only one language has. For a word of several languages each gets an equal share.
const WORD: usize = 1_000;
/// Least weight at which a language is accepted.
const WEIGHT_MIN: usize = 900;
/// Least share of the message's words that must belong to the language, in thousandths.
const SHARE_MIN: usize = 180;
/// Least weight of the first language relative to the second, in thousandths.
const LEAD_MIN: usize = 1_600;
/// Longest message whose language can be that of the answer, words.
const ANSWERED_WORDS_MAX: usize = 12;
/// Longest message in which a single known word decides, words.
const SHORT_WORDS_MAX: usize = 3;

/// The languages that can be detected.
#[derive(Debug, Clone)]
pub struct Languages {
    known: Vec<Language>,
    others: Vec<Vec<String>>,
}

/// Weights of a message: one for each language with a table, then one for each other language.
struct Weights(Vec<Weight>);

#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    words: usize,
    weight: usize,
}

impl Languages {
    /// Uses only these languages, without the lists of common words of others.
    pub fn new(languages: Vec<Language>) -> Languages {
        Languages { known: languages, others: Vec::new() }
    }

    /// Uses these languages instead, and the same lists of common words of others.
    #[must_use]
    pub fn with(&self, languages: Vec<Language>) -> Languages {
        Languages { known: languages, others: self.others.clone() }
    }

    /// Returns the languages that are part of the product.
    pub fn built_in() -> &'static Languages {
        static READ: LazyLock<Languages> = LazyLock::new(|| {
            // A file that cannot be parsed leaves its language unknown. A test parses all of them.
            let known = BUILT_IN.iter().filter_map(|(code, toml)| Language::read(code, toml).ok()).collect();
            let others: BTreeMap<String, Vec<String>> = toml::from_str(OTHERS).unwrap_or_default();
            Languages { known, others: others.into_values().collect() }
        });
        &READ
    }

    /// Returns the codes of the languages with a table, in the order in which they were given.
    pub fn codes(&self) -> Vec<&str> {
        self.known.iter().map(|language| language.code.as_str()).collect()
    }

    /// Returns the language of the message `words`. If the message is too short to decide, the first of `around` (the
    /// request before it, and the answer) that decides it is taken into account, unless the message by itself has more
    /// weight in another language.
    pub(super) fn of(&self, words: &[String], around: [&[String]; 2]) -> Option<&Language> {
        let own = self.weigh(words);
        if let Some(at) = own.winner(words.len()) {
            return self.known.get(at);
        }
        let most = own.0.iter().map(|weight| weight.weight).max().unwrap_or_default();
        let [before, answer] = around;
        // A longer message that decides nothing is in two languages.
        let is_short = words.len() <= ANSWERED_WORDS_MAX;
        let contexts = [Some(before), Some(answer).filter(|_| is_short)].into_iter().flatten();
        let at = contexts.filter(|other| !other.is_empty()).find_map(|other| {
            let both: Vec<String> = words.iter().chain(other).cloned().collect();
            self.weigh(&both).winner(both.len())
        })?;
        let fits = own.0.get(at).is_some_and(|weight| weight.weight >= most);
        self.known.get(at).filter(|_| fits)
    }

    /// Whether no language has more weight in `words` than that of `code`, which has some.
    pub(super) fn may_be(&self, code: &str, words: &[String]) -> bool {
        let weights = self.weigh(words).0;
        let most = weights.iter().map(|weight| weight.weight).max().unwrap_or_default();
        let at = self.known.iter().position(|language| language.code == code);
        most > 0 && at.and_then(|at| weights.get(at)).is_some_and(|weight| weight.weight == most)
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
    /// Returns the index of the language of a message with `words` words, if one leads clearly.
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
        Languages::built_in().of(&words, [&[], &[]]).map(|language| language.code.as_str())
    }

    #[test]
    fn every_built_in_file_can_be_read() {
        assert_eq!(
            Languages::built_in().codes(),
            ["en", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "tr", "zh"]
        );
        assert_eq!(Languages::built_in().others.len(), 5);
    }

    #[test]
    fn a_language_is_known_by_its_words() {
        assert_eq!(of("How do I read a file in the folder?"), Some("en"));
        assert_eq!(of("Wie lese ich eine Datei in dem Ordner?"), Some("de"));
        assert_eq!(of("danke"), Some("de"));
        assert_eq!(of("Comment lire un fichier ligne par ligne ?"), Some("fr"));
        assert_eq!(of("¿Cómo leo un archivo línea por línea?"), Some("es"));
        assert_eq!(of("gracias"), Some("es"));
        assert_eq!(of("Come faccio a leggere un file riga per riga?"), Some("it"));
        assert_eq!(of("Non funziona, ma grazie comunque per il tuo aiuto"), Some("it"));
        assert_eq!(of("Como faço para ler um arquivo linha por linha?"), Some("pt"));
        assert_eq!(of("Isso não está certo, mas obrigado pela ajuda"), Some("pt"));
        assert_eq!(of("Hoe lees ik een bestand regel voor regel in?"), Some("nl"));
        assert_eq!(of("Dat werkt niet, maar toch bedankt voor de moeite"), Some("nl"));
        assert_eq!(of("Jak mam to zrobić i czy to działa?"), Some("pl"));
        assert_eq!(of("Bu yanlış, ben başka bir şey sormuştum"), Some("tr"));
        assert_eq!(of("Это неправильно, я просил другое"), Some("ru"));
        assert_eq!(of("どうもありがとうございます"), Some("ja"));
        assert_eq!(of("谢谢，这个可以用了"), Some("zh"));
        assert_eq!(of("감사합니다, 이제 잘 돼요"), Some("ko"));
        // A letter that no other language has tells the language of a word that no table has.
        assert_eq!(of("klasörlerin yarısı"), Some("tr"));
        assert_eq!(of("żółta ciężarówka"), Some("pl"));
    }

    #[test]
    fn a_language_without_a_table_is_not_taken_for_another() {
        for text in [
            "Com puc llegir un fitxer línia per línia amb això?",
            "Hur läser jag en fil rad för rad?",
            "Hvordan kan jeg læse en fil linje for linje?",
            "Jak mohu číst soubor po řádcích? To není ono",
            "Це не працює, дякую за допомогу, але що далі?",
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
            Languages::built_in().of(&words(now), [&words(before), &[]]).map(|language| language.code.as_str())
        };
        assert_eq!(after("no", "¿Cuál es la capital de Suiza?"), Some("es"));
        assert_eq!(after("no", "What is the capital of Switzerland?"), Some("en"));
        assert_eq!(after("42", "What is the capital of Switzerland?"), Some("en"));
        assert_eq!(after("gràcies, però encara no va", "What is the capital of Switzerland?"), None);
    }
}
