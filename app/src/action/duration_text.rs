//! Durations as people type them: `2d`, `36h`, `1h 30m`, `45s`.

const UNITS: [(char, i64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// Seconds as text, largest unit first.
pub fn format(seconds: i64) -> String {
    let (mut left, mut parts) = (seconds, Vec::new());
    for (unit, size) in UNITS {
        if left >= size {
            parts.push(format!("{}{unit}", left / size));
            left %= size;
        }
    }
    if parts.is_empty() { "0s".to_owned() } else { parts.join(" ") }
}

/// Parses a duration to seconds; `None` if it is invalid. Each unit may occur once, larger units first.
pub fn parse(text: &str) -> Option<i64> {
    let (mut seconds, mut digits, mut units) = (0_i64, String::new(), UNITS.iter());
    for c in text.trim().chars().filter(|c| !c.is_whitespace()) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        let (_, size) = units.find(|(unit, _)| *unit == c.to_ascii_lowercase())?;
        let number: i64 = std::mem::take(&mut digits).parse().ok()?;
        seconds = seconds.checked_add(number.checked_mul(*size)?)?;
    }
    // A number without a unit is ambiguous.
    (digits.is_empty() && !text.trim().is_empty()).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed() {
        assert_eq!(parse("2d"), Some(172_800));
        assert_eq!(parse(" 1H 30m "), Some(5_400));
        assert_eq!(parse("36h"), Some(129_600));
        for wrong in ["", "5", "h", "1x", "30m 1h", "1h 1h", "-1h", "1.5h", "99999999999999999999d"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn durations_round_trip() {
        for seconds in [0, 1, 59, 60, 3_600, 3_661, 86_400, 90_061, 172_800, 31_622_400] {
            assert_eq!(parse(&format(seconds)), Some(seconds));
        }
    }
}
