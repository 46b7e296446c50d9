//! The page with the questions of a form.

use super::{posted_form::PostedForm, site::Site};
use crate::{state::AppState, web::shell::render};
use app::form_page::{self as ui, Note, Props};
use axum::{http::StatusCode, response::Response};
use domain::{
    issue::Issue,
    view::{Answers, Field, defaults, prefill},
};
use ledger::response::Form;

/// The answers, errors and note that a form shows.
#[derive(Default)]
pub struct FilledForm {
    pub answers: Answers,
    pub issues: Vec<Issue>,
    pub note: Option<Note>,
    /// Revision of the draft that the answers are based on; 0 without a draft.
    pub rev: u64,
    /// Id of the submission that the page sends. `None` for a new one.
    pub submission_id: Option<String>,
}

impl FilledForm {
    /// The draft, or the defaults and what the link gives. `pairs` are those of the query. What they give to fields
    /// that the form does not show replaces that of the draft.
    pub fn opened(form: &Form, pairs: &[(String, String)]) -> Self {
        let given = prefill(&form.version.fields, pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let Some(draft) = &form.draft else {
            let mut answers = defaults(&form.version.fields);
            answers.extend(given);
            return Self { answers, ..Self::default() };
        };
        let mut answers = draft.answers.clone();
        // No one sees that a hidden answer is that of an earlier address.
        let is_hidden = |key: &str| form.version.fields.iter().any(|field| field.hidden && field.key == key);
        answers.extend(given.into_iter().filter(|(key, _)| is_hidden(key)));
        Self { answers, rev: draft.rev, ..Self::default() }
    }

    /// What the respondent typed, with the revision and the id that the page carried.
    pub fn typed(posted: &PostedForm, fields: &[Field]) -> Self {
        Self {
            answers: posted.answers(fields),
            rev: posted.number("_rev").unwrap_or(0),
            submission_id: posted.own("_id").map(str::to_owned),
            ..Self::default()
        }
    }

    /// What the respondent typed and sent with this id. If a save of the same answers came first, they are based on
    /// that draft.
    pub fn sent(posted: &PostedForm, form: &Form, submission_id: String) -> Self {
        let typed = Self::typed(posted, &form.version.fields);
        let saved = form.draft.as_ref().filter(|draft| draft.answers == typed.answers).map(|draft| draft.rev);
        Self { rev: saved.unwrap_or(typed.rev), submission_id: Some(submission_id), ..typed }
    }
}

/// Renders the questions.
pub async fn question_page(
    state: &AppState,
    site: Site,
    form: Form,
    shown: FilledForm,
    status: StatusCode,
) -> Response {
    let props = props(site, form, shown, || state.ledger.request_id().to_string());
    render(status, move || ui::page(&props)).await
}

fn props(site: Site, form: Form, shown: FilledForm, new_id: impl FnOnce() -> String) -> Props {
    let mut hidden = site.hidden;
    hidden.push(("_rev".into(), shown.rev.to_string()));
    hidden.push(("_version".into(), form.version.version.to_string()));
    hidden.push(("_id".into(), shown.submission_id.unwrap_or_else(new_id)));
    hidden.extend(hidden_answers(&form.version.fields, &shown.answers));
    Props {
        frame: site.frame,
        title: form.version.title,
        introduction: form.version.introduction,
        fields: form.version.fields,
        answers: shown.answers,
        issues: shown.issues,
        note: shown.note,
        action: site.action,
        has_drafts: site.has_cookies,
        hidden,
        entities: site.entities,
        asker: site.asker,
        back: site.back,
    }
}

/// The answers of fields that the form does not show, as fields that it carries.
fn hidden_answers(fields: &[Field], answers: &Answers) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut pairs = Vec::new();
    for field in fields.iter().filter(|field| field.hidden) {
        match answers.get(&field.key) {
            None => {}
            Some(serde_json::Value::Array(list)) => {
                pairs.extend(list.iter().map(|value| (field.key.clone(), text(value))));
            }
            Some(serde_json::Value::Object(rating)) => {
                pairs.extend(rating.iter().map(|(slug, value)| (format!("{}.{slug}", field.key), text(value))));
            }
            Some(value) => pairs.push((field.key.clone(), text(value))),
        }
    }
    pairs
}
