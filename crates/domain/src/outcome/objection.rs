//! Finds objections that are stated as a fact, without a phrase against the answer: "1648, not 1748", "Chicken
//! isn't vegetarian", "There is no such button". They are weaker evidence than phrases. They count only in a
//! short message that has no phrase for or against, asks nothing and requests nothing.

use super::{
    language::Language,
    similarity::is_form,
    text::{Clause, Message, PERSON_CHARS_MIN, capitalised_words_of, names_of, words_of},
};
use std::collections::BTreeSet;

/// Longest message in which an objection is searched for, in words. A longer message has text to work on.
const WORDS_MAX: usize = 30;
/// Least length of a word that can name what a request or an answer is about, characters.
pub(super) const NAME_CHARS_MIN: usize = 4;
/// Most letters by which two forms of a word differ: "clause" and "clauses".
const ENDING_CHARS_MAX: usize = 2;
/// Least number of letters that two forms of a word share at their start, and most letters after them.
const STEM_CHARS_MIN: usize = 5;
const STEM_ENDING_CHARS_MAX: usize = 4;
/// Longest clause that says that something the answer names is still as it was, in words.
const PERSISTENCE_WORDS_MAX: usize = 9;
/// Number of words at the start of a clause that can be something of the person's own: "my app".
const OWN_WORDS_MAX: usize = 2;
/// Longest article that is written with its noun, without the apostrophe: "qu" of "qu'allemand".
const ARTICLE_CHARS_MAX: usize = 2;
/// Number of words at the start of a clause that can name a person: "o Tiago".
const NAMED_WORDS_MAX: usize = 2;
/// Largest distance between a word such as "without" and the word that it excludes, in words.
pub(super) const EXCLUSION_REACH: usize = 3;
/// Longest clause that only names what the answer is ("That's a line chart"), in words.
const NAMING_WORDS_MAX: usize = 5;
/// Longest clause that states another number ("It's 391"), in words.
pub(super) const NUMBER_WORDS_MAX: usize = 6;
/// Longest clause that names another person ("It was Kafka"), in words.
const IDENTITY_WORDS_MAX: usize = 5;
/// Longest clause that says that the answer has what must not be, in words.
const EXCLUDED_WORDS_MAX: usize = 7;

/// Returns the words of the first clause of `now` that objects to `reply`, the answer to `asked`.
pub(super) fn find(language: &Language, asked: &Message, reply: &str, now: &Message) -> Option<String> {
    if now.words().count() > WORDS_MAX {
        return None;
    }
    let turn = Turn::read(language, asked, reply, now);
    let all = || now.words().collect::<Vec<_>>().join(" ");
    if turn.misses_what_was_asked(now) {
        return Some(all());
    }
    if turn.insists_on_the_request(now) || turn.repeats_the_request(now) || turn.echoes(now) {
        return Some(all());
    }
    if now.clauses.iter().any(|clause| clause.asks) {
        return None;
    }
    let asks_for = |clause: &Clause| language.has_please(&clause.words);
    if (turn.restates(now) || turn.cites(now)) && !now.clauses.iter().any(asks_for) {
        return Some(all());
    }
    let requests = |clause: &Clause| {
        language.has_please(&clause.words)
            || language.phrase_at(&clause.words).is_none() && language.requests(&clause.words)
    };
    // "That drops the time, and I need it": what a sentence requests after its objection belongs to the objection.
    let is_free = |at: usize, sentence: usize| {
        let mut others =
            now.clauses.iter().enumerate().filter(|(other, clause)| clause.sentence != sentence || *other <= at);
        !others.any(|(_, clause)| requests(clause))
    };
    let turns = |clause: &Clause| (0..clause.words.len()).any(|at| language.turns_at(&clause.words[at..]));
    let point = now.clauses.iter().rposition(turns).unwrap_or(0);
    let clauses = now.clauses.iter().enumerate().skip(point);
    let mut objections = clauses.filter(|(at, clause)| turn.objects(now, *at, language.after_contrast(&clause.words)));
    let (_, found) = objections.find(|(at, clause)| is_free(*at, clause.sentence))?;
    Some(found.words.join(" "))
}

