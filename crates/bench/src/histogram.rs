//! Latencies, counted in buckets of 3 %: constant memory, no allocation while a load runs.

use std::time::Duration;

/// Bits that tell values of one power of two apart.
const SUB_BITS: u32 = 5;
const SUBS: u64 = 1 << SUB_BITS;
const BUCKETS: usize = (64 - SUB_BITS as usize + 1) << SUB_BITS;

/// How long requests took.
#[derive(Clone)]
pub struct Histogram {
    counts: Vec<u32>,
    total: u64,
    max_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0, max_ns: 0 }
    }
}

impl Histogram {
    /// Counts one request.
    pub fn record(&mut self, latency: Duration) {
        let ns = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket(ns)] += 1;
        self.total += 1;
        self.max_ns = self.max_ns.max(ns);
    }

    /// Whether nothing was counted yet.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Adds another connection's requests.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.total += other.total;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// The latency that this share of the requests did not exceed, in microseconds; 0 without requests.
    pub fn quantile_us(&self, share: f64) -> f64 {
        let wanted = (self.total as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted && seen > 0 {
                return upper_ns(index).min(self.max_ns) as f64 / 1_000.0;
            }
        }
        0.0
    }

    /// The slowest request, in microseconds.
    pub fn max_us(&self) -> f64 {
        self.max_ns as f64 / 1_000.0
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

fn bucket(ns: u64) -> usize {
    let index = if ns < SUBS {
        ns
    } else {
        let shift = ns.ilog2() - SUB_BITS;
        (u64::from(shift + 1) << SUB_BITS) + ((ns >> shift) & (SUBS - 1))
    };
    usize::try_from(index).unwrap_or(BUCKETS - 1)
}

fn upper_ns(index: usize) -> u64 {
    let index = index as u64;
    if index < SUBS {
        return index;
    }
    let shift = (index >> SUB_BITS) - 1;
    let next = (SUBS | (index & (SUBS - 1))) + 1;
    (u128::from(next) << shift).saturating_sub(1).try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_a_bucket_that_is_at_most_three_percent_wide() {
        for ns in [0, 1, 31, 32, 33, 1_000, 65_537, 1_000_000, 123_456_789, u64::MAX] {
            let upper = upper_ns(bucket(ns));
            assert!(upper >= ns, "{ns} is above its bucket's end {upper}");
            assert!(upper as f64 <= ns as f64 * 1.033 + 1.0, "{ns} is far below {upper}");
        }
    }

    #[test]
    fn quantiles_and_maximum_are_those_of_the_requests() {
        let mut all = Histogram::default();
        for part in [1..=50, 51..=100] {
            let mut one = Histogram::default();
            part.for_each(|ms| one.record(Duration::from_millis(ms)));
            all.merge(&one);
        }
        assert!((49_000.0..52_000.0).contains(&all.quantile_us(0.5)), "{}", all.quantile_us(0.5));
        assert!((98_000.0..=100_000.0).contains(&all.quantile_us(0.99)));
        assert_eq!(all.max_us(), 100_000.0);
        assert_eq!(Histogram::default().quantile_us(0.5), 0.0);
    }
}
