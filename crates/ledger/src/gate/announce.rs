//! Enqueues notifications to webhooks and reviewers about a gate, in the transaction of the change.

use crate::{
    Result,
    commit::Minter,
    outbox::{Announcement, announce},
};
use domain::{
    gate::{Gate, GateKind},
    id::UserId,
    limit::RECIPIENTS_MAX,
    notification::Topic,
    role::{Permission, may},
};
use serde_json::json;
use store::{Conn, DecisionRecord, WriteTx};

/// Enqueues the notification. Messages say which gate it is and what its state is. They never contain staged
/// output, questions or notes. Questions of an agent in an incognito conversation are not announced: they are
/// for its person, who is in the conversation.
pub(super) async fn announce_gate(
    tx: &mut WriteTx<'_>,
    minter: &Minter,
    topic: Topic,
    gate: &Gate,
    decision: Option<&DecisionRecord>,
) -> Result<()> {
    announce_among(tx, minter, topic, gate, decision, None).await
}

/// The same. With `among`, of the reviewers only these people get an e-mail.
pub(super) async fn announce_among(
    tx: &mut WriteTx<'_>,
    minter: &Minter,
    topic: Topic,
    gate: &Gate,
    decision: Option<&DecisionRecord>,
    among: Option<&[UserId]>,
) -> Result<()> {
    if gate.kind == GateKind::Question {
        let session = store::session::find(tx.conn(), gate.tenant_id, gate.session_id).await?;
        if session.is_some_and(|session| session.private_to.is_some()) {
            return Ok(());
        }
    }
    let about = json!({
        "workspaceId": gate.tenant_id,
        "approvalId": gate.id,
        "sessionId": gate.session_id,
        "kind": gate.kind,
        "state": gate.state.name(),
        "agentSlug": gate.agent_slug,
        "actionId": gate.action_id,
        "actionName": gate.action_name,
        "entityId": gate.entity_id,
        "dueAt": gate.due_at,
        "decision": decision.and_then(|decision| decision.verdict),
        "decidedBy": decision.map(|decision| &decision.actor),
        "heldUntil": gate.state.held_until(),
        "path": format!("/inbox/{}", gate.id),
    });
    let recipients = if topic.needs_decision() { recipients(tx.conn(), gate, among).await? } else { Vec::new() };
    announce(tx, gate.tenant_id, minter.messages(), Announcement { topic, about, recipients }).await
}

/// Returns the reviewers who may decide the gate and want e-mails, or those of them who are `among` these people.
async fn recipients(conn: &mut Conn<'_>, gate: &Gate, among: Option<&[UserId]>) -> Result<Vec<UserId>> {
    let wanting = store::gate::reviewers_wanting_email(conn, gate.tenant_id, gate.id).await?;
    let may_decide = wanting.into_iter().filter(|reviewer| {
        (reviewer.is_named || may(reviewer.role, None, Permission::Decide))
            && (gate.self_approval || gate.requester_id != Some(reviewer.user_id))
            && among.is_none_or(|among| among.contains(&reviewer.user_id))
    });
    Ok(may_decide.map(|reviewer| reviewer.user_id).take(RECIPIENTS_MAX).collect())
}
