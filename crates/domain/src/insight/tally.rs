//! Sums facts about sessions, gates and answers into insights.

use super::{Decisions, Figures, Ratings, ToolFact, ToolFigures, Waits, Window, tool::ToolTally};
use crate::{
    Timestamp,
    gate::{GateState, Verdict},
    outcome::Outcome,
    session::{Status, Usage},
};
use chrono::NaiveDate;
use std::collections::BTreeMap;

/// An agent session that ended.
#[derive(Debug, Clone)]
pub struct SessionFact<'a> {
    /// Time at which it ended (UTC).
    pub ended_at: Timestamp,
    /// Final status.
    pub status: Status,
    /// Slug of its agent.
    pub agent: Option<&'a str>,
    /// Slug of its action.
    pub action: Option<&'a str>,
    /// Tokens and cost.
    pub usage: Usage,
    /// Ratings of the session; `None` if they cannot be read.
    pub ratings: Option<Ratings>,
}

/// A gate. Only settled and expired gates are counted.
#[derive(Debug, Clone)]
pub struct GateFact<'a> {
    /// Time at which the gate opened (UTC).
    pub opened_at: Timestamp,
    /// Time at which the decision took effect or the gate expired (UTC).
    pub closed_at: Timestamp,
    /// State of the gate.
    pub state: GateState,
    /// Verdict of the decision; `None` without one.
    pub outcome: Option<Verdict>,
    /// Slug of the session's agent.
    pub agent: Option<&'a str>,
    /// Slug of the session's action.
    pub action: Option<&'a str>,
}

/// An answer of an agent.
#[derive(Debug, Clone)]
pub struct AnswerFact<'a> {
    /// Time at which the answer was complete (UTC).
    pub at: Timestamp,
    /// Inferred outcome; `None` if no message has followed.
    pub outcome: Option<Outcome>,
    /// Slug of the session's agent.
    pub agent: Option<&'a str>,
    /// Slug of the session's action.
    pub action: Option<&'a str>,
}

/// The figures of one agent or action.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Slug of the agent or action; `None` for sessions without one.
    pub slug: Option<String>,
    /// Figures of its sessions, gates and answers.
    pub figures: Figures,
}

/// The figures of a window: in total, and by day, agent and action.
#[derive(Debug, Clone, PartialEq)]
pub struct Insights {
    /// Days of the window.
    pub window: Window,
    /// Figures of the whole window.
    pub total: Figures,
    /// Figures by day, in order. Days without sessions are included.
    pub days: Vec<(NaiveDate, Figures)>,
    /// Figures by agent, the one with the most sessions first.
    pub agents: Vec<Part>,
    /// Figures by action, the one with the most sessions first.
    pub actions: Vec<Part>,
    /// Figures of runs by tool, the one with the most runs first.
    pub tools: Vec<ToolFigures>,
}

/// Sums facts, which may come in any order. Memory grows with the numbers of days, agents, actions, decided gates and
/// completed runs of tools, not with the number of sessions of agents.
#[derive(Debug)]
pub struct Tally {
    window: Window,
    total: Sum,
    days: Vec<Sum>,
    agents: BTreeMap<Option<String>, Sum>,
    actions: BTreeMap<Option<String>, Sum>,
    tools: ToolTally,
}

impl Tally {
    /// Starts a tally without facts.
    pub fn new(window: Window) -> Self {
        let days = window.days().map(|_| Sum::default()).collect();
        Self {
            window,
            total: Sum::default(),
            days,
            agents: BTreeMap::new(),
            actions: BTreeMap::new(),
            tools: ToolTally::default(),
        }
    }

    /// Adds a session. It is ignored if it ended outside of the window.
    pub fn session(&mut self, fact: &SessionFact<'_>) {
        self.each(fact.ended_at, fact.agent, fact.action, |sum| sum.session(fact));
    }

    /// Adds a gate. It is ignored if it is open or held, was withdrawn, or closed outside of the window.
    pub fn gate(&mut self, fact: &GateFact<'_>) {
        self.each(fact.closed_at, fact.agent, fact.action, |sum| sum.gate(fact));
    }

