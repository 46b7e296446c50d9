//! /export and /exports/{id}: training data, for operators and admins.

use super::{
    export_choice::{labels_choice, remembered, resolved, title_of},
    shell::{PageRejection, Viewer, render},
};
use crate::{extract::Params, problem::Problem, state::AppState};
use app::export::{self as ui, Choice, Entry, JobProps, Pair, Props};
use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    http::{Method, StatusCode, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use datalake::{
    Message, Role,
    export::{FileFormat, LabelCounts, Preview, Progress, Row, Split},
};
use domain::{Scope, count::counted, interaction::ExportState, message::ToolCall};
use ledger::export_job::{self, ExportContent, ExportJobRecord};
use runner::export::{EXPORTS_KEPT_MAX, ExportFile, Job, Known, Stage, permit};
use serde::Deserialize;
use std::sync::Arc;
use tokio::{fs::File, io::AsyncReadExt as _};
use wire::Code;

/// Bytes of a file that are read at once.
const CHUNK: usize = 64 * 1024;
/// Longest text of a first row that is shown, characters.
const SHOWN_CHARS_MAX: usize = 2_000;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/export", get(choose))
        .route("/exports/{id}", get(show))
        .route("/exports/{id}/progress", get(progress))
        .route("/exports/{id}/file", get(file))
        .route("/exports/{id}/manifest", get(manifest))
}

