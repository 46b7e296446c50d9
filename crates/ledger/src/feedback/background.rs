//! Carries out changes of ratings without delaying the request: after 1 s it continues in the background.

use super::{
    LATE_RATINGS_MAX, backend, count_failure,
    late::Key,
    rating::{Rating, to_record},
    unavailable,
};
use crate::{Error, FeedbackRecord, Ledger, Result};
use domain::session::Session;
use std::{sync::Arc, time::Duration};
use store::FeedbackBackend;
use tokio::sync::oneshot;

/// Longest time that a request waits for a change of a rating, and that a stopping server waits for late ones.
const WAIT: Duration = Duration::from_secs(1);
/// How often a change is attempted while the database is locked or unavailable. On SQLite each attempt waits up
/// to 5 s.
const TRIES: u32 = 12;
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// A change of a person's rating of a session.
#[derive(Debug, Clone)]
pub(super) enum Change {
    /// Stores this rating.
    Give(FeedbackRecord),
    /// Removes the rating.
    TakeBack,
}

impl Change {
    async fn carry_out(&self, backend: &FeedbackBackend, key: &Key) -> store::Result<Applied> {
        match self {
            Self::Give(record) => backend.record(record.clone()).await.map(Applied::Stored),
            Self::TakeBack => backend.remove(&key.0, key.1).await.map(Applied::Removed),
        }
    }

    fn rating(&self) -> Option<FeedbackRecord> {
        match self {
            Self::Give(record) => Some(record.clone()),
            Self::TakeBack => None,
        }
    }
}

/// What became of a change after at most 1 s.
#[derive(Debug)]
pub(super) enum Applied {
    /// The rating that is stored now.
    Stored(FeedbackRecord),
    /// Whether a rating was removed.
    Removed(bool),
    /// A newer request of the same person about the same session replaced it.
    Replaced,
    /// It is attempted in the background.
    Late,
}

/// Who gives a rating.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    /// A request that does nothing else. A failure within 1 s is its answer.
    Waits,
    /// The end of a conversation. A rating that cannot be stored yet is attempted again.
    Ends,
}

/// Stores the rating of a conversation that has ended. After 1 s the caller continues and the write continues in the
/// background, so a locked file delays no one. A rating that cannot be stored is logged and counted.
pub(crate) async fn store_ending(ledger: &Ledger, session: &Session, rating: Rating) {
    let stored = async {
        let record = to_record(ledger, session, rating)?;
        let key = (record.session_id_opaque.clone(), record.user_id_or_null);
        apply(ledger, session, key, Change::Give(record), Caller::Ends).await
    };
    if let Err(error) = stored.await {
        count_failure(ledger, &error);
    }
}

/// Carries out a change, after an earlier one of the same person about the same session, which it replaces.
///
/// # Errors
/// The failure of the first attempt, if it fails within 1 s. Later failures are logged and counted.
/// [`Error::Unavailable`] if [`LATE_RATINGS_MAX`] changes wait.
pub(super) async fn apply(
    ledger: &Ledger,
    session: &Session,
    key: Key,
    change: Change,
    caller: Caller,
) -> Result<Applied> {
    let Ok(permit) = Arc::clone(&ledger.ratings().late).try_acquire_owned() else {
        return Err(Error::Unavailable(format!("{LATE_RATINGS_MAX} ratings wait for their database")));
    };
    let started = ledger.ratings().late_writes.begin(key.clone(), change.rating());
    let (report, reported) = oneshot::channel();
    let (ledger, session) = (ledger.clone(), session.clone());
    tokio::spawn(async move {
        let _permit = permit;
        let write = started.after_earlier().await;
        let attempt = || write.attempt(change.carry_out(backend(&ledger, &session), &key));
        let mut report = Some(report);
        let tell = |outcome: Result<Applied>, is_last: bool| {
            ledger.ratings().late_writes.report(&key, &write, is_last, || send(&mut report, outcome))
        };
        if let Some(error) = attempt_until_done(attempt, tell, caller).await {
            count_failure(&ledger, &error);
        }
    });
    wait_for(reported).await
}

/// Waits up to [`WAIT`] for a change. Afterwards its task, which has no one to report to any more, continues.
async fn wait_for(reported: oneshot::Receiver<Result<Applied>>) -> Result<Applied> {
    match tokio::time::timeout(WAIT, reported).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(Error::Internal("the task of a rating has ended without a report".into())),
        Err(_) => Ok(Applied::Late),
    }
}

