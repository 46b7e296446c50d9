//! One export: what it is started with, its state, and the work from the database to its files.

use super::{
    labels::{write_labels, written_name},
    private_folder,
    rating::{Rated, rating},
    streams::{DumpError, dump},
};
use datalake::{
    Layout,
    export::{self, Error, Inputs, LabelCounts, MANIFEST_FILE, Options, Preview, Progress, Split},
};
use domain::{Scope, Timestamp, id::TenantId, interaction::ExportState};
use ledger::{
    Ledger,
    export_job::{self, ExportContent},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// The state of an export.
#[derive(Debug, Clone)]
pub enum Stage {
    /// The streams are being written from the database to files.
    Collecting,
    /// The streams are being read and matched, and the export is being written.
    Working(Progress),
    /// So many labels of memories were written.
    Labelling(u64),
    /// The export is complete.
    Done(Box<Preview>),
    /// The export of labels of memories is complete: its counts, and the bytes of its file.
    Labelled(LabelCounts, u64),
    /// A person or the stopping server stopped the export.
    Stopped,
    /// The export failed, with the reason as text.
    Failed(String),
}

/// One export of a workspace.
#[derive(Debug)]
pub struct Job {
    /// Id of the export.
    pub id: Uuid,
    /// Workspace that is exported.
    pub tenant_id: TenantId,
    /// What it writes.
    pub content: ExportContent,
    /// Options that the person chose.
    pub options: Options,
    /// Whether this is only a preview.
    pub is_preview: bool,
    /// Time at which the export was started.
    pub begun_at: Timestamp,
    folder: PathBuf,
    stage: Mutex<Stage>,
    stopped: AtomicBool,
}

impl Job {
    pub(super) fn new(id: Uuid, asked: &ExportRequest, begun_at: Timestamp, folder: PathBuf) -> Self {
        Self {
            id,
            tenant_id: asked.scope.tenant_id,
            content: asked.content,
            options: asked.options.clone(),
            is_preview: asked.is_preview,
            begun_at,
            folder,
            stage: Mutex::new(Stage::Collecting),
            stopped: AtomicBool::new(false),
        }
    }

    /// Returns the current state.
    pub fn stage(&self) -> Stage {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Requests the export to stop.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns the file of a split, once the export is complete.
    pub fn file(&self, split: Split) -> Option<ExportFile> {
        let (name, bytes) = match self.stage() {
            Stage::Done(preview) => {
                let file = preview.manifest.files.iter().find(|file| file.split == split)?;
                (file.name.clone(), file.bytes)
            }
            Stage::Labelled(_, bytes) if split == Split::Train => (written_name(self.options.file_format), bytes),
            _ => return None,
        };
        Some(ExportFile { path: self.folder.join(&name), name, bytes })
    }

    /// Returns the path of the manifest, once the export is complete.
    pub fn manifest(&self) -> Option<PathBuf> {
        self.file(Split::Train).map(|_| self.folder.join(MANIFEST_FILE))
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.stage(), Stage::Collecting | Stage::Working(_) | Stage::Labelling(_))
    }

    fn set(&self, stage: Stage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }

    /// Removes the folder. A folder that cannot be removed is logged and stays until the next start.
    pub(super) fn discard(&self) {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let folder = self.folder.display();
                tracing::warn!(%folder, %error, "an old export stays behind until the next start");
            }
            _ => {}
        }
    }
}

/// Returns the final state of an export as it is stored in the database.
pub(super) fn recorded_end(stage: &Stage) -> (ExportState, export_job::Ending) {
    let ending = export_job::Ending::default();
    match stage {
        Stage::Done(preview) => {
            let counts = serde_json::to_string(&preview.manifest.counts).ok();
            (ExportState::Done, export_job::Ending { counts, ..ending })
        }
        Stage::Labelled(counts, _) => {
            let counts = serde_json::to_string(counts).ok();
            (ExportState::Done, export_job::Ending { counts, ..ending })
        }
        Stage::Failed(error) => (ExportState::Failed, export_job::Ending { error: Some(error.clone()), ..ending }),
        Stage::Collecting | Stage::Working(_) | Stage::Labelling(_) | Stage::Stopped => (ExportState::Stopped, ending),
    }
}

