//! The workers that this process has recorded lately, so that it does not record them again at each of their calls.

use chrono::TimeDelta;
use domain::{Timestamp, id::TenantId, limit::WORKERS_NEW_MAX};
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, PoisonError},
};

/// Most workers that are kept. When there are more, all are forgotten.
const WORKERS_MAX: usize = 10_000;
/// Time between two records of a worker, in seconds.
pub(super) const EVERY_SECONDS: u32 = 15;

/// When workers were last recorded.
#[derive(Debug, Default)]
pub(crate) struct RecentlySeen(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    /// By a hash of what was recorded of them.
    last: HashMap<(TenantId, u64), Timestamp>,
    /// When the first of the newest unknown workers of a workspace came, and how many have come within
    /// [`EVERY_SECONDS`] since then.
    unknown: HashMap<TenantId, (Timestamp, usize)>,
}

impl RecentlySeen {
    /// Whether a worker has to be recorded now. If so, it counts as recorded. Of workers that are not known, only
    /// [`WORKERS_NEW_MAX`] have to be within [`EVERY_SECONDS`].
    pub(super) fn is_due(&self, tenant_id: TenantId, what: &impl Hash, now: Timestamp) -> bool {
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        let key = (tenant_id, hasher.finish());
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Seen { last, unknown } = &mut *seen;
        let is_recent = |at: Timestamp| (now - at).abs() < TimeDelta::seconds(EVERY_SECONDS.into());
        match last.get(&key) {
            Some(at) if is_recent(*at) => return false,
            Some(_) => {}
            None => {
                let count = unknown.entry(tenant_id).or_insert((now, 0));
                if !is_recent(count.0) {
                    *count = (now, 0);
                }
                if count.1 >= WORKERS_NEW_MAX {
                    return false;
                }
                count.1 += 1;
            }
        }
        if last.len() >= WORKERS_MAX {
            last.clear();
            unknown.retain(|_, (since, _)| is_recent(*since));
        }
        last.insert(key, now);
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
            let time = 30 + i64::try_from(number / WORKERS_NEW_MAX).unwrap() * 15;
            assert!(seen.is_due(tenant, &number, at(time)), "{number}");
        }
        assert!(seen.0.lock().unwrap().last.len() <= WORKERS_MAX);
    }

    #[test]
    fn few_unknown_workers_are_recorded_at_a_time_and_all_that_are_known() {
        let (tenant, other) = (TenantId(uuid::Uuid::from_u128(1)), TenantId(uuid::Uuid::from_u128(2)));
        let at = |seconds| Timestamp::UNIX_EPOCH + TimeDelta::seconds(seconds);
        let seen = RecentlySeen::default();
        assert!(seen.is_due(tenant, &"known", at(0)));
        let due = (0..3 * WORKERS_NEW_MAX).filter(|name| seen.is_due(tenant, name, at(20))).count();
        assert_eq!(due, WORKERS_NEW_MAX);
        assert!(seen.is_due(tenant, &"known", at(21)) && !seen.is_due(tenant, &"unknown", at(34)));
        assert!(seen.is_due(other, &"unknown", at(21)), "each workspace has its own");
        assert!(seen.is_due(tenant, &"unknown", at(35)));
    }
}
