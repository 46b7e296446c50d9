//! Parsing of e-mail addresses for sign-in.

use crate::error::{Error, Result};
use domain::limit::EMAIL_BYTES_MAX;

/// A plausible e-mail address in lower case. Whether it can receive mail is not checked.
pub(crate) struct Address(String);

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let text = text.trim().to_lowercase();
        let plausible = text.len() <= EMAIL_BYTES_MAX
            && text
                .split_once('@')
                .is_some_and(|(local, host)| !local.is_empty() && !host.is_empty() && !host.contains('@'))
            && !text.chars().any(|c| c.is_whitespace() || c.is_control());
        if plausible { Ok(Self(text)) } else { Err(Error::invalid("email", "an address such as ada@example.org")) }
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}