/// Whether a message in any language is nothing but a number, after an answer with other numbers: "1000".
pub(super) fn is_only_another_number(asked: &Message, reply: &str, now: &Message) -> bool {
    let is_said = |number: &str| words_of(reply).iter().chain(&words_of(&asked.raw)).any(|word| word == number);
    let mut words = now.words();
    match (words.next(), words.next()) {
        (Some(number), None) => {
            let answers = || words_of(reply).iter().any(|word| is_digit(word));
            is_digit(number) && !now.raw.contains('?') && answers() && !is_said(number)
        }
        _ => false,
    }
}

/// The request and the answer, code included.
pub(super) struct Turn<'a> {
    pub(super) language: &'a Language,
    pub(super) asked: BTreeSet<String>,
    /// The words that the request excludes: "nuts" of "without nuts".
    excluded: BTreeSet<String>,
    pub(super) replied: BTreeSet<String>,
    /// Neighbouring words of the request and of the answer, joined: words of languages that are compared by
    /// characters.
    pub(super) asked_pairs: BTreeSet<String>,
    pub(super) replied_pairs: BTreeSet<String>,
    /// The words after numbers of the answer: "percent".
    pub(super) units: BTreeSet<String>,
    /// The words of the answer with a capital letter that are not the first of a sentence.
    pub(super) named: BTreeSet<String>,
    /// Whether the request is a question, or has a number to calculate with. Otherwise another number is new
    /// information.
    pub(super) asks_fact: bool,
    /// Whether the request is a question.
    pub(super) asks: bool,
    /// Whether the request may only report a fault, so that a word of the answer may name its cause.
    may_report_a_fault: bool,
    /// Whether the request asks for a person.
    asks_who: bool,
    /// The words of the message with a capital letter, names among them.
    pub(super) capitalised: BTreeSet<String>,
}

