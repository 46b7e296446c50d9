//! Undoing a decision before it takes effect, and how long that is possible.

use super::{
    announce::announce_gate,
    by_role,
    decision_event::decision_event,
    decision_state, decisions_of,
    item::{GateItem, MayDecide, load, may_decide},
    person,
    visibility::lock,
};
use crate::{
    Error, Ledger, Result,
    audit::Act,
    commit::{Minter, append_server_events},
    guard::require,
    rule,
};
use domain::{
    Scope,
    audit::Kind,
    id::GateId,
    limit::{GATE_DECISIONS_MAX, UNDO_SECONDS_MAX},
    notification::Topic,
    role::Permission,
};
use serde_json::json;
use store::DecisionRecord;

/// Undoes the caller's own decision during the undo window, or while further approvals are needed, or the decision of a
/// rule at a gate that the caller may decide. The gate is open again. The log keeps both the decision and the undo. A
/// rule whose decision is undone is suspended.
///
/// # Errors
/// [`Error::NotFound`] if there is no such gate or the caller may not see it; [`Error::GateClosed`] if there is no
/// decision, or if it took effect; [`Error::Forbidden`] if someone else decided or the caller is not a person;
/// [`Error::LimitReached`] if the gate has too many decisions.
pub async fn undo(ledger: &Ledger, scope: &Scope, id: GateId) -> Result<GateItem> {
    require(scope, Permission::Read)?;
    let user_id = person(scope)?;
    let now = ledger.now();
    let mut minter = Minter::new(ledger, now);
    let caller = *scope;
    let loaded = ledger
        .write(scope.into(), async move |tx| {
            let tenant_id = caller.tenant_id;
            let (session, mut gate) = lock(tx, &caller, id).await?;
            let decisions = decisions_of(tx.conn(), &gate).await?;
            let last = decision_state(&gate, &decisions).last.ok_or(Error::GateClosed { state: gate.state.name() })?;
            // A late sweep does not extend the undo window.
            let over = gate.state.held_until().is_some_and(|until| until <= now);
            let reopened = gate.state.reopen()?;
            if over {
                return Err(Error::GateClosed { state: gate.state.name() });
            }
            let by_rule = store::rule::of_gate(tx.conn(), tenant_id, id).await?.filter(|_| last.number == 1);
            if by_rule.is_some() {
                // Whoever may decide the gate may take the decision of a rule back.
                let by = by_role(&caller);
                let named = store::gate::is_reviewer(tx.conn(), tenant_id, id, user_id, by).await?;
                match may_decide(&caller, &gate, named) {
                    MayDecide::Yes | MayDecide::NotOpen => {}
                    refused => return Err(Error::Forbidden(refused.reason().unwrap_or_default())),
                }
            } else if last.user_id != user_id {
                return Err(Error::Forbidden("only the person who decided can undo it"));
            }
            if decisions.len() as u64 >= u64::from(GATE_DECISIONS_MAX) {
                return Err(Error::LimitReached(format!("a gate records at most {GATE_DECISIONS_MAX} decisions")));
            }
            let decision = DecisionRecord {
                number: u32::try_from(decisions.len()).unwrap_or(u32::MAX).saturating_add(1),
                user_id: Some(user_id),
                actor: caller.caller.to_string(),
                email: String::new(),
                verdict: None,
                undoes: Some(last.number),
                value: None,
                value_digest: gate.task_digest,
                note: None,
                at: now,
                entity_version: None,
            };
            store::gate::add_decision(tx, tenant_id, id, &decision).await?;
            gate.state = reopened;
            store::gate::save(tx, &gate).await?;
            announce_gate(tx, &minter, Topic::ApprovalUndone, &gate, Some(&decision)).await?;
            let event = decision_event(&mut minter, &gate, &decision, None);
            append_server_events(tx, session, vec![event], caller.caller, now).await?;
            let loaded = load(tx.conn(), &caller, vec![gate], now).await?;
            if let Some((rule_id, _)) = by_rule {
                rule::suspend_undone(tx, tenant_id, (rule_id, id), caller.caller, &minter).await?;
            }
            Ok(loaded)
        })
        .await?;
    loaded.item(scope)
}

/// Returns the undo window in seconds. A decision takes effect when it is over.
pub async fn undo_seconds(ledger: &Ledger, scope: &Scope) -> Result<u32> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), async move |conn| store::tenant::undo_seconds(conn, tenant_id).await);
    Ok(read.await?)
}

/// Sets the undo window for future decisions: 0 to 60 seconds. With 0, decisions take effect at once.
///
/// # Errors
/// [`Error::Invalid`] for more than 60 seconds.
pub async fn set_undo_seconds(ledger: &Ledger, scope: &Scope, seconds: u32) -> Result<()> {
    require(scope, Permission::Administer)?;
    if seconds > UNDO_SECONDS_MAX {
        return Err(Error::invalid("undoSeconds", format!("0 to {UNDO_SECONDS_MAX}")));
    }
    let tenant_id = scope.tenant_id;
    let changed = Act::new(Kind::WorkspaceChanged, scope.caller, ledger.now());
    let write = ledger.write(scope.into(), async move |tx| {
        let before = store::tenant::undo_seconds(tx.conn(), tenant_id).await?;
        store::tenant::set_undo_seconds(tx, tenant_id, seconds).await?;
        if before != seconds {
            let detail = json!({ "setting": "undoSeconds", "from": before, "to": seconds });
            changed.with(detail).record(tx, tenant_id).await?;
        }
        Ok(())
    });
    write.await
}
