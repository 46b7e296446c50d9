//! The words of searches: an event must have all; `"a phrase"`, `begin*` and `-not`.

use super::{ending::other_forms, field::BadField, word::for_each_word};
use crate::{
    limit::{SEARCH_PREFIX_CHARS_MIN, SEARCH_QUERY_CHARS_MAX, SEARCH_QUERY_WORDS_MAX},
    memory::Forms,
};
use std::fmt;

/// A search for events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// What an event must have, and must not have. At least one must be had.
    pub units: Vec<Unit>,
}

/// A word or a phrase of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Its words one after another, at least one. `foo_bar` is a phrase of two words.
    pub terms: Vec<String>,
    /// Other forms, any of which is as good. Only a single word has some that is neither quoted nor excluded.
    pub forms: Vec<String>,
    /// Whether the last word only has to begin like this.
    pub is_prefix: bool,
    /// Whether an event must not have it.
    pub is_excluded: bool,
}

/// Why a search is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadQuery {
    /// Where, in characters from 1.
    pub at: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What can be wrong with a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// It has more than [`SEARCH_QUERY_CHARS_MAX`] characters.
    TooLong,
    /// It has more than [`SEARCH_QUERY_WORDS_MAX`] words and phrases.
    TooManyWords,
    /// A quotation mark has no second one.
    OpenQuote,
    /// There is no letter or digit in quotation marks.
    EmptyPhrase,
    /// A `*` is not at the end of a word.
    MisplacedStar,
    /// Fewer than [`SEARCH_PREFIX_CHARS_MIN`] letters and digits are before a `*`.
    ShortPrefix,
    /// There is a character that is neither shown nor a space.
    Control,
    /// No word is searched for: it is empty, has no letter or digit, or only excludes words.
    NothingToFind,
    /// A condition on a field is none.
    Field(BadField),
}

impl fmt::Display for BadQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::TooLong => write!(f, "at most {SEARCH_QUERY_CHARS_MAX} characters"),
            Problem::TooManyWords => {
                write!(f, "at most {SEARCH_QUERY_WORDS_MAX} words and phrases; another begins at character {}", self.at)
            }
            Problem::OpenQuote => write!(f, "the quotation mark at character {} has no second one", self.at),
            Problem::EmptyPhrase => write!(f, "there is no word in the quotation marks at character {}", self.at),
            Problem::MisplacedStar => write!(f, "the * at character {} is not at the end of a word", self.at),
            Problem::ShortPrefix => write!(
                f,
                "the * at character {} needs at least {SEARCH_PREFIX_CHARS_MIN} letters or digits before it",
                self.at
            ),
            Problem::Control => write!(f, "there is a control character at character {}", self.at),
            Problem::NothingToFind => f.write_str("name at least one word to find"),
            Problem::Field(bad) => write!(f, "at character {}: {bad}", self.at),
        }
    }
}

impl std::error::Error for BadQuery {}

/// A piece of a search between spaces or quotation marks.
pub(super) struct Written {
    pub(super) text: String,
    /// Where it begins, from 1.
    pub(super) at: usize,
    pub(super) is_quoted: bool,
    pub(super) is_excluded: bool,
}

impl Query {
    /// Reads a search.
    ///
    /// # Errors
    /// [`BadQuery`] with the first place at which it is none.
    pub fn parse(text: &str) -> Result<Self, BadQuery> {
        let letters = letters(text)?;
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some((written, end)) = piece(&letters, at)? {
            pieces.push(written);
            at = end;
        }
        Self::of(&pieces)?.ok_or(BadQuery { at: 1, problem: Problem::NothingToFind })
    }