impl<'a> Turn<'a> {
    fn read(language: &'a Language, asked: &Message, reply: &str, now: &Message) -> Turn<'a> {
        let plain = |text: &str| words_of(text).iter().map(|word| bare(word).to_owned()).collect::<Vec<String>>();
        let (request, answer) = (plain(&asked.raw), plain(reply));
        let excluded = language.excluded(&request, EXCLUSION_REACH).cloned().collect();
        // A request that is not known may have asked for a fact.
        let asks = asked.clauses.iter().any(|clause| clause.asks);
        let asks_fact = request.is_empty() || asks || request.iter().any(|word| is_digit(word));
        let asks_who = asked.clauses.iter().any(|clause| clause.asks && language.asks_who(&clause.words));
        let is_counted = |pair: &&[String]| is_digit(&pair[0]) || language.is_number(&pair[0]);
        let pairs = |words: &[String]| words.windows(2).filter_map(|pair| language.word_of(pair)).collect();
        Turn {
            language,
            excluded,
            asked_pairs: pairs(&request),
            replied_pairs: pairs(&answer),
            units: answer.windows(2).filter(is_counted).map(|pair| pair[1].clone()).collect(),
            named: names_of(reply),
            asked: request.into_iter().collect(),
            // "df.drop_blank" is "drop_blank" too.
            replied: answer
                .iter()
                .flat_map(|word| word.split('.'))
                .map(str::to_owned)
                .chain(answer.iter().cloned())
                .collect(),
            asks_fact,
            asks,
            may_report_a_fault: only_states(language, asked),
            asks_who,
            capitalised: capitalised_words_of(&now.raw),
        }
    }

    /// Whether the clause at index `at` objects to the answer.
    fn objects(&self, now: &Message, at: usize, words: &[String]) -> bool {
        let language = self.language;
        let sentence = now.clauses[at].sentence;
        let mut said = now.clauses[..=at].iter().filter(|clause| clause.sentence == sentence);
        if language.acknowledges(words) || said.any(|clause| language.mentions_others(&clause.words)) {
            return false;
        }
        let alone = now.clauses.len() == 1;
        let is_about_it = || {
            self.contradicts(words)
                || self.denies_statement(words)
                || self.denies_number(words)
                || self.names(words)
                || !self.is_about_somebody(words) && self.persists(words)
                || self.identifies(words)
                || alone && self.has_excluded(words)
                || self.counts_otherwise(words)
                || self.measures_otherwise(words)
                || self.renames(words)
                || !self.is_about_somebody(words) && (self.denies_a_word(words) || self.denies_shortly(words))
                || self.corrects(now, at)
                || at > 0
                    && words.len() == now.clauses[at].words.len()
                    && self.contrasts(&now.clauses[at - 1].words, words)
        };
        let is_own = || now.clauses.iter().any(|clause| language.mentions_own(&clause.words));
        let names_it = || now.clauses.iter().any(|clause| self.knows_any(&clause.words));
        // "I work for myself, there is no contract": what the person lacks.
        let mut earlier = now.clauses[..at].iter().filter(|clause| clause.sentence == sentence);
        let is_of_the_person = earlier.any(|clause| language.mentions_speaker(&clause.words));
        let begins_own = language.mentions_own(&words[..words.len().min(language.span(NAMED_WORDS_MAX))]);
        language.reports(words) && !begins_own && (names_it() || self.falls_short(words))
            || (self.misses(words, now) || self.leaves_out(words)) && !is_of_the_person
            || !(is_own() || language.is_by_character() && is_of_the_person) && is_about_it()
    }

    /// Whether the clause begins with a name that neither the request nor the answer has: "Karin never has meetings".
    fn is_about_somebody(&self, words: &[String]) -> bool {
        let is_person =
            |word: &String| self.capitalised.contains(word) && self.language.can_name(word, PERSON_CHARS_MIN);
        let is_name = |word: &String| is_person(word) && !self.is_replied(word) && !has(&self.asked, word);
        !self.language.capitalises_nouns && words.iter().take(NAMED_WORDS_MAX).any(is_name)
    }

    /// Whether the clause says that something which the answer introduced is not there: "I see no Export button".
    fn misses(&self, words: &[String], now: &Message) -> bool {
        let is_quoted = |code: &String| code.split_whitespace().any(|word| self.replied.contains(&word.to_lowercase()));
        let is_replied = |word: &String| self.is_name(word) && has(&self.replied, word);
        let has_pair = || self.has_pair(words, &self.replied_pairs);
        let names_it = || words.iter().any(is_replied) || has_pair() || now.code.iter().any(is_quoted);
        self.language.misses(words) && !self.language.is_elsewhere(words) && names_it()
    }

    /// Whether the clause denies that the answer, or a thing of it, is what was asked for ("That isn't a haiku",
    /// "Chicken isn't vegetarian"), or says that it is what must not be ("Almonds are nuts", after "without nuts").
    fn contradicts(&self, words: &[String]) -> bool {
        let subject = words.iter().position(|word| self.is_new(word));
        let pointed = self.language.pointer_at(words).map(|_| 0);
        let Some(from) = pointed.or(subject) else { return self.contradicts_by_character(words) };
        let rest = &words[from..];
        match (0..rest.len()).find(|at| self.language.negates_at(&rest[*at..])) {
            Some(at) => {
                let denied = &rest[at + 1..];
                denied.iter().any(|word| self.is_asked_in_a_form(word))
                    || pointed.is_some() && self.has_only_known_names(denied)
            }
            None => rest.iter().any(|word| self.is_name(word) && has(&self.excluded, word)),
        }
    }

    /// Whether a clause without spaces denies that a thing of the answer is what was asked for.
    fn contradicts_by_character(&self, words: &[String]) -> bool {
        let Some(at) = (0..words.len()).find(|at| self.language.negates_at(&words[*at..])) else { return false };
        self.has_new_pair(&words[..at]) && self.has_asked_pair(&words[at..])
    }

    /// Whether the words name something, and nothing that neither the answer nor the request has.
    fn has_only_known_names(&self, words: &[String]) -> bool {
        let mut names = words.iter().filter(|word| self.is_name(word)).peekable();
        names.peek().is_some() && names.all(|word| self.is_known(word))
    }

    /// Whether the clause only names what the answer is: "That's a line chart". After a question it agrees: "It was the
    /// yeast". After what may report a fault it names the cause: "It was the drum", after "The printer makes lines".
    fn names(&self, words: &[String]) -> bool {
        if self.asks || self.may_report_a_fault {
            return false;
        }
        let Some(length) = self.language.pointer_at(words) else { return false };
        words.len() <= NAMING_WORDS_MAX && !self.denies(words) && words[length..].iter().any(|word| self.is_new(word))
    }

    /// Whether the clause says that what was asked for or answered is still as it was: "Column B still has duplicates",
    /// or only "Still.", or in a short clause that something is "still" so.
    fn persists(&self, words: &[String]) -> bool {
        let is_short = || words.len() <= self.language.span(PERSISTENCE_WORDS_MAX);
        let names_answer = || is_short() && !self.denies(words) && self.knows_any(words);
        let is_asked =
            || words.iter().any(|word| self.is_asked_in_a_form(word)) || self.has_pair(words, &self.asked_pairs);
        let names_it = || is_asked() || names_answer();
        self.language.only_persists(words)
            || self.language.lasts(words) && is_short() && !self.language.mentions_speaker(words)
            || self.language.persists(words) && !self.language.mentions_speaker(words) && names_it()
    }

    /// Whether the clause says that there is what must not be: "It ends with a question mark".
    fn has_excluded(&self, words: &[String]) -> bool {
        let is_excluded = |word: &String| self.is_name(word) && has(&self.excluded, word);
        words.len() <= EXCLUDED_WORDS_MAX && !self.denies(words) && words.iter().any(is_excluded)
    }

    /// Whether the clause names another person than the answer, after a question for one: "It was Kafka".
    fn identifies(&self, words: &[String]) -> bool {
        let is_other = |word: &String| self.is_name(word) && !has(&self.replied, word) && !has(&self.asked, word);
        self.asks_who
            && words.len() <= IDENTITY_WORDS_MAX
            && !self.denies(words)
            && self.language.identifies(words)
            && words.iter().any(|word| is_other(word) && self.capitalised.contains(word))
    }

    /// Whether the answer has the word and the request does not.
    fn is_new(&self, word: &str) -> bool {
        self.is_name(word) && has(&self.replied, word) && !has(&self.asked, word)
    }

    pub(super) fn is_asked(&self, word: &str) -> bool {
        self.is_name(word) && has(&self.asked, word)
    }

    fn is_asked_in_a_form(&self, word: &str) -> bool {
        let is_a_form = |asked: &String| is_form(asked, bare(word)) || is_alike(asked, bare(word));
        self.is_name(word) && (has(&self.asked, word) || self.asked.iter().any(is_a_form))
    }

    /// Whether the answer has the word, or a form of it.
    pub(super) fn is_replied(&self, word: &str) -> bool {
        has(&self.replied, word) || self.replied.iter().any(|other| is_form(other, bare(word)))
    }

    /// Whether the answer or the request has the word, or a form of it.
    pub(super) fn is_known(&self, word: &str) -> bool {
        self.is_name(word)
            && (self.is_replied(word)
                || has(&self.asked, word)
                || self.asked.iter().any(|other| is_form(other, bare(word))))
    }

    /// Whether the answer or the request has one of the words.
    fn knows_any(&self, words: &[String]) -> bool {
        let has_pair = |known: &BTreeSet<String>| self.has_pair(words, known);
        has_pair(&self.replied_pairs) || has_pair(&self.asked_pairs) || words.iter().any(|word| self.is_known(word))
    }

    /// Whether two neighbouring characters are a word of the request.
    pub(super) fn has_asked_pair(&self, words: &[String]) -> bool {
        self.has_pair(words, &self.asked_pairs)
    }

    /// Whether two neighbouring characters are a word that the answer has and the request does not.
    pub(super) fn has_new_pair(&self, words: &[String]) -> bool {
        let is_new = |pair: String| self.replied_pairs.contains(&pair) && !self.asked_pairs.contains(&pair);
        words.windows(2).filter_map(|pair| self.language.word_of(pair)).any(is_new)
    }

    /// Whether two neighbouring characters are a word of `known`, in languages that are compared by characters.
    fn has_pair(&self, words: &[String], known: &BTreeSet<String>) -> bool {
        words.windows(2).filter_map(|pair| self.language.word_of(pair)).any(|pair| known.contains(&pair))
    }

    pub(super) fn is_name(&self, word: &str) -> bool {
        let is_long = bare(word).chars().count() >= self.language.name_chars_min(NAME_CHARS_MIN);
        (is_long || word.contains(|c: char| c.is_ascii_digit())) && !self.language.is_common(word)
    }

    pub(super) fn is_number(&self, word: &str) -> bool {
        is_digit(word) || self.language.is_number(word)
    }
}

pub(super) fn is_digit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the word without an article that is written with it: "allemand" of "l'allemand".
pub(super) fn bare(word: &str) -> &str {
    word.split_once('\'').map_or(word, |(article, noun)| if article.len() <= ARTICLE_CHARS_MAX { noun } else { word })
}

/// Whether the request reports a fault, and asks for nothing: "The app freezes". With a negation ("The service does not
/// start") its verb is what is wished. A question for the cause ("Why does the cat purr?") may be about no fault.
pub(super) fn reports_a_fault(language: &Language, before: &Message) -> bool {
    let denies = |clause: &Clause| (0..clause.words.len()).any(|at| language.negates_at(&clause.words[at..]));
    only_states(language, before) && !before.clauses.iter().any(denies)
}

/// Whether the request states something, and has no known word that asks for anything.
fn only_states(language: &Language, before: &Message) -> bool {
    let states = |clause: &Clause| {
        let words = &clause.words;
        let begins_own = language.mentions_own(&words[..words.len().min(OWN_WORDS_MAX)]);
        !clause.asks && !language.has_please(words) && (begins_own || !language.requests(words))
    };
    !before.clauses.is_empty() && before.clauses.iter().all(states)
}

/// Whether two words are the same or forms of one word: "translate" and "translated".
pub(super) fn is_alike(one: &str, other: &str) -> bool {
    let shared = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let longest = one.chars().count().max(other.chars().count());
    one == other || shared >= STEM_CHARS_MIN && longest - shared <= STEM_ENDING_CHARS_MAX
}

/// Whether the set has the word or another form of it.
pub(super) fn has(words: &BTreeSet<String>, word: &str) -> bool {
    let word = bare(word);
    words.contains(word)
        || words.iter().any(|other| {
            let (short, long) = if other.len() < word.len() { (other.as_str(), word) } else { (word, other.as_str()) };
            let ending = long.strip_prefix(short);
            short.chars().count() >= NAME_CHARS_MIN
                && ending.is_some_and(|ending| ending.chars().count() <= ENDING_CHARS_MAX)
        })
}

#[cfg(test)]
mod tests {
    use crate::outcome::{Inferred, Languages, Outcome, Rule, infer};

