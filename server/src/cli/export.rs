//! `shiftbook export training | raw | labels`

use super::{
    common::{Failure, folder_of, open, print_line},
    export_labels::{self, LabelArgs},
    instance_key::{self, KeyFlags},
};
use crate::{
    config::{self, DatabaseFlags, ServeFlags, Settings},
    export_options::{confidence, instant, share, yes_or_no},
    web::export_choice::{choice_json, resolved},
};
use datalake::{
    FeedbackRecord, InteractionRecord, Layout, Source,
    export::{self, FileFormat, Format, Inputs, MinFeedback, Options, Preview, Progress, SessionRating},
};
use domain::{
    Timestamp,
    count::{counted, grouped},
    id::ActionId,
};
use ledger::{
    Ledger, Mode, action,
    export_job::{self, ExportContent},
};
use runner::export::{Rated, dump, dump_whole, private_folder, rating};
use std::{
    collections::BTreeSet,
    fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::signal::unix::{SignalKind, signal};

/// Most workspaces that an error names.
const WORKSPACES_NAMED: usize = 10;
/// Start of the name of the temporary folder that holds the streams during an export.
const SCRATCH: &str = "export-";
/// Interval between redraws of the progress line.
const DRAW_INTERVAL: Duration = Duration::from_millis(200);

/// Commands that export what the server keeps.
#[derive(Debug, clap::Subcommand)]
pub enum ExportCommand {
    /// Export prompts, answers and feedback as training data
    ///
    /// Writes one file and its manifest.json into a folder. The same data gives the same bytes. Rules remove secrets of
    /// known forms. Answers without feedback never count as negative.
    Training(TrainingArgs),
    /// Write prompts, answers, feedback and outcomes as they were captured, one JSON object per line
    Raw(RawArgs),
    /// Export which memories agents were given, and how useful they were, as rows for training a ranker
    ///
    /// Writes one file and its manifest.json into a folder. The same data gives the same bytes. No row has a text.
    Labels(LabelArgs),
}

/// Options of `export training`.
#[derive(Debug, clap::Args)]
pub struct TrainingArgs {
    /// Slug of the workspace; with --from its id, because the files contain only ids
    #[arg(long, alias = "workspace", value_name = "SLUG", required_unless_present = "from")]
    tenant: Option<String>,
    /// sft (answers to imitate), dpo (pairs of a better and a worse answer) or kto (single answers, good or bad)
    #[arg(long, value_parser = format)]
    format: Format,
    /// jsonl or parquet
    #[arg(long, alias = "file-format", value_parser = file_format, default_value = "jsonl")]
    file_type: FileFormat,
    /// none, negative, neutral or positive [default: positive for sft, negative otherwise]
    #[arg(long, value_parser = min_feedback, value_name = "LEAST")]
    min_feedback: Option<MinFeedback>,
    /// Use only feedback of manual, outcome_tracker, reviewer, memory_writer or session; can be repeated [default: all]
    #[arg(long, value_parser = source)]
    source: Vec<Source>,
    /// Use inferred feedback only from this confidence on, 0 to 1000 [default: 900]
    #[arg(long, value_parser = confidence, value_name = "THOUSANDTHS")]
    min_confidence: Option<u16>,
    /// Answers to which the rating of their session applies, if nothing else is known of them: last, all or none
    #[arg(long, value_parser = session_rating, value_name = "ANSWERS", default_value = "last")]
    session_rating: SessionRating,
    /// Only answers given then or later: a day (UTC) or an instant
    #[arg(long, value_parser = instant, value_name = "TIME")]
    since: Option<Timestamp>,
    /// Only answers given before
    #[arg(long, value_parser = instant, value_name = "TIME")]
    until: Option<Timestamp>,
    /// Only answers of this agent; can be repeated
    #[arg(long, value_name = "SLUG")]
    agent: Vec<String>,
    /// Only answers of this task, by its slug or id; can be repeated. With --from its id, because the files contain
    /// only ids
    #[arg(long, value_name = "SLUG_OR_ID")]
    action: Vec<String>,
    /// Put this share of sessions into a file for validation, such as 0.1
    #[arg(long, value_parser = share, value_name = "SHARE", default_value = "0")]
    validation_share: u16,
    /// Also remove e-mail addresses
    #[arg(long)]
    redact_emails: bool,
    /// Also remove e-mail addresses, telephone numbers, account numbers (IBAN) and card numbers
    #[arg(long)]
    redact_personal: bool,
    /// Whether neighbouring messages of one role become one message: yes or no [default: yes for sft and kto]
    #[arg(long, value_parser = yes_or_no, value_name = "YES_OR_NO")]
    merge_roles: Option<bool>,
    /// Folder to write into; it must not contain an export yet
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Read files that `export raw` or a server on SQLite wrote instead of a database: the folder that contains
    /// `datalake`. If it has data of several workspaces, choose one by its id with --tenant
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    #[command(flatten)]
    flags: KeyFlags,
}

/// Options of `export raw`.
#[derive(Debug, clap::Args)]
pub struct RawArgs {
    /// Slug of the workspace
    #[arg(long, alias = "workspace", value_name = "SLUG")]
    tenant: String,
    /// Folder to write into, as `datalake/01-raw/…`; the files must not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    database: DatabaseFlags,
}

fn format(name: &str) -> Result<Format, String> {
    Format::parse(name).ok_or_else(|| "sft, dpo or kto".to_owned())
}

fn file_format(name: &str) -> Result<FileFormat, String> {
    FileFormat::parse(name).ok_or_else(|| "jsonl or parquet".to_owned())
}

fn min_feedback(name: &str) -> Result<MinFeedback, String> {
    MinFeedback::parse(name).ok_or_else(|| "none, negative, neutral or positive".to_owned())
}

fn source(name: &str) -> Result<Source, String> {
    Source::parse(name).ok_or_else(|| "manual, outcome_tracker, reviewer, memory_writer or session".to_owned())
}

fn session_rating(name: &str) -> Result<SessionRating, String> {
    SessionRating::parse(name).ok_or_else(|| "last, all or none".to_owned())
}

/// What the flags ask for.
fn options(args: &TrainingArgs) -> Options {
    let mut options = Options::new(args.format, args.file_type);
    options.min_feedback = args.min_feedback.unwrap_or(options.min_feedback);
    options.min_confidence = args.min_confidence.unwrap_or(options.min_confidence);
    options.session_rating = args.session_rating;
    options.personal.emails = args.redact_emails;
    options.personal.all = args.redact_personal;
    options.filter.since = args.since;
    options.filter.until = args.until;
    options.filter.agents = args.agent.iter().cloned().collect();
    options.filter.actions = args.action.iter().cloned().collect();
    options.validation_share = args.validation_share;
    options.merge_roles = args.merge_roles.unwrap_or(options.merge_roles);
    if !args.source.is_empty() {
        options.sources = args.source.iter().copied().collect();
    }
    options
}

/// Refuses slugs of actions where only ids are known.
fn are_ids(actions: &BTreeSet<String>) -> Result<(), Failure> {
    match actions.iter().find(|action| action.parse::<ActionId>().is_err()) {
        None => Ok(()),
        Some(slug) => {
            Err(Failure::Misused(format!("--action {slug}: not an id; files contain only the ids of tasks, no slugs")))
        }
    }
}

/// The ids of the actions that are named by slug or id.
async fn action_ids(ledger: &Ledger, tenant: &str, names: BTreeSet<String>) -> Result<BTreeSet<String>, Failure> {
    match action::named_by_operator(ledger, tenant, "--action", names).await {
        Ok(ids) => Ok(ids.iter().map(ToString::to_string).collect()),
        Err(ledger::Error::Invalid(errors)) => {
            let why: Vec<_> = errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect();
            Err(Failure::Misused(why.join("; ")))
        }
        Err(error) => Err(error.into()),
    }
}

/// Runs the command.
pub async fn run(command: ExportCommand) -> Result<(), Failure> {
    match command {
        ExportCommand::Training(args) => training(args).await,
        ExportCommand::Raw(args) => raw(args).await,
        ExportCommand::Labels(args) => export_labels::run(args).await,
    }
}

async fn raw(args: RawArgs) -> Result<(), Failure> {
    let settings = config::load(args.database, ServeFlags::default())?;
    let ledger = open(&settings, Mode::Tool).await?;
    let stopped = stopped_by_signal()?;
    let folder = folder_of(&args.out);
    let noted = export_job::record_by_operator(&ledger, &args.tenant, ExportContent::Raw, (&folder, "{}")).await;
    let dumped = match noted {
        Ok(()) => dump_whole(&ledger, &args.tenant, &args.out, || !stopped.load(Ordering::Relaxed)).await,
        Err(error) => Err(error.into()),
    };
    ledger.close().await;
    let lines = dumped.map_err(Failure::from)?;
    print_line(&format!("wrote {} to files in {}", counted(lines, "line"), args.out.join("datalake").display()))
}

async fn training(args: TrainingArgs) -> Result<(), Failure> {
    let options = options(&args);
    if args.from.is_some() {
        are_ids(&options.filter.actions)?;
    }
    private::create_dir_all(&args.out).map_err(Failure::io(args.out.display().to_string()))?;
    refuse_left_over(&args.out)?;
    let preview = match (&args.from, &args.tenant) {
        (Some(folder), tenant) => {
            let layout = Layout::below(folder);
            require_streams(folder, &layout)?;
            let stopped = stopped_by_signal()?;
            let only = chosen(&layout, tenant.as_deref())?;
            written((layout, only), Box::new(|_| Ok(None)), options, (args.out.clone(), stopped)).await?
        }
        (None, Some(tenant)) => {
            let settings = args.flags.settings()?;
            from_database(&settings, tenant, options, &args.out).await?
        }
        (None, None) => return Err(Failure::Misused("name a workspace with --tenant, or files with --from".into())),
    };
    print_preview(&preview, &args.out)
}

/// Refuses a folder in which an export left the streams, because whoever gets the folder would get them too.
fn refuse_left_over(out: &Path) -> Result<(), Failure> {
    // `export training` makes its temporary folder in `out`, `export raw` beside those of the streams.
    let layout = Layout::below(out);
    for parent in [out, layout.raw()] {
        let failed = |error: io::Error| Failure::io(parent.display().to_string())(error);
        let entries = match fs::read_dir(parent) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let folder = entry.path();
            let is_scratch = entry.file_name().to_string_lossy().starts_with(SCRATCH);
            if is_scratch && Layout::below(&folder).interactions().exists() {
                return Err(Failure::Misused(format!(
                    "{}: this folder has messages that are not redacted, from an export that was killed or still runs; \
                     remove it, or name another --out",
                    folder.display()
                )));
            }
        }
    }
    Ok(())
}

