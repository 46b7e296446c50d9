//! Recording acts.

use crate::{Ledger, Result};
use domain::{
    Caller, Scope, Timestamp,
    audit::{Kind, TargetKind},
    id::{TenantId, UserId},
    limit::AUDIT_PEOPLE_MAX,
};
use serde_json::{Value, json};
use store::{WriteTx, audit::NewEntry};
use uuid::Uuid;

/// An act that is to be recorded. It names people and things by their ids, and has no names, no secrets and no texts of
/// people.
#[derive(Debug, Clone)]
pub(crate) struct Act(NewEntry);

impl Act {
    /// An act of this caller.
    pub(crate) fn new(kind: Kind, by: Caller, at: Timestamp) -> Self {
        Self(NewEntry { at, kind, actor: Some(by.to_string()), target: None, detail: "{}".to_owned() })
    }

    /// What a refused sign-in to the account of this person is recorded as. No one has proven who tried it.
    pub(crate) fn refused_sign_in(kind: Kind, user_id: UserId, at: Timestamp) -> Self {
        let entry = NewEntry { at, kind, actor: None, target: None, detail: "{}".to_owned() };
        Self(entry).on(TargetKind::User, user_id.0)
    }

    /// Says what it was done to.
    pub(crate) fn on(self, kind: TargetKind, id: Uuid) -> Self {
        Self(NewEntry { target: Some((kind, id)), ..self.0 })
    }

    /// Adds what else is to be known: a small JSON object.
    pub(crate) fn with(self, detail: Value) -> Self {
        Self(NewEntry { detail: detail.to_string(), ..self.0 })
    }

    /// Adds who joined and who left a group: their numbers, and the ids of the first [`AUDIT_PEOPLE_MAX`] of each.
    pub(crate) fn with_moves(self, added: &[UserId], removed: &[UserId]) -> Self {
        let ids = |people: &[UserId]| people.iter().take(AUDIT_PEOPLE_MAX).copied().collect::<Vec<_>>();
        self.with(json!({
            "added": ids(added), "addedCount": added.len(), "removed": ids(removed), "removedCount": removed.len(),
        }))
    }

    /// Records the act in a workspace. It is the last thing that the transaction does: whoever adds an entry holds the
    /// list of the workspace until the end, and must not wait for anything else meanwhile.
    pub(crate) async fn record(&self, tx: &mut WriteTx<'_>, tenant_id: TenantId) -> Result<()> {
        Ok(store::audit::append(tx, tenant_id, &self.0).await?)
    }

    /// Records an act that changes nothing else, in a transaction of its own, in the workspace of this scope.
    pub(crate) async fn write(self, ledger: &Ledger, scope: &Scope) -> Result<()> {
        let tenant_id = scope.tenant_id;
        let written = ledger.write(scope.into(), async move |tx| self.record(tx, tenant_id).await);
        written.await
    }

    /// Records the act in all workspaces of which a person is an active member: it concerns their account.
    pub(crate) async fn record_for(&self, tx: &mut WriteTx<'_>, user_id: UserId) -> Result<()> {
        let workspaces = store::user::workspaces(tx.conn(), user_id).await?;
        self.record_in(tx, workspaces.into_iter().map(|(tenant, _)| tenant.id).collect()).await
    }

    /// Records the act once in each of these workspaces.
    pub(crate) async fn record_in(&self, tx: &mut WriteTx<'_>, mut tenants: Vec<TenantId>) -> Result<()> {
        // Everyone takes the lists in the same order.
        tenants.sort_unstable();
        tenants.dedup();
        for tenant_id in tenants {
            self.record(tx, tenant_id).await?;
        }
        Ok(())
    }
}
