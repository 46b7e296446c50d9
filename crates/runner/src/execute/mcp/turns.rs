//! Turns for listing the tools of MCP servers. Each workspace has its own bound, so that slow servers of one workspace
//! do not hold up the others.

use domain::{
    id::TenantId,
    limit::{MCP_LISTS_AT_ONCE, MCP_LISTS_OF_WORKSPACE_AT_ONCE},
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

/// Lists that run at the same time in one server.
pub(super) struct Turns {
    all: Semaphore,
    /// Of the workspaces that list now or wait for it.
    of_workspace: Mutex<HashMap<TenantId, Weak<Semaphore>>>,
}

/// A turn, which ends when it is dropped. The semaphores are never closed, so both permits are there.
pub(super) struct Turn<'a> {
    _of_workspace: Option<OwnedSemaphorePermit>,
    _of_all: Option<SemaphorePermit<'a>>,
}

impl Turns {
    pub(super) fn new() -> Self {
        Self { all: Semaphore::new(MCP_LISTS_AT_ONCE), of_workspace: Mutex::default() }
    }

    /// Waits for the turn of a workspace. It waits for its own lists first, and takes no place of others meanwhile.
    pub(super) async fn take(&self, tenant_id: TenantId) -> Turn<'_> {
        let own = self.of(tenant_id);
        let of_workspace = own.acquire_owned().await.ok();
        Turn { _of_workspace: of_workspace, _of_all: self.all.acquire().await.ok() }
    }

    fn of(&self, tenant_id: TenantId) -> Arc<Semaphore> {
        let mut known = self.of_workspace.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = known.get(&tenant_id).and_then(Weak::upgrade) {
            return own;
        }
        known.retain(|_, own| own.strong_count() > 0);
        let own = Arc::new(Semaphore::new(MCP_LISTS_OF_WORKSPACE_AT_ONCE));
        known.insert(tenant_id, Arc::downgrade(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use uuid::Uuid;

    fn workspace(number: u128) -> TenantId {
        TenantId(Uuid::from_u128(number))
    }

    #[test]
    fn a_workspace_whose_servers_are_slow_holds_up_no_other() {
        let turns = Turns::new();
        let mut slow: Vec<_> =
            (0..MCP_LISTS_OF_WORKSPACE_AT_ONCE).filter_map(|_| turns.take(workspace(1)).now_or_never()).collect();
        assert_eq!(slow.len(), MCP_LISTS_OF_WORKSPACE_AT_ONCE);
        assert!(turns.take(workspace(1)).now_or_never().is_none(), "a workspace has more turns than its bound");
        assert!(turns.take(workspace(2)).now_or_never().is_some(), "another workspace waits");
        slow.pop();
        assert!(turns.take(workspace(1)).now_or_never().is_some(), "a turn that has ended is not given on");
    }

    #[test]
    fn all_workspaces_together_have_a_bound_and_leave_nothing_behind() {
        let turns = Turns::new();
        let held: Vec<_> =
            (0..MCP_LISTS_AT_ONCE as u128).filter_map(|n| turns.take(workspace(n)).now_or_never()).collect();
        assert_eq!(held.len(), MCP_LISTS_AT_ONCE);
        assert!(turns.take(workspace(100)).now_or_never().is_none());
        drop(held);
        assert!(turns.take(workspace(100)).now_or_never().is_some());
        assert_eq!(turns.of_workspace.lock().unwrap().len(), 1);
    }
}