/// Refuses a folder without prompts and answers, because an empty export would look like a complete one.
fn require_streams(folder: &Path, layout: &Layout) -> Result<(), Failure> {
    let interactions = layout.interactions();
    for (place, meaning) in [
        (folder, "there is no such folder"),
        (interactions.as_path(), "there is no such folder; --from names the folder that holds `datalake`"),
    ] {
        match fs::metadata(place) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(Failure::Misused(format!("--from {}: not a folder", place.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Failure::Misused(format!("--from {}: {meaning}", place.display())));
            }
            Err(error) => return Err(Failure::Misused(format!("--from {}: {error}", place.display()))),
        }
    }
    Ok(())
}

fn chosen(layout: &Layout, wanted: Option<&str>) -> Result<Option<String>, Failure> {
    let found = datalake::workspaces(layout);
    let list = || {
        let named: Vec<_> = found.iter().take(WORKSPACES_NAMED).map(|(id, count)| format!("{id} ({count})")).collect();
        let more = found.len().saturating_sub(named.len());
        if more > 0 { format!("{} and {more} more", named.join(", ")) } else { named.join(", ") }
    };
    match wanted {
        Some(id) if found.contains_key(id) => Ok(Some(id.to_owned())),
        Some(id) if found.is_empty() => {
            Err(Failure::Misused(format!("the files hold no interactions, so none of workspace {id}")))
        }
        Some(id) => Err(Failure::Misused(format!(
            "the files have no data of workspace {id}; with --from, --tenant takes an id. Ids and their interactions: {}",
            list()
        ))),
        None if found.len() > 1 => Err(Failure::Misused(format!(
            "the files have data of {} workspaces: choose one with --tenant ID. Ids and their interactions: {}",
            found.len(),
            list()
        ))),
        None => Ok(None),
    }
}

