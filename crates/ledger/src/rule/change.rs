//! Changing, suspending, resuming and deleting rules.

use super::{admin, create::checked, not_found, require_admin, suspend::suspended};
use crate::{Error, Ledger, Result, RuleRecord, audit::Act, commit::Minter, guard::require_version};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::{RuleId, TenantId},
    rule::{Condition, Definition, Limits, State, SuspendedWhy},
};
use serde_json::json;
use store::WriteTx;

/// Parts of a rule to replace, and what they are based on. What a rule is about never changes.
#[derive(Debug, Clone, Default)]
pub struct RuleChange {
    /// The version that the caller read.
    pub version: u64,
    /// All conditions.
    pub conditions: Option<Vec<Condition>>,
    /// All limits.
    pub limits: Option<Limits>,
}

/// Returns a rule that is not deleted, locked.
async fn locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: RuleId) -> Result<RuleRecord> {
    let rule = store::rule::find_locked(tx, tenant_id, id).await?.ok_or_else(not_found)?;
    if rule.state == State::Deleted { Err(Error::NotNow("the rule is deleted")) } else { Ok(rule) }
}

/// Makes a new version of a rule, for the admin who calls. A suspended rule remains suspended. A change that changes
/// nothing makes no version.
///
/// # Errors
/// [`Error::Forbidden`] for everyone but admins who are signed in; [`Error::NotFound`] if there is no such rule;
/// [`Error::NotNow`] if it is deleted; [`Error::StaleVersion`] if it was changed since; [`Error::Invalid`] for a wrong
/// definition.
pub async fn update(ledger: &Ledger, scope: &Scope, id: RuleId, change: RuleChange) -> Result<RuleRecord> {
    let made_by = admin(scope)?;
    let (tenant_id, now, actor) = (scope.tenant_id, ledger.now(), scope.caller.to_string());
    let act = Act::new(Kind::RuleChanged, scope.caller, now).on(TargetKind::Rule, id.0);
    ledger
        .write(scope.into(), async move |tx| {
            let before = locked(tx, tenant_id, id).await?;
            require_version(change.version, before.version)?;
            let RuleChange { conditions, limits, .. } = change;
            let definition = Definition {
                subject: before.definition.subject.clone(),
                conditions: conditions.unwrap_or_else(|| before.definition.conditions.clone()),
                limits: limits.unwrap_or_else(|| before.definition.limits.clone()),
            };
            if definition == before.definition {
                return Ok(before);
            }
            let rule = RuleRecord {
                definition: checked(definition, now)?,
                version: before.version + 1,
                made_by,
                made_at: now,
                updated_by: actor,
                updated_at: now,
                ..before
            };
            store::rule::insert_version(tx, tenant_id, &rule).await?;
            store::rule::update(tx, tenant_id, &rule).await?;
            act.with(json!({ "version": rule.version })).record(tx, tenant_id).await?;
            Ok(rule)
        })
        .await
}

/// Suspends a rule: it decides nothing until it is resumed. A repeat changes nothing.
///
/// # Errors
/// [`Error::NotFound`] if there is no such rule; [`Error::NotNow`] if it is deleted.
pub async fn suspend(ledger: &Ledger, scope: &Scope, id: RuleId) -> Result<RuleRecord> {
    require_admin(scope)?;
    let (tenant_id, by) = (scope.tenant_id, scope.caller);
    let minter = Minter::new(ledger, ledger.now());
    ledger
        .write(scope.into(), async move |tx| {
            let rule = locked(tx, tenant_id, id).await?;
            if rule.state == State::Suspended {
                return Ok(rule);
            }
            let (rule, act) = suspended(tx, tenant_id, rule, (SuspendedWhy::Admin, None), by, &minter).await?;
            act.record(tx, tenant_id).await?;
            Ok(rule)
        })
        .await
}

/// Lets a suspended rule decide again. A repeat changes nothing.
///
/// # Errors
/// [`Error::Forbidden`] for everyone but admins who are signed in; [`Error::NotFound`] if there is no such rule;
/// [`Error::NotNow`] if it is deleted or has expired.
pub async fn resume(ledger: &Ledger, scope: &Scope, id: RuleId) -> Result<RuleRecord> {
    admin(scope)?;
    let (tenant_id, now, actor) = (scope.tenant_id, ledger.now(), scope.caller.to_string());
    let act = Act::new(Kind::RuleResumed, scope.caller, now).on(TargetKind::Rule, id.0);
    ledger
        .write(scope.into(), async move |tx| {
            let before = locked(tx, tenant_id, id).await?;
            if before.state == State::Active {
                return Ok(before);
            }
            if before.definition.limits.expires_at <= now {
                return Err(Error::NotNow("the rule has expired; change the day until which it decides first"));
            }
            let rule = RuleRecord {
                state: State::Active,
                suspended_why: None,
                suspended_gate: None,
                updated_by: actor,
                updated_at: now,
                ..before
            };
            store::rule::update(tx, tenant_id, &rule).await?;
            act.with(json!({ "version": rule.version })).record(tx, tenant_id).await?;
            Ok(rule)
        })
        .await
}

/// Deletes a rule: it decides nothing any more. It is kept, because its decisions name it. A repeat changes nothing.
///
/// # Errors
/// [`Error::NotFound`] if there is no such rule.
pub async fn delete(ledger: &Ledger, scope: &Scope, id: RuleId) -> Result<()> {
    require_admin(scope)?;
    let (tenant_id, now, actor) = (scope.tenant_id, ledger.now(), scope.caller.to_string());
    let act = Act::new(Kind::RuleDeleted, scope.caller, now).on(TargetKind::Rule, id.0);
    ledger
        .write(scope.into(), async move |tx| {
            let before = store::rule::find_locked(tx, tenant_id, id).await?.ok_or_else(not_found)?;
            if before.state == State::Deleted {
                return Ok(());
            }
            let rule = RuleRecord {
                state: State::Deleted,
                suspended_why: None,
                suspended_gate: None,
                updated_by: actor,
                updated_at: now,
                ..before
            };
            store::rule::update(tx, tenant_id, &rule).await?;
            act.record(tx, tenant_id).await
        })
        .await
}
