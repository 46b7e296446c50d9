//! Password hashes: argon2id, t = 2, m = 19 MiB, p = 1 (OWASP ASVS 5.0 appendix C). Two are computed at a time,
//! and callers wait in a bounded queue.

use crate::{
    Ledger,
    error::{Error, Result},
};
use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{PasswordHasher as _, PasswordVerifier as _, phc::PasswordHash},
};
use domain::limit::{PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN, PASSWORD_HASHES_AT_ONCE, PASSWORD_HASHES_WAITING_MAX};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const MEMORY_KIB: u32 = 19 * 1024;
const ITERATIONS: u32 = 2;
const LANES: u32 = 1;

/// Seconds after which a caller may retry when the queue is full. A full queue empties in about one second.
const BUSY_RETRY_AFTER_SECONDS: u64 = 2;

/// The queue of password hashes that wait to be computed.
///
/// The queue is short. A hash takes tens of milliseconds of a core, so the last caller of a long queue would
/// wait for many seconds. Callers that find the queue full get [`Error::Busy`].
pub(crate) struct PasswordQueue {
    places: Arc<Semaphore>,
    cores: Arc<Semaphore>,
}

/// A reserved place in the queue, for one hash.
pub(crate) struct QueuePermit {
    place: OwnedSemaphorePermit,
    cores: Arc<Semaphore>,
}

impl PasswordQueue {
    pub(crate) fn new() -> Self {
        Self {
            places: Arc::new(Semaphore::new(PASSWORD_HASHES_AT_ONCE + PASSWORD_HASHES_WAITING_MAX)),
            cores: Arc::new(Semaphore::new(PASSWORD_HASHES_AT_ONCE)),
        }
    }

    /// Reserves a place. Returns [`Error::Busy`] at once if there is none.
    pub(crate) fn acquire(&self) -> Result<QueuePermit> {
        let full = |_| Error::Busy { retry_after_seconds: BUSY_RETRY_AFTER_SECONDS };
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(full)?;
        Ok(QueuePermit { place, cores: Arc::clone(&self.cores) })
    }
}

impl QueuePermit {
    /// Runs a hash on a blocking thread. The place is reserved until the hash is done, even if the caller
    /// disconnects. Otherwise callers that disconnect could start any number of hashes.
    async fn compute<T: Send + 'static>(self, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
        let Self { place, cores } = self;
        let core = cores.acquire_owned().await.map_err(|e| Error::Unavailable(e.to_string()))?;
        let hashed = tokio::task::spawn_blocking(move || {
            let _held = (place, core);
            work()
        });
        hashed.await.map_err(|e| Error::Internal(e.to_string()))?
    }
}

/// The cost of hashing a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PasswordCost {
    /// 19 MiB of memory and tens of milliseconds of a core.
    #[default]
    Full,
    /// The lowest cost that argon2 accepts. It does not protect passwords and is for tests only.
    Least,
}

/// A hash that no password has. It is checked for unknown addresses, so that they take as long as known ones.
const DUMMY: &str = "$argon2id$v=19$m=19456,t=2,p=1$c2hpZnRib29rLWR1bW15$0000000000000000000000000000000000000000000";

fn hasher(cost: PasswordCost) -> Result<Argon2<'static>> {
    let (memory_kib, iterations) = match cost {
        PasswordCost::Full => (MEMORY_KIB, ITERATIONS),
        PasswordCost::Least => (Params::MIN_M_COST, Params::MIN_T_COST),
    };
    let params = Params::new(memory_kib, iterations, LANES, None).map_err(|e| Error::Internal(e.to_string()))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// Hashes a new password and returns the hash as a PHC string.
///
/// # Errors
/// [`Error::Invalid`] if the password is too short or too long, [`Error::Busy`] if the queue is full.
pub(crate) async fn hash_password(ledger: &Ledger, password: &str) -> Result<String> {
    if password.chars().count() < PASSWORD_CHARS_MIN || password.len() > PASSWORD_BYTES_MAX {
        return Err(Error::invalid(
            "password",
            format!("at least {PASSWORD_CHARS_MIN} characters, at most {PASSWORD_BYTES_MAX} bytes"),
        ));
    }
    let mut salt = [0_u8; 16];
    ledger.entropy().fill(&mut salt);
    let (password, cost) = (password.to_owned(), ledger.password_cost());
    let hashed = ledger.passwords().acquire()?.compute(move || {
        let hash: PasswordHash = hasher(cost)?
            .hash_password_with_salt(password.as_bytes(), &salt)
            .map_err(|e| Error::Internal(format!("argon2: {e}")))?;
        Ok(hash.to_string())
    });
    hashed.await
}

/// Returns whether the password matches the hash. `None` takes as long as a real hash and never matches.
pub(crate) async fn verify_password(place: QueuePermit, password: &str, hash: Option<String>) -> Result<bool> {
    if password.len() > PASSWORD_BYTES_MAX {
        return Ok(false);
    }
    let password = password.to_owned();
    let verified = place.compute(move || {
        let known = hash.is_some();
        let hash = hash.unwrap_or_else(|| DUMMY.to_owned());
        // The hash contains its own parameters, so the cost given here is not used.
        let right = hasher(PasswordCost::Full)?.verify_password(password.as_bytes(), hash.as_str()).is_ok();
        Ok(known && right)
    });
    verified.await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dummy_hash_is_computed_with_the_parameters_of_real_ones() {
        let dummy = PasswordHash::new(DUMMY).unwrap();
        let real: PasswordHash = hasher(PasswordCost::default())
            .unwrap()
            .hash_password_with_salt(b"long enough", b"0123456789abcdef")
            .unwrap();
        assert_eq!(dummy.params, real.params);
        assert_eq!(dummy.algorithm, real.algorithm);
    }

    #[tokio::test]
    async fn a_full_queue_refuses_and_has_room_again_afterwards() {
        let queue = PasswordQueue::new();
        let places: Vec<_> = (0..PASSWORD_HASHES_AT_ONCE + PASSWORD_HASHES_WAITING_MAX)
            .map(|n| queue.acquire().unwrap_or_else(|refusal| panic!("place {n}: {refusal}")))
            .collect();
        let refused = queue.acquire().err();
        assert!(matches!(refused, Some(Error::Busy { retry_after_seconds: 1.. })), "{refused:?}");
        drop(places);
        assert!(queue.acquire().unwrap().compute(|| Ok(true)).await.unwrap());
    }

    #[tokio::test]
    async fn a_hash_whose_caller_has_gone_keeps_its_core_and_its_place() {
        let queue = PasswordQueue::new();
        let (started, has_started) = tokio::sync::oneshot::channel();
        let (end, may_end) = std::sync::mpsc::channel::<()>();
        let hash = queue.acquire().unwrap().compute(move || {
            started.send(()).map_err(|()| Error::Internal("nobody waits".into()))?;
            may_end.recv().map_err(|e| Error::Internal(e.to_string()))
        });
        let caller = tokio::spawn(hash);
        has_started.await.unwrap();
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        assert_eq!(queue.cores.available_permits(), PASSWORD_HASHES_AT_ONCE - 1);
        assert_eq!(queue.places.available_permits(), PASSWORD_HASHES_AT_ONCE + PASSWORD_HASHES_WAITING_MAX - 1);
        end.send(()).unwrap();
        // All permits are available only after that hash has ended.
        let all = u32::try_from(PASSWORD_HASHES_AT_ONCE).unwrap();
        drop(queue.cores.acquire_many(all).await.unwrap());
    }
}
