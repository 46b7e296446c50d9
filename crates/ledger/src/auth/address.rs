//! E-mail addresses, as far as sign-in needs them.

use crate::error::{Error, Result};
use domain::limit::EMAIL_BYTES_MAX;

/// A plausible address in lower case. Whether mail arrives there is not for us to say.
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
