//! What an export is started with.

use datalake::export::Options;
use domain::Scope;
use ledger::export_job::ExportContent;

/// A request to start an export.
#[derive(Debug)]
pub struct ExportRequest {
    /// Who starts the export, and in which workspace.
    pub scope: Scope,
    /// Slug of that workspace.
    pub workspace: String,
    /// What it writes. Of labels only the file format of the options counts.
    pub content: ExportContent,
    /// Options that the person chose.
    pub options: Options,
    /// Whether this is only a preview.
    pub is_preview: bool,
    /// The options as JSON, which is stored with the export.
    pub noted: String,
}
