//! Parses and checks an address without resolving its name.

use crate::{
    address::Policy,
    error::{Error, Result},
    limit,
};
use reqwest::Url;
use std::net::IpAddr;

/// A parsed `http://` or `https://` address. IP addresses in other notations (octal, hexadecimal, a single number) are
/// normalised as browsers do, so the notation does not matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    url: Url,
    host: String,
}

impl Destination {
    /// Parses an address. If its host is an IP address, it is checked against the policy.
    pub fn parse(text: &str, policy: &Policy) -> Result<Self> {
        let refused = |why: &str| Error::Address(why.to_owned());
        if text.len() > limit::URL_BYTES_MAX {
            return Err(Error::Address(format!("it is longer than {} bytes", limit::URL_BYTES_MAX)));
        }
        // The standard drops tabs and line breaks and reads `\` as `/`. Here such text is refused: it only serves to
        // disguise an address.
        if text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
            return Err(refused("it holds spaces, control characters or backslashes"));
        }
        let mut url = Url::parse(text).map_err(|error| Error::Address(error.to_string()))?;
        match url.scheme() {
            "http" => {}
            "https" if cfg!(feature = "tls") => {}
            "https" => return Err(refused("this build speaks plain http only")),
            _ => return Err(refused("it begins with http:// or https://")),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("it carries a name or password"));
        }
        url.set_fragment(None);
        let host = url.host_str().ok_or_else(|| refused("it names no host"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_owned();
        if host.is_empty() {
            return Err(refused("it names no host"));
        }
        if let Ok(address) = host.parse::<IpAddr>() {
            policy.check(address).map_err(|reason| Error::Inside { host: host.clone(), address, reason })?;
        }
        Ok(Self { url, host })
    }

    /// The host in lower case, without brackets and without a dot at the end.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port; the scheme's default if the address has none.
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or_default()
    }

    /// Whether the port is the scheme's default.
    pub fn is_default_port(&self) -> bool {
        self.url.port().is_none()
    }

    /// The normalised address.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    pub(crate) fn into_url(self) -> Url {
        self.url
    }
}
