//! How a view is published: who may answer, how often, when, and where the form may be embedded.

use crate::{
    clock::Timestamp,
    issue::Issue,
    limit::{DESCRIPTION_CHARS_MAX, VIEW_EMBED_ORIGINS_MAX, VIEW_RESPONSES_MAX, VIEW_URL_BYTES_MAX},
    names::names,
    slug::is_slug,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a respondent must do before the form opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// Nothing: whoever has the link may answer.
    None,
    /// Give a name and an e-mail address.
    Lead,
    /// Sign in as a member of the workspace.
    #[default]
    Member,
}

names!(Gate { None = "none", Lead = "lead", Member = "member" });

/// How often one respondent may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Responses {
    /// Once. A repeat is answered with what is recorded.
    #[default]
    One,
    /// Any number of times.
    Many,
}

names!(Responses { One = "one", Many = "many" });

/// The `publishConfig` of a view.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Publication {
    /// What a respondent must do before the form opens.
    pub gate: Gate,
    /// Slug of the group whose members may answer; every member may without one. Only with the gate `member`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    /// How often one respondent may answer.
    pub responses: Responses,
    /// Most responses in all; without it [`VIEW_RESPONSES_MAX`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_responses: Option<u32>,
    /// Instant before which the form is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opens_at: Option<Timestamp>,
    /// Instant from which on the form is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closes_at: Option<Timestamp>,
    /// Text that a respondent reads after submitting; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thanks: String,
    /// Page to which a respondent is sent after submitting: a path of this server, or an `https` URL whose host
    /// the operator allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect_url: Option<String>,
    /// Origins whose pages may embed the form, such as `https://example.org`; none by default.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub embed_origins: Vec<String>,
    /// Whether the view's owner is notified of each response.
    pub notify: bool,
}

/// Whether a form takes responses at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    /// It opens later.
    NotYet,
    /// It takes responses.
    Open,
    /// It has ended.
    Closed,
}

impl Publication {
    /// Returns whether the form takes responses at `now`, by its times alone.
    pub fn availability(&self, now: Timestamp) -> Availability {
        if self.closes_at.is_some_and(|closes| now >= closes) {
            Availability::Closed
        } else if self.opens_at.is_some_and(|opens| now < opens) {
            Availability::NotYet
        } else {
            Availability::Open
        }
    }

    /// Returns the host of `redirectUrl`, with its port if it has one; `None` for a path of this server.
    pub fn redirect_host(&self) -> Option<&str> {
        let rest = self.redirect_url.as_deref()?.strip_prefix("https://")?;
        rest.split(['/', '?', '#']).next()
    }

    /// Most responses of the view in all.
    pub fn most_responses(&self) -> u32 {
        self.max_responses.unwrap_or(VIEW_RESPONSES_MAX)
    }
}

/// Returns every problem of a publication, with its path. The caller checks whether the audience's group exists
/// and whether the operator allows the host of `redirectUrl`.
pub fn check_publication(publication: &Publication) -> Vec<Issue> {
    let mut issues = Vec::new();
    let mut refuse = |part: &str, message: String| issues.push(Issue::new(format!("publishConfig.{part}"), message));
    match &publication.audience {
        Some(_) if publication.gate != Gate::Member => {
            refuse("audience", "only a form for members can have an audience".to_owned());
        }
        Some(slug) if !is_slug(slug) => refuse("audience", "the slug of a group".to_owned()),
        _ => {}
    }
    if publication.max_responses.is_some_and(|most| most == 0 || most > VIEW_RESPONSES_MAX) {
        refuse("maxResponses", format!("1 to {VIEW_RESPONSES_MAX}"));
    }
    if let (Some(opens), Some(closes)) = (publication.opens_at, publication.closes_at)
        && opens >= closes
    {
        refuse("closesAt", "later than opensAt".to_owned());
    }
    if publication.thanks.chars().count() > DESCRIPTION_CHARS_MAX || publication.thanks.contains('\0') {
        refuse("thanks", format!("at most {DESCRIPTION_CHARS_MAX} characters, none of them NUL"));
    }
    if publication.redirect_url.as_deref().is_some_and(|url| !is_own_path(url) && !is_https(url)) {
        refuse("redirectUrl", "a path of this server that begins with one `/`, or an https URL".to_owned());
    }
    if publication.embed_origins.len() > VIEW_EMBED_ORIGINS_MAX {
        refuse("embedOrigins", format!("at most {VIEW_EMBED_ORIGINS_MAX} origins"));
    }
    for (index, origin) in publication.embed_origins.iter().enumerate() {
        if !is_origin(origin) {
            refuse(
                &format!("embedOrigins[{index}]"),
                "an origin such as https://example.org, without a path".to_owned(),
            );
        }
    }
    issues
}

