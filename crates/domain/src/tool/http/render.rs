//! Makes a request from a call and an input.

use super::{
    check::is_header_text,
    encode::encoded,
    redact::Secrets,
    template::{Address, Piece, parse},
};
use crate::{
    issue::Issue,
    json_pointer::escaped,
    limit::TOOL_URL_BYTES_MAX,
    tool::{Body, HttpCall, Method, json_template::fill},
};
use serde_json::{Map, Value};
use std::fmt;

/// A request to send. Its headers may hold secrets, so its `Debug` shows no values.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// How it is sent.
    pub method: Method,
    /// Address, at most [`TOOL_URL_BYTES_MAX`].
    pub url: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// JSON; `None` for no body.
    pub body: Option<String>,
}

impl fmt::Debug for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        let mut shown = formatter.debug_struct("Request");
        shown.field("method", &self.method).field("url", &self.url).field("headers", &names);
        shown.field("body_bytes", &self.body.as_ref().map(String::len)).finish()
    }
}

/// Why an input makes no request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsendable {
    /// A value cannot be where the call puts it. The field is its JSON Pointer in the input.
    #[error("{}: {}", .0.field, .0.message)]
    Input(Issue),
    /// The tool has no secret with this name.
    #[error("the secret {0} is not set")]
    NoSecret(String),
    /// The secret cannot be the value of a header.
    #[error("the secret {0} is not one line of ASCII characters")]
    Secret(String),
    /// The address is longer than [`TOOL_URL_BYTES_MAX`] with the values of the input.
    #[error("the address is longer than {} bytes with these values", TOOL_URL_BYTES_MAX)]
    TooLong,
    /// The call was not checked.
    #[error("the call of the tool is not valid: {0}")]
    Call(String),
}

/// Makes the request of a checked call.
///
/// # Errors
/// The first reason why the input, or a secret, makes no request.
pub fn render(http: &HttpCall, input: &Map<String, Value>, secrets: &Secrets) -> Result<Request, Unsendable> {
    let body = match &http.body {
        Body::None => None,
        Body::Input => Some(Value::Object(input.clone()).to_string()),
        Body::Template(template) => Some(fill(template, input).unwrap_or_default().to_string()),
    };
    let mut headers = Vec::new();
    for (name, text) in &http.headers {
        if let Some(value) = header(name, text, input, secrets)? {
            headers.push((name.clone(), value));
        }
    }
    if body.is_some() && !http.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
    }
    Ok(Request { method: http.method, url: url(&http.url, input)?, headers, body })
}

fn url(template: &str, input: &Map<String, Value>) -> Result<String, Unsendable> {
    let address = Address::split(template).ok_or_else(|| Unsendable::Call("its address has no scheme".to_owned()))?;
    let mut url = address.origin.to_owned();
    for (index, segment) in address.path.split('/').enumerate() {
        if index > 0 {
            url.push('/');
        }
        url.push_str(&segment_text(segment, input)?);
    }
    let mut sign = '?';
    for pair in address.query.into_iter().flat_map(|query| query.split('&')) {
        if let Some(pair) = text(pair, input, |_, value| Ok(encoded(&value)))? {
            url.push(sign);
            url.push_str(&pair);
            sign = '&';
        }
    }
    if url.len() > TOOL_URL_BYTES_MAX { Err(Unsendable::TooLong) } else { Ok(url) }
}

/// Renders a segment of a path. Values cannot make it empty or a step up, which would call another address.
fn segment_text(segment: &str, input: &Map<String, Value>) -> Result<String, Unsendable> {
    let mut last = None;
    let rendered = text(segment, input, |name, value| {
        last = Some(name.to_owned());
        Ok(encoded(&value))
    })?;
    let Some(rendered) = rendered else {
        let name = first_field(segment).unwrap_or_default();
        return Err(refused(&name, "is part of the path of the address and cannot be left out"));
    };
    match last {
        Some(name) if matches!(rendered.replace("%2E", ".").replace("%2e", ".").as_str(), "" | "." | "..") => {
            Err(refused(&name, "is part of the path of the address and cannot be empty, `.` or `..`"))
        }
        _ => Ok(rendered),
    }
}

