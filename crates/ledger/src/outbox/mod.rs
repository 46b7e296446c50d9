//! Messages to webhooks and people: written with what they report, delivered afterwards, at least once.
//!
//! [`announce`] runs inside of the transaction of the change that it reports. The rest acts for the machine itself: a
//! message is taken for a while, delivered by the runner, and settled.

mod announce;
mod settle;
mod take;

pub(crate) use announce::{Announcement, MessageIds, announce, announce_end, message};
pub use settle::{Outcome, prune, settle};
pub use take::{DeliverySlots, Outgoing, Receiver, take};
