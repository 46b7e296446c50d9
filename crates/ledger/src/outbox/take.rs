//! Taking messages that are due.

use crate::{Error, Ledger, MessageRecord, Result};
use chrono::TimeDelta;
use domain::{
    Timestamp,
    id::{TenantId, UserId, WebhookId},
    limit::{
        DELIVERIES_AT_ONCE, DELIVERIES_BY_MAIL, DELIVERIES_OF_WORKSPACE, DELIVERIES_TO_WEBHOOK, DELIVERY_ATTEMPTS_MAX,
    },
    notification::Channel,
};
use std::{collections::HashMap, hash::Hash};
use store::{Access, WriteTx, outbox::Next};
use uuid::Uuid;

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

/// The last error of a message that was tried as often as it may be, and whose outcomes could not be noted.
const UNNOTED: &str = "it was tried as often as it may be, and what came of the last attempt could not be noted";

/// What leaves through the same route: one webhook, or the mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Route {
    Webhook(TenantId, Uuid),
    Mail,
}

impl Route {
    const fn of(tenant_id: TenantId, channel: Channel, target_id: Uuid) -> Self {
        match channel {
            Channel::Webhook => Self::Webhook(tenant_id, target_id),
            Channel::Email => Self::Mail,
        }
    }

    const fn at_once(self) -> u32 {
        match self {
            Self::Webhook(..) => DELIVERIES_TO_WEBHOOK,
            Self::Mail => DELIVERIES_BY_MAIL,
        }
    }
}

/// What one server delivers at this moment, and whose turn it is. A receiver that is slow holds its own few places and
/// nobody else's, and workspaces take turns however much each of them has to say.
#[derive(Debug, Clone, Default)]
pub struct DeliverySlots {
    under_way: u32,
    of_workspace: HashMap<TenantId, u32>,
    in_flight_by_route: HashMap<Route, u32>,
    last: Option<TenantId>,
}

impl DeliverySlots {
    /// This message has arrived, or failed: its place is free.
    pub fn free(&mut self, message: &MessageRecord) {
        let route = Route::of(message.tenant_id, message.channel, message.target_id);
        self.under_way = self.under_way.saturating_sub(1);
        decrement(&mut self.of_workspace, &message.tenant_id);
        decrement(&mut self.in_flight_by_route, &route);
    }

    /// Whether nothing is under way.
    pub const fn is_empty(&self) -> bool {
        self.under_way == 0
    }

    /// Whether nothing more can be taken.
    pub const fn is_full(&self) -> bool {
        self.under_way >= DELIVERIES_AT_ONCE
    }

    fn reserve(&mut self, message: &MessageRecord) {
        let route = Route::of(message.tenant_id, message.channel, message.target_id);
        self.under_way += 1;
        *self.of_workspace.entry(message.tenant_id).or_default() += 1;
        *self.in_flight_by_route.entry(route).or_default() += 1;
        self.last = Some(message.tenant_id);
    }

    fn of_workspace(&self, id: TenantId) -> u32 {
        DELIVERIES_OF_WORKSPACE.saturating_sub(self.of_workspace.get(&id).copied().unwrap_or_default())
    }

    fn free_slots(&self, route: Route) -> u32 {
        route.at_once().saturating_sub(self.in_flight_by_route.get(&route).copied().unwrap_or_default())
    }
}

/// Counts of what is not there any more would only grow.
fn decrement<K: Eq + Hash>(counts: &mut HashMap<K, u32>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(key);
        }
    }
}

/// Takes at most `max` messages of any workspace that are due, and for which there is room, for the length of `lease`:
/// what is not settled by then is taken by others. Workspaces share what is free, beginning with the one whose turn it is.
/// Any number of servers may ask at once.
pub async fn take(ledger: &Ledger, lease: TimeDelta, max: u32, room: &mut DeliverySlots) -> Result<Vec<Outgoing>> {
    let now = ledger.now();
    let due = ledger.store().read(Access::System, move |conn| Box::pin(store::outbox::any_due(conn, now)));
    if room.is_full() || !due.await? {
        return Ok(Vec::new());
    }
    let max = max.min(DELIVERIES_AT_ONCE.saturating_sub(room.under_way));
    let mut there = room.clone();
    let taken = ledger.store().write::<_, Error, _>(Access::System, move |tx| {
        Box::pin(async move {
            let taken = take_in_turn(tx, (now, now + lease), max, &mut there).await?;
            Ok((taken, there))
        })
    });
    let (taken, there) = taken.await?;
    *room = there;
    Ok(taken)
}

async fn take_in_turn(
    tx: &mut WriteTx<'_>,
    (now, until): (Timestamp, Timestamp),
    max: u32,
    room: &mut DeliverySlots,
) -> Result<Vec<Outgoing>> {
    let mut workspaces = store::outbox::workspaces_due(tx.conn(), now).await?;
    let turn = workspaces.partition_point(|id| room.last.is_some_and(|last| *id <= last));
    workspaces.rotate_left(turn);
    workspaces.retain(|id| room.of_workspace(*id) > 0);
    let share = max.checked_div(u32::try_from(workspaces.len()).unwrap_or(u32::MAX)).unwrap_or_default().max(1);
    let mut taken = Vec::new();
    for tenant_id in workspaces {
        let mut left = share.min(room.of_workspace(tenant_id)).min(max - u32::try_from(taken.len()).unwrap_or(max));
        if left == 0 {
            break;
        }
        for (channel, target_id) in store::outbox::receivers_due(tx.conn(), tenant_id, now).await? {
            let places = room.free_slots(Route::of(tenant_id, channel, target_id)).min(left);
            if places == 0 {
                // A receiver that holds all its places; those behind it are not to wait for it.
                continue;
            }
            for message in store::outbox::take(tx, (tenant_id, target_id), now, until, places).await? {
                left -= 1;
                if message.attempts > DELIVERY_ATTEMPTS_MAX {
                    // What came of the last attempt was never noted.
                    store::outbox::failed(tx, &message, UNNOTED, Next::Dead(now)).await?;
                    continue;
                }
                room.reserve(&message);
                let to = receiver(tx, &message).await?;
                taken.push(Outgoing { message, to });
            }
        }
    }
    Ok(taken)
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
                return nobody("the person has turned off e-mail");
            }
            let member = store::user::find_member(tx.conn(), message.tenant_id, user_id).await?;
            let tenant = store::tenant::find(tx.conn(), message.tenant_id).await?;
            match (member, tenant) {
                (Some(member), Some(tenant)) => Ok(Receiver::Person { email: member.email, workspace: tenant.name }),
                _ => nobody("the person is no longer a member"),
            }
        }
    }
}
