//! Query parameters. Repeated or malformed ones are refused by name, and in the API unknown ones too.

use super::field_of;
use crate::problem::Problem;
use axum::{extract::FromRequestParts, http::request::Parts};
use domain::limit::{PAGE_DEFAULT, PAGE_MAX, SEQUENCE_MAX};
use ledger::ListPage;
use serde::{Deserialize, Deserializer, de};
use std::str::FromStr;
use wire::Code;

/// End of the message of [`domain::id::InvalidId`], the only error of a parameter with its own code.
const NOT_A_UUID: &str = "is not a UUID";

/// The parsed query of a request. In the API `T` denies unknown fields; pages ignore them.
#[derive(Debug, Clone)]
pub struct Params<T>(pub T);

impl<S, T> FromRequestParts<S> for Params<T>
where
    S: Send + Sync,
    T: de::DeserializeOwned,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parse(parts.uri.query().unwrap_or_default()).map(Self)
    }
}

fn parse<T: de::DeserializeOwned>(query: &str) -> Result<T, Problem> {
    let pairs = form_urlencoded::parse(query.as_bytes());
    serde_path_to_error::deserialize(serde_urlencoded::Deserializer::new(pairs)).map_err(|error| {
        let message = error.inner().to_string();
        let code = if message.ends_with(NOT_A_UUID) { Code::InvalidId } else { Code::InvalidRequest };
        Problem::field(code, field_of(error.path(), &message), message)
    })
}

/// Number of items on a page: 1 to [`PAGE_MAX`], by default [`PAGE_DEFAULT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub u32);

impl Default for Limit {
    fn default() -> Self {
        Self(PAGE_DEFAULT)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let limit = u32::deserialize(deserializer)?;
        if (1..=PAGE_MAX).contains(&limit) {
            Ok(Self(limit))
        } else {
            Err(de::Error::custom(format_args!("a page has 1 to {PAGE_MAX} items")))
        }
    }
}

/// The asked number of items of a list that caps it; 0 if none was named.
pub fn checked_limit(limit: Option<u32>) -> Result<u32, Problem> {
    if limit == Some(0) {
        return Err(Problem::field(Code::InvalidRequest, "limit", "at least 1"));
    }
    Ok(limit.unwrap_or_default())
}

/// The query of a list without filters.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PageQuery {
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

impl From<PageQuery> for ListPage {
    fn from(query: PageQuery) -> Self {
        Self { limit: query.limit.0, cursor: query.cursor }
    }
}

/// A sequence in a log: 0 to [`SEQUENCE_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sequence(pub u64);

impl<'de> Deserialize<'de> for Sequence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let sequence = u64::deserialize(deserializer)?;
        if sequence <= SEQUENCE_MAX {
            Ok(Self(sequence))
        } else {
            Err(de::Error::custom(format_args!("a sequence is at most {SEQUENCE_MAX}")))
        }
    }
}

/// Parses an optional id of a query.
pub fn id<'de, D: Deserializer<'de>, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: FromStr<Err = domain::id::InvalidId>,
{
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{id::SessionId, session::Status};

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Query {
        status: Option<Status>,
        #[serde(default, deserialize_with = "id")]
        parent_id: Option<SessionId>,
        after_sequence: Option<Sequence>,
        #[serde(default)]
        limit: Limit,
    }

    fn refused(query: &str) -> (Code, String) {
        let problem = parse::<Query>(query).unwrap_err();
        (problem.code(), problem.to_wire(String::new()).errors[0].field.clone())
    }

    #[test]
    fn absent_parameters_have_defaults() {
        let query: Query = parse("").unwrap();
        assert_eq!((query.limit.0, query.after_sequence), (PAGE_DEFAULT, None));
        assert!(query.status.is_none() && query.parent_id.is_none());
    }

    #[test]
    fn good_parameters_are_parsed() {
        let query: Query =
            parse("status=waiting_human&limit=1000&afterSequence=7&parentId=00000000-0000-7000-8000-000000000000")
                .unwrap();
        assert_eq!((query.limit.0, query.after_sequence), (1000, Some(Sequence(7))));
        assert!(query.status == Some(Status::WaitingHuman) && query.parent_id.is_some());
    }

    #[test]
    fn each_bad_parameter_is_named() {
        for (query, field) in [
            ("limit=0", "limit"),
            ("limit=1001", "limit"),
            ("limit=-1", "limit"),
            ("limit=ten", "limit"),
            ("limit=", "limit"),
            ("afterSequence=1.5", "afterSequence"),
            ("afterSequence=9007199254740992", "afterSequence"),
            ("status=done", "status"),
            ("limit=1&limit=2", "limit"),
            ("lmit=1", "lmit"),
            ("lmit=", "lmit"),
        ] {
            assert_eq!(refused(query), (Code::InvalidRequest, field.to_owned()), "{query}");
        }
        for bad in ["x", "00000000000070008000000000000000", "{00000000-0000-7000-8000-000000000000}"] {
            assert_eq!(refused(&format!("parentId={bad}")), (Code::InvalidId, "parentId".to_owned()), "{bad}");
        }
    }
}
