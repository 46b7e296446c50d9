//! Changing an action.

use super::{check, check_references};
use crate::{ActionRecord, Error, Ledger, Result, action_input, guard::require};
use domain::{
    Scope, Timestamp,
    action::{ActionStatus, OutputType},
    id::{ActionId, EntityId, UserId},
    role::Permission,
};

/// A change of an action. Fields that are `None` keep their value.
#[derive(Debug, Clone, Default)]
pub struct ActionChange {
    /// `updated_at` of the action as the caller read it. The change is refused if the action was changed since, unless
    /// it has the wanted content already. `None` changes the newest.
    pub read_at: Option<Timestamp>,
    /// 1 to 200 characters.
    pub name: Option<String>,
    /// A slug that no other action of the workspace has.
    pub slug: Option<String>,
    /// At most 10,000 characters.
    pub description: Option<String>,
    /// Slug of the agent. `Some(None)` clears it.
    pub agent_slug: Option<Option<String>>,
    /// A member of the workspace. `Some(None)` clears it.
    pub assigned_to: Option<Option<UserId>>,
    /// An entity of the workspace. `Some(None)` clears it.
    pub target_entity_id: Option<Option<EntityId>>,
    /// The type of its sessions' output.
    pub output_type: Option<OutputType>,
    /// The output contract as a JSON object.
    pub output_config: Option<String>,
    /// A JSON object. It replaces the whole metadata.
    pub metadata: Option<String>,
    /// Archived actions cannot be triggered.
    pub status: Option<ActionStatus>,
}

/// Changes an action. Existing sessions keep the settings that they were created with.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such action; [`Error::Invalid`] for wrong fields and for references to
/// what is not in the workspace; [`Error::NameTaken`] if another action has the slug; [`Error::StaleAction`] if the
/// action was changed after `read_at`.
pub async fn update(ledger: &Ledger, scope: &Scope, id: ActionId, change: ActionChange) -> Result<ActionRecord> {
    require(scope, Permission::ManageActions)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    ledger
        .write(scope.into(), async move |tx| {
            // The whole row is written, so a change made between reading and writing would be lost.
            let before = store::action::find_locked(tx, tenant_id, id).await?.ok_or(Error::NotFound("action"))?;
            let is_stale = change.read_at.is_some_and(|read_at| read_at != before.updated_at);
            let is_other_input = change.metadata.is_some();
            let action = apply(before.clone(), change, now);
            if is_stale {
                // The same change sent twice is no conflict.
                let is_same = ActionRecord { updated_at: before.updated_at, ..action } == before;
                return if is_same { Ok(before) } else { Err(Error::StaleAction) };
            }
            check(&action)?;
            // The schema is only checked when the metadata changes. Otherwise an action that was stored with
            // an unusable schema could not be changed at all.
            if is_other_input {
                action_input::check(&action)?;
            }
            check_references(tx.conn(), tenant_id, &action).await?;
            if !store::action::update(tx, tenant_id, &action).await? {
                return Err(Error::NameTaken("the slug"));
            }
            tx.counts_changed(tenant_id);
            Ok(action)
        })
        .await
}

fn apply(before: ActionRecord, change: ActionChange, now: Timestamp) -> ActionRecord {
    ActionRecord {
        name: change.name.unwrap_or(before.name),
        slug: change.slug.unwrap_or(before.slug),
        description: change.description.unwrap_or(before.description),
        agent_slug: change.agent_slug.unwrap_or(before.agent_slug),
        assigned_to: change.assigned_to.unwrap_or(before.assigned_to),
        target_entity_id: change.target_entity_id.unwrap_or(before.target_entity_id),
        output_type: change.output_type.unwrap_or(before.output_type),
        output_config: change.output_config.unwrap_or(before.output_config),
        metadata: change.metadata.unwrap_or(before.metadata),
        status: change.status.unwrap_or(before.status),
        updated_at: now,
        ..before
    }
}
