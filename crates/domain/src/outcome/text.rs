//! Parses a message into clauses of words, without the code and the quotations in it.

use super::pasted;
use std::collections::BTreeSet;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// Most characters of a message that are read: half from its start and half from its end. A longer message
/// contains pasted text, and people give their opinion at the start or the end.
const CHARS_MAX: usize = 8_000;
/// Most words that are read from the start of a message, and as many again from its end.
const WORDS_MAX: usize = 400;
/// Least length of a person's name, characters.
pub(super) const PERSON_CHARS_MIN: usize = 3;
/// Most lines of code that are compared.
const CODE_LINES_MAX: usize = 400;

/// The words between two punctuation marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    /// The words in lower case, in NFC, with straight apostrophes.
    pub words: Vec<String>,
    /// Index of its sentence, from 0.
    pub sentence: usize,
    /// Whether the sentence of the clause ends with a question mark.
    pub asks: bool,
    /// Whether a colon follows, so that the text after it is what the clause is about.
    pub announces: bool,
}

/// A parsed message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Message {
    /// Clauses of the prose, in order.
    pub clauses: Vec<Clause>,
    /// Lines of fenced blocks and pieces between backquotes, trimmed. Empty lines are left out.
    pub code: Vec<String>,
    /// The whole message in NFC, truncated to [`CHARS_MAX`] characters.
    pub raw: String,
}

impl Message {
    pub fn read(text: &str) -> Message {
        let raw = cut(text);
        let (prose, code) = split(&raw);
        Message { clauses: clauses(&prose), code, raw }
    }

    /// Returns the message without the words at which `skipped` finds some to leave out, except in the clauses that
    /// `stays` names by their words.
    pub fn without(&self, skipped: impl Fn(&[String]) -> Option<usize>, stays: impl Fn(&[String]) -> bool) -> Message {
        let rest = |words: &[String]| {
            let mut kept = Vec::new();
            let mut at = 0;
            while at < words.len() {
                match skipped(&words[at..]) {
                    Some(length) => at += length.max(1),
                    None => {
                        kept.push(words[at].clone());
                        at += 1;
                    }
                }
            }
            kept
        };
        let clauses = self.clauses.iter().map(|clause| match stays(&clause.words) {
            true => clause.clone(),
            false => Clause { words: rest(&clause.words), ..clause.clone() },
        });
        let clauses = clauses.filter(|clause| !clause.words.is_empty()).collect();
        Message { clauses, code: self.code.clone(), raw: self.raw.clone() }
    }

    /// Returns every word of the clauses, in order.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.clauses.iter().flat_map(|clause| clause.words.iter().map(String::as_str))
    }
}

/// Returns the text in NFC. Of a text that is too long only the start and the end are kept.
fn cut(text: &str) -> String {
    let composed: String = text.nfc().collect();
    let length = composed.chars().count();
    if length <= CHARS_MAX {
        return composed;
    }
    let start: String = composed.chars().take(CHARS_MAX / 2).collect();
    let end: String = composed.chars().skip(length - CHARS_MAX / 2).collect();
    format!("{start}\n{end}")
}

/// Separates prose from code, and from pasted errors that have lines of their own. Quoted lines (`> …`) and text
/// between quotation marks are dropped, because someone else wrote them.
fn split(text: &str) -> (String, Vec<String>) {
    let mut prose = String::new();
    let mut code = Vec::new();
    let mut fence: Option<&str> = None;
    let is_pasted =
        |line: &str| pasted::is_from_a_tool(line) && text.trim().contains('\n') || pasted::begins_with_exception(line);
    for line in text.lines() {
        let trimmed = line.trim();
        let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
        match (fence, marker) {
            (Some(open), Some(marker)) if open == marker => fence = None,
            (None, Some(marker)) => fence = Some(marker),
            (Some(_), _) => code.push(trimmed.to_owned()),
            (None, None) if trimmed.starts_with('>') => {}
            (None, None) if is_pasted(trimmed) => code.push(trimmed.to_owned()),
            (None, None) => {
                inline(&pasted::without_cell_mark(trimmed), &mut prose, &mut code);
                prose.push('\n');
            }
        }
    }
    code.retain(|line| !line.is_empty());
    code.truncate(CODE_LINES_MAX);
    (without_quotations(&prose), code)
}

/// Splits one line: text between backquotes goes to `code`, the rest to `prose`.
fn inline(line: &str, prose: &mut String, code: &mut Vec<String>) {
    let pieces: Vec<&str> = line.split('`').collect();
    let balanced = pieces.len() % 2 == 1;
    for (at, piece) in pieces.iter().enumerate() {
        if balanced && at % 2 == 1 {
            code.push(piece.trim().to_owned());
            // A placeholder replaces the code, so that the words around it do not become adjacent.
            prose.push_str(" \u{fffc} ");
        } else {
            prose.push_str(piece);
        }
    }
}

/// Removes text between quotation marks. A mark without its counterpart on the same line is left as it is.
fn without_quotations(prose: &str) -> String {
    const PAIRS: [(char, char); 8] =
        [('"', '"'), ('“', '”'), ('„', '“'), ('„', '”'), ('«', '»'), ('»', '«'), ('「', '」'), ('『', '』')];
    let mut kept = String::with_capacity(prose.len());
    for line in prose.lines() {
        let mut rest = line;
        while let Some((at, open)) = rest.char_indices().find(|(_, c)| PAIRS.iter().any(|(open, _)| open == c)) {
            let after = &rest[at + open.len_utf8()..];
            let closes = |c: char| PAIRS.iter().any(|(o, close)| *o == open && *close == c);
            match after.char_indices().find(|(_, c)| closes(*c)) {
                Some((end, close)) => {
                    kept.push_str(&rest[..at]);
                    kept.push_str(" \u{fffc} ");
                    rest = &after[end + close.len_utf8()..];
                }
                None => {
                    kept.push_str(&rest[..at + open.len_utf8()]);
                    rest = after;
                }
            }
        }
        kept.push_str(rest);
        kept.push('\n');
    }
    kept
}