/// Writes the streams of the database to temporary files first, because an export reads them more than once.
async fn from_database(settings: &Settings, tenant: &str, options: Options, out: &Path) -> Result<Preview, Failure> {
    let ledger = open(settings, Mode::Tool).await?;
    let stopped = stopped_by_signal()?;
    let scratch = private_folder(SCRATCH).tempdir_in(out).map_err(Failure::io("cannot make a temporary folder"));
    let exported = match scratch {
        Ok(scratch) => dumped_and_written(settings, &ledger, tenant, options, scratch.path(), out, stopped).await,
        Err(failure) => Err(failure),
    };
    ledger.close().await;
    exported
}

async fn dumped_and_written(
    settings: &Settings,
    ledger: &Ledger,
    tenant: &str,
    mut options: Options,
    scratch: &Path,
    out: &Path,
    stopped: Arc<AtomicBool>,
) -> Result<Preview, Failure> {
    options.filter.actions = action_ids(ledger, tenant, options.filter.actions).await?;
    let rated: Rated = match instance_key::find(settings)? {
        Some(key) => {
            ledger.use_instance_key(key);
            rating(ledger)
        }
        None => {
            // If stderr is closed, the manifest still shows that no rating was counted.
            let _ = writeln!(io::stderr(), "shiftbook: there is no instance key, so ratings of sessions are left out");
            Box::new(|_| Ok(None))
        }
    };
    let choice = choice_json(&resolved(&options), false);
    export_job::record_by_operator(ledger, tenant, ExportContent::Training, (&folder_of(out), &choice)).await?;
    dump(ledger, tenant, scratch, || !stopped.load(Ordering::Relaxed)).await?;
    written((Layout::below(scratch), None), rated, options, (out.to_owned(), stopped)).await
}

