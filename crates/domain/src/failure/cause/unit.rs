//! Numbers with units.

use super::placeholder::Cut;

const DURATIONS: [&str; 28] = [
    "ns",
    "us",
    "µs",
    "μs",
    "ms",
    "s",
    "m",
    "h",
    "d",
    "sec",
    "secs",
    "second",
    "seconds",
    "min",
    "mins",
    "minute",
    "minutes",
    "hr",
    "hrs",
    "hour",
    "hours",
    "day",
    "days",
    "week",
    "weeks",
    "millis",
    "milliseconds",
    "microseconds",
];
const SIZES: [&str; 25] = [
    "B", "b", "kB", "KB", "kb", "MB", "mb", "GB", "gb", "TB", "KiB", "MiB", "GiB", "TiB", "K", "M", "G", "Ki", "Mi",
    "Gi", "byte", "bytes", "Byte", "Bytes", "octets",
];

/// Returns the placeholder of numbers that have their units attached, such as `1.5s`, `2m30s` and `512MiB`.
pub(super) fn measured(run: &str) -> Option<Cut> {
    let (mut rest, mut kinds) = (run.strip_prefix(['+', '-']).unwrap_or(run), Vec::new());
    while !rest.is_empty() {
        let unit = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '_'));
        if unit.len() == rest.len() || !rest.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let end = unit.find(|c: char| !c.is_alphabetic()).unwrap_or(unit.len());
        kinds.push(of_unit(&unit[..end])?);
        rest = &unit[end..];
    }
    let (first, others) = kinds.split_first()?;
    others.iter().all(|kind| kind == first).then_some(*first)
}

fn of_unit(unit: &str) -> Option<Cut> {
    if DURATIONS.contains(&unit) {
        Some(Cut::Duration)
    } else if SIZES.contains(&unit) {
        Some(Cut::Size)
    } else {
        None
    }
}

/// Returns the placeholder of a number, with the unit that follows it after a space, and what follows.
pub(super) fn with_unit(after: &str) -> (Cut, &str) {
    let number = (Cut::Number, after);
    let Some(rest) = after.strip_prefix(' ') else { return number };
    let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(end);
    // A single letter can be anything.
    match of_unit(unit) {
        Some(cut) if unit.len() > 1 || unit == "s" => (cut, rest),
        _ => number,
    }
}
