//! Messages on their way out: taken, delivered, settled. Every server may drain the outbox.

use crate::{mail::Mailer, webhook::post};
use chrono::TimeDelta;
use domain::limit::DELIVERIES_AT_ONCE;
use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use ledger::{
    InstanceKey, Ledger, MessageRecord,
    outbox::{Outcome, Outgoing, Receiver, Room, prune, settle, take},
};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// How often due messages are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often old messages are removed.
const PRUNE_EVERY: Duration = Duration::from_secs(3_600);
/// How long a taken message is ours. It is sent at once, and no receiver is waited for a third as long.
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
            let mut flights = Flights::default();
            loop {
                tokio::select! {
                    _ = housekeeping.tick() => match prune(&self.ledger).await {
                        Ok(0) => {}
                        Ok(pruned) => tracing::info!(pruned, "old messages were removed"),
                        Err(error) => tracing::warn!(%error, "cannot remove old messages"),
                    },
                    _ = ticks.tick() => self.look(&mut flights).await,
                    () = flights.land(), if !flights.room.is_empty() => self.look(&mut flights).await,
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
        let (mut flights, mut tried) = (Flights::default(), 0);
        loop {
            tried += self.start(&mut flights).await?;
            if flights.room.is_empty() {
                return Ok(tried);
            }
            flights.land().await;
        }
    }

    async fn look<'c>(&'c self, flights: &mut Flights<'c>) {
        if let Err(error) = self.start(flights).await {
            tracing::warn!(%error, "cannot look for messages that are due");
        }
    }

    /// Starts whatever is due and has room; how many deliveries those are.
    async fn start<'c>(&'c self, flights: &mut Flights<'c>) -> ledger::Result<usize> {
        let taken = take(&self.ledger, LEASE, DELIVERIES_AT_ONCE, &mut flights.room).await?;
        let started = taken.len();
        for outgoing in taken {
            let message = outgoing.message.clone();
            flights.under_way.push(self.deliver(outgoing).map(|()| message).boxed());
        }
        Ok(started)
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

/// Deliveries under way, each of which ends by itself: a receiver that is silent holds up nobody else.
#[derive(Default)]
struct Flights<'c> {
    under_way: FuturesUnordered<BoxFuture<'c, MessageRecord>>,
    room: Room,
}

impl Flights<'_> {
    /// Waits until at least one delivery has ended, and notes all that have.
    async fn land(&mut self) {
        let mut landed = self.under_way.next().await;
        while let Some(message) = landed {
            self.room.free(&message);
            landed = self.under_way.next().now_or_never().flatten();
        }
    }
}
