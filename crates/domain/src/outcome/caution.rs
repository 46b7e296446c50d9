//! Takes a decision back if the words that led to it are probably no opinion about the answer: the person's own
//! mistake, irony about something else, a complaint that only leads to a question.

use super::{
    aside::Aside,
    class::Class,
    infer::{Case, Decision, Outcome, Rule},
    language::Language,
    phrase::{any_begins, any_within, longest},
    phrase_match::PhraseMatch,
    text::{Clause, words_of},
};
use std::collections::BTreeSet;

/// Least length of a clause that states something, in words.
const STATEMENT_WORDS_MIN: usize = 3;
/// Least number of names beside thanks, none of them of the request or the answer, that are whom the thanks are for.
const THANKED_NAMES_MIN: usize = 2;
/// Number of words at the start of a message in which an apology begins: "oh, sorry".
const APOLOGY_REACH: usize = 2;

impl Language {
    /// Whether the clause says that the person made a mistake: "my mistake".
    fn admits(&self, words: &[String]) -> bool {
        any_within(words, &self.admission)
    }

    /// Whether the clause begins with an apology that no contrast follows: "Sorry but …" leads to an objection.
    fn apologises(&self, words: &[String]) -> bool {
        let is_plain = |at: usize| {
            longest(&words[at..], &self.apology).is_some_and(|length| !self.turns_at(&words[at + length..]))
        };
        self.refusals(words) == 0 && (0..words.len().min(self.span(APOLOGY_REACH))).any(is_plain)
    }

    /// Whether `words` begin with a conclusion: "so".
    pub(super) fn concludes(&self, words: &[String]) -> bool {
        any_begins(words, &self.conclusion)
    }

    /// Whether the clause has what the person does not know: "I am not sure".
    fn wonders(&self, words: &[String]) -> bool {
        any_within(words, &self.doubt)
    }

    /// Returns the words that belong to no phrase for the answer: "portal" of "that portal", nothing of "the script".
    fn beside_answer<'a>(&self, words: &'a [String]) -> impl Iterator<Item = &'a String> {
        let mut covered = 0;
        let is_free = move |at: &usize| {
            covered = covered.max(at + longest(&words[*at..], &self.answer).unwrap_or(0));
            covered <= *at
        };
        (0..words.len()).filter(is_free).map(|at| &words[at])
    }

    /// Whether the clause says that something happens again.
    fn recurs(&self, words: &[String]) -> bool {
        any_within(words, &self.recurrence)
    }
}

