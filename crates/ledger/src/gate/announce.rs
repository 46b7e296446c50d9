//! Telling webhooks and reviewers what becomes of a gate, in the transaction in which it happens.

use crate::{
    GateRecord, Result,
    commit::EventFactory,
    outbox::{Announcement, announce},
};
use domain::{
    gate::GateKind,
    limit::RECIPIENTS_MAX,
    notification::Topic,
    role::{Permission, may},
};
use serde_json::json;
use store::{Conn, DecisionRecord, WriteTx};

/// Tells it. What is staged, asked and noted stays here: messages say which gate it is, and who waits. What an agent asks in
/// an incognito conversation is for its person, who is in the conversation, and nobody is told of it.
pub(super) async fn announce_gate(
    tx: &mut WriteTx<'_>,
    minter: &EventFactory,
    topic: Topic,
    gate: &GateRecord,
    decision: Option<&DecisionRecord>,
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
        "state": gate.state,
        "agentSlug": gate.agent_slug,
        "actionId": gate.action_id,
        "actionName": gate.action_name,
        "entityId": gate.entity_id,
        "dueAt": gate.due_at,
        "decision": decision.and_then(|decision| decision.verdict),
        "decidedBy": decision.map(|decision| &decision.actor),
        "heldUntil": gate.held_until,
        "path": format!("/inbox/{}", gate.id),
    });
    let recipients = if topic.needs_decision() { recipients(tx.conn(), gate).await? } else { Vec::new() };
    announce(tx, gate.tenant_id, minter.messages(), Announcement { topic, about, recipients }).await
}

/// Who may decide it and wants e-mail.
async fn recipients(conn: &mut Conn<'_>, gate: &GateRecord) -> Result<Vec<domain::id::UserId>> {
    let wanting = store::gate::reviewers_wanting_email(conn, gate.tenant_id, gate.id).await?;
    let may_decide = wanting.into_iter().filter(|reviewer| {
        (reviewer.is_named || may(reviewer.role, None, Permission::Decide))
            && (gate.self_approval || gate.requester_id != Some(reviewer.user_id))
    });
    Ok(may_decide.map(|reviewer| reviewer.user_id).take(RECIPIENTS_MAX).collect())
}
