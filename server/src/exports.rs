//! Exports that people start on a page. Each workspace runs one at a time, each export has its own
//! folder, and a bounded number is kept until the server stops.

use crate::{
    config::{Database, Settings},
    stream_dump::{DumpError, Rated, dump, rating},
};
use datalake::{
    Layout,
    export::{self, Error, Inputs, MANIFEST_FILE, Options, Preview, Progress, Split},
};
use domain::{
    Entropy, Scope, Timestamp,
    id::{TenantId, new_v7},
    interaction::ExportState,
};
use ledger::{Ledger, export_job};
use std::{
    collections::VecDeque,
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Exports that a server runs at the same time.
pub const EXPORTS_RUNNING_MAX: usize = 2;
/// Exports of a workspace that are kept.
pub const EXPORTS_KEPT_MAX: usize = 5;
/// The folder of exports in the data directory.
const FOLDER: &str = "exports";

/// Returns a builder of temporary folders that only their owner can read.
pub fn private_folder(prefix: &str) -> tempfile::Builder<'_, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).permissions(Permissions::from_mode(private::FOLDER_MODE));
    builder
}

/// The state of an export.
#[derive(Debug, Clone)]
pub enum Stage {
    /// The streams are being written from the database to files.
    Collecting,
    /// The streams are being read and matched, and the export is being written.
    Working(Progress),
    /// The export is complete.
    Done(Box<Preview>),
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

/// A request to start an export.
#[derive(Debug)]
pub struct ExportRequest {
    /// Who starts the export, and in which workspace.
    pub scope: Scope,
    /// Slug of that workspace.
    pub workspace: String,
    /// Options that the person chose.
    pub options: Options,
    /// Whether this is only a preview.
    pub is_preview: bool,
    /// The options as JSON, which is stored with the export.
    pub noted: String,
}

/// Why an export was not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Busy {
    /// Another export of this workspace is running.
    Workspace,
    /// The server already runs [`EXPORTS_RUNNING_MAX`] exports.
    Server,
}

/// All exports of this server process.
pub struct Exports {
    folder: PathBuf,
    /// Random id of this process. It differs from those of other processes that use the same
    /// database.
    server: String,
    jobs: Mutex<VecDeque<Arc<Job>>>,
    /// Owns the temporary folder on PostgreSQL, which is removed when the server stops.
    _temporary: Option<tempfile::TempDir>,
}

impl Exports {
    /// Opens the folder of exports. On SQLite it is below the data directory. Folders of an earlier
    /// process are removed, because nothing refers to them any more. On PostgreSQL it is a
    /// temporary folder, which stays behind only if the process is killed.
    pub fn open(settings: &Settings, entropy: &dyn Entropy) -> io::Result<Exports> {
        let (folder, temporary) = match &settings.database {
            Database::Sqlite(data_dir) => (data_dir.join(FOLDER), None),
            Database::Postgres { .. } => {
                let folder = private_folder("shiftbook-exports-").tempdir()?;
                (folder.path().to_owned(), Some(folder))
            }
        };
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut random = [0; 8];
        entropy.fill(&mut random);
        let server = format!("{:016x}", u64::from_be_bytes(random));
        Ok(Exports { folder, server, jobs: Mutex::default(), _temporary: temporary })
    }

    /// Returns whether the export that is stored for `server` belongs to this process.
    pub fn is_own(&self, server: &str) -> bool {
        self.server == server
    }

    fn jobs(&self) -> MutexGuard<'_, VecDeque<Arc<Job>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the exports of a workspace, newest first.
    pub fn of(&self, tenant_id: TenantId) -> Vec<Arc<Job>> {
        self.jobs().iter().rev().filter(|job| job.tenant_id == tenant_id).cloned().collect()
    }

    /// Returns one export of a workspace.
    pub fn find(&self, tenant_id: TenantId, id: Uuid) -> Option<Arc<Job>> {
        self.jobs().iter().find(|job| job.tenant_id == tenant_id && job.id == id).cloned()
    }

