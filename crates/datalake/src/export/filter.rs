//! Selects the interactions that are exported, and the split of each session.

use crate::record::InteractionRecord;
use domain::Timestamp;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// The filter of interactions. The default selects all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Filter {
    /// Only interactions answered at this time or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Only interactions answered before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Only answers of these agents, by slug. If empty: of any agent.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub agents: BTreeSet<String>,
    /// Only answers in sessions of these actions, by id. If empty: in any session.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub actions: BTreeSet<String>,
}

impl Filter {
    /// Whether the filter selects an interaction.
    pub fn admits(&self, record: &InteractionRecord) -> bool {
        let is_among = |wanted: &BTreeSet<String>, of: &Option<String>| {
            wanted.is_empty() || of.as_ref().is_some_and(|of| wanted.contains(of))
        };
        self.since.is_none_or(|since| record.timestamp >= since)
            && self.until.is_none_or(|until| record.timestamp < until)
            && is_among(&self.agents, &record.agent)
            && is_among(&self.actions, &record.action_id)
    }
}

/// The part of the data to which a row belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// Data for training.
    Train,
    /// Data for measuring the trained model.
    Validation,
}

/// Shares are in thousandths: this value means all sessions.
pub const SHARE_WHOLE: u16 = 1_000;
/// Largest share of sessions for validation, in thousandths.
pub const VALIDATION_SHARE_MAX: u16 = 900;

impl Split {
    /// Returns the split of a session. `validation_share` is the share of validation, in thousandths. The split
    /// depends only on the session's id and the share. So all rows of a session are in one split, and stay
    /// there when sessions are added.
    pub fn of(session_id: &str, validation_share: u16) -> Split {
        let digest: [u8; 32] = Sha256::digest(session_id.as_bytes()).into();
        let [a, b, c, d, e, f, g, h, ..] = digest;
        let place = u64::from_be_bytes([a, b, c, d, e, f, g, h]) % u64::from(SHARE_WHOLE);
        if place < u64::from(validation_share) { Split::Validation } else { Split::Train }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_sessions_is_for_validation_and_stays_there() {
        let sessions: Vec<String> = (0..2_000).map(|number| format!("session-{number}")).collect();
        let of =
            |share| sessions.iter().filter(|id| Split::of(id, share) == Split::Validation).collect::<BTreeSet<_>>();
        assert!(of(0).is_empty());
        assert!((150..250).contains(&of(100).len()), "{}", of(100).len());
        assert!(of(100).is_subset(&of(300)), "a larger share keeps what a smaller one had");
        assert_eq!(Split::of("session-1", 500), Split::of("session-1", 500));
    }
}
