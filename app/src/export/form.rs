//! What an export is asked for, as form fields: `format`, `fileType`, `minFeedback`, `source.NAME`, `redactEmails`.

use crate::{
    form::FormState,
    ui::field::{Field, select},
};
use leptos::prelude::*;

/// Where feedback comes from: the name, and what people call it.
pub const SOURCES: [(&str, &str); 4] = [
    ("manual", "Labels that people gave single answers"),
    ("reviewer", "Decisions and edits of reviewers"),
    ("outcome_tracker", "Inferred from the next message"),
    ("session", "Ratings of whole sessions"),
];
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

/// What was chosen, by the names of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// `sft`, `dpo` or `kto`.
    pub format: String,
    /// `jsonl` or `parquet`.
    pub file_type: String,
    /// `none`, `negative`, `neutral`, `positive`, or empty for what suits the format.
    pub min_feedback: String,
    /// Names of [`SOURCES`].
    pub sources: Vec<String>,
    /// Whether e-mail addresses are taken out too.
    pub redact_emails: bool,
}

impl Default for Choice {
    fn default() -> Self {
        Self {
            format: "sft".into(),
            file_type: "jsonl".into(),
            min_feedback: String::new(),
            sources: SOURCES.iter().map(|(name, _)| (*name).to_owned()).collect(),
            redact_emails: true,
        }
    }
}

fn options(offered: &[(&str, &str)]) -> Vec<(String, String)> {
    offered.iter().map(|(value, label)| ((*value).to_owned(), (*label).to_owned())).collect()
}

/// The fields that choose.
pub(super) fn fields(choice: &Choice, form: &FormState) -> impl IntoView + use<> {
    let sources = SOURCES
        .iter()
        .map(|(name, label)| {
            let (id, field) = (format!("export-source-{name}"), format!("source.{name}"));
            let chosen = choice.sources.iter().any(|source| source == name);
            view! {
                <li>
                    <input type="checkbox" id=id.clone() name=field value="on" checked=chosen/>
                    <label for=id>{*label}</label>
                </li>
            }
        })
        .collect::<Vec<_>>();
    let error = form.error("source").map(|message| view! { <p class="field-error">{message.to_owned()}</p> });
    view! {
        <div class="form-row">
            {select("export", Field::new("format", "Format"), options(&FORMATS), &choice.format, form)}
            {select("export", Field::new("fileType", "File"), options(&FILE_TYPES), &choice.file_type, form)}
            {select("export", Field::new("minFeedback", "Minimum feedback"), options(&LEAST), &choice.min_feedback, form)}
        </div>
        <fieldset class="field export-sources">
            <legend class="field-label">"Use feedback from"</legend>
            <ul>{sources}</ul>
            {error}
            <p class="field-hint">"Feedback from other sources is ignored. Missing feedback and skipped ratings never count as negative."</p>
        </fieldset>
        <div class="field export-emails">
            <input type="checkbox" id="export-emails" name="redactEmails" value="on" checked=choice.redact_emails/>
            <label for="export-emails">"Also remove e-mail addresses"</label>
        </div>
    }
}

/// The same choice once more, for a form that asks nothing.
pub(super) fn hidden(choice: &Choice) -> impl IntoView + use<> {
    let mut fields = vec![
        ("format".to_owned(), choice.format.clone()),
        ("fileType".to_owned(), choice.file_type.clone()),
        ("minFeedback".to_owned(), choice.min_feedback.clone()),
    ];
    fields.extend(choice.sources.iter().map(|source| (format!("source.{source}"), "on".to_owned())));
    if choice.redact_emails {
        fields.push(("redactEmails".to_owned(), "on".to_owned()));
    }
    fields.into_iter().map(|(name, value)| view! { <input type="hidden" name=name value=value/> }).collect::<Vec<_>>()
}
