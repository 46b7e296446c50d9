//! What an export is asked for, as form fields: `format`, `fileType`, `minFeedback`, `source.NAME`, `minConfidence`,
//! `sessionRating`, `since`, `until`, `agents`, `actions`, `validationShare`, `mergeRoles`, `redactEmails`,
//! `redactPersonal`.

use crate::{
    form::FormState,
    render::static_html,
    ui::field::{self, Field, Input, Select},
};
use leptos::{prelude::*, tachys::html::InertElement};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where feedback comes from: the name, and what people call it.
pub const SOURCES: [(&str, &str); 5] = [
    ("manual", "People's labels for single answers"),
    ("reviewer", "Decisions and edits of reviewers"),
    ("memory_writer", "Decisions and edits of proposals of the memory writer"),
    ("outcome_tracker", "Inferred from the next message"),
    ("session", "Ratings of whole sessions"),
];
/// In place of the name of a format: labels of memories.
pub const LABELS: &str = "labels";
const FORMATS: [(&str, &str); 3] = [
    ("sft", "SFT: answers to imitate"),
    ("dpo", "DPO: pairs of a better and a worse answer"),
    ("kto", "KTO: single answers, good or bad"),
];
const FILE_TYPES: [(&str, &str); 2] = [("jsonl", "JSON lines"), ("parquet", "Parquet")];
const LEAST: [(&str, &str); 5] = [
    ("", "The format's default"),
    ("positive", "Positive only"),
    ("neutral", "Neutral or positive"),
    ("negative", "Any feedback"),
    ("none", "All answers, also those without feedback"),
];

const MERGING: [(&str, &str); 3] =
    [("", "The format's default: one message for SFT and KTO"), ("yes", "Become one message"), ("no", "Stay apart")];
const RATINGS: [(&str, &str); 3] = [("last", "The last answer"), ("all", "All answers"), ("none", "No answer")];

/// What was chosen, by the names of the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Choice {
    /// `sft`, `dpo`, `kto` or [`LABELS`].
    pub format: String,
    /// `jsonl` or `parquet`.
    pub file_type: String,
    /// `none`, `negative`, `neutral`, `positive`, or empty for what suits the format.
    pub min_feedback: String,
    /// Names of [`SOURCES`].
    pub sources: Vec<String>,
    /// The least confidence of what was inferred, in thousandths, or empty for the usual one.
    pub min_confidence: String,
    /// `last`, `all` or `none`.
    pub session_rating: String,
    /// The first day or instant, or empty.
    pub since: String,
    /// The day or instant after the last, or empty.
    pub until: String,
    /// Slugs of agents with commas between, or empty.
    pub agents: String,
    /// Slugs or ids of actions with commas between, or empty.
    pub actions: String,
    /// The share of sessions for validation, or empty for none.
    pub validation_share: String,
    /// `yes` or `no`: whether neighbouring messages of one role become one, or empty for what suits the format.
    pub merge_roles: String,
    /// Whether e-mail addresses are taken out too.
    pub redact_emails: bool,
    /// Whether all personal data is taken out that has a form.
    pub redact_personal: bool,
}

impl Default for Choice {
    fn default() -> Self {
        Self {
            format: "sft".into(),
            file_type: "jsonl".into(),
            min_feedback: String::new(),
            sources: SOURCES.iter().map(|(name, _)| (*name).to_owned()).collect(),
            min_confidence: String::new(),
            session_rating: "last".into(),
            since: String::new(),
            until: String::new(),
            agents: String::new(),
            actions: String::new(),
            validation_share: String::new(),
            merge_roles: String::new(),
            redact_emails: true,
            redact_personal: false,
        }
    }
}

/// The fields of the form as they are sent. A field that is not sent is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChoiceFields {
    format: String,
    file_type: String,
    min_feedback: String,
    /// The checked `source.NAME`, by name.
    source: BTreeMap<String, String>,
    min_confidence: String,
    session_rating: String,
    since: String,
    until: String,
    agents: String,
    actions: String,
    validation_share: String,
    merge_roles: String,
    /// Present if the box is checked.
    redact_emails: Option<String>,
    /// Present if the box is checked.
    redact_personal: Option<String>,
}

impl From<ChoiceFields> for Choice {
    fn from(fields: ChoiceFields) -> Self {
        let trimmed = |text: String| text.trim().to_owned();
        Self {
            format: fields.format,
            file_type: fields.file_type,
            min_feedback: fields.min_feedback,
            sources: fields.source.into_keys().collect(),
            min_confidence: trimmed(fields.min_confidence),
            session_rating: trimmed(fields.session_rating),
            since: trimmed(fields.since),
            until: trimmed(fields.until),
            agents: trimmed(fields.agents),
            actions: trimmed(fields.actions),
            validation_share: trimmed(fields.validation_share),
            merge_roles: trimmed(fields.merge_roles),
            redact_emails: fields.redact_emails.is_some(),
            redact_personal: fields.redact_personal.is_some(),
        }
    }
}