    fn inferred(turn: [&str; 3]) -> Inferred {
        infer(Languages::built_in(), turn[0], turn[1], turn[2])
    }

    #[test]
    fn a_fact_that_contradicts_the_answer_rejects_it() {
        for turn in [
            ["When was the Peace of Westphalia signed?", "In 1748.", "1648, not 1748."],
            ["A vegetarian curry for four.", "Brown 500 g of chicken.", "Chicken isn't vegetarian."],
            ["A cake without nuts, please.", "An almond cake.", "Almonds are nuts."],
            ["How do I mute a channel?", "Press Silence in the menu.", "There is no Silence button."],
            ["What is 17 * 23?", "381", "It's 391."],
            ["Sum up the text in two sentences.", "A long text.", "That's four sentences."],
            ["Draw a bar chart.", "Here is a line chart.", "That's a line chart."],
            ["Was ist 7 mal 8?", "54", "Das sind 56."],
            ["Ordena los nombres.", "Ana, Luis", "Los has ordenado al azar."],
            ["Traduis la phrase en allemand.", "Gracias", "C'est de l'espagnol, pas de l'allemand."],
            ["Jak dojadę na Hel?", "Z Gdańska kursuje metro.", "w Gdańsku nie ma metra"],
            ["Какой штраф?", "Штраф 500 рублей.", "уже давно не 500"],
            ["When was it?", "In 1889.", "1822. 1889 was the republic"],
            ["Spread the load.", "The traffic goes to three nodes.", "All traffic still goes to node 1"],
            ["Corrige los precios.", "Los precios son brutos.", "Los precios siguen en neto"],
            ["", "The button is blue now.", "That is not blue"],
            ["", "Books have 21 percent VAT.", "books have 9 percent"],
            ["", "I cut the text to a hundred words.", "I count 180"],
            ["What is the capital of Turkey?", "The capital is Istanbul.", "The capital is Ankara"],
            ["Give me the list as a table.", "Apples, pears, plums.", "Where is the table?"],
            ["List merits and drawbacks.", "Merits: fast, cheap.", "And the drawbacks?"],
            ["", "Функция сортирует список.", "она его не сортирует"],
            ["", "He was mayor of The Hague.", "never mayor"],
            ["", "Закон касается компаний от 50 сотрудников.", "не от 50, а от 250"],
            ["", "Yasa 50 çalışanı kapsıyor.", "50 değil 250"],
            ["", "Het plaatje is transparant.", "nog steeds een rand"],
            ["", "标志已经移到右边。", "标志还在下面"],
            ["", "1500", "1000"],
        ] {
            let found = inferred(turn);
            assert_eq!(
                (found.outcome, found.evidence.rule),
                (Outcome::Rejected, Rule::Objection),
                "{turn:?}: {found:?}"
            );
        }
    }

