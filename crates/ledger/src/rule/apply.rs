//! Asking the rules of a workspace about a gate that has just opened.

use super::is_private;
use crate::Result;
use domain::{
    Timestamp,
    event::kind::ByRule,
    gate::Gate,
    id::{TenantId, UserId},
    limit::RULES_ALIKE_MAX,
    role::Role,
    rule::{Case, Day, Judgement, Subject, day_of},
    session::Session,
};
use store::{Conn, WriteTx};

/// The rule that approves a gate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Approving {
    /// The rule and its version.
    pub(crate) rule: ByRule,
    /// What counts towards the limit of the day, millionths.
    amount_micros: i64,
}

/// Returns the oldest rule that approves a gate that was opened in this transaction, if one does. The rules about such
/// gates stay locked until the transaction ends, so that no limit is exceeded.
pub(crate) async fn approving(tx: &mut WriteTx<'_>, session: &Session, gate: &Gate) -> Result<Option<Approving>> {
    let Some(subject) = Subject::of(gate) else { return Ok(None) };
    let (tenant_id, Day { begin, end, .. }) = (gate.tenant_id, day_of(gate.opened_at));
    for rule in store::rule::active_locked(tx, tenant_id, &subject.key(), RULES_ALIKE_MAX).await? {
        if !is_admin(tx.conn(), tenant_id, rule.made_by).await? {
            continue;
        }
        let used = store::rule::used(tx.conn(), tenant_id, rule.id, (begin, end)).await?;
        let case = Case { gate, is_private: is_private(session), made_by: rule.made_by };
        if let Judgement::Approve { amount_micros } = rule.definition.judge(case, used) {
            let rule = ByRule { id: rule.id, version: rule.version, made_by: rule.made_by };
            return Ok(Some(Approving { rule, amount_micros }));
        }
    }
    Ok(None)
}

/// Records that the rule has decided the gate.
pub(crate) async fn record_use(tx: &mut WriteTx<'_>, gate: &Gate, approving: &Approving, at: Timestamp) -> Result<()> {
    let of = (approving.rule.id, approving.rule.version);
    Ok(store::rule::record_use(tx, gate.tenant_id, of, gate.id, (at, approving.amount_micros)).await?)
}

/// Whether a person still is an admin. A rule decides for the admin who made it, and only while that person may make
/// one.
async fn is_admin(conn: &mut Conn<'_>, tenant_id: TenantId, user_id: UserId) -> Result<bool> {
    let member = store::user::find_member(conn, tenant_id, user_id).await?;
    Ok(member.is_some_and(|member| member.role == Role::Admin))
}
