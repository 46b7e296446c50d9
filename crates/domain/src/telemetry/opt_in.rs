//! Whether a workspace shares numbers for training, and when its people are asked.

use crate::Timestamp;
use chrono::TimeDelta;

/// Days from the first request in which people are asked. A missing answer counts as a no afterwards.
pub const PROMPT_DAYS: i64 = 7;
/// Least number of hours between two requests.
pub const PROMPT_HOURS: i64 = 24;

/// The request in the context of an agent at the start of a session.
pub const PROMPT: &str = "<shiftbook-telemetry-prompt>
At a natural moment early in this session, ask the user if they'd
like to opt in to anonymous training telemetry. Shiftbook collects
only numerical feature vectors and relevance scores (never memory
content) to train a memory relevance model. They stay on this
installation until its operator exports them. Users can opt out
anytime via `shiftbook telemetry off` or in the settings. Send the
answer to POST /api/telemetry/opt-in as {\"enabled\": true} or
{\"enabled\": false}. If they decline, respect it and don't mention
it again.
</shiftbook-telemetry-prompt>";

/// An agent reports a yes after a no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declined;

/// The answer of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptIn {
    /// The answer; `None` if no one has answered yet.
    pub enabled: Option<bool>,
    /// Time of the newest request (UTC).
    pub last_prompted_at: Option<Timestamp>,
    /// Time from which [`PROMPT_DAYS`] count (UTC).
    pub installed_at: Timestamp,
}

impl OptIn {
    /// The state of a workspace that starts now.
    pub const fn installed(at: Timestamp) -> Self {
        Self { enabled: None, last_prompted_at: None, installed_at: at }
    }

    /// The state at this time. After [`PROMPT_DAYS`] days a missing answer counts as a no.
    pub fn at(self, now: Timestamp) -> Self {
        let is_over = now - self.installed_at >= TimeDelta::days(PROMPT_DAYS);
        Self { enabled: self.enabled.or(is_over.then_some(false)), ..self }
    }

    /// Whether a request is due: while no one has answered, at most once in [`PROMPT_HOURS`] hours.
    pub fn asks(self, now: Timestamp) -> bool {
        let is_time = |last: Timestamp| now - last >= TimeDelta::hours(PROMPT_HOURS);
        self.at(now).enabled.is_none() && self.last_prompted_at.is_none_or(is_time)
    }

    /// The state after a request.
    pub const fn after_request(self, now: Timestamp) -> Self {
        Self { last_prompted_at: Some(now), ..self }
    }

    /// The state after an answer. A person can change it at any time. An agent can report a no at any time, and a yes
    /// unless the answer is no.
    ///
    /// # Errors
    /// [`Declined`] for a yes of an agent after a no.
    pub fn answered(self, enabled: bool, by_person: bool, now: Timestamp) -> Result<Self, Declined> {
        if enabled && !by_person && self.at(now).enabled == Some(false) {
            return Err(Declined);
        }
        Ok(Self { enabled: Some(enabled), ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(hours: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + TimeDelta::hours(hours)
    }

    #[test]
    fn people_are_asked_once_a_day_for_a_week_and_then_no_more() {
        let (mut state, mut asked) = (OptIn::installed(after(0)), Vec::new());
        for hour in 0..24 * 30 {
            if state.asks(after(hour)) {
                asked.push(hour);
                state = state.after_request(after(hour));
            }
        }
        assert_eq!(asked, [0, 24, 48, 72, 96, 120, 144]);
        assert_eq!(state.at(after(7 * 24 - 1)).enabled, None);
        assert_eq!(state.at(after(7 * 24)).enabled, Some(false));
    }

    #[test]
    fn an_agent_does_not_turn_a_no_into_a_yes_and_a_person_can() {
        let state = OptIn::installed(after(0));
        let declined = state.answered(false, false, after(1)).unwrap();
        assert_eq!(declined.answered(true, false, after(2)), Err(Declined));
        assert_eq!(state.answered(true, false, after(7 * 24)), Err(Declined), "no answer became a no");
        assert_eq!(declined.answered(true, true, after(2)).unwrap().enabled, Some(true));
        let agreed = state.answered(true, false, after(1)).unwrap();
        assert_eq!(agreed.at(after(9_999)).enabled, Some(true));
        assert_eq!(agreed.answered(false, false, after(2)).unwrap().enabled, Some(false));
    }

    proptest! {
        #[test]
        fn nobody_is_asked_after_an_answer(enabled: bool, at in 0_i64..400, later in 0_i64..9_000) {
            let state = OptIn::installed(after(0)).answered(enabled, true, after(at)).unwrap();
            prop_assert!(!state.asks(after(at + later)));
            prop_assert_eq!(state.at(after(at + later)).enabled, Some(enabled));
        }
    }
}
