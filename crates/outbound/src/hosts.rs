//! Lists of allowed hosts.

use crate::{Destination, limit};
use reqwest::Url;

/// A list of allowed hosts, or any public host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts(Option<Vec<Pattern>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    host: String,
    /// Whether the pattern matches the hosts below it, and not the host itself.
    below: bool,
    /// Allowed port; the scheme's default if absent.
    port: Option<u16>,
}

/// Why an entry of a list is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidHost {
    /// The entry is not a host.
    #[error("`{0}` is not a host: write example.org, *.example.org or example.org:8443")]
    Form(String),
    /// The list is longer than [`limit::HOSTS_MAX`].
    #[error("at most {} hosts", limit::HOSTS_MAX)]
    TooMany,
}

impl Hosts {
    /// Any public host. For addresses that an administrator chooses one by one.
    pub const fn any() -> Self {
        Self(None)
    }

    /// These hosts. `example.org` is that host only, `*.example.org` is every host below it. An entry without a port
    /// allows the default ports of http and https.
    ///
    /// # Errors
    /// The first entry that is not valid, or a list that is too long.
    pub fn only(entries: &[impl AsRef<str>]) -> Result<Self, InvalidHost> {
        if entries.len() > limit::HOSTS_MAX {
            return Err(InvalidHost::TooMany);
        }
        let patterns = entries.iter().map(|entry| Pattern::parse(entry.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self(Some(patterns)))
    }

    /// Whether this destination is allowed.
    pub fn allow(&self, destination: &Destination) -> bool {
        let Some(patterns) = &self.0 else { return true };
        patterns.iter().any(|pattern| pattern.matches(destination))
    }
}

impl Pattern {
    fn parse(entry: &str) -> Result<Self, InvalidHost> {
        let refused = || InvalidHost::Form(entry.to_owned());
        let (below, rest) = match entry.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, entry),
        };
        if rest.is_empty() || rest.contains(['/', '@', '*', '?', '#', '\\', '%']) || rest.contains(char::is_whitespace)
        {
            return Err(refused());
        }
        // Parsed as addresses are, so that both are normalised alike. The parser drops a default port, so port 80 is
        // read from the text.
        let url = Url::parse(&format!("http://{rest}/")).map_err(|_| refused())?;
        let host = url.host_str().ok_or_else(refused)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_owned();
        let is_number = host.parse::<std::net::IpAddr>().is_ok();
        if host.is_empty() || (below && (is_number || !host.contains('.'))) {
            return Err(refused());
        }
        let port = if rest.ends_with(":80") && !rest.ends_with("::80") { Some(80) } else { url.port() };
        Ok(Self { host, below, port })
    }

    fn matches(&self, destination: &Destination) -> bool {
        let host = destination.host();
        let same_host = if self.below {
            host.strip_suffix(&self.host).is_some_and(|head| head.len() > 1 && head.ends_with('.'))
        } else {
            host == self.host
        };
        let same_port = match self.port {
            Some(port) => destination.port() == port,
            None => destination.is_default_port(),
        };
        same_host && same_port
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;

    fn allows(entry: &str, url: &str) -> bool {
        Hosts::only(&[entry]).unwrap().allow(&Destination::parse(url, &Policy::default()).unwrap())
    }

    #[test]
    fn a_host_is_that_host_alone() {
        assert!(allows("example.org", "http://example.org/a?b"));
        assert!(allows("Example.ORG.", "http://EXAMPLE.org./"));
        assert!(allows("bücher.example", "http://xn--bcher-kva.example/"));
        assert!(allows("8.8.8.8", "http://8.8.8.8/"));
        for other in ["http://a.example.org/", "http://example.org.evil.net/", "http://evil-example.org/"] {
            assert!(!allows("example.org", other), "{other}");
        }
    }

    #[test]
    fn a_star_is_every_host_below_and_not_the_host_itself() {
        assert!(allows("*.example.org", "http://a.example.org/"));
        assert!(allows("*.example.org", "http://a.b.example.org/"));
        for other in ["http://example.org/", "http://badexample.org/", "http://.example.org/"] {
            let Ok(destination) = Destination::parse(other, &Policy::default()) else { continue };
            assert!(!Hosts::only(&["*.example.org"]).unwrap().allow(&destination), "{other}");
        }
    }

    #[test]
    fn other_ports_are_allowed_by_name() {
        assert!(!allows("example.org", "http://example.org:22/"));
        assert!(allows("example.org:8080", "http://example.org:8080/"));
        assert!(!allows("example.org:8080", "http://example.org/"));
        assert!(allows("example.org:80", "http://example.org/"));
        assert!(!allows("example.org:80", "http://example.org:8080/"));
    }

    #[test]
    fn an_empty_list_allows_nothing_and_entries_that_mean_something_else_are_refused() {
        let none: [&str; 0] = [];
        let destination = Destination::parse("http://example.org/", &Policy::default()).unwrap();
        assert!(!Hosts::only(&none).unwrap().allow(&destination));
        assert!(Hosts::any().allow(&destination));
        for bad in ["", "*", "*.", "*.org", "*.8.8.8.8", "a.*.org", "http://example.org", "a@example.org", "a b", "x/y"]
        {
            assert!(matches!(Hosts::only(&[bad]), Err(InvalidHost::Form(_))), "{bad}");
        }
        assert_eq!(Hosts::only(&vec!["a.org"; limit::HOSTS_MAX + 1]), Err(InvalidHost::TooMany));
    }
}