async fn choose(State(state): State<AppState>, viewer: Viewer) -> Result<Response, PageRejection> {
    let entries = state.exports.list(&state.ledger, &viewer.scope).await?.iter().map(entry).collect();
    let form = viewer.form.clone();
    let props = Props { choice: Choice::default(), form, entries, kept_max: EXPORTS_KEPT_MAX };
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

/// What was chosen for an export, by name.
fn choice_of(job: &Job) -> Choice {
    match job.content {
        ExportContent::Labels => labels_choice(job.options.file_format),
        ExportContent::Training | ExportContent::Raw => resolved(&job.options),
    }
}

fn title(job: &Job) -> String {
    title_of(&choice_of(job), job.is_preview)
}

fn rows_of(job: &ExportJobRecord) -> u64 {
    let counts: Option<serde_json::Value> = job.counts.as_deref().and_then(|counts| serde_json::from_str(counts).ok());
    counts.and_then(|counts| counts["rows"].as_u64()).unwrap_or_default()
}

/// One export in the list.
fn entry(known: &Known) -> Entry {
    match known {
        Known::Here(job) => Entry {
            id: job.id.to_string(),
            title: title(job),
            state: match job.stage() {
                Stage::Collecting | Stage::Working(_) | Stage::Labelling(_) => "Running".to_owned(),
                Stage::Done(preview) => format!("Done, {}", counted(preview.manifest.counts.rows, "row")),
                Stage::Labelled(counts, _) => format!("Done, {}", counted(counts.rows, "row")),
                Stage::Stopped => "Stopped".to_owned(),
                Stage::Failed(_) => "Failed".to_owned(),
            },
            begun_at: job.begun_at,
        },
        Known::Recorded { job, .. } => {
            let (choice, is_preview) = remembered(job);
            let state = match job.state {
                ExportState::Running => "On another server, or interrupted".to_owned(),
                ExportState::Done => format!("Done, {}; no longer available here", counted(rows_of(job), "row")),
                ExportState::Stopped => "Stopped".to_owned(),
                ExportState::Failed => "Failed".to_owned(),
            };
            Entry { id: job.id.to_string(), title: title_of(&choice, is_preview), state, begun_at: job.begun_at }
        }
    }
}

/// What became of an export that this server does not have.
fn unavailable_text(job: &ExportJobRecord, is_own: bool, is_preview: bool) -> String {
    match job.state {
        ExportState::Running => {
            "Another server started this export, or this server restarted since. The export may still run \
            on the other server. This server has no result of it."
                .to_owned()
        }
        ExportState::Done => {
            let what = if is_preview { "Its result" } else { "Its file" };
            let why = if is_own { "was removed to make room for newer ones" } else { "was on another server" };
            format!(
                "The export was done, with {}. {what} {why}. An export of the same data gives the same result again.",
                counted(rows_of(job), "row")
            )
        }
        ExportState::Stopped => "The export was stopped. No file was written.".to_owned(),
        ExportState::Failed => {
            format!(
                "The export failed: {}. No file was written.",
                job.error.as_deref().unwrap_or("the reason is unknown")
            )
        }
    }
}

/// Returns an export whose files this server has, or of which it has the progress.
pub fn found(state: &AppState, scope: &Scope, id: &str) -> Result<Arc<Job>, Problem> {
    permit(scope)?;
    let job = match id.parse() {
        Ok(id) => state.exports.find(scope, id)?,
        Err(_) => None,
    };
    job.ok_or_else(|| {
        let why = "this server does not have that export, or not any more; export again on its page";
        Problem::detailed(Code::NotFound, why)
    })
}

fn job_of(job: &Job) -> ui::Job {
    let running = |doing, done, total| ui::Stage::Running { doing, done, total };
    let stage = match job.stage() {
        Stage::Collecting => running("Collecting", 0, None),
        Stage::Working(Progress::Read(done)) => running("Interactions read", done, None),
        Stage::Working(Progress::Matched(done, total)) => running("Interactions matched", done, Some(total)),
        Stage::Working(Progress::Written(done, total)) => running("Rows written", done, Some(total)),
        Stage::Labelling(done) => running("Rows written", done, None),
        Stage::Done(_) | Stage::Labelled(..) => ui::Stage::Done,
        Stage::Stopped => ui::Stage::Stopped,
        Stage::Failed(error) => ui::Stage::Failed(error),
    };
    let file = |split| job.file(split).map(|file| (file.name, file.bytes));
    let (file, validation) = (file(Split::Train), file(Split::Validation));
    ui::Job { id: job.id.to_string(), title: title(job), stage, file, validation }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(id): Path<String>,
) -> Result<Response, PageRejection> {
    permit(&viewer.scope)?;
    let missing = || Problem::detailed(Code::NotFound, "there is no such export; only the newest are listed");
    let id = id.parse().map_err(|_| missing())?;
    let props = match state.exports.read(&state.ledger, &viewer.scope, id).await?.ok_or_else(missing)? {
        Known::Here(job) => job_props(&job),
        Known::Recorded { job, is_own } => unavailable_props(&job, is_own),
    };
    Ok(render(StatusCode::OK, move || ui::job_page(&viewer.shell, props)).await)
}

fn job_props(job: &Job) -> JobProps {
    let (counts, redactions, pairs) = match job.stage() {
        Stage::Done(preview) => {
            let redactions = preview.manifest.redactions.iter().map(|(rule, count)| (rule.clone(), *count)).collect();
            (counts(&preview), redactions, preview.samples.iter().map(pair).collect())
        }
        Stage::Labelled(counts, _) => (label_counts(&counts), Vec::new(), Vec::new()),
        _ => (Vec::new(), Vec::new(), Vec::new()),
    };
    let choice = choice_of(job);
    JobProps { job: job_of(job), choice, is_preview: job.is_preview, counts, redactions, pairs }
}

fn unavailable_props(job: &ExportJobRecord, is_own: bool) -> JobProps {
    let (choice, is_preview) = remembered(job);
    let stage = ui::Stage::Gone(unavailable_text(job, is_own, is_preview));
    let shown =
        ui::Job { id: job.id.to_string(), title: title_of(&choice, is_preview), stage, file: None, validation: None };
    JobProps { job: shown, choice, is_preview, counts: Vec::new(), redactions: Vec::new(), pairs: Vec::new() }
}

fn counts(preview: &Preview) -> Vec<(&'static str, u64)> {
    let counts = &preview.manifest.counts;
    vec![
        ("Rows", counts.rows),
        ("Interactions", counts.interactions),
        ("Positive", counts.positive),
        ("Negative", counts.negative),
        ("Neutral", counts.neutral),
        ("Unknown", counts.unknown),
        ("Ratings that do not read", counts.unreadable_ratings),
        ("Edited", counts.edited),
        ("Inferred, not confident", counts.doubtful),
        ("Outside of the filter", counts.outside),
        ("Left out", counts.left_out),
        ("Lines that do not read", counts.skipped_lines),
    ]
}

fn label_counts(counts: &LabelCounts) -> Vec<(&'static str, u64)> {
    vec![
        ("Rows", counts.rows),
        ("With a label", counts.labelled),
        ("Rated", counts.rated),
        ("Given to an agent", counts.injected),
        ("Withheld at random", counts.held_out),
    ]
}

fn pair(row: &Row) -> Pair {
    let said = |name: &str, messages: &[Message]| {
        let texts: Vec<_> = messages.iter().flat_map(texts).collect();
        (name.to_owned(), domain::thread::cut(&texts.join("\n\n"), SHOWN_CHARS_MAX))
    };
    let mut parts = match row {
        Row::Sft { messages, .. } => {
            let (last, before) =
                messages.split_last().map_or((&[][..], &[][..]), |(last, before)| (std::slice::from_ref(last), before));
            vec![said("Prompt", before), said("Answer", last)]
        }
        Row::Dpo { prompt, chosen, rejected, .. } => {
            vec![said("Prompt", prompt), said("Chosen", chosen), said("Rejected", rejected)]
        }
        Row::Kto { prompt, completion, label, .. } => {
            vec![said("Prompt", prompt), said(if *label { "Good answer" } else { "Bad answer" }, completion)]
        }
    };
    if let Some(tools) = row.tools() {
        let names: Vec<_> = tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        parts.push(("Tools".to_owned(), domain::thread::cut(&names, SHOWN_CHARS_MAX)));
    }
    Pair(parts)
}

/// A message for people: its text, and each call of a tool.
fn texts(message: &Message) -> Vec<String> {
    let said = Some(&message.content).filter(|text| !text.is_empty());
    let said = said.map(|text| match (message.role, &message.name) {
        (Role::System, _) => format!("System: {text}"),
        (Role::Tool, Some(name)) => format!("{name} answered: {text}"),
        _ => text.clone(),
    });
    let call = |call: &ToolCall| {
        format!("Call of {}: {}", call.function.name, serde_json::Value::Object(call.function.arguments.clone()))
    };
    said.into_iter().chain(message.tool_calls.iter().map(call)).collect()
}

async fn progress(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(id): Path<String>,
) -> Result<Html<String>, PageRejection> {
    let job = found(&state, &viewer.scope, &id)?;
    Ok(Html(ui::progress_fragment(&job_of(&job))))
}

/// The query of a file of an export.
#[derive(Deserialize)]
struct FileQuery {
    /// `validation`, or nothing for the other one.
    split: Option<String>,
}

impl FileQuery {
    /// The part of the data that is asked for; `None` if there is no such part.
    fn split(&self) -> Option<Split> {
        match self.split.as_deref() {
            None => Some(Split::Train),
            Some("validation") => Some(Split::Validation),
            Some(_) => None,
        }
    }
}

const fn media_type(format: FileFormat) -> &'static str {
    match format {
        FileFormat::Jsonl => "application/x-ndjson",
        FileFormat::Parquet => "application/vnd.apache.parquet",
    }
}

