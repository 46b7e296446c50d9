//! Checks of values by their form and their place: options, arguments, headers, and random text with a prefix.

use crate::{
    value::{entropy, is_mixed, is_path, is_placeholder_of_secret, is_public, names_a_password},
    words::{
        FILE_ENDINGS, GETTERS, INNOCENT_NAMES, KEY_WORDS, PASSWORD_TOPICS, PUBLIC_NAMES, PUBLIC_PREFIXES, PUBLIC_WORDS,
    },
};
use std::ops::Range;

/// Least entropy of a key whose place is known, of one after a prefix or near a word for secrets, and of one without,
/// bits per character.
const KEY_ENTROPY_MIN: f64 = 3.0;
const TAIL_ENTROPY_MIN: f64 = 3.2;
const UNNAMED_ENTROPY_MIN: f64 = 4.0;
/// Least number of digits of a key whose place is known, and of other random text.
const KEY_DIGITS_MIN: usize = 2;
const DIGITS_MIN: usize = 3;
/// Least length of random text after a prefix that names no key, characters.
const UNNAMED_CHARS_MIN: usize = 32;
/// Least length of the value of an option that is no password, characters.
const OPTION_CHARS_MIN: usize = 8;
/// Bytes before a UUID that are searched for what it is.
const CLOSE_BYTES: usize = 32;
/// Least length of the second of a pair, characters.
const PAIR_CHARS_MIN: usize = 4;

fn count(text: &str, of: fn(&char) -> bool) -> usize {
    text.chars().filter(of).count()
}

fn has_random_form(text: &str, digits_min: usize, entropy_min: f64) -> bool {
    let letters = count(text, char::is_ascii_alphabetic);
    count(text, char::is_ascii_digit) >= digits_min && letters >= digits_min && entropy(text) >= entropy_min
}

/// Whether a text consists mostly of words that are joined: `products/list-of-the-day`.
fn is_wordy(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['/', '_', '-', '.']).filter(|part| !part.is_empty()).collect();
    let words = parts.iter().filter(|part| part.chars().all(char::is_alphabetic)).count();
    parts.len() > 1 && words * 2 > parts.len()
}

fn is_uuid(text: &str) -> bool {
    text.split('-').map(str::len).eq([8, 4, 4, 4, 12])
}

fn is_public_name(name: &str) -> bool {
    INNOCENT_NAMES.iter().chain(&PUBLIC_NAMES).any(|public| name.contains(public))
}

/// Whether the text at `at` is a key, in a place that says so. `name` is the name of the place, or empty.
pub(crate) fn is_key(text: &str, name: &str, at: &Range<usize>) -> bool {
    let Some(value) = text.get(at.clone()) else { return false };
    let name = name.to_lowercase();
    let is_session = name.contains("session") && is_uuid(value);
    let is_no_value = || is_placeholder_of_secret(value, false) || is_path(value) || is_wordy(value);
    let is_innocent = is_public_name(&name) || is_session || is_no_value() || is_public(text, at.start);
    !is_innocent && has_random_form(value, KEY_DIGITS_MIN, KEY_ENTROPY_MIN)
}

/// Whether `value` is the secret of the option or header `name`.
pub(crate) fn is_option_value(name: &str, value: &str) -> bool {
    let name = name.to_lowercase().replace('-', "_");
    if is_public_name(&name) || is_placeholder_of_secret(value, false) || is_path(value) {
        return false;
    }
    let is_file = || FILE_ENDINGS.iter().any(|ending| value.ends_with(ending));
    let is_number = || value.chars().all(char::is_numeric);
    names_a_password(&name)
        || value.len() >= OPTION_CHARS_MIN && is_mixed(value) && !is_wordy(value) && !is_number() && !is_file()
}

/// Returns the range of the secret of the pair of `name` and the value at `at`, which may be in quotation marks.
pub(crate) fn paired(text: &str, name: &str, at: Range<usize>) -> Option<Range<usize>> {
    let name = name.to_lowercase().replace('-', "_");
    let inner = without_quotes(text, at)?;
    let value = text.get(inner.clone())?;
    let is_innocent = INNOCENT_NAMES.iter().any(|innocent| name.contains(innocent));
    let is_sentence = value.contains(' ');
    let has_form = is_mixed(value) && !is_sentence && !is_path(value) && !is_wordy(value);
    let is_secret = value.len() >= PAIR_CHARS_MIN && has_form;
    (is_secret && !is_innocent && !is_placeholder_of_secret(value, true)).then_some(inner)
}

