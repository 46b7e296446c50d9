//! Settling messages that were taken for delivery.

use crate::{Ledger, MessageRecord, Result};
use chrono::TimeDelta;
use domain::{
    Timestamp,
    id::WebhookId,
    limit::{DELIVERY_ERROR_CHARS_MAX, MESSAGES_KEPT_DAYS},
    notification::{DeliveryMethod, wait},
};
use store::{Access, outbox::Next};

/// Largest number of messages that one transaction removes.
const PRUNED_AT_ONCE: u32 = 1_000;
/// Largest number of transactions of one call of [`prune`].
const PRUNES_MAX: u32 = 1_000;

/// The result of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver accepted the message.
    Delivered,
    /// The delivery failed but may succeed later.
    Failed {
        /// What failed, as text for operators.
        error: String,
        /// Seconds that the receiver asked to wait before the next attempt.
        retry_after_seconds: Option<u64>,
    },
    /// The delivery can never succeed.
    Refused {
        /// Why the delivery can never succeed, as text for operators.
        error: String,
    },
    /// The receiver no longer exists. Its webhook is disabled.
    Gone {
        /// Why the receiver is gone, as text for operators.
        error: String,
    },
}

/// Records the result of a delivery, unless another server has taken the message in the meantime. The time
/// between attempts grows. After the last attempt the message is given up and keeps its last error.
pub async fn record_outcome(ledger: &Ledger, message: MessageRecord, outcome: Outcome) -> Result<()> {
    let now = ledger.now();
    let mut random = [0; 4];
    ledger.entropy().fill(&mut random);
    let random = u32::from_be_bytes(random);
    let recorded = ledger.write(Access::System, async move |tx| {
        let (error, next) = match outcome {
            Outcome::Delivered => {
                store::outbox::delivered(tx, &message, now).await?;
                return Ok(false);
            }
            Outcome::Failed { error, retry_after_seconds } => {
                let next = wait(message.attempts, random, retry_after_seconds)
                    .map_or(Next::Dead(now), |wait| Next::Try(now + wait));
                (error, next)
            }
            Outcome::Refused { error } => (error, Next::Dead(now)),
            Outcome::Gone { error } => {
                let error = line(&error);
                if message.method == DeliveryMethod::Webhook {
                    let id = WebhookId(message.target_id);
                    store::webhook::disable(tx, message.tenant_id, id, &error, now).await?;
                }
                (error, Next::Dead(now))
            }
        };
        let is_recorded = store::outbox::failed(tx, &message, &line(&error), next).await?;
        Ok(is_recorded && matches!(next, Next::Dead(_)))
    });
    let is_given_up = recorded.await?;
    ledger.activity().messages_given_up(is_given_up.into());
    Ok(())
}

/// Shortens the receiver's response and replaces control characters. PostgreSQL cannot store NUL in a text.
/// Without this the result could not be recorded and the message would be tried forever.
fn line(error: &str) -> String {
    let shown = error.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    shown.take(DELIVERY_ERROR_CHARS_MAX).collect()
}

/// Removes messages that were delivered or given up more than [`MESSAGES_KEPT_DAYS`] days ago. Returns how many. One
/// call removes at most a million.
pub async fn prune(ledger: &Ledger) -> Result<u64> {
    prune_before(ledger, ledger.now() - TimeDelta::days(MESSAGES_KEPT_DAYS)).await
}

/// Removes messages from before `before` that were delivered or given up, in many short transactions. Returns how many.
/// One call removes at most a million.
pub(crate) async fn prune_before(ledger: &Ledger, before: Timestamp) -> Result<u64> {
    let mut all = 0;
    for _ in 0..PRUNES_MAX {
        let pruned =
            ledger.write(Access::System, async move |tx| Ok(store::outbox::prune(tx, before, PRUNED_AT_ONCE).await?));
        let pruned = pruned.await?;
        all += pruned;
        if pruned < u64::from(PRUNED_AT_ONCE) {
            break;
        }
    }
    Ok(all)
}
