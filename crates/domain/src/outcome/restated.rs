//! Objections that state what is so instead, or what is left out: another number ("It's 391"), another name ("The
//! capital is Ankara"), what the person has counted, and a question for what the answer lacks.

use super::{
    objection::{NAME_CHARS_MIN, NUMBER_WORDS_MAX, Turn, has},
    text::Message,
};

/// Longest message that is hardly more than another number ("206, actually"), in words.
const RESTATED_WORDS_MAX: usize = 5;
/// Longest clause that calculates ("240 divided by 5 is 48"), in words.
const CALCULATION_WORDS_MAX: usize = 8;
/// Largest distance between the word that points to the answer and the number, in words.
const NUMBER_REACH: usize = 3;
/// Longest clause that states another number with the unit of the answer's ("Books have 9 percent"), in words.
const MEASURE_WORDS_MAX: usize = 7;
/// Longest message that says what the person has counted, in words.
const COUNT_WORDS_MAX: usize = 10;
/// Longest clause that states another name ("The capital is Ankara"), in words.
const RENAMED_WORDS_MAX: usize = 6;
/// Longest message that only asks for what the answer lacks ("Where is the table?"), in words.
const MISSING_WORDS_MAX: usize = 5;
/// Longest message of which all but the name is an article, in words.
const BARE_WORDS_MAX: usize = 2;