/// Makes the export and sets its final stage.
pub(super) async fn work(ledger: &Ledger, job: &Arc<Job>, workspace: String, stop: CancellationToken) {
    let stage = match job.content {
        ExportContent::Labels => labels(ledger, job, workspace, stop).await,
        ExportContent::Training | ExportContent::Raw => training_data(ledger, job, &workspace, stop).await,
    };
    if let Stage::Failed(error) = &stage {
        tracing::warn!(export = %job.id, error, "an export could not be made");
    }
    if !matches!(stage, Stage::Done(_) | Stage::Labelled(..)) {
        job.discard();
    }
    job.set(stage);
}

/// Writes training data. Returns the final stage.
async fn training_data(ledger: &Ledger, job: &Arc<Job>, workspace: &str, stop: CancellationToken) -> Stage {
    match collect_streams(ledger, job, workspace, &stop).await {
        Ok(scratch) => {
            let (rated, own) = (rating(ledger), Arc::clone(job));
            let made = tokio::task::spawn_blocking(move || {
                let made = make(&own, scratch.path(), rated, &stop);
                drop(scratch);
                made
            });
            match made.await {
                Ok(Ok(preview)) => Stage::Done(Box::new(preview)),
                Ok(Err(Error::Cancelled)) => Stage::Stopped,
                Ok(Err(error)) => Stage::Failed(error.to_string()),
                Err(error) => Stage::Failed(error.to_string()),
            }
        }
        Err(DumpError::Stopped) => Stage::Stopped,
        Err(error) => Stage::Failed(error.to_string()),
    }
}

/// Writes labels of memories. Returns the final stage.
async fn labels(ledger: &Ledger, job: &Arc<Job>, workspace: String, stop: CancellationToken) -> Stage {
    let (ledger, job) = (ledger.clone(), Arc::clone(job));
    let written = tokio::task::spawn_blocking(move || {
        let goes_on = |rows| {
            job.set(Stage::Labelling(rows));
            !job.stopped.load(Ordering::Relaxed) && !stop.is_cancelled()
        };
        write_labels(&ledger, &workspace, (&job.folder, job.options.file_format), goes_on)
    });
    match written.await {
        Ok(Ok(Some((counts, bytes)))) => Stage::Labelled(counts, bytes),
        Ok(Ok(None)) => Stage::Stopped,
        Ok(Err(why)) => Stage::Failed(why),
        Err(error) => Stage::Failed(error.to_string()),
    }
}

/// Writes the streams of the workspace to files in a temporary folder, which is removed when it is
/// dropped.
async fn collect_streams(
    ledger: &Ledger,
    job: &Job,
    workspace: &str,
    stop: &CancellationToken,
) -> Result<tempfile::TempDir, DumpError> {
    let failed = |error| DumpError::Io(job.folder.display().to_string(), error);
    private::create_dir_all(&job.folder).map_err(failed)?;
    let scratch = private_folder("export-").tempdir_in(&job.folder).map_err(failed)?;
    let goes_on = || !job.stopped.load(Ordering::Relaxed) && !stop.is_cancelled();
    dump(ledger, workspace, scratch.path(), goes_on).await?;
    Ok(scratch)
}

fn make(job: &Job, scratch: &Path, rated: Rated, stop: &CancellationToken) -> Result<Preview, Error> {
    let layout = Layout::below(scratch);
    let inputs = Inputs {
        interactions: Box::new(datalake::interactions(&layout)),
        feedback: Box::new(datalake::feedback(&layout)),
        rating: rated,
    };
    let mut tell = |progress| {
        job.set(Stage::Working(progress));
        !job.stopped.load(Ordering::Relaxed) && !stop.is_cancelled()
    };
    if job.is_preview {
        return export::preview(inputs, &job.options, scratch, &mut tell);
    }
    export::export(inputs, &job.options, &job.folder, &mut tell)
}

/// A file that an export has written.
#[derive(Debug, Clone)]
pub struct ExportFile {
    /// The file in the folder of exports, absolute.
    pub path: PathBuf,
    /// Name under which people download it.
    pub name: String,
    /// Size, bytes.
    pub bytes: u64,
}

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
