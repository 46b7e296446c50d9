//! Figures as text: counts and durations.

use crate::text::{duration, number::grouped};

/// A count for the vertical axis; empty for a fraction.
pub fn whole(value: f64) -> String {
    if value.fract() == 0.0 { grouped(value as u64) } else { String::new() }
}

/// Seconds as a duration.
pub fn seconds(value: f64) -> String {
    if value == 0.0 { "0 s".to_owned() } else { duration::words((value * 1_000.0) as u64) }
}
