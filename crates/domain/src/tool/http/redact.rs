//! Secrets of a tool, and their removal from what a service answered.

use super::encode::encoded;
use crate::tool::Secret;
use memchr::memmem;
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fmt, ops::Range};

/// What takes the place of a secret.
pub const REDACTED: &str = "[secret]";

/// The secrets of a tool by name. `Debug` shows their names only.
#[derive(Clone, Default)]
pub struct Secrets(BTreeMap<String, Secret>);

impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

impl Secrets {
    /// Creates the set from names and values.
    pub fn new(secrets: impl IntoIterator<Item = (String, Secret)>) -> Self {
        Self(secrets.into_iter().collect())
    }

    /// The value of a secret.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(Secret::expose)
    }

    /// Replaces every occurrence of a secret in a text by [`REDACTED`]: as it is, percent-encoded, and as in JSON.
    pub fn redact(&self, text: &str) -> String {
        let mut ranges: Vec<Range<usize>> = self.forms().iter().flat_map(|form| occurrences(text, form)).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let mut redacted = String::with_capacity(text.len());
        let mut at = 0;
        for range in ranges {
            if range.start >= at {
                redacted.push_str(&text[at..range.start]);
                redacted.push_str(REDACTED);
            }
            // Occurrences that overlap become one.
            at = at.max(range.end);
        }
        redacted.push_str(&text[at..]);
        redacted
    }

    /// Does the same for all texts, names and numbers in a JSON value. A number with a secret becomes a text.
    pub fn redact_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redact(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.redact_value(item)).collect(),
            Value::Object(members) => {
                let redacted = members.into_iter().map(|(name, item)| (self.redact(&name), self.redact_value(item)));
                Value::Object(redacted.collect::<Map<_, _>>())
            }
            Value::Number(number) => {
                let text = number.to_string();
                let redacted = self.redact(&text);
                if redacted == text { Value::Number(number) } else { Value::String(redacted) }
            }
            Value::Null | Value::Bool(_) => value,
        }
    }

    /// The texts to look for.
    fn forms(&self) -> Vec<String> {
        let mut forms = Vec::new();
        for value in self.0.values().map(Secret::expose).filter(|value| !value.is_empty()) {
            let json = Value::from(value).to_string();
            forms.extend([value.to_owned(), encoded(value), json[1..json.len() - 1].to_owned()]);
        }
        forms.sort_unstable();
        forms.dedup();
        forms
    }
}

/// Every place of a text within another, those that overlap included.
fn occurrences(text: &str, wanted: &str) -> Vec<Range<usize>> {
    let finder = memmem::Finder::new(wanted);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = finder.find(&text.as_bytes()[from..]) {
        let start = from + at;
        found.push(start..start + wanted.len());
        from = start + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn secrets(values: &[&str]) -> Secrets {
        Secrets::new(values.iter().enumerate().map(|(n, value)| (format!("S{n}"), Secret::new((*value).to_owned()))))
    }

    #[test]
    fn secrets_are_replaced_wherever_and_however_they_are_written() {
        let set = secrets(&["k/1\"x", "12345", ""]);
        assert_eq!(set.redact("a k/1\"x b k%2F1%22x c k/1\\\"x"), "a [secret] b [secret] c [secret]");
        let value = json!({ "12345": [12345, "k/1\"x", 1.5, null, true], "n": { "a": 9_123_456 } });
        assert_eq!(
            set.redact_value(value),
            json!({ "[secret]": ["[secret]", "[secret]", 1.5, null, true], "n": { "a": "9[secret]6" } })
        );
        assert_eq!(secrets(&["abc", "bcd"]).redact("xabcdx"), "x[secret]x");
        assert_eq!(secrets(&["aa"]).redact("aaab"), "[secret]b");
        assert_eq!(secrets(&["ü"]).redact("güg %C3%BC"), "g[secret]g [secret]");
        assert_eq!(format!("{set:?}"), r#"{"S0", "S1", "S2"}"#);
    }

    proptest! {
        #[test]
        fn no_secret_is_left_in_a_text(
            text in "[abü\"/]{0,40}",
            first in "[abü\"/]{1,4}",
            second in "[abü\"/]{1,4}",
        ) {
            // None of these characters is in the word that replaces a secret.
            let redacted = secrets(&[&first, &second]).redact(&text);
            prop_assert!(!redacted.contains(&first) && !redacted.contains(&second), "{}", redacted);
            let json = secrets(&[&first, &second]).redact_value(json!([{ &text: &text }]));
            for value in [&first, &second] {
                let name = json[0].as_object().unwrap().keys().next().unwrap();
                prop_assert!(!name.contains(value.as_str()));
            }
        }

        #[test]
        fn a_text_without_secrets_stays_as_it_is(text in "[cdef \\n]{0,40}", secret in "[ab]{1,5}") {
            prop_assert_eq!(secrets(&[&secret]).redact(&text), text);
        }
    }
}
