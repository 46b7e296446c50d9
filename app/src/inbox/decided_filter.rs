//! Which of the decided items a list shows.

use crate::text::escape::query;
use domain::gate::GateOutcome;

/// Which decided items the list shows. Empty: all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DecidedFilter {
    /// `?by=`: id of the person who decided.
    pub by: Option<String>,
    /// `?outcome=`: how the item ended.
    pub outcome: Option<GateOutcome>,
    /// `?agent=`: the agent that asked.
    pub agent: Option<String>,
    /// `?since=`: the first day, such as `2026-01-31`.
    pub since: Option<String>,
    /// `?until=`: the last day.
    pub until: Option<String>,
    /// `?zone=`: IANA name of the time zone of the days. Absent without a day.
    pub zone: Option<String>,
}

impl DecidedFilter {
    /// Whether it leaves anything out.
    pub fn is_set(&self) -> bool {
        *self != Self::default()
    }

    /// What it adds to the query of the list: `&by=…&outcome=…`.
    pub(super) fn query(&self) -> String {
        let outcome = self.outcome.map(GateOutcome::as_str);
        let fields = [
            ("by", self.by.as_deref()),
            ("outcome", outcome),
            ("agent", self.agent.as_deref()),
            ("since", self.since.as_deref()),
            ("until", self.until.as_deref()),
            ("zone", self.zone.as_deref()),
        ];
        let set = fields.into_iter().filter_map(|(name, value)| Some(format!("&{name}={}", query(value?))));
        set.collect()
    }
}
