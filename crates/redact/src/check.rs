//! Checks that a pattern cannot express: whether a value is a secret or a placeholder, whether text is random,
//! whether check digits are correct.

use crate::{
    shape,
    value::{entropy, is_mixed, is_path, is_placeholder_of_secret, is_public, names_a_password},
    words::{INNOCENT_NAMES, PUBLIC_PREFIXES},
};
use serde::Deserialize;
use std::ops::Range;

/// A check that is applied to the match of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Check {
    /// A value that is assigned to a name for secrets.
    Assigned,
    /// A word after "the password is".
    Spoken,
    /// Random text without a known prefix.
    Random,
    /// Digits after a prefix that does not name a digest or an id.
    Prefixed,
    /// A word in a sentence about a password.
    InSentence,
    /// A password of an account: no placeholder, and not only digits.
    Password,
    /// The password of the group `key` in a URL.
    Url,
    /// Random text whose place says that it is a key.
    Key,
    /// The value of an option or a header.
    Option,
    /// The second of two arguments, attributes or lines, of which the first is a name for secrets.
    Pair,
    /// The argument of a function that receives a secret.
    Called,
    /// Random text after a prefix of words.
    Shaped,
    /// Random text in the line of a word for secrets.
    Near,
    /// An account number (IBAN) with its check digits.
    Iban,
    /// A card number with its check digit.
    Card,
    /// A telephone number.
    Phone,
}

/// Least entropy of random text, bits per character.
const RANDOM_ENTROPY_MIN: f64 = 4.2;
/// Least number of digits, of upper-case letters and of lower-case letters in random text.
const RANDOM_DIGITS_MIN: usize = 3;
/// Longest random text that can be a secret, bytes. Longer text is a file.
const RANDOM_CHARS_MAX: usize = 512;
/// Number of characters of an address of content in IPFS, version 0.
const CONTENT_CHARS: usize = 46;
/// Number of digits of a telephone number.
const PHONE_DIGITS: std::ops::RangeInclusive<usize> = 8..=15;
/// Number of digits of a card number.
const CARD_DIGITS: std::ops::RangeInclusive<usize> = 13..=19;
/// Number of characters of an account number.
const IBAN_CHARS: std::ops::RangeInclusive<usize> = 15..=34;

impl Check {
    /// Returns the range of the secret in `text`, if the match at `at` is one. `key` is the name to which it is
    /// assigned, and `sep` is the text between them.
    pub fn secret(self, text: &str, key: &str, sep: &str, at: Range<usize>) -> Option<Range<usize>> {
        let found = text.get(at.clone())?;
        let is_secret = match self {
            Check::Assigned => return assigned(text, key, sep, at),
            Check::Spoken => is_mixed(found) && !is_placeholder_of_secret(found, false),
            Check::InSentence => shape::is_in_sentence(found, &[key, sep]),
            Check::Random => {
                is_random(found) && !is_public(text, at.start) && !is_id(found) && !is_message_id(text, &at)
            }
            Check::Prefixed => !PUBLIC_PREFIXES.contains(&key),
            Check::Password => is_mixed(found) && !is_placeholder_of_secret(found, false) && !is_digits(found),
            Check::Url => !is_placeholder_of_secret(key, false) && !["pass", "pwd", "pw", "passwd"].contains(&key),
            Check::Key => shape::is_key(text, key, &at),
            Check::Option => shape::is_option_value(key, found),
            Check::Pair => return shape::paired(text, key, at),
            Check::Called => return shape::called(text, key, at),
            Check::Shaped => shape::is_shaped(text, key, &at),
            Check::Near => shape::is_near(text, &[key, sep], &at),
            Check::Iban => is_iban(found),
            Check::Card => is_card(found),
            Check::Phone => is_phone(found),
        };
        is_secret.then_some(at)
    }
}

fn assigned(text: &str, key: &str, sep: &str, at: Range<usize>) -> Option<Range<usize>> {
    let name = key.to_lowercase().replace('-', "_");
    if INNOCENT_NAMES.iter().any(|innocent| name.contains(innocent)) {
        return None;
    }
    let found = text.get(at.clone())?;
    let quote = found.chars().next().filter(|first| ['"', '\'', '`'].contains(first));
    let mut inner = match quote {
        Some(quote) => at.start + quote.len_utf8()..at.end - quote.len_utf8(),
        None => at.clone(),
    };
    if quote.is_none() {
        // In a URL the value ends where the next parameter begins.
        let before = text.get(..at.start)?.trim_end_matches(['=', ' ']);
        let is_parameter = before.strip_suffix(key).is_some_and(|before| before.ends_with(['?', '&']));
        let bare = text.get(inner.clone())?;
        if let Some(end) = bare.find('&').filter(|_| is_parameter) {
            inner.end = inner.start + end;
        }
    }
    let value = text.get(inner.clone())?.trim_end_matches(['\\', '.', '!']);
    inner.end = inner.start + value.len();
    let after = text.get(at.end..)?;
    let is_called = quote.is_none() && after.starts_with(['(', '[', '<', '{']);
    if value.is_empty() || is_called || sep == "==" || is_placeholder_of_secret(value, quote.is_some()) {
        return None;
    }
    let is_password = names_a_password(&name);
    let ends_line = after.trim_start_matches([' ', '\t', '"', '\'', ',', ';', '\\']).is_empty()
        || after
            .trim_start_matches([' ', '\t', '"', '\'', ',', ';', '\\'])
            .starts_with(['\r', '\n', '}', ')', '`', '#']);
    let is_secret = match (quote, is_password) {
        // A quoted text is the value, whatever its form.
        (Some(_), true) => true,
        (Some(_), false) => value.len() >= 6 && !value.contains(' ') && (is_mixed(value) || value.len() >= 16),
        (None, true) => is_mixed(value) || ends_line && is_a_key(key, sep) || is_variable_set(text, key, at.start),
        (None, false) => value.len() >= 8 && is_mixed(value) && !is_path(value),
    };
    is_secret.then_some(inner)
}