fn clauses(prose: &str) -> Vec<Clause> {
    let mut found = Vec::new();
    let sentences = prose.lines().flat_map(|line| line.unicode_sentences());
    for (at, sentence) in sentences.enumerate() {
        let asks = is_question(sentence);
        let marks = [
            ',', ';', ':', '(', ')', '—', '–', '…', '.', '!', '?', '，', '、', '。', '！', '？', '；', '：', '（',
            '）', '～',
        ];
        // A hyphen between spaces is used as a dash.
        for piece in sentence.split_inclusive(marks).flat_map(|piece| piece.split(" - ")) {
            let words: Vec<String> = piece.unicode_words().map(word).collect();
            if !words.is_empty() {
                found.push(Clause { words, sentence: at, asks, announces: piece.ends_with([':', '：']) });
            }
        }
    }
    bounded(found)
}

/// Particles that end a question in Turkish.
const TURKISH_PARTICLES: [&str; 12] =
    ["mı", "mi", "mu", "mü", "mısın", "misin", "musun", "müsün", "mıyım", "miyim", "muyum", "müyüm"];

/// Whether a sentence ends with a question mark, or with a particle that asks in Japanese, Chinese or Turkish.
fn is_question(sentence: &str) -> bool {
    let end = sentence.trim_end();
    let particle = end.unicode_words().next_back().is_some_and(|last| TURKISH_PARTICLES.contains(&last));
    particle || end.ends_with(['?', '？']) || end.trim_end_matches(['。', '.', '！', '!']).ends_with(['か', '吗', '嗎'])
}

fn bounded(clauses: Vec<Clause>) -> Vec<Clause> {
    let total: usize = clauses.iter().map(|clause| clause.words.len()).sum();
    let mut before = 0;
    let mut kept = Vec::new();
    for clause in clauses {
        let start = before;
        before += clause.words.len();
        if before <= WORDS_MAX || total - start <= WORDS_MAX {
            kept.push(clause);
        }
    }
    kept
}

/// Returns a word in the spelling of the tables: lower case, straight apostrophes, a Turkish capital I as i, and е for
/// the Russian ё, which few people type.
fn word(word: &str) -> String {
    word.replace(['’', 'ʼ', '‘'], "'").to_lowercase().replace("i\u{307}", "i").replace('ё', "е")
}

/// Returns the words of a text in order, those of code and of quotations included.
pub(super) fn words_of(text: &str) -> Vec<String> {
    cut(text).unicode_words().map(word).collect()
}

/// Returns the words of a text that begin with a capital letter, in the spelling of the tables.
pub(super) fn capitalised_words_of(text: &str) -> BTreeSet<String> {
    let is_capital = |word: &&str| word.starts_with(char::is_uppercase);
    cut(text).unicode_words().filter(is_capital).map(word).collect()
}

/// Returns the words of a text that begin with a capital letter and are not the first of a sentence, in the spelling of
/// the tables.
pub(super) fn names_of(text: &str) -> BTreeSet<String> {
    let is_capital = |word: &&str| word.starts_with(char::is_uppercase);
    let text = cut(text);
    text.unicode_sentences()
        .flat_map(|sentence| sentence.unicode_words().skip(1))
        .filter(is_capital)
        .map(word)
        .collect()
}

/// Whether a reply ends with a question. Then "yes" and "no" answer the question and do not judge the reply.
pub(super) fn ends_with_question(reply: &str) -> bool {
    reply.trim_end().trim_end_matches(['*', '_', ')', '"', '”', ' ']).ends_with(['?', '？'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        Message::read(text).clauses.into_iter().map(|clause| clause.words).collect()
    }

    #[test]
    fn words_are_composed_lower_case_and_spelled_with_one_apostrophe() {
        assert_eq!(words("DOESN’T Work"), [["doesn't", "work"]]);
        assert_eq!(words("u\u{308}ber"), [["über"]]);
    }

    #[test]
    fn code_and_quotations_are_not_what_the_person_says() {
        let message =
            Message::read("I get `this is wrong` here\n> thanks\n```\nthank you\n\n```\nsaid \"perfect\" and left");
        assert_eq!(message.code, ["this is wrong", "thank you"]);
        let said: Vec<&str> = message.words().collect();
        assert_eq!(said, ["i", "get", "here", "said", "and", "left"]);
    }

    #[test]
    fn an_open_quotation_mark_hides_nothing() {
        assert_eq!(words("the 3\" pipe does not fit"), [["the", "3", "pipe", "does", "not", "fit"]]);
    }

    #[test]
    fn clauses_end_at_punctuation_and_know_their_question() {
        let clauses = Message::read("Thanks, but why? It works.").clauses;
        let shape: Vec<(usize, bool)> = clauses.iter().map(|clause| (clause.words.len(), clause.asks)).collect();
        assert_eq!(shape, [(1, true), (2, true), (2, false)]);
    }

    #[test]
    fn a_very_long_message_is_judged_by_its_start_and_its_end() {
        let text = format!("Thanks. {} That is wrong.", "Lorem ipsum dolor sit. ".repeat(5_000));
        let message = Message::read(&text);
        assert!(message.words().count() <= 2 * WORDS_MAX);
        let said: Vec<&str> = message.words().collect();
        assert_eq!((said.first(), said.last()), (Some(&"thanks"), Some(&"wrong")));
    }
}