impl Case<'_> {
    /// Whether the decision rests on words that are probably not about the answer.
    pub(super) fn is_doubtful(&self, decision: &Decision) -> bool {
        let Some(language) = self.language else { return false };
        match decision.outcome {
            Outcome::Neutral => false,
            Outcome::Rejected => {
                self.now.clauses.iter().any(|clause| language.admits(&clause.words))
                    || self.has_both(decision)
                    || self.means_another_number(language, decision)
                    || self.corrects_the_person(language, decision)
                    || self.leads_to_a_question(language, decision)
                    || decision.rule == Rule::Displeasure && self.exclaims_aside(language)
            }
            Outcome::Accepted => {
                self.now.clauses.iter().any(|clause| language.wonders(&clause.words))
                    || decision.rule == Rule::Face && (self.signs.requests || self.asks_from(0))
                    || decision.rule == Rule::Praise && self.is_ironic(language)
                    || decision.rule == Rule::Thanks && self.thanks_somebody_else(language)
                    || decision.rule == Rule::Success && self.succeeds_in_part(language)
            }
        }
    }

    fn against(&self) -> impl Iterator<Item = &PhraseMatch> {
        self.signs.found.iter().filter(|sign| sign.class.rejects())
    }

    /// Whether phrases against the answer stand beside praise or success: "It worked, everything is still there".
    fn has_both(&self, decision: &Decision) -> bool {
        let is_by_phrase = !matches!(decision.rule, Rule::CodeFailed | Rule::Face | Rule::Objection);
        is_by_phrase && self.signs.found.iter().any(|sign| matches!(sign.class, Class::Success | Class::Praise))
    }

    /// Whether a sentence from index `sentence` on asks something.
    fn asks_from(&self, sentence: usize) -> bool {
        self.now.clauses.iter().any(|clause| clause.sentence >= sentence && clause.asks)
    }

    /// Whether the person only says what was meant, with a number that the turn does not have: "Sorry, I meant 4.5".
    fn means_another_number(&self, language: &Language, decision: &Decision) -> bool {
        let is_wish = |sign: &PhraseMatch| {
            let words = &self.now.clauses[sign.clause].words;
            place_of(sign, words).is_some_and(|at| language.only_demands(&words[at..at + sign.length]))
        };
        let known: BTreeSet<String> = words_of(&self.before.raw).into_iter().chain(words_of(self.reply)).collect();
        let is_new = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && !known.contains(word);
        // "No. 1648." has no phrase at all, and is against the answer.
        let mut against = self.against().peekable();
        let only_wishes = against.peek().is_some() && against.all(is_wish);
        decision.rule == Rule::Correction && only_wishes && self.now.words().any(is_new)
    }

    /// Whether an apology begins the message, and hardly anything is against the answer: another fact, or a single
    /// word. The person then mostly corrects what the request said: "Sorry, it's 1,540", "Sorry, wrong month".
    fn corrects_the_person(&self, language: &Language, decision: &Decision) -> bool {
        let clauses = &self.now.clauses;
        let is_short = |sign: &PhraseMatch| sign.length <= language.span(1);
        let is_weak =
            decision.rule == Rule::Objection || self.against().next().is_some() && self.against().all(is_short);
        is_weak
            && clauses.first().is_some_and(|first| language.apologises(&first.words))
            && !clauses.get(1).is_some_and(|next| language.turns_at(&next.words))
    }

    /// Whether a fault or a displeasure about something that the clause names is only the reason for a question in a
    /// later sentence: "That portal is terribly slow. Is there a phone number?"
    fn leads_to_a_question(&self, language: &Language, decision: &Decision) -> bool {
        let last = self.against().last().map(|sign| self.now.clauses[sign.clause].sentence);
        let aside = Aside::read(language, &self.before, &self.answer, &self.now);
        let names_something = |sign: &PhraseMatch| {
            let clause = &self.now.clauses[sign.clause];
            let earlier = self.now.clauses[..sign.clause].iter().filter(|other| other.sentence == clause.sentence);
            let starts = place_of(sign, &clause.words).unwrap_or(0);
            let before = earlier.map(|other| other.words.as_slice()).chain([&clause.words[..starts]]);
            before.flat_map(|words| language.beside_answer(words)).any(|word| aside.names(word))
        };
        matches!(decision.rule, Rule::Failure | Rule::Displeasure)
            && self.against().all(|sign| sign.class != Class::Persisting && names_something(sign))
            && last.is_some_and(|sentence| self.asks_from(sentence + 1))
    }

    /// Whether thanks go to something that neither the request nor the answer has: "Thanks, public service".
    fn thanks_somebody_else(&self, language: &Language) -> bool {
        let aside = Aside::read(language, &self.before, &self.answer, &self.now);
        let is_aside = |sign: &PhraseMatch| {
            let (strange, familiar) = aside.names_beside(sign);
            strange >= THANKED_NAMES_MIN && familiar == 0 && self.now.clauses[sign.clause].words.len() > sign.length
        };
        self.signs.found.iter().filter(|sign| sign.class.accepts()).all(is_aside)
    }

    /// Whether an exclamation that is a clause of its own is beside something else that happens: "How nice, now the
    /// toner is empty too".
    fn exclaims_aside(&self, language: &Language) -> bool {
        let is_exclamation = |sign: &PhraseMatch| self.now.clauses[sign.clause].words.len() == sign.length;
        self.against().all(is_exclamation) && self.tells_of_something_else(language, |_| true)
    }

    /// Whether praise is beside something else that happens, in its sentence or again: "Great, the lift is out of
    /// order again".
    fn is_ironic(&self, language: &Language) -> bool {
        let praise: Vec<usize> = self.signs.found.iter().map(|sign| self.now.clauses[sign.clause].sentence).collect();
        self.tells_of_something_else(language, |clause| praise.contains(&clause.sentence))
    }

    /// Whether a clause without a phrase says that something happens again, or names only things that neither the
    /// request nor the answer has.
    fn tells_of_something_else(&self, language: &Language, is_near: impl Fn(&Clause) -> bool) -> bool {
        let aside = Aside::read(language, &self.before, &self.answer, &self.now);
        let has_phrase = |at: usize| self.signs.found.iter().any(|sign| sign.clause == at);
        let others = self.now.clauses.iter().enumerate().filter(|(at, clause)| !has_phrase(*at) && !clause.asks);
        let mut others = others.map(|(_, clause)| clause);
        let is_strange = |clause: &Clause| {
            let mut names = clause.words.iter().filter(|word| aside.names(word)).peekable();
            clause.words.len() >= language.span(STATEMENT_WORDS_MIN)
                && is_near(clause)
                && names.peek().is_some()
                && !names.any(|word| aside.knows(word))
                && !language.answer_before(&clause.words, 1)
        };
        others.any(|clause| language.recurs(&clause.words) || is_strange(clause))
    }

    /// Whether a conclusion follows praise, in its clause or in the next one: "Great, so now the mailbox is gone".
    pub(super) fn concludes_after(&self, language: &Language, sign: &PhraseMatch) -> bool {
        let draws = |clause: &Clause, from: usize| {
            let words = &clause.words[from..];
            !clause.asks && words.len() > language.span(STATEMENT_WORDS_MIN) && language.concludes(words)
        };
        let clause = &self.now.clauses[sign.clause];
        let next = self.now.clauses.get(sign.clause + 1);
        let begins = place_of(sign, &clause.words) == Some(0);
        sign.class == Class::Praise && (begins && draws(clause, sign.length) || next.is_some_and(|next| draws(next, 0)))
    }

    /// Whether only a part of the answer succeeds: "The opening is spot on".
    fn succeeds_in_part(&self, language: &Language) -> bool {
        let is_partial = |sign: &PhraseMatch| language.limits(&self.now.clauses[sign.clause].words);
        let mut accepting = self.signs.found.iter().filter(|sign| sign.class.accepts()).peekable();
        // A fault that has ended accepts without a phrase.
        accepting.peek().is_some() && accepting.all(is_partial)
    }
}

