//! What a workspace can be told about, and when a message that did not arrive is sent again.

use crate::{
    limit::{DELIVERY_ASKED_SECONDS_MAX, DELIVERY_ATTEMPTS_MAX, DELIVERY_WAIT_SECONDS_MAX},
    names::names,
};
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Something worth a message. The names are those of webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Topic {
    /// An agent's work waits for a reviewer.
    #[serde(rename = "approval.requested")]
    ApprovalRequested,
    /// It still waits.
    #[serde(rename = "approval.reminder")]
    ApprovalReminder,
    /// It has waited so long that somebody else is asked.
    #[serde(rename = "approval.escalated")]
    ApprovalEscalated,
    /// It was decided.
    #[serde(rename = "approval.decided")]
    ApprovalDecided,
    /// The decision was taken back.
    #[serde(rename = "approval.undone")]
    ApprovalUndone,
    /// A session failed.
    #[serde(rename = "session.failed")]
    SessionFailed,
    /// A session ended, however it did.
    #[serde(rename = "session.ended")]
    SessionEnded,
    /// Nothing happened: somebody wants to see a message arrive.
    #[serde(rename = "webhook.test")]
    Test,
}

names!(Topic {
    ApprovalRequested = "approval.requested",
    ApprovalReminder = "approval.reminder",
    ApprovalEscalated = "approval.escalated",
    ApprovalDecided = "approval.decided",
    ApprovalUndone = "approval.undone",
    SessionFailed = "session.failed",
    SessionEnded = "session.ended",
    Test = "webhook.test",
});

impl Topic {
    /// Those one can subscribe to.
    pub const SUBSCRIBABLE: [Self; 7] = [
        Self::ApprovalRequested,
        Self::ApprovalReminder,
        Self::ApprovalEscalated,
        Self::ApprovalDecided,
        Self::ApprovalUndone,
        Self::SessionFailed,
        Self::SessionEnded,
    ];

    /// Whether it asks a person for something: only these are worth an e-mail.
    pub const fn needs_decision(self) -> bool {
        matches!(self, Self::ApprovalRequested | Self::ApprovalReminder | Self::ApprovalEscalated)
    }
}

/// How a message leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channel {
    /// To a workspace's URL.
    Webhook,
    /// To a person's address.
    Email,
}

names!(Channel { Webhook = "webhook", Email = "email" });

/// First wait after a failed delivery, seconds.
const FIRST_SECONDS: i64 = 5;
/// Each wait is this many times the one before.
const FACTOR: i64 = 3;

/// How long to wait after `attempts` failed deliveries; `None` when it was the last. `random` spreads messages that
/// failed together by a fifth around their wait; `asked` is how long the receiver asked to be left alone, seconds.
pub fn wait(attempts: u32, random: u32, asked: Option<u64>) -> Option<TimeDelta> {
    if attempts >= DELIVERY_ATTEMPTS_MAX {
        return None;
    }
    let grown = FACTOR.checked_pow(attempts.saturating_sub(1)).and_then(|times| times.checked_mul(FIRST_SECONDS));
    let millis = grown.unwrap_or(DELIVERY_WAIT_SECONDS_MAX).min(DELIVERY_WAIT_SECONDS_MAX) * 1_000;
    let spread = millis * (800 + i64::from(random % 401)) / 1_000;
    let asked = asked.map_or(0, |seconds| seconds.min(DELIVERY_ASKED_SECONDS_MAX).cast_signed() * 1_000);
    Some(TimeDelta::milliseconds(spread.max(asked)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_have_one_name_everywhere() {
        for topic in Topic::ALL {
            assert_eq!(serde_json::to_value(topic).unwrap(), topic.as_str());
            assert_eq!(Topic::parse(topic.as_str()), Some(topic));
            assert_eq!(Topic::SUBSCRIBABLE.contains(&topic), topic != Topic::Test);
        }
    }

    #[test]
    fn waits_grow_stay_within_a_day_and_end() {
        let middle = |attempts| wait(attempts, 200, None).map(|wait| wait.num_seconds());
        let waits: Vec<_> = (1..=DELIVERY_ATTEMPTS_MAX).map(middle).collect();
        let expected = [5, 15, 45, 135, 405, 1_215, 3_645, 10_935, 21_600, 21_600, 21_600].map(Some);
        assert_eq!(waits[..11], expected);
        assert_eq!(waits[11], None);
        assert!(waits.iter().flatten().sum::<i64>() < 24 * 3_600);
        assert_eq!(middle(0), Some(5));
    }

    #[test]
    fn messages_that_failed_together_come_back_apart_and_a_receiver_may_ask_for_more_time() {
        let waits: Vec<_> =
            [0, 200, 400, u32::MAX].map(|random| wait(1, random, None).unwrap().num_milliseconds()).into();
        assert_eq!(waits[..3], [4_000, 5_000, 6_000]);
        assert!((4_000..=6_000).contains(&waits[3]));
        assert_eq!(wait(1, 200, Some(60)).unwrap().num_seconds(), 60);
        assert_eq!(wait(4, 200, Some(60)).unwrap().num_seconds(), 135);
        assert_eq!(wait(1, 200, Some(u64::MAX)).unwrap().num_seconds(), 3_600);
    }
}