fn options(offered: &[(&str, &str)]) -> Vec<(String, String)> {
    offered.iter().map(|(value, label)| ((*value).to_owned(), (*label).to_owned())).collect()
}

/// The fields that choose.
pub(super) fn fields(choice: &Choice, form: &FormState) -> impl IntoView + use<> {
    // A box that is not checked is not sent, so a refused form says which are.
    let is_checked = |field: &str, start: bool| match form.is_refused() {
        true => form.value(field).is_some(),
        false => start,
    };
    let (emails, personal) =
        (is_checked("redactEmails", choice.redact_emails), is_checked("redactPersonal", choice.redact_personal));
    let sources = SOURCES
        .iter()
        .map(|(name, label)| {
            let field = format!("source.{name}");
            let chosen = is_checked(&field, choice.sources.iter().any(|source| source == name));
            view! {
                <li><field::Choice name=field checked=chosen>{*label}</field::Choice></li>
            }
        })
        .collect::<Vec<_>>();
    let error = form.error("source").map(|message| view! { <p class="field-error">{message.to_owned()}</p> });
    view! {
        <div class="form-row">
            <Select scope="export" field=Field::new("format", "Format") options=options(&FORMATS) value=&choice.format form=form/>
            <Select scope="export" field=Field::new("fileType", "File") options=options(&FILE_TYPES) value=&choice.file_type form=form/>
            <Select scope="export" field=Field::new("minFeedback", "Minimum feedback") options=options(&LEAST) value=&choice.min_feedback form=form/>
        </div>
        <fieldset class="field export-sources">
            <legend class="field-label">"Use feedback from"</legend>
            <ul>{sources}</ul>
            {error}
            <p class="field-hint">"Feedback from other sources is ignored. Missing feedback and skipped ratings never count as negative."</p>
        </fieldset>
        <div class="form-row">
            <Select scope="export" field=Field::new("sessionRating", "A session's rating counts for") options=options(&RATINGS) value=&choice.session_rating form=form/>
            {text("minConfidence", "Inferred: least confidence", "0 to 1000; usually 900", &choice.min_confidence, form)}
            {text("validationShare", "Share for validation", "Of all sessions, such as 0.1", &choice.validation_share, form)}
        </div>
        <div class="form-row">
            {text("since", "Answered on or after (UTC)", "A day such as 2026-02-01", &choice.since, form)}
            {text("until", "Answered before (UTC)", "The day after the last day to include", &choice.until, form)}
        </div>
        <div class="form-row">
            {text("agents", "Agents", "Slugs, with commas between", &choice.agents, form)}
            {text("actions", "Tasks", "Slugs or ids, with commas between", &choice.actions, form)}
        </div>
        <Select
            scope="export"
            field=Field::new("mergeRoles", "Neighbouring messages of one role")
                .hint("Many models refuse conversations whose roles do not alternate.")
            options=options(&MERGING)
            value=&choice.merge_roles
            form=form
        />
        <div class="choices">
            <field::Choice name="redactEmails" checked=emails>"Also remove e-mail addresses"</field::Choice>
            <field::Choice name="redactPersonal" checked=personal>
                "Also remove telephone, account and card numbers"
            </field::Choice>
        </div>
    }
}

/// The fields of an export of labels of memories.
pub(super) fn label_fields(choice: &Choice, form: &FormState) -> impl IntoView + use<> {
    view! { <Select scope="labels" field=Field::new("fileType", "File") options=options(&FILE_TYPES) value=&choice.file_type form=form/> }
}

fn text(name: &'static str, label: &'static str, hint: &'static str, chosen: &str, form: &FormState) -> InertElement {
    static_html(view! { <Input scope="export" field=Field::new(name, label).hint(hint) value=chosen form=form/> })
}

/// The same choice once more, for a form that asks nothing.
pub(super) fn hidden(choice: &Choice) -> impl IntoView + use<> {
    let mut fields = vec![
        ("format".to_owned(), choice.format.clone()),
        ("fileType".to_owned(), choice.file_type.clone()),
        ("minFeedback".to_owned(), choice.min_feedback.clone()),
    ];
    fields.extend(choice.sources.iter().map(|source| (format!("source.{source}"), "on".to_owned())));
    let texts = [
        ("minConfidence", &choice.min_confidence),
        ("sessionRating", &choice.session_rating),
        ("since", &choice.since),
        ("until", &choice.until),
        ("agents", &choice.agents),
        ("actions", &choice.actions),
        ("validationShare", &choice.validation_share),
        ("mergeRoles", &choice.merge_roles),
    ];
    fields.extend(texts.map(|(name, value)| (name.to_owned(), value.clone())));
    for (name, is_on) in [("redactEmails", choice.redact_emails), ("redactPersonal", choice.redact_personal)] {
        fields.extend(is_on.then(|| (name.to_owned(), "on".to_owned())));
    }
    fields.into_iter().map(|(name, value)| view! { <input type="hidden" name=name value=value/> }).collect::<Vec<_>>()
}
