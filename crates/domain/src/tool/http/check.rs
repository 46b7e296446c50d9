//! Checks the description of a call before it is used.

use super::template::{Address, Piece, parse};
use crate::{
    issue::Issue,
    json_pointer::escaped,
    json_schema::ordinary,
    limit::{
        DOCUMENT_BYTES_MAX, TOOL_HEADER_CHARS_MAX, TOOL_HEADERS_MAX, TOOL_SECRET_NAME_CHARS_MAX, TOOL_URL_BYTES_MAX,
    },
    line::changes_direction,
    tool::{Body, HttpCall, Method, is_secret_name, json_template::pointer},
};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Headers that a tool cannot set: they belong to the connection, or change how the answer is encoded.
const FORBIDDEN: [&str; 15] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// Longest name of a host, and longest part of it between dots, bytes (RFC 1035).
const HOST_BYTES_MAX: usize = 253;
const HOST_LABEL_BYTES_MAX: usize = 63;

/// Checks a call against the schema of its tool's input.
///
/// # Errors
/// One [`Issue`] for each problem. Its field is the place in the call: `url`, `headers.NAME`, `body`, or a JSON Pointer
/// below the template, such as `body/items/0`.
pub fn check(http: &HttpCall, input_schema: &Value) -> Vec<Issue> {
    let fields = Fields { root: input_schema, properties: properties(input_schema) };
    let mut issues = Vec::new();
    check_url(&http.url, &fields, &mut issues);
    check_headers(http, &fields, &mut issues);
    check_body(http, &fields, &mut issues);
    issues
}

/// The names of the secrets that a call uses. A text that cannot be parsed has none.
pub fn secret_names(http: &HttpCall) -> BTreeSet<String> {
    let pieces = http.headers.values().filter_map(|text| parse(text).ok()).flatten();
    let name = |piece| match piece {
        Piece::Secret(name) => Some(name),
        Piece::Text(_) | Piece::Field(_) => None,
    };
    pieces.filter_map(name).collect()
}

/// The fields of an input.
struct Fields<'a> {
    root: &'a Value,
    properties: Map<String, Value>,
}

fn properties(schema: &Value) -> Map<String, Value> {
    let mut members = ordinary(schema, schema).members;
    match members.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    }
}

impl Fields<'_> {
    /// Why a field cannot be part of a text, if so.
    fn refuse_in_text(&self, name: &str) -> Option<String> {
        let Some(schema) = self.properties.get(name) else {
            return Some(format!("`{{{name}}}` is not a field of the input schema"));
        };
        let kind = ordinary(self.root, schema).members.get("type").and_then(Value::as_str).map(str::to_owned);
        matches!(kind.as_deref(), Some("object" | "array")).then(|| {
            let kind = kind.unwrap_or_default();
            format!("`{{{name}}}` is an {kind}; a placeholder takes a text, a number or a boolean")
        })
    }
}

fn check_url(url: &str, fields: &Fields<'_>, issues: &mut Vec<Issue>) {
    let mut refuse = |why: String| issues.push(Issue::new("url", why));
    if url.len() > TOOL_URL_BYTES_MAX {
        return refuse(format!("at most {TOOL_URL_BYTES_MAX} bytes"));
    }
    if url.chars().any(|c| c.is_control() || c.is_whitespace() || matches!(c, '\\' | '#')) {
        return refuse("has no spaces, control characters, `\\` or `#`".to_owned());
    }
    if let Some(changing) = url.chars().find(|c| changes_direction(*c)) {
        let code = u32::from(changing);
        return refuse(format!("has no characters that change the direction of text, such as U+{code:04X}"));
    }
    let Some(address) = Address::split(url) else {
        return refuse("begins with http:// or https://".to_owned());
    };
    let authority = address.authority();
    if authority.is_empty() {
        return refuse("names no host".to_owned());
    }
    if authority.contains(['{', '}']) {
        return refuse("the host has no placeholders: a tool always calls the same host".to_owned());
    }
    if authority.contains('@') {
        return refuse("has no name or password: use a header with a secret".to_owned());
    }
    if let Some(why) = refuse_host(authority) {
        return refuse(why.to_owned());
    }
    if url.contains("{{") || url.contains("}}") {
        return refuse("writes a brace as %7B or %7D".to_owned());
    }
    // Segments and pairs are parsed one by one, as they are rendered.
    let pairs = address.query.into_iter().flat_map(|query| query.split('&'));
    for part in address.path.split('/').chain(pairs) {
        match parse(part) {
            Err(why) => refuse(why),
            Ok(pieces) => pieces.iter().filter_map(|piece| refuse_in_url(piece, fields)).for_each(&mut refuse),
        }
    }
}