/// Returns where the phrase begins in the words of its clause.
fn place_of(sign: &PhraseMatch, words: &[String]) -> Option<usize> {
    let is_sign = |at: &usize| words[*at..].iter().map(String::as_str).zip(sign.words.split(' ')).all(|(a, b)| a == b);
    (0..=words.len().checked_sub(sign.length)?).find(is_sign)
}

#[cfg(test)]
mod tests {
    use crate::outcome::{Languages, Outcome, infer};

    fn outcome([prompt, reply, next]: [&str; 3]) -> Outcome {
        infer(Languages::built_in(), prompt, reply, next).outcome
    }

    #[test]
    fn the_mistake_of_the_person_rejects_no_answer() {
        for turn in [
            ["Convert 12 inches to cm.", "30.48 cm", "my mistake, that's wrong, it is 21 inches"],
            ["Rechne 14 Tage à 85 Euro.", "1.190 Euro", "Sorry, ich meinte 12 Tage."],
            ["3,5 vezes 42", "147", "ih, li errado, é 4,5"],
            ["3,5 razy 42", "147", "wróć, źle spojrzałem, 4,5"],
            ["500的12%", "60", "我看错了，应该是5000"],
        ] {
            assert_ne!(outcome(turn), Outcome::Rejected, "{turn:?}");
        }
    }

    #[test]
    fn an_apology_before_another_figure_rejects_no_answer() {
        for turn in [
            ["What is 20 % of 1,450?", "290", "sorry, 1,540"],
            ["Calcule 20 % de 1 450", "290 €", "désolée, c'est 1 540"],
            ["Rota for three", "Mon: A, Tue: B.", "sorry, wrong information, there are four of us"],
            ["1450的增值税", "188.5", "抱歉，是1540，抄错了"],
        ] {
            assert_ne!(outcome(turn), Outcome::Rejected, "{turn:?}");
        }
    }

    #[test]
    fn a_bare_number_after_no_rejects() {
        for turn in [
            ["When was the Peace of Westphalia signed?", "In 1748.", "No. 1648."],
            ["Quand fut signée la paix de Westphalie ?", "En 1748.", "Non. 1648."],
        ] {
            assert_eq!(outcome(turn), Outcome::Rejected, "{turn:?}");
        }
        let wished = ["Convert 12 inches to cm.", "30.48 cm", "no sorry, I meant 21 inches"];
        assert_ne!(outcome(wished), Outcome::Rejected);
    }

    #[test]
    fn praise_around_a_conclusion_is_no_acceptance() {
        for turn in [
            ["How do I archive the mails?", "Press Delete all.", "Great so now the whole mailbox is gone"],
            ["Wie sichere ich die Datei?", "Drück auf Löschen.", "Super, also löscht der Tipp die Sicherung. Klasse."],
        ] {
            assert_ne!(outcome(turn), Outcome::Accepted, "{turn:?}");
        }
    }

    #[test]
    fn irony_about_something_else_is_no_verdict() {
        for turn in [
            ["IP vom Scanner?", "10.2.0.9", "na wunderbar, und schon wieder ist der Toner leer"],
            ["Où est la salle ?", "Au troisième.", "génial, l'ascenseur est encore bloqué. j'adore cette boîte"],
            ["Waar meld ik een storing?", "In de app.", "fijn hoor, weer een app erbij"],
            ["Servis nereden kalkıyor?", "B kapısından.", "harika, yine otoparkın öbür ucu, ne şanslıyız"],
        ] {
            assert_eq!(outcome(turn), Outcome::Neutral, "{turn:?}");
        }
    }

    #[test]
    fn a_complaint_about_something_else_that_leads_to_a_question_is_no_verdict() {
        let polish = ["Jak zamówić biurko?", "W ZAM.", "Ten system wiesza się co chwilę. Da się na papierze?"];
        assert_eq!(outcome(polish), Outcome::Neutral);
        let english = ["Which library?", "Use the new one.", "It doesn't work in Safari. What else can I try?"];
        assert_eq!(outcome(english), Outcome::Rejected);
    }

    #[test]
    fn success_of_a_part_and_doubt_are_no_acceptance() {
        for turn in [
            ["Write the proposal.", "Dear Ms Okafor …", "Opening paragraph is spot on. The rest I would not show"],
            ["Quale proposta?", "La 1 o la 2.", "la 1 torna con il preventivo, sulla 2 ho dubbi"],
        ] {
            assert_ne!(outcome(turn), Outcome::Accepted, "{turn:?}");
        }
    }
}
