//! The workers that this process has recorded lately, so that it does not record them again at each of their calls.

use chrono::TimeDelta;
use domain::{Timestamp, id::TenantId};
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, PoisonError},
};

/// Most workers that are kept. When there are more, all are forgotten.
const WORKERS_MAX: usize = 10_000;
/// Time between two records of a worker, in seconds.
pub(super) const EVERY_SECONDS: u32 = 15;

/// When workers were last recorded, by a hash of what was recorded of them.
#[derive(Debug, Default)]
pub(crate) struct RecentlySeen(Mutex<HashMap<(TenantId, u64), Timestamp>>);

impl RecentlySeen {
    /// Whether a worker has to be recorded now. If so, it counts as recorded.
    pub(super) fn is_due(&self, tenant_id: TenantId, what: &impl Hash, now: Timestamp) -> bool {
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        let key = (tenant_id, hasher.finish());
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let every = TimeDelta::seconds(EVERY_SECONDS.into());
        if seen.get(&key).is_some_and(|last| (now - *last).abs() < every) {
            return false;
        }
        if seen.len() >= WORKERS_MAX {
            seen.clear();
        }
        seen.insert(key, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_recorded_every_15_seconds_and_their_number_is_bounded() {
        let (tenant, other) = (TenantId(uuid::Uuid::from_u128(1)), TenantId(uuid::Uuid::from_u128(2)));
        let at = |seconds| Timestamp::UNIX_EPOCH + TimeDelta::seconds(seconds);
        let seen = RecentlySeen::default();
        assert!(seen.is_due(tenant, &("w", 1), at(0)) && !seen.is_due(tenant, &("w", 1), at(14)));
        assert!(seen.is_due(tenant, &("w", 1), at(15)) && seen.is_due(tenant, &("w", 2), at(15)));
        assert!(seen.is_due(other, &("w", 1), at(15)));
        for number in 0..WORKERS_MAX {
            seen.is_due(tenant, &number, at(15));
        }
        assert!(seen.0.lock().unwrap().len() <= WORKERS_MAX);
    }
}
