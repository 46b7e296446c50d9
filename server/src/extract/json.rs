//! JSON bodies. Wrong types, unknown fields and invalid JSON are refused with the position and the reason.

use super::{field_of, without_position};
use crate::problem::Problem;
use axum::{
    extract::{FromRequest, Request},
    http::{HeaderMap, header},
};
use bytes::Bytes;
use domain::decoding::{has_lone_surrogate, read_json_document};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use wire::Code;

/// A body of `application/json`, parsed.
#[derive(Debug, Clone)]
pub struct JsonBody<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let json = is_json(request.headers());
        let body = bytes_of(request).await?;
        require_json(json)?;
        parse_json(&body).map(Self)
    }
}

/// An optional JSON body.
#[derive(Debug, Clone)]
pub struct JsonBodyOrDefault<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for JsonBodyOrDefault<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let json = is_json(request.headers());
        let body = bytes_of(request).await?;
        if body.is_empty() {
            return Ok(Self(T::default()));
        }
        require_json(json)?;
        // Clients that always send JSON send `null` if they have no body.
        if body.trim_ascii() == b"null" { Ok(Self(T::default())) } else { parse_json(&body).map(Self) }
    }
}

/// The JSON of a coding agent's hook. Agents truncate texts inside a surrogate pair, and scripts add byte order marks.
/// What keeps such a body from being JSON is [repaired](domain::decoding), so that the hook is recorded.
#[derive(Debug, Clone)]
pub struct HookBody(pub Box<RawValue>);

impl<S: Send + Sync> FromRequest<S> for HookBody {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let json = is_json(request.headers());
        let body = bytes_of(request).await?;
        require_json(json)?;
        let (text, _) = read_json_document(&body);
        parse_json(text.as_bytes()).map(Self)
    }
}

/// Takes the bytes of the body without a copy. The middleware has already read them.
async fn bytes_of(request: Request) -> Result<Bytes, Problem> {
    use http_body_util::BodyExt;
    let collected = request.into_body().collect().await;
    Ok(collected.map_err(|error| Problem::internal(error.to_string()))?.to_bytes())
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.starts_with("application/") && kind.ends_with("+json")
}

fn require_json(json: bool) -> Result<(), Problem> {
    if json {
        Ok(())
    } else {
        Err(Problem::detailed(Code::UnsupportedMediaType, "send `content-type: application/json`"))
    }
}

/// Parses a body. A refused body is parsed a second time to find the position of the error.
pub fn parse_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    // serde accepts an array for a struct whose fields are all optional.
    if body.trim_ascii_start().starts_with(b"[") {
        return Err(Problem::field(Code::InvalidRequest, "body", "a JSON object, not an array"));
    }
    if has_lone_surrogate(body) {
        return Err(lone_surrogate(body));
    }
    serde_json::from_slice(body).or_else(|_| parse_with_path(body))
}

/// The problem of a body with half of a surrogate pair, such as `\ud83d` of `\ud83d\ude00`. PostgreSQL refuses it, and
/// readers of JSON disagree about it. serde finds it in a text that it decodes, but not in a document that is kept as
/// it was sent.
fn lone_surrogate(body: &[u8]) -> Problem {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    // The path at which parsing the document fails.
    match serde_path_to_error::deserialize::<_, serde_json::Value>(&mut deserializer) {
        Err(error) if error.inner().is_syntax() => {
            let message = without_position(&error.inner().to_string());
            if message.contains("surrogate") || message.contains("hex escape") {
                let path = field_of(error.path(), "");
                // A name that cannot be read is `?` in the path, so the enclosing object is named.
                let path = path.strip_suffix('?').map_or(path.as_str(), |around| around.trim_end_matches('.'));
                let path = if path.is_empty() { "body" } else { path };
                return Problem::field(Code::InvalidRequest, path, "half of a surrogate pair (\\ud800 to \\udfff)");
            }
            not_json(error.inner(), &message)
        }
        Err(error) => not_json(error.inner(), &without_position(&error.inner().to_string())),
        Ok(_) => Problem::field(Code::InvalidRequest, "body", "half of a surrogate pair (\\ud800 to \\udfff)"),
    }
}

fn parse_with_path<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let inner = error.inner();
        let message = without_position(&inner.to_string());
        if inner.is_data() {
            Problem::field(Code::InvalidRequest, field_of(error.path(), &message), message)
        } else if serde_json::from_slice::<serde_json::Value>(body).is_ok() {
            // serde_json reports a number in the place of a text as a syntax error.
            Problem::field(Code::InvalidRequest, field_of(error.path(), &message), "a string is expected here")
        } else {
            not_json(inner, &message)
        }
    })?;
    deserializer.end().map_err(|error| not_json(&error, &without_position(&error.to_string())))?;
    Ok(value)
}

