//! Replaces secrets and personal data, which must not be part of training data or of an agent's memory. The rules
//! that find them are data in `rules/`.

mod check;
mod rules;
mod shape;
mod value;
mod words;

pub use rules::InvalidRule;

use rules::{Kind, Rules};
use std::{borrow::Cow, collections::BTreeMap, ops::Range};

/// The personal data that is replaced in addition to secrets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Personal {
    /// Whether e-mail addresses are replaced.
    pub emails: bool,
    /// Whether all personal data is replaced: e-mail addresses, telephone numbers, account numbers and card
    /// numbers.
    pub all: bool,
}

/// Replaces secrets and counts them by rule.
pub struct Redactor {
    rules: &'static Rules,
    personal: Personal,
    counts: BTreeMap<String, u64>,
}

impl Redactor {
    /// Creates a redactor with the rules of the product. Rules for personal data are used only as `personal`
    /// says.
    ///
    /// # Errors
    /// [`InvalidRule`] if a rule cannot be read or contradicts its own examples. Then nothing is exported.
    pub fn built_in(personal: Personal) -> Result<Redactor, InvalidRule> {
        Ok(Redactor { rules: Rules::built_in()?, personal, counts: BTreeMap::new() })
    }

    /// Returns the text with each secret replaced by `[REDACTED:rule]`.
    ///
    /// # Errors
    /// [`InvalidRule`] if a pattern that is needed does not compile.
    pub fn redact<'t>(&mut self, text: &'t str) -> Result<Cow<'t, str>, InvalidRule> {
        let mut text = Cow::Borrowed(text);
        for at in self.rules.for_text(&text) {
            let rule = &self.rules.list[at];
            if !self.is_wanted(rule.kind) {
                continue;
            }
            let found = rule.regex()?.captures_iter(&text).filter_map(|found| rule.secret(&text, &found));
            let secrets: Vec<Range<usize>> = found.collect();
            if secrets.is_empty() {
                continue;
            }
            *self.counts.entry(rule.name.clone()).or_default() += secrets.len() as u64;
            text = Cow::Owned(replaced(&text, &secrets, &rule.name));
        }
        Ok(text)
    }

    fn is_wanted(&self, kind: Kind) -> bool {
        match kind {
            Kind::Secret => true,
            Kind::Email => self.personal.emails || self.personal.all,
            Kind::Personal => self.personal.all,
        }
    }

    /// Returns the number of replacements by rule. The product's own rules that are in use and found nothing
    /// are listed with 0.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let own = self.rules.list.iter().filter(|rule| rule.is_own && self.is_wanted(rule.kind));
        let mut counts: BTreeMap<String, u64> = own.map(|rule| (rule.name.clone(), 0)).collect();
        counts.extend(self.counts.clone());
        counts
    }
}

fn replaced(text: &str, secrets: &[Range<usize>], name: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut end = 0;
    for secret in secrets {
        kept.push_str(&text[end..secret.start]);
        kept.extend(["[REDACTED:", name, "]"]);
        end = secret.end;
    }
    kept.push_str(&text[end..]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_replaced_and_counted() {
        let mut redactor = Redactor::built_in(Personal::default()).unwrap();
        let text = "Use sbk_0123456789abcdefghijkl or `Authorization: Bearer abcdefghijklmnop1234`, ines@example.org";
        let expected = "Use [REDACTED:shiftbook_token] or `Authorization: [REDACTED:bearer_token]`, ines@example.org";
        assert_eq!(redactor.redact(text).unwrap(), expected);
        redactor.redact("sbk_0123456789abcdefghijkl again").unwrap();
        let counts = redactor.counts();
        assert_eq!((counts["bearer_token"], counts["shiftbook_token"], counts["npm_token"]), (1, 2, 0));
        assert!(!counts.contains_key("iban") && !counts.contains_key("twitter-api-key"));
        assert!(matches!(redactor.redact("nothing secret here"), Ok(Cow::Borrowed(_))));
    }

    #[test]
    fn certificates_and_public_keys_stay() {
        let body = "MIIBpAIBAGdBJhh+Hz+T6n5km/FGtAyitMCupERWa6mDB5ZZdvJQLEv0SupsCv6v";
        for kind in ["CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY"] {
            let text = format!("-----BEGIN {kind}-----\n{body}\n{body}\n-----END {kind}-----");
            let mut redactor = Redactor::built_in(Personal::default()).unwrap();
            assert_eq!(redactor.redact(&text).unwrap(), text);
            let after = format!("{text}\nThe text that follows is another one: {body}");
            assert!(redactor.redact(&after).unwrap().ends_with("[REDACTED:random_text]"), "{kind}");
        }
    }

    #[test]
    fn personal_data_is_replaced_where_it_is_asked_for() {
        let text = "ines@example.org, +49 30 1234567, DE89 3704 0044 0532 0130 00, 4111 1111 1111 1111";
        let after = |emails, all| {
            let mut redactor = Redactor::built_in(Personal { emails, all }).unwrap();
            redactor.redact(text).unwrap().into_owned()
        };
        assert_eq!(after(false, false), text);
        assert_eq!(after(true, false), text.replace("ines@example.org", "[REDACTED:email]"));
        let all = "[REDACTED:email], [REDACTED:phone_number], [REDACTED:iban], [REDACTED:card_number]";
        assert_eq!(after(false, true), all);
    }
}
