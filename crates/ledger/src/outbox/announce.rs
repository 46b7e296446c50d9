//! Telling a workspace's webhooks and people what happened, in the transaction in which it happens.

use crate::{Ledger, MessageRecord, Result, SessionRecord};
use domain::{
    Entropy, Timestamp,
    id::{MessageId, TenantId, UserId},
    notification::{Channel, Topic},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use store::WriteTx;
use uuid::Uuid;

/// Ids for messages whose number is known only inside of the transaction, which has no randomness of its own.
#[derive(Clone)]
pub(crate) struct MessageIds {
    at: Timestamp,
    seed: [u8; 16],
}

impl MessageIds {
    pub(crate) fn new(ledger: &Ledger, at: Timestamp) -> Self {
        let mut seed = [0; 16];
        ledger.entropy().fill(&mut seed);
        Self { at, seed }
    }

    /// The id of the message to this receiver about this.
    fn of(&self, target_id: Uuid, topic: Topic) -> MessageId {
        MessageId::new(self.at, &Spread { seed: self.seed, target_id, topic })
    }
}

/// Random bytes of one seed, other ones for each receiver and topic.
struct Spread {
    seed: [u8; 16],
    target_id: Uuid,
    topic: Topic,
}

impl Entropy for Spread {
    fn fill(&self, bytes: &mut [u8]) {
        for (block, chunk) in bytes.chunks_mut(32).enumerate() {
            let mut hash = Sha256::new_with_prefix(self.seed);
            hash.update(self.target_id.as_bytes());
            hash.update(self.topic.as_str());
            hash.update(block.to_be_bytes());
            chunk.copy_from_slice(&hash.finalize()[..chunk.len()]);
        }
    }
}

/// What happened.
pub(crate) struct News {
    pub(crate) topic: Topic,
    /// A JSON object for webhooks. It says what it is about, never what is staged.
    pub(crate) about: Value,
    /// Who gets an e-mail: people who are asked for something and want one.
    pub(crate) recipients: Vec<UserId>,
}

impl News {
    /// A session failed.
    pub(crate) fn session_failed(session: &SessionRecord) -> Self {
        let about = json!({
            "workspaceId": session.tenant_id,
            "sessionId": session.id,
            "title": session.title,
            "actionSlug": session.action_slug,
            "agentSlug": session.agent_slug,
            "endReason": session.end_reason,
            "errorCode": session.error_code,
            "path": format!("/sessions/{}", session.id),
        });
        Self { topic: Topic::SessionFailed, about, recipients: Vec::new() }
    }
}

/// A message that is due at once.
pub(crate) fn message(
    ids: &MessageIds,
    tenant_id: TenantId,
    (channel, target_id): (Channel, Uuid),
    topic: Topic,
    payload: String,
) -> MessageRecord {
    MessageRecord {
        tenant_id,
        id: ids.of(target_id, topic),
        channel,
        target_id,
        topic,
        payload,
        created_at: ids.at,
        due_at: ids.at,
        attempts: 0,
        last_error: None,
        delivered_at: None,
        dead_at: None,
    }
}

/// Puts one message per subscribed webhook, and one per recipient, into the outbox.
pub(crate) async fn announce(tx: &mut WriteTx<'_>, tenant_id: TenantId, ids: &MessageIds, news: News) -> Result<()> {
    let payload = news.about.to_string();
    for webhook in store::webhook::list(tx.conn(), tenant_id).await? {
        if webhook.disabled_at.is_none() && webhook.topics.contains(&news.topic) {
            let to = (Channel::Webhook, webhook.id.0);
            store::outbox::push(tx, &message(ids, tenant_id, to, news.topic, payload.clone())).await?;
        }
    }
    for user_id in news.recipients {
        let to = (Channel::Email, user_id.0);
        store::outbox::push(tx, &message(ids, tenant_id, to, news.topic, payload.clone())).await?;
    }
    Ok(())
}
