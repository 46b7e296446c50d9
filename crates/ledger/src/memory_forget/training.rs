//! Training data of a person: the captured prompts and answers of every session in which they wrote.

use super::{find::Forgetting, person::parse};
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
    interaction::erase(ledger, scope.tenant_id, found.sessions).await
}

/// Adds what is captured to the answer, and names the exports whose files can have it.
pub(super) fn add(answer: &mut Forgetting, found: CapturedData) {
    let CapturedData { sessions, interactions, exports } = found;
    answer.captured_sessions = sessions;
    answer.interactions = interactions;
    if interactions == 0 {
        return;
    }
    answer.kept.push(match exports.is_empty() {
        true => "No export of the last 50 was written since their first answer was captured.".to_owned(),
        false => {
            let names: Vec<_> = exports.iter().map(|job| named(&job.options, job.ended_at, job.id)).collect();
            format!("Files of earlier exports can have these answers and are not changed: {}.", names.join("; "))
        }
    });
    answer.kept.push("Files that `shiftbook export` wrote are not recorded. Look for them where it was run.".into());
}

/// The file of an export as its page names it, with its time and its id.
fn named(options: &str, ended_at: Option<domain::Timestamp>, id: uuid::Uuid) -> String {
    let options: Value = serde_json::from_str(options).unwrap_or_default();
    let format = options["format"].as_str().unwrap_or("training data");
    let ended_at = ended_at.map(|at| at.format(" of %Y-%m-%d %H:%M UTC").to_string()).unwrap_or_default();
    format!("{format}{ended_at} (/exports/{id})")
}
