//! Secrets that must not leave in training data, found by rule. The rules are data: `redact.toml`.

use regex::Regex;
use serde::Deserialize;
use std::{borrow::Cow, collections::BTreeMap};

const RULES: &str = include_str!("redact.toml");
/// Programs of patterns may not grow larger when they are compiled.
const PROGRAM_BYTES_MAX: usize = 4 * 1024 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rule: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    name: String,
    pattern: String,
    #[serde(default)]
    optional: bool,
    finds: Vec<String>,
    leaves: Vec<String>,
}

/// Rules that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the rules for secrets cannot be used: {0}")]
pub struct InvalidRule(String);

/// Replaces secrets and counts them by rule.
pub struct Redactor {
    rules: Vec<(String, Regex)>,
    counts: BTreeMap<String, u64>,
}

impl Redactor {
    /// The rules of the product; those for e-mail addresses only where they are asked for.
    ///
    /// # Errors
    /// [`InvalidRule`] if a rule cannot be read, or does not do what its own examples say: nothing is exported then.
    pub fn built_in(emails: bool) -> Result<Redactor, InvalidRule> {
        Redactor::read(RULES, emails)
    }

    fn read(text: &str, optional: bool) -> Result<Redactor, InvalidRule> {
        let file: File = toml::from_str(text).map_err(|error| InvalidRule(error.to_string()))?;
        let mut rules = Vec::new();
        for rule in file.rule {
            let pattern = regex::RegexBuilder::new(&rule.pattern).size_limit(PROGRAM_BYTES_MAX).build();
            let pattern = pattern.map_err(|error| InvalidRule(format!("{}: {error}", rule.name)))?;
            let whole = |example: &&String| pattern.find(example).is_none_or(|found| found.len() != example.len());
            if let Some(missed) = rule.finds.iter().find(whole) {
                return Err(InvalidRule(format!("{} does not find all of {missed:?}", rule.name)));
            }
            if let Some(hit) = rule.leaves.iter().find(|example| pattern.is_match(example)) {
                return Err(InvalidRule(format!("{} finds something in {hit:?}", rule.name)));
            }
            if !rule.optional || optional {
                rules.push((rule.name, pattern));
            }
        }
        Ok(Redactor { rules, counts: BTreeMap::new() })
    }

    /// The text without secrets.
    pub fn redact<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for (name, pattern) in &self.rules {
            let mut found = 0;
            let replaced = pattern.replace_all(&text, |_: &regex::Captures<'_>| {
                found += 1;
                format!("[REDACTED:{name}]")
            });
            if found > 0 {
                let replaced = replaced.into_owned();
                *self.counts.entry(name.clone()).or_default() += found;
                text = Cow::Owned(replaced);
            }
        }
        text
    }

    /// How many were replaced, by rule.
    pub fn counts(&self) -> &BTreeMap<String, u64> {
        &self.counts
    }

    /// The rules in use, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|(name, _)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_replaced_and_counted() {
        let mut redactor = Redactor::built_in(false).unwrap();
        let text = "Use sbk_0123456789abcdefghijkl or `Authorization: Bearer abcdefghijklmnop1234`, ines@example.org";
        let expected = "Use [REDACTED:shiftbook_token] or `Authorization: [REDACTED:bearer_token]`, ines@example.org";
        assert_eq!(redactor.redact(text), expected);
        redactor.redact("sbk_0123456789abcdefghijkl again");
        let counts: Vec<(&str, u64)> = redactor.counts().iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(counts, [("bearer_token", 1), ("shiftbook_token", 2)]);
        assert!(matches!(redactor.redact("nothing secret here"), Cow::Borrowed(_)));
    }

    #[test]
    fn addresses_are_replaced_where_it_is_asked_for() {
        assert_eq!(Redactor::built_in(true).unwrap().redact("to ines@example.org."), "to [REDACTED:email].");
    }

    #[test]
    fn a_rule_that_breaks_its_own_promise_is_refused() {
        let why = |text: &str| Redactor::read(text, true).err().unwrap().to_string();
        let rule = |pattern: &str, finds: &str, leaves: &str| {
            format!("[[rule]]\nname = 'x'\npattern = '{pattern}'\nfinds = ['{finds}']\nleaves = ['{leaves}']\n")
        };
        assert!(why(&rule("ab", "abc", "d")).ends_with("x does not find all of \"abc\""));
        assert!(why(&rule("a+", "aa", "bab")).ends_with("x finds something in \"bab\""));
        assert!(why(&rule("(", "a", "b")).contains("unclosed group"));
        assert!(why("[[rule]]\nnam = 'x'\n").contains("unknown field"));
    }
}
