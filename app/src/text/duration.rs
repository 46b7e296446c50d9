//! Durations as text.

/// Milliseconds as text, with at most two units: `340 ms`, `12 s`, `2 min 3 s`, `1 h 4 min`, `3 d 2 h`.
pub fn words(ms: u64) -> String {
    const SECOND: u64 = 1_000;
    const MINUTE: u64 = 60 * SECOND;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let pair = |big: u64, unit: &str, small: u64, small_unit: &str| {
        if small == 0 { format!("{big} {unit}") } else { format!("{big} {unit} {small} {small_unit}") }
    };
    match ms {
        0..SECOND => format!("{ms} ms"),
        SECOND..10_000 => format!("{}.{} s", ms / SECOND, ms % SECOND / 100),
        10_000..MINUTE => format!("{} s", ms / SECOND),
        MINUTE..HOUR => pair(ms / MINUTE, "min", ms % MINUTE / SECOND, "s"),
        HOUR..DAY => pair(ms / HOUR, "h", ms % HOUR / MINUTE, "min"),
        _ => pair(ms / DAY, "d", ms % DAY / HOUR, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn two_units_at_most() {
        let shown: Vec<_> = [0, 340, 1_250, 12_345, 60_000, 123_000, 3_600_000, 3_840_000, 266_400_000]
            .into_iter()
            .map(words)
            .collect();
        assert_eq!(shown, ["0 ms", "340 ms", "1.2 s", "12 s", "1 min", "2 min 3 s", "1 h", "1 h 4 min", "3 d 2 h"]);
    }
}
