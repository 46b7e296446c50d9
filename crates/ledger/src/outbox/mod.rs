//! Messages to webhooks and people. They are written in the transaction of the change and delivered afterwards,
//! at least once.
//!
//! [`announce`] runs inside the transaction of the change that it reports. The other functions run without a
//! caller: the runner takes a message for some time, delivers it and settles it.

mod announce;
mod settle;
mod take;

pub(crate) use announce::{Announcement, MessageIds, announce, announce_end, message};
pub use settle::{Outcome, prune, settle};
pub use take::{DeliverySlots, Outgoing, Receiver, take};
