//! Training data of a person: the captured prompts and answers of every session in which they wrote.

use super::person::parse;
use crate::{
    Ledger, Result,
    interaction::{self, CapturedData, EarlierExport},
};
use domain::{Scope, memory::fold};
use std::sync::Arc;

/// Finds what is captured of the person.
pub(super) async fn find(ledger: &Ledger, scope: &Scope, person: &str) -> Result<CapturedData> {
    let path = parse(person)?.path.folded();
    let path: Arc<str> = path.into();
    interaction::find(ledger, scope.tenant_id, move |other| fold(other) == *path).await
}

/// Deletes what is captured of the person.
pub(super) async fn erase(ledger: &Ledger, scope: &Scope, person: &str) -> Result<CapturedData> {
    let found = find(ledger, scope, person).await?;
    interaction::erase(ledger, scope.tenant_id, found.sessions, None).await
}

/// An export with the places of its files, and its page.
pub(super) fn named(export: &EarlierExport) -> String {
    let page = export.id.map(|id| format!(" (/exports/{id})")).unwrap_or_default();
    format!("{}{page}", export.with_places())
}