/// Whether `url` is a path of this server. `//host` and `/\host` lead browsers to another one.
fn is_own_path(url: &str) -> bool {
    url.len() <= VIEW_URL_BYTES_MAX
        && url.starts_with('/')
        && !url.starts_with("//")
        && url.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'\\' | b'"' | b'<' | b'>'))
}

fn is_https(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("https://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    url.len() <= VIEW_URL_BYTES_MAX
        && is_authority(host)
        && url.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'\\' | b'"' | b'<' | b'>'))
}

/// Whether `text` is an origin with `https`, or with `http` on the loopback names, in the form in which browsers
/// send it. The text becomes a part of the header `Content-Security-Policy`, so nothing else is allowed in it.
fn is_origin(text: &str) -> bool {
    let local = |authority: &str| matches!(authority.split(':').next(), Some("localhost" | "127.0.0.1"));
    match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(authority), _) => is_authority(authority),
        (None, Some(authority)) => is_authority(authority) && local(authority),
        (None, None) => false,
    }
}

/// Whether `text` is a lower-case host name or IPv4 address with an optional port.
pub fn is_authority(text: &str) -> bool {
    let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    host.len() <= 253
        && host.split('.').all(label)
        && port.is_none_or(|port| port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|n| n > 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn issues(config: Value) -> Vec<String> {
        let publication: Publication = serde_json::from_value(config).unwrap();
        check_publication(&publication).into_iter().map(|issue| issue.field).collect()
    }

    #[test]
    fn each_wrong_part_of_a_publication_is_named() {
        assert!(issues(json!({})).is_empty());
        let whole = json!({
            "gate": "none", "responses": "many", "maxResponses": 10, "opensAt": "2026-01-01T00:00:00Z",
            "closesAt": "2026-02-01T00:00:00Z", "thanks": "Thank you", "redirectUrl": "https://example.org/done?x=1",
            "embedOrigins": ["https://example.org", "https://a.example.org:8443", "http://localhost:3000"],
        });
        assert!(issues(whole).is_empty());
        for (config, part) in [
            (json!({ "gate": "none", "audience": "team" }), "audience"),
            (json!({ "audience": "The team" }), "audience"),
            (json!({ "maxResponses": 0 }), "maxResponses"),
            (json!({ "opensAt": "2026-02-01T00:00:00Z", "closesAt": "2026-02-01T00:00:00Z" }), "closesAt"),
            (json!({ "redirectUrl": "//evil.example" }), "redirectUrl"),
            (json!({ "redirectUrl": "/\\evil.example" }), "redirectUrl"),
            (json!({ "redirectUrl": "javascript:alert(1)" }), "redirectUrl"),
            (json!({ "redirectUrl": "https://user@evil.example/" }), "redirectUrl"),
            (json!({ "embedOrigins": ["https://example.org/"] }), "embedOrigins[0]"),
            (json!({ "embedOrigins": ["http://example.org"] }), "embedOrigins[0]"),
            (json!({ "embedOrigins": ["https://a.org; script-src *"] }), "embedOrigins[0]"),
            (json!({ "embedOrigins": ["*"] }), "embedOrigins[0]"),
        ] {
            assert_eq!(issues(config.clone()), [format!("publishConfig.{part}")], "{config}");
        }
    }

    #[test]
    fn the_host_of_a_redirect_is_what_browsers_connect_to() {
        let host = |url: &str| {
            let publication = Publication { redirect_url: Some(url.to_owned()), ..Publication::default() };
            publication.redirect_host().map(str::to_owned)
        };
        assert_eq!(host("https://example.org/done?x=1").as_deref(), Some("example.org"));
        assert_eq!(host("https://example.org:8443#x").as_deref(), Some("example.org:8443"));
        assert_eq!(host("/done"), None);
    }

    #[test]
    fn a_form_is_open_from_its_first_instant_until_its_last() {
        let publication: Publication =
            serde_json::from_value(json!({ "opensAt": "2026-01-01T00:00:00Z", "closesAt": "2026-01-02T00:00:00Z" }))
                .unwrap();
        let at = |text: &str| publication.availability(text.parse().unwrap());
        assert_eq!(at("2025-12-31T23:59:59Z"), Availability::NotYet);
        assert_eq!(at("2026-01-01T00:00:00Z"), Availability::Open);
        assert_eq!(at("2026-01-02T00:00:00Z"), Availability::Closed);
    }
}
