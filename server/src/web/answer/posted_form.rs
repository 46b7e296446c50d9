//! The fields of a posted form, in their order. A choice of several options sends a field several times.

use crate::{problem::Problem, web::form::urlencoded};
use axum::extract::{FromRequest, Request};
use domain::{
    limit::{FORM_BYTES_MAX, SELECT_OPTIONS_MAX, VIEW_FIELDS_MAX},
    view::{Answers, Field, from_form},
};
use wire::Code;

/// Most fields of a posted form: every option of the largest form, and what its page carries.
const PAIRS_MAX: usize = VIEW_FIELDS_MAX * SELECT_OPTIONS_MAX + 100;
/// Name of the field that people leave empty.
const TRAP: &str = "_website";

/// The fields of a posted form: names and values.
#[derive(Debug, Clone, Default)]
pub struct PostedForm(Vec<(String, String)>);

impl<S: Send + Sync> FromRequest<S> for PostedForm {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let body = urlencoded(request, state).await?;
        if body.len() > FORM_BYTES_MAX {
            return Err(Problem::detailed(Code::TooLarge, format!("a form can have at most {FORM_BYTES_MAX} bytes")));
        }
        let pairs: Vec<_> = form_urlencoded::parse(&body).into_owned().take(PAIRS_MAX + 1).collect();
        if pairs.len() > PAIRS_MAX {
            return Err(Problem::detailed(Code::TooLarge, format!("a form can have at most {PAIRS_MAX} fields")));
        }
        Ok(Self(pairs))
    }
}

impl PostedForm {
    /// The value of one of the page's own fields.
    pub fn own(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The whole number in one of the page's own fields.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.own(name)?.parse().ok()
    }

    /// Whether a program filled in the field that people do not see.
    pub fn is_trapped(&self) -> bool {
        self.own(TRAP).is_some_and(|text| !text.is_empty())
    }

    /// The answers to these fields.
    pub fn answers(&self, fields: &[Field]) -> Answers {
        from_form(fields, self.0.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// All fields.
    pub fn everything(self) -> Vec<(String, String)> {
        self.0
    }
}

/// The names and values of a query.
pub fn query_pairs(query: Option<&str>) -> Vec<(String, String)> {
    form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().take(PAIRS_MAX).collect()
}
