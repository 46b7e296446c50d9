//! The exports of one server. Each workspace runs one at a time, and a bounded number is kept until the server stops.

use super::{
    job::{ExportRequest, Job, recorded_end, work},
    permit, private_folder,
};
use domain::{Entropy, Scope, id::new_v7};
use ledger::{
    Ledger,
    export_job::{self, ExportJobRecord},
};
use std::{
    collections::VecDeque,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Exports that a server runs at the same time.
pub const EXPORTS_RUNNING_MAX: usize = 2;
/// Exports of a workspace that are kept.
pub const EXPORTS_KEPT_MAX: usize = 5;
/// Recorded exports that are listed.
const RECORDED_MAX: u32 = 20;
/// The folder of exports in the data directory.
const FOLDER: &str = "exports";

/// Why an export was not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Busy {
    /// Another export of this workspace is running.
    Workspace,
    /// The server already runs [`EXPORTS_RUNNING_MAX`] exports.
    Server,
}

/// An export of a workspace.
#[derive(Debug)]
pub enum Known {
    /// This process runs it or has its files.
    Here(Arc<Job>),
    /// Another process ran it, or its files are gone.
    Recorded {
        /// The record in the database.
        job: ExportJobRecord,
        /// Whether this process ran it.
        is_own: bool,
    },
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
    /// Opens the folder of exports below the data directory. Folders of an earlier process are removed, because
    /// nothing refers to them any more. Without a data directory it is a temporary folder, which stays behind only if
    /// the process is killed.
    ///
    /// # Errors
    /// If the folder of an earlier process cannot be removed, or no temporary folder can be created.
    pub fn open(data_dir: Option<&Path>, entropy: &dyn Entropy) -> io::Result<Exports> {
        let (folder, temporary) = match data_dir {
            Some(data_dir) => (data_dir.join(FOLDER), None),
            None => {
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

    fn jobs(&self) -> MutexGuard<'_, VecDeque<Arc<Job>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the exports of the workspace: those of this process, newest first, then recorded ones. Exports are
    /// listed without the recorded ones if those cannot be read.
    ///
    /// # Errors
    /// As [`permit`].
    pub async fn list(&self, ledger: &Ledger, scope: &Scope) -> ledger::Result<Vec<Known>> {
        permit(scope)?;
        let mut known: Vec<_> = {
            let jobs = self.jobs();
            let of_tenant = jobs.iter().rev().filter(|job| job.tenant_id == scope.tenant_id);
            of_tenant.map(|job| Known::Here(Arc::clone(job))).collect()
        };
        let recorded = export_job::list(ledger, scope, RECORDED_MAX).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "earlier exports cannot be listed");
            Vec::new()
        });
        let is_here = |id| known.iter().any(|known| matches!(known, Known::Here(job) if job.id == id));
        let gone: Vec<_> = recorded.into_iter().filter(|job| !is_here(job.id)).collect();
        known.extend(gone.into_iter().map(|job| self.recorded(job)));
        Ok(known)
    }

    /// Returns one export of the workspace.
    ///
    /// # Errors
    /// As [`permit`], and those of the database.
    pub async fn read(&self, ledger: &Ledger, scope: &Scope, id: Uuid) -> ledger::Result<Option<Known>> {
        if let Some(job) = self.find(scope, id)? {
            return Ok(Some(Known::Here(job)));
        }
        let found = export_job::find(ledger, scope, id).await?;
        Ok(found.map(|job| self.recorded(job)))
    }

    /// Returns one export of the workspace, if this process has it.
    ///
    /// # Errors
    /// As [`permit`].
    pub fn find(&self, scope: &Scope, id: Uuid) -> ledger::Result<Option<Arc<Job>>> {
        permit(scope)?;
        Ok(self.jobs().iter().find(|job| job.tenant_id == scope.tenant_id && job.id == id).cloned())
    }

    fn recorded(&self, job: ExportJobRecord) -> Known {
        Known::Recorded { is_own: job.server == self.server, job }
    }

    /// Starts an export. Removes the oldest one of the workspace if there are more than
    /// [`EXPORTS_KEPT_MAX`].
    ///
    /// # Errors
    /// [`Busy`] if the workspace has a running export, or if [`EXPORTS_RUNNING_MAX`] exports run on this server.
    pub fn begin(
        &self,
        ledger: &Ledger,
        entropy: &dyn Entropy,
        asked: ExportRequest,
        stop: CancellationToken,
    ) -> Result<Arc<Job>, Busy> {
        let begun_at = ledger.now();
        let id = new_v7(begun_at, entropy);
        let tenant_id = asked.scope.tenant_id;
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
                oldest.discard();
            }
        }
        let folder = self.folder.join(id.to_string());
        let job = Arc::new(Job::new(id, &asked, begun_at, folder));
        jobs.push_back(Arc::clone(&job));
        let (ledger, working, server) = (ledger.clone(), Arc::clone(&job), self.server.clone());
        let ExportRequest { scope, workspace, content, noted, .. } = asked;
        tokio::spawn(async move {
            // An export that cannot be stored in the database still runs. It is only unknown after
            // a restart.
            if let Err(error) = export_job::begin(&ledger, &scope, id, server, (content, noted)).await {
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
