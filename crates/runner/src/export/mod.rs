//! Exports of training data. People start them on a page; operators on the command line, which uses [`dump`],
//! [`dump_whole`] and [`rating`] directly.

mod exports;
mod job;
mod labels;
mod rating;
mod streams;

pub use exports::{Busy, EXPORTS_KEPT_MAX, EXPORTS_RUNNING_MAX, Exports, Known};
pub use job::{ExportFile, ExportRequest, Job, Stage};
pub use rating::{Rated, rating};
pub use streams::{DumpError, dump, dump_whole};

use domain::{Scope, role::Permission};
use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};

/// Refuses callers who may not export, because an export contains the messages of everyone.
///
/// # Errors
/// [`ledger::Error::Forbidden`] for everyone who may not manage sessions that others started.
pub fn permit(scope: &Scope) -> ledger::Result<()> {
    if scope.may(Permission::ManageSessions) {
        return Ok(());
    }
    Err(ledger::Error::Forbidden("only operators and admins can export training data"))
}

/// Returns a builder of temporary folders that only their owner can read.
pub fn private_folder(prefix: &str) -> tempfile::Builder<'_, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).permissions(Permissions::from_mode(private::FOLDER_MODE));
    builder
}