fn not_json(error: &serde_json::Error, message: &str) -> Problem {
    let detail = format!("line {}, column {}: {message}", error.line(), error.column());
    Problem::detailed(Code::InvalidJson, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Problem as WireProblem, action, event};

    fn refused<T: DeserializeOwned + std::fmt::Debug>(body: &str) -> WireProblem {
        parse_json::<T>(body.as_bytes()).unwrap_err().to_wire(String::new())
    }

    #[test]
    fn a_wrong_field_is_named_by_its_path() {
        for (body, field) in [
            (r#"{"events":[{"type":"a.b"},{"type":7}]}"#, "events[1].type"),
            (r#"{"events":[{"type":"a.b","rolle":"agent"}]}"#, "events[0].rolle"),
            (r#"{"events":[{"content":"x"}]}"#, "events[0].type"),
            (r#"{"events":[{"id":"x"}]}"#, "events[0].id"),
            (r#"{"events":[{"type":"a.b","id":"0193B0A0-0000-7000-8000-0000000000E1 "}]}"#, "events[0].id"),
            (r#"{"events":[{"type":"a.b","id":7}]}"#, "events[0].id"),
            (r#"{"events":[{"type":"a.b","role":"boss"}]}"#, "events[0].role"),
            (r#"{"events":[{"type":"a.b","at":"yesterday"}]}"#, "events[0].at"),
            (r#"{"events":{}}"#, "events"),
            (r#"{"attempt":-1,"events":[]}"#, "attempt"),
            (r#"{"attempt":1,"attempt":1,"events":[]}"#, "attempt"),
            (r#"{"events":[{"type":"a.b","role":7}]}"#, "events[0].role"),
            (r#"{"events":[{"type":"a.b","role":true}]}"#, "events[0].role"),
            ("{}", "events"),
            ("[]", "body"),
            ("null", "body"),
        ] {
            let problem = refused::<event::Append>(body);
            assert_eq!(problem.code, Code::InvalidRequest, "{body}: {problem:?}");
            assert_eq!(problem.errors[0].field, field, "{body}: {problem:?}");
        }
    }

    #[test]
    fn a_wrong_option_of_a_question_is_named_by_its_path_and_what_it_can_be() {
        for (option, field, expected) in [
            ("7", "fields[0].options[1]", "a text, or an object with `value` and `label`"),
            ("null", "fields[0].options[1]", "a text, or an object with `value` and `label`"),
            ("[]", "fields[0].options[1]", "a text, or an object with `value` and `label`"),
            (r#"{"label":"x"}"#, "fields[0].options[1].value", "missing field `value`"),
            (r#"{"value":7,"label":"x"}"#, "fields[0].options[1].value", "expected a string"),
            (r#"{"value":"x","label":"x","style":"y"}"#, "fields[0].options[1].style", "unknown field `style`"),
        ] {
            let question = r#""key":"a","label":"A?","type":"single_choice""#;
            let body = format!(r#"{{"title":"T","fields":[{{{question},"options":["x",{option}]}}]}}"#);
            let problem = refused::<wire::view::CreateView>(&body);
            assert_eq!(problem.errors[0].field, field, "{option}: {problem:?}");
            assert!(problem.errors[0].message.contains(expected), "{option}: {problem:?}");
        }
        let good = r#"{"title":"T","fields":[{"key":"a","label":"A?","type":"single_choice",
            "options":["x",{"value":"y","label":"Y"}]}]}"#;
        assert!(parse_json::<wire::view::CreateView>(good.as_bytes()).is_ok());
    }

    #[test]
    fn half_of_a_surrogate_pair_is_refused_by_its_field() {
        for (body, field) in [
            (
                r#"{"events":[{"type":"a.b"},{"type":"a.b","content":[{"type":"text","text":"\ud800"}]}]}"#,
                "events[1].content[0].text",
            ),
            (r#"{"events":[{"type":"a.b","metadata":{"a":{"b":"\udc00"}}}]}"#, "events[0].metadata.a.b"),
            (r#"{"events":[{"type":"a.b","threadId":"x\ud83dy"}]}"#, "events[0].threadId"),
            (r#"{"events":[{"type":"a.b","metadata":{"\ud800":1}}]}"#, "events[0].metadata"),
        ] {
            let problem = refused::<event::Append>(body);
            assert_eq!(problem.code, Code::InvalidRequest, "{body}: {problem:?}");
            assert_eq!(problem.errors[0].field, field, "{body}: {problem:?}");
            assert!(problem.errors[0].message.contains("surrogate"), "{problem:?}");
        }
        let whole = r#"{"events":[{"type":"a.b","metadata":{"a":"\ud83d\ude00 \\ud800"}}]}"#;
        assert!(parse_json::<event::Append>(whole.as_bytes()).is_ok());
    }

    #[test]
    fn broken_json_is_refused_with_its_position() {
        for body in ["", "{", "{\"events\":[}", "{} x", "\u{0}", "{\"events\":[{\"type\":\"a.b\",\"content\":[1,]}]}"] {
            let problem = refused::<event::Append>(body);
            // A second value after the first must be a syntax error, because the text as a whole is not JSON.
            if body == "{} x" {
                continue;
            }
            assert_eq!(problem.code, Code::InvalidJson, "{body}: {problem:?}");
            assert!(problem.detail.unwrap().starts_with("line 1, column "), "{body}");
        }
        assert_eq!(refused::<action::Trigger>("{} x").code, Code::InvalidJson);
        assert_eq!(parse_json::<action::Trigger>(b"{\"input\":\"\xff\"}").unwrap_err().code(), Code::InvalidJson);
    }

    #[test]
    fn raw_documents_survive_byte_for_byte() {
        let body = r#"{"events":[{"type":"a.b","content": [ {"type":"x", "n":1.0e400} ] ,"metadata":{ "a" : 1 }}]}"#;
        let append: event::Append = parse_json(body.as_bytes()).unwrap();
        let event = &append.events[0];
        assert_eq!(event.content.as_ref().unwrap().get(), r#"[ {"type":"x", "n":1.0e400} ]"#);
        assert_eq!(event.metadata.as_ref().unwrap().get(), r#"{ "a" : 1 }"#);
    }

    #[test]
    fn json_media_types_are_recognised() {
        let is = |kind: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, kind.parse().unwrap());
            is_json(&headers)
        };
        for good in ["application/json", "Application/JSON; charset=utf-8", "application/vnd.shiftbook+json"] {
            assert!(is(good), "{good}");
        }
        for bad in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "text/json"] {
            assert!(!is(bad), "{bad}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
