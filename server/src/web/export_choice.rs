//! What was chosen on /export: as options, and as it is remembered.

use crate::export_options::{confidence, instant, share, yes_or_no};
use app::export::{Choice, LABELS};
use datalake::{
    Source,
    export::{FileFormat, Format, MinFeedback, Options, SHARE_WHOLE, SessionRating},
};
use domain::Timestamp;
use ledger::export_job::ExportJobRecord;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A field of the form, and what would be right in it.
pub type Refused = (&'static str, String);

/// What was chosen, or the field that is wrong and what would be right.
pub fn options(choice: &Choice) -> Result<Options, Refused> {
    let format = Format::parse(&choice.format).ok_or_else(|| ("format", "sft, dpo or kto".to_owned()))?;
    let file = FileFormat::parse(&choice.file_type).ok_or_else(|| ("fileType", "jsonl or parquet".to_owned()))?;
    let mut options = Options::new(format, file);
    if !choice.min_feedback.is_empty() {
        options.min_feedback = MinFeedback::parse(&choice.min_feedback)
            .ok_or_else(|| ("minFeedback", "none, negative, neutral or positive".to_owned()))?;
    }
    let sources = choice.sources.iter().map(|name| Source::parse(name)).collect::<Option<_>>();
    options.sources =
        sources.ok_or_else(|| ("source", "manual, outcome_tracker, reviewer, memory_writer or session".to_owned()))?;
    if !choice.min_confidence.is_empty() {
        options.min_confidence = confidence(&choice.min_confidence).map_err(|right| ("minConfidence", right))?;
    }
    if !choice.session_rating.is_empty() {
        options.session_rating = SessionRating::parse(&choice.session_rating)
            .ok_or_else(|| ("sessionRating", "last, all or none".to_owned()))?;
    }
    options.filter.since = typed_instant("since", &choice.since)?;
    options.filter.until = typed_instant("until", &choice.until)?;
    options.filter.agents = names(&choice.agents);
    options.filter.actions = names(&choice.actions);
    if !choice.validation_share.is_empty() {
        options.validation_share = share(&choice.validation_share).map_err(|right| ("validationShare", right))?;
    }
    if !choice.merge_roles.is_empty() {
        options.merge_roles = yes_or_no(&choice.merge_roles).map_err(|right| ("mergeRoles", right))?;
    }
    options.personal.emails = choice.redact_emails;
    options.personal.all = choice.redact_personal;
    Ok(options)
}

fn typed_instant(field: &'static str, text: &str) -> Result<Option<Timestamp>, Refused> {
    if text.is_empty() { Ok(None) } else { instant(text).map(Some).map_err(|right| (field, right)) }
}

fn names(text: &str) -> BTreeSet<String> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The requested export, by name.
pub fn resolved(options: &Options) -> Choice {
    let instant = |at: Option<Timestamp>| at.map(|at| at.to_rfc3339()).unwrap_or_default();
    let names = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
    let share = f64::from(options.validation_share) / f64::from(SHARE_WHOLE);
    Choice {
        format: options.format.as_str().to_owned(),
        file_type: options.file_format.as_str().to_owned(),
        min_feedback: options.min_feedback.as_str().to_owned(),
        sources: options.sources.iter().map(|source| source.as_str().to_owned()).collect(),
        min_confidence: options.min_confidence.to_string(),
        session_rating: options.session_rating.as_str().to_owned(),
        since: instant(options.filter.since),
        until: instant(options.filter.until),
        agents: names(&options.filter.agents),
        actions: names(&options.filter.actions),
        validation_share: share.to_string(),
        merge_roles: if options.merge_roles { "yes" } else { "no" }.to_owned(),
        redact_emails: options.personal.emails,
        redact_personal: options.personal.all,
    }
}

/// An export of labels of memories, by name.
pub fn labels_choice(file: FileFormat) -> Choice {
    Choice { format: LABELS.to_owned(), file_type: file.as_str().to_owned(), ..Choice::default() }
}

/// The choice of an export as it is remembered. What an earlier version did not remember is as usual.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StoredChoice {
    #[serde(flatten)]
    choice: Choice,
    preview: bool,
}

/// Serializes what was chosen, for [`remembered`] to read it back.
pub fn choice_json(choice: &Choice, preview: bool) -> String {
    // Names and flags are always JSON.
    serde_json::to_string(&StoredChoice { choice: choice.clone(), preview }).unwrap_or_default()
}

/// What was chosen for an export that is remembered, and whether it only looked.
pub fn remembered(job: &ExportJobRecord) -> (Choice, bool) {
    let StoredChoice { choice, preview } = serde_json::from_str(&job.options).unwrap_or_default();
    (choice, preview)
}

/// What an export is, for people.
pub fn title_of(choice: &Choice, is_preview: bool) -> String {
    let what = if choice.format == LABELS { "Labels of memories".to_owned() } else { choice.format.to_uppercase() };
    let file = if choice.file_type == FileFormat::Jsonl.as_str() { "JSON lines" } else { "Parquet" };
    let look = if is_preview { "Preview of " } else { "" };
    format!("{look}{what} as {file}")
}