async fn file(
    method: Method,
    State(state): State<AppState>,
    viewer: Viewer,
    Path(id): Path<String>,
    Params(which): Params<FileQuery>,
) -> Result<Response, PageRejection> {
    let job = found(&state, &viewer.scope, &id)?;
    let missing = || Problem::detailed(Code::NotFound, "this export has no such file");
    let ExportFile { path, name, bytes } = which.split().and_then(|split| job.file(split)).ok_or_else(missing)?;
    // HEAD sends no line.
    if method != Method::HEAD {
        export_job::record_download(&state.ledger, &viewer.scope, job.id, &name).await?;
    }
    Ok(sent(File::open(&path).await, media_type(job.options.file_format), &name, bytes)?)
}

async fn manifest(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(id): Path<String>,
) -> Result<Response, PageRejection> {
    let job = found(&state, &viewer.scope, &id)?;
    let missing = || Problem::detailed(Code::NotFound, "this export has no manifest");
    let path = job.manifest().ok_or_else(missing)?;
    let bytes = tokio::fs::metadata(&path).await.map_or(0, |of| of.len());
    Ok(sent(File::open(&path).await, "application/json", "manifest.json", bytes)?)
}

/// A file as a download, read as fast as the browser takes it.
fn sent(file: std::io::Result<File>, kind: &'static str, name: &str, bytes: u64) -> Result<Response, Problem> {
    let file = file.map_err(|error| Problem::internal(format!("{name} cannot be read: {error}")))?;
    let chunks = futures_util::stream::try_unfold(file, |mut file| async move {
        let mut chunk = vec![0; CHUNK];
        let read = file.read(&mut chunk).await?;
        chunk.truncate(read);
        Ok::<_, std::io::Error>((read > 0).then_some((chunk, file)))
    });
    let head = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_LENGTH, bytes.to_string()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((head, Body::from_stream(chunks)).into_response())
}
