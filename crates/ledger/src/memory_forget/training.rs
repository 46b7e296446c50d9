//! Training data of a person: the captured prompts and answers of every session in which they wrote.

use super::person::parse;
use crate::{
    Ledger, Result,
    interaction::{self, CapturedData},
};
use domain::{Scope, memory::fold};
use serde_json::Value;
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

/// The file of an export as its page names it, with its time and its id.
pub(super) fn named(options: &str, ended_at: Option<domain::Timestamp>, id: uuid::Uuid) -> String {
    let options: Value = serde_json::from_str(options).unwrap_or_default();
    let format = options["format"].as_str().unwrap_or("training data");
    let ended_at = ended_at.map(|at| at.format(" of %Y-%m-%d %H:%M UTC").to_string()).unwrap_or_default();
    format!("{format}{ended_at} (/exports/{id})")
}
