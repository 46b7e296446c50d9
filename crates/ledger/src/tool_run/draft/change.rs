//! Changing the fields of a draft.

use super::{ToolDraft, apply, check_fields, check_whole, draft_of, own_locked};
use crate::{
    Error, Ledger, Result, ToolDraftRecord,
    commit::{Minter, append_server_events},
    guard::require,
    instance_key::InstanceKey,
    tool::{published_on, require_audience},
};
use domain::{
    Scope,
    id::SessionId,
    role::Permission,
    tool::{draft::Fields, run::ToolRun},
};
use serde_json::Value;
use store::WriteTx;

/// New values for a draft, and the save that they are based on.
#[derive(Debug, Clone, Default)]
pub struct ChangeFields {
    /// `rev` of the draft that the caller read.
    pub rev: u64,
    /// New values by the names of the fields; `null` removes one. Fields that are not named stay.
    pub fields: Fields,
    /// Whether fields that are not named are removed instead.
    pub is_whole: bool,
    /// Whether the person leaves the form, so that the log gets every change at once.
    pub is_leaving: bool,
}

/// Changes fields of the caller's own draft. A repeat changes nothing.
///
/// # Errors
///
/// - [`Error::NotFound`] if there is no such session of a tool, or it has no draft.
/// - [`Error::Forbidden`] if it belongs to someone else, or the caller is not in the audience any more.
/// - [`Error::Refused`] if its run has begun or it has ended; [`Error::WrongState`] if the tool is not published.
/// - [`Error::StaleVersion`] if the draft was saved elsewhere since `rev`.
/// - [`Error::Invalid`] for fields that cannot be kept.
pub async fn change_fields(ledger: &Ledger, scope: &Scope, id: SessionId, change: ChangeFields) -> Result<ToolDraft> {
    require(scope, Permission::StartSession)?;
    check_fields(&change.fields)?;
    let (caller, minter) = (*scope, Minter::new(ledger, ledger.now()));
    let key = ledger.instance_key().ok().cloned();
    ledger.write(scope.into(), async move |tx| change_on(tx, &caller, id, change, (minter, key.as_ref())).await).await
}

/// [`change_fields`] in a transaction.
pub(super) async fn change_on(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    id: SessionId,
    mut change: ChangeFields,
    (mut minter, key): (Minter, Option<&InstanceKey>),
) -> Result<ToolDraft> {
    let session = own_locked(tx, scope, id).await?;
    let before = draft_of(tx, &session).await?;
    let run = ToolRun::of_session(&session).ok_or(Error::NotFound("draft of a run"))?;
    let (_, version) = published_on(tx.conn(), scope.tenant_id, &run.slug).await?;
    require_audience(tx.conn(), scope, &version.definition).await?;
    let mut content = before.content.clone();
    if change.is_whole {
        for field in before.content.names() {
            change.fields.entry(field).or_insert(Value::Null);
        }
    }
    let of = (&version.definition, &change.fields);
    let events = apply(&mut content, of, (id, key), change.is_leaving, &mut minter);
    check_whole(&content)?;
    let is_same = content.has_fields_of(&before.content);
    if is_same && events.is_empty() {
        return Ok(ToolDraft { session, draft: Some(before) });
    }
    if !is_same && before.rev != change.rev {
        return Err(Error::StaleVersion { given: change.rev, current: before.rev });
    }
    let now = minter.at();
    let session = match events.is_empty() {
        true => session,
        false => append_server_events(tx, session, events, scope.caller, now).await?,
    };
    let rev = before.rev + u64::from(!is_same);
    let draft = ToolDraftRecord { rev, content, saved_at: now, ..before };
    store::tool_draft::save(tx, scope.tenant_id, &draft).await?;
    Ok(ToolDraft { session, draft: Some(draft) })
}