    #[test]
    fn a_fact_beside_the_answer_decides_nothing() {
        for turn in [
            ["When was the Peace of Westphalia signed?", "In 1648.", "1648, not 1748?"],
            ["A vegetarian curry for four.", "Brown the tofu.", "My children don't like tofu."],
            ["How do I mute a channel?", "Press Silence in the menu.", "There is no rush."],
            ["Explain the rule of 72.", "Divide 72 by the rate.", "A colleague told me that's not true."],
            ["Formuliere Feedback.", "Hallo Sam, …", "Sein Text ist kurz, aber am Thema vorbei."],
            ["What is 17 * 23?", "391", "It's for my homework."],
            ["Draw a bar chart.", "Here is a bar chart.", "Make the bars blue, not green."],
            ["Which list is longer?", "Do you mean the first one?", "That's four items, not five."],
            ["Wie koche ich Reis?", "Zwölf Minuten.", "Das ist Vollkornreis."],
            ["¿Cómo hago arroz?", "Doce minutos.", "Es arroz integral."],
            ["Comment cuire du riz ?", "Douze minutes.", "C'est du riz complet."],
            ["Fix the table.", "I updated the table.", "I have still not looked at the table"],
            ["How much pasta?", "For 4 people use 400 g.", "we're 6"],
            ["How long is it?", "The report is 12 pages.", "make it 10 pages"],
            ["Wie viel?", "Für 4 Personen 400 g Nudeln.", "wir sind 6"],
            ["Corrija a tabela.", "Atualizei o script.", "ainda não rodei o script"],
            ["Write to them.", "Dear neighbours …", "It's not the neighbours below, it's the ones above."],
            ["Sort the table.", "The table is sorted.", "We don't need that today"],
            ["Add a shelf.", "I added a shelf.", "And the colour?"],
            ["How do I cook noodles?", "Boil water first.", "how long for the noodles?"],
            ["", "Cook the rice for 20 minutes.", "we counted 12 guests"],
            ["", "De trein rijdt elk half uur.", "gisteren reed er geen trein"],
            ["", "Kegeln, Karaoke, Picknick", "Karaoke mag sie nicht so."],
            ["", "1500", "1000?"],
            ["The printer makes black lines", "Clean the rollers, check the drum.", "It was the printer drum"],
        ] {
            let found = inferred(turn);
            assert_eq!(found.outcome, Outcome::Neutral, "{turn:?}: {found:?}");
        }
    }

