//! Taking messages that are due.

use crate::{Ledger, MessageRecord, Result};
use chrono::TimeDelta;
use domain::{
    id::{UserId, WebhookId},
    notification::Channel,
};
use store::{Access, WriteTx};

/// A message and where it goes, as it stands now.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// The message.
    pub message: MessageRecord,
    /// Who gets it.
    pub to: Receiver,
}

/// Who gets a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receiver {
    /// A workspace's URL.
    Webhook {
        /// Its row.
        id: WebhookId,
        /// Where to.
        url: String,
    },
    /// A person.
    Person {
        /// Their address.
        email: String,
        /// The name of the workspace in which something waits.
        workspace: String,
    },
    /// Nobody any more, and why.
    Nobody(String),
}

/// Takes at most `max` messages of any workspace that are due, for the length of `lease`: what is not settled by then is
/// taken by others. Any number of servers may ask at once.
pub async fn take(ledger: &Ledger, lease: TimeDelta, max: u32) -> Result<Vec<Outgoing>> {
    let now = ledger.now();
    let due = ledger.store().read(Access::System, move |conn| Box::pin(store::outbox::any_due(conn, now)));
    if !due.await? {
        return Ok(Vec::new());
    }
    let taken = ledger.store().write(Access::System, move |tx| {
        Box::pin(async move {
            let mut taken = Vec::new();
            for message in store::outbox::take(tx, now, now + lease, max).await? {
                let to = receiver(tx, &message).await?;
                taken.push(Outgoing { message, to });
            }
            Ok(taken)
        })
    });
    taken.await
}

async fn receiver(tx: &mut WriteTx<'_>, message: &MessageRecord) -> Result<Receiver> {
    let nobody = |why: &str| Ok(Receiver::Nobody(why.to_owned()));
    match message.channel {
        Channel::Webhook => {
            let id = WebhookId(message.target_id);
            let Some(webhook) = store::webhook::find(tx.conn(), message.tenant_id, id).await? else {
                return nobody("the webhook was removed");
            };
            match webhook.disabled_reason {
                Some(reason) => Ok(Receiver::Nobody(format!("the webhook is disabled: {reason}"))),
                None => Ok(Receiver::Webhook { id, url: webhook.url }),
            }
        }
        Channel::Email => {
            let user_id = UserId(message.target_id);
            if !store::user::wants_email(tx.conn(), message.tenant_id, user_id).await? {
                return nobody("they want no e-mail any more");
            }
            let member = store::user::find_member(tx.conn(), message.tenant_id, user_id).await?;
            let tenant = store::tenant::find(tx.conn(), message.tenant_id).await?;
            match (member, tenant) {
                (Some(member), Some(tenant)) => Ok(Receiver::Person { email: member.email, workspace: tenant.name }),
                _ => nobody("they are no member any more"),
            }
        }
    }
}
