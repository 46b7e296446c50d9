//! Publishing and withdrawing a tool.

use super::{check, check_groups, gets_secrets, locked, steps::with_versions};
use crate::{
    Error, Ledger, Result, ToolRecord, ToolVersionRecord,
    audit::Act,
    guard::{require, require_revision},
};
use domain::{
    Scope, Timestamp,
    audit::{Kind, TargetKind},
    role::Permission,
    tool::State,
};
use serde_json::json;
use store::WriteTx;

/// Publishes the working copy, so that runs use it. If the version published last is the same, no version is added.
/// `revision` is the revision that the caller read; `None` publishes whatever is newest.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool; [`Error::StaleRevision`] if it was changed since the caller
/// read it; [`Error::Forbidden`] for a caller who is no admin if the tool has secrets, and its call differs from that
/// of the version published last; [`Error::Invalid`] if it refers to groups that do not exist any more, or if the tools
/// of its steps are not published, run this one, are too many or too deep, or would show private values.
pub async fn publish(ledger: &Ledger, scope: &Scope, slug: &str, revision: Option<u64>) -> Result<ToolRecord> {
    require(scope, Permission::ManageTools)?;
    let (scope, now, slug) = (*scope, ledger.now(), slug.to_owned());
    let tenant_id = scope.tenant_id;
    ledger
        .write((&scope).into(), async move |tx| {
            let before = locked(tx, tenant_id, &slug).await?;
            require_revision(revision.unwrap_or(before.revision), before.revision)?;
            let (published, is_changed) = publish_on(tx, &scope, before, now).await?;
            if is_changed {
                let act = Act::new(Kind::ToolPublished, scope.caller, now).on(TargetKind::Tool, published.id.0);
                act.with(json!({ "version": published.version })).record(tx, tenant_id).await?;
            }
            Ok(published)
        })
        .await
}

/// Publishes a tool, which the transaction has locked or created. Returns the tool afterwards, and whether it changed.
pub(crate) async fn publish_on(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    tool: ToolRecord,
    at: Timestamp,
) -> Result<(ToolRecord, bool)> {
    let (tenant_id, by) = (scope.tenant_id, scope.caller.to_string());
    // Rules can have become stricter since the working copy was written.
    check(&tool)?;
    check_groups(tx.conn(), tenant_id, &tool).await?;
    let definition = with_versions(tx.conn(), tenant_id, &tool).await?;
    let gets_secrets = gets_secrets(tx.conn(), scope, &tool, &definition).await?;
    let newest = match tool.version {
        Some(version) => store::tool::version_of(tx.conn(), tenant_id, tool.id, version).await?,
        None => None,
    };
    let version = match newest {
        Some(newest) if newest.definition == definition => newest.version,
        _ => {
            let version = ToolVersionRecord {
                tool_id: tool.id,
                version: tool.version.unwrap_or(0) + 1,
                definition,
                published_by: by.clone(),
                published_at: at,
            };
            store::tool::insert_version(tx, tenant_id, &version).await?;
            version.version
        }
    };
    if gets_secrets {
        store::tool::allow_secrets(tx, tenant_id, (tool.id, version), (&by, at)).await?;
    }
    let published = ToolRecord {
        state: State::Published,
        version: Some(version),
        published_revision: Some(tool.revision),
        ..tool.clone()
    };
    if published == tool {
        return Ok((tool, false));
    }
    let published = ToolRecord { updated_by: by, updated_at: at, ..published };
    store::tool::update(tx, tenant_id, &published).await?;
    Ok((published, true))
}

/// Withdraws a tool: it starts no new runs until it is published again. Its versions and runs stay. A repeat changes
/// nothing.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool; [`Error::WrongState`] if it was never published.
pub async fn unpublish(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<ToolRecord> {
    require(scope, Permission::ManageTools)?;
    let (tenant_id, now, caller) = (scope.tenant_id, ledger.now(), scope.caller);
    let slug = slug.to_owned();
    ledger
        .write(scope.into(), async move |tx| {
            let before = locked(tx, tenant_id, &slug).await?;
            match before.state {
                State::Unpublished => return Ok(before),
                State::Draft => {
                    let rule = "only a published tool can be unpublished";
                    return Err(Error::WrongState { what: "tool", rule, state: before.state });
                }
                State::Published => {}
            }
            let updated_by = caller.to_string();
            let record = ToolRecord { state: State::Unpublished, updated_by, updated_at: now, ..before };
            store::tool::update(tx, tenant_id, &record).await?;
            let act = Act::new(Kind::ToolUnpublished, caller, now).on(TargetKind::Tool, record.id.0);
            act.record(tx, tenant_id).await?;
            Ok(record)
        })
        .await
}