    #[test]
    fn an_error_after_code_rejects_it_unless_something_else_failed() {
        let error = "npm ERR! code ERESOLVE";
        let install = ["Install the linter.", "`npm install lint`"];
        let found = inferred([install[0], install[1], error]);
        assert_eq!((found.outcome, found.evidence.rule), (Outcome::Rejected, Rule::CodeFailed), "{found:?}");
        let other = format!("My other project says {error}");
        assert_eq!(inferred([install[0], install[1], &other]).outcome, Outcome::Neutral);
        assert_eq!(inferred([install[0], "It is installed.", error]).outcome, Outcome::Neutral);
        let missing = "AttributeError: 'list' object has no attribute 'shuffle'";
        assert_eq!(inferred(["", "Use list.shuffle().", missing]).outcome, Outcome::Rejected);
        let sheet = inferred(["", "This formula gives the mean.", "#DIV/0! in every cell"]);
        assert_eq!((sheet.outcome, sheet.evidence.rule), (Outcome::Rejected, Rule::CodeFailed), "{sheet:?}");
        assert_eq!(inferred(["Why #DIV/0! in A1?", "A1 is empty.", "#DIV/0! in B1"]).outcome, Outcome::Neutral);
    }

    #[test]
    fn words_without_weight_hide_no_phrase() {
        let turn = ["How do I get a refund?", "See our shop for offers.", "You completely ignored what I wrote."];
        assert_eq!(inferred(turn).evidence.rule, Rule::Correction);
    }
}