fn first_field(template: &str) -> Option<String> {
    let name = |piece| match piece {
        Piece::Field(name) => Some(name),
        Piece::Text(_) | Piece::Secret(_) => None,
    };
    parse(template).ok()?.into_iter().find_map(name)
}

/// Renders a text without secrets. `None` if the input has no value for one of its fields.
fn text(
    template: &str,
    input: &Map<String, Value>,
    mut place: impl FnMut(&str, String) -> Result<String, Unsendable>,
) -> Result<Option<String>, Unsendable> {
    let mut rendered = String::new();
    for piece in parse(template).map_err(Unsendable::Call)? {
        match piece {
            Piece::Text(plain) => rendered.push_str(&plain),
            Piece::Field(name) => match value(&name, input)? {
                Some(value) => rendered.push_str(&place(&name, value)?),
                None => return Ok(None),
            },
            Piece::Secret(name) => return Err(Unsendable::Call(format!("`{name}` is a secret outside of a header"))),
        }
    }
    Ok(Some(rendered))
}

fn header(
    header: &str,
    template: &str,
    input: &Map<String, Value>,
    secrets: &Secrets,
) -> Result<Option<String>, Unsendable> {
    let mut rendered = String::new();
    for piece in parse(template).map_err(Unsendable::Call)? {
        match piece {
            Piece::Text(plain) => rendered.push_str(&plain),
            Piece::Field(name) => match value(&name, input)? {
                Some(value) if is_header_text(&value) => rendered.push_str(&value),
                Some(_) => {
                    let why = format!("is sent in the header {header} and must be one line of ASCII characters");
                    return Err(refused(&name, &why));
                }
                None => return Ok(None),
            },
            Piece::Secret(name) => match secrets.get(&name) {
                Some(value) if is_header_text(value) => rendered.push_str(value),
                Some(_) => return Err(Unsendable::Secret(name)),
                None => return Err(Unsendable::NoSecret(name)),
            },
        }
    }
    Ok(Some(rendered))
}

/// The text of a field: `None` for one that is missing or `null`.
fn value(name: &str, input: &Map<String, Value>) -> Result<Option<String>, Unsendable> {
    match input.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(value.to_string())),
        Some(Value::Array(_) | Value::Object(_)) => Err(refused(name, "must be a text, a number or a boolean")),
    }
}