/// Why no server can have this host and port, if so. Whether the host exists is known only when it is called.
fn refuse_host(authority: &str) -> Option<&'static str> {
    let (host, port) = match authority.rsplit_once(':') {
        // The colons of an IPv6 address are inside of brackets.
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    if port
        .is_some_and(|port| !port.bytes().all(|byte| byte.is_ascii_digit()) || !matches!(port.parse::<u16>(), Ok(1..)))
    {
        return Some("the port is a number from 1 to 65535");
    }
    if host.starts_with('[') {
        return (!host.ends_with(']')).then_some("an IPv6 address ends with `]`");
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    let is_label = |label: &str| (1..=HOST_LABEL_BYTES_MAX).contains(&label.len());
    (name.len() > HOST_BYTES_MAX || !name.split('.').all(is_label))
        .then_some("a host has at most 253 bytes, in parts of 1 to 63 between the dots")
}

fn refuse_in_url(piece: &Piece, fields: &Fields<'_>) -> Option<String> {
    match piece {
        Piece::Text(_) => None,
        Piece::Field(name) => fields.refuse_in_text(name),
        Piece::Secret(_) => Some("has no secrets: addresses are logged on the way. Use a header".to_owned()),
    }
}

fn check_headers(http: &HttpCall, fields: &Fields<'_>, issues: &mut Vec<Issue>) {
    if http.headers.len() > TOOL_HEADERS_MAX {
        issues.push(Issue::new("headers", format!("at most {TOOL_HEADERS_MAX} headers")));
    }
    let mut seen = BTreeSet::new();
    for (name, value) in &http.headers {
        let mut refuse = |why: String| issues.push(Issue::new(format!("headers.{name}"), why));
        let lower = name.to_ascii_lowercase();
        if !is_token(name) {
            refuse("is not the name of a header".to_owned());
        } else if FORBIDDEN.contains(&lower.as_str()) {
            refuse("cannot be set by a tool".to_owned());
        } else if !seen.insert(lower) {
            refuse("is there twice".to_owned());
        }
        if value.chars().count() > TOOL_HEADER_CHARS_MAX {
            refuse(format!("at most {TOOL_HEADER_CHARS_MAX} characters"));
        }
        if !is_header_text(value) {
            refuse("is one line of ASCII characters".to_owned());
        }
        match parse(value) {
            Err(why) => refuse(why),
            Ok(pieces) => pieces.iter().filter_map(|piece| refuse_in_header(piece, fields)).for_each(&mut refuse),
        }
    }
}

fn refuse_in_header(piece: &Piece, fields: &Fields<'_>) -> Option<String> {
    match piece {
        Piece::Text(_) => None,
        Piece::Field(name) => fields.refuse_in_text(name),
        Piece::Secret(name) => (!is_secret_name(name)).then(|| {
            format!("`{name}` is not the name of a secret: a letter, then letters, digits and _, at most {TOOL_SECRET_NAME_CHARS_MAX}")
        }),
    }
}

/// Whether a text is a `token` of RFC 9110, as names of headers are.
fn is_token(name: &str) -> bool {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token_byte)
}

/// Whether a text can be the value of a header: one line of ASCII.
pub(super) fn is_header_text(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte))
}

fn check_body(http: &HttpCall, fields: &Fields<'_>, issues: &mut Vec<Issue>) {
    if http.method == Method::Get && http.body != Body::None {
        issues.push(Issue::new("body", "a GET request has no body"));
    }
    if let Body::Template(template) = &http.body {
        if template.to_string().len() > DOCUMENT_BYTES_MAX {
            return issues.push(Issue::new("body", format!("at most {DOCUMENT_BYTES_MAX} bytes")));
        }
        check_template(template, &mut "body".to_owned(), fields, issues);
    }
}

