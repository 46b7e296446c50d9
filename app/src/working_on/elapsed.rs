//! A short duration for the rail.

/// Milliseconds as `42 s`, `12 min` or `1 h 05 min`. Negative values, from clocks that differ, count as 0.
pub fn elapsed(ms: f64) -> String {
    let seconds = if ms.is_finite() { (ms / 1_000.0).max(0.0) as u64 } else { 0 };
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        _ => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elapsed_time_uses_the_largest_units() {
        let cases = [
            (0.0, "0 s"),
            (-5_000.0, "0 s"),
            (f64::NAN, "0 s"),
            (59_999.0, "59 s"),
            (60_000.0, "1 min"),
            (3_599_000.0, "59 min"),
            (3_600_000.0, "1 h 00 min"),
            (39_900_000.0, "11 h 05 min"),
        ];
        for (ms, words) in cases {
            assert_eq!(elapsed(ms), words, "{ms}");
        }
    }
}
