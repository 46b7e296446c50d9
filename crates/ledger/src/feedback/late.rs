//! Ratings that are written in the background, so that a newer request of the same person replaces them.
//!
//! Without this, a rating that was taken back while its write waited for a locked database would be written
//! afterwards. Only this process knows its late writes: a request at another server does not stop them.

use domain::id::UserId;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex as StdMutex, PoisonError},
};
use tokio::sync::Mutex;

/// The name of a session in the ratings, and the person; `None` for a private session.
pub(super) type Key = (String, Option<UserId>);

/// The late writes of this process.
#[derive(Default)]
pub(super) struct LateWrites(StdMutex<HashMap<Key, Arc<LateWrite>>>);

/// One late write. The value says whether a newer request replaces it. An attempt holds the lock, so whoever replaces
/// the write waits for the attempt that is running.
#[derive(Default)]
pub(super) struct LateWrite(Mutex<bool>);

impl LateWrite {
    /// Runs one attempt, unless the write was replaced. `None` if it was.
    pub(super) async fn attempt<T>(&self, write: impl Future<Output = T>) -> Option<T> {
        let is_replaced = self.0.lock().await;
        if *is_replaced { None } else { Some(write.await) }
    }

    async fn replace(&self) {
        *self.0.lock().await = true;
    }
}

impl LateWrites {
    fn map(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Arc<LateWrite>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a write, which replaces an earlier one with this key.
    pub(super) async fn add(&self, key: Key) -> Arc<LateWrite> {
        let added = Arc::new(LateWrite::default());
        let earlier = self.map().insert(key, Arc::clone(&added));
        if let Some(earlier) = earlier {
            earlier.replace().await;
        }
        added
    }

    /// Removes a write that is finished.
    pub(super) fn remove(&self, key: &Key, finished: &Arc<LateWrite>) {
        let mut map = self.map();
        if map.get(key).is_some_and(|known| Arc::ptr_eq(known, finished)) {
            map.remove(key);
        }
    }

    /// Stops the write with this key, if there is one, before a newer request is carried out. Waits for an attempt that
    /// is running.
    pub(super) async fn replace(&self, key: &Key) {
        let known = self.map().get(key).cloned();
        if let Some(known) = known {
            known.replace().await;
        }
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
        let write = late.add(key()).await;
        assert_eq!(write.attempt(async { 1 }).await, Some(1));
        late.replace(&key()).await;
        assert_eq!(write.attempt(async { 2 }).await, None);
    }

    #[tokio::test]
    async fn a_newer_request_waits_for_the_running_attempt() {
        let late = LateWrites::default();
        let write = late.add(key()).await;
        let (finish, finished) = oneshot::channel::<()>();
        let mut attempt = pin!(write.attempt(finished));
        assert!(poll(attempt.as_mut()).is_pending());
        late.replace(&("other".into(), None)).await;
        let found = key();
        let mut replace = pin!(late.replace(&found));
        assert!(poll(replace.as_mut()).is_pending(), "the attempt has the lock");
        finish.send(()).unwrap();
        assert!(matches!(poll(attempt.as_mut()), Poll::Ready(Some(Ok(())))));
        replace.await;
        assert_eq!(write.attempt(async { 2 }).await, None);
    }

    #[tokio::test]
    async fn a_second_write_replaces_the_first_and_outlives_its_removal() {
        let late = LateWrites::default();
        let first = late.add(key()).await;
        let second = late.add(key()).await;
        assert_eq!(first.attempt(async { 1 }).await, None);
        late.remove(&key(), &first);
        late.replace(&key()).await;
        assert_eq!(second.attempt(async { 2 }).await, None, "it is still known");
        late.remove(&key(), &second);
        assert!(late.map().is_empty());
    }
}
