//! Escaping for HTML that is written without views, and for query strings.

/// Appends text, escaped for HTML content.
pub fn content(html: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|b| matches!(b, b'&' | b'<' | b'>')) {
        let (before, from) = rest.split_at(at);
        html.push_str(before);
        html.push_str(match from.as_bytes().first() {
            Some(b'&') => "&amp;",
            Some(b'<') => "&lt;",
            _ => "&gt;",
        });
        rest = &from[1..];
    }
    html.push_str(rest);
}

/// Escapes text for a double-quoted HTML attribute.
pub fn attribute(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            _ => html.push(c),
        }
    }
    html
}

/// Percent-encodes text for a query value: all bytes but letters, digits and `-_.~`.
pub fn query(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_never_survives() {
        let mut html = String::new();
        content(&mut html, "<b>&\"");
        assert_eq!(html, "&lt;b&gt;&amp;\"");
        assert_eq!(attribute("\"><script>"), "&quot;&gt;&lt;script&gt;");
        assert_eq!(query("a b&ü"), "a%20b%26%C3%BC");
    }
}
