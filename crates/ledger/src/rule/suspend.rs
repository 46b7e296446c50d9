//! Suspending rules because of what a person decided, in the transaction of that decision.

use crate::{
    Result,
    audit::Act,
    commit::Minter,
    outbox::{Announcement, announce},
};
use domain::{
    Caller,
    audit::{Kind, TargetKind},
    gate::Gate,
    id::{GateId, RuleId, TenantId},
    limit::RULES_ALIKE_MAX,
    notification::Topic,
    rule::{State, Subject, SuspendedWhy},
};
use serde_json::json;
use store::{RuleRecord, WriteTx};

/// Suspends every rule that covers a gate, because a person decided it differently. It is the last thing that the
/// transaction does.
pub(crate) async fn suspend_covering(tx: &mut WriteTx<'_>, gate: &Gate, by: Caller, minter: &Minter) -> Result<()> {
    let Some(subject) = Subject::of(gate) else { return Ok(()) };
    let rules = store::rule::active_locked(tx, gate.tenant_id, &subject.key(), RULES_ALIKE_MAX).await?;
    let mut acts = Vec::new();
    for rule in rules.into_iter().filter(|rule| rule.definition.covers(gate).is_ok()) {
        let why = (SuspendedWhy::Differed, Some(gate.id));
        acts.push(suspended(tx, gate.tenant_id, rule, why, by, minter).await?.1);
    }
    for act in acts {
        act.record(tx, gate.tenant_id).await?;
    }
    Ok(())
}

/// Suspends the rule that decided a gate, because a person undid its decision. It is the last thing that the
/// transaction does.
pub(crate) async fn suspend_undone(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (id, gate_id): (RuleId, GateId),
    by: Caller,
    minter: &Minter,
) -> Result<()> {
    let rule = store::rule::find_locked(tx, tenant_id, id).await?.filter(|rule| rule.state == State::Active);
    let Some(rule) = rule else { return Ok(()) };
    let why = (SuspendedWhy::Undone, Some(gate_id));
    let (_, act) = suspended(tx, tenant_id, rule, why, by, minter).await?;
    act.record(tx, tenant_id).await
}

/// Suspends a locked rule and tells its maker and webhooks. Returns the rule, and the act that is still to be recorded.
pub(super) async fn suspended(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    rule: RuleRecord,
    (why, gate_id): (SuspendedWhy, Option<GateId>),
    by: Caller,
    minter: &Minter,
) -> Result<(RuleRecord, Act)> {
    let rule = RuleRecord {
        state: State::Suspended,
        suspended_why: Some(why),
        suspended_gate: gate_id,
        updated_by: by.to_string(),
        updated_at: minter.at(),
        ..rule
    };
    store::rule::update(tx, tenant_id, &rule).await?;
    let about = json!({
        "workspaceId": tenant_id,
        "ruleId": rule.id,
        "version": rule.version,
        "agentSlug": rule.definition.subject.agent,
        "why": why,
        "approvalId": gate_id,
        "path": format!("/rules/{}", rule.id),
    });
    // Whoever suspends a rule knows it.
    let is_told =
        by != Caller::User(rule.made_by) && store::user::wants_email(tx.conn(), tenant_id, rule.made_by).await?;
    let recipients = if is_told { vec![rule.made_by] } else { Vec::new() };
    announce(tx, tenant_id, minter.messages(), Announcement { topic: Topic::RuleSuspended, about, recipients }).await?;
    let detail = json!({ "why": why, "approval": gate_id });
    let act = Act::new(Kind::RuleSuspended, by, minter.at()).on(TargetKind::Rule, rule.id.0).with(detail);
    Ok((rule, act))
}
