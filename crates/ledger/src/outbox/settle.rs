//! What becomes of a message that was taken.

use crate::{Error, Ledger, MessageRecord, Result};
use chrono::TimeDelta;
use domain::{
    id::WebhookId,
    limit::{DELIVERY_ERROR_CHARS_MAX, MESSAGES_KEPT_DAYS},
    notification::{Channel, wait},
};
use store::{Access, outbox::Next};

/// Messages removed in one go.
const PRUNED_AT_ONCE: u32 = 1_000;

/// What came of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It arrived.
    Delivered,
    /// It did not arrive, and may later.
    Failed {
        /// What happened.
        error: String,
        /// How long the receiver asked to be left alone, seconds.
        asked: Option<u64>,
    },
    /// It will never arrive.
    Refused {
        /// Why.
        error: String,
    },
    /// Its webhook wants nothing any more.
    Gone {
        /// Why.
        error: String,
    },
}

/// Notes what came of a delivery, unless somebody else has taken the message meanwhile. The time until the next try grows;
/// after the last one the message is given up, and its last error stays to be seen.
pub async fn settle(ledger: &Ledger, message: MessageRecord, outcome: Outcome) -> Result<()> {
    let now = ledger.now();
    let mut random = [0; 4];
    ledger.entropy().fill(&mut random);
    let random = u32::from_be_bytes(random);
    let settled = ledger.store().write::<_, Error, _>(Access::System, move |tx| {
        Box::pin(async move {
            let (error, next) = match outcome {
                Outcome::Delivered => {
                    store::outbox::delivered(tx, &message, now).await?;
                    return Ok(());
                }
                Outcome::Failed { error, asked } => {
                    let next =
                        wait(message.attempts, random, asked).map_or(Next::Dead(now), |wait| Next::Try(now + wait));
                    (error, next)
                }
                Outcome::Refused { error } => (error, Next::Dead(now)),
                Outcome::Gone { error } => {
                    let error = line(&error);
                    if message.channel == Channel::Webhook {
                        let id = WebhookId(message.target_id);
                        store::webhook::disable(tx, message.tenant_id, id, &error, now).await?;
                    }
                    (error, Next::Dead(now))
                }
            };
            store::outbox::failed(tx, &message, &line(&error), next).await?;
            Ok(())
        })
    });
    settled.await
}

/// What a receiver answered, as it is kept: short, and without control characters. PostgreSQL takes no NUL in a text, so an
/// answer with one could not be noted, and the message would be tried for ever.
fn line(error: &str) -> String {
    let shown = error.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    shown.take(DELIVERY_ERROR_CHARS_MAX).collect()
}

/// Removes messages that arrived or were given up long ago.
pub async fn prune(ledger: &Ledger) -> Result<u64> {
    let before = ledger.now() - TimeDelta::days(MESSAGES_KEPT_DAYS);
    let pruned = ledger.store().write::<_, Error, _>(Access::System, move |tx| {
        Box::pin(async move { Ok(store::outbox::prune(tx, before, PRUNED_AT_ONCE).await?) })
    });
    pruned.await
}
