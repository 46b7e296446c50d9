//! Ratings that are written in the background, so that a newer request of the same person replaces them.
//!
//! Without this, a rating that was taken back while its write waited for a locked database would be written
//! afterwards. Only this process knows its late writes: a request at another server does not stop them.

use crate::FeedbackRecord;
use domain::id::UserId;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex as StdMutex, PoisonError},
};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The name of a session in the ratings, and the person; `None` for a private session.
pub(super) type Key = (String, Option<UserId>);

/// The writes of this process that are not done.
#[derive(Default)]
pub(super) struct LateWrites(StdMutex<HashMap<Key, Arc<LateWrite>>>);

/// One write. The value of the mutex says whether a newer request replaces it. An attempt holds the lock, so whoever
/// replaces the write waits for the attempt that is running.
#[derive(Debug)]
pub(super) struct LateWrite {
    is_replaced: Arc<Mutex<bool>>,
    /// The rating to write; `None` if the rating is to be removed.
    rating: Option<FeedbackRecord>,
}

impl LateWrite {
    /// Runs one attempt, unless the write was replaced. `None` if it was.
    pub(super) async fn attempt<T>(&self, write: impl Future<Output = T>) -> Option<T> {
        let is_replaced = self.is_replaced.lock().await;
        if *is_replaced { None } else { Some(write.await) }
    }

    async fn replace(&self) {
        *self.is_replaced.lock().await = true;
    }
}

/// A write that has been added and not attempted. It holds its own lock, so a newer one waits for all earlier ones.
#[derive(Debug)]
pub(super) struct Started {
    write: Arc<LateWrite>,
    earlier: Option<Arc<LateWrite>>,
    lock: Option<OwnedMutexGuard<bool>>,
}

impl Started {
    /// Stops the earlier write with the same key. Waits for an attempt of it that is running. Then this write can be
    /// attempted.
    pub(super) async fn after_earlier(mut self) -> Arc<LateWrite> {
        if let Some(earlier) = &self.earlier {
            earlier.replace().await;
        }
        drop(self.lock.take());
        self.write
    }
}

impl LateWrites {
    fn map(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Arc<LateWrite>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a write, which replaces an earlier one with this key.
    pub(super) fn begin(&self, key: Key, rating: Option<FeedbackRecord>) -> Started {
        let is_replaced = Arc::new(Mutex::new(false));
        // No one else knows the lock yet.
        let lock = Arc::clone(&is_replaced).try_lock_owned().ok();
        let write = Arc::new(LateWrite { is_replaced, rating });
        let earlier = self.map().insert(key, Arc::clone(&write));
        Started { write, earlier, lock }
    }

    /// Returns the rating that a write with this key leaves, `Some(None)` if it removes the rating. `None` without such
    /// a write.
    pub(super) fn pending(&self, key: &Key) -> Option<Option<FeedbackRecord>> {
        self.map().get(key).map(|write| write.rating.clone())
    }

    /// Reports the outcome of an attempt with `send`, which returns the outcome if no one received it. The write is
    /// removed if someone did, and after the last attempt. No one who has received an outcome finds the write in
    /// [`Self::pending`], which waits meanwhile.
    pub(super) fn report<T>(
        &self,
        key: &Key,
        write: &Arc<LateWrite>,
        is_last: bool,
        send: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        let mut map = self.map();
        let unsent = send();
        let is_finished = is_last || unsent.is_none();
        if is_finished && map.get(key).is_some_and(|known| Arc::ptr_eq(known, write)) {
            map.remove(key);
        }
        unsent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        pin::{Pin, pin},
        task::{Context, Poll, Waker},
    };
    use tokio::sync::oneshot;

    fn poll<T>(future: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    fn key() -> Key {
        ("name".into(), None)
    }

    #[tokio::test]
    async fn a_replaced_write_is_not_attempted_again() {
        let late = LateWrites::default();
        let first = late.begin(key(), None).after_earlier().await;
        assert_eq!(first.attempt(async { 1 }).await, Some(1));
        let second = late.begin(key(), None).after_earlier().await;
        assert_eq!(first.attempt(async { 2 }).await, None);
        late.report(&key(), &first, true, || None::<()>);
        assert_eq!(late.pending(&key()), Some(None), "the second one is still known");
        assert_eq!(second.attempt(async { 2 }).await, Some(2));
        late.report(&key(), &second, true, || None::<()>);
        assert_eq!(late.pending(&key()), None);
    }

    #[tokio::test]
    async fn whoever_has_received_an_outcome_does_not_find_the_write() {
        let late = Arc::new(LateWrites::default());
        let write = late.begin(key(), None).after_earlier().await;
        assert_eq!(late.report(&key(), &write, false, || Some("unsent")), Some("unsent"));
        assert_eq!(late.pending(&key()), Some(None), "it is attempted again");
        let (tell, receiver) = std::sync::mpsc::channel();
        let request = std::thread::spawn({
            let late = Arc::clone(&late);
            move || receiver.recv().map(|()| late.pending(&key())).unwrap()
        });
        late.report(&key(), &write, false, || tell.send(()).err());
        assert_eq!(request.join().unwrap(), None);
    }

    #[tokio::test]
    async fn a_newer_write_waits_for_the_running_attempt_of_every_earlier_one() {
        let late = LateWrites::default();
        let first = late.begin(key(), None).after_earlier().await;
        let (finish, finished) = oneshot::channel::<()>();
        let mut attempt = pin!(first.attempt(finished));
        assert!(poll(attempt.as_mut()).is_pending());
        let _other = late.begin(("other".into(), None), None).after_earlier().await;
        let mut second = pin!(late.begin(key(), None).after_earlier());
        let mut third = pin!(late.begin(key(), None).after_earlier());
        assert!(poll(second.as_mut()).is_pending(), "the attempt has the lock");
        assert!(poll(third.as_mut()).is_pending(), "the second one waits");
        finish.send(()).unwrap();
        assert!(matches!(poll(attempt.as_mut()), Poll::Ready(Some(Ok(())))));
        let second = second.await;
        third.await;
        assert_eq!(second.attempt(async { 2 }).await, None);
    }
}