fn refused(name: &str, why: &str) -> Unsendable {
    Unsendable::Input(Issue::new(format!("/{}", escaped(name)), why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Secret;
    use proptest::prelude::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn http(url: &str, headers: Value, body: Value) -> HttpCall {
        serde_json::from_value(json!({ "method": "POST", "url": url, "headers": headers, "body": body })).unwrap()
    }

    fn secrets(name: &str, value: &str) -> Secrets {
        Secrets::new([(name.to_owned(), Secret::new(value.to_owned()))])
    }

    fn url_of(template: &str, input: Value) -> Result<String, String> {
        url(template, &object(input)).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_encoded_and_what_is_missing_is_left_out() {
        let call = http(
            "https://a.org/i/{id}.json?q={q}&page={page}&on={on}&fixed=1",
            json!({ "authorization": "Bearer {secret:KEY}", "x-page": "{page}", "x-q": "<{q}>" }),
            json!({ "template": { "all": ["{/list/1/b}", "{/list/9}"], "none": "{/page}", "text": "t{/q}" } }),
        );
        let input = object(json!({ "id": "a/b ü", "q": "x&y=z#", "on": true, "page": null,
            "list": [1, { "b": { "c": 2 } }] }));
        let secrets = secrets("KEY", "s3cr3t");
        let request = render(&call, &input, &secrets).unwrap();
        assert_eq!(request.url, "https://a.org/i/a%2Fb%20%C3%BC.json?q=x%26y%3Dz%23&on=true&fixed=1");
        let headers: Vec<_> = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let expected = [("authorization", "Bearer s3cr3t"), ("x-q", "<x&y=z#>"), ("content-type", "application/json")];
        assert_eq!(headers, expected);
        let body: Value = serde_json::from_str(request.body.as_deref().unwrap()).unwrap();
        assert_eq!(body, json!({ "all": [{ "c": 2 }, null], "text": "t{/q}" }));
        assert!(!format!("{request:?}").contains("s3cr3t"));
    }

    #[test]
    fn values_cannot_choose_another_path() {
        for value in ["", ".", ".."] {
            let error = url_of("https://a.org/items/{id}/x", json!({ "id": value })).unwrap_err();
            assert!(error.starts_with("/id: is part of the path"), "{error}");
        }
        assert!(url_of("https://a.org/.{id}", json!({ "id": "." })).is_err());
        assert!(url_of("https://a.org/%2e{id}", json!({ "id": "." })).is_err());
        assert!(url_of("https://a.org/{id}", json!({})).unwrap_err().contains("cannot be left out"));
        assert!(url_of("https://a.org/{id}", json!({ "id": [1] })).unwrap_err().contains("must be a text"));
        assert_eq!(url_of("https://a.org/{id}", json!({ "id": "../x" })).unwrap(), "https://a.org/..%2Fx");
        let long = "a".repeat(TOOL_URL_BYTES_MAX);
        assert_eq!(url("https://a.org/{id}", &object(json!({ "id": long }))), Err(Unsendable::TooLong));
    }

    #[test]
    fn a_header_is_one_line_and_needs_its_secret() {
        let render = |text: &str, input: Value, secrets: Secrets| {
            render(&http("https://a.org", json!({ "x": text }), json!("none")), &object(input), &secrets)
        };
        for value in ["a\r\nb: c", "a\0", "ü"] {
            let error = render("{a}", json!({ "a": value }), Secrets::default()).unwrap_err();
            assert!(matches!(&error, Unsendable::Input(issue) if issue.field == "/a"), "{error}");
        }
        assert_eq!(render("{secret:A}", json!({}), Secrets::default()), Err(Unsendable::NoSecret("A".into())));
        let lines = secrets("A", "a\nb");
        assert_eq!(render("{secret:A}", json!({}), lines), Err(Unsendable::Secret("A".into())));
    }

    /// Decodes what [`encoded`] encodes.
    fn decoded(text: &str) -> String {
        let mut bytes = Vec::new();
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            let hex = |rest: &mut std::str::Bytes<'_>| {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            };
            bytes.push(if byte == b'%' { hex(&mut rest) } else { byte });
        }
        String::from_utf8(bytes).unwrap()
    }

    proptest! {
        #[test]
        fn any_value_stays_within_its_place_of_the_address(a in any::<String>(), b in any::<String>()) {
            let input = object(json!({ "a": a, "b": b }));
            if let Ok(url) = url("https://a.org/p/{a}/q?k={b}&l=1", &input) {
                prop_assert!(url.is_ascii());
                let (path, query) = url.strip_prefix("https://a.org/").unwrap().split_once('?').unwrap();
                let segments: Vec<_> = path.split('/').collect();
                prop_assert_eq!((segments.len(), segments[0], segments[2]), (3, "p", "q"));
                prop_assert_eq!(decoded(segments[1]), a);
                let pairs: Vec<_> = query.split('&').collect();
                prop_assert_eq!((pairs.len(), pairs[1]), (2, "l=1"));
                prop_assert_eq!(decoded(pairs[0].strip_prefix("k=").unwrap()), b);
            } else {
                prop_assert!(["", ".", ".."].contains(&a.as_str()) || a.len() + b.len() > 100);
            }
        }

        #[test]
        fn any_value_in_a_header_is_one_line_or_refused(value in any::<String>()) {
            let call = http("https://a.org", json!({ "x": "v={a}" }), json!("none"));
            match render(&call, &object(json!({ "a": value })), &Secrets::default()) {
                Ok(request) => {
                    prop_assert_eq!(&request.headers[0].1, &format!("v={value}"));
                    prop_assert!(is_header_text(&request.headers[0].1));
                }
                Err(error) => prop_assert!(matches!(error, Unsendable::Input(_))),
            }
        }
    }
}
