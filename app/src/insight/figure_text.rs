//! Figures as text: counts, durations and shares.

use crate::text::{duration, number::grouped};

/// A count for the vertical axis; empty for a fraction.
pub fn whole(value: f64) -> String {
    if value.fract() == 0.0 { grouped(value as u64) } else { String::new() }
}

/// Seconds as a duration.
pub fn seconds(value: f64) -> String {
    if value == 0.0 { "0 s".to_owned() } else { duration::words((value * 1_000.0) as u64) }
}

/// A share in percent without decimals, because it is a share of few answers.
pub fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}
