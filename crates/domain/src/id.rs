//! One type for each kind of id. All ids are UUIDv7 and plain UUID text in JSON. The list is append-only.

use crate::clock::{Entropy, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::{fmt, str::FromStr};
use uuid::{Builder, Uuid};

/// Returns a UUIDv7 of the given instant, with 74 random bits. Such ids sort by time of creation, in
/// milliseconds.
pub fn new_v7(at: Timestamp, entropy: &dyn Entropy) -> Uuid {
    let mut random = [0_u8; 10];
    entropy.fill(&mut random);
    let millis = u64::try_from(at.timestamp_millis()).unwrap_or_default();
    Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

/// Returns the least UUIDv7 of the given instant. No id that is created then or later is less.
pub fn least_v7(at: Timestamp) -> Uuid {
    let millis = u64::try_from(at.timestamp_millis()).unwrap_or_default();
    Builder::from_unix_timestamp_millis(millis, &[0; 10]).into_uuid()
}

/// Returns the instant of a UUIDv7, to the millisecond. `None` for an id without a time.
pub fn instant_of_v7(id: Uuid) -> Option<Timestamp> {
    let (seconds, nanos) = id.get_timestamp()?.to_unix();
    Timestamp::from_timestamp(i64::try_from(seconds).ok()?, nanos)
}

/// Returns a UUIDv7 that sorts after `last`: `id` if its time is later, otherwise one with the random bits of `id` and
/// a time of one millisecond after `last`. So ids keep the order of writing when the clock is set back.
pub fn v7_after(id: Uuid, last: Uuid) -> Uuid {
    const RANDOM_BITS: u32 = 80;
    let next_millis = (last.as_u128() >> RANDOM_BITS) + 1;
    if id.as_u128() >> RANDOM_BITS >= next_millis {
        return id;
    }
    let random = id.as_u128() & ((1 << RANDOM_BITS) - 1);
    Uuid::from_u128((next_millis << RANDOM_BITS) | random)
}

/// The error for a text that is not a hyphenated UUID. It holds the first 64 characters of the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a UUID")]
pub struct InvalidId(pub String);

/// Reads the hyphenated form of a UUID.
fn hyphenated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Uuid, D::Error> {
    struct Text;

    impl de::Visitor<'_> for Text {
        type Value = Uuid;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a UUID")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Uuid, E> {
            parse(text).map_err(E::custom)
        }
    }

    deserializer.deserialize_str(Text)
}

/// Parses the hyphenated form only, so that one object has one URL.
fn parse(text: &str) -> Result<Uuid, InvalidId> {
    let id = if text.len() == 36 { Uuid::parse_str(text).ok() } else { None };
    id.ok_or_else(|| InvalidId(text.chars().take(64).collect()))
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// Creates an id with the time `at`.
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

            /// Parses the hyphenated form only, so that one object has one URL.
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                parse(text).map(Self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            /// Reads what [`FromStr`] parses, and refuses what it refuses.
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                hyphenated(deserializer).map(Self)
            }
        }
    )+};
}

ids! {
    /// A workspace: the unit of isolation.
    TenantId,
    /// A person.
    UserId,
    /// Configured work. Pages call it a task.
    ActionId,
    /// One execution.
    SessionId,
    /// One row of a session's log. The client may choose the id.
    EventId,
    /// An API token (its row, not its secret).
    TokenId,
    /// A browser session (its row, not its cookie).
    BrowserSessionId,
    /// One API request, quoted in problems and logs.
    RequestId,
    /// A type of entities, with its fields.
    EntityTypeId,
    /// An entity: a record that work is about.
    EntityId,
    /// One run of a CSV import.
    ImportId,
    /// A gate: a pause that waits for a decision.
    GateId,
    /// A criteria set, by which outputs are judged.
    CriteriaSetId,
    /// A group of people.
    GroupId,
    /// A webhook: a URL to which a workspace sends messages.
    WebhookId,
    /// One message of the outbox. The receiver uses it as idempotency key.
    MessageId,
    /// A prompt and its answer. The id is derived from the place in the log where the answer ends.
    InteractionId,
    /// A single-use link: an invitation or a password reset (its row, not its secret).
    LinkId,
    /// A request of an agent that people answer.
    FeedbackRequestId,
    /// One answer to such a request.
    RequestAnswerId,
    /// A view: a published, versioned input form.
    ViewId,
    /// A memory document of an agent.
    MemoryDocumentId,
    /// One version of a memory document. The ids of an agent's versions are in the order of writing.
    MemoryVersionId,
    /// A character card that was given to an agent.
    CardId,
    /// A link to a form (its row, not its secret).
    ViewLinkId,
    /// A browser without an account, as one view sees it. The id is derived from the browser's cookie.
    RespondentId,
    /// A tool: a call that people, programs and agents make by name.
    ToolId,
    /// A cause of failures. The id is derived from what its failures have in common.
    CauseId,
    /// A search line that a person saved under a name.
    SavedSearchId,
    /// A link with which people without an account read a session (its row, not its secret).
    ShareLinkId,
    /// A rule that decides gates.
    RuleId,
    /// A paced run: failed sessions that are run again a few at a time.
    PacedRunId,
    /// An MCP server whose tools a workspace calls.
    McpServerId,
    /// A link with which people without an account run a tool (its row, not its secret).
    ToolLinkId,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::from_micros;

    #[test]
    fn the_instant_of_an_id_is_known_to_the_millisecond() {
        let id = least_v7(from_micros(1_795_759_200_123_456));
        assert_eq!(instant_of_v7(id), Some(from_micros(1_795_759_200_123_000)));
        assert_eq!(instant_of_v7(Uuid::nil()), None);
    }
}
