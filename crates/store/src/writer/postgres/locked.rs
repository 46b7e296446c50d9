//! Appends that are checked against the rows that are read under the lock of their sessions.

use super::{PostgresLane, Waiting, connection, span_of_first};
use crate::{
    engine::{Access, Conn, Error, Mode, is_lock_failure, transaction_on, with_timeout},
    event::{self, AppendRequest, GroupNotices, Settled},
};
use std::collections::HashSet;
use tracing::Instrument as _;

/// How a group is committed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CommitMode {
    /// Whether each request has its own savepoint and is compared with the recorded events.
    pub(super) one_by_one: bool,
    /// Whether sessions that another transaction holds are skipped.
    pub(super) skip_locked: bool,
}

/// Why a try to commit a group failed.
enum Attempt {
    /// An event is recorded already, or the database refused a row.
    ItemRefused,
    /// Another transaction holds one of the sessions.
    SessionLocked,
    /// Anything else.
    Failed(Error),
}

impl From<Error> for Attempt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// The result of each request and the notices; a result is `None` if another transaction holds the session.
type Outcome = std::result::Result<(Vec<Option<Settled>>, GroupNotices), Attempt>;

impl PostgresLane {
    /// Commits and answers the appends. Returns those whose sessions another transaction holds.
    pub(super) async fn commit_under_lock(
        &mut self,
        access: Access,
        appends: Vec<Waiting>,
        mut mode: CommitMode,
    ) -> Vec<Waiting> {
        let requests: Vec<&AppendRequest> = appends.iter().map(|waiting| &waiting.request).collect();
        let (settled, notices) = loop {
            match self.attempt(access, &requests, mode).instrument(span_of_first(&appends)).await {
                Ok(done) => break done,
                Err(Attempt::ItemRefused) if !mode.one_by_one => mode.one_by_one = true,
                Err(Attempt::SessionLocked) if !mode.skip_locked => mode.skip_locked = true,
                Err(error) => {
                    let error = match error {
                        Attempt::ItemRefused => Error::Database("the database refused a savepoint".into()),
                        Attempt::SessionLocked => {
                            Error::Unavailable("another transaction holds what an append needs".into())
                        }
                        Attempt::Failed(error) => error,
                    };
                    self.refuse_all(appends, error);
                    return Vec::new();
                }
            }
        };
        for head in notices.heads() {
            self.heads.insert(head);
        }
        let (done, held): (Vec<_>, Vec<_>) =
            appends.into_iter().zip(settled).partition(|(_, settled)| settled.is_some());
        if !done.is_empty() {
            let done = done.into_iter().filter_map(|(waiting, settled)| Some((waiting, settled?)));
            self.answer(done.collect(), notices);
        }
        held.into_iter().map(|(waiting, _)| waiting).collect()
    }

    async fn attempt(&mut self, access: Access, requests: &[&AppendRequest], mode: CommitMode) -> Outcome {
        let connection = connection(&self.pool, &mut self.connection).await?;
        let work = transaction_on(connection, access, Mode::Shared, async |connection| {
            match apply(connection, requests, mode).await {
                Ok(done) => Ok(done),
                Err(error) if is_lock_failure(&error) => Err(Attempt::SessionLocked),
                Err(error) => match Error::from(error) {
                    error if !mode.one_by_one && error.is_of_item() => Err(Attempt::ItemRefused),
                    error => Err(Attempt::Failed(error)),
                },
            }
        });
        with_timeout(work).await?
    }
}

async fn apply(
    connection: &mut sqlx::PgConnection,
    requests: &[&AppendRequest],
    mode: CommitMode,
) -> Result<(Vec<Option<Settled>>, GroupNotices), sqlx::Error> {
    let mut held = HashSet::new();
    if mode.skip_locked
        && let Some(first) = requests.first()
    {
        let wanted: Vec<_> = requests.iter().map(|request| request.session_id).collect();
        held = event::lock_free(connection, first.tenant_id, &wanted).await?;
    }
    let free: Vec<&AppendRequest> =
        requests.iter().filter(|request| !held.contains(&request.session_id)).copied().collect();
    let mut notices = GroupNotices::default();
    let mut conn = Conn::Postgres(connection);
    let settled = if mode.one_by_one {
        event::apply_one_by_one(&mut conn, &free, &mut notices).await?
    } else {
        event::apply(&mut conn, &free, &mut notices).await?
    };
    let mut settled = settled.into_iter();
    let of = |request: &&AppendRequest| if held.contains(&request.session_id) { None } else { settled.next() };
    Ok((requests.iter().map(of).collect(), notices))
}
