//! Topics of messages to webhooks and people, and the waits between attempts to deliver a message.

use crate::{
    limit::{DELIVERY_ASKED_SECONDS_MAX, DELIVERY_ATTEMPTS_MAX, DELIVERY_WAIT_SECONDS_MAX},
    names::names,
};
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The topic of a message. The names are those in webhook requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Topic {
    /// A gate opened and waits for a reviewer.
    #[serde(rename = "approval.requested")]
    ApprovalRequested,
    /// A gate still waits, and its reviewers are reminded.
    #[serde(rename = "approval.reminder")]
    ApprovalReminder,
    /// Further people are asked to decide a gate: it has waited long, or was handed over.
    #[serde(rename = "approval.escalated")]
    ApprovalEscalated,
    /// A gate was decided.
    #[serde(rename = "approval.decided")]
    ApprovalDecided,
    /// The decision on a gate was undone.
    #[serde(rename = "approval.undone")]
    ApprovalUndone,
    /// A session ended as failed. One that expired is reported only as ended.
    #[serde(rename = "session.failed")]
    SessionFailed,
    /// A session ended, in whatever way.
    #[serde(rename = "session.ended")]
    SessionEnded,
    /// A session was assigned to a member who looks after it.
    #[serde(rename = "session.assigned")]
    SessionAssigned,
    /// A failure has a cause that is new, or that was resolved and came back.
    #[serde(rename = "failure_cause.opened")]
    CauseOpened,
    /// A form whose owner wants to know of it was answered.
    #[serde(rename = "form.submitted")]
    FormSubmitted,
    /// A rule that decides gates was suspended.
    #[serde(rename = "rule.suspended")]
    RuleSuspended,
    /// A test message that someone requested.
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
    SessionAssigned = "session.assigned",
    CauseOpened = "failure_cause.opened",
    FormSubmitted = "form.submitted",
    RuleSuspended = "rule.suspended",
    Test = "webhook.test",
});

impl Topic {
    /// Topics to which a webhook can subscribe.
    pub const SUBSCRIBABLE: [Self; 11] = [
        Self::ApprovalRequested,
        Self::ApprovalReminder,
        Self::ApprovalEscalated,
        Self::ApprovalDecided,
        Self::ApprovalUndone,
        Self::SessionFailed,
        Self::SessionEnded,
        Self::SessionAssigned,
        Self::CauseOpened,
        Self::FormSubmitted,
        Self::RuleSuspended,
    ];

    /// Whether the message asks a person for a decision. Such messages, and those about an assigned session, a form or
    /// a rule, are sent by e-mail too.
    pub const fn needs_decision(self) -> bool {
        matches!(self, Self::ApprovalRequested | Self::ApprovalReminder | Self::ApprovalEscalated)
    }
}

/// How a message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryMethod {
    /// To a webhook of the workspace.
    Webhook,
    /// To the e-mail address of a person.
    Email,
}

names!(DeliveryMethod { Webhook = "webhook", Email = "email" });

/// Wait after the first failed attempt, seconds.
const FIRST_SECONDS: i64 = 5;
/// Factor by which each wait is longer than the one before.
const FACTOR: i64 = 3;

/// Returns the wait after `attempts` failed attempts; `None` if no further attempt follows. `random` varies the
/// wait by up to 20 percent in either direction, so that messages that failed together are not sent together
/// again. `asked` is the wait that the receiver asked for, seconds.
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
