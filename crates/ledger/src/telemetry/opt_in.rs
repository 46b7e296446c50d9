//! The answer of a workspace.

use crate::{Error, Ledger, Result, Timestamp, audit::Act, guard::require};
use domain::{Caller, Scope, audit::Kind, id::TenantId, role::Permission, telemetry::OptIn};
use serde_json::json;
use store::{Access, Conn, WriteTx};

/// Whether a workspace shares numbers for training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TelemetryState {
    /// Its answer now, and when its people were asked.
    pub opt_in: OptIn,
    /// Whether the operator of the installation forbids it. Then nothing is shared, whatever the answer is.
    pub is_forbidden: bool,
}

impl TelemetryState {
    /// Whether numbers are shared.
    pub fn shares(&self) -> bool {
        self.opt_in.enabled == Some(true) && !self.is_forbidden
    }
}

/// Returns the state of the caller's workspace.
pub async fn state(ledger: &Ledger, scope: &Scope) -> Result<TelemetryState> {
    require(scope, Permission::Read)?;
    let (tenant_id, now, may_share) = (scope.tenant_id, ledger.now(), ledger.relevance().telemetry);
    let read = ledger.store().read(scope.into(), async move |conn| current(conn, tenant_id, now).await);
    Ok(TelemetryState { opt_in: read.await?, is_forbidden: !may_share })
}

/// [`state`] in a transaction. `may_share` is the setting of the operator.
pub(crate) async fn state_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    now: Timestamp,
    may_share: bool,
) -> Result<TelemetryState> {
    Ok(TelemetryState { opt_in: current(conn, tenant_id, now).await?, is_forbidden: !may_share })
}

/// Stores the answer of the caller's workspace. Only admins answer, or tokens with their role.
///
/// # Errors
/// [`Error::Invalid`] for a yes if the operator of the installation forbids it, or if a token says yes after a no: only
/// a person can do that.
pub async fn answer(ledger: &Ledger, scope: &Scope, enabled: bool) -> Result<TelemetryState> {
    require(scope, Permission::Administer)?;
    let is_forbidden = check(ledger, enabled)?;
    let (tenant_id, now, by_person) = (scope.tenant_id, ledger.now(), scope.user_id().is_some());
    let act = Act::new(Kind::WorkspaceChanged, scope.caller, now);
    let written =
        ledger.write(scope.into(), async move |tx| answer_on(tx, tenant_id, (enabled, by_person), act, now).await);
    Ok(TelemetryState { opt_in: written.await?, is_forbidden })
}

/// Returns the state of the workspace with this slug.
///
/// # Errors
/// [`Error::NotFound`] if there is no such workspace.
pub async fn state_by_operator(ledger: &Ledger, workspace: &str) -> Result<TelemetryState> {
    let (workspace, now, is_forbidden) = (workspace.to_owned(), ledger.now(), !ledger.relevance().telemetry);
    let read = ledger.store().read(Access::System, async move |conn| {
        let Some(tenant) = store::tenant::find_by_slug(conn, &workspace).await? else { return Ok(None) };
        Ok(Some(current(conn, tenant.id, now).await?))
    });
    Ok(TelemetryState { opt_in: read.await?.ok_or(Error::NotFound("workspace"))?, is_forbidden })
}

/// Stores the answer of the workspace with this slug.
///
/// # Errors
/// [`Error::NotFound`] if there is no such workspace; [`Error::Invalid`] for a yes if the settings forbid it.
pub async fn answer_by_operator(ledger: &Ledger, workspace: &str, enabled: bool) -> Result<TelemetryState> {
    let is_forbidden = check(ledger, enabled)?;
    let (workspace, now) = (workspace.to_owned(), ledger.now());
    let act = Act::new(Kind::WorkspaceChanged, Caller::System, now);
    let written = ledger.write(Access::System, async move |tx| {
        let tenant = store::tenant::find_by_slug(tx.conn(), &workspace).await?;
        let tenant_id = tenant.ok_or(Error::NotFound("workspace"))?.id;
        answer_on(tx, tenant_id, (enabled, true), act, now).await
    });
    Ok(TelemetryState { opt_in: written.await?, is_forbidden })
}

/// Refuses a yes that the settings forbid. Returns whether they forbid it.
fn check(ledger: &Ledger, enabled: bool) -> Result<bool> {
    let is_forbidden = !ledger.relevance().telemetry;
    if enabled && is_forbidden {
        return Err(Error::invalid("enabled", "the operator of this installation does not allow telemetry"));
    }
    Ok(is_forbidden)
}

/// The state of a workspace at this time. One without a row starts now.
pub(super) async fn current(conn: &mut Conn<'_>, tenant_id: TenantId, now: Timestamp) -> store::Result<OptIn> {
    let found = store::telemetry::find(conn, tenant_id).await?;
    Ok(found.unwrap_or(OptIn::installed(now)).at(now))
}

async fn answer_on(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (enabled, by_person): (bool, bool),
    act: Act,
    now: Timestamp,
) -> Result<OptIn> {
    let before = current(tx.conn(), tenant_id, now).await?;
    let declined = "the workspace declined; an admin can turn it on in the settings";
    let after = before.answered(enabled, by_person, now).map_err(|_| Error::invalid("enabled", declined))?;
    store::telemetry::save(tx, tenant_id, after).await?;
    if before.enabled != after.enabled {
        let detail = json!({ "setting": "telemetry", "from": before.enabled, "to": enabled });
        act.with(detail).record(tx, tenant_id).await?;
    }
    Ok(after)
}
