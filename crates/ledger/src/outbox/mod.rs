//! Messages to webhooks and people. They are written in the transaction of the change and delivered afterwards,
//! at least once.
//!
//! [`announce`] runs inside the transaction of the change that it reports. The other functions run without a
//! caller: the runner claims a message for some time, delivers it and records the outcome.

mod announce;
mod claim;
mod record_outcome;

pub(crate) use announce::{
    Announcement, MessageIds, Window, announce, announce_assigned, announce_cause, announce_end, announce_once, message,
};
pub use claim::{DeliverySlots, Outgoing, Receiver, claim};
pub(crate) use record_outcome::prune_before;
pub use record_outcome::{Outcome, prune, record_outcome};
