//! Request bytes.

use std::{fmt::Write as _, net::SocketAddr};

/// One request, ready to send. Its body may be changed in place as long as its length stays.
#[derive(Debug, Clone)]
pub struct Request {
    bytes: Vec<u8>,
    body: usize,
}

impl Request {
    /// A GET with these header lines.
    pub fn get(target: SocketAddr, path: &str, headers: &[String]) -> Self {
        Self::new("GET", target, path, headers, None)
    }

    /// A POST of JSON.
    pub fn post(target: SocketAddr, path: &str, headers: &[String], json: &str) -> Self {
        Self::new("POST", target, path, headers, Some(("application/json", json)))
    }

    /// A PATCH of JSON.
    pub fn patch(target: SocketAddr, path: &str, headers: &[String], json: &str) -> Self {
        Self::new("PATCH", target, path, headers, Some(("application/json", json)))
    }

    /// A PUT of JSON.
    pub fn put(target: SocketAddr, path: &str, headers: &[String], json: &str) -> Self {
        Self::new("PUT", target, path, headers, Some(("application/json", json)))
    }

    /// A form as a browser sends it.
    pub fn form(target: SocketAddr, path: &str, form: &str) -> Self {
        Self::form_with(target, path, &[], form)
    }

    /// The same with further header lines.
    pub fn form_with(target: SocketAddr, path: &str, headers: &[String], form: &str) -> Self {
        let mut lines = vec![format!("origin: http://{target}")];
        lines.extend_from_slice(headers);
        Self::new("POST", target, path, &lines, Some(("application/x-www-form-urlencoded", form)))
    }

    fn new(method: &str, target: SocketAddr, path: &str, headers: &[String], body: Option<(&str, &str)>) -> Self {
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: {target}\r\n");
        for line in headers {
            text.push_str(line);
            text.push_str("\r\n");
        }
        if let Some((kind, body)) = body {
            // Writing to a string cannot fail.
            let _ = write!(text, "content-type: {kind}\r\ncontent-length: {}\r\n", body.len());
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        let start = bytes.len();
        bytes.extend_from_slice(body.map(|(_, body)| body.as_bytes()).unwrap_or_default());
        Self { bytes, body: start }
    }

    /// What is sent.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The body, to change in place.
    pub fn body_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.body..]
    }

    /// The bytes of the body; empty without one.
    pub fn body(&self) -> &[u8] {
        &self.bytes[self.body..]
    }
}

/// The header lines of a caller with an API token.
pub fn credentials(token: &str) -> Vec<String> {
    vec![format!("authorization: Bearer {token}"), "accept: application/json".to_owned()]
}

/// A text as the value of a query or of a form.
pub fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
