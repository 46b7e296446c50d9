//! The exports whose files can have captured data: those that were begun since it was captured.
//!
//! The audit list has every export of a page, of the API and of `shiftbook export`. Exports from before there was that
//! list are in the records of exports only.

use crate::{Ledger, Result, export_job::ExportContent};
use chrono::TimeDelta;
use domain::{
    Timestamp,
    audit::{Kind, TargetKind},
    id::TenantId,
    interaction::ExportState,
    limit::{EXPORT_HOURS_MAX, EXPORT_JOBS_REMEMBERED, FORGET_EXPORTS_MAX},
};
use serde_json::Value;
use std::{cmp::Reverse, collections::HashMap};
use store::{
    Access, Conn, EntryRecord,
    audit::EntryFilter,
    export_job::{self, ExportJobRecord},
};
use uuid::Uuid;

/// An export whose files can have captured data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierExport {
    /// Id of an export that was begun on a page; `None` for one of `shiftbook export`.
    pub id: Option<Uuid>,
    /// Time it began (UTC).
    pub begun_at: Timestamp,
    /// What was exported, with the filter, and who did it when.
    pub words: String,
    /// Folder into which `shiftbook export` wrote, and downloads of the files of a page.
    pub places: Vec<String>,
}

impl EarlierExport {
    /// The export with the places of its files, for admins.
    pub fn with_places(&self) -> String {
        let places: String = self.places.iter().map(|place| format!(", {place}")).collect();
        format!("{}{places}", self.words)
    }
}

/// The newest [`FORGET_EXPORTS_MAX`] exports that can have data captured since this time, newest first. None without a
/// time.
pub(super) async fn since(
    ledger: &Ledger,
    tenant_id: TenantId,
    since: Option<Timestamp>,
) -> Result<Vec<EarlierExport>> {
    let Some(since) = since else { return Ok(Vec::new()) };
    let read = ledger.store().read(Access::System, async move |conn| found(conn, tenant_id, since).await);
    Ok(read.await?)
}

async fn found(conn: &mut Conn<'_>, tenant_id: TenantId, since: Timestamp) -> store::Result<Vec<EarlierExport>> {
    // An export that began before can have read what was captured while it ran.
    let after = Some(since - TimeDelta::hours(EXPORT_HOURS_MAX));
    let of = |kind| EntryFilter { kind: Some(kind), after, ..EntryFilter::default() };
    let begun = store::audit::list(conn, tenant_id, &of(Kind::ExportStarted), None, FORGET_EXPORTS_MAX).await?.items;
    let downloads = store::audit::list(conn, tenant_id, &of(Kind::ExportDownloaded), None, FORGET_EXPORTS_MAX).await?;
    let jobs = export_job::list(conn, tenant_id, EXPORT_JOBS_REMEMBERED).await?;
    let names = names(conn, tenant_id).await?;
    let download = |id: Uuid| -> Vec<String> {
        let of_export = downloads.items.iter().filter(|entry| id_of(entry) == Some(id));
        let words =
            of_export.map(|entry| format!("downloaded by {} {}", called(&names, entry.actor.as_deref()), on(entry.at)));
        words.collect()
    };
    let mut exports = Vec::new();
    for entry in &begun {
        let detail: Value = serde_json::from_str(&entry.detail).unwrap_or_default();
        let job = jobs.iter().find(|job| id_of(entry) == Some(job.id));
        let can_have = job.map_or(id_of(entry).is_none() || entry.at >= since, |job| may_have(job, since));
        if !can_have || detail["what"] == ExportContent::Labels.as_str() || detail["options"]["preview"] == true {
            continue;
        }
        let by = called(&names, entry.actor.as_deref());
        let folder = detail["folder"].as_str().map(|folder| format!("written into {folder}"));
        exports.push(EarlierExport {
            id: id_of(entry),
            begun_at: entry.at,
            words: format!("{} by {by} {}", what(detail["what"].as_str(), &detail["options"]), on(entry.at)),
            places: folder.into_iter().chain(id_of(entry).into_iter().flat_map(download)).collect(),
        });
    }
    for job in jobs.iter().filter(|job| !begun.iter().any(|entry| id_of(entry) == Some(job.id))) {
        let options: Value = serde_json::from_str(&job.options).unwrap_or_default();
        let has_texts = options["preview"] != true && options["format"] != ExportContent::Labels.as_str();
        if has_texts && may_have(job, since) {
            let by = called(&names, Some(&job.asked_by));
            let words = format!("{} by {by} {}", what(None, &options), on(job.begun_at));
            exports.push(EarlierExport { id: Some(job.id), begun_at: job.begun_at, words, places: download(job.id) });
        }
    }
    exports.sort_by_key(|export| Reverse(export.begun_at));
    exports.truncate(FORGET_EXPORTS_MAX as usize);
    Ok(exports)
}

/// Whether the files of an export can have what was captured at this time.
fn may_have(job: &ExportJobRecord, since: Timestamp) -> bool {
    match job.state {
        // It may have read the data.
        ExportState::Running => true,
        ExportState::Done => job.ended_at.is_none_or(|ended_at| ended_at >= since),
        _ => false,
    }
}

/// The export that an entry is about.
fn id_of(entry: &EntryRecord) -> Option<Uuid> {
    entry.target.filter(|(kind, _)| *kind == TargetKind::Export).map(|(_, id)| id)
}

/// What was exported: `training data (sft, agents scout, since 2026-11-01)`.
fn what(what: Option<&str>, options: &Value) -> String {
    let kind = if what == Some(ExportContent::Raw.as_str()) { "captured prompts and answers" } else { "training data" };
    let parts =
        [("format", ""), ("agents", "agents "), ("actions", "tasks "), ("since", "since "), ("until", "until ")];
    let parts = parts.into_iter().filter_map(|(key, word)| {
        let value = options[key].as_str().filter(|value| !value.is_empty())?;
        Some(format!("{word}{value}"))
    });
    let parts: Vec<_> = parts.collect();
    if parts.is_empty() { kind.to_owned() } else { format!("{kind} ({})", parts.join(", ")) }
}

fn on(at: Timestamp) -> String {
    at.format("on %Y-%m-%d at %H:%M UTC").to_string()
}

/// Names of people and tokens, by their actors.
async fn names(conn: &mut Conn<'_>, tenant_id: TenantId) -> store::Result<HashMap<String, String>> {
    let members = store::user::members(conn, tenant_id).await?;
    let tokens = store::token::list(conn, tenant_id, None).await?;
    let people = members.iter().map(|member| (format!("user:{}", member.user_id), member.display_name().to_owned()));
    let tokens = tokens.into_iter().map(|token| (format!("token:{}", token.id), format!("the token {}", token.name)));
    Ok(people.chain(tokens).collect())
}

fn called(names: &HashMap<String, String>, actor: Option<&str>) -> String {
    match actor {
        Some("system") => "the operator of the server".to_owned(),
        Some(actor) => names.get(actor).cloned().unwrap_or_else(|| actor.to_owned()),
        None => "someone unknown".to_owned(),
    }
}
