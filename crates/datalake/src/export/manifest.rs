//! The manifest of an export: its options, its files, and how many interactions it left out and why.

use super::{
    filter::{Filter, Split},
    options::{MinFeedback, Options, SessionRating},
};
use crate::record::Source;
use serde::Serialize;
use std::collections::BTreeMap;

/// Name of the manifest's file.
pub const MANIFEST_FILE: &str = "manifest.json";

/// The counts of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Interactions that were read and selected by the filter. Repeated ones count once.
    pub interactions: u64,
    /// Lines that repeat an interaction.
    pub repeated: u64,
    /// Interactions whose feedback is positive.
    pub positive: u64,
    /// Interactions whose feedback is negative.
    pub negative: u64,
    /// Interactions whose feedback is neutral.
    pub neutral: u64,
    /// Interactions without feedback. They are never counted as negative.
    pub unknown: u64,
    /// Interactions without feedback whose session's rating could not be read.
    pub unreadable_ratings: u64,
    /// Interactions whose answer someone edited.
    pub edited: u64,
    /// Inferred feedback below the least confidence, which was ignored.
    pub doubtful: u64,
    /// Interactions that the filter left out. No other count of interactions includes them.
    pub outside: u64,
    /// Feedback on interactions that do not exist.
    pub orphans: u64,
    /// Lines and files that could not be read.
    pub skipped_lines: u64,
    /// Interactions that make no row in this format, or lack the least feedback.
    pub left_out: u64,
    /// Rows that were written.
    pub rows: u64,
    /// Rows among them in which neighbouring messages of one role were merged.
    pub merged_rows: u64,
}

/// A data file of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    /// Name of the file.
    pub name: String,
    /// Split of its rows.
    pub split: Split,
    /// Number of rows.
    pub rows: u64,
    /// Length of the file, bytes.
    pub bytes: u64,
    /// SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
}

/// A column of the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Name of the column.
    pub name: &'static str,
    /// Type of the column, in Arrow's notation.
    pub r#type: &'static str,
}

/// The content of `manifest.json`. It contains no time and no machine, so that the same data has the same
/// manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Version of the manifest's format.
    pub schema_version: u32,
    /// `sft`, `dpo` or `kto`.
    pub format: &'static str,
    /// `jsonl` or `parquet`.
    pub file_format: &'static str,
    /// Least feedback of exported answers.
    pub min_feedback: MinFeedback,
    /// Sources whose feedback was used.
    pub sources: Vec<&'static str>,
    /// Least confidence of inferred feedback, in thousandths.
    pub min_confidence: u16,
    /// Answers of a session to which its rating applies.
    pub session_rating: SessionRating,
    /// Filter of the interactions.
    pub filter: Filter,
    /// Share of sessions for validation, in thousandths.
    pub validation_share: u16,
    /// Whether neighbouring messages of one role were merged.
    pub merge_roles: bool,
    /// Columns of the data.
    pub columns: Vec<Column>,
    /// Counts of the export.
    pub counts: Counts,
    /// Share of interactions without feedback, in thousandths.
    pub unknown_permille: u64,
    /// Number of interactions by the source of the feedback that was used.
    pub by_source: BTreeMap<&'static str, u64>,
    /// Number of replaced secrets by rule. The product's own rules that found nothing are listed with 0.
    pub redactions: BTreeMap<String, u64>,
    /// Data files of the export.
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
            merge_roles: options.merge_roles,
            columns,
            counts,
            unknown_permille,
            by_source: by_source.iter().map(|(source, count)| (source.as_str(), *count)).collect(),
            redactions,
            files,
        }
    }
}
