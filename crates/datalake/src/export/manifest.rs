//! What an export holds, and what it left out and why.

use super::{
    filter::{Filter, Split},
    options::{MinFeedback, Options, SessionRating},
};
use crate::record::Source;
use serde::Serialize;
use std::collections::BTreeMap;

/// The name of the file beside the data.
pub const MANIFEST_FILE: &str = "manifest.json";

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Different interactions that were read.
    pub interactions: u64,
    /// Interactions that had been captured before, and were read once more.
    pub repeated: u64,
    /// Interactions whose feedback is positive.
    pub positive: u64,
    /// Interactions whose feedback is negative.
    pub negative: u64,
    /// Interactions whose feedback is neutral.
    pub neutral: u64,
    /// Interactions about which nothing is known. Never counted as negative.
    pub unknown: u64,
    /// Of these, interactions whose session may have been rated: its ratings could not be read.
    pub unreadable_ratings: u64,
    /// Interactions that somebody edited.
    pub edited: u64,
    /// Inferred feedback that was not confident enough.
    pub doubtful: u64,
    /// Interactions that the filter left out. They are in no other count.
    pub outside: u64,
    /// Feedback on interactions that are not there.
    pub orphans: u64,
    /// Lines that could not be read.
    pub skipped_lines: u64,
    /// Interactions that have no place in this format, or not enough feedback.
    pub left_out: u64,
    /// Rows written.
    pub rows: u64,
}

/// A file of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    /// Its name.
    pub name: String,
    /// The split that it holds.
    pub split: Split,
    /// Its rows.
    pub rows: u64,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type, as Arrow writes it.
    pub r#type: &'static str,
}

/// `manifest.json`. It names no time and no machine: the same data has the same manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Of this document.
    pub schema_version: u32,
    /// `sft`, `dpo` or `kto`.
    pub format: &'static str,
    /// `jsonl` or `parquet`.
    pub file_format: &'static str,
    /// The least feedback.
    pub min_feedback: MinFeedback,
    /// Sources whose feedback counts.
    pub sources: Vec<&'static str>,
    /// The least confidence of inferred feedback, in thousandths.
    pub min_confidence: u16,
    /// Which answers a session's rating counts for.
    pub session_rating: SessionRating,
    /// Which interactions were asked for.
    pub filter: Filter,
    /// The share of sessions for validation, in thousandths.
    pub validation_share: u16,
    /// The columns of the data.
    pub columns: Vec<Column>,
    /// What was counted.
    pub counts: Counts,
    /// Of all interactions, how many nothing is known about, in thousandths.
    pub unknown_permille: u64,
    /// Interactions by where the feedback that counts came from.
    pub by_source: BTreeMap<&'static str, u64>,
    /// Secrets that were taken out, by rule. Rules that found nothing are listed with 0.
    pub redactions: BTreeMap<String, u64>,
    /// The files.
    pub files: Vec<File>,
}

impl Manifest {
    pub(super) fn new(
        options: &Options,
        counts: Counts,
        by_source: &BTreeMap<Source, u64>,
        redactions: BTreeMap<String, u64>,
        files: Vec<File>,
    ) -> Manifest {
        let columns = options.format.columns().iter().map(|(name, r#type)| Column { name, r#type }).collect();
        let unknown_permille = counts.unknown * 1_000 / counts.interactions.max(1);
        Manifest {
            schema_version: 1,
            format: options.format.as_str(),
            file_format: options.file_format.as_str(),
            min_feedback: options.min_feedback,
            sources: options.sources.iter().map(|source| source.as_str()).collect(),
            min_confidence: options.min_confidence,
            session_rating: options.session_rating,
            filter: options.filter.clone(),
            validation_share: options.validation_share,
            columns,
            counts,
            unknown_permille,
            by_source: by_source.iter().map(|(source, count)| (source.as_str(), *count)).collect(),
            redactions,
            files,
        }
    }
}
