//! /exports/{id}: how far an export has come, what it holds, and the file.

use super::{
    StartExport, StopExport,
    form::{Choice, LABELS, hidden},
};
use crate::{
    document::render,
    progress::{self, LiveProgress, ProgressState},
    render::static_html,
    server_function::page_fields,
    shell::{RailEntry, Shell, frame},
    text::{escape::query, number},
    ui::{
        button::{Button, ButtonLink, Look},
        notice::Refused,
        page_head::PageHead,
        section::Section,
    },
};
use leptos::{prelude::*, server_fn::ServerFn as _};

/// How often a browser without scripts looks again, seconds.
const LOOK_AGAIN_SECONDS: u32 = 3;

/// The progress of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// At work: what it does, how much is done, of how much where that is known.
    Running {
        /// In words.
        doing: &'static str,
        /// Steps that are done.
        done: u64,
        /// Of so many.
        total: Option<u64>,
    },
    /// It is there.
    Done,
    /// Someone stopped it, or the server did.
    Stopped,
    /// It could not be made.
    Failed(String),
    /// This server does not have it: what became of it, in words.
    Gone(String),
}

/// A row of an export for people: names of parts, and their texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair(pub Vec<(String, String)>);

/// An export.
#[derive(Debug, Clone)]
pub struct Job {
    /// Id of the export job, a UUIDv7.
    pub id: String,
    /// What it is: "SFT as JSON lines".
    pub title: String,
    /// Its progress.
    pub stage: Stage,
    /// The file's name and length in bytes; absent of a preview.
    pub file: Option<(String, u64)>,
    /// The same of the file for validation, where there is one.
    pub validation: Option<(String, u64)>,
}