    /// The words and phrases among these pieces; `None` if none of them has a letter or digit.
    pub(super) fn of(pieces: &[Written]) -> Result<Option<Self>, BadQuery> {
        let texts: Vec<&str> = pieces.iter().map(|written| written.text.as_str()).collect();
        let forms = Forms::of_text(&texts.join(" "));
        let mut units = Vec::new();
        for written in pieces {
            let Some(mut unit) = unit(written)? else { continue };
            if units.len() >= SEARCH_QUERY_WORDS_MAX {
                return Err(BadQuery { at: written.at, problem: Problem::TooManyWords });
            }
            if let ([word], false, false, false) =
                (&unit.terms[..], written.is_quoted, unit.is_prefix, unit.is_excluded)
            {
                unit.forms = other_forms(&forms, word);
            }
            units.push(unit);
        }
        if !units.is_empty() && units.iter().all(|unit| unit.is_excluded) {
            return Err(BadQuery { at: 1, problem: Problem::NothingToFind });
        }
        Ok((!units.is_empty()).then_some(Self { units }))
    }
}

/// The characters of a search.
pub(super) fn letters(text: &str) -> Result<Vec<char>, BadQuery> {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() > SEARCH_QUERY_CHARS_MAX {
        return Err(BadQuery { at: SEARCH_QUERY_CHARS_MAX + 1, problem: Problem::TooLong });
    }
    // PostgreSQL has no NUL, and no other such character can be typed.
    if let Some(at) = letters.iter().position(|c| c.is_control() && !c.is_whitespace()) {
        return Err(BadQuery { at: at + 1, problem: Problem::Control });
    }
    Ok(letters)
}

/// The next piece from this place on, and where it ends; `None` at the end.
pub(super) fn piece(letters: &[char], from: usize) -> Result<Option<(Written, usize)>, BadQuery> {
    let Some(begin) = letters[from..].iter().position(|c| !c.is_whitespace()).map(|found| from + found) else {
        return Ok(None);
    };
    let is_excluded = is_exclusion(letters, begin);
    let at = begin + usize::from(is_excluded);
    let is_quoted = is_quote(letters[at]);
    let from = at + usize::from(is_quoted);
    let is_end = |c: &char| is_quote(*c) || (!is_quoted && c.is_whitespace());
    let end = match letters[from..].iter().position(is_end) {
        Some(found) => from + found,
        None if is_quoted => return Err(BadQuery { at: at + 1, problem: Problem::OpenQuote }),
        None => letters.len(),
    };
    let text = letters[from..end].iter().collect();
    Ok(Some((Written { text, at: begin + 1, is_quoted, is_excluded }, end + usize::from(is_quoted))))
}

/// Whether a piece that begins here is excluded.
pub(super) fn is_exclusion(letters: &[char], begin: usize) -> bool {
    letters[begin] == '-' && letters.get(begin + 1).is_some_and(|next| !next.is_whitespace())
}

/// Keyboards and word processors write several.
pub(super) const fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„')
}