/// Whether a variable of the environment is set (`PGPASSWORD=sunshine psql`): a name in capitals, an equals sign, and
/// the value, without spaces.
fn is_variable_set(text: &str, key: &str, at: usize) -> bool {
    let is_capital = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    let before = text.get(..at).and_then(|before| before.strip_suffix('='));
    key.chars().all(is_capital) && before.is_some_and(|before| before.ends_with(key))
}

/// Whether an assignment has the form of a setting (`DB_PASSWORD=sunshine`, `password: sunshine`) and not of a
/// sentence about passwords.
fn is_a_key(key: &str, sep: &str) -> bool {
    sep != ":" || key.contains('_') || key.contains('.') || key.chars().all(char::is_lowercase)
}

fn is_random(text: &str) -> bool {
    let count = |of: fn(&char) -> bool| text.chars().filter(of).count();
    let parts = text.split(['/', '_', '-']).filter(|part| !part.is_empty());
    let words = parts.filter(|part| part.chars().all(|letter| letter.is_ascii_alphabetic())).count();
    let pieces = text.split(['/', '_', '-']).count();
    text.len() <= RANDOM_CHARS_MAX
        && count(char::is_ascii_digit) >= RANDOM_DIGITS_MIN
        && count(char::is_ascii_uppercase) >= RANDOM_DIGITS_MIN
        && count(char::is_ascii_lowercase) >= RANDOM_DIGITS_MIN
        && words * 2 <= pieces
        && entropy(text) >= RANDOM_ENTROPY_MIN
}

/// Whether random text is the first part of the id of a mail: `<CAJ8h…@mail.example.org>`.
fn is_message_id(text: &str, at: &Range<usize>) -> bool {
    let before = text.get(..at.start).is_some_and(|before| before.ends_with('<'));
    before && text.get(at.end..).is_some_and(|after| after.starts_with('@'))
}

/// Whether random text has the prefix of an id, such as `msg_`, or is the address of content in IPFS.
fn is_id(text: &str) -> bool {
    let is_content = text.len() == CONTENT_CHARS && text.starts_with("Qm") && text.chars().all(char::is_alphanumeric);
    is_content || text.split_once(['_', '-']).is_some_and(|(prefix, _)| PUBLIC_PREFIXES.contains(&prefix))
}

fn is_digits(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_digit())
}

/// Checks an IBAN (ISO 13616): the first four characters move to the end, letters count from 10, and the number
/// modulo 97 is 1.
fn is_iban(text: &str) -> bool {
    let letters: Vec<char> = text.chars().filter(|letter| *letter != ' ').collect();
    if !IBAN_CHARS.contains(&letters.len()) {
        return false;
    }
    let turned = letters[4..].iter().chain(&letters[..4]);
    let digits = turned.flat_map(|letter| letter.to_digit(36)).flat_map(|value| {
        let (tens, ones) = (value / 10, value % 10);
        (tens > 0).then_some(tens).into_iter().chain([ones])
    });
    digits.fold(0, |rest, digit| (rest * 10 + digit) % 97) == 1
}

/// Checks a card number (ISO 7812): every second digit from the end is doubled, and the sum of digits is a
/// multiple of 10.
fn is_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|letter| letter.to_digit(10)).collect();
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let weigh = |(at, digit): (usize, &u32)| if at % 2 == 1 { doubled(*digit) } else { *digit };
    let sum: u32 = digits.iter().rev().enumerate().map(weigh).sum();
    CARD_DIGITS.contains(&digits.len())
        && digits.first().is_some_and(|first| (2..=6).contains(first))
        && sum.is_multiple_of(10)
}

fn is_phone(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let is_date = text.split(['.', '-', '/']).map(str::len).eq([2, 2, 4]);
    let has_form = text.starts_with('+') || text.contains([' ', '/', '-', '(']);
    PHONE_DIGITS.contains(&digits) && has_form && !is_date
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_tell_numbers_apart() {
        for iban in ["DE89370400440532013000", "GB82 WEST 1234 5698 7654 32", "FR14 2004 1010 0505 0001 3M02 606"] {
            assert!(is_iban(iban), "{iban}");
        }
        assert!(!is_iban("DE88370400440532013000") && !is_iban("DE89"));
        assert!(is_card("4111 1111 1111 1111") && is_card("378282246310005"));
        assert!(!is_card("4111 1111 1111 1112") && !is_card("0000 0000 0000 0000"));
    }
}