/// Sends an outcome to the request. Returns the outcome if the request does not wait any more.
fn send(report: &mut Option<oneshot::Sender<Result<Applied>>>, outcome: Result<Applied>) -> Option<Result<Applied>> {
    match report.take() {
        Some(report) => report.send(outcome).err(),
        None => Some(outcome),
    }
}

/// Attempts a change until it is done, replaced, or given up, and tells that to the request if it still waits. `tell`
/// also takes whether the outcome is the last one, and returns an outcome that no one received. Returns the error that
/// no one received.
async fn attempt_until_done<F: Future<Output = Option<store::Result<Applied>>>>(
    attempt: impl Fn() -> F,
    mut tell: impl FnMut(Result<Applied>, bool) -> Option<Result<Applied>>,
    caller: Caller,
) -> Option<Error> {
    let mut tries = 0;
    loop {
        tries += 1;
        let outcome = attempt().await.unwrap_or(Ok(Applied::Replaced));
        let is_busy = matches!(outcome, Err(store::Error::Unavailable(_))) && tries < TRIES;
        if !is_busy || caller == Caller::Waits {
            let error = tell(outcome.map_err(unavailable), !is_busy)?.err();
            if !is_busy {
                return error;
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Waits up to 1 s for ratings that are still being written, and logs how many are lost.
pub(crate) async fn finish(ledger: &Ledger) {
    let late = &ledger.ratings().late;
    let all = u32::try_from(LATE_RATINGS_MAX).unwrap_or(u32::MAX);
    if tokio::time::timeout(WAIT, late.acquire_many(all)).await.is_err() {
        let lost = LATE_RATINGS_MAX.saturating_sub(late.available_permits());
        tracing::warn!(lost, "ratings could not be kept before the server stopped");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use tokio::time::Instant;

    /// Tells outcomes to a request.
    fn to(report: oneshot::Sender<Result<Applied>>) -> impl FnMut(Result<Applied>, bool) -> Option<Result<Applied>> {
        let mut report = Some(report);
        move |outcome, _| send(&mut report, outcome)
    }

    fn busy() -> store::Error {
        store::Error::Unavailable("locked".into())
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_waits_one_second_for_a_locked_file_and_the_write_goes_on() {
        for caller in [Caller::Waits, Caller::Ends] {
            let tries = Arc::new(AtomicU32::new(0));
            let counted = Arc::clone(&tries);
            // Each attempt waits 5 s for the lock. The third one gets it.
            let attempt = move || {
                let tries = Arc::clone(&counted);
                async move {
                    tokio::time::sleep(Duration::from_secs(5)).await;
                    let is_free = tries.fetch_add(1, Ordering::Relaxed) == 2;
                    Some(if is_free { Ok(Applied::Removed(true)) } else { Err(busy()) })
                }
            };
            let (report, reported) = oneshot::channel();
            let write = tokio::spawn(async move { attempt_until_done(attempt, to(report), caller).await });
            let started = Instant::now();
            assert!(matches!(wait_for(reported).await, Ok(Applied::Late)), "{caller:?}");
            assert_eq!(started.elapsed().as_secs(), 1);
            assert!(write.await.unwrap().is_none(), "{caller:?}");
            assert_eq!(tries.load(Ordering::Relaxed), 3);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_within_the_second_is_the_answer_of_a_request_and_no_ones_of_an_ending() {
        let (report, reported) = oneshot::channel();
        let write = tokio::spawn(attempt_until_done(|| async { Some(Err(busy())) }, to(report), Caller::Waits));
        let refused = wait_for(reported).await;
        assert!(matches!(&refused, Err(Error::Unavailable(why)) if why == "locked"), "{refused:?}");
        assert!(write.await.unwrap().is_none(), "it was reported, and is not attempted again");

        let (report, reported) = oneshot::channel();
        let write = tokio::spawn(attempt_until_done(|| async { Some(Err(busy())) }, to(report), Caller::Ends));
        assert!(matches!(wait_for(reported).await, Ok(Applied::Late)));
        assert!(matches!(write.await.unwrap(), Some(Error::Unavailable(_))), "it is given up after some tries");
    }

    #[tokio::test(start_paused = true)]
    async fn a_damaged_file_is_unavailable() {
        let damaged = || async { Some(Err(store::Error::Database("malformed".into()))) };
        let (report, reported) = oneshot::channel();
        tokio::spawn(attempt_until_done(damaged, to(report), Caller::Ends));
        let refused = wait_for(reported).await;
        assert!(matches!(&refused, Err(Error::Unavailable(why)) if why.contains("malformed")), "{refused:?}");
    }
}
