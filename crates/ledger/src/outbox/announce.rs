//! Enqueues messages to webhooks and people, in the transaction of the change that they report.

use crate::{Ledger, MessageRecord, Result, WebhookRecord};
use chrono::TimeDelta;
use domain::{
    Caller, Entropy, Timestamp,
    failure::cause::{Fingerprint, Opening},
    human,
    id::{MessageId, TenantId, UserId},
    limit::ASSIGNED_EMAIL_SECONDS,
    notification::{DeliveryMethod, Topic},
    session::{Session, Status},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use store::WriteTx;
use uuid::Uuid;

/// Time from the end of a window to its e-mail, seconds. Transactions that began in the window are committed by then.
const WINDOW_GRACE_SECONDS: i64 = 10;

/// The page with the sessions that are assigned to its reader.
const ASSIGNED_PATH: &str = "/sessions?q=assignee%3Ame";

/// A source of ids for messages. Their number is only known inside the transaction, which has no source of
/// randomness, so ids are derived from a random seed.
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

    /// Returns the id of the message about this topic to this receiver.
    fn of(&self, target_id: Uuid, topic: Topic) -> MessageId {
        MessageId::new(self.at, &Spread { seed: self.seed, target_id, topic })
    }
}

/// Bytes derived from a seed, different for each receiver and topic.
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

/// A change to report.
pub(crate) struct Announcement {
    pub(crate) topic: Topic,
    /// A JSON object for webhooks. It refers to the changed object and never contains staged output.
    pub(crate) about: Value,
    /// People who get an e-mail, because they are asked to do something and want e-mails.
    pub(crate) recipients: Vec<UserId>,
}

impl Announcement {
    /// Reports that a session failed. `None` for other ends, and for incognito sessions, which are not reported.
    fn session_failed(session: &Session) -> Option<Self> {
        let is_told = session.status() == Status::Failed && session.private_to.is_none();
        is_told.then(|| Self { topic: Topic::SessionFailed, about: about(session), recipients: Vec::new() })
    }

    /// Reports that a session ended. `None` for human sessions, whose titles show what a person does, and for
    /// incognito sessions.
    fn session_ended(session: &Session) -> Option<Self> {
        if session.source.as_deref() == Some(human::SOURCE) || session.private_to.is_some() {
            return None;
        }
        let mut about = about(session);
        about["status"] = json!(session.status());
        Some(Self { topic: Topic::SessionEnded, about, recipients: Vec::new() })
    }
}

fn about(session: &Session) -> Value {
    json!({
        "workspaceId": session.tenant_id,
        "sessionId": session.id,
        "title": session.title,
        "actionSlug": session.action_slug,
        "agentSlug": session.agent_slug,
        "endReason": session.end_reason(),
        "errorCode": session.error_code(),
        "path": format!("/sessions/{}", session.id),
    })
}

