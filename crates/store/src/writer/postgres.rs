//! A PostgreSQL lane: merges appends of one workspace and person into one transaction.

use super::{Counters, Job, next_group};
use crate::{
    append::{self, AppendRefusal, AppendRequest, GroupNotices, Settled},
    conn::{Access, Conn},
    error::{Error, is_unique_violation},
    notify::Notifier,
    open::publish,
    transaction::{Change, in_transaction},
};
use sqlx::PgPool;
use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
};
use tokio::sync::{broadcast, mpsc, oneshot};

pub(super) struct PostgresLane {
    pub(super) pool: PgPool,
    pub(super) notices: broadcast::Sender<Change>,
    pub(super) notifier: Notifier,
    pub(super) counters: Arc<Counters>,
}

impl PostgresLane {
    pub(super) async fn run(self, mut jobs: mpsc::Receiver<Job>) {
        loop {
            let (group, stop) = next_group(&mut jobs, &self.counters).await;
            // Row-level security knows one workspace and one person per transaction.
            let mut by_access: HashMap<Access, Vec<(AppendRequest, oneshot::Sender<Settled>)>> = HashMap::new();
            for job in group {
                if let Job::Append { request, reply } = job {
                    let access = Access::Tenant { tenant_id: request.tenant_id, user_id: request.user_id };
                    by_access.entry(access).or_default().push((request, reply));
                }
            }
            for (access, appends) in by_access {
                self.commit(access, appends).await;
            }
            if stop {
                break;
            }
        }
    }

    async fn commit(&self, access: Access, appends: Vec<(AppendRequest, oneshot::Sender<Settled>)>) {
        let (requests, replies): (Vec<_>, Vec<_>) = appends.into_iter().unzip();
        let requests: Vec<&AppendRequest> = requests.iter().collect();
        let mut outcome = self.attempt(access, &requests, false).await;
        if matches!(&outcome, Err(Attempt::Repeated)) {
            outcome = self.attempt(access, &requests, true).await;
        }
        match outcome {
            Ok((settled, notices)) => {
                self.counters.groups.fetch_add(1, Ordering::Relaxed);
                self.counters.items.fetch_add(replies.len() as u64, Ordering::Relaxed);
                publish(&self.notices, Some(&self.notifier), notices.into_notices());
                for (reply, settled) in replies.into_iter().zip(settled) {
                    if let Ok(done) = &settled {
                        self.counters.events.fetch_add(done.events.len() as u64, Ordering::Relaxed);
                    }
                    let _ = reply.send(settled);
                }
            }
            Err(error) => {
                let text = match error {
                    Attempt::Repeated => "ids repeated".to_owned(),
                    Attempt::Failed(error) => error.to_string(),
                };
                tracing::error!(error = text, items = replies.len(), "a group was rolled back");
                for reply in replies {
                    let refusal: AppendRefusal = Error::Unavailable(text.clone()).into();
                    let _ = reply.send(Err(refusal));
                }
            }
        }
    }

    async fn attempt(
        &self,
        access: Access,
        requests: &[&AppendRequest],
        careful: bool,
    ) -> std::result::Result<(Vec<Settled>, GroupNotices), Attempt> {
        in_transaction(&self.pool, access, false, async |connection| {
            let mut notices = GroupNotices::default();
            let mut conn = Conn::Postgres(connection);
            let settled = if careful {
                append::apply_carefully(&mut conn, requests, &mut notices).await
            } else {
                append::apply(&mut conn, requests, &mut notices).await
            };
            match settled {
                Ok(settled) => Ok((settled, notices)),
                Err(error) if !careful && is_unique_violation(&error) => Err(Attempt::Repeated),
                Err(error) => Err(Attempt::Failed(error.into())),
            }
        })
        .await
    }
}

/// Why a group could not be committed.
enum Attempt {
    /// An id is recorded already: check each request.
    Repeated,
    /// Anything else.
    Failed(Error),
}

impl From<Error> for Attempt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