impl Turn<'_> {
    /// Whether a message, or its first clause, is hardly more than another number than the answer's: "206, actually",
    /// "1822. 1889 was the republic", or what the person has counted.
    pub(super) fn restates(&self, now: &Message) -> bool {
        let words: Vec<String> = now.words().map(str::to_owned).collect();
        let first = now.clauses.first().map(|clause| clause.words.as_slice()).unwrap_or_default();
        self.is_another_number(&words)
            || self.is_another_number(first) && !self.language.mentions_own(&words)
            || self.counts(now)
    }

    fn is_another_number(&self, words: &[String]) -> bool {
        let is_other =
            |word: &String| self.is_number(word) && !self.replied.contains(word) && !self.asked.contains(word);
        let is_light = |word: &String| {
            self.language.is_common(word)
                || self.language.filler_at(std::slice::from_ref(word)).is_some()
                || self.is_replied(word) && !self.is_number(word)
        };
        let compares = self.asks_fact && self.replied.iter().any(|word| self.is_number(word));
        compares
            && !self.language.mentions_own(words)
            // "We're 6", "make it 10": what is new, and no correction.
            && !self.language.mentions_speaker(words)
            && (!self.language.requests(words) || self.language.pointer_at(words).is_some())
            && words.len() <= self.language.span(RESTATED_WORDS_MAX)
            && words.iter().filter(|word| is_other(word)).count() == 1
            && words.iter().all(|word| is_other(word) || is_light(word))
    }

    /// Whether the clause states another number than the answer ("It's 391"), or the number of what was asked for
    /// ("That's four sentences").
    pub(super) fn counts_otherwise(&self, words: &[String]) -> bool {
        let compares = self.asks_fact && self.replied.iter().any(|word| self.is_number(word));
        let is_other =
            |word: &String| self.is_number(word) && !self.replied.contains(word) && !self.asked.contains(word);
        let calculates = || words.iter().any(|word| self.is_number(word) && self.asked.contains(word));
        if words.len() <= CALCULATION_WORDS_MAX && compares && calculates() && words.iter().any(is_other) {
            return true;
        }
        if words.len() > NUMBER_WORDS_MAX {
            return false;
        }
        let Some(length) = self.language.pointer_at(words) else { return false };
        let end = words.len().min(length + NUMBER_REACH);
        let Some(at) = (length..end).find(|at| self.is_number(&words[*at])) else { return false };
        let is_of_what_was_asked =
            || words[at + 1..].iter().any(|word| self.is_asked(word)) && !self.asked.contains(&words[at]);
        compares && !self.replied.contains(&words[at]) || is_of_what_was_asked()
    }

    /// Whether the clause states another number with the unit of the answer's: "Books have 9 percent", after "Books
    /// have 21 percent".
    pub(super) fn measures_otherwise(&self, words: &[String]) -> bool {
        let is_other =
            |word: &String| self.is_number(word) && !self.replied.contains(word) && !self.asked.contains(word);
        let mut others = (0..words.len()).filter(|at| is_other(&words[*at]));
        let (Some(at), None) = (others.next(), others.next()) else { return false };
        let Some(unit) = words.get(at + 1) else { return false };
        let has_unit = || !self.language.is_common(unit) && self.units.contains(unit);
        words.len() <= self.language.span(MEASURE_WORDS_MAX)
            && self.asks_fact
            && has_unit()
            && !self.language.mentions_speaker(words)
            && !self.language.requests(words)
            && words.iter().any(|word| word != unit && self.is_known(word))
    }

    /// Whether a short clause has another number than the request, which asks for a number of things: "There are only
    /// three", after "Give me four examples".
    pub(super) fn falls_short(&self, words: &[String]) -> bool {
        let is_other = |word: &String| self.is_number(word) && !self.asked.contains(word);
        self.asked.iter().any(|word| self.is_number(word))
            && words.len() <= self.language.span(MEASURE_WORDS_MAX)
            && !self.language.mentions_speaker(words)
            && words.iter().any(is_other)
    }

    /// Whether a message says what the person has counted in the answer, and that is another number than the answer's:
    /// "I count 180".
    fn counts(&self, now: &Message) -> bool {
        let words: Vec<String> = now.words().map(str::to_owned).collect();
        let is_other = |word: &String| self.is_number(word) && !self.replied.contains(word);
        words.len() <= self.language.span(COUNT_WORDS_MAX)
            && now.clauses.iter().any(|clause| self.language.counts(self.language.after_contrast(&clause.words)))
            && !self.language.mentions_own(&words)
            && words.iter().any(is_other)
    }

    /// Whether the clause says the same of another name than the answer: "The capital is Ankara", after "The capital of
    /// Turkey is Istanbul".
    pub(super) fn renames(&self, words: &[String]) -> bool {
        let language = self.language;
        let is_other = |word: &String| {
            self.capitalised.contains(word)
                && self.is_name(word)
                && !has(&self.replied, word)
                && !has(&self.asked, word)
        };
        let is_what_was_asked = |word: &String| {
            self.is_name(word) && self.is_replied(word) && (!self.capitalised.contains(word) || has(&self.asked, word))
        };
        let replaces = || self.named.iter().any(|name| !words.contains(name) && !has(&self.asked, name));
        let is_light = |word: &String| language.is_common(word) || is_other(word) || self.is_known(word);
        words.len() <= RENAMED_WORDS_MAX
            && !self.denies(words)
            && !language.mentions_speaker(words)
            && !language.requests(words)
            && words.iter().filter(|word| is_other(word)).count() == 1
            && words.iter().any(is_what_was_asked)
            && words.iter().all(is_light)
            && replaces()
    }

    /// Whether a message only asks for what the request has and the answer lacks: "Where is the table?", "And the
    /// drawbacks?"
    pub(super) fn misses_what_was_asked(&self, now: &Message) -> bool {
        let Some((clause, rest)) = now.clauses.split_first() else { return false };
        let is_led_on = rest.len() > 1 || rest.iter().any(|other| other.asks || self.language.requests(&other.words));
        if is_led_on {
            return false;
        }
        let (language, words) = (self.language, &clause.words);
        let asks = clause.asks || words.last().is_some_and(|word| word == "呢");
        let names: Vec<&String> = words.iter().filter(|word| language.can_name(word, NAME_CHARS_MIN)).collect();
        let leads = || language.asks_where(words) || words.len() <= language.span(BARE_WORDS_MAX);
        asks && words.len() <= language.span(MISSING_WORDS_MAX)
            && !names.is_empty()
            && leads()
            && !self.denies(words)
            && self.lacks_what_was_asked(words, &names)
    }

    /// Whether a short clause says that what a request that is no question asked for is not there: "There's no date",
    /// after "Add the date".
    pub(super) fn leaves_out(&self, words: &[String]) -> bool {
        let language = self.language;
        let is_free = |word: &&String| language.can_name(word, NAME_CHARS_MIN) && !language.misses(&[(*word).clone()]);
        let names: Vec<&String> = words.iter().filter(is_free).collect();
        !self.asks
            && words.len() <= language.span(MISSING_WORDS_MAX)
            && language.misses(words)
            && !language.is_elsewhere(words)
            && !language.mentions_speaker(words)
            && !names.is_empty()
            && self.lacks_what_was_asked(words, &names)
    }

    fn lacks_what_was_asked(&self, words: &[String], names: &[&String]) -> bool {
        let mut pairs = words.windows(2).filter_map(|pair| self.language.word_of(pair)).peekable();
        if pairs.peek().is_some() {
            return pairs.all(|pair| self.asked_pairs.contains(&pair) && !self.replied_pairs.contains(&pair));
        }
        names.iter().all(|word| self.is_known(word) && !self.is_replied(word))
    }
}
