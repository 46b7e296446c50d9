//! Taking due messages for delivery.

use crate::{Ledger, MessageRecord, Result};
use chrono::TimeDelta;
use domain::{
    Timestamp,
    id::{TenantId, UserId, WebhookId},
    limit::{
        DELIVERIES_AT_ONCE, DELIVERIES_BY_MAIL, DELIVERIES_OF_WORKSPACE, DELIVERIES_TO_WEBHOOK, DELIVERY_ATTEMPTS_MAX,
    },
    notification::DeliveryMethod,
};
use std::{collections::HashMap, hash::Hash};
use store::{Access, WriteTx, outbox::Next};
use uuid::Uuid;

/// A message and its receiver at the time it was taken.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// The leased row of the outbox.
    pub message: MessageRecord,
    /// Receiver, as it was read when the message was taken.
    pub to: Receiver,
}

/// The receiver of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receiver {
    /// A webhook of the workspace.
    Webhook {
        /// Id of the webhook.
        id: WebhookId,
        /// URL of the webhook.
        url: String,
    },
    /// A person who gets the message by e-mail.
    Person {
        /// The person's e-mail address.
        email: String,
        /// Name of the workspace to which the message belongs.
        workspace: String,
    },
    /// The receiver no longer exists or does not want messages. Holds the reason.
    Nobody(String),
}

/// The last error of a message whose attempts are used up and whose last result was not recorded.
const UNNOTED: &str = "it was tried as often as it may be, and what came of the last attempt could not be noted";

/// A route of delivery: one webhook, or the mail server for all e-mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Route {
    Webhook(TenantId, Uuid),
    Mail,
}

impl Route {
    const fn of(tenant_id: TenantId, method: DeliveryMethod, target_id: Uuid) -> Self {
        match method {
            DeliveryMethod::Webhook => Self::Webhook(tenant_id, target_id),
            DeliveryMethod::Email => Self::Mail,
        }
    }

    const fn at_once(self) -> u32 {
        match self {
            Self::Webhook(..) => DELIVERIES_TO_WEBHOOK,
            Self::Mail => DELIVERIES_BY_MAIL,
        }
    }
}

/// Deliveries of one server that are in progress, and the last workspace served. Each route and workspace has a
/// limited number of slots, so a slow receiver does not delay others. Workspaces are served in turn.
#[derive(Debug, Clone, Default)]
pub struct DeliverySlots {
    under_way: u32,
    of_workspace: HashMap<TenantId, u32>,
    in_flight_by_route: HashMap<Route, u32>,
    last: Option<TenantId>,
}

impl DeliverySlots {
    /// Frees the slot of a message whose delivery has succeeded or failed.
    pub fn free(&mut self, message: &MessageRecord) {
        let route = Route::of(message.tenant_id, message.method, message.target_id);
        self.under_way = self.under_way.saturating_sub(1);
        decrement(&mut self.of_workspace, &message.tenant_id);
        decrement(&mut self.in_flight_by_route, &route);
    }

    /// Returns whether no delivery is in progress.
    pub const fn is_empty(&self) -> bool {
        self.under_way == 0
    }

    /// Returns whether all slots are used.
    pub const fn is_full(&self) -> bool {
        self.under_way >= DELIVERIES_AT_ONCE
    }

    fn reserve(&mut self, message: &MessageRecord) {
        let route = Route::of(message.tenant_id, message.method, message.target_id);
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

/// Decrements a count. A count of 0 is removed, so the map does not grow.
fn decrement<K: Eq + Hash>(counts: &mut HashMap<K, u32>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(key);
        }
    }
}

/// Claims at most `max` due messages of all workspaces for the duration of `lease`. A message whose outcome is not
/// recorded by then is claimed again. Free slots are shared among workspaces, beginning with the next one in turn.
/// Any number of servers may call this at once.
pub async fn claim(ledger: &Ledger, lease: TimeDelta, max: u32, free: &mut DeliverySlots) -> Result<Vec<Outgoing>> {
    let now = ledger.now();
    let due = ledger.store().read(Access::System, async move |conn| store::outbox::any_due(conn, now).await);
    if free.is_full() || !due.await? {
        return Ok(Vec::new());
    }
    let max = max.min(DELIVERIES_AT_ONCE.saturating_sub(free.under_way));
    let mut slots = free.clone();
    let taken = ledger.write(Access::System, async move |tx| {
        let mut given_up = 0;
        let taken = take_in_turn(tx, (now, now + lease), max, (&mut slots, &mut given_up)).await?;
        Ok((taken, slots, given_up))
    });
    let (taken, slots, given_up) = taken.await?;
    ledger.activity().messages_given_up(given_up);
    *free = slots;
    Ok(taken)
}

async fn take_in_turn(
    tx: &mut WriteTx<'_>,
    (now, until): (Timestamp, Timestamp),
    max: u32,
    (room, given_up): (&mut DeliverySlots, &mut u64),
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
        for (method, target_id) in store::outbox::receivers_due(tx.conn(), tenant_id, now).await? {
            let places = room.free_slots(Route::of(tenant_id, method, target_id)).min(left);
            if places == 0 {
                // All slots of this receiver are used. Receivers after it do not wait.
                continue;
            }
            for message in store::outbox::claim(tx, (tenant_id, target_id), now, until, places).await? {
                left -= 1;
                if message.attempts > DELIVERY_ATTEMPTS_MAX {
                    // The result of the last attempt was not recorded.
                    *given_up += u64::from(store::outbox::failed(tx, &message, UNNOTED, Next::Dead(now)).await?);
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
    match message.method {
        DeliveryMethod::Webhook => {
            let id = WebhookId(message.target_id);
            let Some(webhook) = store::webhook::find(tx.conn(), message.tenant_id, id).await? else {
                return nobody("the webhook was removed");
            };
            match webhook.disabled_reason {
                Some(reason) => Ok(Receiver::Nobody(format!("the webhook is disabled: {reason}"))),
                None => Ok(Receiver::Webhook { id, url: webhook.url }),
            }
        }
        DeliveryMethod::Email => {
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
