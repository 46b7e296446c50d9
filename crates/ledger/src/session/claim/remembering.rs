//! Agents whose claims are not tried on the fast path, because the last one was given memories.

use domain::id::TenantId;
use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

/// Most agents that are kept. When there are more, all are forgotten.
const AGENTS_MAX: usize = 1_000;

/// Agents that were given memories at their last claim. The fast path would refuse their claims: a round trip for
/// nothing. Both paths are right for every claim, so this set only has to be right most of the time.
#[derive(Debug, Default)]
pub(crate) struct Remembering(Mutex<HashSet<(TenantId, String)>>);

impl Remembering {
    /// Whether the last claim of this agent was given memories.
    pub(super) fn has(&self, tenant_id: TenantId, agent: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&(tenant_id, agent.to_owned()))
    }

    /// Records whether a claim of this agent was given memories. A claim that found no session was given none: while an
    /// agent waits for work, the fast path asks with one round trip.
    pub(super) fn record(&self, tenant_id: TenantId, agent: String, has_memories: bool) {
        let mut agents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !has_memories {
            agents.remove(&(tenant_id, agent));
            return;
        }
        if agents.len() >= AGENTS_MAX {
            agents.clear();
        }
        agents.insert((tenant_id, agent));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_kept_by_workspace_and_their_number_is_bounded() {
        let (one, other) = (TenantId(uuid::Uuid::from_u128(1)), TenantId(uuid::Uuid::from_u128(2)));
        let set = Remembering::default();
        set.record(one, "scout".into(), true);
        assert!(set.has(one, "scout") && !set.has(other, "scout") && !set.has(one, "clerk"));
        set.record(one, "clerk".into(), true);
        assert!(set.has(one, "scout") && set.has(one, "clerk"));
        set.record(one, "scout".into(), false);
        assert!(!set.has(one, "scout") && set.has(one, "clerk"));
        for number in 0..=AGENTS_MAX {
            set.record(one, format!("a{number}"), true);
        }
        assert!(set.has(one, &format!("a{AGENTS_MAX}")) && !set.has(one, "a0"));
    }
}
