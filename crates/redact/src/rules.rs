//! Reads the rules: those of the product, and those taken from gitleaks. A pattern is compiled when one of its
//! keywords occurs for the first time.

use crate::{check::Check, value::entropy};
use aho_corasick::{AhoCorasick, MatchKind};
use regex::{Captures, Regex, RegexBuilder};
use serde::Deserialize;
use std::{
    ops::Range,
    sync::{LazyLock, OnceLock},
};

const OWN: &str = concat!(include_str!("../rules/shiftbook.toml"), include_str!("../rules/shapes.toml"));
const GITLEAKS: &str = include_str!("../rules/gitleaks.toml");
/// Longest placeholder, bytes.
const PLACEHOLDER_CHARS_MAX: usize = 128;
/// Largest compiled pattern, bytes.
const PROGRAM_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Pattern of the text between a name and the assigned value, for the rules of gitleaks.
const ASSIGNED: &str = r#"(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}"#;
/// Pattern of the end of a secret: a character that cannot be part of it, or the end of the text.
const END: &str = r"(?:[^A-Za-z0-9_\-]|\z)";

/// The error for rules that cannot be used. It holds the reason.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the rules for secrets cannot be used: {0}")]
pub struct InvalidRule(pub(crate) String);

/// The option that enables a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// The rule is always used.
    #[default]
    Secret,
    /// The rule is used if e-mail addresses or all personal data are replaced.
    Email,
    /// The rule is used if all personal data is replaced.
    Personal,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnFile {
    rule: Vec<OwnRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnRule {
    name: String,
    pattern: String,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    kind: Kind,
    #[serde(default)]
    after: bool,
    check: Option<Check>,
    finds: Vec<String>,
    leaves: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GitleaksFile {
    rule: Vec<GitleaksRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GitleaksRule {
    name: String,
    of: Option<String>,
    secret: Option<String>,
    token: Option<String>,
    pattern: Option<String>,
    entropy: Option<f64>,
    keywords: Vec<String>,
}

/// A rule that finds one kind of secret.
pub(crate) struct Rule {
    pub name: String,
    pub kind: Kind,
    /// Whether it is one of the product's own rules. Manifests list these even if they found nothing.
    pub is_own: bool,
    pattern: String,
    keywords: Vec<String>,
    entropy: f64,
    check: Option<Check>,
    compiled: OnceLock<Result<Regex, InvalidRule>>,
}

impl Rule {
    /// Returns the compiled pattern.
    pub fn regex(&self) -> Result<&Regex, InvalidRule> {
        let compile = || {
            let built = RegexBuilder::new(&ascii(&self.pattern)).size_limit(PROGRAM_BYTES_MAX).build();
            built.map_err(|error| InvalidRule(format!("{}: {error}", self.name)))
        };
        self.compiled.get_or_init(compile).as_ref().map_err(Clone::clone)
    }

    /// Returns the range of the secret in `text`, if the match `found` contains one.
    pub fn secret(&self, text: &str, found: &Captures<'_>) -> Option<Range<usize>> {
        let group = |name| found.name(name).map(|part| part.as_str()).unwrap_or_default();
        // The product's own patterns name their groups. In other patterns the first group is the secret.
        let first = || (1..found.len()).find_map(|at| found.get(at)).filter(|_| !self.is_own);
        let part = found.name("secret").or_else(first).or_else(|| found.get(0))?;
        if entropy(part.as_str()) < self.entropy || is_placeholder(part.as_str()) {
            return None;
        }
        match &self.check {
            Some(check) => check.secret(text, group("key"), group("sep"), part.range()),
            None => Some(part.range()),
        }
    }

    fn finds(&self, text: &str) -> Result<bool, InvalidRule> {
        Ok(self.regex()?.captures_iter(text).any(|found| self.secret(text, &found).is_some()))
    }
}

/// All rules.
pub(crate) struct Rules {
    pub list: Vec<Rule>,
    /// Indexes of the rules without keywords. They are applied to every text.
    always: Vec<usize>,
    keywords: AhoCorasick,
    /// Index of the rule of each keyword.
    rule_of: Vec<usize>,
}

impl Rules {
    /// Returns the rules that are part of the product. They are read once.
    pub fn built_in() -> Result<&'static Rules, InvalidRule> {
        static READ: LazyLock<Result<Rules, InvalidRule>> = LazyLock::new(|| Rules::read(OWN, GITLEAKS));
        READ.as_ref().map_err(Clone::clone)
    }

    /// Reads both files. The product's own patterns are compiled, because their examples are checked.
    pub fn read(own: &str, gitleaks: &str) -> Result<Rules, InvalidRule> {
        let own: OwnFile = toml::from_str(own).map_err(|error| InvalidRule(error.to_string()))?;
        let theirs: GitleaksFile = toml::from_str(gitleaks).map_err(|error| InvalidRule(error.to_string()))?;
        let (mut list, mut after) = (Vec::new(), Vec::new());
        for rule in own.rule {
            let is_after = rule.after;
            let rule = tried(rule)?;
            if is_after { after.push(rule) } else { list.push(rule) }
        }
        list.extend(theirs.rule.into_iter().map(expanded).collect::<Result<Vec<_>, _>>()?);
        list.extend(after);
        let always = (0..list.len()).filter(|at| list[*at].keywords.is_empty()).collect();
        let of =
            |(at, rule): (usize, &Rule)| rule.keywords.iter().map(move |word| (word.clone(), at)).collect::<Vec<_>>();
        let (words, rule_of): (Vec<String>, Vec<usize>) = list.iter().enumerate().flat_map(of).unzip();
        let built = AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::Standard).build(&words);
        let keywords = built.map_err(|error| InvalidRule(error.to_string()))?;
        Ok(Rules { list, always, keywords, rule_of })
    }

    /// Returns the indexes of the rules that apply to a text, in order: those without keywords, and those with
    /// a keyword in the text.
    pub fn for_text(&self, text: &str) -> Vec<usize> {
        let mut wanted = vec![false; self.list.len()];
        for at in &self.always {
            wanted[*at] = true;
        }
        for found in self.keywords.find_overlapping_iter(text) {
            wanted[self.rule_of[found.pattern().as_usize()]] = true;
        }
        (0..wanted.len()).filter(|at| wanted[*at]).collect()
    }
}

/// Whether a value has the form of a key, and is what documentation writes in its place: `ghp_xxxxxxxx`, `sk-your-key`.
fn is_placeholder(value: &str) -> bool {
    const MARKS: [&str; 6] = ["xxxxxx", "XXXXXX", "******", "your-", "your_", "YOUR_"];
    value.len() <= PLACEHOLDER_CHARS_MAX && MARKS.iter().any(|mark| value.contains(mark))
}

/// Checks that a rule of the product finds what its examples say, and returns it.
fn tried(rule: OwnRule) -> Result<Rule, InvalidRule> {
    let OwnRule { name, pattern, keywords, kind, check, finds, leaves, .. } = rule;
    let (compiled, entropy, is_own) = (OnceLock::new(), 0.0, true);
    let rule = Rule { name, kind, is_own, pattern, keywords, entropy, check, compiled };
    for example in &finds {
        if !rule.finds(example)? {
            return Err(InvalidRule(format!("{} finds nothing in {example:?}", rule.name)));
        }
        let lower = example.to_ascii_lowercase();
        if !rule.keywords.is_empty() && !rule.keywords.iter().any(|word| lower.contains(word.as_str())) {
            return Err(InvalidRule(format!("{} has no keyword in {example:?}", rule.name)));
        }
    }
    for example in &leaves {
        if rule.finds(example)? {
            return Err(InvalidRule(format!("{} finds something in {example:?}", rule.name)));
        }
    }
    Ok(rule)
}

fn expanded(rule: GitleaksRule) -> Result<Rule, InvalidRule> {
    let pattern = match (&rule.of, &rule.secret, &rule.token, &rule.pattern) {
        (Some(of), Some(secret), None, None) => format!("(?i)(?:{of}){ASSIGNED}({secret}){END}"),
        (None, None, Some(token), None) => format!(r"\b({token}){END}"),
        (None, None, None, Some(pattern)) => pattern.clone(),
        _ => return Err(InvalidRule(format!("{}: of with secret, token, or pattern", rule.name))),
    };
    let GitleaksRule { name, keywords, entropy, .. } = rule;
    let (kind, is_own, check, compiled) = (Kind::Secret, false, None, OnceLock::new());
    Ok(Rule { name, kind, is_own, pattern, keywords, entropy: entropy.unwrap_or(0.0), check, compiled })
}

/// Replaces character classes by their ASCII forms, which Go uses and secrets consist of. Compiled Unicode
/// classes are about a hundred times as large.
fn ascii(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len() * 2);
    let mut letters = pattern.chars();
    let mut in_class = false;
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            in_class = (in_class || letter == '[') && letter != ']';
            text.push(letter);
            continue;
        }
        let Some(escaped) = letters.next() else { break };
        let class = match escaped {
            'w' => "A-Za-z0-9_",
            'd' => "0-9",
            's' => r" \t\r\n\x0b\x0c",
            'b' if !in_class => {
                text.push_str(r"(?-u:\b)");
                continue;
            }
            _ => {
                text.extend(['\\', escaped]);
                continue;
            }
        };
        if in_class {
            text.push_str(class);
        } else {
            text.extend(["[", class, "]"]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Patterns of gitleaks.toml that the crate `regex` cannot compile: none at present. A new pattern that
    /// cannot be compiled is named here and in the docs, and is not left out silently.
    const NOT_SUPPORTED: [&str; 0] = [];

    #[test]
    fn every_pattern_compiles_within_its_bound() {
        let rules = Rules::built_in().unwrap();
        let broken: Vec<String> = rules
            .list
            .iter()
            .filter(|rule| !NOT_SUPPORTED.contains(&rule.name.as_str()))
            .filter_map(|rule| rule.regex().err().map(|error| error.to_string()))
            .collect();
        assert!(broken.is_empty(), "{}", broken.join("\n"));
        assert!(rules.list.iter().filter(|rule| !rule.is_own).count() >= 200);
        let unnamed = rules.list.iter().filter(|rule| !rule.is_own && rule.keywords.is_empty()).count();
        assert_eq!(unnamed, 0, "every rule of gitleaks has a keyword");
    }

    #[test]
    fn names_are_unique_and_patterns_wait_for_their_keywords() {
        let rules = Rules::built_in().unwrap();
        let names: std::collections::BTreeSet<&str> = rules.list.iter().map(|rule| rule.name.as_str()).collect();
        assert_eq!(names.len(), rules.list.len());
        let named =
            |text: &str| rules.for_text(text).iter().map(|at| rules.list[*at].name.as_str()).collect::<Vec<_>>();
        let always: Vec<&str> = rules.always.iter().map(|at| rules.list[*at].name.as_str()).collect();
        assert_eq!(named("nothing to see"), always);
        assert!(named("our TWITTER account").contains(&"twitter-api-key"));
    }

    #[test]
    fn a_rule_that_breaks_its_own_promise_is_refused() {
        let why = |text: &str| Rules::read(text, "rule = []").err().unwrap().to_string();
        let rule = |pattern: &str, finds: &str, leaves: &str| {
            format!("[[rule]]\nname = 'x'\npattern = '{pattern}'\nfinds = ['{finds}']\nleaves = ['{leaves}']\n")
        };
        assert!(why(&rule("ab", "ba", "d")).ends_with("x finds nothing in \"ba\""));
        assert!(why(&rule("a+", "aa", "bab")).ends_with("x finds something in \"bab\""));
        assert!(why(&rule("(", "a", "b")).contains("unclosed group"));
        assert!(why("[[rule]]\nnam = 'x'\n").contains("unknown field"));
        assert!(why(&format!("{}keywords = ['c']\n", rule("a", "a", "b"))).ends_with("x has no keyword in \"a\""));
    }

    #[test]
    fn classes_are_ascii_inside_and_outside_of_brackets() {
        assert_eq!(ascii(r"\b[\w.-]\d\\w\s"), r"(?-u:\b)[A-Za-z0-9_.-][0-9]\\w[ \t\r\n\x0b\x0c]");
    }
}
