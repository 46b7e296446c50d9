//! Delivers the messages of the outbox to webhooks and by e-mail. Several servers can do so at the same time.

mod webhook;

use self::webhook::post;
use crate::mail::Mailer;
use chrono::TimeDelta;
use domain::limit::DELIVERIES_AT_ONCE;
use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use ledger::{
    Ledger, MessageRecord,
    outbox::{DeliverySlots, Outcome, Outgoing, Receiver, claim, prune, record_outcome},
};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// Interval between searches for due messages.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval between removals of old messages.
const PRUNE_EVERY: Duration = Duration::from_secs(3_600);
/// Lease on a message. Delivery starts at once and takes less than a third of it.
const LEASE: TimeDelta = TimeDelta::seconds(60);

/// Delivers the messages of the outbox.
pub struct OutboxWorker {
    /// The ledger with the outbox.
    pub ledger: Ledger,
    /// HTTP client for webhooks.
    pub http: outbound::Client,
    /// Sends e-mail; `None` if the operator configured none.
    pub mail: Option<Mailer>,
    /// Public address of this server, `https://host[:port]`, for links.
    pub public_origin: Option<String>,
}

impl OutboxWorker {
    /// Delivers due messages until `stop`. Deliveries in progress are aborted then and repeated when their leases
    /// expire.
    pub async fn run(self, stop: CancellationToken) {
        let mut ticks = interval(CHECK_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut housekeeping = interval(PRUNE_EVERY);
        housekeeping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // A long removal delays no delivery.
        let removals = async {
            loop {
                housekeeping.tick().await;
                match prune(&self.ledger).await {
                    Ok(0) => {}
                    Ok(pruned) => tracing::info!(pruned, "old messages were removed"),
                    Err(error) => tracing::warn!(%error, "cannot remove old messages"),
                }
            }
        };
        let work = async {
            let mut deliveries = Deliveries::default();
            loop {
                tokio::select! {
                    _ = ticks.tick() => self.start_or_log(&mut deliveries).await,
                    () = deliveries.wait_for_one(), if !deliveries.room.is_empty() => self.start_or_log(&mut deliveries).await,
                }
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = work => {}
            () = removals => {}
        }
    }

    /// Delivers everything that is due now. Returns the number of deliveries, successful or not.
    ///
    /// # Errors
    /// Those of the database while it looks for messages. A delivery that fails is recorded and is no error.
    pub async fn drain(&self) -> ledger::Result<usize> {
        let (mut deliveries, mut tried) = (Deliveries::default(), 0);
        loop {
            tried += self.start(&mut deliveries).await?;
            if deliveries.room.is_empty() {
                return Ok(tried);
            }
            deliveries.wait_for_one().await;
        }
    }

    async fn start_or_log<'c>(&'c self, deliveries: &mut Deliveries<'c>) {
        if let Err(error) = self.start(deliveries).await {
            tracing::warn!(%error, "cannot look for messages that are due");
        }
    }

    /// Starts the deliveries that are due and within their limits. Returns their number.
    async fn start<'c>(&'c self, deliveries: &mut Deliveries<'c>) -> ledger::Result<usize> {
        let taken = claim(&self.ledger, LEASE, DELIVERIES_AT_ONCE, &mut deliveries.room).await?;
        let started = taken.len();
        for outgoing in taken {
            let message = outgoing.message.clone();
            deliveries.running.push(self.deliver(outgoing).map(|()| message).boxed());
        }
        Ok(started)
    }

    async fn deliver(&self, Outgoing { message, to }: Outgoing) {
        let outcome = match to {
            Receiver::Webhook { id, url } => post(self, &message, id, url).await,
            Receiver::Person { email, workspace } => match &self.mail {
                Some(mail) => mail.send(&message, &email, &workspace).await,
                None => Outcome::Failed { error: "this server sends no e-mail".to_owned(), retry_after_seconds: None },
            },
            Receiver::Nobody(error) => Outcome::Refused { error },
        };
        let (id, method, attempts) = (message.id, message.method, message.attempts);
        if let Outcome::Failed { error, .. } | Outcome::Refused { error } | Outcome::Gone { error } = &outcome {
            tracing::warn!(message = %id, channel = %method, attempts, error, "a message was not delivered");
        }
        if let Err(error) = record_outcome(&self.ledger, message, outcome).await {
            tracing::warn!(message = %id, %error, "cannot note what came of a message; it is delivered again");
        }
    }
}

/// Deliveries in progress. They run concurrently, so a slow receiver delays no other.
#[derive(Default)]
struct Deliveries<'c> {
    running: FuturesUnordered<BoxFuture<'c, MessageRecord>>,
    room: DeliverySlots,
}

impl Deliveries<'_> {
    /// Waits for a delivery to end and removes all that have ended.
    async fn wait_for_one(&mut self) {
        let mut ended = self.running.next().await;
        while let Some(message) = ended {
            self.room.free(&message);
            ended = self.running.next().now_or_never().flatten();
        }
    }
}