/// The words of a piece; `None` if it has none and is not quoted, as `&`.
pub(super) fn unit(written: &Written) -> Result<Option<Unit>, BadQuery> {
    let first = written.at + usize::from(written.is_excluded);
    let star = (!written.is_quoted).then(|| written.text.chars().position(|c| c == '*')).flatten();
    let length = written.text.chars().count();
    if let Some(star) = star
        && star + 1 < length
    {
        return Err(BadQuery { at: first + star, problem: Problem::MisplacedStar });
    }
    let (mut terms, mut end) = (Vec::new(), 0);
    for_each_word(&written.text, |word| {
        terms.push(word.term.to_owned());
        end = word.place.end;
    });
    if let Some(star) = star {
        // `foo_*` has no word to begin with, `a*` would find nearly everything.
        let reaches = end == written.text.len() - 1;
        let long = |term: &String| !term.is_ascii() || term.len() >= SEARCH_PREFIX_CHARS_MIN;
        if !reaches || !terms.last().is_some_and(long) {
            return Err(BadQuery { at: first + star, problem: Problem::ShortPrefix });
        }
    }
    if terms.is_empty() {
        let empty = BadQuery { at: first, problem: Problem::EmptyPhrase };
        return if written.is_quoted { Err(empty) } else { Ok(None) };
    }
    let (is_prefix, is_excluded) = (star.is_some(), written.is_excluded);
    Ok(Some(Unit { terms, forms: Vec::new(), is_prefix, is_excluded }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The search in its own language, forms left out.
    fn read(text: &str) -> Vec<String> {
        let shown = |unit: &Unit| {
            let (not, star) = (["", "-"][usize::from(unit.is_excluded)], ["", "*"][usize::from(unit.is_prefix)]);
            format!("{not}{}{star}", unit.terms.join("_"))
        };
        Query::parse(text).unwrap().units.iter().map(shown).collect()
    }

    #[test]
    fn a_search_is_words_phrases_beginnings_and_what_is_excluded() {
        for (text, units) in [
            ("Token expired", &["token", "expired"][..]),
            ("\"token expired\"", &["token_expired"]),
            ("„rate limit“ -\"no data\"", &["rate_limit", "-no_data"]),
            ("token -expired", &["token", "-expired"]),
            ("rate*", &["rate*"]),
            ("src/main_lo*", &["src_main_lo*"]),
            ("foo_bar E0277 /src/lib.rs", &["foo_bar", "e0277", "src_lib_rs"]),
            ("東京 タ*", &["東_京", "タ*"]),
            ("well-known - & x", &["well_known", "x"]),
            ("a\"b c\"d", &["a", "b_c", "d"]),
            ("don't", &["don_t"]),
        ] {
            assert_eq!(read(text), units, "{text}");
        }
    }

    #[test]
    fn a_search_that_is_none_says_where() {
        for (text, at, problem) in [
            ("", 1, Problem::NothingToFind),
            (" … & ", 1, Problem::NothingToFind),
            ("-refund -\"rate limit\"", 1, Problem::NothingToFind),
            ("ab \"open phrase", 4, Problem::OpenQuote),
            ("é -\"", 4, Problem::OpenQuote),
            ("x \"…\"", 3, Problem::EmptyPhrase),
            ("in*side", 3, Problem::MisplacedStar),
            ("-in**", 4, Problem::MisplacedStar),
            ("x *", 3, Problem::ShortPrefix),
            ("a*", 2, Problem::ShortPrefix),
            ("foo_*", 5, Problem::ShortPrefix),
        ] {
            assert_eq!(Query::parse(text), Err(BadQuery { at, problem }), "{text}");
        }
        let long = "a".repeat(SEARCH_QUERY_CHARS_MAX);
        assert!(Query::parse(&long).is_ok());
        let refused = Query::parse(&(long + "b")).unwrap_err();
        assert_eq!((refused.at, refused.problem), (501, Problem::TooLong));
        let many = "ab ".repeat(SEARCH_QUERY_WORDS_MAX);
        assert!(Query::parse(&many).is_ok());
        let refused = Query::parse(&(many + "cd")).unwrap_err();
        assert_eq!(refused.to_string(), "at most 16 words and phrases; another begins at character 49");
        assert_eq!((refused.at, refused.problem), (49, Problem::TooManyWords));
    }

    #[test]
    fn single_words_are_looked_for_in_other_forms() {
        let forms = |text: &str| Query::parse(text).unwrap().units.remove(0).forms;
        assert!(forms("refunds").contains(&"refund".to_owned()));
        for exact in ["\"refunds\"", "refunds*", "E0277", "refunds_due"] {
            assert_eq!(forms(exact), [""; 0], "{exact}");
        }
        assert_eq!(Query::parse("x -refunds").unwrap().units[1].forms, [""; 0]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_search_or_says_where_it_is_none(text in "(\\PC|[ \"*-]){0,60}") {
            match Query::parse(&text) {
                Ok(query) => {
                    proptest::prop_assert!(query.units.iter().any(|unit| !unit.is_excluded));
                    proptest::prop_assert!(query.units.iter().all(|unit| !unit.terms.is_empty()));
                }
                Err(bad) => proptest::prop_assert!((1..=text.chars().count().max(1)).contains(&bad.at), "{bad:?}"),
            }
        }

        #[test]
        fn words_of_a_text_find_it(text in "[a-zA-Z0-9_/.é東 ]{1,60}") {
            if let Ok(query) = Query::parse(&text) {
                let shown = super::super::snippet(&text, &query);
                proptest::prop_assert!(shown.iter().any(|piece| piece.is_marked), "{shown:?}");
            }
        }
    }
}
