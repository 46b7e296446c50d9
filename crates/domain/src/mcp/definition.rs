//! How an MCP server is reached.

use crate::{
    issue::Issue,
    limit::TOOL_HEADERS_MAX,
    slug::is_slug,
    tool::{Body, HttpCall, Method, http},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Headers that belong to the protocol. Names that begin with `mcp-` do too.
const OF_PROTOCOL: [&str; 3] = ["accept", "content-type", "last-event-id"];

/// How an MCP server is reached. In JSON: the member `kind`, and the members of that kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Transport {
    /// Streamable HTTP.
    Http {
        /// Absolute `https` or `http` URL of the endpoint.
        url: String,
        /// Values of headers by their names, that are no secrets.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
    },
    /// A program on the server's machine, spoken to over its standard input and output.
    Stdio {
        /// The name under which the operator of the server allows the program.
        program: String,
    },
}

/// An MCP server as an operator of the workspace describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    /// Name that people read, 1 to 200 characters.
    pub name: String,
    /// How the server is reached.
    pub transport: Transport,
    /// Names of the headers whose values are secret. The values are stored encrypted apart from it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub secret_headers: BTreeSet<String>,
}

/// Returns every problem of a definition, with its path. The caller checks the name.
pub fn check(definition: &Definition) -> Vec<Issue> {
    let secret = &definition.secret_headers;
    match &definition.transport {
        Transport::Http { url, headers } => {
            let mut issues = check_call(url, headers, "transport");
            let secret_values = secret.iter().map(|name| (name.clone(), "x".to_owned())).collect();
            // The address is checked once.
            let of_secrets = check_call("https://example.org", &secret_values, "");
            issues.extend(of_secrets.into_iter().map(|issue| {
                let field = issue.field.trim_start_matches('.').replacen("headers", "secretHeaders", 1);
                Issue::new(field, issue.message)
            }));
            if headers.len() + secret.len() > TOOL_HEADERS_MAX {
                issues
                    .push(Issue::new("transport.headers", format!("at most {TOOL_HEADERS_MAX} with the secret ones")));
            }
            let is_secret = |name: &str| secret.iter().any(|known| known.eq_ignore_ascii_case(name));
            for name in headers.keys().filter(|name| is_secret(name)) {
                issues.push(Issue::new(format!("transport.headers.{name}"), "there is a secret header with this name"));
            }
            issues
        }
        Transport::Stdio { program } => {
            let mut issues = Vec::new();
            if !is_slug(program) {
                issues.push(Issue::new("transport.program", "the name of a program: a slug"));
            }
            if !secret.is_empty() {
                issues.push(Issue::new("secretHeaders", "only a server with the transport `http` has headers"));
            }
            issues
        }
    }
}

/// The problems of an address and of headers, each below `place`. They have no placeholders.
fn check_call(url: &str, headers: &BTreeMap<String, String>, place: &str) -> Vec<Issue> {
    let call = HttpCall { method: Method::Post, url: url.to_owned(), headers: headers.clone(), body: Body::None };
    let no_fields = json!({ "type": "object", "properties": {} });
    let mut issues = Vec::new();
    for issue in http::check(&call, &no_fields) {
        issues.push(Issue::new(format!("{place}.{}", issue.field), issue.message));
    }
    for (name, value) in headers {
        let field = format!("{place}.headers.{name}");
        let lower = name.to_ascii_lowercase();
        if OF_PROTOCOL.contains(&lower.as_str()) || lower.starts_with("mcp-") {
            issues.push(Issue::new(field, "this header belongs to the protocol"));
        } else if value.contains(['{', '}']) {
            issues.push(Issue::new(field, "has no placeholders; a secret value is one of `secretHeaders`"));
        }
    }
    issues
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(transport: &serde_json::Value, secret: &[&str]) -> Vec<String> {
        let definition = json!({ "name": "Files", "transport": transport, "secretHeaders": secret });
        let definition: Definition = serde_json::from_value(definition).unwrap();
        check(&definition).into_iter().map(|issue| issue.field).collect()
    }

    #[test]
    fn each_wrong_part_of_a_server_is_named() {
        let url = "https://mcp.example.org/mcp";
        for (good, secret) in [
            (json!({ "kind": "http", "url": url }), ["authorization"].as_slice()),
            (json!({ "kind": "http", "url": url, "headers": { "x-team": "ops" } }), &[]),
            (json!({ "kind": "stdio", "program": "everything" }), &[]),
        ] {
            assert!(fields(&good, secret).is_empty(), "{good}");
        }
        for (bad, secret, expected) in [
            (json!({ "kind": "http", "url": url }), ["accept"].as_slice(), ["secretHeaders.accept"].as_slice()),
            (json!({ "kind": "http", "url": "ftp://a" }), &[], &["transport.url"]),
            (json!({ "kind": "http", "url": "https://a.test/{x}" }), &[], &["transport.url"]),
            (
                json!({ "kind": "http", "url": url, "headers": { "Mcp-Session-Id": "1", "x-a": "{b}" } }),
                &[],
                &["transport.headers.x-a", "transport.headers.Mcp-Session-Id", "transport.headers.x-a"],
            ),
            (
                json!({ "kind": "http", "url": url, "headers": { "X-Key": "1" } }),
                &["x-key"],
                &["transport.headers.X-Key"],
            ),
            (json!({ "kind": "stdio", "program": "/bin/sh" }), &[], &["transport.program"]),
            (json!({ "kind": "stdio", "program": "a" }), &["x-key"], &["secretHeaders"]),
        ] {
            assert_eq!(fields(&bad, secret), expected, "{bad}");
        }
    }

    #[test]
    fn a_server_has_no_members_of_another_kind() {
        for bad in [
            json!({ "kind": "stdio", "program": "a", "command": ["sh"] }),
            json!({ "kind": "stdio", "url": "https://a.test" }),
            json!({ "kind": "sse", "url": "https://a.test" }),
        ] {
            assert!(serde_json::from_value::<Transport>(bad.clone()).is_err(), "{bad}");
        }
    }
}
