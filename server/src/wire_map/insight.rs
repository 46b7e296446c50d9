//! Converts the figures of insights.

use domain::insight::{Decisions, Figures, Outcomes, Part, Ratings, ToolFigures};
use ledger::{
    insight::{InsightsRecord, RatingsMissing},
    memory_writer::RunTotals,
};
use wire::insight as wired;

/// Rounds a sum of dollars to billionths. Floating-point sums have further digits, which no one reported.
pub(super) fn dollars(sum: f64) -> f64 {
    const PER_DOLLAR: f64 = 1e9;
    (sum * PER_DOLLAR).round() / PER_DOLLAR
}

/// Converts the figures of a number of days.
pub fn insights(record: InsightsRecord, capture_failures: u64) -> wired::Insights {
    let InsightsRecord { insights, is_cut, ratings_missing, writers } = record;
    wired::Insights {
        first: insights.window.first,
        last: insights.window.last,
        is_cut,
        capture_failures,
        ratings_missing: ratings_missing.map(self::ratings_missing),
        total: figures(insights.total),
        days: insights.days.into_iter().map(|(day, of)| wired::DayFigures { day, figures: figures(of) }).collect(),
        agents: insights.agents.into_iter().map(part).collect(),
        actions: insights.actions.into_iter().map(part).collect(),
        tools: insights.tools.into_iter().map(tool_figures).collect(),
        memory_writers: writers.into_iter().map(writer_figures).collect(),
    }
}

/// Converts the reason why ratings are missing.
pub const fn ratings_missing(why: RatingsMissing) -> wired::RatingsMissing {
    match why {
        RatingsMissing::Unavailable => wired::RatingsMissing::Unavailable,
        RatingsMissing::Unreadable => wired::RatingsMissing::Unreadable,
    }
}

/// Converts what the memory writer of an agent used.
pub fn writer_figures(of: RunTotals) -> wired::WriterFigures {
    let RunTotals { agent, runs, failed, input_tokens, output_tokens, cost_usd } = of;
    wired::WriterFigures { agent, runs, failed, input_tokens, output_tokens, cost_usd: cost_usd.map(dollars) }
}

fn tool_figures(of: ToolFigures) -> wired::ToolFigures {
    let failure_rate = of.failure_rate();
    let ToolFigures { slug, runs, completed, failed, p50_ms, p95_ms, cost_usd, priced } = of;
    let cost_usd = (priced > 0).then_some(dollars(cost_usd));
    wired::ToolFigures { slug, runs, completed, failed, failure_rate, p50_ms, p95_ms, cost_usd, priced }
}

fn part(part: Part) -> wired::PartFigures {
    wired::PartFigures { slug: part.slug, figures: figures(part.figures) }
}

fn figures(of: Figures) -> wired::Figures {
    let helpful = of.ratings.helpful();
    let Ratings { positive, negative, skipped } = of.ratings;
    let Outcomes { accepted, rejected, neutral, unknown } = of.outcomes;
    let Decisions { approved, edited, denied, answered, expired } = of.decisions;
    let waited = of.waits.count > 0;
    wired::Figures {
        sessions: of.sessions,
        completed: of.completed,
        failed: of.failed,
        positive,
        negative,
        skipped,
        unrated: of.unrated,
        helpful,
        accepted,
        rejected,
        neutral,
        unknown,
        approved,
        edited,
        denied,
        answered,
        expired,
        wait_median_seconds: waited.then_some(of.waits.median_seconds),
        wait_p90_seconds: waited.then_some(of.waits.p90_seconds),
        wait_total_seconds: of.waits.total_seconds,
        input_tokens: of.input_tokens,
        output_tokens: of.output_tokens,
        metered: of.metered,
        cost_usd: (of.priced > 0).then_some(dollars(of.cost_usd)),
        priced: of.priced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_have_the_digits_that_were_reported() {
        for (sum, says) in [(3.609_999_999_999_997_7, "3.61"), (0.1 + 0.2, "0.3")] {
            assert_ne!(sum.to_string(), says);
            let total = Figures { cost_usd: sum, priced: 2, ..Figures::default() };
            assert_eq!(figures(total).cost_usd.map(|cost| cost.to_string()).as_deref(), Some(says));
            let run = RunTotals {
                agent: "a".into(),
                runs: 2,
                failed: 0,
                input_tokens: Some(0),
                output_tokens: Some(0),
                cost_usd: Some(sum),
            };
            assert_eq!(writer_figures(run).cost_usd.map(|cost| cost.to_string()).as_deref(), Some(says));
        }
        assert_eq!(figures(Figures::default()).cost_usd, None);
        assert_eq!(dollars(0.000_000_4), 0.000_000_4);
    }
}
