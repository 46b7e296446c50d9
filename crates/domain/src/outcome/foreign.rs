//! Finds out that an answer was written in a language that was not asked for, when the person names a language: "That's
//! German.", "in English please" after an answer in Spanish.

use super::{
    language::Language,
    languages::Languages,
    text::{Clause, Message, words_of},
};

/// Longest message in which the name of a language is searched for, in words.
const WORDS_MAX: usize = 20;
/// Least length of an answer whose language is known from its words, in words.
const ANSWER_WORDS_MIN: usize = 3;

/// Beginnings of the names of the languages with a table, in each of these languages.
const NAMES: [(&str, &str); 13] = [
    (
        "en",
        "english englisch inglés ingles anglais inglese inglês engels angielsk английск по-английски \
         ingiliz 英語 英语 英文 영어",
    ),
    (
        "de",
        "german deutsch alemán aleman allemand tedesc alemão alemao duits niemieck немецк по-немецки \
         almanca ドイツ語 德语 德文 독일어",
    ),
    (
        "es",
        "spanish spanisch español espanol castellano espagnol spagnol espanhol spaans hiszpańsk испанск \
         по-испански ispanyolca スペイン語 西班牙语 西班牙文 스페인어",
    ),
    (
        "fr",
        "french französisch franzoesisch francés frances français francais francese francês frans \
         francusk французск по-французски fransızca フランス語 法语 法文 프랑스어 불어",
    ),
    (
        "it",
        "italian italienisch italiano italien italiaans włosk итальянск по-итальянски italyanca イタリア語 \
         意大利语 이탈리아어",
    ),
    (
        "ja",
        "japanese japanisch japonés japones japonais giapponese japonês japans japońsk японск по-японски \
         japonca 日本語 日语 日文 일본어",
    ),
    (
        "ko",
        "korean koreanisch coreano coréen corean koreaans koreańsk корейск по-корейски korece 韓国語 韩语 \
         韩文 한국어",
    ),
    (
        "nl",
        "dutch niederländisch holländisch neerland holandés néerlandais hollandais olandese holandês \
         nederlands niderlandzk нидерландск голландск felemenkçe hollandaca オランダ語 荷兰语 네덜란드어",
    ),
    (
        "pl",
        "polish polnisch polaco polonais polacco polonês pools polsk польск по-польски lehçe ポーランド語 波兰语 폴란드어",
    ),
    (
        "pt",
        "portugues portuguese portugiesisch portugués portugais portoghese português portugees portugalsk \
         португальск portekizce ポルトガル語 葡萄牙语 포르투갈어",
    ),
    ("ru", "russian russisch ruso russe russo rosyjsk русск по-русски rusça ロシア語 俄语 俄文 러시아어"),
    ("tr", "turkish türkisch turco turc turks tureck турецк по-турецки türkçe トルコ語 土耳其语 터키어 튀르키예어"),
    (
        "zh",
        "chinese chinesisch chino chinois cinese chinês chinees chińsk китайск по-китайски çince 中国語 中文 \
         汉语 중국어",
    ),
];

/// Returns the message if it names a language and the answer is in another one than the message and the request:
/// the language of the answer, which the request did not name, or its own, if the request named none.
pub(super) fn objection(languages: &Languages, own: &Language, [before, answer, now]: [&Message; 3]) -> Option<String> {
    let named = named_in(&now.raw);
    let (asks, denies) =
        (now.clauses.iter().any(|clause| clause.asks), now.clauses.iter().any(|clause| denies(own, clause)));
    let is_long = now.words().count() > own.span(WORDS_MAX);
    if named.is_empty()
        || is_long
        || asks && !denies
        || now.clauses.iter().any(|clause| own.mentions_own(&clause.words))
    {
        return None;
    }
    let words_of = |message: &Message| message.words().map(str::to_owned).collect::<Vec<String>>();
    let (asked_words, answer_words) = (words_of(before), words_of(answer));
    let is_in = |code: &str| answer_words.len() >= ANSWER_WORDS_MIN && languages.may_be(code, &answer_words);
    if is_in(&own.code) || languages.of(&asked_words, [&[], &[]]).is_some_and(|language| is_in(&language.code)) {
        return None;
    }
    let asked = named_in(&before.raw);
    let is_that_of_the_answer = named.iter().any(|code| is_in(code) && !asked.contains(code));
    let written = languages.of(&answer_words, [&[], &[]]);
    let is_that_of_the_message = named.contains(&own.code.as_str()) && asked.is_empty() && written.is_some();
    let text = || now.words().collect::<Vec<_>>().join(" ");
    (is_that_of_the_answer || is_that_of_the_message).then(text)
}

fn denies(own: &Language, clause: &Clause) -> bool {
    (0..clause.words.len()).any(|at| own.negates_at(&clause.words[at..]))
}

/// Returns the codes of the languages that a text names.
fn named_in(text: &str) -> Vec<&'static str> {
    let lower = text.to_lowercase();
    let words = words_of(text);
    let is_named = |name: &&str| match name.is_ascii() || name.chars().all(|c| c < '\u{3000}') {
        true => {
            words.iter().any(|word| word.split('\'').any(|part| part.starts_with(name)))
                || name.contains('-') && lower.contains(name)
        }
        false => lower.contains(name),
    };
    NAMES
        .iter()
        .filter(|(_, names)| names.split_whitespace().any(|name| is_named(&name)))
        .map(|(code, _)| *code)
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::outcome::{Languages, Outcome, infer};

    fn outcome([prompt, reply, next]: [&str; 3]) -> Outcome {
        infer(Languages::built_in(), prompt, reply, next).outcome
    }

    #[test]
    fn an_answer_in_a_language_that_was_not_asked_for_is_rejected_by_the_name_of_one() {
        const ENGLISH: &str = "A deposit is the money that you pay before the rent begins.";
        for turn in [
            ["Translate the menu into Dutch.", "Die Suppe des Tages mit dem Brot.", "That's German."],
            ["C'est quoi une caution ?", ENGLISH, "en français svp"],
            ["Was ist eine Kaution?", ENGLISH, "Das ist Englisch."],
            ["¿Qué es una fianza?", ENGLISH, "no hablo inglés"],
            ["敷金とは何ですか", ENGLISH, "日本語でお願いします"],
        ] {
            assert_eq!(outcome(turn), Outcome::Rejected, "{turn:?}");
        }
        for turn in [
            ["Schreib die Mail an London auf Englisch.", ENGLISH, "Ist das gutes Englisch?"],
            ["Was ist eine Kaution? Antworte auf Englisch.", ENGLISH, "Und jetzt auf Deutsch"],
            ["Was ist eine Kaution?", ENGLISH, "Mein Englisch reicht dafür."],
            ["What is a deposit?", ENGLISH, "Now in German"],
        ] {
            assert_ne!(outcome(turn), Outcome::Rejected, "{turn:?}");
        }
    }
}
