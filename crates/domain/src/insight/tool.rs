//! Figures of tools: runs, how they ended, how long they took, and what they cost.

use super::{Window, figures::nearest_rank};
use crate::{
    Timestamp,
    session::{Status, Usage},
};
use std::collections::BTreeMap;

/// A run of a tool that ended.
#[derive(Debug, Clone)]
pub struct ToolFact<'a> {
    /// Slug of the tool.
    pub slug: &'a str,
    /// Time at which the run started (UTC); `None` if it ended before anybody started it.
    pub started_at: Option<Timestamp>,
    /// Time at which it ended (UTC).
    pub ended_at: Timestamp,
    /// Final status.
    pub status: Status,
    /// What the run cost.
    pub usage: Usage,
}

/// How many runs of a tool ended, how, how fast, and what they cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolFigures {
    /// Slug of the tool.
    pub slug: String,
    /// Number of runs that ended.
    pub runs: u64,
    /// Number of these that completed.
    pub completed: u64,
    /// Number of these that failed or expired.
    pub failed: u64,
    /// Median of the times from the start to the end of completed runs, milliseconds; `None` without one.
    pub p50_ms: Option<u64>,
    /// 95th percentile of these times, milliseconds; `None` without one.
    pub p95_ms: Option<u64>,
    /// Cost of the runs that reported one, US dollars.
    pub cost_usd: f64,
    /// Number of runs that reported a cost.
    pub priced: u64,
}

impl ToolFigures {
    /// Share of failed runs among completed and failed ones, 0 to 1; `None` if there are none. Cancelled runs do not
    /// count.
    pub fn failure_rate(&self) -> Option<f64> {
        super::figures::share(self.failed, self.completed + self.failed)
    }
}

/// Sums runs by tool. Memory grows with the number of completed runs, 8 bytes each.
#[derive(Debug, Default)]
pub(super) struct ToolTally(BTreeMap<String, Sum>);

#[derive(Debug, Default)]
struct Sum {
    figures: ToolFigures,
    took_ms: Vec<u64>,
}

impl ToolTally {
    /// Adds a run. It is ignored if it ended outside of the window.
    pub(super) fn run(&mut self, window: Window, fact: &ToolFact<'_>) {
        if window.place(fact.ended_at).is_none() || fact.ended_at < window.begins() {
            return;
        }
        let Sum { figures, took_ms } = self.0.entry(fact.slug.to_owned()).or_default();
        figures.runs += 1;
        match fact.status {
            Status::Completed => {
                figures.completed += 1;
                let took = fact.started_at.map(|started_at| (fact.ended_at - started_at).num_milliseconds());
                took_ms.extend(took.and_then(|took| u64::try_from(took).ok()));
            }
            Status::Failed | Status::Expired => figures.failed += 1,
            _ => {}
        }
        if let Some(cost) = fact.usage.cost_usd {
            figures.cost_usd += cost;
            figures.priced += 1;
        }
    }

    /// Returns the figures of all tools with a run, the one with the most runs first, then by slug.
    pub(super) fn finish(self) -> Vec<ToolFigures> {
        let finished = self.0.into_iter().map(|(slug, Sum { figures, mut took_ms })| {
            took_ms.sort_unstable();
            let [p50_ms, p95_ms] = [0.5, 0.95].map(|share| nearest_rank(&took_ms, share));
            ToolFigures { slug, p50_ms, p95_ms, ..figures }
        });
        let mut tools: Vec<_> = finished.collect();
        tools.sort_by_key(|tool| std::cmp::Reverse(tool.runs));
        tools
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{Duration, TimeZone as _, Utc};

    fn noon() -> Timestamp {
        Utc.with_ymd_and_hms(2026, 3, 3, 12, 0, 0).unwrap()
    }

    fn run(slug: &str, status: Status, took_ms: i64) -> ToolFact<'_> {
        let started_at = Some(noon() - Duration::milliseconds(took_ms));
        ToolFact { slug, started_at, ended_at: noon(), status, usage: Usage::default() }
    }

    fn figures<'a>(facts: impl IntoIterator<Item = ToolFact<'a>>) -> Vec<ToolFigures> {
        let mut tally = ToolTally::default();
        facts.into_iter().for_each(|fact| tally.run(Window::ending(noon(), 2), &fact));
        tally.finish()
    }

    #[test]
    fn percentiles_are_times_that_occurred_in_completed_runs() {
        for (runs, p50, p95) in [(1, 1, 1), (2, 1, 2), (7, 4, 7), (40, 20, 38), (100, 50, 95)] {
            let tools = figures((1..=runs).rev().map(|took| run("weather", Status::Completed, took)));
            let [tool] = tools.as_slice() else { panic!("{tools:?}") };
            assert_eq!((tool.runs, tool.p50_ms, tool.p95_ms), (runs as u64, Some(p50), Some(p95)), "{runs} runs");
        }
        let failed = figures([run("weather", Status::Failed, 5)]);
        assert_eq!((failed[0].p50_ms, failed[0].p95_ms, failed[0].failure_rate()), (None, None, Some(1.0)));
    }

    #[test]
    fn a_cancelled_run_is_a_run_but_neither_success_nor_failure() {
        let statuses = [Status::Completed, Status::Failed, Status::Expired, Status::Abandoned];
        let tools = figures(statuses.map(|status| run("weather", status, 1)));
        let tool = &tools[0];
        assert_eq!((tool.runs, tool.completed, tool.failed), (4, 1, 2));
        assert_eq!(tool.failure_rate(), Some(2.0 / 3.0));
        let cancelled = figures([run("weather", Status::Abandoned, 1)]);
        assert_eq!((cancelled[0].runs, cancelled[0].failure_rate()), (1, None));
    }

    #[test]
    fn runs_that_ended_outside_of_the_window_do_not_count() {
        let outside = |days| ToolFact { ended_at: noon() + Duration::days(days), ..run("weather", Status::Failed, 1) };
        assert_eq!(figures([outside(-2), outside(1)]), []);
    }

    #[test]
    fn tools_with_more_runs_come_first_and_costs_that_nobody_reported_do_not_count() {
        let priced = ToolFact {
            usage: Usage { cost_usd: Some(0.5), ..Usage::default() },
            ..run("lookup", Status::Completed, 1)
        };
        let tools = figures([run("a", Status::Completed, 1), priced.clone(), priced, run("lookup", Status::Failed, 1)]);
        let rows: Vec<_> =
            tools.iter().map(|tool| (tool.slug.as_str(), tool.runs, tool.cost_usd, tool.priced)).collect();
        assert_eq!(rows, [("lookup", 3, 1.0, 2), ("a", 1, 0.0, 0)]);
    }
}