/// Creates a message that is due at once.
pub(crate) fn message(
    ids: &MessageIds,
    tenant_id: TenantId,
    (method, target_id): (DeliveryMethod, Uuid),
    topic: Topic,
    payload: String,
) -> MessageRecord {
    MessageRecord {
        tenant_id,
        id: ids.of(target_id, topic),
        method,
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

/// Enqueues the messages about a session that has just ended.
pub(crate) async fn announce_end(tx: &mut WriteTx<'_>, session: &Session, ids: &MessageIds) -> Result<()> {
    let announcement: Vec<_> =
        Announcement::session_failed(session).into_iter().chain(Announcement::session_ended(session)).collect();
    if announcement.is_empty() {
        return Ok(());
    }
    let webhooks = store::webhook::list(tx.conn(), session.tenant_id).await?;
    for announcement in announcement {
        push_for_webhooks(tx, &webhooks, session.tenant_id, ids, announcement).await?;
    }
    Ok(())
}

/// Enqueues the messages about a cause that opened with the failure of a session. They do not have the message of the
/// failure, which can quote the session.
pub(crate) async fn announce_cause(
    tx: &mut WriteTx<'_>,
    session: &Session,
    (opening, cause): (Opening, &Fingerprint),
    ids: &MessageIds,
) -> Result<()> {
    let about = json!({
        "workspaceId": session.tenant_id,
        "causeId": cause.id,
        "opening": opening.as_str(),
        "errorCode": cause.code,
        "tool": cause.origin.tool,
        "step": cause.origin.step,
        "agentSlug": session.agent_slug,
        "sessionId": session.id,
        "path": format!("/failures/{}", cause.id),
    });
    let announcement = Announcement { topic: Topic::CauseOpened, about, recipients: Vec::new() };
    announce(tx, session.tenant_id, ids, announcement).await
}

/// Enqueues the messages about a session that was just assigned to a member: one to each webhook that wants it, and an
/// e-mail to the member, unless they assigned it themselves. One e-mail covers all sessions of
/// [`ASSIGNED_EMAIL_SECONDS`]. Working sessions of people are not reported.
pub(crate) async fn announce_assigned(
    tx: &mut WriteTx<'_>,
    session: &Session,
    by: Caller,
    (ids, at): (&MessageIds, Timestamp),
) -> Result<()> {
    let (tenant_id, source) = (session.tenant_id, session.source.as_deref());
    let Some(assignee) = session.assignee.filter(|_| source != Some(human::SOURCE)) else { return Ok(()) };
    let mut about = about(session);
    about["assigneeId"] = json!(assignee);
    about["assignedBy"] = json!(by.to_string());
    announce(tx, tenant_id, ids, Announcement { topic: Topic::SessionAssigned, about, recipients: Vec::new() }).await?;
    if by == Caller::User(assignee) || !store::user::wants_email(tx.conn(), tenant_id, assignee).await? {
        return Ok(());
    }
    let about = json!({ "workspaceId": tenant_id, "path": ASSIGNED_PATH });
    let window = Window { seconds: ASSIGNED_EMAIL_SECONDS, of: tenant_id.0 };
    let email = Announcement { topic: Topic::SessionAssigned, about, recipients: vec![assignee] };
    announce_once(tx, tenant_id, at, window, email).await
}

/// Enqueues one message for each subscribed webhook and for each recipient.
pub(crate) async fn announce(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    ids: &MessageIds,
    announcement: Announcement,
) -> Result<()> {
    let webhooks = store::webhook::list(tx.conn(), tenant_id).await?;
    push_for_webhooks(tx, &webhooks, tenant_id, ids, announcement).await
}

async fn push_for_webhooks(
    tx: &mut WriteTx<'_>,
    webhooks: &[WebhookRecord],
    tenant_id: TenantId,
    ids: &MessageIds,
    announcement: Announcement,
) -> Result<()> {
    let payload = announcement.about.to_string();
    for webhook in webhooks {
        if webhook.disabled_at.is_none() && webhook.topics.contains(&announcement.topic) {
            let to = (DeliveryMethod::Webhook, webhook.id.0);
            store::outbox::push(tx, &message(ids, tenant_id, to, announcement.topic, payload.clone())).await?;
        }
    }
    for user_id in announcement.recipients {
        let to = (DeliveryMethod::Email, user_id.0);
        store::outbox::push(tx, &message(ids, tenant_id, to, announcement.topic, payload.clone())).await?;
    }
    Ok(())
}

/// The changes of one object that one e-mail reports.
pub(crate) struct Window {
    /// Length, seconds.
    pub(crate) seconds: i64,
    /// Id of the object that changed.
    pub(crate) of: Uuid,
}

/// Enqueues one e-mail for all changes of an object in a window of time. It is due after the end of the window, so it
/// covers each of them. Windows begin at multiples of their length.
pub(crate) async fn announce_once(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    at: Timestamp,
    window: Window,
    announcement: Announcement,
) -> Result<()> {
    let begun = TimeDelta::seconds(at.timestamp().rem_euclid(window.seconds));
    let begun = at - begun - TimeDelta::nanoseconds(i64::from(at.timestamp_subsec_nanos()));
    let ids = MessageIds { at: begun, seed: *window.of.as_bytes() };
    let due_at = begun + TimeDelta::seconds(window.seconds + WINDOW_GRACE_SECONDS);
    for user_id in announcement.recipients {
        let to = (DeliveryMethod::Email, user_id.0);
        let message = message(&ids, tenant_id, to, announcement.topic, announcement.about.to_string());
        store::outbox::push_once(tx, &MessageRecord { created_at: at, due_at, ..message }).await?;
    }
    Ok(())
}