fn check_template(template: &Value, path: &mut String, fields: &Fields<'_>, issues: &mut Vec<Issue>) {
    let before = path.len();
    match template {
        Value::String(text) => {
            if let Some(why) = pointer(text).and_then(|pointer| refuse_pointer(pointer, fields)) {
                issues.push(Issue::new(path.as_str(), why));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!("/{index}"));
                check_template(item, path, fields, issues);
                path.truncate(before);
            }
        }
        Value::Object(members) => {
            for (name, item) in members {
                path.push_str(&format!("/{}", escaped(name)));
                check_template(item, path, fields, issues);
                path.truncate(before);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn refuse_pointer(pointer: &str, fields: &Fields<'_>) -> Option<String> {
    let is_escaped = pointer.split('~').skip(1).all(|after| after.starts_with(['0', '1']));
    if !is_escaped {
        return Some(format!("`{pointer}` is not a JSON Pointer: write ~0 for ~ and ~1 for /"));
    }
    let first = pointer.split('/').nth(1).unwrap_or_default().replace("~1", "/").replace("~0", "~");
    (!fields.properties.contains_key(&first)).then(|| format!("`{first}` is not a field of the input schema"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({ "type": "object", "properties": {
            "id": { "type": "string" }, "count": { "type": ["integer", "null"] }, "tags": { "type": "array" },
            "box": { "$ref": "#/$defs/Box" } }, "$defs": { "Box": { "type": "object" } } })
    }

    fn http(method: &str, url: &str, headers: Value, body: Value) -> HttpCall {
        serde_json::from_value(json!({ "method": method, "url": url, "headers": headers, "body": body })).unwrap()
    }

    fn found(http: &HttpCall) -> Vec<(String, String)> {
        check(http, &schema()).into_iter().map(|issue| (issue.field, issue.message)).collect()
    }

    #[test]
    fn a_whole_call_is_accepted() {
        let call = http(
            "POST",
            "https://api.example.org:8443/items/{id}?n={count}&fixed=1",
            json!({ "Authorization": "Bearer {secret:API_KEY}", "X-Id": "{{{id}}}" }),
            json!({ "template": { "id": "{/id}", "first": "{/tags/0}", "text": "a {/id}", "empty": "{}" } }),
        );
        assert_eq!(found(&call), []);
        assert_eq!(secret_names(&call), BTreeSet::from(["API_KEY".to_owned()]));
        for url in [
            "http://localhost",
            "http://[::1]:8080/",
            "http://[::1]",
            "https://a.org.:65535/",
            "https://bücher.example/",
        ] {
            assert_eq!(found(&http("GET", url, json!({}), json!("none"))), [], "{url}");
        }
    }

    #[test]
    fn an_address_names_one_host_and_known_fields() {
        for (url, part) in [
            ("ftp://a.org", "begins with http"),
            ("https:///a", "names no host"),
            ("https://{id}.org/", "the host has no placeholders"),
            ("https://a.org:{count}/", "the host has no placeholders"),
            ("https://{secret:X}/", "the host has no placeholders"),
            ("https://me:word@a.org/", "no name or password"),
            ("https://a.org/{other}", "`{other}` is not a field"),
            ("https://a.org/{tags}", "`{tags}` is an array"),
            ("https://a.org/?b={box}", "`{box}` is an object"),
            ("https://a.org/?k={secret:KEY}", "has no secrets"),
            ("https://a.org/{id", "`{` without"),
            ("https://a.org/{id?x}", "`{` without"),
            ("https://a.org/{{id}}", "%7B"),
            ("https://a.org/#x", "no spaces"),
            ("https://a.org/a b", "no spaces"),
            ("https://a.org\\b", "no spaces"),
            ("https://\u{202e}a.org/", "U+202E"),
            ("https://a.org/\u{2066}x", "U+2066"),
            ("https://a.org:65536/", "the port"),
            ("https://a.org:0/", "the port"),
            ("https://a.org:+1/", "the port"),
            ("https://a..org/", "between the dots"),
            ("https://.a.org/", "between the dots"),
            ("https://[::1/", "ends with `]`"),
            (&format!("https://{}.org/", "a".repeat(64)), "between the dots"),
            (&format!("https://{}org/", "a.".repeat(130)), "at most 253"),
        ] {
            let found = found(&http("GET", url, json!({}), json!("none")));
            assert!(found.iter().any(|(field, why)| field == "url" && why.contains(part)), "{url}: {found:?}");
        }
        let long = format!("https://a.org/{}", "a".repeat(TOOL_URL_BYTES_MAX));
        assert_eq!(found(&http("GET", &long, json!({}), json!("none"))).len(), 1);
    }

    #[test]
    fn headers_of_the_connection_and_second_lines_are_refused() {
        for name in FORBIDDEN {
            let call = http("GET", "https://a.org", json!({ name.to_uppercase(): "1" }), json!("none"));
            assert_eq!(found(&call).len(), 1, "{name}");
        }
        for (headers, part) in [
            (json!({ "a b": "1" }), "name of a header"),
            (json!({ "": "1" }), "name of a header"),
            (json!({ "a\r\nb": "1" }), "name of a header"),
            (json!({ "a": "1\r\nb: 2" }), "one line"),
            (json!({ "a": "ü" }), "one line"),
            (json!({ "a": "1", "A": "2" }), "twice"),
            (json!({ "a": "{other}" }), "not a field"),
            (json!({ "a": "{secret:}" }), "not the name of a secret"),
            (json!({ "a": "{secret:a b}" }), "not the name of a secret"),
            (json!({ "a": "x".repeat(TOOL_HEADER_CHARS_MAX + 1) }), "at most"),
        ] {
            let found = found(&http("GET", "https://a.org", headers.clone(), json!("none")));
            assert!(found.iter().any(|(_, why)| why.contains(part)), "{headers}: {found:?}");
        }
        let many: Map<String, Value> = (0..=TOOL_HEADERS_MAX).map(|n| (format!("x-{n}"), "1".into())).collect();
        assert_eq!(found(&http("GET", "https://a.org", many.into(), json!("none"))).len(), 1);
    }

    #[test]
    fn a_body_has_known_pointers_and_no_get() {
        let body = json!({ "template": { "a/b": ["{/id}", "{/nothing}"], "c": "{/a~2}" } });
        let call = http("PUT", "https://a.org", json!({}), body);
        let places: Vec<_> = found(&call).into_iter().map(|(field, _)| field).collect();
        assert_eq!(places, ["body/a~1b/1", "body/c"]);
        assert_eq!(found(&http("GET", "https://a.org", json!({}), json!("input"))).len(), 1);
    }
}
