//! Whether a rule decides a gate.

use super::{Definition, Subject, micros};
use crate::{
    Timestamp,
    gate::Gate,
    id::{GateId, UserId},
    names::names,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// Length of a day (UTC), which has no leap seconds here.
const DAY_SECONDS: i64 = 86_400;

/// A gate that has just opened, with what a rule has to know beside it.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The gate as it is when it opens.
    pub gate: &'a Gate,
    /// Whether its session is private or incognito, or values of its input are kept apart from the session.
    pub is_private: bool,
    /// The admin who made the version of the rule, and for whom it decides.
    pub made_by: UserId,
}

/// What a rule has decided on one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// Number of its decisions.
    pub count: u64,
    /// Sum of the limited value, millionths.
    pub amount_micros: i64,
}

/// What a rule does with a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// It approves the gate.
    Approve {
        /// The value that counts towards the limit of the day, millionths; 0 without such a limit.
        amount_micros: i64,
    },
    /// A person is asked.
    Ask(Why),
}

/// Why a rule does not decide a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The rule is about other gates.
    OtherSubject,
    /// A value does not fulfil its condition, or cannot be read as a number.
    Outside,
    /// The session is private or incognito, or some of its values are kept apart.
    Private,
    /// A safety rule flagged the output.
    Flagged,
    /// More than one person must approve it.
    SeveralApprovals,
    /// It was requested by the admin who made the rule, and its task forbids self-approval.
    OwnRequest,
    /// The rule has expired.
    Expired,
    /// It is in the share that still asks.
    Canary,
    /// The rule has decided as many as it may on that day.
    DayCount,
    /// The sum of the day would be too large.
    DayAmount,
}

names!(Why {
    OtherSubject = "other_subject",
    Outside = "outside",
    Private = "private",
    Flagged = "flagged",
    SeveralApprovals = "several_approvals",
    OwnRequest = "own_request",
    Expired = "expired",
    Canary = "canary",
    DayCount = "day_count",
    DayAmount = "day_amount",
});

/// A day in which decisions of a rule are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    /// Days since 1970-01-01.
    pub number: i64,
    /// First instant of the day (UTC).
    pub begin: Timestamp,
    /// First instant of the next day (UTC).
    pub end: Timestamp,
}

/// Returns the day of an instant.
pub fn day_of(at: Timestamp) -> Day {
    let number = at.timestamp().div_euclid(DAY_SECONDS);
    let begin = |day: i64| Timestamp::from_timestamp(day * DAY_SECONDS, 0).unwrap_or_default();
    Day { number, begin: begin(number), end: begin(number + 1) }
}

/// Whether a gate is in the share that still asks. Ids have random bits, which no agent chooses.
fn is_canary(id: GateId, percent: u32) -> bool {
    let digest = Sha256::digest(id.0.as_bytes());
    let number = digest.iter().take(8).fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    number % 100 < u64::from(percent)
}

impl Definition {
    /// Whether the rule is about this gate and its values fulfil the conditions, whatever the limits say.
    ///
    /// # Errors
    /// [`Why::OtherSubject`] or [`Why::Outside`].
    pub fn covers(&self, gate: &Gate) -> Result<(), Why> {
        let values = gate.task.editable().ok_or(Why::OtherSubject)?;
        if Subject::of(gate).as_ref() != Some(&self.subject) {
            return Err(Why::OtherSubject);
        }
        let holds = self.conditions.iter().all(|condition| {
            let value = values.get(&condition.field);
            value.is_some_and(|value| match condition.is_range() {
                false => condition.one_of.iter().any(|taken| is_same(taken, value)),
                true => micros(value).is_some_and(|value| {
                    let bound = |number: &Option<serde_json::Number>| {
                        number.clone().map(|number| micros(&Value::Number(number)))
                    };
                    // A bound that cannot be read lets nothing through.
                    bound(&condition.at_least).is_none_or(|least| least.is_some_and(|least| value >= least))
                        && bound(&condition.at_most).is_none_or(|most| most.is_some_and(|most| value <= most))
                }),
            })
        });
        if holds { Ok(()) } else { Err(Why::Outside) }
    }

    /// Returns what the rule does with a gate on a day on which it has decided `used` before. The function is total and
    /// pure, so a repeat has the same result.
    pub fn judge(&self, case: Case<'_>, used: Used) -> Judgement {
        match self.judged(case, used) {
            Ok(amount_micros) => Judgement::Approve { amount_micros },
            Err(why) => Judgement::Ask(why),
        }
    }

    fn judged(&self, case: Case<'_>, used: Used) -> Result<i64, Why> {
        let Case { gate, is_private, made_by } = case;
        self.covers(gate)?;
        let ask = |asks: bool, why: Why| if asks { Err(why) } else { Ok(()) };
        ask(is_private, Why::Private)?;
        ask(!gate.flags.is_empty(), Why::Flagged)?;
        ask(gate.quorum != 1, Why::SeveralApprovals)?;
        ask(!gate.self_approval && gate.requester_id == Some(made_by), Why::OwnRequest)?;
        let limits = &self.limits;
        ask(gate.opened_at >= limits.expires_at, Why::Expired)?;
        ask(is_canary(gate.id, limits.canary_percent), Why::Canary)?;
        ask(used.count >= u64::from(limits.per_day), Why::DayCount)?;
        let Some(limit) = &limits.amount else { return Ok(0) };
        let empty = Map::new();
        let value = gate.task.editable().unwrap_or(&empty).get(&limit.field).and_then(micros);
        // A negative amount would make room for others.
        let amount = value.filter(|amount| *amount >= 0).ok_or(Why::Outside)?;
        let most = micros(&Value::Number(limit.per_day.clone())).unwrap_or_default();
        let sum = used.amount_micros.checked_add(amount);
        ask(sum.is_none_or(|sum| sum > most), Why::DayAmount)?;
        Ok(amount)
    }
}

/// Whether two values are the same. 50 and 50.0 are.
fn is_same(taken: &Value, value: &Value) -> bool {
    taken == value || matches!((micros(taken), micros(value)), (Some(taken), Some(value)) if taken == value)
}