    /// Adds an answer. It is ignored if it was complete outside of the window.
    pub fn answer(&mut self, fact: &AnswerFact<'_>) {
        self.each(fact.at, fact.agent, fact.action, |sum| sum.figures.outcomes.count_in(fact.outcome));
    }

    /// Adds a run of a tool, which is no session of an agent. It is ignored if it ended outside of the window.
    pub fn tool(&mut self, fact: &ToolFact<'_>) {
        self.tools.run(self.window, fact);
    }

    fn each(&mut self, at: Timestamp, agent: Option<&str>, action: Option<&str>, add: impl Fn(&mut Sum)) {
        let Some(day) = self.window.place(at).and_then(|place| self.days.get_mut(place)) else { return };
        add(day);
        add(&mut self.total);
        add(self.agents.entry(agent.map(str::to_owned)).or_default());
        add(self.actions.entry(action.map(str::to_owned)).or_default());
    }

    /// Returns the figures of all facts.
    pub fn finish(self) -> Insights {
        Insights {
            total: self.total.finish(),
            days: self.window.days().zip(self.days.into_iter().map(Sum::finish)).collect(),
            agents: parts(self.agents),
            actions: parts(self.actions),
            tools: self.tools.finish(),
            window: self.window,
        }
    }
}

fn parts(sums: BTreeMap<Option<String>, Sum>) -> Vec<Part> {
    let mut parts: Vec<_> = sums.into_iter().map(|(slug, sum)| Part { slug, figures: sum.finish() }).collect();
    // An ignored gate may have created an empty entry, which is removed here.
    parts.retain(|part| part.figures != Figures::default());
    // The sort is stable, so parts with the same number of sessions stay in the order of their slugs.
    parts.sort_by_key(|part| std::cmp::Reverse(part.figures.sessions));
    parts
}

#[derive(Debug, Default)]
struct Sum {
    figures: Figures,
    waits: Vec<u64>,
}

impl Sum {
    fn session(&mut self, fact: &SessionFact<'_>) {
        let sum = &mut self.figures;
        sum.sessions += 1;
        sum.completed += u64::from(fact.status == Status::Completed);
        sum.failed += u64::from(matches!(fact.status, Status::Failed | Status::Expired));
        if let Some(ratings) = fact.ratings {
            sum.unrated += u64::from(ratings.count() == 0);
            sum.ratings.add(ratings);
        }
        sum.metered += u64::from(fact.usage.input_tokens.or(fact.usage.output_tokens).is_some());
        sum.input_tokens += fact.usage.input_tokens.unwrap_or_default();
        sum.output_tokens += fact.usage.output_tokens.unwrap_or_default();
        if let Some(cost) = fact.usage.cost_usd {
            sum.cost_usd += cost;
            sum.priced += 1;
        }
    }

    fn gate(&mut self, fact: &GateFact<'_>) {
        let Decisions { approved, edited, denied, answered, expired } = &mut self.figures.decisions;
        let count = match (fact.state, fact.outcome) {
            (GateState::Settled, Some(Verdict::Approve)) => approved,
            (GateState::Settled, Some(Verdict::Edit)) => edited,
            (GateState::Settled, Some(Verdict::Deny)) => denied,
            (GateState::Settled, Some(Verdict::Respond)) => answered,
            (GateState::Expired, _) => expired,
            (GateState::Settled, None) | (GateState::Open | GateState::Held | GateState::Withdrawn, _) => return,
        };
        *count += 1;
        if fact.state == GateState::Settled {
            let waited = (fact.closed_at - fact.opened_at).num_seconds();
            self.waits.push(u64::try_from(waited).unwrap_or_default());
        }
    }

    fn finish(self) -> Figures {
        Figures { waits: Waits::of(self.waits), ..self.figures }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::Outcomes;
    use chrono::{Duration, TimeZone as _, Utc};

    fn at(day: u32, hour: u32) -> Timestamp {
        Utc.with_ymd_and_hms(2026, 3, day, hour, 0, 0).unwrap()
    }

    fn session(ended_at: Timestamp, status: Status, ratings: Ratings) -> SessionFact<'static> {
        let usage = Usage { cost_usd: Some(0.25), ..Usage::default() };
        SessionFact { ended_at, status, agent: Some("writer"), action: None, usage, ratings: Some(ratings) }
    }