    /// Starts an export. Removes the oldest one of the workspace if there are more than
    /// [`EXPORTS_KEPT_MAX`].
    pub fn begin(
        &self,
        ledger: &Ledger,
        entropy: &dyn Entropy,
        asked: ExportRequest,
        stop: CancellationToken,
    ) -> Result<Arc<Job>, Busy> {
        let begun_at = ledger.now();
        let id = new_v7(begun_at, entropy);
        let ExportRequest { scope, workspace, options, is_preview, noted } = asked;
        let tenant_id = scope.tenant_id;
        let mut jobs = self.jobs();
        let running: Vec<_> = jobs.iter().filter(|job| job.is_running()).collect();
        if running.iter().any(|job| job.tenant_id == tenant_id) {
            return Err(Busy::Workspace);
        }
        if running.len() >= EXPORTS_RUNNING_MAX {
            return Err(Busy::Server);
        }
        while jobs.iter().filter(|job| job.tenant_id == tenant_id).count() >= EXPORTS_KEPT_MAX {
            let oldest = jobs.iter().position(|job| job.tenant_id == tenant_id).and_then(|at| jobs.remove(at));
            if let Some(oldest) = oldest {
                discard(&oldest.folder);
            }
        }
        let job = Arc::new(Job {
            id,
            tenant_id,
            options,
            is_preview,
            begun_at,
            folder: self.folder.join(id.to_string()),
            stage: Mutex::new(Stage::Collecting),
            stopped: AtomicBool::new(false),
        });
        jobs.push_back(Arc::clone(&job));
        let (ledger, working, server) = (ledger.clone(), Arc::clone(&job), self.server.clone());
        tokio::spawn(async move {
            // An export that cannot be stored in the database still runs. It is only unknown after
            // a restart.
            if let Err(error) = export_job::begin(&ledger, &scope, id, server, noted).await {
                tracing::warn!(export = %id, %error, "an export is not noted");
            }
            work(&ledger, &working, workspace, stop).await;
            let (state, ending) = recorded_end(&working.stage());
            if let Err(error) = export_job::end(&ledger, &scope, id, state, ending).await {
                tracing::warn!(export = %id, %error, "the end of an export is not noted");
            }
        });
        Ok(job)
    }
}

impl Job {
    /// Returns the current state.
    pub fn stage(&self) -> Stage {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Requests the export to stop.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns the path, name and size in bytes of the file of a split, once the export is
    /// complete.
    pub fn file(&self, split: Split) -> Option<(PathBuf, String, u64)> {
        let Stage::Done(preview) = self.stage() else { return None };
        let file = preview.manifest.files.iter().find(|file| file.split == split)?;
        Some((self.folder.join(&file.name), file.name.clone(), file.bytes))
    }

    /// Returns the path of the manifest, once the export is complete.
    pub fn manifest(&self) -> Option<PathBuf> {
        self.file(Split::Train).map(|_| self.folder.join(MANIFEST_FILE))
    }

    fn is_running(&self) -> bool {
        matches!(self.stage(), Stage::Collecting | Stage::Working(_))
    }

    fn set(&self, stage: Stage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }
}

/// Removes the folder of an export. A folder that cannot be removed is logged and stays until the
/// next start.
fn discard(folder: &Path) {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(folder = %folder.display(), %error, "an old export stays behind until the next start");
        }
        _ => {}
    }
}

/// Returns the final state of an export as it is stored in the database.
fn recorded_end(stage: &Stage) -> (ExportState, export_job::Ending) {
    let ending = export_job::Ending::default();
    match stage {
        Stage::Done(preview) => {
            let counts = serde_json::to_string(&preview.manifest.counts).ok();
            (ExportState::Done, export_job::Ending { counts, ..ending })
        }
        Stage::Failed(error) => (ExportState::Failed, export_job::Ending { error: Some(error.clone()), ..ending }),
        Stage::Collecting | Stage::Working(_) | Stage::Stopped => (ExportState::Stopped, ending),
    }
}

async fn work(ledger: &Ledger, job: &Arc<Job>, workspace: String, stop: CancellationToken) {
    let stage = match collect_streams(ledger, job, &workspace, &stop).await {
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
    };
    if let Stage::Failed(error) = &stage {
        tracing::warn!(export = %job.id, error, "an export could not be made");
    }
    if !matches!(stage, Stage::Done(_)) {
        discard(&job.folder);
    }
    job.set(stage);
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
