//! One type per id. All are UUIDv7, plain UUID text on the wire; the list is append-only.

use crate::clock::{Entropy, Timestamp};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};
use uuid::{Builder, Uuid};

/// A UUIDv7 of the given instant: sorts by creation time, 74 random bits.
pub fn new_v7(at: Timestamp, entropy: &dyn Entropy) -> Uuid {
    let mut random = [0_u8; 10];
    entropy.fill(&mut random);
    let millis = u64::try_from(at.timestamp_millis()).unwrap_or_default();
    Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

/// The least UUIDv7 of the given instant: no id made then or later is below it.
pub fn least_v7(at: Timestamp) -> Uuid {
    let millis = u64::try_from(at.timestamp_millis()).unwrap_or_default();
    Builder::from_unix_timestamp_millis(millis, &[0; 10]).into_uuid()
}

/// Text that is not a UUID.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a UUID")]
pub struct InvalidId(pub String);

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new id made at `at`.
            pub fn new(at: Timestamp, entropy: &dyn Entropy) -> Self {
                Self(new_v7(at, entropy))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            /// Accepts the hyphenated form alone, so that one object has one address.
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let refused = || InvalidId(text.chars().take(64).collect());
                if text.len() != 36 {
                    return Err(refused());
                }
                Uuid::parse_str(text).map(Self).map_err(|_| refused())
            }
        }
    )+};
}

ids! {
    /// A workspace: the unit of isolation.
    TenantId,
    /// A person.
    UserId,
    /// Configured work; the UI says "task".
    ActionId,
    /// One execution.
    SessionId,
    /// One row of a session's log; made by the client where it has one.
    EventId,
    /// An API token (its row, not its secret).
    TokenId,
    /// A browser session (its row, not its cookie).
    BrowserSessionId,
    /// One API request, quoted in problems and logs.
    RequestId,
    /// A kind of record: its fields.
    EntityTypeId,
    /// A record that work is about.
    EntityId,
    /// One run of a CSV import.
    ImportId,
    /// A pause that waits for a decision.
    GateId,
    /// What outputs are judged by.
    CriteriaSetId,
    /// People who judge together.
    GroupId,
    /// A workspace's URL that is told what happens.
    WebhookId,
    /// One message on its way out; the receiver's idempotency key.
    MessageId,
    /// A prompt and its answer; made from the place in the log where the answer ends.
    InteractionId,
    /// A single-use link: an invitation or a password reset (its row, not its secret).
    LinkId,
}
