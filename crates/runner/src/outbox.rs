//! Messages on their way out: taken, delivered, settled. Every server may drain the outbox.

use crate::{mail::Mailer, webhook::post};
use chrono::TimeDelta;
use futures_util::StreamExt as _;
use ledger::{
    InstanceKey, Ledger,
    outbox::{Outcome, Outgoing, Receiver, prune, settle, take},
};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// How often due messages are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often old messages are removed.
const PRUNE_EVERY: Duration = Duration::from_secs(3_600);
/// Messages taken at once.
const BATCH: u32 = 32;
/// Messages that are delivered side by side.
const AT_ONCE: usize = 16;
/// How long taken messages are ours: a batch whose every receiver is silent takes a third of it.
const LEASE: TimeDelta = TimeDelta::seconds(60);

/// Delivers messages.
pub struct Courier {
    /// Where messages come from.
    pub ledger: Ledger,
    /// The way out.
    pub http: outbound::Client,
    /// Writes e-mail, where the operator configured it.
    pub mail: Option<Mailer>,
    /// Signs what goes to webhooks. Without it nothing can be sent to them.
    pub key: Option<InstanceKey>,
    /// `https://host[:port]` where people see the server, for links.
    pub public_origin: Option<String>,
}

impl Courier {
    /// Drains the outbox until `stop`. Messages that are being delivered then are delivered again by others.
    pub async fn run(self, stop: CancellationToken) {
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut housekeeping = interval(PRUNE_EVERY);
        housekeeping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let work = async {
            loop {
                tokio::select! {
                    _ = housekeeping.tick() => match prune(&self.ledger).await {
                        Ok(0) => {}
                        Ok(pruned) => tracing::info!(pruned, "old messages were removed"),
                        Err(error) => tracing::warn!(%error, "cannot remove old messages"),
                    },
                    _ = ticks.tick() => if let Err(error) = self.drain().await {
                        tracing::warn!(%error, "cannot look for messages that are due");
                    },
                }
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = work => {}
        }
    }

    /// Delivers everything that is due now; how many deliveries were tried.
    pub async fn drain(&self) -> ledger::Result<usize> {
        let mut tried = 0;
        loop {
            let taken = take(&self.ledger, LEASE, BATCH).await?;
            if taken.is_empty() {
                return Ok(tried);
            }
            tried += taken.len();
            futures_util::stream::iter(taken).for_each_concurrent(AT_ONCE, |outgoing| self.deliver(outgoing)).await;
        }
    }

    async fn deliver(&self, Outgoing { message, to }: Outgoing) {
        let outcome = match to {
            Receiver::Webhook { id, url } => post(self, &message, id, url).await,
            Receiver::Person { email, workspace } => match &self.mail {
                Some(mail) => mail.send(&message, &email, &workspace).await,
                None => Outcome::Failed { error: "this server sends no e-mail".to_owned(), asked: None },
            },
            Receiver::Nobody(error) => Outcome::Refused { error },
        };
        let (id, channel, attempts) = (message.id, message.channel, message.attempts);
        if let Outcome::Failed { error, .. } | Outcome::Refused { error } | Outcome::Gone { error } = &outcome {
            tracing::warn!(message = %id, %channel, attempts, error, "a message was not delivered");
        }
        if let Err(error) = settle(&self.ledger, message, outcome).await {
            tracing::warn!(message = %id, %error, "cannot note what came of a message; it is delivered again");
        }
    }
}