    #[test]
    fn what_nobody_said_is_unknown_and_a_skip_is_no_answer() {
        let mut tally = Tally::new(Window::ending(at(3, 12), 3));
        let (yes, skip) = (Ratings { positive: 1, ..Ratings::default() }, Ratings { skipped: 1, ..Ratings::default() });
        tally.session(&session(at(1, 0), Status::Completed, yes));
        tally.session(&session(at(2, 0), Status::Failed, skip));
        tally.session(&session(at(3, 23), Status::Completed, Ratings::default()));
        for outside in [at(3, 0) - Duration::days(3), at(4, 0)] {
            tally.session(&session(outside, Status::Completed, yes));
        }
        let Insights { total, days, agents, actions, .. } = tally.finish();
        assert_eq!((total.sessions, total.completed, total.failed, total.unrated), (3, 2, 1, 1));
        assert_eq!((total.ratings.helpful(), total.cost_usd, total.priced), (Some(1.0), 0.75, 3));
        assert_eq!(days.iter().map(|(_, day)| day.sessions).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!(days[1].1.ratings.helpful(), None);
        assert_eq!((agents.len(), agents[0].slug.as_deref(), agents[0].figures.sessions), (1, Some("writer"), 3));
        assert_eq!((actions.len(), actions[0].slug.as_deref()), (1, None));
    }

    #[test]
    fn an_answer_after_which_nothing_was_said_is_unknown_and_not_neutral() {
        let mut tally = Tally::new(Window::ending(at(3, 12), 2));
        let answer = |day, outcome| AnswerFact { at: at(day, 1), outcome, agent: Some("writer"), action: None };
        for outcome in [Some(Outcome::Accepted), Some(Outcome::Rejected), Some(Outcome::Neutral), None, None] {
            tally.answer(&answer(3, outcome));
        }
        tally.answer(&answer(1, None));
        let Insights { total, days, agents, .. } = tally.finish();
        let Outcomes { accepted, rejected, neutral, unknown } = total.outcomes;
        assert_eq!([accepted, rejected, neutral, unknown, total.outcomes.count()], [1, 1, 1, 2, 5]);
        assert_eq!((days[0].1.outcomes.count(), days[1].1.outcomes.count()), (0, 5));
        assert_eq!(agents[0].figures.outcomes, total.outcomes);
    }

    #[test]
    fn decisions_and_waits_are_those_of_people() {
        let mut tally = Tally::new(Window::ending(at(3, 12), 7));
        let gate = |state, outcome, minutes: i64| GateFact {
            opened_at: at(2, 0),
            closed_at: at(2, 0) + Duration::minutes(minutes),
            state,
            outcome,
            agent: None,
            action: Some("triage"),
        };
        for (minutes, verdict) in [
            (1, Verdict::Approve),
            (2, Verdict::Approve),
            (3, Verdict::Edit),
            (40, Verdict::Deny),
            (5, Verdict::Respond),
        ] {
            tally.gate(&gate(GateState::Settled, Some(verdict), minutes));
        }
        tally.gate(&gate(GateState::Expired, None, 600));
        tally.gate(&gate(GateState::Withdrawn, None, 1));
        tally.gate(&gate(GateState::Held, Some(Verdict::Approve), 1));
        let total = tally.finish().total;
        let Decisions { approved, edited, denied, answered, expired } = total.decisions;
        assert_eq!([approved, edited, denied, answered, expired], [2, 1, 1, 1, 1]);
        assert_eq!(total.decisions.rates(), Some([0.5, 0.25, 0.25]));
        let Waits { count, median_seconds, p90_seconds, total_seconds } = total.waits;
        assert_eq!([count, median_seconds, p90_seconds, total_seconds], [5, 180, 2_400, 3_060]);
        assert_eq!((Decisions::default().rates(), Waits::of(Vec::new())), (None, Waits::default()));
    }
}