/// Returns a flag that Ctrl-C, SIGTERM and SIGHUP set. The export then removes its temporary files, which are not
/// redacted, before it ends. From the return on none of them ends the process.
fn stopped_by_signal() -> Result<Arc<AtomicBool>, Failure> {
    let stopped: Arc<AtomicBool> = Arc::default();
    let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
    if !ignores_hangup() {
        kinds.push(SignalKind::hangup());
    }
    for kind in kinds {
        let mut received = signal(kind).map_err(Failure::io("cannot listen to signals"))?;
        let sign = Arc::clone(&stopped);
        tokio::spawn(async move {
            if received.recv().await.is_some() {
                sign.store(true, Ordering::Relaxed);
            }
        });
    }
    Ok(stopped)
}

/// Whether the process was started to go on without its terminal, as `nohup` does it. Listening to SIGHUP would end
/// that. Known on Linux only.
fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The lowest bit is signal 1, SIGHUP.
    ignored.is_some_and(|mask| mask & 1 == 1)
}

async fn written(
    (layout, only): (Layout, Option<String>),
    rated: Rated,
    options: Options,
    (out, stopped): (PathBuf, Arc<AtomicBool>),
) -> Result<Preview, Failure> {
    let work = tokio::task::spawn_blocking(move || {
        let is_wanted = |record: &InteractionRecord| only.as_ref().is_none_or(|only| record.tenant_id == *only);
        let is_about = |mark: &FeedbackRecord| only.as_ref().is_none_or(|only| mark.may_be_of(only));
        let interactions = datalake::interactions(&layout);
        let feedback = datalake::feedback(&layout);
        let inputs = Inputs {
            interactions: Box::new(interactions.filter(|line| line.as_ref().map_or(true, is_wanted))),
            feedback: Box::new(feedback.filter(|line| line.as_ref().map_or(true, is_about))),
            rating: rated,
        };
        let mut bar = ProgressBar::new();
        let exported = export::export(inputs, &options, &out, &mut |progress| {
            bar.draw(progress);
            !stopped.load(Ordering::Relaxed)
        });
        bar.end();
        exported
    });
    let exported = work.await.map_err(|error| Failure::Failed(error.to_string()))?;
    exported.map_err(|error| Failure::Failed(error.to_string()))
}

fn print_preview(preview: &Preview, out: &Path) -> Result<(), Failure> {
    for warning in &preview.warnings {
        // If stderr is closed, the manifest still counts the skipped lines.
        let _ = writeln!(io::stderr(), "shiftbook: skipped {warning}");
    }
    let counts = &preview.manifest.counts;
    if counts.unreadable_ratings > 0 {
        let _ = writeln!(
            io::stderr(),
            "shiftbook: the session's rating could not be read for {}; they count as not rated",
            counted(counts.unreadable_ratings, "interaction")
        );
    }
    let unknown = preview.manifest.unknown_permille;
    print_line(&format!(
        "wrote {} from {} to {}; {}.{}% have no feedback",
        counted(counts.rows, "row"),
        counted(counts.interactions, "interaction"),
        out.display(),
        unknown / 10,
        unknown % 10
    ))
}

/// A progress line on stderr, shown on terminals only.
struct ProgressBar {
    is_terminal: bool,
    drawn_at: Instant,
}

impl ProgressBar {
    fn new() -> ProgressBar {
        ProgressBar { is_terminal: io::stderr().is_terminal(), drawn_at: Instant::now() }
    }

    fn draw(&mut self, progress: Progress) {
        if !self.is_terminal || self.drawn_at.elapsed() < DRAW_INTERVAL {
            return;
        }
        self.drawn_at = Instant::now();
        let text = match progress {
            Progress::Read(read) => format!("{} read", counted(read, "interaction")),
            Progress::Matched(done, of) => format!("{} of {} matched", grouped(done), counted(of, "interaction")),
            Progress::Written(done, of) => format!("{} of {} written", grouped(done), counted(of, "row")),
        };
        // A failure to write to standard error is ignored.
        let _ = write!(io::stderr(), "\r\u{1b}[K{text}");
    }

    fn end(&self) {
        if self.is_terminal {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}
