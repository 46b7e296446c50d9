//! Parsing of e-mail addresses for sign-in.

use crate::error::{Error, Result};
use domain::{limit::EMAIL_BYTES_MAX, line::changes_direction};

/// A plausible e-mail address in lower case. Whether it can receive mail is not checked. Pages show it as the name of a
/// person, so no character changes the direction of text.
pub(crate) struct Address(String);

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let text = text.trim().to_lowercase();
        let plausible = text.len() <= EMAIL_BYTES_MAX
            && text
                .split_once('@')
                .is_some_and(|(local, host)| !local.is_empty() && !host.is_empty() && !host.contains('@'))
            && !text.chars().any(|c| c.is_whitespace() || c.is_control() || changes_direction(c));
        if plausible { Ok(Self(text)) } else { Err(Error::invalid("email", "an address such as ada@example.org")) }
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_two_parts_and_cannot_look_like_another_one() {
        assert_eq!(Address::parse(" Ada@Acme.test ").unwrap().into_string(), "ada@acme.test");
        for wrong in ["", "ada", "@acme.test", "ada@", "a@b@c", "a b@c.d", "a\u{202e}b@acme.test", "a@b\u{200f}.c"] {
            assert!(Address::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
