//! Texts with placeholders.

/// A piece of a text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text that is sent as it is.
    Text(String),
    /// `{name}`: a top-level field of the input.
    Field(String),
    /// `{secret:NAME}`.
    Secret(String),
}

/// What is before the name of a secret.
const SECRET: &str = "secret:";

/// Splits a text into its pieces.
///
/// # Errors
/// What is wrong with its braces, for people.
pub(super) fn parse(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        let after = &rest[at + 1..];
        if let Some(escaped) = after.strip_prefix(brace) {
            plain.push_str(brace);
            rest = escaped;
            continue;
        }
        if brace == "}" {
            return Err("has a `}` without a `{` before it; write `}}` for a brace".to_owned());
        }
        let Some((name, next)) = after.split_once('}') else {
            return Err("has a `{` without a `}` after it; write `{{` for a brace".to_owned());
        };
        if !plain.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
        }
        pieces.push(placeholder(name)?);
        rest = next;
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Ok(pieces)
}

fn placeholder(name: &str) -> Result<Piece, String> {
    if name.is_empty() || name.contains('{') {
        return Err(format!("has the placeholder `{{{name}}}`, which names no field"));
    }
    Ok(match name.strip_prefix(SECRET) {
        Some(secret) => Piece::Secret(secret.to_owned()),
        None => Piece::Field(name.to_owned()),
    })
}

/// The parts of an address with placeholders: scheme and host, path, and the pairs of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address<'a> {
    /// `https://example.org:8443`, without placeholders in an address that was checked.
    pub origin: &'a str,
    /// Empty, or from the first `/` to before the `?`.
    pub path: &'a str,
    /// What follows the `?`.
    pub query: Option<&'a str>,
}

impl<'a> Address<'a> {
    /// Splits an address. `None` if it begins with neither `http://` nor `https://`.
    pub(super) fn split(url: &'a str) -> Option<Self> {
        let scheme = ["https://", "http://"].into_iter().find(|scheme| url.starts_with(scheme))?;
        let end = url[scheme.len()..].find(['/', '?']).map_or(url.len(), |at| scheme.len() + at);
        let (origin, rest) = url.split_at(end);
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        Some(Self { origin, path, query })
    }

    /// The host and port.
    pub(super) fn authority(&self) -> &'a str {
        self.origin.split_once("://").map_or("", |(_, authority)| authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_at_its_placeholders() {
        let text = |text: &str| Piece::Text(text.to_owned());
        assert_eq!(parse("plain"), Ok(vec![text("plain")]));
        assert_eq!(parse(""), Ok(vec![]));
        let mixed = vec![text("Bearer "), Piece::Secret("KEY".into()), text(" {x} "), Piece::Field("name".into())];
        assert_eq!(parse("Bearer {secret:KEY} {{x}} {name}"), Ok(mixed));
        for bad in ["{", "}", "{}", "a{b", "{a{b}", "{a}}"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_address_has_an_origin_a_path_and_a_query() {
        let split = |url| Address::split(url).map(|parts| (parts.origin, parts.path, parts.query));
        assert_eq!(split("https://a.org:1/b/{c}?d={e}"), Some(("https://a.org:1", "/b/{c}", Some("d={e}"))));
        assert_eq!(split("http://a.org?x"), Some(("http://a.org", "", Some("x"))));
        assert_eq!(split("http://a.org"), Some(("http://a.org", "", None)));
        assert_eq!(split("ftp://a.org"), None);
    }
}