/// Returns the range of the secret that the function `name` receives.
pub(crate) fn called(text: &str, name: &str, at: Range<usize>) -> Option<Range<usize>> {
    let name = name.to_lowercase();
    let inner = without_quotes(text, at)?;
    let value = text.get(inner.clone())?;
    let is_getter = GETTERS.iter().any(|getter| name.trim_start_matches('_').starts_with(getter));
    let has_both = count(value, char::is_ascii_digit) > 0 && count(value, char::is_ascii_alphabetic) > 0;
    let is_secret = has_both && is_mixed(value) && !is_path(value) && !is_wordy(value);
    (is_secret && !is_getter && !is_placeholder_of_secret(value, true)).then_some(inner)
}

fn without_quotes(text: &str, at: Range<usize>) -> Option<Range<usize>> {
    let is_quoted = text.get(at.clone())?.starts_with(['"', '\'']);
    Some(if is_quoted { at.start + 1..at.end - 1 } else { at })
}

/// Whether the text at `at`, after the prefix `prefix`, is a key. Prefixes that name an id or a digest do not count.
pub(crate) fn is_shaped(text: &str, prefix: &str, at: &Range<usize>) -> bool {
    let Some(value) = text.get(at.clone()) else { return false };
    let prefix = prefix.to_lowercase();
    let parts: Vec<&str> = prefix.split(['_', '-', '.']).filter(|part| !part.is_empty()).collect();
    let start = at.start.saturating_sub(prefix.len() + 1);
    if is_public(text, start) || parts.iter().any(|part| PUBLIC_PREFIXES.contains(part)) {
        return false;
    }
    if parts.iter().any(|part| KEY_WORDS.contains(part)) {
        return has_random_form(value, DIGITS_MIN, TAIL_ENTROPY_MIN);
    }
    let has_cases = count(value, char::is_ascii_uppercase).min(count(value, char::is_ascii_lowercase)) >= DIGITS_MIN;
    value.len() >= UNNAMED_CHARS_MIN && has_cases && has_random_form(value, DIGITS_MIN, UNNAMED_ENTROPY_MIN)
}

/// Whether the word for secrets is directly before the text at `at`, and nothing before it says that it is public. An
/// id has the form of some keys.
fn is_close(text: &str, at: usize) -> bool {
    let start = (at.saturating_sub(CLOSE_BYTES)..=at).find(|start| text.is_char_boundary(*start)).unwrap_or(at);
    let before = text.get(start..at).unwrap_or_default().to_lowercase();
    let name = before.trim_end_matches([' ', ':', '=', '"', '\'', '`', '(']);
    let is_named = ["token", "key", "secret"].iter().any(|word| name.ends_with(word));
    is_named && !PUBLIC_WORDS.iter().chain(&PUBLIC_NAMES).any(|public| before.contains(public))
}

/// Whether the text at `at` is a key, after the word for secrets and the words that `before` has.
pub(crate) fn is_near(text: &str, before: &[&str], at: &Range<usize>) -> bool {
    let Some(value) = text.get(at.clone()) else { return false };
    let before = before.concat().to_lowercase();
    !PUBLIC_WORDS.iter().any(|public| before.contains(public))
        && (!is_uuid(value) || is_close(text, at.start))
        && !is_public(text, at.start)
        && !is_wordy(value)
        && !is_placeholder_of_secret(value, false)
        && has_random_form(value, DIGITS_MIN, TAIL_ENTROPY_MIN)
}

/// Whether `value` is the password of a sentence about one. `between` is what the sentence says before it.
pub(crate) fn is_in_sentence(value: &str, between: &[&str]) -> bool {
    let between = between.concat().to_lowercase();
    is_mixed(value)
        && !value.starts_with('/')
        && !is_placeholder_of_secret(value, false)
        && !PASSWORD_TOPICS.iter().any(|topic| between.contains(topic))
}
