//! Latencies, counted in buckets of 1 %: constant memory, no allocation while a load runs.

use anyhow::Result;
use hdrhistogram::Histogram as Counts;
use std::time::Duration;

/// Longest latency that is distinguished from longer ones. No load and no request runs as long.
const LATENCY_MAX: Duration = Duration::from_secs(3600);
/// Decimal digits that two latencies must share to be counted as one.
const DIGITS: u8 = 2;

/// How long requests took.
#[derive(Clone)]
pub struct Histogram {
    counts: Counts<u32>,
    /// Not rounded to its bucket.
    max: Duration,
}

impl Histogram {
    /// A histogram without requests.
    pub fn new() -> Result<Self> {
        let highest = u64::try_from(LATENCY_MAX.as_nanos())?;
        Ok(Self { counts: Counts::new_with_bounds(1, highest, DIGITS)?, max: Duration::ZERO })
    }

    /// Counts one request.
    pub fn record(&mut self, latency: Duration) {
        self.counts.saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
        self.max = self.max.max(latency);
    }

    /// Whether nothing was counted yet.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Adds another connection's requests.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.counts.add(&other.counts)?;
        self.max = self.max.max(other.max);
        Ok(())
    }

    /// The latency that this share of the requests did not exceed, in microseconds; 0 without requests.
    pub fn quantile_us(&self, share: f64) -> f64 {
        Duration::from_nanos(self.counts.value_at_quantile(share)).min(self.max).as_nanos() as f64 / 1_000.0
    }

    /// The slowest request, in microseconds.
    pub fn max_us(&self) -> f64 {
        self.max.as_nanos() as f64 / 1_000.0
    }

    /// `p50 … · p99 … · max …`
    pub fn summary(&self) -> String {
        let [p50, p99] = [0.5, 0.99].map(|share| micros(self.quantile_us(share)));
        format!("p50 {p50}, p99 {p99}, max {}", micros(self.max_us()))
    }
}

/// A time for people.
pub fn micros(us: f64) -> String {
    if us < 1_000.0 { format!("{us:.0} µs") } else { format!("{:.1} ms", us / 1_000.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_at_most_one_percent_above_its_latency() {
        for ns in [0, 1, 31, 32, 33, 1_000, 65_537, 1_000_000, 123_456_789, 3_599_999_999_999] {
            let mut histogram = Histogram::new().unwrap();
            histogram.record(Duration::from_nanos(ns));
            histogram.record(LATENCY_MAX);
            let (exact, counted) = (ns as f64 / 1_000.0, histogram.quantile_us(0.5));
            assert!((exact..=exact * 1.01 + 0.001).contains(&counted), "{counted} for {exact}");
        }
    }

    #[test]
    fn quantiles_and_maximum_are_those_of_the_requests() {
        let mut all = Histogram::new().unwrap();
        for part in [1..=50, 51..=100] {
            let mut one = Histogram::new().unwrap();
            part.for_each(|ms| one.record(Duration::from_millis(ms)));
            all.merge(&one).unwrap();
        }
        assert!((50_000.0..50_500.0).contains(&all.quantile_us(0.5)), "{}", all.quantile_us(0.5));
        assert!((99_000.0..=100_000.0).contains(&all.quantile_us(0.99)));
        assert_eq!(all.max_us(), 100_000.0);
        let none = Histogram::new().unwrap();
        assert!(none.is_empty() && none.quantile_us(0.5) == 0.0);
    }

    #[test]
    fn a_latency_beyond_the_bounds_is_counted_and_is_the_maximum() {
        let mut histogram = Histogram::new().unwrap();
        histogram.record(LATENCY_MAX * 3);
        assert!(!histogram.is_empty() && histogram.quantile_us(0.5) >= LATENCY_MAX.as_micros() as f64);
        assert_eq!(histogram.max_us(), (LATENCY_MAX * 3).as_micros() as f64);
    }
}