/// What /exports/{id} shows.
#[derive(Debug, Clone)]
pub struct JobProps {
    /// The export.
    pub job: Job,
    /// What was chosen.
    pub choice: Choice,
    /// Whether it only looks.
    pub is_preview: bool,
    /// What was counted: names and numbers.
    pub counts: Vec<(&'static str, u64)>,
    /// Secrets that were taken out, by rule.
    pub redactions: Vec<(String, u64)>,
    /// The first rows.
    pub pairs: Vec<Pair>,
}

/// The whole page.
pub fn job_page(shell: &Shell, props: JobProps) -> String {
    render(shell, "Training data", || {
        let JobProps { job, choice, is_preview, counts, redactions, pairs } = props;
        let crumbs = vec![("Training data".to_owned(), "/export".to_owned())];
        let running = matches!(job.stage, Stage::Running { .. });
        let id = query(&job.id);
        let again = running.then(|| {
            format!(
                "<noscript><meta http-equiv=\"refresh\" content=\"{LOOK_AGAIN_SECONDS}\"><p><a href=\"/exports/{id}\">Reload</a></p></noscript>"
            )
        });
        let rows = counts.iter().find(|(name, _)| *name == "Rows").map_or(0, |(_, rows)| *rows);
        let controls = controls(&job, &choice, is_preview, rows);
        let shown = progress_state(&job);
        let shown = if running {
            provide_context(shown);
            view! { <LiveProgress/> }.into_any()
        } else {
            let failed = if let Stage::Failed(message) = &job.stage { vec![message.clone()] } else { Vec::new() };
            view! {
                <div class="fragment" inner_html=progress::html(shown)></div>
                <Refused messages=failed/>
            }
            .into_any()
        };
        let page = view! {
            <PageHead title=job.title.clone() crumbs=crumbs/>
            {shown}
            {again.map(|html| view! { <div inner_html=html></div> })}
            {controls}
            {static_html(facts(&counts, &redactions))}
            {static_html(first(&pairs))}
        };
        frame(shell, RailEntry::Insights, page)
    })
}

/// What can be done with the export: it can be stopped, made from its preview, downloaded, or tried again. `rows` is
/// the number of rows that were counted.
fn controls(job: &Job, choice: &Choice, is_preview: bool, rows: u64) -> impl IntoView + use<> {
    let id = query(&job.id);
    let stop = matches!(job.stage, Stage::Running { .. }).then(|| {
        view! {
            <form method="post" action=StopExport::PATH>
                {page_fields(format!("/exports/{id}"), format!("/exports/{id}"))}
                <input type="hidden" name="export_id" value=job.id.clone()/>
                <Button>"Stop"</Button>
            </form>
        }
    });
    let export = (is_preview && job.stage == Stage::Done && rows > 0).then(|| {
        view! {
            <form method="post" action=StartExport::PATH>
                {page_fields("/exports/{id}", "/export")}
                {hidden(choice)}
                <Button name="step" value="export" look=Look::Primary>{format!("Export {}", number::counted(rows, "row"))}</Button>
            </form>
        }
    });
    let anew = matches!(job.stage, Stage::Stopped | Stage::Failed(_) | Stage::Gone(_)).then(|| {
        let step = match choice.format.as_str() {
            LABELS => LABELS,
            _ if is_preview => "preview",
            _ => "export",
        };
        view! {
            <form method="post" action=StartExport::PATH>
                {page_fields("/exports/{id}", "/export")}
                {hidden(choice)}
                <Button name="step" value=step look=Look::Primary>"Try again"</Button>
            </form>
        }
    });
    let download = job.file.clone().map(|(name, bytes)| {
        let label = format!("Download {name} ({})", kibibytes(bytes));
        view! {
            <ButtonLink look=Look::Primary href=format!("/exports/{id}/file") attr:download="">{label}</ButtonLink>
            <ButtonLink href=format!("/exports/{id}/manifest") attr:download="">"Manifest"</ButtonLink>
        }
    });
    let validation = job.validation.clone().map(|(name, bytes)| {
        let label = format!("Download {name} ({})", kibibytes(bytes));
        view! { <ButtonLink href=format!("/exports/{id}/file?split=validation") attr:download="">{label}</ButtonLink> }
    });
    view! {
        <div class="form-actions">{stop}{export}{download}{validation}{anew}<ButtonLink look=Look::Quiet href="/export">"Change options"</ButtonLink></div>
    }
}

/// The part that moves, for scripts that keep the page current.
pub fn progress_fragment(job: &Job) -> String {
    progress::html(progress_state(job))
}

fn progress_state(job: &Job) -> ProgressState {
    let (words, done) = match &job.stage {
        Stage::Running { doing, done, total } => {
            let of = total.map(|total| format!(" of {}", number::grouped(total))).unwrap_or_default();
            let words =
                format!("{doing}: {}{of}. You can leave this page. The export continues.", number::grouped(*done));
            (words, Some((*done, *total)))
        }
        Stage::Done if job.file.is_some() => ("Done. The file is ready.".to_owned(), None),
        Stage::Done => ("Done. This preview shows what an export would contain. No file was written.".to_owned(), None),
        Stage::Stopped => ("Stopped. No file was written.".to_owned(), None),
        Stage::Failed(_) => ("The export failed. No file was written.".to_owned(), None),
        Stage::Gone(words) => (words.clone(), None),
    };
    ProgressState {
        address: format!("/exports/{}/progress", query(&job.id)),
        is_running: matches!(job.stage, Stage::Running { .. }),
        words,
        label: "Done",
        done,
        facts: Vec::new(),
    }
}

fn facts(counts: &[(&'static str, u64)], redactions: &[(String, u64)]) -> impl IntoView + use<> {
    let fact = |name: String, count: u64| view! { <div><dt>{name}</dt><dd>{number::grouped(count)}</dd></div> };
    let counted = counts.iter().map(|(name, count)| fact((*name).to_owned(), *count)).collect::<Vec<_>>();
    let found = redactions.iter().filter(|(_, count)| *count > 0);
    let found = found.map(|(rule, count)| fact(format!("Removed: {rule}"), *count)).collect::<Vec<_>>();
    (!counts.is_empty()).then(|| {
        view! {
            <Section name="counts" title="Contents">
                <dl class="facts">{counted}{found}</dl>
            </Section>
        }
    })
}

fn first(pairs: &[Pair]) -> impl IntoView + use<> {
    (!pairs.is_empty()).then(|| {
        let rows = pairs
            .iter()
            .map(|Pair(parts)| {
                let parts = parts
                    .iter()
                    .map(|(name, text)| view! { <dt>{name.clone()}</dt><dd><pre class="export-text" dir="auto" tabindex="0">{text.clone()}</pre></dd> })
                    .collect::<Vec<_>>();
                view! { <li><dl>{parts}</dl></li> }
            })
            .collect::<Vec<_>>();
        view! {
            <Section name="first" title="The first rows">
                <ol class="export-pairs">{rows}</ol>
            </Section>
        }
    })
}

/// A length for people.
fn kibibytes(bytes: u64) -> String {
    if bytes < 1_024 {
        number::counted(bytes, "byte")
    } else {
        format!("{} KiB", number::grouped(bytes.div_ceil(1_024)))
    }
}
